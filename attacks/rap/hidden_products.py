"""Sums of statistics against products of relaxed columns, over all sets of hidden columns at once.

For every set U of at most k hidden columns there is a statistic B_U over the values of U, and what
is wanted of records with relaxed columns P is
    Σ_U ⟨B_U, ⊗_{c∈U} P_c⟩   and its derivative by every column.
Set by set this takes several small operations for each of hundreds of sets. Here the statistics of
all sets of one size are laid end to end: first those whose first column is 0, as V_0 rows, each
laid out like the sets of one column less that begin after column 0; then those whose first column
is 1; and so on. So the sets after a column are always the end of their layout, and one matrix
product contracts all sets with the same first column.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import numpy.typing as npt
import torch

Floats = npt.NDArray[np.float64]
Statistics = Mapping[tuple[int, ...], Floats]

# Worlds are taken so many at a time that products hold no more numbers than this.
MOST_PRODUCTS = 1 << 23


class HiddenProducts:
    """``statistics``: columns, ascending, to an array (worlds, records or 1, values).

    Sets without a statistic count as zero.
    """

    def __init__(self, sizes: Sequence[int], statistics: Statistics) -> None:
        self._sizes = tuple(sizes)
        self._deepest = max(map(len, statistics))
        # lengths[h][a]: of the layout of sets of h columns that begin at column a or later
        self._lengths = [[1] * (len(sizes) + 1)]
        for _ in range(self._deepest):
            after, lengths = self._lengths[-1], [0]
            for a in reversed(range(len(sizes))):
                lengths.append(lengths[-1] + sizes[a] * after[a + 1])
            self._lengths.append(lengths[::-1])
        *self._levels, top = [
            torch.from_numpy(self._lay_out(h, statistics)) for h in range(1, self._deepest + 1)
        ]
        self._top = [
            (a, first, block.contiguous()) for a, first, block in self._blocks(self._deepest, top)
        ]

    def contract(self, columns: Sequence[torch.Tensor]) -> tuple[torch.Tensor, list[torch.Tensor]]:
        """The sum of every record, (worlds, records), and its derivative by every column."""
        worlds, records, _ = columns[0].shape
        widest = max(self._lengths[self._deepest - 1][0], 1)
        step = max(1, MOST_PRODUCTS // (records * widest))
        if step >= worlds:
            return self._contract(columns, slice(None))
        parts = [
            self._contract(
                [column[start : start + step] for column in columns], slice(start, start + step)
            )
            for start in range(0, worlds, step)
        ]
        totals = torch.cat([total for total, _ in parts])
        slopes = zip(*(slopes for _, slopes in parts), strict=True)
        return totals, [torch.cat(slope) for slope in slopes]

    def _contract(
        self, columns: Sequence[torch.Tensor], worlds: slice
    ) -> tuple[torch.Tensor, list[torch.Tensor]]:
        slopes = [torch.zeros_like(column) for column in columns]
        products = self._multiply(columns)
        blocks = [(a, first, block[worlds]) for a, first, block in self._top]
        for h in range(self._deepest, 1, -1):
            # contracted with their first column, sets of h columns are added to those of h − 1
            rest = self._levels[h - 2][worlds].expand(-1, columns[0].shape[1], -1).clone()
            for a, first, block in blocks:
                others, column = products[h - 1][..., first:], columns[a]
                if block.shape[1] == 1:
                    table = block[:, 0]
                    rest[..., first:] += column @ table
                    slopes[a] += others @ table.mT
                else:
                    rest[..., first:] += (column[..., None, :] @ block).squeeze(-2)
                    slopes[a] += (block @ others[..., None]).squeeze(-1)
            blocks = list(self._blocks(h - 1, rest))
        total = torch.zeros_like(columns[0][..., 0])
        for a, _, block in blocks:
            slope = block[..., 0]
            slopes[a] += slope
            total += (slope * columns[a]).sum(dim=-1)
        return total, slopes

    def _multiply(self, columns: Sequence[torch.Tensor]) -> list[torch.Tensor]:
        """Products of all sets of 1 up to k − 1 columns, each in its layout; of 0 they are 1."""
        products = [torch.ones_like(columns[0][..., :1]), torch.cat(list(columns), dim=-1)]
        for h in range(2, self._deepest):
            lengths = self._lengths[h - 1]
            blocks = [
                column[..., :, None] * products[-1][..., None, lengths[0] - lengths[a + 1] :]
                for a, column in enumerate(columns)
            ]
            products.append(torch.cat([block.flatten(-2) for block in blocks], dim=-1))
        return products

    def _blocks(self, h: int, whole: torch.Tensor) -> Iterator[tuple[int, int, torch.Tensor]]:
        """Each first column with the start of the rest's layout, and (…, V, rest) of its sets."""
        own, after = self._lengths[h], self._lengths[h - 1]
        for a, size in enumerate(self._sizes):
            if own[a] > own[a + 1]:
                block = whole[..., own[0] - own[a] : own[0] - own[a + 1]]
                rows = block.reshape(*block.shape[:-1], size, after[a + 1])
                yield a, after[0] - after[a + 1], rows

    def _lay_out(self, h: int, statistics: Statistics) -> Floats:
        chosen = {columns: table for columns, table in statistics.items() if len(columns) == h}
        leading = next(iter(chosen.values())).shape[:2] if chosen else (1, 1)
        worlds = next(iter(statistics.values())).shape[0]
        level = np.zeros((worlds, leading[1], self._lengths[h][0]))
        for columns, table in chosen.items():
            place, begin = level, 0
            for depth, a in enumerate(columns):
                own = self._lengths[h - depth]
                start, stop = own[begin] - own[a], own[begin] - own[a + 1]
                block = place[..., start:stop]
                place = block.reshape(*block.shape[:-1], self._sizes[a], -1)
                begin = a + 1
            place[..., 0] = table.reshape(*table.shape[:2], *(self._sizes[a] for a in columns))
        return level
