"""The recursion over counts shared by the ceilings that bound each target by lines.

For every target j and threshold i let P[j right, L > i] ≤ x_j(P[L without j ≥ i]), x_j being the
lowest of some increasing lines of slope at most 1. Summed over j the left side is E[L; L > i]. If
P[L ≥ v] were τ it would be at least v·τ at i = v − 1, which forces a least P[L = v − 1], then a
least P[L = v − 2], and so on. When these add up to more than 1, P[L ≥ v] < τ.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from reconbench.bounds._validate import FloatArray

LOWEST = 1e-30
_HALVINGS = 40


@dataclass(frozen=True, eq=False)
class Lines:
    """x_j(Q) = min over k of slopes[j, k]·Q + constants[j, k], one row a target.

    `counts`, if given, says how many targets have each row.
    """

    slopes: FloatArray
    constants: FloatArray
    counts: NDArray[np.int64] | None = None

    @cached_property
    def n(self) -> int:
        return len(self.slopes) if self.counts is None else int(self.counts.sum())

    def ceiling(self, failure: float) -> int:
        """The smallest v for which P[L > v] ≥ failure is impossible; n where there is none."""
        return bisect_left(range(self.n), True, key=lambda v: self.refute(v + 1, failure))

    def tail(self, v: int) -> float:
        """The smallest value of P[L ≥ v] that is impossible, to within rounding from above."""
        if v > self.n:
            return 0.0
        if v <= 0 or not self.refute(v, 1.0):
            return 1.0
        low, high = math.log(LOWEST), 0.0
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            low, high = (low, middle) if self.refute(v, math.exp(middle)) else (middle, high)
        return math.exp(high)

    def refute(self, v: int, tau: float) -> bool:
        """Whether P[L ≥ v] ≥ tau is impossible."""
        # at_least = P[L > i] and right = E[L; L > i], both as small as they can be.
        at_least, right = tau, v * tau
        for i in range(v - 1, -1, -1):
            mass = self._forced(i, at_least, right, at_least)
            if mass <= 0:
                return False
            if at_least + mass <= 1:
                middle = at_least + (1 - i / self.n) * mass
                mass = max(mass, self._forced(i, at_least, right, middle))
            at_least, right = at_least + mass, right + i * mass
            if at_least > 1:
                return True
        return False

    def _forced(self, i: int, at_least: float, right: float, tangent: float) -> float:
        """The least P[L = i], by the lines that are lowest at one point; any point is valid.

        P[L without j ≥ i] exceeds P[L > i] by P[L = i, j wrong]: at most P[L = i], and n − i times
        that over all j. So Σ_j x_j grows by at most P[L = i] times the n − i largest slopes.
        """
        row = np.arange(len(self.slopes))
        lowest = np.argmin(tangent * self.slopes + self.constants, axis=1)
        slopes, constants = self.slopes[row, lowest], self.constants[row, lowest]
        if self.counts is None:
            reach = at_least * float(slopes.sum()) + float(constants.sum())
            largest = float(np.partition(slopes, max(i - 1, 0))[i:].sum())
        else:
            reach = at_least * float(slopes @ self.counts) + float(constants @ self.counts)
            order = np.argsort(slopes)
            below = np.maximum(np.cumsum(self.counts[order]) - i, 0)
            largest = float(slopes[order] @ np.diff(below, prepend=0))
        if largest == 0:
            return math.inf if right > reach else 0.0
        return (right - reach) / largest
