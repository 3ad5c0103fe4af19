"""Audit training algorithms: how private are the models that they publish?

The experiment of Yildirim 2025, section 4.2, on tables from a prior: a network learns to predict a
column; a challenge base is a table D and a record z, both fresh; models are trained on D (or, for
replace-one neighbours, on D with another record z′) and on D with z, and a membership attack tells
them apart as well as it can. Its errors, over many bases, are what the posterior of ε is estimated
from (``bounds.audit.mcmc``).

Cost: bases × 2 · (challenges + shadows) trainings; memory as many models of one base.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
import numpy.typing as npt

from reconbench.attacks.membership import Counts, Floats, Together, measure_fast, measure_split
from reconbench.benchmarks import plugins
from reconbench.benchmarks.game.random_streams import make_stream
from reconbench.bounds import Relation
from reconbench.bounds.audit import mcmc
from reconbench.datasets.sources.packages.images import find_source, load_images
from reconbench.mechanisms.training.algorithms import Network, Records, Sgd, Training

LEVELS = tuple(percent / 100 for percent in range(1, 100))
# Neighbouring levels say nearly the same.
JOINT_LEVELS = tuple(percent / 100 for percent in range(5, 100, 5))


class AuditError(ValueError):
    """An audit that cannot be made as asked."""


# Yildirim 2025, section 4.2: the start is fixed or random, the weights are noised or not.
ALGORITHMS: Mapping[str, tuple[bool, bool]] = {
    "A1": (True, False),
    "A2": (False, False),
    "A3": (True, True),
    "A4": (False, True),
}


def algorithm(name: str, sigma: float, *, epochs: int = 200, hidden: int = 128) -> Sgd:
    """A1 to A4 of the paper; ``sigma`` is the noise on the weights, for A3 and A4."""
    if name not in ALGORITHMS:
        raise AuditError(f"algorithm must be one of {', '.join(ALGORITHMS)}, dp-sgd, got {name!r}")
    fixed, noised = ALGORITHMS[name]
    if noised and not sigma > 0:
        raise AuditError(f"sigma must be > 0 for {name}, got {sigma:g}; A1 and A2 have no noise")
    plain = Sgd(Network(hidden), epochs=epochs, start_seed=0 if fixed else None)
    return replace(plain, output_noise=sigma) if noised else plain


class Population(Protocol):
    """Where challenge bases are drawn from."""

    @property
    def name(self) -> str:
        """What tells it from others, content included: random streams depend on it."""
        ...

    def draw(self, count: int, rng: np.random.Generator) -> Records:
        """Records that are fresh each time."""
        ...


@dataclass(frozen=True)
class FromPrior:
    """Records of a prior; the network predicts the column ``label`` from the others."""

    dataset: str
    label: str

    def __post_init__(self) -> None:
        plugins.load_prior(self.dataset).domain.position(self.label)

    @property
    def name(self) -> str:
        return f"{plugins.load_prior(self.dataset).sha256()} {self.label}"

    def draw(self, count: int, rng: np.random.Generator) -> Records:
        return Records.of_table(plugins.load_prior(self.dataset).sample(count, rng), self.label)


@dataclass(frozen=True)
class FromImages:
    """Images of a source that was fetched, drawn without replacement."""

    source: str

    def __post_init__(self) -> None:
        find_source(self.source)

    @property
    def name(self) -> str:
        source = find_source(self.source)
        return f"{source.name} {source.images.sha256} {source.labels.sha256}"

    def draw(self, count: int, rng: np.random.Generator) -> Records:
        images, classes = load_images(self.source)
        rows = _choose(count, len(images), rng)
        return Records.of_vectors(images[rows], classes[rows], int(classes.max()) + 1)


@dataclass(frozen=True, eq=False)
class FromRecords:
    """Records that are there, say images, drawn without replacement."""

    records: Records

    @property
    def name(self) -> str:
        digest = hashlib.sha256(self.records.indices.astype("<u8").tobytes())
        digest.update(self.records.values.astype("<f4").tobytes())
        digest.update(self.records.labels.astype("<i8").tobytes())
        return digest.hexdigest()

    def draw(self, count: int, rng: np.random.Generator) -> Records:
        return self.records.take(_choose(count, len(self.records), rng))


def _choose(count: int, available: int, rng: np.random.Generator) -> npt.NDArray[np.int64]:
    if count > available:
        raise AuditError(
            f"a challenge base needs {count} records, there are {available}; lower size"
        )
    return rng.choice(available, count, replace=False)


@dataclass(frozen=True)
class TrainingAudit:
    """Challenge bases of ``size`` records each, and ``challenges`` models per hypothesis.

    The attack learns from ``shadows`` models per hypothesis; none: from the other challenges, as in
    Algorithm 5 of the paper, which leaves its decisions correlated. ``relation`` says which tables
    it tells apart: D and D ∪ {z}, or D ∪ {z′} and D ∪ {z}, with D of ``size`` records.
    """

    population: Population
    training: Training
    bases: int = 20
    challenges: int = 100
    shadows: int = 100
    size: int = 999
    seed: int = 0
    relation: Relation = Relation.ADD_REMOVE

    def __post_init__(self) -> None:
        for name, least in (("bases", 1), ("challenges", 3), ("shadows", 0), ("size", 2)):
            if getattr(self, name) < least:
                raise AuditError(f"{name} must be at least {least}, got {getattr(self, name)}")
        if self.shadows == 1:
            raise AuditError("shadows must be 0 (the challenges themselves) or at least 2, got 1")

    @property
    def likelihood(self) -> mcmc.Likelihood:
        """How the counts vary: binomially where challenges are not each other's shadows."""
        return mcmc.IndependentBinomial() if self.shadows else mcmc.CorrelatedNormal()

    def errors(self, threads: int = 1) -> Iterator[Counts]:
        """The attack's errors at every level of ``LEVELS``, base by base."""
        name = self.population.name
        for base in range(self.bases):
            axes = self._axes(name, base)
            bases = self._base(make_stream("challenge base", axes))
            attacked = {**axes, "training": repr(self.training), "challenges": self.challenges}
            rng = make_stream("membership challenges", {**attacked, "shadows": self.shadows})
            trainer = Together(self.training, threads)
            if self.shadows:
                yield measure_split(
                    trainer,
                    *bases,
                    challenges=self.challenges,
                    shadows=self.shadows,
                    levels=LEVELS,
                    rng=rng,
                )
            else:
                yield measure_fast(
                    trainer, *bases, challenges=self.challenges, levels=LEVELS, rng=rng
                )

    def noised_losses(
        self, base: int, sigmas: Sequence[float], threads: int = 1
    ) -> list[tuple[Floats, Floats]]:
        """The record's losses under the challenges of a base, without it and with it, by noise.

        Algorithms that differ in the noise on the trained weights alone, such as A1 and A3, or A2
        and A4, share their models here: each is trained once, and then noised anew for each sigma.
        """
        if not isinstance(self.training, Sgd) or self.training.output_noise:
            raise AuditError(f"noise is added to the weights of plain SGD, got {self.training!r}")
        axes = self._axes(self.population.name, base)
        without, with_record, record = self._base(make_stream("challenge base", axes))
        axes |= {"training": repr(self.training), "challenges": self.challenges}
        rng = make_stream("shared challenges", axes)
        by_hypothesis = []
        for member, data in enumerate((without, with_record)):
            models = self.training.train(data, self.challenges, rng, threads)
            losses = []
            for sigma in sigmas:
                noise = make_stream("noise on weights", {**axes, "sigma": sigma, "member": member})
                noised = models.add_noise(sigma, noise) if sigma else models
                losses.append(noised.losses(record))
            by_hypothesis.append(losses)
        return list(zip(*by_hypothesis, strict=True))

    def _axes(self, name: str, base: int) -> dict[str, object]:
        """What the table and the record of a base are drawn by."""
        return {"population": name, "size": self.size, "seed": self.seed, "base": base}

    def _base(self, rng: np.random.Generator) -> tuple[Records, Records, Records]:
        """The table without the record, the one with it, and the record."""
        size = self.size
        if self.relation is Relation.ADD_REMOVE:
            everyone = self.population.draw(size + 1, rng)
            return everyone.take(range(size)), everyone, everyone.take([size])
        everyone = self.population.draw(size + 2, rng)
        without = everyone.take([*range(size), size + 1])
        return without, everyone.take(range(size + 1)), everyone.take([size])


def check_level(level: float) -> float:
    """The level, if errors are counted at it; raises otherwise."""
    if level not in LEVELS:
        raise AuditError(f"level must be one of 0.01, 0.02, …, 0.99, got {level:g}")
    return level


def counts_at(errors: Sequence[Counts], level: float) -> mcmc.Counts:
    """One point per base, at one of the levels, for the estimate of ε."""
    index = LEVELS.index(check_level(level))
    return mcmc.Counts.of(
        [
            (base.false_positives[index], base.out, base.false_negatives[index], base.in_)
            for base in errors
        ]
    )


def counts_of_levels(errors: Sequence[Counts]) -> mcmc.Counts:
    """All of ``JOINT_LEVELS`` of every base, for models that use them jointly."""
    picked = [LEVELS.index(level) for level in JOINT_LEVELS]
    rows = [
        (base.false_positives[i], base.out, base.false_negatives[i], base.in_)
        for base in errors
        for i in picked
    ]
    bases = np.repeat(np.arange(len(errors)), len(picked))
    return replace(mcmc.Counts.of(rows), bases=bases)


def collect(
    audit: TrainingAudit, threads: int = 1, progress: Callable[[int], None] = lambda done: None
) -> list[Counts]:
    """All errors of an audit; ``progress`` gets the number of bases that are done."""
    errors = []
    for counts in audit.errors(threads):
        errors.append(counts)
        progress(len(errors))
    return errors
