"""Table 1 of Yildirim 2025 on images: a row per challenge base, then the posteriors of ε.

Training takes hours, so each base is a row of its own: a run that was stopped goes on with the base
it was at. A1 and A3 differ in the noise on the trained weights alone, and so do A2 and A4: they
share their models. The posteriors read the rows of the bases.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from math import inf
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

import numpy as np
from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from reconbench.benchmarks.computations.computation import (
    Computation,
    ComputationError,
    Point,
    Positive,
    Promise,
    Share,
)
from reconbench.benchmarks.computations.mcmc import MEANINGS, sample_posterior
from reconbench.benchmarks.game.random_streams import make_stream
from reconbench.benchmarks.game.result import Status
from reconbench.benchmarks.suites.column_choices import make_list
from reconbench.benchmarks.suites.game_block import Whole
from reconbench.bounds import ApproxDP, Relation
from reconbench.datasets.sources.packages.images import check_source, find_source, load_images

if TYPE_CHECKING:
    from reconbench.benchmarks.audits.train import TrainingAudit
    from reconbench.bounds.audit import mcmc

FALSE_POSITIVES, FALSE_NEGATIVES = "false-positives", "false-negatives"
SHARED: Literal["shared"] = "shared"
SPLIT: Literal["split"] = "split"

Sigmas = Annotated[list[Annotated[float, Field(ge=0, strict=True)]], BeforeValidator(make_list)]
Deltas = Annotated[
    list[Annotated[float, Field(ge=0, lt=1, strict=True)]],
    BeforeValidator(make_list),
    Field(min_length=1),
]


class McmcImages(Computation):
    """Attacks on networks trained on images of a fetched source, and ε from their errors.

    ``fixed_start`` are the noise levels of algorithms with fixed initial weights (A1 for 0, A3),
    ``random_start`` those of the others (A2, A4). The rows of the bases count the errors of two
    attacks. ``shared``: challenges are each other's shadow models, as in the paper, so decisions
    are correlated (τ has the prior ``tau_sd``, see `CorrelatedNormal`). ``split``: the attack is
    learnt from one half of the models and challenged with the other, so counts are binomial.
    """

    reference = "Yildirim 2025, table 1"
    metric = "epsilon"
    meanings: ClassVar[Mapping[str, str]] = {
        **MEANINGS,
        **{
            f"{attack}-{name}": f"the attack's errors on models {models}, {how}"
            for attack, how in (
                (SHARED, "challenges as each other's shadow models"),
                (SPLIT, "learnt from the first half, challenged with the second"),
            )
            for name, models in (
                (FALSE_POSITIVES, "trained without the record"),
                (FALSE_NEGATIVES, "trained with it"),
            )
        },
    }

    compute: Literal["mcmc-images"]
    images: Annotated[str, AfterValidator(check_source)]
    fixed_start: Sigmas = []  # noqa: RUF012
    random_start: Sigmas = []  # noqa: RUF012
    bases: Whole = 20
    challenges: Annotated[int, Field(ge=6, strict=True)] = 100
    size: Whole = 999
    epochs: Whole = 200
    hidden: Annotated[int, Field(ge=0, strict=True)] = 128
    batch: Whole = 100
    rate: Positive = 0.01
    level: Share = 0.1
    decisions: Annotated[list[Literal["shared", "split"]], BeforeValidator(make_list)] = [SHARED]  # noqa: RUF012
    delta: Deltas = [0.001]  # noqa: RUF012
    prior_variance: Positive = 10.0
    tau_sd: Positive = inf
    seed: int = 0

    @model_validator(mode="after")
    def _check_algorithms(self) -> McmcImages:
        if not (self.fixed_start or self.random_start):
            raise ValueError("give fixed_start or random_start: the noise levels to audit")
        return self

    def check_data(self) -> None:
        load_images(self.images)

    def points(self, suite: str) -> Iterator[Point]:
        by_algorithm: dict[tuple[str, float], list[Point]] = {}
        for base in range(self.bases):
            for start, sigmas in (("fixed", self.fixed_start), ("random", self.random_start)):
                for sigma in sigmas:
                    point = self._base_point(suite, start, sigma, base)
                    by_algorithm.setdefault((start, sigma), []).append(point)
                    yield point
        for decisions in self.decisions:
            for delta in self.delta:
                for (start, sigma), inputs in by_algorithm.items():
                    yield self._posterior_point(suite, start, sigma, decisions, delta, inputs)

    def _base_point(self, suite: str, start: str, sigma: float, base: int) -> Point:
        names = {"images", "challenges", "size", "epochs", "hidden", "batch", "rate", "level"}
        source = find_source(self.images)
        asked = self.model_dump(mode="json", include=names) | {
            "sha256": [payload.sha256 for payload in source.payloads],
            "start": start,
            "sigma": sigma,
            "base": base,
        }
        # The models of a base are trained for all of its noise levels at once.
        promise = Promise("none", inf, 0.0, _nothing(0.0), {"seed": self.seed})
        label = f"{name_algorithm(start, sigma)}, base {base + 1}"
        return Point(suite, self, "training", promise, label, 0.0, asked, "errors")

    def _posterior_point(
        self,
        suite: str,
        start: str,
        sigma: float,
        decisions: str,
        delta: float,
        inputs: list[Point],
    ) -> Point:
        common = {"delta": delta, "prior_variance": self.prior_variance, "seed": self.seed}
        asked: dict[str, Any] = {
            "decisions": decisions,
            "of": [point.key.config for point in inputs],
        }
        if decisions == SHARED and self.tau_sd < inf:
            asked["tau_sd"] = self.tau_sd
        promise = Promise("none", inf, delta, _nothing(delta), common)
        label = f"{name_algorithm(start, sigma)}, {decisions}, delta {delta:g}"
        return Point(suite, self, "training", promise, label, 0.0, asked, inputs=tuple(inputs))

    def evaluate(self, point: Point) -> dict[str, float]:
        return self._estimate(point) if point.inputs else self._attack(point)

    def _attack(self, point: Point) -> dict[str, float]:
        from reconbench.attacks.membership import Normal, decide, decide_by_each_other

        start, sigma, base = (point.asked[name] for name in ("start", "sigma", "base"))
        sigmas = tuple(self.fixed_start if start == "fixed" else self.random_start)
        losses = _attacked(self._audit(start), base, sigmas, point.threads)
        out, in_ = losses[sigmas.index(sigma)]
        rng = make_stream("decisions", {**point.asked, "seed": self.seed})
        levels = (self.level,)
        shared = decide_by_each_other(out, in_, levels, rng)
        half = self.challenges // 2
        learnt = Normal.fit(out[:half]), Normal.fit(in_[:half])
        found = {
            (SHARED, FALSE_POSITIVES): shared.false_positives[0],
            (SHARED, FALSE_NEGATIVES): shared.false_negatives[0],
            (SPLIT, FALSE_POSITIVES): decide(out[half:], *learnt, self.level, rng).sum(),
            (SPLIT, FALSE_NEGATIVES): (~decide(in_[half:], *learnt, self.level, rng)).sum(),
        }
        return {f"{attack}-{name}": float(count) for (attack, name), count in found.items()}

    def _audit(self, start: str) -> TrainingAudit:
        from reconbench.benchmarks.audits import train

        name = "A1" if start == "fixed" else "A2"
        training = train.algorithm(name, 0.0, epochs=self.epochs, hidden=self.hidden)
        return train.TrainingAudit(
            train.FromImages(self.images),
            replace(training, batch=self.batch, rate=self.rate),
            self.bases,
            self.challenges,
            0,
            self.size,
            self.seed,
        )

    def _estimate(self, point: Point) -> dict[str, float]:
        from reconbench.bounds.audit import mcmc

        shared = point.asked["decisions"] == SHARED
        likelihood = mcmc.CorrelatedNormal(self.tau_sd) if shared else mcmc.IndependentBinomial()
        counts = self._read_counts(point)
        axes = {**point.asked, "delta": point.promise.delta, "seed": self.seed}
        return sample_posterior(counts, likelihood, point.promise.delta, self.prior_variance, axes)

    def _read_counts(self, point: Point) -> mcmc.Counts:
        """The errors on every base, from the rows of the bases."""
        from reconbench.bounds.audit import mcmc

        done = [row for row in point.answers if row.status is Status.OK]
        if len(done) < len(point.inputs):
            failed = [row.error for row in point.answers if row.status is not Status.OK]
            reason = f"; the first says: {failed[0]}" if failed else ""
            raise ComputationError(
                f"only {len(done)} of {len(point.inputs)} challenge bases are done{reason}"
            )
        decisions = point.asked["decisions"]
        each = self.challenges if decisions == SHARED else self.challenges - self.challenges // 2
        errors = np.array(
            [
                [row.ceilings[f"{decisions}-{name}"]["mean"] for row in done]
                for name in (FALSE_POSITIVES, FALSE_NEGATIVES)
            ]
        ).astype(np.int64)
        return mcmc.Counts.of([(x, each, y, each) for x, y in errors.T.tolist()])


def name_algorithm(start: str, sigma: float) -> str:
    """A1 to A4 as the paper names them, with the noise."""
    names = {"fixed": ("A1", "A3"), "random": ("A2", "A4")}[start]
    return f"{names[1]}, sigma {sigma:g}" if sigma else names[0]


def _nothing(delta: float) -> ApproxDP:
    """What plain SGD promises."""
    return ApproxDP(inf, delta, Relation.ADD_REMOVE)


@lru_cache(maxsize=1)
def _attacked(
    audit: TrainingAudit, base: int, sigmas: tuple[float, ...], threads: int
) -> list[tuple[Any, Any]]:
    """The losses of one base; the rows of its noise levels come one after the other."""
    return audit.noised_losses(base, sigmas, threads)
