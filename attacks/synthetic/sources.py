"""Sources of evidence: what a synthetic table says of hidden values, beyond what it always says.

A learner trained on the table answers q̂(v | known columns). Most of this is about the population,
which the prior knows already and better. What matters is how the answer differs from those of the
same learner trained on other tables of the same making (reference models, as in the calibration of
membership inference by difficulty, Watson et al. 2022):

    e(v) = log q̃(v) − mean over reference tables of log q̃_ref(v),     q̃ = (1 − s) q̂ + s π.

Mixing in a little of the prior π keeps the logarithm finite where the learner has seen nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from reconbench.attacks.base import log_chances
from reconbench.attacks.synthetic.imagined import ImaginedTables
from reconbench.attacks.synthetic.learners import Fitted, Learner, fit_learner, fit_released
from reconbench.datasets import Table

Floats = npt.NDArray[np.float64]

REFERENCES = 8
SMOOTHING = 0.02


class Reader(Protocol):
    """What a source says of one column, given a table that was released."""

    def read(self, table: Table, known: Table, chances: Floats) -> Floats:
        """Evidence on every record and value, (n, V); ``chances`` are the prior's."""
        ...


@dataclass(frozen=True, eq=False)
class Rehearsal:
    """What a source says of a column of the imagined tables, (all records, V), and how to read a
    released table in the same way."""

    evidence: Floats
    reader: Reader


class Source(Protocol):
    """Equal sources say the same."""

    @property
    def name(self) -> str: ...

    def __hash__(self) -> int: ...

    def rehearse(self, imagined: ImaginedTables, column: str) -> Rehearsal:
        """Read every imagined table as if it were the one under attack."""
        ...


def rehearse_once(source: Source, imagined: ImaginedTables, column: str) -> Rehearsal:
    """Rehearse a source, once for all attacks."""
    return imagined.recall((source, column), lambda: source.rehearse(imagined, column))


@dataclass(frozen=True, eq=False)
class LearnerReader:
    """A learner, and the same learner trained on reference tables."""

    learner: Learner
    column: str
    references: tuple[Fitted, ...]

    def read(self, table: Table, known: Table, chances: Floats) -> Floats:
        own = fit_released(self.learner, table, self.column, known.domain.names)
        total = sum(log_smoothed(each.answer(known), chances) for each in self.references)
        return log_smoothed(own.answer(known), chances) - total / len(self.references)


@dataclass(frozen=True)
class LearnerSource:
    """What a learner says, trained on the synthetic table."""

    learner: Learner

    @property
    def name(self) -> str:
        return self.learner.name

    def compare(
        self, references: Sequence[Table], column: str, known: tuple[str, ...]
    ) -> LearnerReader:
        """Train the learner on reference tables."""
        fitted = [fit_learner(self.learner, table, column, known) for table in references]
        return LearnerReader(self.learner, column, tuple(fitted))

    def rehearse(self, imagined: ImaginedTables, column: str) -> Rehearsal:
        """Each table is left out of its own references."""
        count, n = len(imagined), imagined.n
        reader = self.compare(imagined.released[:REFERENCES], column, imagined.known)
        chances = imagined.chances(column)
        own = np.zeros((count, n, chances.shape[1]))
        total = np.zeros_like(own)
        for number, fitted in enumerate(reader.references):
            answers = log_smoothed(fitted.answer(imagined.all_known), chances).reshape(own.shape)
            total += answers
            own[number] = answers[number]
            total[number] -= answers[number]
        references = np.full(count, len(reader.references))
        references[: len(reader.references)] -= 1
        for number in range(len(reader.references), count):
            part = slice(number * n, (number + 1) * n)
            truth = imagined.truths[number].project(imagined.known)
            fitted = fit_learner(self.learner, imagined.released[number], column, imagined.known)
            own[number] = log_smoothed(fitted.answer(truth), chances[part])
        evidence = own - total / np.maximum(references, 1)[:, None, None]
        return Rehearsal(evidence.reshape(chances.shape), reader)


def log_smoothed(answer: Floats, chances: Floats) -> Floats:
    """log((1 − s) q̂ + s π); 0 for values that the prior rules out: no evidence brings them back."""
    logs = log_chances((1 - SMOOTHING) * answer + SMOOTHING * chances)
    return np.where(chances > 0, logs, 0.0)
