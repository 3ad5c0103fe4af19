"""The posterior of ε from attacks on trained models (Yildirim 2025, figures 4 and 5, table 1)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, field_validator

from reconbench.benchmarks.computations.computation import Point, Share
from reconbench.benchmarks.computations.mcmc import McmcComputation
from reconbench.benchmarks.suites.column_choices import make_list
from reconbench.benchmarks.suites.game_block import Whole

Sigmas = Annotated[
    list[Annotated[float, Field(ge=0, strict=True)]],
    BeforeValidator(make_list),
    Field(min_length=1),
]


class McmcTrain(McmcComputation):
    """Attacks on trained models, for each algorithm and noise."""

    reference = "Yildirim 2025, figures 4 and 5, table 1"

    compute: Literal["mcmc-train"]
    algorithm: Annotated[
        list[Literal["A1", "A2", "A3", "A4"]], BeforeValidator(make_list), Field(min_length=1)
    ]
    sigma: Sigmas = [0.0]  # noqa: RUF012
    dataset: str = "acs"
    label: str = "MAR"
    bases: Whole = 20
    challenges: Whole = 100
    shadows: Annotated[int, Field(ge=0, strict=True)] = 100
    size: Whole = 99
    epochs: Whole = 40
    hidden: Annotated[int, Field(ge=0, strict=True)] = 16
    batch: Whole = 20
    rate: Annotated[float, Field(gt=0, strict=True)] = 0.01
    level: Share = 0.1

    @field_validator("level")
    @classmethod
    def _check_level(cls, level: float) -> float:
        if level not in [percent / 100 for percent in range(1, 100)]:
            raise ValueError("errors are counted at levels 0.01, 0.02, …, 0.99")
        return level

    def points(self, suite: str) -> Iterator[Point]:
        left_out = {"compute", "algorithm", "sigma", "delta", "prior_variance"}
        common = self.model_dump(mode="json", exclude=left_out)
        for algorithm in self.algorithm:
            for sigma in self.sigma:
                asked = {**common, "algorithm": algorithm, "sigma": sigma}
                label = f"{algorithm}, sigma {sigma:g}" if sigma else algorithm
                yield self._point(suite, "training", label, asked)

    def evaluate(self, point: Point) -> dict[str, float]:
        from reconbench.benchmarks.audits import train

        training = train.algorithm(
            point.asked["algorithm"], point.asked["sigma"], epochs=self.epochs, hidden=self.hidden
        )
        audit = train.TrainingAudit(
            train.FromPrior(self.dataset, self.label),
            replace(training, batch=self.batch, rate=self.rate),
            self.bases,
            self.challenges,
            self.shadows,
            self.size,
            self.seed,
        )
        counts = train.counts_at(train.collect(audit, point.threads), self.level)
        return self._sample(counts, audit.likelihood, point.asked)
