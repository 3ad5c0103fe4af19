"""The risk of models trained with DP-SGD, and what accuracy and noise go with a limit on it.

Figures 1 and 7 of Kulynych 2025. Accuracies are those of published runs: nothing is trained here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from math import inf, nan, sqrt
from typing import Annotated, ClassVar, Literal, Self

import numpy as np
from pydantic import BeforeValidator, Field, model_validator
from scipy.optimize import brentq

from reconbench.benchmarks.computations.computation import (
    WORST_CASE,
    Chance,
    Chances,
    Computation,
    ComputationError,
    Point,
    Positive,
    Positives,
    Promise,
    Wholes,
)
from reconbench.benchmarks.computations.risk import (
    BOUND_MEANINGS,
    BOUNDS,
    BoundNames,
    evaluate_bounds,
    measure_worst,
)
from reconbench.benchmarks.suites.column_choices import make_list
from reconbench.benchmarks.suites.game_block import Strict, Whole
from reconbench.bounds import ApproxDP, GaussianDP, Guarantee, Relation, RenyiDP

MECHANISM = "dp-sgd"
# Grid on which the losses of trainings are rounded up.
DISCRETISATION = 1e-3
ORDERS = 1 + np.geomspace(0.05, 200, 120)
# How close noise is searched for, and between which values.
PRECISION, LEAST_NOISE, MOST_NOISE = 1e-4, 0.3, 50.0

Percent = Annotated[float, Field(ge=0, le=100, strict=True)]


@dataclass(frozen=True)
class Run:
    """A training: DP-SGD, after ``statistics`` releases with Gaussian noise of sd ``sigma``."""

    noise: float
    rate: float
    steps: int
    sigma: float = 1.0
    statistics: int = 0

    def curve(self) -> Guarantee:
        """Its trade-off curve, for adding or removing a record."""
        return _compose(self)

    def renyi(self) -> Guarantee:
        """Its Rényi guarantee, for adding or removing a record."""
        return _compose_renyi(self)


@lru_cache(maxsize=64)
def _compose(run: Run) -> Guarantee:
    from reconbench.bounds.guarantees.composed import GaussianRelease, composed

    releases = [GaussianRelease(run.noise, run.rate, run.steps)]
    if run.statistics:
        releases.append(GaussianRelease(run.sigma, count=run.statistics))
    return composed(
        releases,
        Relation.ADD_REMOVE,
        discretisation=DISCRETISATION,
        label=f"DP-SGD, noise {run.noise:.4g}, rate {run.rate:.3g}, {run.steps} steps",
    )


@lru_cache(maxsize=64)
def _compose_renyi(run: Run) -> RenyiDP:
    from reconbench.bounds.guarantees.subsampled_renyi import dp_sgd_renyi

    trained = dp_sgd_renyi(run.noise, run.rate, run.steps, ORDERS)
    if not run.statistics:
        return trained
    # Rényi divergences add up, those of k equal releases to that of one with sd σ/√k.
    before = GaussianDP(sqrt(run.statistics) / run.sigma, Relation.ADD_REMOVE)
    return RenyiDP(
        trained.orders, trained.epsilons + before.renyi(trained.orders), trained.relation
    )


@dataclass(frozen=True)
class TrainingPromise(Promise):
    """What a training guarantees, composed when the row is computed."""

    run: Run | None = None

    def settle(self) -> Promise:
        if self.run is None:
            return self
        curve = self.run.curve()
        return replace(self, epsilon=curve.epsilon_at(self.delta), guarantee=curve)


class Statistics(Strict):
    """Releases with Gaussian noise before the training: those of a normalisation."""

    sigma: Positive
    releases: Whole = 1


class Training(Computation):
    """What computations on DP-SGD share: sampling rate, δ and the bounds."""

    meanings: ClassVar[Mapping[str, str]] = BOUND_MEANINGS

    rate: Chance
    bounds: BoundNames
    delta: Chance = 1e-5

    def _point(
        self,
        suite: str,
        label: str,
        asked: Mapping[str, object],
        *,
        run: Run | None = None,
        metric: str = "",
        risk: float | None = None,
    ) -> Point:
        common = {"rate": self.rate, "delta": self.delta, "bounds": self.bounds}
        nothing = ApproxDP(inf, self.delta, Relation.ADD_REMOVE)
        promise = TrainingPromise(label, inf, self.delta, nothing, {}, run=run)
        asked = {"baseline": WORST_CASE, **common, **asked}
        return Point(suite, self, MECHANISM, promise, label, 0.0, asked, metric, risk)

    def _worst_advantages(self, run: Run) -> dict[str, float]:
        return evaluate_bounds(self.bounds, [run.curve(), run.renyi()], measure_worst)


class TrainingRisk(Training):
    """The worst-case advantage on models of published runs, and the accuracy at a limit on it.

    ``noise`` has the noise multiplier of each run, ``accuracy`` its test accuracy in %, as
    published, and ``steps`` its steps, or those of all. ``statistics`` are releases before the
    training. For each ``risk``, the accuracy is read off the line between the two runs that the
    bound puts next to it, and left out beyond the first and the last run.
    """

    reference = "Kulynych 2025, figures 1 and 7"
    metric = "worst-case advantage"

    compute: Literal["training-risk"]
    noise: Positives
    accuracy: Annotated[list[Percent], BeforeValidator(make_list), Field(min_length=1)]
    steps: Wholes
    statistics: Statistics | None = None
    risk: Annotated[list[Chance], BeforeValidator(make_list)] = []  # noqa: RUF012

    @model_validator(mode="after")
    def _check_runs(self) -> Self:
        count = len(self.noise)
        if len(self.accuracy) != count or len(self.steps) not in (1, count):
            raise ValueError(
                f"{count} runs have {len(self.accuracy)} accuracies and {len(self.steps)} numbers "
                "of steps; give one accuracy per noise, and steps for each run or for all"
            )
        return self

    @property
    def runs(self) -> list[tuple[Run, float]]:
        """Each run with its accuracy."""
        before = self.statistics
        shape = (before.sigma, before.releases) if before else ()
        steps = self.steps * len(self.noise) if len(self.steps) == 1 else self.steps
        every = [Run(n, self.rate, s, *shape) for n, s in zip(self.noise, steps, strict=True)]
        return list(zip(every, self.accuracy, strict=True))

    def points(self, suite: str) -> Iterator[Point]:
        for run, accuracy in self.runs:
            asked = {"noise": run.noise, "steps": run.steps, "accuracy": accuracy}
            if run.statistics:
                asked |= {"statistics": run.statistics, "statistics-sigma": run.sigma}
            yield self._point(suite, f"noise {run.noise:.4g}", asked, run=run)
        for risk in self.risk:
            shape = self.model_dump(include={"noise", "steps", "accuracy", "statistics"})
            label = f"risk {risk:g}"
            yield self._point(suite, label, {**shape, "risk": risk}, metric="accuracy", risk=risk)

    def evaluate(self, point: Point) -> dict[str, float]:
        if point.risk is None:
            asked = point.asked["noise"], point.asked["steps"]
            return self._worst_advantages(
                next(run for run, _ in self.runs if (run.noise, run.steps) == asked)
            )
        risks = [self._worst_advantages(run) for run, _ in self.runs]
        return {
            name: read_between([each[name] for each in risks], self.accuracy, point.risk)
            for name in self.bounds
        }


def read_between(risks: Sequence[float], values: Sequence[float], risk: float) -> float:
    """The value at a risk on the line through the runs; nan beyond the first and the last."""
    order = np.argsort(risks)
    return float(np.interp(risk, np.take(risks, order), np.take(values, order), nan, nan))


class NoiseForRisk(Training):
    """The noise multiplier of DP-SGD at which the worst-case advantage is a risk."""

    reference = "Kulynych 2025, figure 1"
    metric = "noise"

    compute: Literal["training-noise"]
    steps: Whole
    risk: Chances

    def points(self, suite: str) -> Iterator[Point]:
        for risk in self.risk:
            asked = {"steps": self.steps, "risk": risk}
            yield self._point(suite, f"risk {risk:g}", asked, risk=risk)

    def evaluate(self, point: Point) -> dict[str, float]:
        limit = point.asked["risk"]
        return {name: self._find_noise(name, limit) for name in self.bounds}

    def _find_noise(self, name: str, limit: float) -> float:
        """The noise at which the advantage reaches the limit; nan if the bound refuses both."""
        bound = BOUNDS[name]

        def build(noise: float) -> Run:
            return Run(noise, self.rate, self.steps)

        kinds = (Run.curve, Run.renyi)
        taken = [kind for kind in kinds if not bound.refuses(kind(build(MOST_NOISE)))]
        if not taken:
            return nan

        def excess(noise: float) -> float:
            return measure_worst(bound, taken[0](build(noise))) - limit

        low, high = LEAST_NOISE, 2 * LEAST_NOISE
        if excess(low) <= 0:
            return low
        while excess(high) > 0:
            low, high = high, 2 * high
            if low >= MOST_NOISE:
                raise ComputationError(
                    f"no noise multiplier up to {low:g} keeps the advantage within {limit:g} by "
                    f"{name}; raise the risk or train for fewer steps"
                )
        # The advantage falls as noise grows.
        return float(brentq(excess, low, high, xtol=PRECISION))
