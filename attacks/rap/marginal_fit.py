"""How far relaxed records are from released marginals, and the gradient.

Known columns are fixed; hidden column c of record i is a distribution P[c][i] over its values. The
marginal of known columns K and hidden columns U then has, in the cell of known values κ and hidden
values u, the mass Σ_i 1[x_iK = κ] Π_{c∈U} P[c][i, u_c], and the loss is the squared error to the
released answers, summed over all cells. Worlds (several releases over the same known columns) are
a leading batch axis throughout. d is the number of columns, d′ of them hidden, V_c a column's size.

The first two forms never visit a cell. Two records agree on some number of known columns, and so
share C(agreements, k − |U|) known parts of every hidden part U. Hence the squared mass is
    Σ_ij Σ_h C(agreements_ij, k − h) e_h(⟨P[1]_i, P[1]_j⟩, ..., ⟨P[d′]_i, P[d′]_j⟩),
with e_h the elementary symmetric polynomial, and the rest is linear in statistics gathered once.

- `GramFit`, one hidden column: one n × n matrix, O(n² V) a step.
- `KernelFit`, several: O(n² Σ_c V_c + n Σ_U Π_{c∈U} V_c) a step, memory n² d′.
- `CellFit`, tables too long for n²: keeps the cells and a sparse incidence of records and known
  cells; O(n Σ_U C(d − d′, k − |U|) Π_{c∈U} V_c) a step, memory that of the released cells plus
  n C(d − d′, k − 1).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import combinations
from math import prod
from typing import Protocol

import numpy as np
import numpy.typing as npt
import torch
from scipy.sparse import csr_array
from scipy.special import comb

from reconbench.datasets import Table
from reconbench.mechanisms import MarginalsRelease

Codes = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

DTYPE = torch.float64
GRAM_LIMIT = 1_000
KERNEL_LIMIT = 1 << 25
GATHERED_TOGETHER = 1 << 18


class MarginalFit(Protocol):
    """The loss of relaxed hidden columns, each of shape (worlds, n, V), and its gradient."""

    def loss_and_gradient(
        self, columns: Sequence[torch.Tensor]
    ) -> tuple[torch.Tensor, list[torch.Tensor]]:
        """The loss of every world, and its derivative by every column."""
        ...


def marginal_fit(
    releases: Sequence[MarginalsRelease], known: Table, targets: Sequence[str]
) -> MarginalFit:
    """The cheapest form for the size of the game."""
    n = len(known)
    if len(targets) == 1:
        return (GramFit if n <= GRAM_LIMIT else CellFit).of(releases, known, targets)
    small = len(releases) * len(targets) * n * n <= KERNEL_LIMIT
    return (KernelFit if small else CellFit).of(releases, known, targets)


@dataclass(frozen=True)
class GramFit:
    """One hidden column: loss = Σ_v P_vᵀ G P_v − 2 ⟨P, B⟩ + Σ answers².

    G_ij = C(agreements_ij, k − 1) and B_iv = Σ_K answer_K[x_iK, v].
    """

    gram: torch.Tensor
    gathered: torch.Tensor
    constant: torch.Tensor

    @classmethod
    def of(
        cls, releases: Sequence[MarginalsRelease], known: Table, targets: Sequence[str]
    ) -> GramFit:
        parts = ReleaseParts(releases, known, targets)
        (hidden,) = parts.order
        return cls(
            torch.from_numpy(shared_parts(known, parts.k - 1)),
            torch.from_numpy(parts.gathered((hidden,))),
            parts.sums_of_squares(),
        )

    def loss_and_gradient(
        self, columns: Sequence[torch.Tensor]
    ) -> tuple[torch.Tensor, list[torch.Tensor]]:
        (relaxed,) = columns
        worlds, n, size = relaxed.shape
        flat = relaxed.permute(1, 0, 2).reshape(n, worlds * size)
        pulled = (self.gram @ flat).reshape(n, worlds, size).permute(1, 0, 2)
        loss = (relaxed * (pulled - 2 * self.gathered)).sum(dim=(1, 2)) + self.constant
        return loss, [2 * (pulled - self.gathered)]


@dataclass(frozen=True)
class KernelFit:
    """Several hidden columns, through kernels between records."""

    shared: tuple[torch.Tensor, ...]
    statistics: tuple[tuple[tuple[int, ...], torch.Tensor], ...]
    constant: torch.Tensor

    @classmethod
    def of(
        cls, releases: Sequence[MarginalsRelease], known: Table, targets: Sequence[str]
    ) -> KernelFit:
        parts = ReleaseParts(releases, known, targets)
        widths = range(1, min(parts.k, len(targets)) + 1)
        shared = tuple(torch.from_numpy(shared_parts(known, parts.k - h)) for h in widths)
        statistics = tuple(
            (parts.places(hidden), torch.from_numpy(parts.gathered(hidden)))
            for h in widths
            for hidden in combinations(sorted(parts.order), h)
            if parts.k - h <= len(known.domain)
        )
        return cls(shared, statistics, parts.sums_of_squares())

    def loss_and_gradient(
        self, columns: Sequence[torch.Tensor]
    ) -> tuple[torch.Tensor, list[torch.Tensor]]:
        kernels = [column @ column.mT for column in columns]
        # e[h]: elementary symmetric polynomials of the kernels, built up column by column
        e = [torch.ones_like(kernels[0])] + [torch.zeros_like(kernels[0]) for _ in self.shared]
        for kernel in kernels:
            for h in range(len(e) - 1, 0, -1):
                e[h] = e[h] + kernel * e[h - 1]
        square = sum(weight * power for weight, power in zip(self.shared, e[1:], strict=True))
        loss = torch.as_tensor(square).sum(dim=(1, 2)) + self.constant
        gradients = []
        for column, kernel in zip(columns, kernels, strict=True):
            # the same without this column: e_h^(−c) = e_h − K_c e_{h−1}^(−c)
            without = e[0]
            slope = self.shared[0] * without
            for weight, power in zip(self.shared[1:], e[1:], strict=False):
                without = power - kernel * without
                slope = slope + weight * without
            gradients.append(2 * slope @ column)
        for hidden, statistic in self.statistics:
            parts = [columns[c] for c in hidden]
            for c, part, pulled in zip(hidden, parts, _contractions(statistic, parts), strict=True):
                gradients[c] -= 2 * pulled
                if c == hidden[0]:
                    loss -= 2 * (part * pulled).sum(dim=(1, 2))
        return loss, gradients


@dataclass(frozen=True)
class _Group:
    """All marginals with one hidden part: answers over (known cells) × (values of the part)."""

    hidden: tuple[int, ...]
    incidence: csr_array
    answers: Floats


@dataclass(frozen=True)
class CellFit:
    """Any number of hidden columns and records: residuals in the cells that records fall into.

    Cells that no record's known values reach have mass 0 whatever the hidden columns are; they
    add a constant to the loss.
    """

    groups: tuple[_Group, ...]
    constant: torch.Tensor

    @classmethod
    def of(
        cls, releases: Sequence[MarginalsRelease], known: Table, targets: Sequence[str]
    ) -> CellFit:
        parts = ReleaseParts(releases, known, targets)
        groups = []
        for width in range(1, min(parts.k, len(targets)) + 1):
            if parts.k - width > len(known.domain):
                continue
            incidence, reached = parts.incidence(parts.k - width)
            for hidden in combinations(sorted(parts.order), width):
                answers = parts.answers(hidden)[:, reached]
                groups.append(_Group(parts.places(hidden), incidence, answers))
        inside = np.sum([(group.answers**2).sum(axis=(1, 2)) for group in groups], axis=0)
        return cls(tuple(groups), parts.sums_of_squares() - torch.from_numpy(inside))

    def loss_and_gradient(
        self, columns: Sequence[torch.Tensor]
    ) -> tuple[torch.Tensor, list[torch.Tensor]]:
        loss = self.constant.clone()
        gradients = [torch.zeros_like(column) for column in columns]
        for group in self.groups:
            for world in range(len(loss)):
                parts = [columns[c][world] for c in group.hidden]
                residual = group.incidence @ _outer(parts).numpy() - group.answers[world]
                loss[world] += float((residual**2).sum())
                slope = torch.from_numpy(2 * (group.incidence.T @ residual))
                for c, pulled in zip(group.hidden, _contractions(slope, parts), strict=True):
                    gradients[c][world] += pulled
        return loss, gradients


def _outer(parts: Sequence[torch.Tensor]) -> torch.Tensor:
    """Outer product of the last axes: (..., V1), (..., V2), ... → (..., V1·V2·...)."""
    return reduce(lambda a, b: (a[..., :, None] * b[..., None, :]).flatten(-2), parts)


def _contractions(whole: torch.Tensor, parts: Sequence[torch.Tensor]) -> Iterable[torch.Tensor]:
    """``whole``, laid out like the outer product, summed against all parts but one, for each.

    ``whole`` may have one row for all records; then matrix products avoid one row a record.
    """
    sizes = [part.shape[-1] for part in parts]
    if len(parts) == 3 and whole.shape[-2] == 1:
        # two of the three share the product with the first part
        a, b, c = parts
        table = whole.squeeze(-2).reshape(*whole.shape[:-2], sizes[0], -1)
        half = (a @ table).reshape(*a.shape[:-1], sizes[1], sizes[2])
        yield _outer([b, c]) @ table.mT
        yield (half @ c[..., None]).squeeze(-1)
        yield (b[..., None, :] @ half).squeeze(-2)
        return
    for position, part in enumerate(parts):
        before, after = parts[:position], parts[position + 1 :]
        rows = whole.reshape(*whole.shape[:-1], prod(sizes[:position]), part.shape[-1], -1)
        if not before and not after:
            yield rows.reshape(*whole.shape[:-1], part.shape[-1])
        elif whole.shape[-2] == 1:
            # (others) × V, once, times the records' weights on the others
            table = rows.squeeze(-4).movedim(-2, -1).flatten(-3, -2)
            yield _outer([*before, *after]) @ table
        else:
            others = rows.movedim(-2, -1).flatten(-3, -2)
            yield (_outer([*before, *after])[..., None, :] @ others).squeeze(-2)


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
        releases = [each.touching(targets) for each in releases]
        self._releases = releases
        domain = releases[0].domain
        self._sizes = domain.sizes
        self.k = releases[0].k
        self.order = domain.positions(targets)
        self._visible = [i for i in range(len(domain)) if i not in self.order]
        self._index = {columns: i for i, columns in enumerate(releases[0].workload)}
        self._codes = {i: known.column(domain.names[i]) for i in self._visible}
        self._n = len(known)

    def places(self, hidden: Sequence[int]) -> tuple[int, ...]:
        """Hidden positions of the domain as positions among the targets."""
        return tuple(self.order.index(i) for i in hidden)

    def sums_of_squares(self) -> torch.Tensor:
        totals = [sum(float((a**2).sum()) for a in each.answers) for each in self._releases]
        return torch.tensor(totals, dtype=DTYPE)

    def gathered(self, hidden: tuple[int, ...]) -> Floats:
        """Σ over known parts of the answers in each record's own cell: (worlds, n or 1, values)."""
        width = prod(self._sizes[i] for i in hidden)
        parts = list(combinations(self._visible, self.k - len(hidden)))
        total = np.zeros((len(self._releases), self._n if parts != [()] else 1, width))
        together = max(1, GATHERED_TOGETHER // total.size)
        for first in range(0, len(parts), together):
            some = [self._index[tuple(sorted(p + hidden))] for p in parts[first : first + together]]
            answers = [[each.answers[i].ravel() for i in some] for each in self._releases]
            flat = np.stack([np.concatenate(each) for each in answers])
            total += flat[:, self._places_of(some, hidden)].sum(axis=1)
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
        worlds = [each.answers[index].transpose(axes).reshape(cells, -1) for each in self._releases]
        return np.stack(worlds)

    def _cells(self, part: tuple[int, ...]) -> Codes:
        """The known cell of every record; one cell for all when nothing known is in the part."""
        if not part:
            return np.zeros(1, dtype=np.int64)
        sizes = [self._sizes[i] for i in part]
        return np.asarray(np.ravel_multi_index([self._codes[i] for i in part], sizes))
