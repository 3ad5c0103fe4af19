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
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

from reconbench.bounds import _validate
from reconbench.bounds._validate import FloatArray, positive_integer
from reconbench.bounds.ceilings.swanberg import Theorem35
from reconbench.bounds.guarantees.guarantee import (
    ApproxDP,
    GaussianDP,
    Guarantee,
    PureDP,
    stated_pair,
)
from reconbench.bounds.guarantees.relation import Relation, as_relation
from reconbench.bounds.risk.one_target import (
    RiskBound,
    SharpestBound,
    TotalVariationBound,
    generalised_advantage,
)

_SMALLEST, _LARGEST = 1e-12, 1e6
_RTOL = 1e-10

Risk = Callable[[Guarantee], float]


class NoAnswerError(ValueError):
    """No parameter keeps the risk under the threshold."""


@runtime_checkable
class NamedRisk(Protocol):
    """A risk that can say which bound its number comes from."""

    def __call__(self, guarantee: Guarantee) -> float: ...

    def bound_name(self, guarantee: Guarantee) -> str:
        """The name of that bound, at this guarantee."""


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

    One baseline for one target; a whole column's for all its targets. The default bound is the
    sharpest that is proved for exact match, under the neighbouring relation of the guarantee.
    """

    baselines: FloatArray
    bound: RiskBound = field(default_factory=SharpestBound)
    mean: bool = False

    name: ClassVar[str] = "success"

    def __post_init__(self) -> None:
        checked = _validate.probability_vector("baselines", np.atleast_1d(self.baselines))
        object.__setattr__(self, "baselines", checked)

    def __call__(self, guarantee: Guarantee) -> float:
        return self._summary(self.bound.success(self.baselines, guarantee))

    def bound_name(self, guarantee: Guarantee) -> str:
        """The name of the bound that gives the number."""
        if isinstance(self.bound, SharpestBound):
            return self.bound.binding(self.baselines, guarantee)
        return self.bound.name

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
    """The advantage at the worst baseline: the total variation (Kulynych 2025, Theorem 3.4).

    Holds for the guarantee of either neighbouring relation, as it is (see `UnifiedBound`).
    """

    name: ClassVar[str] = "worst-advantage"

    def bound_name(self, guarantee: Guarantee) -> str:
        return TotalVariationBound.name

    def __call__(self, guarantee: Guarantee) -> float:
        return guarantee.total_variation()


@dataclass(frozen=True, eq=False)
class CeilingShare:
    """The share of targets that no attack passes at a confidence (Swanberg 2025, Theorem 3.5).

    `priors` are the best prior guesses' successes, one a target. A guarantee other than (ε, δ)
    enters through its pair at `delta`. The theorem needs replace-one neighbours: an
    add-or-remove-one guarantee is converted first.
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
        bound = Theorem35(self.priors, stated_pair(guarantee, self.delta))
        return bound.ceiling(self.confidence) / bound.n

    def bound_name(self, guarantee: Guarantee) -> str:
        return Theorem35.name


@dataclass(frozen=True)
class Calibration:
    """The largest parameter whose risk is at most the threshold; inf when every one is.

    `bound` names the bound that gives the risk, where the measure of risk knows it.
    """

    parameter: str
    value: float
    risk: float
    threshold: float
    guarantee: Guarantee
    bound: str = ""

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
            "bound": self.bound,
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
    name = risk.bound_name(guarantee) if isinstance(risk, NamedRisk) else ""
    return Calibration(family.parameter, value, risk(guarantee), limit, guarantee, name)


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


MEASURES: dict[str, Callable[[FloatArray, SharpestBound], NamedRisk]] = {
    "success": Success,
    "advantage": Advantage,
    "generalised-advantage": GeneralisedAdvantage,
    "worst-advantage": lambda baselines, bound: WorstAdvantage(),
    "ceiling": lambda baselines, bound: CeilingShare(baselines),
}


def named_risk(
    measure: str,
    baseline: ArrayLike,
    *,
    priors: ArrayLike | None = None,
    any_event: bool = False,
) -> NamedRisk:
    """The risk of a named measure, by the sharpest bound; arguments as in `calibration_report`."""
    if measure not in MEASURES:
        raise ValueError(f"measure must be one of {', '.join(MEASURES)}, got {measure!r}")
    if priors is not None and any_event:
        raise ValueError("any_event must be False with priors: a whole prior is for exact match")
    whole = None if priors is None else np.asarray(priors, dtype=np.float64)
    bound = SharpestBound(whole, any_event)
    return MEASURES[measure](np.atleast_1d(np.asarray(baseline, dtype=np.float64)), bound)


def calibration_report(
    threshold: float,
    baseline: ArrayLike,
    measure: str = "advantage",
    delta: float = 1e-5,
    sensitivity: float = 1.0,
    *,
    relation: Relation | str = Relation.REPLACE_ONE,
    priors: ArrayLike | None = None,
    any_event: bool = False,
) -> dict[str, Any]:
    """ε at δ, μ and σ for a named measure, with the risk that each reaches, ready for JSON.

    Args:
        threshold: the largest risk to allow.
        baseline: the success of the best guess from the prior, one or one per target.
        measure: one of `MEASURES`.
        delta: the δ of the ε.
        sensitivity: the L2 sensitivity between neighbours under `relation`; σ = sensitivity/μ.
        relation: the neighbouring relation that ε, μ and the sensitivity are for.
        priors: each target's whole prior, one row per target.
        any_event: allow for guesses that are right for several values, not for exact match alone.

    `bound` and `risk` have, by parameter, the bound that gave the answer and the risk it reaches.
    A parameter that may grow without bound is None, with σ = 0; one with no answer is left out.
    `answer` says either in a sentence, and `no_answer` has the reasons.
    """
    risk = named_risk(measure, baseline, priors=priors, any_event=any_event)
    neighbours = as_relation(relation)
    report: dict[str, Any] = {
        "measure": measure,
        "threshold": threshold,
        "relation": neighbours.value,
        "delta": delta,
        "sensitivity": _validate.positive("sensitivity", sensitivity),
        "bound": {},
        "risk": {},
        "answer": {},
        "no_answer": {},
    }
    for family in (EpsilonFamily(delta, neighbours), GaussianFamily(neighbours)):
        name = family.parameter
        try:
            found = calibrate(risk, threshold, family)
        except NoAnswerError as error:
            report["no_answer"][name] = str(error)
            report["answer"][name] = f"unreachable: {error}"
            continue
        report[name] = None if math.isinf(found.value) else found.value
        report["risk"][name], report["bound"][name] = found.risk, found.bound
        report["answer"][name] = _sentence(found, measure)
        if isinstance(family, GaussianFamily):
            report["sigma"] = found.sigma(sensitivity)
    return report


def _sentence(found: Calibration, measure: str) -> str:
    neighbours = f"{found.guarantee.relation.value} neighbours, by {found.bound}"
    if math.isinf(found.value):
        return (
            f"no noise is needed: without any, the {measure} is {found.risk:.6g}, not above "
            f"{found.threshold:g} ({neighbours})"
        )
    return f"{found.parameter} at most {found.value:.6g} ({neighbours})"


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
