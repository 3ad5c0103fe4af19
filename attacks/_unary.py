"""The likeliest joint value of some columns of a Bayesian network, with evidence on each of them.

Exact, by variable elimination: a column's log-likelihoods are one more factor, of that column
alone, so they make no clique larger. Columns that are neither known nor asked for are summed out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from reconbench.datasets import BayNet, Table
from reconbench.datasets.network.elimination import (
    CHUNK_CELLS,
    MAX_CLIQUE_CELLS,
    Elimination,
    Factor,
    elimination_order,
    largest_clique,
    restrict,
)

Floats = npt.NDArray[np.float64]
Codes = npt.NDArray[np.int64]

# Odds of one column are cut here, so that those of all columns together stay within doubles.
_LOG_RANGE = 600.0


@dataclass(frozen=True, eq=False)
class UnaryMap:
    """argmax over u of P(u | known) Π_c exp(ℓ_c(u_c)) for records that know the same columns."""

    net: BayNet
    known: tuple[str, ...]
    targets: tuple[str, ...]

    @cached_property
    def _wanted(self) -> tuple[int, ...]:
        return self.net.domain.positions(self.targets)

    @cached_property
    def _needed(self) -> set[int]:
        """The columns at hand and their ancestors: any other sums to one."""
        found: set[int] = set()
        stack = [*self._wanted, *self.net.domain.positions(self.known)]
        while stack:
            column = stack.pop()
            if column not in found:
                found.add(column)
                stack.extend(self.net.parents[column])
        return found

    @cached_property
    def _order(self) -> tuple[list[int], list[int], int]:
        """What to sum out, what to maximise after it, and the largest clique's cells."""
        known, sizes = set(self.net.domain.positions(self.known)), self.net.domain.sizes
        live = [frozenset((*self.net.parents[v], v)) - known for v in self._needed]
        rest = self._needed - known - set(self._wanted)
        first = elimination_order(live, rest, sizes)
        left = live
        for column in first:
            clique = frozenset[int]().union(*(scope for scope in left if column in scope))
            left = [scope for scope in left if column not in scope] + [clique - {column}]
        last = elimination_order(left, self._wanted, sizes)
        return first, last, largest_clique(live, [*first, *last], sizes, ())

    @property
    def feasible(self) -> bool:
        return self._order[2] <= MAX_CLIQUE_CELLS

    def solve(self, known: Table, evidence: Sequence[Floats]) -> tuple[Codes, Floats]:
        """The mode of every record, and its posterior probability.

        ``evidence`` has an (n, size) array of log-likelihoods for each target, up to a constant a
        record; those further than 600 over the number of targets below the best count as that far.
        """
        n, step = len(known), max(1, CHUNK_CELLS // self._order[2])
        lowest = -_LOG_RANGE / len(evidence)
        factors = [
            np.exp(np.maximum(logs - logs.max(axis=1, keepdims=True), lowest)) for logs in evidence
        ]
        codes = {self.net.domain.position(name): known.column(name) for name in self.known}
        guess, chance = np.empty((n, len(self.targets)), dtype=np.int64), np.empty(n)
        for start in range(0, n, step):
            part = slice(start, start + step)
            some = {column: every[part] for column, every in codes.items()}
            guess[part], chance[part] = self._chunk(some, [each[part] for each in factors])
        return guess, chance

    def _chunk(self, known: dict[int, Codes], evidence: list[Floats]) -> tuple[Codes, Floats]:
        first, last, _ = self._order
        size = len(evidence[0])
        batch = Elimination([Factor((), np.ones(size))], np.zeros(size))
        for column in sorted(self._needed):
            scope = (*self.net.parents[column], column)
            batch.factors.append(restrict(scope, self.net.cpts[column], known))
        for column, likelihood in zip(self._wanted, evidence, strict=True):
            batch.factors.append(Factor((column,), likelihood))
        for column in first:
            batch.sum_out(column)
        every = Elimination(list(batch.factors), batch.log_scale)
        for column in last:
            every.sum_out(column)
        traces = [(column, *batch.max_out(column)) for column in last]
        chosen: dict[int, Codes] = {}
        for column, scope, best in reversed(traces):
            chosen[column] = best[(np.arange(size), *(chosen[each] for each in scope))]
        top, total = batch.joint(()), every.joint(())
        # A record that is impossible under the prior has no posterior: its guess scores 0.
        ratio = top / np.where(total > 0, total, 1.0)
        chance = ratio * np.exp(batch.log_scale - every.log_scale)
        return np.column_stack([chosen[v] for v in self._wanted]), np.minimum(chance, 1.0)
