"""The evidence of one game in the form of agreements between records."""

from __future__ import annotations

from itertools import combinations
from math import prod

import numpy as np
import numpy.typing as npt
from scipy.special import comb

from reconbench.attacks.base import AttackerView
from reconbench.attacks.marginals.release_parts import ReleaseParts
from reconbench.attacks.posterior.draws.sweeps import (
    draw_sweep,
    follow_values,
    square_error,
    sum_answers,
)
from reconbench.attacks.posterior.posteriors import number_groups
from reconbench.datasets import Table
from reconbench.mechanisms import MarginalsRelease

Codes = npt.NDArray[np.int64]
Shorts = npt.NDArray[np.uint16]
Indices = npt.NDArray[np.uint32]
Floats = npt.NDArray[np.float64]
Singles = npt.NDArray[np.float32]

# Codes and numbers of agreements have to fit 16 bits.
LARGEST_CODE = (1 << 16) - 1
# Values whose answers are added up at a time: their cells stay in the cache.
TOGETHER = 1 << 12


class Agreements:
    """What `agreement_sweeps` needs: groups of records, sets in common, and sums of answers.

    Records of a group agree in all known columns. Every k-way marginal that holds a hidden column
    has to be there. Those of fewer than k hidden columns are added up, for each group, over the
    known columns that they hold: 91 in place of 273 for thirteen hidden columns and three known.
    """

    def __init__(self, view: AttackerView, release: MarginalsRelease) -> None:
        known, hidden = len(view.known.domain), len(view.targets)
        self.group = number_groups(view.known)
        _, first = np.unique(self.group, return_index=True)
        self.known = Table(view.known.domain, view.known.codes[first])
        agreed = np.zeros((len(self.known), view.n), dtype=np.int64)
        for name in self.known.domain.names:
            agreed += self.known.column(name)[:, None] == view.known.column(name)
        self._places = (agreed * (hidden + 1)).astype(np.uint16)
        # sets that hold a hidden column on which two records agree, by known and hidden agreements
        both = np.arange(known + 1)[:, None] + np.arange(hidden + 1)
        ways = comb(both, release.k) - comb(np.arange(known + 1), release.k)[:, None]
        self._ways = np.ascontiguousarray(ways, dtype=np.float64).ravel()
        self._tables = _list_tables(ReleaseParts([release], self.known, view.targets), release)

    @property
    def sets(self) -> int:
        """Tables in which a value has a cell."""
        return sum(len(table.columns) for table in self._tables)

    def sum_answers(self, values: Codes | Shorts, groups: Codes) -> Floats:
        """A(u) of values, (m, d′), that belong to the given groups."""
        total = np.zeros(len(values))
        for first in range(0, len(values), TOGETHER):
            part = slice(first, first + TOGETHER)
            columns = np.ascontiguousarray(values[part].T, dtype=np.uint16)
            for table in self._tables:
                starts = (groups[part] * table.by_group).astype(np.uint32)
                layout = table.answers, table.columns, table.strides, table.offsets
                sum_answers(columns, starts, *layout, total[part])
        return total

    def measure_error(self, codes: Shorts, own: Floats) -> float:
        """The squared error of a table, (d′, n), up to a constant; ``own`` are its records' A."""
        return square_error(codes, own, self.group, self._places, self._ways)

    def sweep(
        self,
        codes: Shorts,
        own: Floats,
        drawn: Shorts,
        answers: Floats,
        weight: float,
        uniforms: Floats,
        log_means: Floats,
    ) -> float:
        """`draw_sweep` of one table."""
        fixed = self.group, self._places, self._ways
        return draw_sweep(codes, own, *fixed, drawn, answers, weight, uniforms, log_means)

    def follow(
        self,
        before: Shorts,
        after: Shorts,
        log_means: Floats,
        values: Shorts,
        groups: Codes,
        weight: float,
    ) -> Floats:
        """`follow_values` through the sweeps that were kept."""
        answers = self.sum_answers(values, groups)
        fixed = self.group, self._places, self._ways, weight
        return follow_values(before, after, log_means, values, groups, answers, *fixed)


class _Tables:
    """Answers over hidden columns alone, laid end to end; ``by_group`` cells for every group."""

    def __init__(
        self, tables: list[tuple[tuple[int, ...], tuple[int, ...], Floats]], grouped: bool
    ) -> None:
        """Each: columns as positions among the targets, their sizes, and answers, (groups, …)."""
        flat = [table.reshape(len(table), -1) for _, _, table in tables]
        whole = np.concatenate(flat, axis=1)
        self.answers: Singles = whole.astype(np.float32).ravel()
        self.by_group = whole.shape[1] if grouped else 0
        self.columns: Indices = np.array([columns for columns, _, _ in tables], dtype=np.uint32)
        lengths = [table.shape[1] for table in flat]
        self.offsets: Indices = (np.cumsum(lengths) - lengths).astype(np.uint32)
        strides = [[prod(sizes[q + 1 :]) for q in range(len(sizes))] for _, sizes, _ in tables]
        self.strides: Indices = np.array(strides, dtype=np.uint32)


def _list_tables(parts: ReleaseParts, release: MarginalsRelease) -> list[_Tables]:
    """Marginals of k hidden columns as they are, and all others added up for each group."""
    hidden, sizes, found = sorted(parts.order), release.domain.sizes, []
    if len(hidden) >= release.k:
        index = {columns: i for i, columns in enumerate(release.workload)}
        whole = [
            (columns, release.answers[index[columns]][None])
            for columns in combinations(hidden, release.k)
        ]
        found.append((whole, False))
    grouped = _add_up(parts, hidden, sizes)
    if grouped:
        found.append((list(grouped.items()), True))
    return [
        _Tables(
            [
                (parts.target_indices(columns), tuple(sizes[i] for i in columns), table)
                for columns, table in tables
            ],
            by_group,
        )
        for tables, by_group in found
    ]


def _add_up(
    parts: ReleaseParts, hidden: list[int], sizes: tuple[int, ...]
) -> dict[tuple[int, ...], Floats]:
    """Marginals of fewer than k hidden columns, as tables of as many of them as there can be."""
    widest = min(parts.k - 1, len(hidden))
    tables: dict[tuple[int, ...], Floats] = {}
    for width in range(widest, 0, -1):
        if parts.k - width > len(sizes) - len(hidden):
            continue
        for columns in combinations(hidden, width):
            # any table that holds these columns will do
            others = [i for i in hidden if i not in columns][: widest - width]
            home = tuple(sorted((*columns, *others)))
            gathered = parts.gathered(columns)[0]
            shape = [sizes[i] if i in columns else 1 for i in home]
            added = gathered.reshape(len(gathered), *shape)
            zeros = np.zeros((len(gathered), *(sizes[i] for i in home)))
            tables[home] = tables.get(home, zeros) + added
    return tables
