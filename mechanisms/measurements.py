"""Noisy counts of chosen sets of columns, each set with Gaussian noise of its own.

Synthesizers measure such sets and fit a model to them. `MarginalsRelease` is the case in which all
sets have k columns, every one that touches a hidden column is there, and the noise is the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import isfinite

import numpy as np
import numpy.typing as npt

from reconbench.datasets import Domain, Table
from reconbench.mechanisms.base import MechanismError
from reconbench.mechanisms.marginals import MarginalSets, marginal_counts

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Measurements:
    """Counts of ``records`` records, set after set, with independent Gaussian noise.

    ``sets`` are positions of columns, ascending in each set; ``noise_sds`` has the standard
    deviation of the noise on every count of a set. ``adaptive`` says that the sets were chosen by
    looking at the table: which sets these are then tells more than their answers do.
    """

    domain: Domain
    sets: MarginalSets
    answers: tuple[Floats, ...]
    noise_sds: tuple[float, ...]
    records: int
    adaptive: bool = False

    def __post_init__(self) -> None:
        if not len(self.sets) == len(self.answers) == len(self.noise_sds):
            raise MechanismError("measurements need one answer and one noise level for each set")
        sizes = self.domain.sizes
        for columns, answer, sd in zip(self.sets, self.answers, self.noise_sds, strict=True):
            if list(columns) != sorted(set(columns)):
                raise MechanismError(
                    f"the columns of the set {self._name(columns)} are not in ascending order"
                )
            expected = tuple([sizes[i] for i in columns])
            if answer.shape != expected:
                raise MechanismError(
                    f"the counts of {self._name(columns)} have shape {answer.shape}, "
                    f"expected {expected}"
                )
            if not (isfinite(sd) and sd >= 0):
                raise MechanismError(
                    f"the noise on {self._name(columns)} must be a number of 0 or more, got {sd:g}"
                )
            answer.setflags(write=False)  # all attacks share one release

    def _name(self, columns: Sequence[int]) -> str:
        return ", ".join(self.domain.names[i] for i in columns)

    @property
    def cells(self) -> int:
        return sum(answer.size for answer in self.answers)

    def touching(self, hidden: Sequence[str]) -> Measurements:
        """The sets that hold a hidden column; the others tell nothing who knows their columns.

        The result may be empty.
        """
        secret = set(self.domain.positions(hidden))
        return self.select([i for i, own in enumerate(self.sets) if secret.intersection(own)])

    def select(self, kept: Sequence[int]) -> Measurements:
        """Some of the sets, by their numbers."""
        if len(kept) == len(self.sets):
            return self
        return replace(
            self,
            sets=tuple(self.sets[i] for i in kept),
            answers=tuple(self.answers[i] for i in kept),
            noise_sds=tuple(self.noise_sds[i] for i in kept),
        )


def measure(
    table: Table, sets: MarginalSets, noise_sds: Sequence[float], rng: np.random.Generator
) -> Measurements:
    """Count every set and add independent Gaussian noise of its own standard deviation."""
    answers = []
    for columns, sd in zip(sets, noise_sds, strict=True):
        counts = marginal_counts(table, columns)
        answers.append(counts if sd == 0 else counts + rng.normal(0.0, sd, counts.shape))
    return Measurements(table.domain, sets, tuple(answers), tuple(noise_sds), len(table))


def join_measurements(*parts: Measurements) -> Measurements:
    """All sets of several measurements of one table."""
    return replace(
        parts[0],
        sets=tuple(columns for part in parts for columns in part.sets),
        answers=tuple(answer for part in parts for answer in part.answers),
        noise_sds=tuple(sd for part in parts for sd in part.noise_sds),
        adaptive=any(part.adaptive for part in parts),
    )
