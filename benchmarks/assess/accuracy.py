"""What the noise of a release costs: errors of counts and of whole marginals."""

from __future__ import annotations

from dataclasses import dataclass
from math import pi, sqrt

import numpy as np

from reconbench.datasets import Table
from reconbench.mechanisms import MarginalsRelease
from reconbench.mechanisms.marginals import marginal_counts


@dataclass(frozen=True)
class Accuracy:
    """Expected errors of marginals released with Gaussian noise of sd ``noise_sd`` on each count.

    ``cell_error`` is E|noise| = sd √(2/π); ``relative`` compares it with ``typical_cell``, the
    median count of the cells that are not empty. ``distance`` is the expected total variation
    ½ Σ |error| / n of a marginal as released, mean over marginals: it may exceed 1. ``cleaned`` is
    what is left of it once negative counts are set to 0 and the rest is scaled to the total n:
    measured on the releases at hand.
    """

    noise_sd: float
    cell_error: float
    typical_cell: float
    relative: float
    cells: int
    distance: float
    cleaned: float

    @classmethod
    def measure(cls, table: Table, release: MarginalsRelease, cleaned: float) -> Accuracy:
        exact = [marginal_counts(table, columns).ravel() for columns in release.workload]
        counts = np.concatenate(exact)
        typical = float(np.median(counts[counts > 0]))
        error = release.noise_sd * sqrt(2 / pi)
        distance = float(np.mean([marginal.size for marginal in exact])) * error / (2 * len(table))
        return cls(
            noise_sd=release.noise_sd,
            cell_error=error,
            typical_cell=typical,
            relative=error / typical,
            cells=len(counts),
            distance=distance,
            cleaned=cleaned,
        )


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
