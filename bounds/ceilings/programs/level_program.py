"""A linear program over the law of the number of targets recovered, for targets of one prior.

Let L be the number of targets recovered and ℓ_i = P[L = i]. Of a target drawn at random among
the n, let R_i be the probability that it is right and W_i that it is wrong while i of the others
are right:

    R_i = (i + 1)/n·ℓ_{i+1},    W_i = (n − i)/n·ℓ_i,    i = 0, …, n − 1.

Let every target have the prior π on m values, H(u, w) = max over a of u·a − w·g(a) with
g(a) = f(1 − a), and A, B be any sets of levels i. f-DP says u·P[E | z] − w·P[E | y] ≤ H(u, w) for
any event E and values z, y. Take E = {guess z, i in A} ∪ {guess y, i in B} and add up over all
pairs z ≠ y at the weights π_z and κ π_y: for every κ > 0

    (m − 1) R(A) − κ W(A) + W(B) − κ (m − 1) R(B) ≤ Σ_{z≠y} H(π_z, κ π_y).           (pairs)

Take E = {guess z, i in A} ∪ {another guess, i in B}, z against the mixture of all other values,
and add up over z at the weights λ π_z and 1 − π_z: for every λ > 0

    λ R(A) − W(A) + (λ − m + 2) W(B) − (m − 1) R(B) ≤ Σ_z H(λ π_z, 1 − π_z).         (values)

The worst A and B collect the positive terms, so each is one convex inequality on ℓ. The largest
P[L ≥ v] under any number of them is an upper bound. For uniform priors and all κ ≥ 1 the pairs
are also enough: guesses that are spread evenly over those with equally many right, in the shares
ℓ, are an f-DP mechanism. So there the program has the least value that any proof from the
guarantee alone can have. For two values the two families are the same.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, xlog1py, xlogy

from reconbench.bounds._validate import FloatArray
from reconbench.bounds.guarantees._conjugate import best_response, hockey_stick, largest_epsilon
from reconbench.bounds.guarantees.guarantee import ApproxDP, Guarantee, PureDP

# Inequalities to choose from, on a grid of ε; those of the first program; those added in a round.
_GRID = 241
_FIRST = 17
_ADDED = 4
_ROUNDS = 12
# More inequalities are taken while they lower the bound by this share of it, unless even this
# many times the last gain would not be enough.
_PRECISION = 5e-3
_HOPED = 10
# The grid ends where δ(ε) comes this close to its limit.
_NEGLIGIBLE = 1e-9
# Beyond the rounding of the dual values, which are evaluated in double precision.
_ROUNDING = 1e-12
_SPREAD = 1e-9
# `reached` gives up this share of the tail, and checks this many ε.
_GIVEN_UP = 1e-3
_CHECKED = 4_001
_HALVINGS = 40


@dataclass(frozen=True, eq=False)
class LevelProgram:
    """Upper bounds on P[L ≥ v] for n targets of one prior.

    The prior has `counts[k]` values of probability `values[k]` each.
    """

    n: int
    guarantee: Guarantee
    values: FloatArray
    counts: FloatArray

    @property
    def uniform(self) -> bool:
        """Whether all values are equally likely, so that the program is exact."""
        return float(np.ptp(self.values)) <= _SPREAD * float(self.values.max())

    @property
    def m(self) -> float:
        """The number of values."""
        return float(self.counts.sum())

    def tail(self, v: int, enough: float = 0.0) -> float:
        """An upper bound on P[L ≥ v].

        The search for the lowest ends once it is clear on which side of `enough` it lies.
        """
        return self._search(v, enough)[0]

    def reached(self, v: int) -> float:
        """P[L ≥ v] of an f-DP mechanism and an attack on uniform priors: a bound from below.

        The optimal law is cut off where its privacy loss exceeds some ε and mixed with that of
        blind guesses until it keeps every inequality below that ε, on a grid much finer than that
        of `tail`. H and δ never increase in ε, so H at one point is compared with δ at the next.
        """
        if not self.uniform:
            raise ValueError("reached is for uniform priors: for others the program is not exact")
        bound, law = self._search(v, precision=_PRECISION / 100)
        blind = self._guess_blindly()
        guarantee, largest = self.guarantee, largest_epsilon(self.guarantee, _GIVEN_UP * bound)
        if isinstance(guarantee, ApproxDP):
            # One inequality says it all.
            epsilons, right = np.array([largest]), np.array([guarantee.delta])
        elif isinstance(guarantee, PureDP):
            law = self._cut_off(law, blind, largest)
            epsilons, right = np.array([largest]), np.zeros(1)
        else:
            law = self._cut_off(law, blind, largest)
            # H is 0 from the last ε on, up to rounding.
            epsilons = np.linspace(0.0, largest, _CHECKED)
            right = np.array([guarantee.delta_at(float(e)) for e in epsilons[1:]])
            epsilons = epsilons[:-1]
        grid = _Inequalities.of_pairs(np.exp(epsilons), right * np.exp(-epsilons), self.m)
        low, high = 0.0, 1.0
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            kept = np.all(grid.excess((1 - middle) * law + middle * blind) <= _ROUNDING)
            low, high = (low, middle) if kept else (middle, high)
        return float(((1 - high) * law + high * blind)[v:].sum())

    def _search(
        self, v: int, enough: float = 0.0, precision: float = _PRECISION
    ) -> tuple[float, FloatArray]:
        """An upper bound on P[L ≥ v], and the law that reaches it under the inequalities used."""
        if self.m == 1 or not math.isfinite(largest_epsilon(self.guarantee)):
            return 1.0, self._guess_blindly()
        every = self._inequalities
        active = np.unique(np.linspace(0, every.size - 1, _FIRST).astype(np.int64))
        best, law = 1.0, self._guess_blindly()
        for _ in range(_ROUNDS):
            bound, solution = _solve(every.take(active), self.n, v)
            if solution is None:
                break
            gained, best, law = best - bound, min(best, bound), solution
            hopeless = best - _HOPED * gained > enough > 0
            new = _find_peaks(every.excess(law))
            if best <= enough or hopeless or 0 <= gained <= precision * best or not len(new):
                break
            active = np.union1d(active, new)
        return best, law

    @cached_property
    def _inequalities(self) -> _Inequalities:
        respond = best_response(self.guarantee)
        epsilons = np.linspace(0.0, largest_epsilon(self.guarantee, _NEGLIGIBLE), _GRID)
        values, counts, m = self.values, self.counts, self.m
        if self.uniform or m == 2:
            prices = np.exp(epsilons)
            u, w = np.repeat(values, len(values)), np.tile(values, len(values))
            # Σ_{z≠y}: all pairs of values less those of a value with itself.
            pairs = np.outer(counts, counts) - np.diag(counts)
            right = np.array(
                [pairs.ravel() @ hockey_stick(respond, u, price * w) for price in prices]
            )
            return _Inequalities.of_pairs(prices, right / (prices * (m - 1)), m)
        top = float(values.max())
        prices = (1 - top) / top * np.exp(np.concatenate([-epsilons[:0:-1], epsilons]))
        right = np.array(
            [counts @ hockey_stick(respond, price * values, 1 - values) for price in prices]
        )
        return _Inequalities.of_values(prices, right, m)

    def _guess_blindly(self) -> FloatArray:
        """The law of L when the likeliest value is guessed for every target."""
        p, i = float(self.values.max()), np.arange(self.n + 1)
        logs = gammaln(self.n + 1) - gammaln(i + 1) - gammaln(self.n - i + 1)
        return np.asarray(np.exp(logs + xlogy(i, p) + xlog1py(self.n - i, -p)))

    def _cut_off(self, law: FloatArray, blind: FloatArray, epsilon: float) -> FloatArray:
        """The law with R_i and W_i/(m − 1) at most a factor e^ε apart at every level i.

        What is cut off goes to blind guesses, for which they are equal.
        """
        cut, most, peak = law.copy(), math.exp(epsilon), int(np.argmax(law))
        odds = (self.n - np.arange(self.n)) / (np.arange(self.n) + 1) / (self.m - 1)
        for i in range(peak, self.n):
            cut[i + 1] = min(cut[i + 1], most * odds[i] * cut[i])
        for i in range(peak, 0, -1):
            cut[i - 1] = min(cut[i - 1], most / odds[i - 1] * cut[i])
        return cut + max(0.0, 1.0 - float(cut.sum())) * blind


@dataclass(frozen=True, eq=False)
class _Inequalities:
    """Σ_i (a_r R_i + a_w W_i)₊ + Σ_i (b_r R_i + b_w W_i)₊ ≤ right, one entry an inequality."""

    a_r: FloatArray
    a_w: FloatArray
    b_r: FloatArray
    b_w: FloatArray
    right: FloatArray

    @classmethod
    def of_pairs(cls, prices: FloatArray, right: FloatArray, m: float) -> _Inequalities:
        """The pairs, divided by κ (m − 1); so is `right`."""
        one = np.ones_like(prices)
        return cls(1 / prices, -one / (m - 1), -one, 1 / (prices * (m - 1)), right)

    @classmethod
    def of_values(cls, prices: FloatArray, right: FloatArray, m: float) -> _Inequalities:
        """The values, divided by max(1, λ)."""
        scale = np.maximum(1.0, prices)
        one = np.ones_like(prices)
        return cls(
            prices / scale, -one / scale, (1 - m) / scale, (prices - m + 2) / scale, right / scale
        )

    @property
    def size(self) -> int:
        return len(self.right)

    def take(self, chosen: NDArray[np.int64]) -> _Inequalities:
        parts = (self.a_r, self.a_w, self.b_r, self.b_w, self.right)
        return _Inequalities(*(part[chosen] for part in parts))

    def excess(self, law: FloatArray) -> FloatArray:
        """By how much a law of L violates each inequality."""
        right, wrong = _weigh_levels(law)
        total = np.zeros(self.size)
        for r, w in ((self.a_r, self.a_w), (self.b_r, self.b_w)):
            total += np.maximum(np.outer(r, right) + np.outer(w, wrong), 0.0).sum(axis=1)
        return total - self.right


def _find_peaks(excess: FloatArray) -> NDArray[np.int64]:
    """The inequalities that are violated the most, and more than their neighbours."""
    padded = np.concatenate([[-np.inf], excess, [-np.inf]])
    peaks = np.flatnonzero((excess >= padded[:-2]) & (excess > padded[2:]) & (excess > 0))
    return peaks[np.argsort(-excess[peaks])][:_ADDED]


def _weigh_levels(law: FloatArray) -> tuple[FloatArray, FloatArray]:
    """R_i and W_i, i = 0, …, n − 1."""
    n = len(law) - 1
    i = np.arange(n)
    return (i + 1) / n * law[1:], (n - i) / n * law[:-1]


def _solve(cuts: _Inequalities, n: int, v: int) -> tuple[float, FloatArray | None]:
    """A proved upper bound on P[L ≥ v] and an optimal law; (1, None) if the solver gives up.

    Variables are ℓ_0, …, ℓ_n and one t ≥ 0 for each positive part: part_i(ℓ) − t ≤ 0 and
    Σ t ≤ right.
    """
    # Imported on first use: it would double the time that importing this package takes.
    from scipy.optimize import linprog
    from scipy.sparse import csr_array

    r, w = np.concatenate([cuts.a_r, cuts.b_r]), np.concatenate([cuts.a_w, cuts.b_w])
    owner = np.tile(np.arange(cuts.size), 2)
    useful = np.maximum(r, w) > 0
    r, w, owner = r[useful], w[useful], owner[useful]
    i, parts = np.arange(n), len(r) * n
    at_right, at_wrong = np.outer(r, (i + 1) / n).ravel(), np.outer(w, (n - i) / n).ravel()
    row, level = np.arange(parts), np.tile(i, len(r))
    total_row = parts + np.repeat(owner, n)
    matrix = csr_array(
        (
            np.concatenate([at_right, at_wrong, -np.ones(parts), np.ones(parts)]),
            (
                np.concatenate([row, row, row, total_row]),
                np.concatenate([level + 1, level, n + 1 + row, n + 1 + row]),
            ),
        ),
        shape=(parts + cuts.size, n + 1 + parts),
    )
    cost = np.zeros(n + 1 + parts)
    cost[v : n + 1] = -1.0
    total = csr_array(np.append(np.ones(n + 1), np.zeros(parts))[None])
    limits = np.append(np.zeros(parts), cuts.right)
    solve: Any = linprog  # scipy's types do not cover sparse arrays
    solved = solve(
        cost, A_ub=matrix, b_ub=limits, A_eq=total, b_eq=[1.0], bounds=(0, None), method="highs-ds"
    )
    if solved.status != 0:
        return 1.0, None
    # Weak duality: any prices 0 ≤ y ≤ Y on the parts and Y ≥ 0 on the inequalities give
    # P[L ≥ v] ≤ max over i of (1{i ≥ v} − Σ y·part at ℓ_i) + Σ Y·right. The solver's prices are
    # made to fit; how exact they are matters for the value, not for its validity.
    prices = np.maximum(-np.asarray(solved.ineqlin.marginals), 0.0)
    outer = prices[parts:]
    inner = np.minimum(prices[:parts], np.repeat(outer[owner], n))
    reduced = np.where(np.arange(n + 1) >= v, 1.0, 0.0)
    np.subtract.at(reduced, level + 1, inner * at_right)
    np.subtract.at(reduced, level, inner * at_wrong)
    bound = float(reduced.max() + outer @ cuts.right) + _ROUNDING
    law = np.maximum(solved.x[: n + 1], 0.0)
    return min(bound, 1.0), law / law.sum()
