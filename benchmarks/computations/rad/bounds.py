"""Computations of the reconstruction advantage (RAD), after Guerra-Balboa 2026, figures 1 and 2."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Annotated, ClassVar, Literal

import numpy as np
from pydantic import BeforeValidator, Field

from reconbench.benchmarks.computations.computation import (
    Chance,
    Chances,
    Computation,
    Point,
    Positives,
    Promise,
    known_names,
)
from reconbench.bounds import GaussianDP, Guarantee, LaplaceDP, PureDP, gaussian_mu
from reconbench.bounds.rad import (
    GRR,
    OUE,
    SubsetSelection,
    SupportChannel,
    rad_gaussian,
    rad_laplace,
)

THEOREM_4_2, THEOREM_4_3, RERO = "rad-thm42", "rad-thm43", "rero"

ANY_KNOWLEDGE = "Guerra-Balboa 2026, Theorem 4.2: whatever the attacker knows of the target"
EXACT = "Guerra-Balboa 2026, Theorem 4.3: exact, for a target of whom nothing is known"

Values = Annotated[int, Field(ge=2, strict=True)]


@dataclass(frozen=True)
class Known:
    """A mechanism at one budget: its guarantee, own total variation, and Theorem 4.3 (aux = ∅)."""

    guarantee: Guarantee
    total_variation: float
    exact: float


def _local(
    channel: Callable[[float, int], SupportChannel], epsilon: float, delta: float, m: int
) -> Known:
    found = channel(epsilon, m)
    # With a(z) = z and a uniform prior these channels reach Theorem 4.2: TV (1 − 1/m).
    total_variation = found.rad(m, np.arange(m)) / (1 - 1 / m)
    return Known(PureDP(epsilon), total_variation, found.rad(m))


def _laplace(epsilon: float, delta: float, m: int) -> Known:
    guarantee = LaplaceDP(epsilon)
    return Known(guarantee, guarantee.total_variation(), rad_laplace(epsilon, m))


def _gaussian(epsilon: float, delta: float, m: int) -> Known:
    guarantee = GaussianDP(gaussian_mu(epsilon, delta))
    return Known(guarantee, guarantee.total_variation(), rad_gaussian(1 / guarantee.mu, m))


MECHANISMS: Mapping[str, Callable[[float, float, int], Known]] = {
    "grr": partial(_local, GRR),
    "oue": partial(_local, OUE),
    "ss": partial(_local, SubsetSelection),
    "laplace": _laplace,
    "gaussian": _gaussian,
}


class LocalAndNoise(Computation):
    """RAD under a uniform prior on ``values`` values: any auxiliary knowledge against none.

    ``rad-thm42`` is TV (1 − 1/m) with the mechanism's own total variation, whatever the attacker
    knows of the target (Theorem 4.2); ``rad-thm43`` is exact when that is nothing (Theorem 4.3).
    Laplace and Gaussian noise are on numbers at equal gaps, the sensitivity apart in all.
    """

    reference = "Guerra-Balboa 2026, figure 1"
    metric = "advantage"
    meanings: ClassVar[Mapping[str, str]] = {
        THEOREM_4_2: ANY_KNOWLEDGE,
        THEOREM_4_3: EXACT,
    }

    compute: Literal["rad"]
    mechanism: Annotated[
        list[str], BeforeValidator(known_names("mechanism", MECHANISMS)), Field(min_length=1)
    ]
    epsilon: Positives
    values: Values
    delta: Chance = 1e-5

    def points(self, suite: str) -> Iterator[Point]:
        label, asked = f"{self.values} values", {"values": self.values}
        for mechanism in self.mechanism:
            delta = self.delta if mechanism == "gaussian" else 0.0
            for epsilon in self.epsilon:
                guarantee = self._build(mechanism, epsilon).guarantee
                budget = {"epsilon": epsilon, "delta": delta}
                promise = Promise("", epsilon, delta, guarantee, budget)
                yield Point(suite, self, mechanism, promise, label, 1 / self.values, asked)

    def evaluate(self, point: Point) -> dict[str, float]:
        known = self._build(point.mechanism, point.promise.epsilon)
        any_knowledge = known.total_variation * (1 - 1 / self.values)
        return {THEOREM_4_2: any_knowledge, THEOREM_4_3: known.exact}

    def _build(self, mechanism: str, epsilon: float) -> Known:
        return MECHANISMS[mechanism](epsilon, self.delta, self.values)


class QueryError(Computation):
    """The error of a Laplace query that keeps a risk within a limit, with a given confidence.

    A uniform prior on ``values`` numbers at equal gaps, sensitivity 1, nothing known of the target.
    ``rad-thm43`` calibrates the noise to an advantage of at most the risk (Example 4.7); ``rero``
    to a success of at most the risk (Hayes et al. 2023: 1 − f(1/m)), which is never below 1/m.
    """

    reference = "Guerra-Balboa 2026, figure 2"
    metric = "error"
    meanings: ClassVar[Mapping[str, str]] = {
        THEOREM_4_3: EXACT,
        RERO: "Hayes et al. 2023: noise set by a success of 1 − f(baseline)",
    }

    compute: Literal["rad-error"]
    values: Values
    risk: Chances
    confidence: Chance = 0.95

    def points(self, suite: str) -> Iterator[Point]:
        asked = {"values": self.values, "confidence": self.confidence}
        for risk in self.risk:
            epsilon = epsilon_for_rad(risk, self.values)
            promise = Promise("", epsilon, 0.0, LaplaceDP(epsilon), {"risk": risk})
            label = f"risk {risk:g}"
            base = 1 / self.values
            yield Point(suite, self, "laplace", promise, label, base, asked, risk=risk)

    def evaluate(self, point: Point) -> dict[str, float]:
        # P[|noise| > t] = e^(−t/b) with b = 1/ε
        tail = -math.log1p(-self.confidence)
        rero = epsilon_for_rero(point.promise.asked["risk"], self.values)
        return {THEOREM_4_3: tail / point.promise.epsilon, RERO: tail / rero}


def epsilon_for_rad(risk: float, m: int) -> float:
    """The ε at which Example 4.7 is the risk: γ = (m − 1)/m (1 − e^(−ε/(2(m − 1)))); inf beyond."""
    most = 1 - 1 / m
    return math.inf if risk >= most else -2 * (m - 1) * math.log1p(-risk / most)


def epsilon_for_rero(risk: float, m: int) -> float:
    """The ε at which 1 − f(1/m) of Laplace noise is the risk; nan if guessing alone passes it.

    1 − f(1/m) is e^ε/m up to ½ and 1 − m e^−ε/4 from there.
    """
    if risk <= 1 / m:
        return math.nan
    return math.log(m * risk) if risk <= 0.5 else math.log(m / (4 * (1 - risk)))
