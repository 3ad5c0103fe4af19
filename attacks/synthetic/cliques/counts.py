"""Counts of a set of columns, and how those of a synthetic table err."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Self

import numpy as np
import numpy.typing as npt
from scipy.optimize import nnls

from reconbench.datasets import Prior, Table

Codes = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

# Counts that follow the true ones less than this are of no use.
SMALLEST_SLOPE = 0.02
MOST_CELLS = 1 << 20


@dataclass(frozen=True, eq=False)
class CellSet:
    """A set of columns: known ones, and the hidden one in the last place.

    ``conditional`` is P(t | x) for every combination x of the known columns, (X, V).
    """

    known: tuple[str, ...]
    column: str
    conditional: Floats

    @classmethod
    def build(cls, prior: Prior, known: tuple[str, ...], column: str) -> Self:
        size = prior.domain[column].size
        if not known:
            alone = Table.of_all_values(prior.domain.project([column]))
            chances = np.exp(prior.log_evidence(alone))
            return cls((), column, (chances / chances.sum())[None])
        every = Table.of_all_values(prior.domain.project(known))
        possible = np.isfinite(prior.log_evidence(every))
        conditional = np.full((len(every), size), 1 / size)
        if possible.any():
            rows = Table(every.domain, every.codes[possible])
            conditional[possible] = prior.conditional(rows, [column])
        return cls(known, column, conditional)

    def rows(self, table: Table) -> Codes:
        """The number of each record's known values, (n,)."""
        number = np.zeros(len(table), dtype=np.int64)
        for name in self.known:
            number = number * table.domain[name].size + table.column(name)
        return number

    def expect(self, known: Table) -> Floats:
        """N(x) P(t | x), (X, V): what the prior expects of the counts, given the known columns."""
        totals = np.bincount(self.rows(known), minlength=len(self.conditional))
        return np.asarray(totals[:, None] * self.conditional)

    def deviate(self, table: Table, scale: float) -> Floats:
        """count(x, t) − count(x) P(t | x) of a table, its counts scaled, (X, V)."""
        rows, values = self.conditional.shape
        cell = self.rows(table) * values + table.column(self.column)
        counts = np.bincount(cell, minlength=rows * values).reshape(rows, values)
        known = counts.sum(axis=1, keepdims=True)
        return np.asarray(scale * (counts - known * self.conditional))


def spread(expected: Floats) -> Floats:
    """κ(x, t): the share of row x in what is expected of value t, (X, V)."""
    return np.asarray(expected / np.maximum(expected.sum(axis=0, keepdims=True), 1e-9))


def find_sets(
    mechanism: object, prior: Prior, known: Sequence[str], column: str
) -> list[tuple[str, ...]]:
    """The known columns of every set that is read, largest sets only.

    Those of the sets that the mechanism measures, or of all pairs where it does not say.
    """
    public = getattr(mechanism, "sets", None)
    if public is None:
        return [(name,) for name in known]
    names: tuple[str, ...] = mechanism.domain.names  # type: ignore[attr-defined]
    parts = set()
    for columns in public:
        named = [names[i] for i in columns]
        if column in named:
            parts.add(tuple(name for name in named if name in known))
    sizes = {part: prod(prior.domain[name].size for name in (*part, column)) for part in parts}
    return sorted(
        part
        for part in parts
        if sizes[part] <= MOST_CELLS and not any(set(part) < set(other) for other in parts)
    )


@dataclass(frozen=True)
class Errors:
    """Synthetic deviations are ``slope`` times the true ones, and an error.

    Divided by the slope, the error has variance ``constant`` + ``drawn`` × (expected count).
    """

    slope: float
    constant: float
    drawn: float

    def variance(self, expected: Floats) -> Floats:
        return self.constant + self.drawn * expected


def learn_errors(true: Floats, seen: Floats, expected: Floats) -> Errors | None:
    """Errors by least squares over the cells of imagined tables; None if there is no slope."""
    d, s, mean = true.ravel(), seen.ravel(), expected.ravel()
    power = float(d @ d)
    slope = float(d @ s) / power if power > 0 else 0.0
    if slope < SMALLEST_SLOPE:
        return None
    squares = ((s - slope * d) / slope) ** 2
    (constant, drawn), _ = nnls(np.column_stack([np.ones_like(mean), mean]), squares)
    # Cells in which nothing was ever seen to go wrong may still do so.
    least = 0.05 * float(squares.mean()) + 0.01
    return Errors(slope, max(float(constant), least), float(drawn))
