"""The optimal attack on DP-SGD, simulated beside its bounds (Guerra-Balboa 2026, figure 3).

The adversary knows all records but one, and sees every noisy gradient; the missing record is one of
a few, all equally likely. What is known of it decides what the success of the attack (ReRo) says:
the bound on it is stated for nothing known. Advantage (RAD) has bounds whatever is known.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self

import numpy as np
import numpy.typing as npt
from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from reconbench.benchmarks.computations.computation import (
    Chance,
    Computation,
    ComputationError,
    Point,
    Positive,
    Positives,
    Promise,
    known_names,
)
from reconbench.benchmarks.computations.rad.bounds import ANY_KNOWLEDGE, THEOREM_4_2, Values
from reconbench.benchmarks.game.random_streams import make_stream
from reconbench.benchmarks.suites.game_block import Whole
from reconbench.bounds import GaussianDP, Relation
from reconbench.bounds.rad import Knowledge, optimal_sampled, rad_any_aux, rad_no_aux
from reconbench.datasets.sources.packages.images import check_source, load_images
from reconbench.mechanisms.training.algorithms import Network, Records
from reconbench.mechanisms.training.candidates import CandidateTraining

if TYPE_CHECKING:
    from reconbench.benchmarks.audits.train import Population

Floats = npt.NDArray[np.float64]

RAD, RERO, BLIND = "rad-attack", "rero-attack", "rero-blind"
THEOREM_5_1, PUBLISHED, RERO_BOUND = "rad-thm51", "rad-published", "rero-bound"
# Records drawn for every candidate: those that agree with an earlier one are left out.
SPARE = 4


# What the adversary may know of the missing record, a(z), by the names of ``bounds.rad``; its class
# is known by labels.
KNOWN: Mapping[str, str] = {"nothing": "none", "class": "", "record": "all"}


def knowledge_of(known: str, candidates: Records) -> Knowledge:
    """Nothing, the class, or the record itself: whether it took part."""
    return Knowledge.of(KNOWN[known] or candidates.labels, len(candidates))


@dataclass(frozen=True, eq=False)
class RecordPool:
    """The records that are known, and the candidates for the missing one, no two alike."""

    known: Records
    candidates: Records

    @classmethod
    def draw(cls, population: Population, size: int, count: int, rng: np.random.Generator) -> Self:
        everyone = population.draw(size + SPARE * count, rng)
        rest = everyone.take(range(size, len(everyone)))
        contents = np.column_stack([rest.labels, rest.dense()])
        _, first = np.unique(contents, axis=0, return_index=True)
        if len(first) < count:
            raise ComputationError(
                f"only {len(first)} of {len(rest)} records differ; ask for at most {len(first)} "
                "candidates"
            )
        chosen = np.sort(first)[:count]
        return cls(everyone.take(range(size)), rest.take(chosen))


def simulate(
    training: CandidateTraining,
    pool: RecordPool,
    runs: int,
    rng: np.random.Generator,
    threads: int = 1,
) -> Floats:
    """Likelihoods of the candidates (columns) in runs (rows) with one of them, drawn uniformly."""
    drawn = rng.integers(len(pool.candidates), size=runs)
    logs = training.log_likelihoods(pool.known, pool.candidates, drawn, rng, threads)
    return np.asarray(np.exp(logs - logs.max(axis=1, keepdims=True)))


def bound_risks(guarantee: GaussianDP, candidates: int, known: str) -> dict[str, float]:
    """The bounds of figure 3, from the guarantee for adding or removing a record.

    Replacing one moves the sum of gradients twice as far: 2μ. ``rad-published`` takes μ, as Example
    5.5 does.
    """

    def on_advantage(mu: float) -> tuple[float, float]:
        replaced, chance = GaussianDP(mu, Relation.REPLACE_ONE), 1 / candidates
        return rad_any_aux(replaced, candidates), rad_no_aux(replaced, chance, chance, chance)

    any_knowledge, nothing = on_advantage(2 * guarantee.mu)
    published = on_advantage(guarantee.mu)
    unknown = known == "nothing"
    return {
        THEOREM_4_2: any_knowledge,
        **({THEOREM_5_1: nothing} if unknown else {}),
        PUBLISHED: published[unknown],
        # A release without the record is right by chance, so adding or removing it will do.
        RERO_BOUND: float(guarantee.power(1 / candidates)),
    }


class TrainingAttack(Computation):
    """Advantage and success of Algorithm 1 on full-batch DP-SGD, by what it knows of the record.

    ``size`` records are known, the missing one is one of ``candidates``; ``samples`` trainings of
    ``steps`` steps with ``noise`` times ``clip`` on every coordinate. The network predicts the
    column ``label`` of ``dataset`` from the others, or the class of ``images``, a source that was
    fetched. What is ``known`` of the record is some of nothing, class (the value to
    predict) and record (only membership is open); all of them are about the same trainings.
    """

    reference = "Guerra-Balboa 2026, figure 3"
    metric = "advantage and success"
    meanings: ClassVar[Mapping[str, str]] = {
        RAD: "advantage of Algorithm 1 on simulated trainings: Theorem 4.3 of this mechanism",
        THEOREM_4_2: ANY_KNOWLEDGE,
        RERO: "success of the same attack on a record that took part (ReRo)",
        BLIND: "success of a guess from what is known, without the release",
        RERO_BOUND: "Hayes et al. 2023: 1 − f(1/candidates), for a target of whom nothing is known",
        THEOREM_5_1: "Guerra-Balboa 2026, Theorem 5.1: for a target of whom nothing is known",
        PUBLISHED: "Theorem 4.2 or 5.1 as Example 5.5 prints it, for a record that is left out; "
        "no bound on the advantage",
        **{
            f"{name}-{end}": f"{meaning} end of the interval of {name}"
            for name in (RAD, RERO)
            for end, meaning in (("low", "lower"), ("high", "upper"))
        },
    }

    compute: Literal["rad-training"]
    noise: Positives
    known: Annotated[
        list[str], BeforeValidator(known_names("knowledge", KNOWN)), Field(min_length=1)
    ]
    dataset: str = "acs"
    label: str = "AGEP"
    images: Annotated[str, AfterValidator(check_source)] = ""
    candidates: Values = 8
    size: Whole = 999
    steps: Whole = 100
    hidden: Annotated[int, Field(ge=0, strict=True)] = 10
    rate: Positive = 9.0
    clip: Positive = 0.1
    samples: Annotated[int, Field(ge=2, strict=True)] = 1000
    confidence: Chance = 0.95
    delta: Chance = 1e-5
    seed: int = 0

    @model_validator(mode="after")
    def _check_records(self) -> Self:
        given = self.model_fields_set & {"dataset", "label"}
        if self.images and given:
            raise ValueError(f"leave out {', '.join(sorted(given))}: the images are the records")
        return self

    def points(self, suite: str) -> Iterator[Point]:
        # What a list holds tells points apart, and figures do not name it.
        common = {**self._shape, "records": [self._population.name], "confidence": self.confidence}
        common |= {"images": self.images} if self.images else {}
        for noise in self.noise:
            guarantee = self._train(noise).guarantee(Relation.ADD_REMOVE)
            budget = {"noise": noise, "delta": self.delta}
            epsilon = guarantee.epsilon_at(self.delta)
            promise = Promise(f"noise {noise:g}", epsilon, self.delta, guarantee, budget)
            for known in self.known:
                parts = [self.images, f"{known} known", promise.label]
                asked, base = {**common, "known": known}, 1 / self.candidates
                label = ", ".join(filter(None, parts))
                yield Point(suite, self, "dp-sgd", promise, label, base, asked)

    def check_data(self) -> None:
        if self.images:
            load_images(self.images)

    def evaluate(self, point: Point) -> dict[str, float]:
        noise, known = point.promise.asked["noise"], point.asked["known"]
        knowledge = knowledge_of(known, self._pool.candidates)
        found = optimal_sampled(
            self._simulate(noise),
            self.candidates,
            aux=knowledge.labels,
            confidence=self.confidence,
        )
        guarantee = self._train(noise).guarantee(Relation.ADD_REMOVE)
        values = bound_risks(guarantee, self.candidates, known)
        for name, interval in ((RAD, found.rad), (RERO, found.success)):
            values[name] = interval.estimate
            values |= {f"{name}-low": interval.low, f"{name}-high": interval.high}
        # One guess of every group is right.
        return values | {BLIND: knowledge.groups / self.candidates}

    @cached_property
    def _population(self) -> Population:
        from reconbench.benchmarks.audits.train import FromImages, FromPrior

        return FromImages(self.images) if self.images else FromPrior(self.dataset, self.label)

    @property
    def _shape(self) -> dict[str, Any]:
        """What the trainings depend on, beside the noise: it names their random streams."""
        names = {"candidates", "size", "steps", "hidden", "rate", "clip", "samples", "seed"}
        return {**self.model_dump(mode="json", include=names), "records": self._population.name}

    @cached_property
    def _pool(self) -> RecordPool:
        axes = {name: self._shape[name] for name in ("records", "size", "candidates", "seed")}
        rng = make_stream("records of trainings", axes)
        return RecordPool.draw(self._population, self.size, self.candidates, rng)

    @cached_property
    def _simulated(self) -> dict[float, Floats]:
        """By noise: rows that differ in what is known are about the same trainings."""
        return {}

    def _train(self, noise: float) -> CandidateTraining:
        return CandidateTraining(Network(self.hidden), noise, self.steps, self.rate, self.clip)

    def _simulate(self, noise: float) -> Floats:
        from reconbench.benchmarks.run.runner import available_cores

        if noise not in self._simulated:
            rng = make_stream("trainings", {**self._shape, "noise": noise})
            self._simulated[noise] = simulate(
                self._train(noise), self._pool, self.samples, rng, available_cores()
            )
        return self._simulated[noise]
