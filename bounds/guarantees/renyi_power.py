"""The largest power that Rényi divergences allow a test: the edge of a convex set of coins.

A test with false-positive rate α and power s turns two tables into two coins. Order t bounds it by
d_t(s‖α) ≤ ε(t) and, in the other order of the tables, d_t(α‖s) ≤ ε(t). Both are of one form,

    log(s^τ α^(1−τ) + (1 − s)^τ (1 − α)^(1−τ)) ≤ (t − 1) ε(t),   τ = t or τ = 1 − t.

Coins are held by their logits, which keep the digits of both sides.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit

from reconbench.bounds._validate import FloatArray

# A coin further out than this has no digits left.
LARGEST_LOGIT = 690.0
_MOST_STEPS = 80
# Rounding of one number, and how many times that a logit may be off where the sum is flat.
_CLOSE, _BLURRED = 1.2e-16, 3e7
# So many levels are solved with every limit, then so many with the limits between those that bind
# at the neighbours, and then all others.
_EVERY_LIMIT, _SOME_LIMITS = 17, 257

Indices = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Limits:
    """log(s^τ α^(1−τ) + (1 − s)^τ (1 − α)^(1−τ)) ≤ budget, for τ > 1 or τ < 0."""

    powers: FloatArray
    budgets: FloatArray

    def take(self, index: Any) -> Limits:
        """Some of them, in the shape of the index."""
        return Limits(self.powers[index], self.budgets[index])


def largest_power(
    alpha: ArrayLike, orders: FloatArray, epsilons: FloatArray, *, both: bool
) -> tuple[FloatArray, FloatArray]:
    """The largest s with d_t(s‖α) ≤ ε(t) for every order, and 1 − s; d_t(α‖s) too if `both`.

    Of very many levels most are solved with the orders that bind around them: fewer orders never
    give too small a power.
    """
    level = np.asarray(alpha, dtype=np.float64)
    finite = np.isfinite(epsilons)
    if not finite.any():
        return np.ones_like(level), np.zeros_like(level)
    t = orders[finite]
    with np.errstate(divide="ignore", over="ignore"):
        budget = (t - 1) * epsilons[finite]
        start = np.clip(np.log(level) - np.log1p(-level), -LARGEST_LOGIT, LARGEST_LOGIT)
    limits = Limits(t, budget)
    if both:
        limits = Limits(np.concatenate([t, 1 - t]), np.concatenate([budget, budget]))
    # In this order the limit that binds moves steadily with the level.
    limits = limits.take(np.argsort(limits.powers))
    levels, place = np.unique(start, return_inverse=True)
    u = _solve(levels, limits)[place].reshape(level.shape)
    power, beta = expit(u), expit(-u)
    power, beta = np.where(level > 0, power, 0.0), np.where(level > 0, beta, 1.0)
    return np.where(level < 1, power, 1.0), np.where(level < 1, beta, 0.0)


def find_edge(v: FloatArray, limits: Limits) -> FloatArray:
    """The logit of the largest power at the level of logit v, under each limit alone.

    Newton's method from outside, where the sum is mostly convex, in a bracket that halves where
    that fails. What is returned is not inside, by a little more than rounding.
    """
    tau, budget = limits.powers, limits.budgets
    log_alpha = -np.logaddexp(0.0, -v)
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        # Where one of the two terms alone reaches the budget, their sum is beyond it.
        other = (1 - tau) * np.where(tau > 0, log_alpha, log_alpha - v)
        reached = np.minimum((budget - other) / tau, 0.0)
        logit = reached - np.log(-np.expm1(reached))
        end = np.where(tau > 0, logit, -logit)
    low = np.broadcast_to(v, end.shape).copy()
    high = np.clip(end, low, LARGEST_LOGIT)
    u = high.copy()
    for k in range(_MOST_STEPS):
        hit, miss = log_terms(u, v, tau)
        moment = np.logaddexp(hit, miss)
        outside = moment >= budget
        low, high = np.where(outside, low, u), np.where(outside, u, high)
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            # τ (w − s), w being the share of the first term
            slope = tau * (np.exp(hit - moment) - expit(u))
            rounding = (1 + np.abs(tau) * (1 + np.abs(u) + np.abs(v))) / np.abs(slope)
            near = _CLOSE * np.fmin(rounding, _BLURRED)
            new = u - (moment - budget) / slope + near
        # A step to the outer end or beyond may mean that the edge is there, or nothing.
        inner = (new > low) & (new < high)
        new = np.where(inner, new, high - near if k % 3 else (low + high) / 2)
        done = (high - low <= 4 * near) | (outside & (np.abs(new - u) <= 4 * near))
        if done.all():
            break
        u = np.where(done, u, new)
    return np.asarray(np.minimum(high + near, LARGEST_LOGIT))


def log_terms(u: FloatArray, v: FloatArray, tau: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The logs of s^τ α^(1−τ) and (1 − s)^τ (1 − α)^(1−τ), by the logits of s and α."""
    log_s, log_alpha = -np.logaddexp(0.0, -u), -np.logaddexp(0.0, -v)
    return tau * log_s + (1 - tau) * log_alpha, tau * (log_s - u) + (1 - tau) * (log_alpha - v)


def _solve(levels: FloatArray, limits: Limits) -> FloatArray:
    """The logit of the largest power at each of ascending levels, given by their logits."""
    nodes = _spread(levels, _EVERY_LIMIT)
    first = np.zeros(nodes.size, dtype=np.intp)
    u, binding = _smallest(nodes, limits, first, first + limits.powers.size - 1)
    for count in (_SOME_LIMITS, levels.size):
        if nodes.size == levels.size:
            break
        finer = _spread(levels, count)
        right = np.clip(np.searchsorted(nodes, finer), 1, nodes.size - 1)
        ends = np.sort([binding[right - 1], binding[right]], axis=0)
        nodes, (u, binding) = finer, _smallest(finer, limits, *ends)
    return u


def _spread(levels: FloatArray, count: int) -> FloatArray:
    """At most so many of the levels, evenly, the first and the last among them."""
    if levels.size <= count:
        return levels
    return levels[np.linspace(0, levels.size - 1, count).astype(np.intp)]


def _smallest(
    levels: FloatArray, limits: Limits, first: Indices, last: Indices
) -> tuple[FloatArray, Indices]:
    """The smallest edge at each level under the limits from its first to its last, and whose."""
    counts = last - first + 1
    starts = np.cumsum(counts) - counts
    limit = np.arange(counts.sum()) - np.repeat(starts - first, counts)
    edges = find_edge(np.repeat(levels, counts), limits.take(limit))
    smallest = np.minimum.reduceat(edges, starts)
    found = np.flatnonzero(edges == np.repeat(smallest, counts))
    return smallest, limit[found[np.searchsorted(found, starts)]]
