"""The marginals of a synthetic table as if they had been released: `table-linear`.

Annamalai et al. 2024 (A linear reconstruction approach for attribute inference attacks against
synthetic data) solve a linear program on the k-way counts of synthetic tables. So does this: the
counts of every set of k columns that touches a hidden one, scaled to n records, become a release of
marginals, which an attack on marginals gets as it stands. ``table_rap`` does the same for RAP.
"""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

import numpy as np

from reconbench.attacks.base import AttackError, AttackerView, Reconstruction, require_playable
from reconbench.attacks.marginals.linear import Linear
from reconbench.attacks.synthetic.table_access import skip_unless_table
from reconbench.mechanisms import MarginalsRelease
from reconbench.mechanisms.marginals import PublishedMarginals, marginal_counts, workload
from reconbench.mechanisms.synthetic.release import SyntheticRelease

# How large the errors of scaled counts are is not known, only that there are some. Neither the
# linear program without a prior nor the squared error of RAP depends on how large.
SOME_NOISE = 1.0


def check_k(name: str, k: int) -> None:
    if k < 1:
        raise AttackError(f"{name}: k must be at least 1, got {k}")


def skip_unless_counted(name: str, view: AttackerView, k: int) -> str | None:
    """Say why a view has no k-way counts of a synthetic table."""
    columns = len(view.known.domain) + len(view.targets)
    if k > columns:
        return f"{name} counts sets of k = {k} columns, and there are {columns}"
    return skip_unless_table(name, view)


def lay_out(view: AttackerView, release: SyntheticRelease, k: int) -> AttackerView:
    """The view of somebody to whom the table's scaled counts were released as marginals."""
    table = release.table
    sets = workload(table.domain, view.targets, k)
    scale = view.n / len(table)
    answers = tuple(scale * marginal_counts(table, columns) for columns in sets)
    return replace(
        view,
        release=MarginalsRelease(table.domain, sets, answers, SOME_NOISE),
        mechanism=PublishedMarginals(table.domain, view.targets, k, SOME_NOISE),
    )


class TableLinear:
    """`linear` on the k-way counts of the synthetic table, scaled to n records."""

    name: ClassVar[str] = "table-linear"
    reference: ClassVar[str] = "Annamalai et al. 2024"

    def __init__(self, k: int = 3, seconds: float = 300.0) -> None:
        check_k(self.name, k)
        self.k = k
        self._linear = Linear(seconds=seconds)

    def skip(self, view: AttackerView) -> str | None:
        reason = skip_unless_counted(self.name, view, self.k)
        if reason is not None or not isinstance(view.release, SyntheticRelease):
            return reason
        return self._linear.skip(lay_out(view, view.release, self.k))

    def reconstruct(self, view: AttackerView, rng: np.random.Generator) -> Reconstruction:
        release = require_playable(self, view, SyntheticRelease)
        return self._linear.reconstruct(lay_out(view, release, self.k), rng)
