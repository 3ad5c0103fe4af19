"""All kinds of computation, by the name that ``compute`` gives, and what their values mean."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, get_args

from pydantic import Field

from reconbench.benchmarks.computations.budgets import ProtectCurve, QueryBudget
from reconbench.benchmarks.computations.computation import Computation
from reconbench.benchmarks.computations.gradient_errors import GradientErrors
from reconbench.benchmarks.computations.gradient_rows import GradientRows
from reconbench.benchmarks.computations.gradients import (
    GradientCorridor,
    GradientRisk,
    GradientSigma,
)
from reconbench.benchmarks.computations.mcmc import McmcCounts, McmcStrength
from reconbench.benchmarks.computations.mcmc_images import McmcImages
from reconbench.benchmarks.computations.mcmc_train import McmcTrain
from reconbench.benchmarks.computations.rad.audits import LdpAudits
from reconbench.benchmarks.computations.rad.bounds import LocalAndNoise, QueryError
from reconbench.benchmarks.computations.rad.training import TrainingAttack
from reconbench.benchmarks.computations.risk import (
    SinglingOutCurve,
    SuccessCurve,
    WorstCase,
)
from reconbench.benchmarks.computations.training import NoiseForRisk, TrainingRisk

# Columns of a leaderboard stand in this order.
Curve = Annotated[
    SuccessCurve
    | WorstCase
    | QueryBudget
    | LocalAndNoise
    | QueryError
    | TrainingAttack
    | LdpAudits
    | ProtectCurve
    | GradientSigma
    | GradientRisk
    | GradientCorridor
    | GradientErrors
    | GradientRows
    | McmcStrength
    | McmcCounts
    | McmcTrain
    | McmcImages
    | SinglingOutCurve
    | TrainingRisk
    | NoiseForRisk,
    Field(discriminator="compute"),
]

KINDS: Mapping[str, type[Computation]] = {
    name: kind
    for kind in get_args(get_args(Curve)[0])
    for name in get_args(kind.model_fields["compute"].annotation)
}
VALUE_MEANINGS: Mapping[str, str] = {
    name: meaning for kind in KINDS.values() for name, meaning in kind.meanings.items()
}
