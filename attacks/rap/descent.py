"""Gradient descent on relaxed hidden columns, many tables and many views at once.

Hidden column c of record i is a distribution P[c][i] = softmax(logits), and a view's descent
minimises, by Adam on the logits,

    w ‖Q(P) − answers‖² − a Σ_ic ⟨P_ic, log π_ic⟩ + b Σ_ic ⟨P_ic, log P_ic⟩

with Q the marginals and π_ic the conditional prior of column c (see `Objective`). A view has one or
more *tables*, the real one first and simulated ones after it, and each table is descended from one
or more *starts*: the conditional prior first, then random ones around it. Nothing mixes views,
tables or starts.

The descents themselves are in `paths`, which needs torch:

- `GramPaths`: one hidden column and up to `GRAM_LIMIT` records, many views at once. A batch has at
  most BLOCK numbers, below which torch never splits an operation between threads; a view that is
  larger alone is a batch of its own.
- `FormPaths`: everything else, one view at a time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from reconbench.datasets import Table
from reconbench.mechanisms import MarginalsRelease
from reconbench.missing_package import needed_by

Floats = npt.NDArray[np.float64]

SMALLEST_PRIOR = 1e-9
GRAM_LIMIT = 1_000
BLOCK = 1 << 15


@dataclass(frozen=True)
class Objective:
    """What is minimised: w · (squared error) − a Σ ⟨P, log π⟩ + b Σ ⟨P, log P⟩.

    At a = b the last two are a · KL(P ‖ π).
    """

    error: float = 1.0
    prior: float = 0.0
    entropy: float = 0.0


@dataclass(frozen=True)
class Gram:
    """The squared error of tables of one hidden column: Σ_v P_vᵀ G P_v − 2 ⟨P, B⟩ + constant."""

    matrix: Floats
    gathered: Floats  # (tables, n, V)
    constant: float  # of the real table


@dataclass(frozen=True)
class Problem:
    """A view's tables and where their descents start."""

    known: Table
    targets: tuple[str, ...]
    log_priors: tuple[Floats, ...]  # (n, V) for each hidden column
    starts: tuple[Floats, ...]  # logits, (starts, n, V) for each
    tables: Gram | tuple[MarginalsRelease, ...]


def log_prior(prior: Floats) -> Floats:
    return np.log(np.maximum(prior, SMALLEST_PRIOR))


class Paths(Protocol):
    """The descents of a batch of views."""

    def step(self) -> None: ...

    def relaxed(self) -> list[Floats]:
        """For each hidden column, (views, tables, starts, n, V)."""
        ...

    def losses(self, tables: int | None = None) -> Floats:
        """What is minimised, (views, tables, starts), up to a constant for simulated tables.

        Of the first so many tables only, if a number is given.
        """
        ...

    def keep(self, views: Sequence[int]) -> None:
        """Go on with these views only."""
        ...


def batches(
    problems: Sequence[Problem], objective: Objective, learning_rate: float
) -> Iterator[tuple[list[int], Paths]]:
    """All problems, in order, in batches as large as they may be."""
    with needed_by("descent on marginals", "torch"):
        from reconbench.attacks.rap.paths import FormPaths, GramPaths

    batch: list[int] = []
    size = 0
    for i, problem in enumerate(problems):
        if not isinstance(problem.tables, Gram):
            yield [i], FormPaths(problem, objective, learning_rate)
            continue
        numbers = len(problem.tables.gathered) * problem.starts[0].size
        if batch and size + numbers > BLOCK:
            yield batch, GramPaths([problems[j] for j in batch], objective, learning_rate)
            batch, size = [], 0
        batch.append(i)
        size += numbers
    if batch:
        yield batch, GramPaths([problems[j] for j in batch], objective, learning_rate)


def has_gram_form(n: int, columns: int) -> bool:
    return columns == 1 and n <= GRAM_LIMIT
