"""The prior-exact mean ceiling: what f-DP allows on one target, given its whole prior.

Let a target have the conditional prior π over m values and the mechanism be f-DP for replace-one
neighbours. With a_z = P[guess = z | truth = z], f-DP on the event {guess = z} gives
P[guess = z | truth = w] ≥ g(a_z), g(a) = f(1 − a), and each truth's guesses have total 1:

    C_f(π) = max Σ_z π_z a_z   subject to   a_z + Σ_{w≠z} g(a_w) ≤ 1 for every z, 0 ≤ a ≤ 1

bounds the success on that target whatever is known of the others. Weak duality, for any y ≥ 0 with
Y = Σ y and H(u, w) = max over a in [0, 1] of u·a − w·g(a):

    C_f(π) ≤ Y + Σ_z H(π_z − y_z, Y − y_z).

The best y is known up to one number, a threshold θ: y_z = Y (π_z − θ)₊ / Σ_w (π_w − θ)₊, where the
values likelier than θ share one a. What is left is

    C_f(π) = min over θ of   Y − H(θ, Y) + Σ_z H(min(π_z, θ), Y),   Y = θ + Σ_z (π_z − θ)₊,

a valid bound at every θ and, at the best one, the exact value: docs/prior-exact.md has the proofs.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reconbench.bounds import _validate
from reconbench.bounds._validate import FloatArray
from reconbench.bounds.ceilings.base import MeanBound, Targets, WholePriors
from reconbench.bounds.ceilings.tail_runs import TailRuns
from reconbench.bounds.guarantees._conjugate import Response, best_response
from reconbench.bounds.guarantees.guarantee import Guarantee
from reconbench.bounds.guarantees.relation import require_replace_one

_TOTAL = 1e-6
_HALVINGS = 52
# Numbers worked on at a time: few enough to stay in a processor's cache.
CHUNK = 2**15


@dataclass(frozen=True, eq=False)
class PriorExact(MeanBound):
    """E[targets recovered exactly] ≤ Σ_i C_f(π_i), for any attack on an f-DP mechanism.

    `priors[i]` is target i's prior given all that the attacker knows of record i; rows may be
    padded with zeros. For several columns it is the joint prior. Where that is too long to list,
    give each row's likeliest values and, as `tail_mass`, the probability of the rest: no value
    that is left out may be likelier than the smallest positive one listed. C_f grows when mass
    is concentrated, so the rest is counted as values as likely as that, and the bound stays valid;
    `tail_runs` gives tighter values for it.

    For two values it is 1 − the Bayes error (Kulynych 2025, Theorem D.1), for a uniform prior
    the fixed point a = 1 − f((1 − a)/(m − 1)) (Mahloujifar et al. 2024). Assumes exact match and
    a guarantee for replace-one neighbours; the expectation is over the target and the coins, given
    any other records, so targets need not be independent of them if π_i is conditional on them.
    """

    priors: FloatArray
    guarantee: Guarantee
    tail_mass: ArrayLike = 0.0
    tail_runs: TailRuns | None = None

    name: ClassVar[str] = "prior-exact"
    reference: ClassVar[str] = "reconbench, prior-exact mean ceiling"
    statement: ClassVar[str] = (
        "Any f-DP, exact match or success sets: the most that each target's whole prior allows."
    )
    proved: ClassVar[bool] = True

    def __post_init__(self) -> None:
        priors = prior_rows(self.priors)
        tail = tail_masses(self.tail_mass, priors)
        check_runs(self.tail_runs, tail)
        require_replace_one(self.guarantee, self.reference)
        object.__setattr__(self, "priors", priors)
        object.__setattr__(self, "tail_mass", tail)

    @property
    def n(self) -> int:
        return len(self.priors)

    @classmethod
    def apply(cls, targets: Targets, guarantee: Guarantee) -> MeanBound:
        return prior_exact_bound(targets.whole_priors, guarantee)

    @property
    def per_target(self) -> FloatArray:
        """C_f(π_i), target by target: a dual value, so an upper bound up to rounding."""
        return self._solved[0]

    @property
    def gap(self) -> float:
        """How much `mean` can exceed the exact Σ_i C_f(π_i) at most: dual minus primal value."""
        return float(self._solved[1].sum())

    @cached_property
    def _solved(self) -> tuple[FloatArray, FloatArray]:
        respond = best_response(self.guarantee)
        values, counts, which = distinct_values(self.priors, self.tail_mass, self.tail_runs)
        rows = max(1, CHUNK // values.shape[1])
        parts = [
            _solve(values[i : i + rows], counts[i : i + rows], respond)
            for i in range(0, len(values), rows)
        ]
        dual, gap = (np.concatenate(part)[which] for part in zip(*parts, strict=True))
        dual.setflags(write=False)
        return dual, gap


def prior_exact(priors: ArrayLike, guarantee: Guarantee, tail_mass: ArrayLike = 0.0) -> float:
    """The mean ceiling of `PriorExact`."""
    return PriorExact(np.asarray(priors), guarantee, tail_mass).mean


def prior_exact_bound(whole: WholePriors, guarantee: Guarantee) -> MeanBound:
    """The prior-exact bound of exact match, or of the success sets that the priors come with."""
    from reconbench.bounds.ceilings.prior_exact_sets import PriorExactSets

    if whole.success is None:
        return PriorExact(whole.priors, guarantee, whole.tail_mass, whole.tail_runs)
    return PriorExactSets(whole.priors, guarantee, whole.success)


def prior_rows(priors: ArrayLike) -> FloatArray:
    """`priors` as a read-only 2-D copy, one row a target, every entry in [0, 1]."""
    rows = _validate.probabilities("priors", priors).copy()
    if rows.ndim != 2 or rows.size == 0:
        raise ValueError(
            "priors must be a non-empty 2-D array, one row of probabilities per target, "
            f"got an array of shape {rows.shape}"
        )
    rows.setflags(write=False)
    return rows


def tail_masses(tail_mass: ArrayLike, priors: FloatArray) -> FloatArray:
    """`tail_mass` as one number per row of `priors`, which it must complete to 1."""
    tail = _validate.probabilities("tail_mass", tail_mass)
    if tail.ndim > 1 or tail.size not in (1, len(priors)):
        raise ValueError(
            f"tail_mass must be one number or one per target ({len(priors)}), "
            f"got an array of shape {tail.shape}"
        )
    check_totals(priors.sum(axis=1) + tail, "pass what is not listed as tail_mass")
    return np.broadcast_to(tail, len(priors))


def check_runs(runs: TailRuns | None, tail: FloatArray) -> None:
    """Refuse runs that are not one row per target with the mass of its tail."""
    if runs is None:
        return
    if runs.values.ndim != 2 or not len(tail) == len(runs.values) == len(runs.counts):
        raise ValueError(
            f"tail_runs must have one row per target ({len(tail)}), got values of shape "
            f"{runs.values.shape} and counts of shape {runs.counts.shape}"
        )
    gap = np.abs((runs.values * runs.counts).sum(axis=1) - tail).max()
    if gap > _TOTAL:
        raise ValueError(
            f"tail_runs must add up to tail_mass in each row, a row is off by {gap:.3g}: compute "
            "them with majorise_tail"
        )


def check_totals(totals: FloatArray, remedy: str) -> None:
    """Refuse rows of probabilities that do not add up to 1."""
    wrong = np.flatnonzero(np.abs(totals - 1) > _TOTAL)
    if wrong.size:
        raise ValueError(
            f"priors must add up to 1 in each row, got {totals[wrong[0]]:.9g} in row {wrong[0]} "
            f"({wrong.size} of {totals.size} rows are off): normalise them, or {remedy}"
        )


def distinct_values(
    priors: FloatArray, tail_mass: ArrayLike, runs: TailRuns | None
) -> tuple[FloatArray, FloatArray, NDArray[np.intp]]:
    """The values and counts of each prior that occurs, and which of these every target has."""
    tail = np.asarray(tail_mass)
    if runs is None:
        first, which = distinct(priors, tail)
        return *with_tail(priors[first], tail[first]), which
    first, which = distinct(np.column_stack([priors, runs.values, runs.counts]), tail)
    values = np.column_stack([priors[first], runs.values[first]])
    counts = np.column_stack([np.ones_like(priors[first]), runs.counts[first]])
    return values / (values * counts).sum(axis=1, keepdims=True), counts, which


def distinct(priors: FloatArray, tail: FloatArray) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The place of one target for each prior that occurs, and which of these every target has.

    Records that agree in all known columns have one prior.
    """
    whole = np.column_stack([priors, tail])
    # Rows as single items: equal bytes, equal priors.
    items = whole.view(np.dtype((np.void, whole.itemsize * whole.shape[1])))[:, 0]
    _, first, which = np.unique(items, return_index=True, return_inverse=True)
    return first, which


def with_tail(priors: FloatArray, tail: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Each row's values and how often each occurs, the tail as few and as large as it can be.

    A tail of mass r in values of at most c is majorised by ⌊r/c⌋ values c and one of what is left.
    """
    total = (priors.sum(axis=1) + tail)[:, None]
    if not tail.any():
        return priors / total, np.ones_like(priors)
    listed = np.where(priors > 0, priors, np.inf).min(axis=1)
    # A row that lists nothing leaves its tail uncapped.
    cap = np.where(np.isfinite(listed), listed, 1.0)
    whole = np.floor(tail / cap)
    rest = np.maximum(tail - whole * cap, 0.0)
    values = np.column_stack([priors, cap, rest]) / total
    return values, np.column_stack([np.ones_like(priors), whole, np.ones_like(rest)])


def _solve(
    values: FloatArray, counts: FloatArray, respond: Response
) -> tuple[FloatArray, FloatArray]:
    """The dual value of each row, and by how much it exceeds a feasible primal value."""
    with np.errstate(divide="ignore"):
        log_values = np.log(values)

    def at(theta: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """The bound at θ, Y, and the slack 1 − a_z − Σ_{w≠z} g(a_w) of the values above θ."""
        column = theta[:, None]
        y = theta + np.sum(counts * np.maximum(values - column, 0.0), axis=1)
        with np.errstate(divide="ignore"):
            log_theta, log_y = np.log(theta), np.log(y)
        log_slope = np.minimum(log_values, log_theta[:, None]) - log_y[:, None]
        a, g = respond(log_slope)
        a_top, g_top = respond(log_theta - log_y)
        # Y·(1 − K(θ/Y) + Σ_z K(min(π_z, θ)/Y)), K(s) = s·a − g(a)
        k_top = np.exp(log_theta - log_y) * a_top - g_top
        k_sum = np.sum(counts * (np.exp(log_slope) * a - g), axis=1)
        return y * (1 - k_top + k_sum), y, 1 - a_top + g_top - np.sum(counts * g, axis=1)

    # The bound falls in θ while the slack is positive and rises after; the slack never increases.
    low, high = np.zeros(len(values)), np.max(np.where(counts > 0, values, 0.0), axis=1)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        feasible = at(middle)[2] >= 0
        low, high = np.where(feasible, middle, low), np.where(feasible, high, middle)
    below, y_below, slack_below = at(low)
    above, y_above, slack_above = at(high)
    # A slack s means that the responses reach the bound less Y·s. The mixture of both responses
    # whose slack is 0 is feasible, constraints being convex; without a sign change the likeliest
    # value takes up the slack and reaches the bound itself.
    spread = slack_below - slack_above
    crossing = (slack_above < 0) & (spread > 0)
    share = np.where(crossing, slack_below / np.where(crossing, spread, 1.0), 1.0)
    primal = np.where(
        crossing,
        (1 - share) * (below - y_below * slack_below) + share * (above - y_above * slack_above),
        above,
    )
    dual = np.minimum(np.minimum(below, above), 1.0)
    return dual, np.maximum(dual - np.minimum(primal, 1.0), 0.0)
