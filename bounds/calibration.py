"""Bounds read backwards: the largest budget, or the least noise, that keeps a risk in check.

A *risk* turns a guarantee into a number, a *family* turns one parameter into a guarantee; the risk
must not decrease as the parameter grows. The answer is bracketed and approached from the safe
side: the parameter returned keeps the threshold, by the bound it was calibrated with. Where no
parameter does, or every one does, that is what the answer says.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import ArrayLike

from reconbench.bounds import _validate
from reconbench.bounds._validate import FloatArray, positive_integer
from reconbench.bounds.ceilings.swanberg import Theorem35
from reconbench.bounds.guarantees.guarantee import ApproxDP, GaussianDP, Guarantee, PureDP
from reconbench.bounds.guarantees.relation import Relation
from reconbench.bounds.risk.one_target import (
    RiskBound,
    SharpestBound,
    UnifiedBound,
    generalised_advantage,
)

_SMALLEST, _LARGEST = 1e-12, 1e6
_RTOL = 1e-10

Risk = Callable[[Guarantee], float]


class NoAnswerError(ValueError):
    """No parameter keeps the risk under the threshold."""


class Family(Protocol):
    """Guarantees by one parameter; a larger parameter promises less."""

    parameter: ClassVar[str]

    def guarantee(self, value: float) -> Guarantee:
        """The guarantee at this value of the parameter."""


@dataclass(frozen=True)
class EpsilonFamily:
    """(ε, δ)-DP with δ fixed, pure ε-DP for δ = 0."""

    delta: float = 0.0
    relation: Relation = Relation.REPLACE_ONE

    parameter: ClassVar[str] = "epsilon"

    def guarantee(self, value: float) -> ApproxDP | PureDP:
        if self.delta == 0:
            return PureDP(value, self.relation)
        return ApproxDP(value, self.delta, self.relation)


@dataclass(frozen=True)
class GaussianFamily:
    """μ-Gaussian DP; a Gaussian mechanism of that μ adds noise of sd sensitivity/μ."""

    relation: Relation = Relation.REPLACE_ONE

    parameter: ClassVar[str] = "mu"

    def guarantee(self, value: float) -> GaussianDP:
        return GaussianDP(value, self.relation)


@dataclass(frozen=True, eq=False)
class Success:
    """The success that a bound allows, on the worst of the baselines or on their mean.

    One baseline for one target; a whole column's for all its targets.
    """

    baselines: FloatArray
    bound: RiskBound = field(default_factory=UnifiedBound)
    mean: bool = False

    name: ClassVar[str] = "success"

    def __post_init__(self) -> None:
        checked = _validate.probability_vector("baselines", np.atleast_1d(self.baselines))
        object.__setattr__(self, "baselines", checked)

    def __call__(self, guarantee: Guarantee) -> float:
        return self._summary(self.bound.success(self.baselines, guarantee))

    def _summary(self, values: FloatArray) -> float:
        return float(values.mean() if self.mean else values.max())


@dataclass(frozen=True, eq=False)
class Advantage(Success):
    """Success minus baseline, on the worst target or in the mean."""

    name: ClassVar[str] = "advantage"

    def __call__(self, guarantee: Guarantee) -> float:
        return self._summary(self.bound.success(self.baselines, guarantee) - self.baselines)


@dataclass(frozen=True, eq=False)
class GeneralisedAdvantage(Success):
    """(success − baseline)/(1 − baseline), on the worst target or in the mean."""

    name: ClassVar[str] = "generalised-advantage"

    def __call__(self, guarantee: Guarantee) -> float:
        success = self.bound.success(self.baselines, guarantee)
        return self._summary(generalised_advantage(success, self.baselines))


@dataclass(frozen=True)
class WorstAdvantage:
    """The advantage at the worst baseline: the total variation (Kulynych 2025, Theorem 3.4)."""

    name: ClassVar[str] = "worst-advantage"

    def __call__(self, guarantee: Guarantee) -> float:
        return guarantee.total_variation()


@dataclass(frozen=True, eq=False)
class CeilingShare:
    """The share of targets that no attack passes at a confidence (Swanberg 2025, Theorem 3.5).

    `priors` are the best prior guesses' successes, one a target. A guarantee other than (ε, δ)
    enters through its pair at `delta`.
    """

    priors: FloatArray
    confidence: float = 0.95
    delta: float = 1e-5

    name: ClassVar[str] = "ceiling"

    def __post_init__(self) -> None:
        checked = _validate.probability_vector("priors", np.atleast_1d(self.priors))
        object.__setattr__(self, "priors", checked)
        _validate.strictly_between_zero_and_one("confidence", self.confidence)

    def __call__(self, guarantee: Guarantee) -> float:
        if not isinstance(guarantee, ApproxDP | PureDP):
            epsilon = max(guarantee.epsilon_at(self.delta), _SMALLEST)
            guarantee = ApproxDP(epsilon, self.delta, guarantee.relation, guarantee.unit)
        bound = Theorem35(self.priors, guarantee)
        return bound.ceiling(self.confidence) / bound.n


@dataclass(frozen=True)
class Calibration:
    """The largest parameter whose risk is at most the threshold; inf when every one is."""

    parameter: str
    value: float
    risk: float
    threshold: float
    guarantee: Guarantee

    def sigma(self, sensitivity: float = 1.0) -> float:
        """The smallest sd of Gaussian noise, for a parameter μ: sensitivity/μ."""
        if self.parameter != GaussianFamily.parameter:
            raise ValueError(f"sigma needs a calibrated mu, got {self.parameter}")
        return _validate.positive("sensitivity", sensitivity) / self.value

    def to_json(self) -> dict[str, Any]:
        """Plain numbers; an unbounded parameter is None."""
        return {
            self.parameter: None if math.isinf(self.value) else self.value,
            "unbounded": math.isinf(self.value),
            "risk": self.risk,
            "threshold": self.threshold,
            "guarantee": self.guarantee.describe(),
            "relation": self.guarantee.relation.value,
        }


def calibrate(risk: Risk, threshold: float, family: Family) -> Calibration:
    """The largest parameter of the family that keeps the risk at or below the threshold.

    Raises `NoAnswerError` when even the strictest guarantee of the family exceeds it.
    """
    limit = float(_validate.probabilities("threshold", threshold))

    def at(value: float) -> float:
        return risk(family.guarantee(value))

    least = at(_SMALLEST)
    if least > limit:
        raise NoAnswerError(
            f"no {family.parameter} keeps the risk at or below {limit:g}: it is {least:g} even as "
            f"{family.parameter} goes to 0; raise the threshold"
        )
    value = math.inf if at(math.inf) <= limit else _largest(lambda x: at(x) <= limit)
    guarantee = family.guarantee(value)
    return Calibration(family.parameter, value, risk(guarantee), limit, guarantee)


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

    By the composed trade-off curve (needs the extra `reconbench[accounting]`).
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


MEASURES: dict[str, Callable[[ArrayLike], Risk]] = {
    "success": lambda baseline: Success(np.asarray(baseline), SharpestBound()),
    "advantage": lambda baseline: Advantage(np.asarray(baseline), SharpestBound()),
    "generalised-advantage": lambda baseline: GeneralisedAdvantage(
        np.asarray(baseline), SharpestBound()
    ),
    "worst-advantage": lambda baseline: WorstAdvantage(),
    "ceiling": lambda baseline: CeilingShare(np.asarray(baseline)),
}


def calibration_report(
    threshold: float,
    baseline: ArrayLike,
    measure: str = "advantage",
    delta: float = 1e-5,
    sensitivity: float = 1.0,
) -> dict[str, Any]:
    """ε at δ, μ and σ for a named measure, with the risk that each reaches, ready for JSON.

    σ is the noise of the calibrated μ. None stands for a parameter that may grow without bound;
    one with no answer is left out, and `no_answer` says why.
    """
    if measure not in MEASURES:
        raise ValueError(f"measure must be one of {', '.join(MEASURES)}, got {measure!r}")
    risk = MEASURES[measure](baseline)
    report: dict[str, Any] = {
        "measure": measure,
        "threshold": threshold,
        "delta": delta,
        "sensitivity": sensitivity,
        "risk": {},
        "no_answer": {},
    }
    for family in (EpsilonFamily(delta), GaussianFamily()):
        try:
            found = calibrate(risk, threshold, family)
        except NoAnswerError as error:
            report["no_answer"][family.parameter] = str(error)
            continue
        report[family.parameter] = None if math.isinf(found.value) else found.value
        report["risk"][family.parameter] = found.risk
        if isinstance(family, GaussianFamily):
            report["sigma"] = found.sigma(sensitivity)
    return report


def _largest(keeps: Callable[[float], bool]) -> float:
    """The largest x with keeps(x), for a property that is lost once and for all as x grows."""
    low, high = _SMALLEST, 1.0
    while keeps(high) and high < _LARGEST:
        low, high = high, 2 * high
    if keeps(high):
        return high
    # Bisection on log x: a step function such as a ceiling is as good as a smooth one.
    while high > low * (1 + _RTOL):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if keeps(middle) else (low, middle)
    return low
