"""What is known of the values of a long prior that are not listed, as a few repeated values.

Write T_k(π) for the total of the k likeliest values of π. A prior w *majorises* π when T_k(w) ≥
T_k(π) for every k. The bounds from whole priors are sums of convex functions of each value, or
maxima of such, so they are Schur-convex: computed for w they hold for π. Three facts give w.

- T_k is concave in k, so for a list of the K likeliest values, K ≥ 1, and for every k
  T_k(π) ≤ T_K(π) + (k − K)·π_K: a line, tangent at K, by the smallest value listed.
- A record is right on a set of columns only if it is right on every subset of it. Each joint value
  of the set has one value on the subset, so T_k(π) ≤ T_k(prior of the subset) for every k, and
  the lines of the subset hold for the set.
- T_k ≤ 1.

The smallest concave function that these allow, read at whole k, is T_k(w) of some w, and its values
beyond the listed ones are the runs that `majorise_tail` finds. A bound at w is at most the bound
that any of these lists gives alone, target by target, so no minimum is taken afterwards. Lists are
read at a geometric grid of K: that costs some tightness (below 0.1 % in the tests), never validity.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from reconbench.bounds._validate import FloatArray

# Lists are read at K, K·r, K·r², …: a finer grid is hardly tighter.
_RATIO = 2**0.25
# Beyond 1e15 equal values, counts are no longer exact.
_FLAT = 1e-15


@dataclass(frozen=True, eq=False)
class TailRuns:
    """Values that majorise what is not listed of each prior, and how often each occurs: (n, R)."""

    values: FloatArray
    counts: FloatArray


def majorise_tail(listed: FloatArray, lists: Iterable[FloatArray]) -> TailRuns:
    """The values beyond `listed` that no list contradicts.

    Args:
        listed: the likeliest values of each prior, largest first, (n, K).
        lists: longer lists of the likeliest values, largest first, of the same priors or of the
            priors on some of the columns, (n, any number). Lists that are no longer say nothing.
    """
    top = listed.sum(axis=1)
    tail = np.maximum(1 - top, 0.0)
    # The next j values total at most min over lines of intercept + slope·j, and the whole tail.
    slopes, intercepts = [np.zeros_like(tail), listed[:, -1]], [tail, np.zeros_like(tail)]
    for other in lists:
        for k in _places(listed.shape[1], other.shape[1]):
            smallest = other[:, k - 1]
            at_listed = other[:, :k].sum(axis=1) - (k - listed.shape[1]) * smallest
            slopes.append(smallest)
            intercepts.append(np.maximum(at_listed - top, 0.0))
    slope, intercept = np.stack(slopes, axis=1), np.stack(intercepts, axis=1)
    # A line may be left out. Those that hardly rise would take counts that are not exact.
    flat = slope < _FLAT
    slope, intercept = np.where(flat, 0.0, slope), np.where(flat, tail[:, None], intercept)

    def most(j: FloatArray) -> FloatArray:
        return intercept + slope * j[:, None]

    values: list[FloatArray] = []
    counts: list[FloatArray] = []
    j, reached = np.zeros(len(listed)), np.zeros(len(listed))
    while (reached < tail).any():
        # One value up to the lines that are lowest at j + 1, then along the flattest of them.
        at_step = most(j + 1)
        step = at_step.min(axis=1)
        value = np.where(at_step <= step[:, None], slope, np.inf).min(axis=1)
        above = value[:, None] - slope
        crossing = np.full_like(slope, np.inf)
        np.divide(at_step - step[:, None], above, out=crossing, where=above > 0)
        further = np.where(value > 0, np.floor(crossing.min(axis=1)), 0.0)
        values += [step - reached, value]
        counts += [np.ones_like(j), further]
        reached, j = step + further * value, j + 1 + further
    if not values:
        return TailRuns(np.zeros((len(listed), 1)), np.zeros((len(listed), 1)))
    return TailRuns(np.maximum(np.stack(values, axis=1), 0.0), np.stack(counts, axis=1))


def _places(first: int, length: int) -> list[int]:
    """Where a list is read: from `first` on, in geometric steps, and at its end."""
    if length < first:
        return []
    steps = int(np.log(length / first) / np.log(_RATIO)) if length > first else 0
    grid = {round(first * _RATIO**step) for step in range(steps + 1)}
    return sorted({k for k in grid if k <= length} | {length})
