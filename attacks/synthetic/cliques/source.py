"""The counts of measured sets as a source of evidence; the package says how they are read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from reconbench.attacks.base import log_chances
from reconbench.attacks.synthetic.cliques.cell_chain import MeasuredCounts
from reconbench.attacks.synthetic.cliques.counts import (
    CellSet,
    Errors,
    find_sets,
    learn_errors,
    spread,
)
from reconbench.attacks.synthetic.imagined import ImaginedTables
from reconbench.attacks.synthetic.sources import Rehearsal
from reconbench.attacks.synthetic.weights import Practice, maximise
from reconbench.datasets import Table

Codes = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

INFLATIONS = (1.0, 4.0, 16.0, 64.0)
# Imagined tables on which ways to read are compared.
COMPARED = 8
SWEEPS = 160
BURN_IN = 60
# Chances of the posterior are mixed with so much of the prior before logarithms are taken.
SMOOTHING = 0.005


@dataclass(frozen=True, eq=False)
class CliqueReader:
    """The posterior of a hidden column given counts of some sets.

    ``totals`` are the errors of how often each value occurs, if these are read once for all sets;
    without, cells are read one by one. ``all_sets`` also has those that are not read themselves.
    """

    all_sets: tuple[CellSet, ...]
    sets: tuple[tuple[CellSet, Errors], ...]
    totals: Errors | None = None
    inflation: float = 1.0

    @classmethod
    def learn(
        cls, all_sets: tuple[CellSet, ...], imagined: ImaginedTables, once: bool
    ) -> CliqueReader | None:
        """Learn the errors from imagined tables, totals read ``once`` or cells one by one.

        None if synthetic counts do not follow the true ones.
        """
        pairs = list(zip(imagined.truths, imagined.released, strict=True))
        sets, totals = [], []
        for cells in all_sets:
            expected = np.array([cells.expect(truth) for truth, _ in pairs])
            true = np.array([cells.deviate(truth, 1.0) for truth, _ in pairs])
            seen = np.array([cells.deviate(drawn, imagined.n / len(drawn)) for _, drawn in pairs])
            totals.append([each.sum(axis=1) for each in (true, seen, expected)])
            if once:
                share = np.array([spread(each) for each in expected])
                true = true - share * true.sum(axis=1, keepdims=True)
                seen = seen - share * seen.sum(axis=1, keepdims=True)
            errors = learn_errors(true, seen, expected)
            if errors is not None:
                sets.append((cells, errors))
        if not once:
            return cls(all_sets, tuple(sets)) if sets else None
        whole = learn_errors(*np.mean(totals, axis=0)) if totals else None
        return None if whole is None else cls(all_sets, tuple(sets), whole)

    def read(self, table: Table, known: Table, chances: Floats) -> Floats:
        seed = np.random.SeedSequence(list(bytes.fromhex(table.sha256())))
        uniforms = np.random.default_rng(seed).random((BURN_IN + SWEEPS, len(known)))
        measured = self._measure(table, known, chances.shape[1])
        posterior = _share_by_row(measured.sample(log_chances(chances), uniforms, BURN_IN), known)
        mixed = (1 - SMOOTHING) * posterior + SMOOTHING * chances
        # A value that is impossible under the prior stays so: evidence of 0 says nothing of it.
        possible = chances > 0
        mixed, chances = np.where(possible, mixed, 1.0), np.where(possible, chances, 1.0)
        return np.asarray(log_chances(mixed) - log_chances(chances))

    def _measure(self, table: Table, known: Table, size: int) -> MeasuredCounts:
        scale = len(known) / len(table)
        rows, residual, variance, share = [], [], [], []
        for cells, errors in self.sets:
            expected, seen = cells.expect(known), cells.deviate(table, scale)
            part = np.zeros_like(expected) if self.totals is None else spread(expected)
            rows.append(cells.rows(known))
            # What is expected of n_S − κ n, and by how much it is seen to differ.
            level = expected - part * expected.sum(axis=0)
            residual.append(level + (seen - part * seen.sum(axis=0)) / errors.slope)
            variance.append(errors.variance(expected))
            share.append(part)
        totals, precision = np.zeros(size), np.zeros(size)
        if self.totals is not None:
            expected = np.mean([cells.expect(known).sum(axis=0) for cells in self.all_sets], axis=0)
            seen = np.mean(
                [cells.deviate(table, scale).sum(axis=0) for cells in self.all_sets], axis=0
            )
            totals = expected + seen / self.totals.slope
            precision = 1 / (self.inflation * self.totals.variance(expected))
        return MeasuredCounts(
            np.column_stack(rows) if rows else np.zeros((len(known), 0), dtype=np.int64),
            np.cumsum([0, *(each.size for each in residual)]),
            _flatten(residual),
            1 / (self.inflation * _flatten(variance)),
            _flatten(share),
            totals,
            precision,
        )


def _flatten(arrays: Sequence[Floats]) -> Floats:
    return np.concatenate([np.zeros(0), *(each.ravel() for each in arrays)])


def _share_by_row(posterior: Floats, known: Table) -> Floats:
    """Records that agree in all that is known share one posterior."""
    rows, number = known.distinct()
    total = np.zeros((len(rows), posterior.shape[1]))
    np.add.at(total, number, posterior)
    return np.asarray((total / np.bincount(number)[:, None])[number])


@dataclass(frozen=True)
class NothingToRead:
    """No measured set says anything of the hidden column."""

    def read(self, table: Table, known: Table, chances: Floats) -> Floats:
        return np.zeros_like(chances)


@dataclass(frozen=True)
class CliqueSource:
    """The posterior on the counts of the measured sets."""

    name: ClassVar[str] = "cliques"

    def rehearse(self, imagined: ImaginedTables, column: str) -> Rehearsal:
        found = find_sets(imagined.mechanism, imagined.prior, imagined.known, column)
        sets = tuple(CellSet.build(imagined.prior, known, column) for known in found)
        learnt = [CliqueReader.learn(sets, imagined, once) for once in (False, True)]
        readers = [
            replace(reader, inflation=inflation)
            for reader in learnt
            if reader is not None
            for inflation in INFLATIONS
        ]
        if not readers:
            return Rehearsal(np.zeros_like(imagined.chances(column)), NothingToRead())
        best = max(readers, key=lambda reader: _compare(reader, imagined, column))
        near = [replace(best, inflation=factor * best.inflation) for factor in (0.5, 2.0)]
        best = max([best, *near], key=lambda reader: _compare(reader, imagined, column))
        return Rehearsal(_read_all(best, imagined, column, len(imagined)), best)


def _read_all(reader: CliqueReader, imagined: ImaginedTables, column: str, count: int) -> Floats:
    """What is read off the first ``count`` imagined tables, one after the other."""
    chances = imagined.chances(column).reshape(len(imagined), imagined.n, -1)
    pairs = zip(imagined.truths[:count], imagined.released[:count], chances, strict=False)
    return np.concatenate(
        [
            reader.read(released, truth.project(imagined.known), prior)
            for truth, released, prior in pairs
        ]
    )


def _compare(reader: CliqueReader, imagined: ImaginedTables, column: str) -> float:
    """The log-probability of the truth of some imagined tables, at the best weight."""
    evidence = _read_all(reader, imagined, column, COMPARED)
    some = slice(0, len(evidence))
    practice = Practice(
        evidence[:, :, None],
        log_chances(imagined.chances(column)[some]),
        imagined.column(column)[some],
        imagined.group[some],
    )
    return float(practice.score(maximise([practice])).sum())
