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
  one n × n matrix, which `descent.GramPaths` takes for many tables at once. `hidden_products` has
  the linear part.
- `CellFit`, tables too long for n²: keeps the cells and a sparse incidence of records and known
  cells; O(n Σ_U C(d − d′, k − |U|) Π_{c∈U} V_c) a step, memory that of the released cells plus
  n C(d − d′, k − 1).

A row may stand for several records that are alike, ``counts`` of them; n is then the number of
rows, and gradients are those of one of these records.
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
from reconbench.attacks.rap.hidden_products import HiddenProducts
from reconbench.datasets import Table
from reconbench.mechanisms import MarginalsRelease

Codes = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

KERNEL_LIMIT = 1 << 25


class MarginalFit(Protocol):
    """The loss of relaxed hidden columns, each of shape (worlds, n, V), and its gradient."""

    @property
    def counts(self) -> torch.Tensor:
        """How many records each of the n rows stands for."""
        ...

    def loss_and_gradient(
        self, columns: Sequence[torch.Tensor]
    ) -> tuple[torch.Tensor, list[torch.Tensor]]:
        """The loss of every world, and its derivative by every column."""
        ...


def marginal_fit(
    releases: Sequence[MarginalsRelease],
    known: Table,
    targets: Sequence[str],
    counts: Floats | None = None,
) -> MarginalFit:
    """Build the cheapest form for the size of the game; short tables of one column need none."""
    small = len(releases) * len(targets) * len(known) ** 2 <= KERNEL_LIMIT
    form = KernelFit if small and len(targets) > 1 else CellFit
    return form.of(releases, known, targets, counts)


@dataclass(frozen=True)
class KernelFit:
    """Any number of hidden columns, through kernels between records."""

    shared: tuple[torch.Tensor, ...]
    order: tuple[int, ...]  # of the columns in the products
    products: HiddenProducts
    constant: torch.Tensor
    counts: torch.Tensor

    @classmethod
    def of(
        cls,
        releases: Sequence[MarginalsRelease],
        known: Table,
        targets: Sequence[str],
        counts: Floats | None = None,
    ) -> KernelFit:
        parts = ReleaseParts(releases, known, targets)
        widths = range(1, min(parts.k, len(targets)) + 1)
        shared = tuple(torch.from_numpy(shared_parts(known, parts.k - h)) for h in widths)
        hidden = sorted(parts.order)
        statistics = {
            columns: parts.gathered(tuple(hidden[c] for c in columns))
            for h in widths
            for columns in combinations(range(len(hidden)), h)
            if parts.k - h <= len(known.domain)
        }
        order = parts.target_indices(hidden)
        sizes = [releases[0].domain.sizes[i] for i in hidden]
        return cls(
            shared,
            order,
            HiddenProducts(sizes, statistics),
            torch.from_numpy(parts.sums_of_squares()),
            _count_each(known, counts),
        )

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
        loss = torch.as_tensor(square) @ self.counts @ self.counts + self.constant
        linear, pulled = self.products.contract([columns[c] for c in self.order])
        loss -= 2 * linear @ self.counts
        gradients = []
        for column, kernel in zip(columns, kernels, strict=True):
            # the same without this column: e_h^(−c) = e_h − K_c e_{h−1}^(−c)
            without = e[0]
            slope = self.shared[0] * without
            for weight, power in zip(self.shared[1:], e[1:], strict=False):
                without = power - kernel * without
                slope = slope + weight * without
            gradients.append(2 * slope @ (self.counts[:, None] * column))
        for c, pull in zip(self.order, pulled, strict=True):
            gradients[c] -= 2 * pull
        return loss, gradients


def _count_each(known: Table, counts: Floats | None) -> torch.Tensor:
    return torch.from_numpy(np.ones(len(known)) if counts is None else counts)


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
    counts: torch.Tensor

    @classmethod
    def of(
        cls,
        releases: Sequence[MarginalsRelease],
        known: Table,
        targets: Sequence[str],
        counts: Floats | None = None,
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
        constant = torch.from_numpy(parts.sums_of_squares() - inside)
        return cls(tuple(groups), constant, _count_each(known, counts))

    def loss_and_gradient(
        self, columns: Sequence[torch.Tensor]
    ) -> tuple[torch.Tensor, list[torch.Tensor]]:
        loss = self.constant.clone()
        gradients = [torch.zeros_like(column) for column in columns]
        for group in self.groups:
            for world in range(len(loss)):
                parts = [columns[c][world] for c in group.hidden]
                mass = self.counts[:, None] * _outer(parts)
                residual = group.incidence @ mass.numpy() - group.answers[world]
                loss[world] += float((residual**2).sum())
                slope = torch.from_numpy(2 * (group.incidence.T @ residual))
                for c, pulled in zip(group.hidden, _contractions(slope, parts), strict=True):
                    gradients[c][world] += pulled
        return loss, gradients


def _outer(parts: Sequence[torch.Tensor]) -> torch.Tensor:
    """Outer product of the last axes: (..., V1), (..., V2), ... → (..., V1·V2·...)."""
    return reduce(lambda a, b: (a[..., :, None] * b[..., None, :]).flatten(-2), parts)


def _contractions(whole: torch.Tensor, parts: Sequence[torch.Tensor]) -> Iterable[torch.Tensor]:
    """``whole``, laid out like the outer product, summed against all parts but one, for each."""
    sizes = [part.shape[-1] for part in parts]
    for position, part in enumerate(parts):
        before, after = parts[:position], parts[position + 1 :]
        rows = whole.reshape(*whole.shape[:-1], prod(sizes[:position]), part.shape[-1], -1)
        if not before and not after:
            yield rows.reshape(*whole.shape[:-1], part.shape[-1])
        else:
            others = rows.movedim(-2, -1).flatten(-3, -2)
            yield (_outer([*before, *after])[..., None, :] @ others).squeeze(-2)
