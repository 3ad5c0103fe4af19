"""The profile-optimised ceiling: Theorem 3.5 at the ε that suits the question best.

A guarantee with privacy profile δ(ε) is (ε, δ(ε))-DP for every ε at once, so Swanberg 2025,
Theorem 3.5 holds at each of them, and for each v

    P[L ≥ v] ≤ min over ε of   T_ε(v) + α_ε(v)·n·δ(ε).

The smallest ceiling over ε is a ceiling. Any ε gives a valid bound: the search for the best one
may be approximate, the bound is evaluated exactly where the search ends.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from reconbench.bounds import _validate
from reconbench.bounds.ceilings.base import CONFIDENCES, BestGuessBound, failure_rate
from reconbench.bounds.ceilings.swanberg import Theorem35
from reconbench.bounds.guarantees._conjugate import largest_epsilon
from reconbench.bounds.guarantees.guarantee import ApproxDP, Guarantee, PureDP

# A scan of ε up to where δ(ε) is negligible, then a golden section between the scan's neighbours
# of the best, down to this share of the range.
_SCAN = 20
_RESOLUTION = 1e-3
_GOLDEN = (math.sqrt(5) - 1) / 2
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
        v = min(self._at(epsilon).ceiling(confidence) for epsilon in self._scan)
        # The best ε for P[L ≥ v] has a ceiling below v where one exists.
        while v > 0 and self._best(v)[0] <= failure:
            v = min(v - 1, self._at(self._best(v)[1]).ceiling(confidence))
        return v

    def epsilon(self, v: float) -> float:
        """The ε at which `tail(v)` is evaluated."""
        return self._best(int(_validate.thresholds("v", v, self.n)))[1]

    def _tail_at(self, v: int) -> float:
        return self._best(v)[0]

    def _best(self, v: int) -> tuple[float, float]:
        """The smallest bound on P[L ≥ v] that the search finds, and its ε."""
        if v not in self._found:
            self._found[v] = _search(lambda epsilon: float(self._at(epsilon).tail(v)), self._scan)
        return self._found[v]

    def _at(self, epsilon: float) -> Theorem35:
        if epsilon not in self._theorems:
            delta = min(self.guarantee.delta_at(epsilon), _BELOW_ONE)
            self._theorems[epsilon] = Theorem35(self.best_prior_success, ApproxDP(epsilon, delta))
        return self._theorems[epsilon]

    @cached_property
    def _scan(self) -> list[float]:
        largest = largest_epsilon(self.guarantee)
        if math.isinf(largest):
            return [largest]
        return [largest * (k / _SCAN if k else _RESOLUTION**2) for k in range(_SCAN + 1)]

    @cached_property
    def _theorems(self) -> dict[float, Theorem35]:
        if isinstance(self.guarantee, ApproxDP | PureDP):
            return {self.guarantee.epsilon: Theorem35(self.best_prior_success, self.guarantee)}
        return {}

    @cached_property
    def _found(self) -> dict[int, tuple[float, float]]:
        return {}


def profile_ceilings(
    best_prior_success: ArrayLike,
    guarantee: Guarantee,
    confidences: Sequence[float] = CONFIDENCES,
) -> dict[float, int]:
    """The ceilings of `Profile`, by confidence."""
    return Profile(np.asarray(best_prior_success), guarantee).by_confidence(confidences)


def _search(bound: Callable[[float], float], scan: list[float]) -> tuple[float, float]:
    """The smallest value of bound(ε) met, and its ε: exact values, an approximate minimum."""
    values = [bound(epsilon) for epsilon in scan]
    best = int(np.argmin(values))
    met = [(values[best], scan[best])]
    # Nothing to gain where the bound is 0, or 1 at every ε.
    if not 0 < values[best] < 1:
        return met[0]
    left, right = scan[max(best - 1, 0)], scan[min(best + 1, len(scan) - 1)]
    width = _RESOLUTION * scan[-1]
    x, y = right - _GOLDEN * (right - left), left + _GOLDEN * (right - left)
    at_x, at_y = bound(x), bound(y)
    met += [(at_x, x), (at_y, y)]
    while right - left > width:
        if at_x < at_y:
            right, y, at_y = y, x, at_x
            x = right - _GOLDEN * (right - left)
            at_x = bound(x)
            met.append((at_x, x))
        else:
            left, x, at_x = x, y, at_y
            y = left + _GOLDEN * (right - left)
            at_y = bound(y)
            met.append((at_y, y))
    return min(met)
