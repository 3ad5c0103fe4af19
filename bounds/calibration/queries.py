"""Calibration of the number of queries, and of a budget in closed form."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from reconbench.bounds import _validate
from reconbench.bounds._validate import positive_integer
from reconbench.bounds.calibration.solve import NoAnswerError, Risk
from reconbench.bounds.guarantees.guarantee import Guarantee, PureDP
from reconbench.bounds.guarantees.relation import Relation


def epsilon_protect(prior: float, delta: float = 1e-5, advantage: float = 0.05) -> float:
    """The largest ε with generalised advantage at most `advantage` (Swanberg 2025, section 5.3).

    By Corollary 3.4 for one target: (β + δ − p)/(1 − p) ≤ advantage, with β = p/(p + (1 − p) e^−ε).
    (ε, δ)-DP, replace-one neighbours. inf for p = 0; raises `NoAnswerError` when δ alone exceeds
    the advantage.
    """
    p = float(_validate.probabilities("prior", prior))
    extra = _validate.below_one("delta", delta)
    gain = _validate.strictly_between_zero_and_one("advantage", advantage)
    if p == 1:
        return math.inf
    # β − p = advantage (1 − p) − δ is what ε may add.
    added = gain * (1 - p) - extra
    if added <= 0:
        raise NoAnswerError(
            f"no epsilon keeps the advantage at or below {gain:g}: delta = {extra:g} alone uses "
            f"up {gain:g} of the remaining {1 - p:g}; lower delta or raise the advantage"
        )
    if p == 0:
        return math.inf
    # ε = logit β − logit p
    reached = p + added
    return math.log(reached / p) + math.log((1 - p) / (1 - reached))


@dataclass(frozen=True)
class QueryCount:
    """How many queries fit, and the risk that so many carry."""

    queries: int
    risk: float


def count_queries(
    risk: Risk, threshold: float, release: Callable[[int], Guarantee], most: int = 100_000
) -> QueryCount:
    """The largest number of queries whose joint release keeps the risk at or below the threshold.

    `release(k)` is the guarantee of k queries; the risk must not decrease in k. 0 queries fit
    when already one exceeds the threshold.
    """
    limit = float(_validate.probabilities("threshold", threshold))
    positive_integer("most", most)

    def fits(k: int) -> bool:
        return risk(release(k)) <= limit

    if not fits(1):
        return QueryCount(0, 0.0)
    low, high = 1, 2
    while high <= most and fits(high):
        low, high = high, 2 * high
    high = min(high, most + 1)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return QueryCount(low, risk(release(low)))


def laplace_queries(
    risk: Risk, threshold: float, scale: float, relation: Relation = Relation.REPLACE_ONE
) -> QueryCount:
    """How many queries with Laplace noise of `scale` times the sensitivity a risk budget allows.

    By the composed trade-off curve.
    """
    from reconbench.bounds.guarantees.composed import LaplaceRelease, composed

    return count_queries(
        risk, threshold, lambda k: composed([LaplaceRelease(scale, count=k)], relation)
    )


def laplace_queries_pure(
    risk: Risk, threshold: float, scale: float, relation: Relation = Relation.REPLACE_ONE
) -> QueryCount:
    """The same by adding up the pure ε = 1/scale of the queries."""
    epsilon = 1 / _validate.positive("scale", scale)
    return count_queries(risk, threshold, lambda k: PureDP(k * epsilon, relation))
