"""Risks that can be calibrated: success, advantages and ceilings, each by a proved bound."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from reconbench.bounds import _validate
from reconbench.bounds._validate import FloatArray
from reconbench.bounds.calibration.solve import Source
from reconbench.bounds.ceilings.swanberg import Theorem35
from reconbench.bounds.guarantees.guarantee import Guarantee, stated_pair
from reconbench.bounds.risk.one_target import (
    RiskBound,
    SharpestBound,
    TotalVariationBound,
    generalised_advantage,
)


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

    def source(self, guarantee: Guarantee) -> Source:
        bound = self.bound
        if isinstance(bound, SharpestBound):
            bound = bound.binding(self.baselines, guarantee)
        return Source(bound.name, bound.reference)

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

    def source(self, guarantee: Guarantee) -> Source:
        return Source(TotalVariationBound.name, TotalVariationBound.reference)

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

    def source(self, guarantee: Guarantee) -> Source:
        return Source(Theorem35.name, Theorem35.reference)
