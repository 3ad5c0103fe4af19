"""How far relaxed records are from released marginals, and the gradient.

Known columns are fixed; hidden column c of record i is a distribution P[c][i] over its values. The
marginal of known columns K and hidden columns U then has, in the cell of known values κ and hidden
values u, the mass Σ_i 1[x_iK = κ] Π_{c∈U} P[c][i, u_c], and the loss is the squared error to the
released answers, summed over all cells. Worlds (several releases over the same known columns) are
a leading batch axis throughout. d is the number of columns, d′ of them hidden, V_c a column's size.

`KernelFit` never visits a cell. Two records agree on some number of known columns, and so
share C(agreements, k − |U|) known parts of every hidden part U. Hence the squared mass is
    Σ_ij Σ_h C(agreements_ij, k − h) e_h(⟨P[1]_i, P[1]_j⟩, ..., ⟨P[d′]_i, P[d′]_j⟩),
with e_h the elementary symmetric polynomial, and the rest is linear in statistics gathered once.

- `KernelFit`: O(n² Σ_c V_c + n Σ_U Π_{c∈U} V_c) a step, memory n² d′. For one hidden column it is
  one n × n matrix, which `descent.GramPaths` takes for many tables at once.
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

from reconbench.attacks.marginals.release_parts import ReleaseParts, shared_parts
from reconbench.datasets import Table
from reconbench.mechanisms import MarginalsRelease

Codes = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

KERNEL_LIMIT = 1 << 25


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
    """Build the cheapest form for the size of the game; short tables of one column need none."""
    small = len(releases) * len(targets) * len(known) ** 2 <= KERNEL_LIMIT
    return (KernelFit if small and len(targets) > 1 else CellFit).of(releases, known, targets)


@dataclass(frozen=True)
class KernelFit:
    """Any number of hidden columns, through kernels between records."""

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
            (parts.target_indices(hidden), torch.from_numpy(parts.gathered(hidden)))
            for h in widths
            for hidden in combinations(sorted(parts.order), h)
            if parts.k - h <= len(known.domain)
        )
        return cls(shared, statistics, torch.from_numpy(parts.sums_of_squares()))

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
                groups.append(_Group(parts.target_indices(hidden), incidence, answers))
        inside = np.sum([(group.answers**2).sum(axis=(1, 2)) for group in groups], axis=0)
        return cls(tuple(groups), torch.from_numpy(parts.sums_of_squares() - inside))

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
