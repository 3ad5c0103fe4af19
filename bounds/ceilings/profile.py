"""The profile-optimised ceiling: Theorem 3.5 at the ε that suits the question best.

A guarantee with privacy profile δ(ε) is (ε, δ(ε))-DP for every ε at once, so Swanberg 2025,
Theorem 3.5 holds at each of them, and for each v

    P[L ≥ v] ≤ min over ε of   T_ε(v) + α_ε(v)·n·δ(ε).

The smallest ceiling over ε is a ceiling. Any ε gives a valid bound: the search for the best one
may be approximate, the bound is evaluated exactly where the search ends.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from reconbench.bounds import _validate
from reconbench.bounds._validate import FloatArray
from reconbench.bounds.ceilings.base import (
    CONFIDENCES,
    BestGuessBound,
    failure_rate,
    smallest,
)
from reconbench.bounds.ceilings.swanberg import add_failures, beta
from reconbench.bounds.guarantees._conjugate import largest_epsilon
from reconbench.bounds.guarantees.guarantee import ApproxDP, Guarantee, PureDP
from reconbench.bounds.poisson_binomial import PoissonBinomial

# Steps of a scan of ε up to where δ(ε) is negligible. Each refinement takes half as many between
# the neighbours of the best.
_SCAN = 20
_REFINEMENTS = 2
# The first ε is this share of the largest.
_SMALLEST = 1e-6
_BELOW_ONE = math.nextafter(1.0, 0.0)


@dataclass(frozen=True, eq=False)
class Profile(BestGuessBound):
    """Swanberg 2025, Theorem 3.5, minimised over the privacy profile of the guarantee.

    Takes any guarantee with a profile δ(ε): Gaussian DP, (ε, δ), pure ε, or a numerical curve.
    `best_prior_success` and the assumptions are those of `Theorem35`: independent targets, a
    decomposable metric, replace-one neighbours. Far below Theorem 3.5 at one small δ where the
    profile is smooth: a Gaussian mechanism sold as (1, 1e-5)-DP is also (0.5, 0.004)-DP, and for
    a hundred targets that says more.

    Erratum: the proof of Theorem 3.5 takes the failures of ε-DP to be independent of the sum. They
    need not be: some mechanisms pass it, by less than n·δ(ε), for exact match so far only where the
    bound exceeds one half (docs/profile.md). `ProfileRecursion` and `FdpRecursion` hold at every v,
    and at confidences of 0.95 and more they are usually lower as well.
    """

    name: ClassVar[str] = "profile"
    reference: ClassVar[str] = "Swanberg 2025, Theorem 3.5, minimised over the privacy profile"
    statement: ClassVar[str] = (
        "Any privacy profile, any metric: Theorem 3.5 at the best ε of the whole profile."
    )
    proved: ClassVar[bool] = False

    def ceiling(self, confidence: float) -> int:
        failure = failure_rate(confidence)
        v = smallest(lambda w: self._bound_scan(w), self.n, failure)
        # The best ε for P[L ≥ v] may lie between those of the scan.
        while v > 0 and self._best(v)[0] <= failure:
            v -= 1
        return v

    def epsilon(self, v: float) -> float:
        """The ε at which `tail(v)` is evaluated."""
        return self._best(int(_validate.thresholds("v", v, self.n)))[1]

    def _tail_at(self, v: int) -> float:
        return self._best(v)[0]

    def _bound_scan(self, v: int) -> float:
        """The smallest bound on P[L ≥ v] at the ε of the scan."""
        return float(self._scan.bound(v).min())

    def _best(self, v: int) -> tuple[float, float]:
        """The smallest bound on P[L ≥ v] that the search finds, and its ε."""
        if v not in self._found:
            self._found[v] = self._search(v)
        return self._found[v]

    def _search(self, v: int) -> tuple[float, float]:
        """The smallest bound on P[L ≥ v] met, and its ε: exact values, an approximate minimum."""
        grid, met = self._scan, []
        for refinement in range(_REFINEMENTS + 1):
            values = grid.bound(v)
            best = int(np.argmin(values))
            met.append((float(values[best]), float(grid.epsilons[best])))
            # Nothing to gain where the bound is 0, or 1 at every ε.
            if refinement == _REFINEMENTS or not 0 < values[best] < 1:
                break
            left, right = max(best - 1, 0), min(best + 1, len(values) - 1)
            grid = self._refine(float(grid.epsilons[left]), float(grid.epsilons[right]))
        return min(met)

    @cached_property
    def _scan(self) -> _Grid:
        largest = largest_epsilon(self.guarantee)
        shares = np.linspace(0, 1, _SCAN + 1)
        shares[0] = _SMALLEST
        return self._lay_grid(largest * shares if math.isfinite(largest) else np.array([largest]))

    def _refine(self, left: float, right: float) -> _Grid:
        if (left, right) not in self._refined:
            self._refined[left, right] = self._lay_grid(np.linspace(left, right, _SCAN // 2 + 1))
        return self._refined[left, right]

    def _lay_grid(self, epsilons: FloatArray) -> _Grid:
        found = [self.guarantee.delta_at(float(epsilon)) for epsilon in epsilons]
        deltas = np.minimum(found, _BELOW_ONE)
        if isinstance(self.guarantee, ApproxDP | PureDP):
            # Whatever rounding makes of δ(ε), the stated pair holds.
            stated = self.guarantee.delta if isinstance(self.guarantee, ApproxDP) else 0.0
            deltas = np.where(epsilons == self.guarantee.epsilon, stated, deltas)
        chances = np.array([beta(self.best_prior_success, float(each)) for each in epsilons])
        tails = np.array([one.tails for one in PoissonBinomial.of_rows(chances)])
        return _Grid(epsilons, tails, self.n * deltas)

    @cached_property
    def _found(self) -> dict[int, tuple[float, float]]:
        return {}

    @cached_property
    def _refined(self) -> dict[tuple[float, float], _Grid]:
        return {}


@dataclass(frozen=True, eq=False)
class _Grid:
    """Some ε, with the tails of the sums of Theorem 3.5 and n·δ at each."""

    epsilons: FloatArray
    tails: FloatArray
    n_delta: FloatArray

    def bound(self, v: int) -> FloatArray:
        """The bound on P[L ≥ v] at each ε."""
        if v <= 0:
            return np.ones(len(self.epsilons))
        if v >= self.tails.shape[1] - 1:
            return np.zeros(len(self.epsilons))
        return add_failures(self.tails, self.n_delta, v, self._sure)

    @cached_property
    def _sure(self) -> int:
        """The largest v that no sum is ever below, as far as doubles tell."""
        return int((self.tails == 1.0).all(axis=0).sum()) - 1


def profile_ceilings(
    best_prior_success: ArrayLike,
    guarantee: Guarantee,
    confidences: Sequence[float] = CONFIDENCES,
) -> dict[float, int]:
    """The ceilings of `Profile`, by confidence."""
    return Profile(np.asarray(best_prior_success), guarantee).by_confidence(confidences)
