"""Local-DP reports whose channel has two levels, and their exact reconstruction advantage.

GRR, OUE and SS all report a set S of supported values (GRR one value, OUE the bits that are on, SS
the subset), and the likelihood only asks whether z is in it: P(S | z) = A(S) for z ∈ S and B(S)
otherwise, with A(S) ≥ B(S). Hence

    w(S, z) = P(S | z) − P(S) = (A(S) − B(S)) (1[z ∈ S] − π(S)),

and Theorem 4.3 of Guerra-Balboa 2026 with η = 0 is Σ_S (A − B)(S) (1 − π(S)) Σ_x max_{z ∈ S,
a(z) = x} π_z. For each value i, let r_i be the number of larger values with the same a (ties in any
order) and L_i their mass. The maximum is π_i exactly when i is in S and those r_i are not, which
leaves one sum over the m values: the 2^m or C(m, ω) outputs are never listed.

The relation is replace-one on the one record that is reported.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from reconbench.bounds import _validate
from reconbench.bounds._validate import FloatArray, positive_integer
from reconbench.bounds.rad._inputs import as_advantage, as_labels, as_prior, spread

MAX_LISTED = 1 << 24
# tanh(ε/2) and the like no longer change beyond this ε.
LARGEST_EPSILON = 700.0


class SupportChannel(Protocol):
    """P(S | z) with two levels, on m = ``size`` values."""

    @property
    def epsilon(self) -> float: ...

    @property
    def size(self) -> int: ...

    def rad(self, prior: ArrayLike | int, aux: ArrayLike | None = None) -> float:
        """Theorem 4.3 with η = 0, exactly: the largest reconstruction advantage of any attack."""

    def success(self, prior: ArrayLike | int, aux: ArrayLike | None = None) -> float:
        """How often the attack of ``rad`` is right: it guesses the likeliest supported value.

        Among those that agree with what is known; where there is none, it guesses to miss.
        """

    def rad_given(self, prior: ArrayLike, conditional: ArrayLike) -> FloatArray:
        """Theorem 4.3 when the reported value is the secret and something else is known of it.

        ``prior`` is that of the reported value, ``conditional`` one row of P(value | known) for
        each thing known: the part of Theorem 4.3 that each has, given that it is what is known.
        The error is ℓ = 1[value ≠ guess]. The mean over what may be known is the largest RAD.
        """

    def matrix(self) -> FloatArray:
        """P(θ | z), one row an output and one column a value, where it can be listed."""

    def supports(self) -> FloatArray:
        """1[z ∈ S], rows and columns as in ``matrix``."""


@dataclass(frozen=True)
class _Local:
    """ε-local-DP reports of one of ``size`` values; ε = 0 and ε = inf are allowed."""

    epsilon: float
    size: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", _validate.non_negative("epsilon", self.epsilon))
        if positive_integer("size", self.size) < 2:
            raise ValueError(f"size must be at least 2 values, got {self.size}")

    @cached_property
    def odds(self) -> float:
        """e^−ε."""
        return math.exp(-self.epsilon)

    def _prior(self, prior: ArrayLike | int) -> FloatArray:
        values = as_prior(prior)
        if values.size != self.size:
            raise ValueError(f"prior must have {self.size} values, got {values.size}")
        return values

    def _given(self, prior: ArrayLike, conditional: ArrayLike) -> tuple[FloatArray, FloatArray]:
        """The prior, and the checked rows of P(value | known)."""
        values = self._prior(prior)
        rows = _validate.probabilities("conditional", conditional)
        if rows.ndim != 2 or rows.shape[1] != self.size:
            raise ValueError(
                f"conditional must have one row a record and {self.size} columns, got shape "
                f"{rows.shape}"
            )
        return values, rows

    def _listable(self, outputs: int) -> None:
        if outputs * self.size > MAX_LISTED:
            raise ValueError(
                f"size must be smaller for a listed channel: {outputs:,} outputs of {self.size} "
                f"values are more than {MAX_LISTED:,} numbers; use rad(prior, aux)"
            )


@dataclass(frozen=True)
class GRR(_Local):
    """Generalised randomised response: the value itself with probability p, else any other one.

    p = e^ε/(e^ε + m − 1), q = 1/(e^ε + m − 1) (Guerra-Balboa 2026, Example 4.4).
    """

    @property
    def truthful(self) -> float:
        """p, the chance that the report is the value itself."""
        return 1 / (1 + (self.size - 1) * self.odds)

    @property
    def gap(self) -> float:
        """p − q, also the total variation between two values' reports."""
        return -math.expm1(-self.epsilon) / (1 + (self.size - 1) * self.odds)

    def rad(self, prior: ArrayLike | int, aux: ArrayLike | None = None) -> float:
        """(p − q)(1 − κ_π), whatever the auxiliary knowledge (η = 0)."""
        values = self._prior(prior)
        as_labels(aux, self.size)
        return self.gap * spread(values)

    def success(self, prior: ArrayLike | int, aux: ArrayLike | None = None) -> float:
        """p, whatever the prior and the knowledge."""
        self._prior(prior)
        as_labels(aux, self.size)
        return self.truthful

    def rad_given(self, prior: ArrayLike, conditional: ArrayLike) -> FloatArray:
        values, rows = self._given(prior, conditional)
        # Σ_θ (p − q) c_θ (1 − π_θ): on average (p − q)(1 − κ_π), whatever is known.
        return self.gap * np.asarray(rows @ (1 - values))

    def matrix(self) -> FloatArray:
        self._listable(self.size)
        other = self.odds * self.truthful
        return np.where(np.eye(self.size, dtype=bool), self.truthful, other)

    def supports(self) -> FloatArray:
        return np.eye(self.size)


@dataclass(frozen=True)
class OUE(_Local):
    """Optimal unary encoding: m bits, on with probability ½ at the value and q elsewhere.

    q = 1/(e^ε + 1) and p = 1 − q (Guerra-Balboa 2026, Example 4.5).
    """

    @property
    def others_on(self) -> float:
        """q, the chance that the bit of another value is on."""
        return self.odds / (1 + self.odds)

    def rad(self, prior: ArrayLike | int, aux: ArrayLike | None = None) -> float:
        """Example 4.5 for any aux: the printed sum needs π in ascending order."""
        values = self._prior(prior)
        return self.rad_sorted(values, *_larger(values, as_labels(aux, self.size)))

    def success(self, prior: ArrayLike | int, aux: ArrayLike | None = None) -> float:
        values = self._prior(prior)
        above, _ = _larger(values, as_labels(aux, self.size))
        # The bit of the value is on with ½, those of the r_i larger ones are off with p each.
        return 0.5 * float(values @ np.exp(-above * math.log1p(self.odds)))

    def rad_sorted(self, values: FloatArray, above: FloatArray, mass: FloatArray) -> float:
        """``rad`` when r_i and L_i are known: they do not depend on ε."""
        q, p = self.others_on, 1 / (1 + self.odds)
        # A − B = B(S)(p − q)/(2pq) with B(S) the chance of S when every bit is on with q; i is in
        # S and the r_i larger ones are not with q p^r_i, and then 1 − π(S) has the mean
        # 1 − π_i − q (1 − π_i − L_i) = p (1 − π_i) + q L_i:
        # RAD = (p − q)/(2p) Σ_i p^r_i π_i (p (1 − π_i) + q L_i)
        alone = np.exp(-above * math.log1p(self.odds))
        terms = alone * values * (p * (1 - values) + q * mass)
        return math.tanh(self.epsilon / 2) * (1 + self.odds) / 2 * float(terms.sum())

    def rad_given(self, prior: ArrayLike, conditional: ArrayLike) -> FloatArray:
        rows, values, mass = _descending(*self._given(prior, conditional))
        q, p = self.others_on, 1 / (1 + self.odds)
        alone = np.exp(-np.arange(self.size) * math.log1p(self.odds))
        terms = alone * rows * (p * (1 - values) + q * mass)
        return math.tanh(self.epsilon / 2) * (1 + self.odds) / 2 * np.asarray(terms.sum(axis=1))

    def matrix(self) -> FloatArray:
        on = self.supports()
        q = self.others_on
        count = on.sum(axis=1, keepdims=True)
        # The other m − 1 bits are on with q each; the value's own bit is a fair coin.
        others_on = count - on
        off = (self.size - 1) - others_on
        return np.asarray(0.5 * q**others_on * (1 - q) ** off)

    def supports(self) -> FloatArray:
        self._listable(2**self.size if self.size < 64 else MAX_LISTED)
        codes = np.arange(2**self.size)
        return ((codes[:, None] >> np.arange(self.size)) & 1).astype(np.float64)


@dataclass(frozen=True)
class SubsetSelection(_Local):
    """SS: a subset of ω values that holds the value with probability p, else not.

    p = ω e^ε/(ω e^ε + m − ω); the rest of the subset is uniform. ω = max(1, ⌊m/(e^ε + 1)⌋), unless
    it is given as ``subset`` (Guerra-Balboa 2026, Example 4.6).
    """

    subset: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.subset == 0:
            best = math.floor(self.size * self.odds / (1 + self.odds))
            object.__setattr__(self, "subset", max(1, best))
        if not 1 <= self.subset < self.size:
            raise ValueError(
                f"subset must be between 1 and {self.size - 1} of the {self.size} values, or 0 for "
                f"the usual one, got {self.subset}"
            )

    @property
    def truthful(self) -> float:
        """p, the chance that the subset holds the value."""
        return self.subset / (self.subset + (self.size - self.subset) * self.odds)

    def rad(self, prior: ArrayLike | int, aux: ArrayLike | None = None) -> float:
        """Example 4.6 for any prior and any aux."""
        values = self._prior(prior)
        return self._scale * _subset_mean(
            values, *_larger(values, as_labels(aux, self.size)), self.subset
        )

    def success(self, prior: ArrayLike | int, aux: ArrayLike | None = None) -> float:
        values = self._prior(prior)
        above, _ = _larger(values, as_labels(aux, self.size))
        # With the value in the subset, the r_i larger ones are not with h(r_i) m/ω.
        alone = _alone(self.size, self.subset)[above.astype(np.int64)]
        return self.truthful * self.size / self.subset * float(values @ alone)

    def rad_given(self, prior: ArrayLike, conditional: ArrayLike) -> FloatArray:
        rows, values, mass = _descending(*self._given(prior, conditional))
        m, w, above = self.size, self.subset, np.arange(self.size)
        share = (w - 1) / np.maximum(m - 1 - above, 1)
        terms = _alone(m, w) * rows * (1 - values - share * (1 - values - mass))
        return self._scale * np.asarray(terms.sum(axis=1))

    @property
    def _scale(self) -> float:
        """(A − B) C(m, ω) = m (e^ε − 1)/(ω e^ε + m − ω)."""
        m, w = self.size, self.subset
        return m * -math.expm1(-self.epsilon) / (w + (m - w) * self.odds)

    def matrix(self) -> FloatArray:
        on = self.supports()
        m, w = self.size, self.subset
        level = self.truthful / math.comb(m - 1, w - 1)
        return np.where(on > 0, level, level * self.odds)

    def supports(self) -> FloatArray:
        self._listable(math.comb(self.size, self.subset))
        chosen = np.array(list(combinations(range(self.size), self.subset)))
        on = np.zeros((len(chosen), self.size))
        np.put_along_axis(on, chosen, 1.0, axis=1)
        return on


def _larger(prior: FloatArray, labels: np.ndarray) -> tuple[FloatArray, FloatArray]:
    """For every value: how many of its label are larger, r_i, and their mass L_i."""
    order = np.lexsort((-prior, labels))
    label = labels[order]
    starts = np.flatnonzero(np.r_[True, label[1:] != label[:-1]])
    first = np.repeat(starts, np.diff(np.r_[starts, label.size]))
    total = np.concatenate([[0.0], np.cumsum(prior[order])])
    above = np.empty(prior.size)
    mass = np.empty(prior.size)
    above[order] = np.arange(prior.size) - first
    mass[order] = total[:-1] - total[first]
    return above, mass


def _descending(prior: FloatArray, rows: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Rows in descending order, the prior in each row's order, and its mass of what went before."""
    order = np.argsort(-rows, axis=1, kind="stable")
    values = prior[order]
    return np.take_along_axis(rows, order, axis=1), values, values.cumsum(axis=1) - values


def _alone(m: int, w: int) -> FloatArray:
    """h(r) = P(i ∈ S, r given others ∉ S) for uniform subsets S of ω of m values, r = 0, …, m − 1.

    C(m − 1 − r, ω − 1)/C(m, ω), by h(0) = ω/m and h(r + 1) = h(r) (m − ω − r)/(m − 1 − r).
    """
    steps = np.arange(m - 1)
    ratios = np.maximum(m - w - steps, 0) / (m - 1 - steps)
    return w / m * np.concatenate([[1.0], np.cumprod(ratios)])


def _subset_mean(prior: FloatArray, above: FloatArray, mass: FloatArray, w: int) -> float:
    """E[(1 − π(S)) Σ_x max_{z ∈ S, a(z) = x} π_z] over uniform subsets S of ω values."""
    m = prior.size
    alone = _alone(m, w)[above.astype(np.int64)]
    # Each of the m − 1 − r_i others that may be in S is so with (ω − 1)/(m − 1 − r_i).
    share = (w - 1) / np.maximum(m - 1 - above, 1)
    rest = 1 - prior - share * (1 - prior - mass)
    return float((alone * prior * rest).sum())


def rad_grr(epsilon: float, prior: ArrayLike | int, aux: ArrayLike | None = None) -> float:
    """The exact largest 0-RAD against GRR (Guerra-Balboa 2026, Theorem 4.3 and Example 4.4).

    ``prior`` is one probability a value, or the number of values of a uniform prior; ``aux`` one
    label a value, or None when the attacker knows nothing of the target. It rises with ε.
    """
    values = as_prior(prior)
    return GRR(epsilon, values.size).rad(values, aux)


def rad_oue(epsilon: float, prior: ArrayLike | int, aux: ArrayLike | None = None) -> float:
    """The exact largest 0-RAD against OUE (Guerra-Balboa 2026, Theorem 4.3 and Example 4.5).

    It rises with ε: flipping every bit with one probability turns OUE into OUE of a smaller ε.
    """
    values = as_prior(prior)
    return OUE(epsilon, values.size).rad(values, aux)


def rad_ss(
    epsilon: float, prior: ArrayLike | int, aux: ArrayLike | None = None, subset: int = 0
) -> float:
    """The exact largest 0-RAD against SS (Guerra-Balboa 2026, Theorem 4.3 and Example 4.6).

    It rises with ε while the subset size ω stays; where ω drops it jumps, upwards for a uniform
    prior but possibly downwards for others. ``epsilon_ss`` inverts it in either case.
    """
    values = as_prior(prior)
    return SubsetSelection(epsilon, values.size, subset).rad(values, aux)


def epsilon_grr(gamma: float, prior: ArrayLike | int) -> float:
    """The smallest ε at which GRR allows a 0-RAD of γ: 0 for γ ≤ 0, inf if no finite ε does."""
    values = as_prior(prior)
    return _from_odds(as_advantage(gamma), spread(values), 1, values.size - 1)


def epsilon_oue(gamma: float, prior: ArrayLike | int, aux: ArrayLike | None = None) -> float:
    """The smallest ε at which OUE allows a 0-RAD of γ: 0 for γ ≤ 0, inf if no finite ε does."""
    from scipy.optimize import brentq

    target, values = as_advantage(gamma), as_prior(prior)
    if target <= 0:
        return 0.0
    larger = _larger(values, as_labels(aux, values.size))

    def gap(epsilon: float) -> float:
        return OUE(epsilon, values.size).rad_sorted(values, *larger) - target

    if gap(LARGEST_EPSILON) <= 0:
        return math.inf

    return float(brentq(gap, 0.0, LARGEST_EPSILON, xtol=1e-13, rtol=1e-14))


def epsilon_ss(
    gamma: float, prior: ArrayLike | int, aux: ArrayLike | None = None, subset: int = 0
) -> float:
    """The smallest ε at which SS allows a 0-RAD of γ: 0 for γ ≤ 0, inf if no finite ε does.

    At one ω the advantage is m (e^ε − 1) s/(ω e^ε + m − ω) with s free of ε, which has an inverse.
    Without a known ``subset`` its sizes are tried from the largest, each on the ε that it belongs
    to.
    """
    target, values = as_advantage(gamma), as_prior(prior)
    m = values.size
    larger = _larger(values, as_labels(aux, m))
    if subset:
        w = SubsetSelection(0.0, m, subset).subset
        return _from_odds(target, m * _subset_mean(values, *larger, w), w, m - w)
    if target <= 0:
        return 0.0
    for w in range(max(m // 2, 1), 0, -1):
        smallest = math.log(max(m / (w + 1) - 1, 1.0))
        largest = math.inf if w == 1 else math.log(m / w - 1)
        found = _from_odds(target, m * _subset_mean(values, *larger, w), w, m - w)
        if found <= largest:
            return max(found, smallest)
    return math.inf


def _from_odds(gamma: float, top: float, a: float, b: float) -> float:
    """The ε with γ = top (1 − e^−ε)/(a + b e^−ε), at least 0; inf when γ a ≥ top."""
    if gamma <= 0:
        return 0.0
    if gamma * a >= top:
        return math.inf
    return math.log1p(gamma * (a + b) / (top - gamma * a))
