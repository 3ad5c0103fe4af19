"""Where the weights of a pool come from: imagined tables, or the columns that are known.

``FromImaginedTables`` runs the mechanism on tables drawn from the prior. ``FromKnownColumns`` is
for a synthetic table whose mechanism cannot be run, such as a file that somebody published: known
columns play the part of hidden ones. What is learnt there holds for the hidden column only as far
as the generator treats columns alike.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from reconbench.attacks.base import AttackerView, log_chances
from reconbench.attacks.synthetic.imagined import imagine_tables
from reconbench.attacks.synthetic.recent import Recent
from reconbench.attacks.synthetic.sources import LearnerSource, Reader, Source, rehearse_once
from reconbench.attacks.synthetic.table_access import require_synthetic
from reconbench.attacks.synthetic.weights import Practice, fit_weights
from reconbench.datasets import Table

Codes = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

# Reference tables drawn from the prior, and known columns that are practised on.
REFERENCES = 4
PRACTISED = 8


@dataclass(frozen=True, eq=False)
class Weighed:
    """Sources with their weights, for one hidden column."""

    readers: tuple[Reader, ...]
    weights: Floats

    def read(self, table: Table, known: Table, chances: Floats) -> Floats:
        """The weighted evidence, (n, V). What weighs nothing is not asked."""
        total = np.zeros_like(chances)
        for reader, weight in zip(self.readers, self.weights, strict=True):
            if weight > 0:
                total += weight * reader.read(table, known, chances)
        return total


class Strategy(Protocol):
    def why_not(self, view: AttackerView, sources: Sequence[Source]) -> str | None:
        """Say why none of the sources can be weighed here, as the end of a sentence, or None."""
        ...

    def select(self, sources: Sequence[Source]) -> tuple[Source, ...]:
        """The sources that can be weighed."""
        ...

    def weigh(self, view: AttackerView, sources: Sequence[Source], column: str) -> Weighed:
        """Learn how much to believe each of the selected sources about a hidden column."""
        ...


@dataclass(frozen=True)
class FromImaginedTables:
    """Weights from ``count`` imagined tables, as many as n asks for by default.

    They depend on the setting, not on the table under attack.
    """

    count: int | None = None

    def why_not(self, view: AttackerView, sources: Sequence[Source]) -> str | None:
        return None

    def select(self, sources: Sequence[Source]) -> tuple[Source, ...]:
        return tuple(sources)

    def weigh(self, view: AttackerView, sources: Sequence[Source], column: str) -> Weighed:
        imagined = imagine_tables(view, self.count)

        def learn() -> Weighed:
            rehearsals = [rehearse_once(source, imagined, column) for source in sources]
            practice = Practice(
                np.stack([rehearsal.evidence for rehearsal in rehearsals], axis=2),
                log_chances(imagined.chances(column)),
                imagined.column(column),
                imagined.group,
            )
            readers = tuple(rehearsal.reader for rehearsal in rehearsals)
            return Weighed(readers, fit_weights([practice]))

        return imagined.recall((tuple(sources), column), learn)


# Weights learnt from known columns depend on the release.
_learnt: Recent[Floats] = Recent(16)
_readers: Recent[tuple[Reader, ...]] = Recent(64)


@dataclass(frozen=True)
class FromKnownColumns:
    """Weights from guessing known columns, from the other known ones.

    The columns about which the prior leaves most open are practised on, at most ``most``.
    References are learners trained on tables drawn from the prior, with as many rows as the
    release.
    """

    most: int = PRACTISED
    references: int = REFERENCES

    def why_not(self, view: AttackerView, sources: Sequence[Source]) -> str | None:
        if not self.select(sources):
            return "imagines tables, and the mechanism of this release cannot be run"
        if len(view.known.domain) < 2:
            return (
                "learns weights from known columns, since the mechanism of this release cannot be "
                "run, and needs two or more of them"
            )
        return None

    def select(self, sources: Sequence[Source]) -> tuple[LearnerSource, ...]:
        return tuple(source for source in sources if isinstance(source, LearnerSource))

    def weigh(self, view: AttackerView, sources: Sequence[Source], column: str) -> Weighed:
        learners, released = self.select(sources), require_synthetic(view).table
        key = (view.prior.sha256(), released.sha256(), view.known.sha256(), learners, self)
        weights = _learnt.get(key, lambda: self._learn(view, learners, released))
        return Weighed(self._compare(view, learners, column, view.known.domain.names), weights)

    def _learn(
        self, view: AttackerView, learners: tuple[LearnerSource, ...], released: Table
    ) -> Floats:
        practice = []
        for number, column in enumerate(self._choose_columns(view)):
            others = tuple(name for name in view.known.domain.names if name != column)
            known = view.known.project(others)
            chances = view.prior.conditional(known, [column])
            readers = self._compare(view, learners, column, others)
            evidence = [reader.read(released, known, chances) for reader in readers]
            practice.append(
                Practice(
                    np.stack(evidence, axis=2),
                    log_chances(chances),
                    view.known.column(column),
                    np.full(view.n, number),
                )
            )
        return fit_weights(practice)

    def _choose_columns(self, view: AttackerView) -> list[str]:
        """The known columns about which the prior leaves most open."""
        names = view.known.domain.names
        sure = [_certainty(view, name) for name in names]
        return [names[i] for i in np.argsort(sure, kind="stable")[: self.most]]

    def _compare(
        self,
        view: AttackerView,
        learners: tuple[LearnerSource, ...],
        column: str,
        known: tuple[str, ...],
    ) -> tuple[Reader, ...]:
        rows = len(require_synthetic(view).table)
        key = (view.prior.sha256(), learners, column, known, rows, self.references)

        def compare() -> tuple[Reader, ...]:
            tables = self._draw_references(view, rows)
            return tuple(source.compare(tables, column, known) for source in learners)

        return _readers.get(key, compare)

    def _draw_references(self, view: AttackerView, rows: int) -> list[Table]:
        """Tables drawn from the prior, by its own seed: the same for every release."""
        names = require_synthetic(view).domain.names
        seed = list(hashlib.sha256(f"references {view.prior.sha256()} {rows}".encode()).digest())
        return [
            view.prior.sample(
                rows, np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(number,)))
            ).project(names)
            for number in range(self.references)
        ]


def _certainty(view: AttackerView, column: str) -> float:
    """The mean probability of the likeliest value of a known column, given the other known ones."""
    others = view.known.project([name for name in view.known.domain.names if name != column])
    return float(view.prior.conditional(others, [column]).max(axis=1).mean())
