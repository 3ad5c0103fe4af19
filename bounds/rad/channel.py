"""Theorem 4.3 of Guerra-Balboa 2026 for finite mechanisms, and the attack that reaches it.

A mechanism with finitely many outputs θ is its channel P(θ | z), for whatever other records there
are. With w(θ, z) = P(θ | z) − P(θ), an attack that knows θ and x = a(z) and guesses g gains

    W(θ, x, g) = Σ_{z: a(z) = x, ℓ(z, g) ≤ η} w(θ, z) π_z,

and the largest RAD is Σ_θ Σ_x max_g W(θ, x, g): Algorithm 1 takes the maximum. A guess need not
agree with x. Where every W is negative the best attack guesses to miss, because its success counts
less here than it does when the target did not take part. The success sets ℓ(z, g) ≤ η are all that
an error function and its threshold do, so they are given as a table of ``success[g, z]``; guesses
may be fewer or other things than values.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reconbench.bounds import _validate
from reconbench.bounds._validate import FloatArray
from reconbench.bounds.rad._inputs import SUM_TOLERANCE, Labels, as_labels, as_prior

Guesses = NDArray[np.int64]

# Numbers of one block of W at a time.
_BLOCK = 1 << 22


def success_within(errors: ArrayLike, eta: float) -> FloatArray:
    """success[g, z] = 1[ℓ(z, g) ≤ η] from a table of errors ℓ, guesses down and values across."""
    table = np.asarray(errors, dtype=np.float64)
    if table.ndim != 2 or np.isnan(table).any():
        raise ValueError(
            "errors must be a table of numbers, one row a guess and one column a value, got shape "
            f"{table.shape}"
        )
    return (table <= _validate.non_negative("eta", eta)).astype(np.float64)


def as_success(success: ArrayLike | None, m: int) -> FloatArray | None:
    """A checked table of 0 and 1; None stands for perfect reconstruction of z, the identity."""
    if success is None:
        return None
    table = np.asarray(success, dtype=np.float64)
    if table.ndim != 2 or table.shape[1] != m or len(table) == 0:
        raise ValueError(
            f"success must have one row a guess and one column for each of the {m} values, got "
            f"shape {table.shape}"
        )
    if not np.isin(table, (0.0, 1.0)).all():
        raise ValueError("success must hold 0 or 1: build it with success_within(errors, eta)")
    return table


def chance_range(prior: ArrayLike | int, success: ArrayLike | None = None) -> tuple[float, float]:
    """κ⁻ and κ⁺: the least and the largest chance of a guess to succeed on a draw of the prior."""
    values = as_prior(prior)
    table = as_success(success, values.size)
    chances = np.minimum(values if table is None else table @ values, 1.0)
    return float(chances.min()), float(chances.max())


@dataclass(frozen=True, eq=False)
class FiniteChannel:
    """P(θ | z) as a table, one row an output and one column a value, with prior, aux and success.

    ``prior`` is one probability a value, or the number of values of a uniform prior. ``aux`` is
    one label a value (None: no auxiliary knowledge). ``success`` is as above (None: η = 0 and
    ℓ(z, g) = 1[z ≠ g]).
    """

    table: FloatArray
    prior: FloatArray
    aux: Labels | None = None
    success: FloatArray | None = None

    def __post_init__(self) -> None:
        table = _validate.probabilities("table", self.table)
        if table.ndim != 2 or table.size == 0:
            raise ValueError(
                f"table must have one row an output and one column a value, got shape {table.shape}"
            )
        off = float(np.abs(table.sum(axis=0) - 1).max())
        if off > SUM_TOLERANCE:
            raise ValueError(
                f"table must have columns that sum to 1, one is off by {off:.3g}: rows are outputs "
                "and columns are values"
            )
        prior = as_prior(self.prior)
        if prior.size != table.shape[1]:
            raise ValueError(f"prior must have {table.shape[1]} values, got {prior.size}")
        object.__setattr__(self, "table", table)
        object.__setattr__(self, "prior", prior)
        object.__setattr__(self, "aux", as_labels(self.aux, prior.size))
        object.__setattr__(self, "success", as_success(self.success, prior.size))

    @cached_property
    def labels(self) -> Labels:
        return as_labels(self.aux, self.prior.size)

    @cached_property
    def outputs(self) -> FloatArray:
        """P(θ) = Σ_z π_z P(θ | z)."""
        return np.asarray(self.table @ self.prior)

    @cached_property
    def weights(self) -> FloatArray:
        """w(θ, z) π_z."""
        return np.asarray((self.table - self.outputs[:, None]) * self.prior)

    def rad(self) -> float:
        """The largest η-RAD of any attack: Theorem 4.3."""
        return float(sum(best.sum() for _, _, best in self._best()))

    def optimal(self) -> Guesses:
        """Algorithm 1 for every output (rows) and every label (columns); ties to the first."""
        guesses = np.empty((len(self.table), int(self.labels.max()) + 1), dtype=np.int64)
        for label, choice, _ in self._best():
            guesses[:, label] = choice
        return guesses

    def rad_of(self, guesses: ArrayLike) -> float:
        """The exact η-RAD of the attack that answers guesses[θ, a(z)]."""
        return self.success_of(guesses) - self._success(guesses, self.outputs[:, None])

    def success_of(self, guesses: ArrayLike) -> float:
        """Its exact chance of success on a target that took part (the paper's ReRo)."""
        return self._success(guesses, self.table)

    def _success(self, guesses: ArrayLike, chances: FloatArray) -> float:
        answer = np.asarray(guesses)[:, self.labels]
        values = np.arange(self.prior.size)
        hit = answer == values if self.success is None else self.success[answer, values]
        return float((chances * hit * self.prior).sum())

    def _best(self) -> Iterator[tuple[int, Guesses, FloatArray]]:
        """Every label with the best guess and the largest W of each output."""
        for label in range(int(self.labels.max()) + 1):
            own = self.labels == label
            weights = self.weights[:, own]
            if self.success is None:
                yield (label, *_best_value(weights, own))
            else:
                yield (label, *_best_row(weights, self.success[:, own]))


def _best_value(weights: FloatArray, own: NDArray[np.bool_]) -> tuple[Guesses, FloatArray]:
    """The best of the values with this label, or a value of another label to miss on purpose."""
    choice, best = np.flatnonzero(own)[weights.argmax(axis=1)], weights.max(axis=1)
    if own.all():
        return choice, best
    return np.where(best < 0, own.argmin(), choice), np.maximum(best, 0.0)


def _best_row(weights: FloatArray, success: FloatArray) -> tuple[Guesses, FloatArray]:
    choice = np.empty(len(weights), dtype=np.int64)
    best = np.empty(len(weights))
    different, first = np.unique(success, axis=0, return_index=True)
    step = max(1, _BLOCK // max(success.shape))
    for start in range(0, len(weights), step):
        part = slice(start, start + step)
        gains = weights[part] @ different.T
        choice[part] = first[gains.argmax(axis=1)]
        best[part] = gains.max(axis=1)
    return choice, best


def rad_finite(
    table: ArrayLike,
    prior: ArrayLike | int,
    aux: ArrayLike | None = None,
    success: ArrayLike | None = None,
) -> float:
    """Theorem 4.3: the largest η-RAD of any attack on a channel with finitely many outputs."""
    return _finite(table, prior, aux, success).rad()


def optimal_attack(
    table: ArrayLike,
    prior: ArrayLike | int,
    aux: ArrayLike | None = None,
    success: ArrayLike | None = None,
) -> Guesses:
    """Algorithm 1: the guess for every output (rows) and label of aux (columns)."""
    return _finite(table, prior, aux, success).optimal()


def _finite(
    table: ArrayLike, prior: ArrayLike | int, aux: ArrayLike | None, success: ArrayLike | None
) -> FiniteChannel:
    values = as_prior(prior)
    labels = as_labels(aux, values.size)
    chances = np.asarray(table, dtype=np.float64)
    return FiniteChannel(chances, values, labels, as_success(success, values.size))


def rad_given(
    table: ArrayLike,
    prior: ArrayLike | int,
    conditional: ArrayLike,
    success: ArrayLike | None = None,
) -> FloatArray:
    """Theorem 4.3 when the reported value is the secret and something else is known of it.

    ``prior`` is that of the reported value, ``conditional`` one row of P(value | known) for each
    thing known: the part of Theorem 4.3 that each has, given that it is what is known, for guesses
    from the rows of ``success`` (None: the values). The mean over what may be known is the largest
    RAD.
    """
    channel = _finite(table, prior, None, success)
    rows = _validate.probabilities("conditional", conditional)
    if rows.ndim != 2 or rows.shape[1] != channel.prior.size:
        raise ValueError(
            f"conditional must have one row a record and {channel.prior.size} columns, got shape "
            f"{rows.shape}"
        )
    gap = channel.table - channel.outputs[:, None]
    different, which = np.unique(rows, axis=0, return_inverse=True)
    found = np.empty(len(different))
    for i, row in enumerate(different):
        gains = gap * row if channel.success is None else (gap * row) @ channel.success.T
        found[i] = gains.max(axis=1).sum()
    return found[which.ravel()]


def rad_membership(table: ArrayLike, prior: ArrayLike | int) -> float:
    """Eq. 5: the attacker knows the whole record, a(z) = z, and only its part in the data counts.

    Σ_z π_z Σ_θ max(w(θ, z), 0). It needs that a guess can fail on every z, as when ℓ(z, g) = 0
    only for g = z: with η so large that every guess succeeds no attack has any advantage.
    """
    channel = _finite(table, prior, None, None)
    return float(np.maximum(channel.weights, 0.0).sum())


def rad_grr_within(
    epsilon: float, prior: ArrayLike | int, success: ArrayLike, aux: ArrayLike | None = None
) -> float:
    """Example 4.4, corrected, for any success sets and aux: GRR without its m × m channel.

    With M(g, x) = π(z: success[g, z], a(z) = x) and p − q the gap of GRR, an output θ adds
    (p − q) π_θ times, for every label, max_g 1[θ counts for g and x = a(θ)] − M(g, x). For aux = ∅
    and ℓ(θ, θ) ≤ η this is (p − q)(1 − Σ_θ π_θ min_{g: success[g, θ]} M(g)): the printed formula
    puts the minimum outside the sum.

    Args:
        epsilon: the ε of one report.
        prior: the probability of each value, or how many equally likely values there are.
        success: which guess counts for which value, as by ``success_within``.
        aux: a(z), one label per value; None for no knowledge.
    """
    from reconbench.bounds.rad.ldp import GRR

    values = as_prior(prior)
    labels = as_labels(aux, values.size)
    table = as_success(success, values.size)
    if table is None:
        raise ValueError("success must be a table; for perfect reconstruction use rad_grr")
    order = np.argsort(labels, kind="stable")
    starts = np.flatnonzero(np.diff(labels[order], prepend=-1))
    least, covering, missing = (np.full(n, np.inf) for n in (len(starts), values.size, values.size))
    step = max(1, _BLOCK // values.size)
    for start in range(0, len(table), step):
        block = table[start : start + step]
        mass = np.add.reduceat((block * values)[:, order], starts, axis=1)
        own = mass[:, labels]
        least = np.minimum(least, mass.min(axis=0))
        covering = np.minimum(covering, np.where(block > 0, own, np.inf).min(axis=0))
        missing = np.minimum(missing, np.where(block > 0, np.inf, own).min(axis=0))
    # On the label of θ itself a guess may cover θ or not; on every other label it only loses.
    gain = np.maximum(1 - covering, -missing) - (least.sum() - least[labels])
    return GRR(epsilon, values.size).gap * float(values @ gain)
