"""The largest parameter of a family of guarantees that keeps a risk at or below a threshold."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Protocol, runtime_checkable

from reconbench.bounds import _validate
from reconbench.bounds.guarantees.guarantee import ApproxDP, GaussianDP, Guarantee, PureDP
from reconbench.bounds.guarantees.relation import Relation

_SMALLEST, _LARGEST = 1e-12, 1e6
_RTOL = 1e-10

Risk = Callable[[Guarantee], float]


class NoAnswerError(ValueError):
    """No parameter keeps the risk under the threshold."""


class Source(NamedTuple):
    """The bound that a number comes from, and its theorem."""

    name: str
    reference: str


@runtime_checkable
class NamedRisk(Protocol):
    """A risk that can say which bound its number comes from."""

    def __call__(self, guarantee: Guarantee) -> float: ...

    def source(self, guarantee: Guarantee) -> Source:
        """That bound, at this guarantee."""


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


@dataclass(frozen=True)
class Calibration:
    """The largest parameter whose risk is at most the threshold; inf when every one is.

    `bound` and `reference` name the bound that gives the risk and its theorem, where the measure of
    risk knows them.
    """

    parameter: str
    value: float
    risk: float
    threshold: float
    guarantee: Guarantee
    bound: str = ""
    reference: str = ""

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
            "reference": self.reference,
        }


def calibrate(risk: Risk, threshold: float, family: Family) -> Calibration:
    """The largest parameter of the family that keeps the risk at or below the threshold.

    Args:
        risk: a function of a guarantee that does not decrease as the guarantee weakens.
        threshold: the largest risk to allow, in [0, 1].
        family: `EpsilonFamily` or `GaussianFamily`, for a neighbouring relation.

    Raises:
        NoAnswerError: even the strictest guarantee of the family exceeds the threshold.
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
    source = risk.source(guarantee) if isinstance(risk, NamedRisk) else Source("", "")
    return Calibration(family.parameter, value, risk(guarantee), limit, guarantee, *source)


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
