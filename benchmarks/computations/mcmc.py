"""Computations of Yildirim 2025: the posterior of ε from counts, given, drawn or from attacks.

Figure 2 (one attack, its strength fixed), figure 3 (several attacks, artificial counts), figures 4
and 5 with table 1 (attacks on trained models). Nothing is promised here, so ε stands at ∞ and the
values are the answer: the 90 % interval of ε, its median, that of the strength, and the largest
lower bound of Clopper and Pearson at 90 %.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from math import inf
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import BeforeValidator, Field, field_validator, model_validator

from reconbench.benchmarks.computations.point import ComputationError, Point, Promise, Share, Shares
from reconbench.benchmarks.game.random_streams import stream
from reconbench.benchmarks.suites.game_block import Strict, Whole, listed
from reconbench.bounds import ApproxDP, Relation

LOW, MEDIAN, HIGH = "epsilon-low", "epsilon-median", "epsilon-high"
STRENGTH, PROVED = "strength-median", "clopper-pearson"
# Chains that have not converged are run anew, longer, and then given up: a row is to be trusted.
ITERATIONS = (10_000, 100_000)

Delta = Annotated[float, Field(ge=0, lt=1, strict=True)]
Wholes = Annotated[list[Whole], BeforeValidator(listed), Field(min_length=1)]
Sigmas = Annotated[
    list[Annotated[float, Field(ge=0, strict=True)]], BeforeValidator(listed), Field(min_length=1)
]
CountsRow = Annotated[list[Annotated[int, Field(ge=0, strict=True)]], Field(min_length=2)]


class _Estimated(Strict):
    """What the computations share: δ, and the variance of the half-normal prior of ε."""

    delta: Delta = 0.01
    prior_variance: Annotated[float, Field(gt=0, strict=True)] = 10.0
    seed: int = 0

    def _point(
        self, suite: str, kind: str, mechanism: str, label: str, asked: dict[str, Any], values: Any
    ) -> Point:
        nothing = ApproxDP(inf, self.delta, Relation.ADD_REMOVE)
        common = {"delta": self.delta, "prior_variance": self.prior_variance, "seed": self.seed}
        return Point(
            suite=suite,
            kind=kind,
            mechanism=mechanism,
            promise=Promise("none", inf, self.delta, nothing, common),
            label=label,
            metric="epsilon",
            baseline=0.0,
            asked=asked,
            values=values,
        )

    def _sampled(self, counts: Any, likelihood: Any, asked: dict[str, Any]) -> dict[str, float]:
        from reconbench.bounds.audit import mcmc

        for iterations in ITERATIONS:
            found = mcmc.estimate(
                counts,
                self.delta,
                rng=stream("posterior of epsilon", {**asked, "seed": self.seed}),
                prior=mcmc.Prior(self.prior_variance),
                likelihood=likelihood,
                settings=mcmc.Settings(iterations=iterations),
            )
            if found.converged:
                break
        else:
            raise ComputationError(
                f"no posterior of epsilon after {ITERATIONS[-1]:,} iterations: {found.warnings[0]}"
            )
        return {
            LOW: found.epsilon.lower,
            MEDIAN: found.epsilon.median,
            HIGH: found.epsilon.upper,
            STRENGTH: found.strength.median,
            PROVED: mcmc.best_lower_bound(counts, self.delta).lower,
        }


class McmcStrength(_Estimated):
    """One attack with equal error rates, its strength fixed: figure 2, by integration."""

    plays: ClassVar[str] = "reconbench.bounds.audit.mcmc"

    compute: Literal["mcmc-strength"]
    strength: Shares
    challenges: Wholes
    error: Share = 0.4

    def points(self, suite: str) -> Iterator[Point]:
        for count in self.challenges:
            for strength in self.strength:
                asked = {"challenges": count, "strength": strength, "error": self.error}
                label = f"{count} challenges, strength {strength:g}"
                values = partial(self._values, count, strength)
                yield self._point(suite, self.compute, "counts", label, asked, values)

    def _values(self, challenges: int, strength: float) -> dict[str, float]:
        from reconbench.bounds.audit import mcmc

        wrong = round(self.error * challenges)
        counts = mcmc.Counts.of([(wrong, challenges, wrong, challenges)])
        prior = mcmc.Prior(self.prior_variance, mcmc.FixedStrength(strength))
        found = mcmc.grid_posterior(counts, self.delta, prior)
        low, median, high = (float(each) for each in found.epsilon_quantile([0.05, 0.5, 0.95]))
        proved = mcmc.best_lower_bound(counts, self.delta).lower
        return {LOW: low, MEDIAN: median, HIGH: high, STRENGTH: strength, PROVED: proved}


class McmcCounts(_Estimated):
    """Several attacks with given counts out of ``challenges`` each: figure 3."""

    plays: ClassVar[str] = "reconbench.bounds.audit.mcmc"

    compute: Literal["mcmc-counts"]
    scenario: Annotated[str, Field(min_length=1)]
    false_positives: CountsRow
    false_negatives: CountsRow
    challenges: Whole

    @model_validator(mode="after")
    def _possible(self) -> Self:
        if len(self.false_positives) != len(self.false_negatives):
            raise ValueError(
                f"{len(self.false_positives)} false_positives and {len(self.false_negatives)} "
                "false_negatives; give one of each an attack"
            )
        most = max(*self.false_positives, *self.false_negatives)
        if most > self.challenges:
            raise ValueError(
                f"{most} errors in {self.challenges} challenges; allowed: no more errors"
            )
        return self

    def points(self, suite: str) -> Iterator[Point]:
        asked = {
            "false_positives": self.false_positives,
            "false_negatives": self.false_negatives,
            "challenges": self.challenges,
        }
        values = partial(self._values, asked)
        yield self._point(suite, self.compute, "counts", self.scenario, asked, values)

    def _values(self, asked: dict[str, Any]) -> dict[str, float]:
        from reconbench.bounds.audit import mcmc

        rows = [
            (x, self.challenges, y, self.challenges)
            for x, y in zip(self.false_positives, self.false_negatives, strict=True)
        ]
        return self._sampled(mcmc.Counts.of(rows), mcmc.IndependentBinomial(), asked)


class McmcTrain(_Estimated):
    """Attacks on trained models: figures 4 and 5 and table 1, for each algorithm and noise."""

    plays: ClassVar[str] = "reconbench.benchmarks.audits.train"

    compute: Literal["mcmc-train"]
    algorithm: Annotated[
        list[Literal["A1", "A2", "A3", "A4"]], BeforeValidator(listed), Field(min_length=1)
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
    def _counted(cls, level: float) -> float:
        if level not in [percent / 100 for percent in range(1, 100)]:
            raise ValueError("errors are counted at levels 0.01, 0.02, …, 0.99")
        return level

    def points(self, suite: str) -> Iterator[Point]:
        common = self.model_dump(
            mode="json", exclude={"compute", "algorithm", "sigma", "delta", "prior_variance"}
        )
        for algorithm in self.algorithm:
            for sigma in self.sigma:
                asked = {**common, "algorithm": algorithm, "sigma": sigma}
                label = f"{algorithm}, sigma {sigma:g}" if sigma else algorithm
                values = partial(self._values, algorithm, sigma, asked)
                yield self._point(suite, self.compute, "training", label, asked, values)

    def _values(self, algorithm: str, sigma: float, asked: dict[str, Any]) -> dict[str, float]:
        from reconbench.benchmarks.audits import train
        from reconbench.benchmarks.run.runner import available_cores

        training = train.algorithm(algorithm, sigma, epochs=self.epochs, hidden=self.hidden)
        audit = train.TrainingAudit(
            train.FromPrior(self.dataset, self.label),
            replace(training, batch=self.batch, rate=self.rate),
            self.bases,
            self.challenges,
            self.shadows,
            self.size,
            self.seed,
        )
        counts = train.counts_at(train.collect(audit, available_cores()), self.level)
        return self._sampled(counts, audit.likelihood, asked)


McmcCurve = McmcStrength | McmcCounts | McmcTrain
