"""How far relaxed records are from released marginals, and the gradient.

Known columns are fixed; hidden column c of record i is a distribution P[c][i] over its values. The
marginal of known columns K and hidden columns U then has, in the cell of known values κ and hidden
values u, the mass Σ_i 1[x_iK = κ] Π_{c∈U} P[c][i, u_c], and the loss is the squared error to the
released answers, summed over all cells. Worlds (several releases over the same known columns) are
a leading batch axis throughout.

`GramFit`, for one hidden column, never visits a cell: two records meet in exactly
C(agreements, k − 1) marginals, where agreements counts the known columns on which they agree, so
with G_ij = C(agreements_ij, k − 1) and B_iv = Σ_K answer_K[x_iK, v]
    loss = Σ_v P_vᵀ G P_v − 2 ⟨P, B⟩ + Σ answers².
Time O(n² V) a step, memory n².

`CellFit`, for any number of hidden columns and for tables too long for n², keeps the cells and a
sparse incidence of records and known cells. Time O(n Σ_U C(d − d′, k − |U|) Π_{c∈U} V_c) a step,
memory that of the released cells plus n C(d − d′, k − 1).
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
from scipy.special import comb

from reconbench.datasets import Table
from reconbench.mechanisms import MarginalsRelease

Codes = npt.NDArray[np.int64]

DTYPE = torch.float64
GRAM_LIMIT = 3_000


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
    """The cheaper of the two forms."""
    if len(targets) == 1 and len(known) <= GRAM_LIMIT:
        return GramFit.of(releases, known, targets[0])
    return CellFit.of(releases, known, targets)


@dataclass(frozen=True)
class GramFit:
    gram: torch.Tensor
    gathered: torch.Tensor
    constant: torch.Tensor

    @classmethod
    def of(cls, releases: Sequence[MarginalsRelease], known: Table, target: str) -> GramFit:
        release = releases[0]
        hidden = release.domain.position(target)
        codes = _codes(release, known)
        agreements = np.zeros((len(known), len(known)), dtype=np.int64)
        for name in known.domain.names:
            column = known.column(name)
            agreements += column[:, None] == column[None, :]
        gram = comb(np.arange(len(known.domain) + 1), release.k - 1)[agreements]
        gathered = np.zeros((len(releases), len(known), release.domain.sizes[hidden]))
        for index, columns in enumerate(release.workload):
            rest = tuple(codes[:, i] for i in columns if i != hidden)
            axis = columns.index(hidden)
            for world, each in enumerate(releases):
                gathered[world] += np.moveaxis(each.answers[index], axis, -1)[rest]
        return cls(
            torch.from_numpy(gram).to(DTYPE),
            torch.from_numpy(gathered).to(DTYPE),
            _sums_of_squares(releases),
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
class _Group:
    """All marginals with the hidden part U: their answers over (known cells) × (values of U)."""

    hidden: tuple[int, ...]
    incidence: torch.Tensor
    transposed: torch.Tensor
    answers: torch.Tensor


@dataclass(frozen=True)
class CellFit:
    groups: tuple[_Group, ...]

    @classmethod
    def of(
        cls, releases: Sequence[MarginalsRelease], known: Table, targets: Sequence[str]
    ) -> CellFit:
        release = releases[0]
        sizes = release.domain.sizes
        codes = _codes(release, known)
        order = release.domain.positions(targets)
        visible = [i for i in range(len(sizes)) if i not in order]
        index = {columns: i for i, columns in enumerate(release.workload)}
        groups = []
        for width in range(1, min(release.k, len(order)) + 1):
            parts = list(combinations(visible, release.k - width))
            if not parts:
                continue
            incidence = _incidence(codes, parts, sizes)
            transposed = incidence.t().to_sparse_csr()
            for hidden in combinations(sorted(order), width):
                blocks = [
                    _answers(releases, index[tuple(sorted(part + hidden))], part, hidden)
                    for part in parts
                ]
                answers = torch.from_numpy(np.concatenate(blocks, axis=1)).to(DTYPE)
                where = tuple(order.index(i) for i in hidden)
                groups.append(_Group(where, incidence, transposed, answers))
        return cls(tuple(groups))

    def loss_and_gradient(
        self, columns: Sequence[torch.Tensor]
    ) -> tuple[torch.Tensor, list[torch.Tensor]]:
        worlds = columns[0].shape[0]
        loss = torch.zeros(worlds, dtype=DTYPE)
        gradients = [torch.zeros_like(column) for column in columns]
        for group in self.groups:
            chosen = [columns[c] for c in group.hidden]
            for world in range(worlds):
                parts = [column[world] for column in chosen]
                joint = _outer(parts)
                residual = group.incidence @ joint - group.answers[world]
                loss[world] += (residual**2).sum()
                slope = 2 * (group.transposed @ residual)
                for c, pulled in zip(group.hidden, _unouter(slope, parts), strict=True):
                    gradients[c][world] += pulled
        return loss, gradients


def _outer(parts: Sequence[torch.Tensor]) -> torch.Tensor:
    """Row-wise outer product: (n, V1), (n, V2), ... → (n, V1·V2·...)."""
    return reduce(lambda a, b: (a[:, :, None] * b[:, None, :]).flatten(1), parts)


def _unouter(slope: torch.Tensor, parts: Sequence[torch.Tensor]) -> Iterable[torch.Tensor]:
    """The derivative by each part of an outer product, given the derivative by the whole."""
    for position, part in enumerate(parts):
        before, after = parts[:position], parts[position + 1 :]
        left = prod(x.shape[1] for x in before)
        pulled = slope.reshape(len(part), left, part.shape[1], -1)
        if after:
            pulled = torch.einsum("nlvr,nr->nlv", pulled, _outer(after))[..., None]
        if before:
            pulled = torch.einsum("nlvr,nl->nvr", pulled, _outer(before))[:, None]
        yield pulled.reshape(len(part), part.shape[1])


def _codes(release: MarginalsRelease, known: Table) -> Codes:
    """Known codes in the columns of the release; hidden columns stay 0 and are never read."""
    codes = np.zeros((len(known), len(release.domain)), dtype=np.int64)
    for name in known.domain.names:
        codes[:, release.domain.position(name)] = known.column(name)
    return codes


def _incidence(
    codes: Codes,
    parts: Sequence[tuple[int, ...]],
    sizes: Sequence[int],
) -> torch.Tensor:
    """Which record falls into which known cell, over all known parts: a sparse 0/1 matrix."""
    n = len(codes)
    rows, offset = [], 0
    for part in parts:
        spread = [sizes[i] for i in part]
        cell = np.ravel_multi_index([codes[:, i] for i in part], spread) if part else np.zeros(n)
        rows.append(cell.astype(np.int64) + offset)
        offset += prod(spread)
    where = np.stack([np.concatenate(rows), np.tile(np.arange(n), len(parts))])
    ones = torch.ones(where.shape[1], dtype=DTYPE)
    return torch.sparse_coo_tensor(torch.from_numpy(where), ones, (offset, n)).to_sparse_csr()


def _answers(
    releases: Sequence[MarginalsRelease], index: int, part: tuple[int, ...], hidden: tuple[int, ...]
) -> npt.NDArray[np.float64]:
    """One marginal of every world as (worlds, known cells, hidden cells)."""
    columns = releases[0].workload[index]
    axes = [columns.index(i) for i in (*part, *hidden)]
    spread = prod(releases[0].domain.sizes[i] for i in part)
    return np.stack([each.answers[index].transpose(axes).reshape(spread, -1) for each in releases])


def _sums_of_squares(releases: Sequence[MarginalsRelease]) -> torch.Tensor:
    totals = [sum(float((answer**2).sum()) for answer in each.answers) for each in releases]
    return torch.tensor(totals, dtype=DTYPE)
