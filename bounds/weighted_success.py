"""A ceiling on the expected weight that is guessed right, where rare values weigh more.

A record with value u weighs w(u), and a guess of it that is right wins that. Unlike a number of
records it depends on *which* values are right, so ceilings on successes do not bound it.
"""

from __future__ import annotations

from collections.abc import Hashable
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from reconbench.bounds import _validate
from reconbench.bounds._validate import FloatArray
from reconbench.bounds.guarantees.guarantee import Guarantee
from reconbench.bounds.guarantees.relation import require_replace_one

# Guess rates between which the trade-off curve is bounded by its value at the larger one.
RATES = np.concatenate([[0.0], np.geomspace(1e-12, 1.0, 1500)])
# Prices that are tried: factors of the largest stake, then of the best so far, ever closer.
PRICES = (np.geomspace(1e-4, 1e3, 29), np.geomspace(0.6, 1.7, 15), np.geomspace(0.93, 1.07, 15))


def bound_weighted_success(
    priors: ArrayLike, weights: ArrayLike, guarantee: Guarantee
) -> FloatArray:
    """Bound the expected weight that any attack guesses right, for each target.

    Let q_u be how often the attack guesses u if a fresh record takes the target's place. If the
    target has u, replace-one neighbours allow it to guess u with probability 1 − f(q_u) at most
    (Kulynych 2025, Lemma C.3, and Jensen over the fresh record). It makes one guess, so
        E[weight] ≤ max_q Σ_u p(u) w(u) (1 − f(q_u))  over  q ≥ 0, Σ_u q_u ≤ 1,
    which is at most λ + Σ_u max_q [p(u) w(u) (1 − f(q)) − λ q] for every price λ ≥ 0: the least
    over some prices is returned. Assumes exact match.

    Args:
        priors: each target's prior over all values, (n, values).
        weights: what each value weighs, (values,), 0 or more.
        guarantee: for replace-one neighbours.
    """
    require_replace_one(guarantee, "Kulynych 2025, Lemma C.3")
    chances = _validate.probabilities("priors", priors)
    worth = np.asarray(weights, dtype=np.float64)
    if chances.ndim != 2 or worth.shape != chances.shape[1:]:
        raise ValueError(
            "priors must be (targets, values) and weights (values,), got shapes "
            f"{chances.shape} and {worth.shape}"
        )
    if not (np.isfinite(worth).all() and (worth >= 0).all()):
        raise ValueError("weights must be finite and 0 or more")
    stakes = chances * worth
    # All values are guessed right at no price.
    least, best = stakes.sum(axis=1), stakes.max(axis=1, initial=0.0)
    if isinstance(guarantee, Hashable):
        lines = _find_corners_once(guarantee)
    else:
        lines = _find_corners(guarantee)
    for factors in PRICES:
        tried = np.array([_charge(stakes, factor * best, *lines) for factor in factors])
        least = np.minimum(least, tried.min(axis=0))
        best = best * factors[tried.argmin(axis=0)]
    return np.asarray(least)


def _charge(
    stakes: FloatArray, price: FloatArray, slopes: FloatArray, corners: FloatArray
) -> FloatArray:
    """The bound at one price per target: λ + Σ_u max_q [stake (1 − f(q)) − λ q]."""
    held = stakes > 0
    own = price[:, None] / np.where(held, stakes, 1.0)
    # The largest 1 − f(q) − s q is at the corner where the slope falls below s.
    index = np.searchsorted(-slopes, -own, side="right")
    gains = stakes * corners[index, 1] - price[:, None] * corners[index, 0]
    return np.asarray(price + np.where(held, gains, 0.0).sum(axis=1))


def _find_corners(guarantee: Guarantee) -> tuple[FloatArray, FloatArray]:
    """Slopes and corners of a concave line that is nowhere below 1 − f.

    Between two rates 1 − f is at most its value at the larger one; the line is the upper hull of
    these steps.
    """
    power = np.minimum(guarantee.power(RATES), 1.0)
    steps = np.column_stack([RATES, np.append(power[1:], power[-1])])
    hull: list[list[float]] = []
    for point in steps.tolist():
        while len(hull) > 1 and _slope(hull[-2], hull[-1]) <= _slope(hull[-1], point):
            hull.pop()
        hull.append(point)
    corners = np.array(hull)
    slopes = np.diff(corners[:, 1]) / np.diff(corners[:, 0])
    return slopes, corners


_find_corners_once = lru_cache(maxsize=256)(_find_corners)


def _slope(left: list[float], right: list[float]) -> float:
    return (right[1] - left[1]) / (right[0] - left[0])
