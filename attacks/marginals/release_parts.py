"""Released marginals, taken apart by the hidden and the known columns that they hold."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from math import prod

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array
from scipy.special import comb

from reconbench.attacks.base import AttackerView
from reconbench.datasets import Table
from reconbench.mechanisms import MarginalsRelease

Codes = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

GATHERED_TOGETHER = 1 << 18


def skip_unless_marginals(name: str, view: AttackerView) -> str | None:
    """Say why an attack on all records at once, from marginals, cannot play a view."""
    if view.others is not None:
        return f"{name} plays the realistic adversary only"
    if not isinstance(view.release, MarginalsRelease):
        return f"{name} attacks marginals only"
    return None


def shared_parts(known: Table, size: int) -> Floats:
    """For every two records, how many sets of ``size`` known columns they agree on."""
    agreements = np.zeros((len(known), len(known)), dtype=np.int64)
    for name in known.domain.names:
        column = known.column(name)
        agreements += column[:, None] == column[None, :]
    ways = comb(np.arange(len(known.domain) + 1), size).astype(np.float64)
    return np.asarray(ways[agreements])


class ReleaseParts:
    """A release taken apart by hidden columns; marginals that hold none of them are left out."""

    def __init__(
        self, releases: Sequence[MarginalsRelease], known: Table, targets: Sequence[str]
    ) -> None:
        releases = [release.touching(targets) for release in releases]
        self._releases = releases
        domain = releases[0].domain
        self._sizes = domain.sizes
        self.k = releases[0].k
        self.order = domain.positions(targets)
        self._visible = [i for i in range(len(domain)) if i not in self.order]
        self._index = {columns: i for i, columns in enumerate(releases[0].workload)}
        self._codes = {i: known.column(domain.names[i]) for i in self._visible}
        self._n = len(known)

    def target_indices(self, hidden: Sequence[int]) -> tuple[int, ...]:
        """Hidden positions of the domain as positions among the targets."""
        return tuple(self.order.index(i) for i in hidden)

    def sums_of_squares(self) -> Floats:
        """Return Σ answers² of every release."""
        totals = [sum(float((a**2).sum()) for a in release.answers) for release in self._releases]
        return np.array(totals)

    def gathered(self, hidden: tuple[int, ...]) -> Floats:
        """Σ over known parts of the answers in each record's own cell: (worlds, n or 1, values)."""
        width = prod(self._sizes[i] for i in hidden)
        if len(hidden) == self.k and list(hidden) == sorted(hidden):
            index = self._index[hidden]
            return np.stack([release.answers[index].reshape(1, -1) for release in self._releases])
        parts = list(combinations(self._visible, self.k - len(hidden)))
        total = np.zeros((len(self._releases), self._n if parts != [()] else 1, width))
        together = max(1, GATHERED_TOGETHER // total.size)
        for first in range(0, len(parts), together):
            chosen = [
                self._index[tuple(sorted(p + hidden))] for p in parts[first : first + together]
            ]
            answers = [[release.answers[i].ravel() for i in chosen] for release in self._releases]
            flat = np.stack([np.concatenate(marginals) for marginals in answers])
            total += flat[:, self._places_of(chosen, hidden)].sum(axis=1)
        return total

    def _places_of(self, marginals: Sequence[int], hidden: tuple[int, ...]) -> Codes:
        """Where the records' cells lie in the marginals laid end to end: (marginals, n, values)."""
        workload = self._releases[0].workload
        strides = np.zeros((len(marginals), len(self._sizes)), dtype=np.int64)
        starts = np.zeros(len(marginals), dtype=np.int64)
        end = 0
        for row, marginal in enumerate(marginals):
            starts[row], stride = end, 1
            for i in reversed(workload[marginal]):
                strides[row, i] = stride
                stride *= self._sizes[i]
            end += stride
        values = np.indices([self._sizes[i] for i in hidden]).reshape(len(hidden), -1)
        across = strides[:, list(hidden)] @ values
        if self.k == len(hidden):
            return np.asarray((starts[:, None] + across)[:, None, :])
        codes = np.stack([self._codes[i] for i in self._visible])
        own = starts[:, None] + strides[:, self._visible] @ codes
        return np.asarray(own[:, :, None] + across[:, None, :])

    def answers(self, hidden: tuple[int, ...]) -> Floats:
        """(worlds, all known cells, values), known parts one after the other."""
        parts = combinations(self._visible, self.k - len(hidden))
        return np.concatenate([self._marginal(part, hidden) for part in parts], axis=1)

    def incidence(self, size: int) -> tuple[csr_array, Codes]:
        """Which record falls into which known cell, for the cells that any falls into."""
        rows, offset = [], 0
        for part in combinations(self._visible, size):
            rows.append(np.broadcast_to(self._cells(part), self._n) + offset)
            offset += prod(self._sizes[i] for i in part)
        reached, row = np.unique(np.concatenate(rows), return_inverse=True)
        column = np.tile(np.arange(self._n), len(rows))
        shape = (len(reached), self._n)
        return csr_array((np.ones(len(row)), (row, column)), shape=shape), reached

    def _marginal(self, part: tuple[int, ...], hidden: tuple[int, ...]) -> Floats:
        index = self._index[tuple(sorted(part + hidden))]
        columns = self._releases[0].workload[index]
        axes = [columns.index(i) for i in (*part, *hidden)]
        cells = prod(self._sizes[i] for i in part)
        worlds = [
            release.answers[index].transpose(axes).reshape(cells, -1) for release in self._releases
        ]
        return np.stack(worlds)

    def _cells(self, part: tuple[int, ...]) -> Codes:
        """The known cell of every record; one cell for all when nothing known is in the part."""
        if not part:
            return np.zeros(1, dtype=np.int64)
        sizes = [self._sizes[i] for i in part]
        return np.asarray(np.ravel_multi_index([self._codes[i] for i in part], sizes))
