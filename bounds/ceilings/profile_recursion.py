"""A high-probability ceiling from a privacy profile, for any metric, with a complete proof.

Swanberg 2025, Theorem 3.5 rests on a count F of failures of ε-DP that is independent of the sum
of Bernoulli variables. Failures can depend on it, and mechanisms exist that pass the bound at
small v: docs/profile.md has one. Two bounds hold for every ε of the profile without it. With
p_j the best prior success, β_j = p_j/(p_j + (1 − p_j) e^−ε) and γ_j = δ(ε)/(p_j e^ε + 1 − p_j),

    P[L ≥ v] ≤ P[Σ_j Bernoulli(β_j) ≥ v] + Σ_j γ_j,
    P[j right, L > i] ≤ β_j·P[L without j ≥ i] + γ_j   for all j and i.

The first serves at low confidences. The second is a line for each ε, and `programs.recursion` turns
them into a bound that uses the whole profile at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reconbench.bounds._validate import FloatArray
from reconbench.bounds.ceilings.base import CONFIDENCES, BestGuessBound, failure_rate, smallest
from reconbench.bounds.ceilings.programs.recursion import Lines
from reconbench.bounds.ceilings.swanberg import beta
from reconbench.bounds.guarantees._conjugate import largest_epsilon
from reconbench.bounds.guarantees.guarantee import ApproxDP, Guarantee, PureDP
from reconbench.bounds.poisson_binomial import PoissonBinomial

_EPSILONS = 97
_SUMS = 24


@dataclass(frozen=True, eq=False)
class ProfileRecursion(BestGuessBound):
    """P[L ≥ v] from the privacy profile and the best prior successes, for any metric.

    `best_prior_success` and the assumptions are those of `Theorem35`: independent targets given
    the prior, a decomposable metric, replace-one neighbours; every attack is covered. For pure DP
    it is never above Theorem 3.2 at the best prior guesses.
    """

    name: ClassVar[str] = "profile-recursion"
    reference: ClassVar[str] = "reconbench, recursion over the privacy profile"
    statement: ClassVar[str] = (
        "Any privacy profile, any metric: a recursion over the whole profile, fully proved."
    )
    proved: ClassVar[bool] = True

    def ceiling(self, confidence: float) -> int:
        failure = failure_rate(confidence)
        by_sums = smallest(lambda v: float(self._sums[v]), self.n, failure)
        return min(by_sums, self._lines.ceiling(failure))

    def _tail_at(self, v: int) -> float:
        return min(float(self._sums[v]), self._lines.tail(v))

    def _pairs(self, count: int, success: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Some ε up to the end of the profile, and γ_j at each: one row a prior success."""
        guarantee = self.guarantee
        largest = largest_epsilon(guarantee)
        epsilons = (
            largest * np.linspace(0, 1, count) if np.isfinite(largest) else np.array([largest])
        )
        deltas = np.array([guarantee.delta_at(float(epsilon)) for epsilon in epsilons])
        if isinstance(guarantee, ApproxDP | PureDP):
            # Whatever δ(∞) is called, the pair itself holds.
            deltas[-1] = guarantee.delta if isinstance(guarantee, ApproxDP) else 0.0
        p = success[:, None]
        # δ/(p e^ε + 1 − p) = δ e^−ε/(p + (1 − p) e^−ε)
        shrink = np.exp(-epsilons)
        weight = p + (1 - p) * shrink
        return epsilons, deltas * np.divide(
            shrink, weight, out=np.ones_like(weight), where=weight > 0
        )

    @cached_property
    def _sums(self) -> FloatArray:
        """min over ε of P[S ≥ v] + Σ_j γ_j, v = 0, …, n + 1."""
        success, counts = self._distinct
        epsilons, gammas = self._pairs(_SUMS, success)
        chances = np.array([beta(self.best_prior_success, float(each)) for each in epsilons])
        tails = np.array([one.tails for one in PoissonBinomial.of_rows(chances)])
        best: FloatArray = np.minimum((tails + (counts @ gammas)[:, None]).min(axis=0), 1.0)
        best[-1] = 0.0
        return best

    @cached_property
    def _lines(self) -> Lines:
        success, counts = self._distinct
        epsilons, gammas = self._pairs(_EPSILONS, success)
        slopes = [beta(success, float(epsilon)) for epsilon in epsilons]
        return Lines(np.stack(slopes, axis=1), gammas, counts)

    @cached_property
    def _distinct(self) -> tuple[FloatArray, NDArray[np.int64]]:
        """The prior successes that occur, and how many targets have each."""
        return np.unique(self.best_prior_success, return_counts=True)


def profile_recursion_ceilings(
    best_prior_success: ArrayLike,
    guarantee: Guarantee,
    confidences: Sequence[float] = CONFIDENCES,
) -> dict[float, int]:
    """The ceilings of `ProfileRecursion`, by confidence."""
    return ProfileRecursion(np.asarray(best_prior_success), guarantee).by_confidence(confidences)
