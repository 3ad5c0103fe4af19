"""What a release costs in accuracy: errors of noisy marginals, and of synthetic tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import pi, sqrt
from typing import Self

import numpy as np

from reconbench.benchmarks.assess.exposure import Mean
from reconbench.benchmarks.assess.table_distance import (
    expect_sampling_distance,
    measure_distance,
)
from reconbench.datasets import Table
from reconbench.mechanisms import MarginalsRelease, Release
from reconbench.mechanisms.marginals import marginal_counts
from reconbench.mechanisms.synthetic.release import SyntheticRelease


@dataclass(frozen=True)
class MarginalsAccuracy:
    """Expected errors of marginals released with Gaussian noise of sd ``noise_sd`` on each count.

    ``cell_error`` is E|noise| = sd √(2/π); ``relative`` compares it with ``typical_cell``, the
    median count of the cells that are not empty. ``distance`` is the expected total variation
    ½ Σ |error| / n of a marginal as released, mean over marginals: it may exceed 1. ``cleaned`` is
    what is left of it once negative counts are set to 0 and the rest is scaled to the total n:
    measured on the releases at hand.
    """

    k: int
    marginals: int
    noise_sd: float
    cell_error: float
    typical_cell: float
    relative: float
    cells: int
    distance: float
    cleaned: float

    @classmethod
    def measure(cls, table: Table, release: MarginalsRelease) -> Self:
        exact = [marginal_counts(table, columns).ravel() for columns in release.workload]
        counts = np.concatenate(exact)
        typical = float(np.median(counts[counts > 0]))
        error = release.noise_sd * sqrt(2 / pi)
        distance = float(np.mean([marginal.size for marginal in exact])) * error / (2 * len(table))
        return cls(
            k=release.k,
            marginals=len(release.workload),
            noise_sd=release.noise_sd,
            cell_error=error,
            typical_cell=typical,
            relative=error / typical,
            cells=len(counts),
            distance=distance,
            cleaned=measure_cleaned_distance(table, release),
        )

    @classmethod
    def average(cls, measured: Sequence[Self]) -> Self:
        """Over releases of one table at one budget, which differ in ``cleaned`` alone."""
        return replace(measured[0], cleaned=float(np.mean([one.cleaned for one in measured])))


@dataclass(frozen=True)
class TableAccuracy:
    """How far a synthetic table of ``rows`` is from the real one of ``records``.

    ``one_way`` and ``two_way`` are total variation distances, means over columns and over pairs of
    columns: the share of rows that would have to have another value. ``sampled_one_way`` and
    ``sampled_two_way`` are what they would be for as many rows drawn from the real records: what is
    owed to the number of rows alone.
    """

    rows: int
    records: int
    columns: int
    one_way: Mean
    two_way: Mean
    sampled_one_way: float
    sampled_two_way: float

    @classmethod
    def measure(cls, table: Table, release: SyntheticRelease) -> Self:
        made = release.table
        return cls(
            rows=len(made),
            records=len(table),
            columns=len(table.domain),
            one_way=Mean(measure_distance(table, made, 1), None),
            two_way=Mean(measure_distance(table, made, 2), None),
            sampled_one_way=expect_sampling_distance(table, len(made), 1),
            sampled_two_way=expect_sampling_distance(table, len(made), 2),
        )

    @classmethod
    def average(cls, measured: Sequence[Self]) -> Self:
        """Over releases of one table at one budget."""
        return replace(
            measured[0],
            one_way=Mean.from_values([one.one_way.value for one in measured]),
            two_way=Mean.from_values([one.two_way.value for one in measured]),
        )


Accuracy = MarginalsAccuracy | TableAccuracy


def measure_accuracy(table: Table, release: Release) -> Accuracy | None:
    """The errors of a release of a table; None where nobody has said how to count them."""
    if isinstance(release, MarginalsRelease):
        return MarginalsAccuracy.measure(table, release)
    if isinstance(release, SyntheticRelease):
        return TableAccuracy.measure(table, release)
    return None


def average_accuracy(measured: Sequence[Accuracy | None]) -> Accuracy | None:
    """Over releases of one table by one mechanism at one budget."""
    marginals = [one for one in measured if isinstance(one, MarginalsAccuracy)]
    if marginals:
        return MarginalsAccuracy.average(marginals)
    tables = [one for one in measured if isinstance(one, TableAccuracy)]
    return TableAccuracy.average(tables) if tables else None


def measure_cleaned_distance(table: Table, release: MarginalsRelease) -> float:
    """Measure the mean total variation between exact and released marginals after the clean-up.

    A marginal without a positive count is cleaned to the uniform one.
    """
    distances = []
    for columns, answer in zip(release.workload, release.answers, strict=True):
        kept = np.maximum(answer, 0.0)
        total = kept.sum()
        share = kept / total if total > 0 else np.full(kept.shape, 1 / kept.size)
        distances.append(np.abs(share - marginal_counts(table, columns) / len(table)).sum() / 2)
    return float(np.mean(distances))
