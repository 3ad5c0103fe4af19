"""The largest ε that keeps a stated risk: proved for every attack, and measured with the best one.

Risks are shares of records. The *advantage* is the share reconstructed with the release less the
share reconstructed without; the *share* is the former alone. All bounds are for replace-one
neighbours.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from math import exp, inf, isinf, log
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from reconbench.attacks import Metric
from reconbench.bounds import (
    GaussianDP,
    Guarantee,
    MeanFromGuess,
    NoAnswerError,
    WholePriors,
    WorstAdvantage,
    calibrate,
    gaussian_mu,
    prior_exact_bound,
)
from reconbench.datasets import Prior, Table
from reconbench.mechanisms import Mechanism
from reconbench.mechanisms.base import gaussian_guarantee

Floats = npt.NDArray[np.float64]
Codes = npt.NDArray[np.int64]


class Measure(StrEnum):
    """What counts as the risk: the share reconstructed, or how much it exceeds guessing."""

    ADVANTAGE = "advantage"
    SHARE = "share"

    def compute_risk(self, success: Floats, baseline: Floats) -> Floats:
        return success - baseline if self is Measure.ADVANTAGE else success


@dataclass(frozen=True)
class GaussianBudget:
    """Gaussian noise calibrated to (ε, δ), as a family of guarantees by ε."""

    delta: float
    parameter: ClassVar[str] = "epsilon"

    def guarantee(self, value: float) -> GaussianDP:
        return GaussianDP(inf if isinf(value) else gaussian_mu(value, self.delta))


@dataclass(frozen=True)
class RebuiltMechanism:
    """What a mechanism promises, built anew for every ε."""

    build: Callable[[float], Mechanism]
    parameter: ClassVar[str] = "epsilon"

    def guarantee(self, value: float) -> Guarantee:
        return self.build(value).guarantee


Family = GaussianBudget | RebuiltMechanism


def find_family(mechanism: Mechanism, build: Callable[[float], Mechanism]) -> Family:
    """The guarantees of a mechanism by ε.

    One whose guarantee is that of Gaussian noise calibrated to its budget need not be built anew.
    """
    if mechanism.guarantee == gaussian_guarantee(mechanism.budget):
        return GaussianBudget(mechanism.budget.delta)
    return RebuiltMechanism(build)


@dataclass(frozen=True, eq=False)
class RecordRisks:
    """What any attack can expect on each record of a table, given its known columns and the prior.

    ``weights`` say how many people a record stands for, all the same by default.

    Records with the same known values share one bound, the smaller one of Kulynych 2025, Lemma C.3,
    and, where the metric has one, that from the whole prior (docs/prior-exact.md).
    """

    prior: Prior
    known: Table
    targets: tuple[str, ...]
    metric: Metric
    weights: Floats | None = None

    @cached_property
    def _distinct(self) -> tuple[Table, Floats]:
        """The known values that occur, and the share of each."""
        known, which = self._numbered
        weights = np.ones(len(self.known)) if self.weights is None else self.weights
        return known, np.bincount(which, weights, len(known)) / weights.sum()

    @cached_property
    def _numbered(self) -> tuple[Table, Codes]:
        return self.known.distinct()

    @cached_property
    def _baseline(self) -> Floats:
        return self.metric.best_guess(self.prior, self._distinct[0], self.targets)[1]

    @cached_property
    def _whole_priors(self) -> WholePriors | None:
        return self.metric.whole_priors(self.prior, self._distinct[0], self.targets)

    def mean(self, measure: Measure, guarantee: Guarantee) -> float:
        """The mean risk over records."""
        return float(self._risks(measure, guarantee) @ self._distinct[1])

    def worst(self, measure: Measure, guarantee: Guarantee) -> float:
        """The risk of the most exposed record."""
        return float(self._risks(measure, guarantee).max())

    def bound_records(self, measure: Measure, guarantee: Guarantee) -> Floats:
        """The risk of every record."""
        return np.asarray(self._risks(measure, guarantee)[self._numbered[1]])

    def _risks(self, measure: Measure, guarantee: Guarantee) -> Floats:
        success = np.asarray(MeanFromGuess(self._baseline, guarantee).per_target)
        if self._whole_priors is not None:
            whole = prior_exact_bound(self._whole_priors, guarantee)
            success = np.minimum(success, whole.per_target)
        return measure.compute_risk(success, self._baseline)


@dataclass(frozen=True)
class ProvedEpsilon:
    """An answer from a bound: the largest ε, inf if every ε keeps the risk, None if none does."""

    scope: str
    epsilon: float | None
    why_not: str | None = None


def find_proved_epsilons(
    risks: RecordRisks, measure: Measure, most: float, family: Family
) -> list[ProvedEpsilon]:
    """Find the largest ε that a bound proves to keep the risk, weakest scope first."""
    scopes: dict[str, Callable[[Guarantee], float]] = {
        "mean": lambda guarantee: risks.mean(measure, guarantee)
    }
    if measure is Measure.ADVANTAGE:
        scopes["worst-record"] = lambda guarantee: risks.worst(measure, guarantee)
        scopes["any-prior"] = WorstAdvantage()
    return [_find_proved_epsilon(scope, risk, most, family) for scope, risk in scopes.items()]


def _find_proved_epsilon(
    scope: str, risk: Callable[[Guarantee], float], most: float, family: Family
) -> ProvedEpsilon:
    try:
        return ProvedEpsilon(scope, calibrate(risk, most, family).value)
    except NoAnswerError as error:
        return ProvedEpsilon(scope, None, str(error))


@dataclass(frozen=True)
class MeasuredEpsilon:
    """An answer from play.

    ``keeps`` is the largest ε tried up to which the risk was kept, None if even the smallest did
    not; ``passes`` is the next one, None if all kept it; ``about`` lies between, where the straight
    line over log ε meets the risk.
    """

    scope: str
    keeps: float | None
    passes: float | None
    about: float | None


def find_measured_epsilon(
    scope: str, points: Sequence[tuple[float, float]], most: float
) -> MeasuredEpsilon:
    """Find the largest ε that keeps the risk in play; ``points`` are pairs of ε and risk."""
    ladder = sorted(points)
    index = next((i for i, (_, risk) in enumerate(ladder) if risk > most), len(ladder))
    keeps = ladder[index - 1][0] if index else None
    passes = ladder[index][0] if index < len(ladder) else None
    about = None
    if keeps is not None and passes is not None and not isinf(passes):
        low, high = ladder[index - 1][1], ladder[index][1]
        step = (most - low) / (high - low)
        about = exp(log(keeps) + step * (log(passes) - log(keeps)))
    return MeasuredEpsilon(scope, keeps, passes, about)
