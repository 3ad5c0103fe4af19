"""Averaging the released cells of each record: the cheap classical baseline.

Take a set K of known columns that a marginal holds beside the hidden one. Record i falls into one
cell of K, with m = m_K(i) records, which the attacker can count; the released counts a_K(v) of that
cell by hidden value, over m, estimate the share of its records that have value v. At m = 1 the
share is record i itself, read through noise of standard deviation s; at large m it is a
frequency, with little noise, that says little about record i. The estimate

    share_i(v) = Σ_K w_K a_K(v)/m_K / Σ_K w_K,     1/w_K = s²/m_K² + τ (m_K − 1)/√m_K,

weighs both: the noise of a share, and how far record i may be from the share of its cell, where
τ = Σ_v q_v (1 − q_v) with q the released frequencies of the whole table. Were the shares of
different K independent, that distance would have variance at most τ (1 − 1/m); they are not, since
large cells overlap, and counting a large cell as one record plus m − 1 others would give τ (m − 1).
The formula lies between, by rule of thumb.
Without noise, parts that pin a record down (m = 1) decide alone; with much, it is the frequency
among similar records.

The share is projected on the simplex and the metric decides. No prior is used. Several hidden
columns are averaged one by one, from the marginals with the fewest other hidden columns (none, if
k − 1 columns are known), which are summed out and multiply the noise variance by their values.
Joint shares, from marginals that hold all hidden columns, would pin records down with fewer known
columns.
"""

from __future__ import annotations

from itertools import combinations
from math import prod
from typing import ClassVar

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from reconbench.attacks.base import (
    AttackerView,
    Reconstruction,
    require_playable,
)
from reconbench.attacks.marginals.release_parts import ReleaseParts, skip_unless_marginals
from reconbench.mechanisms import MarginalsRelease

Floats = npt.NDArray[np.float64]

# Keeps the weight of a record that is alone in its cell finite when there is no noise.
SMALLEST_VARIANCE = 1e-9


class Averaging:
    """The weighted average of each record's cells, over all sets of known columns."""

    name: ClassVar[str] = "averaging"

    def skip(self, view: AttackerView) -> str | None:
        return skip_unless_marginals(self.name, view)

    def reconstruct(self, view: AttackerView, rng: np.random.Generator) -> Reconstruction:
        release = require_playable(self, view, MarginalsRelease)
        columns = [estimate_shares(view, release, name) for name in view.targets]
        scores = prod(column.max(axis=1) for column in columns)
        return view.reconstruction(view.metric.decide(columns), scores)


def estimate_shares(view: AttackerView, release: MarginalsRelease, column: str) -> Floats:
    """Estimate the distribution of every record over the values of one hidden column."""
    parts = ReleaseParts([release], view.known, view.targets)
    width = max(1, parts.k - len(view.known.domain))
    incidence, reached = parts.incidence(parts.k - width)
    records = csr_array(incidence.T)
    m = np.asarray(incidence.sum(axis=1), dtype=np.float64).ravel()
    position, sizes = release.domain.position(column), release.domain.sizes
    estimates = []
    for hidden in combinations(sorted(parts.order), width):
        if position in hidden:
            shape = [sizes[i] for i in hidden]
            answers = parts.answers(hidden)[0][reached].reshape(-1, *shape)
            summed = tuple(axis for axis, i in enumerate(hidden, start=1) if i != position)
            variance = release.noise_sd**2 * prod(shape) / sizes[position]
            estimates.append((answers.sum(axis=summed), variance))
    totals = sum(answers.sum(axis=0) for answers, _ in estimates)[None]
    q = project_on_simplex(totals / (len(estimates) * m.sum()))
    tau = float((q * (1 - q)).sum())
    total, weights = np.zeros((view.n, sizes[position])), np.zeros((view.n, 1))
    for answers, variance in estimates:
        weight = 1 / (variance / m**2 + tau * (m - 1) / np.sqrt(m) + SMALLEST_VARIANCE)
        total += records @ ((weight / m)[:, None] * answers)
        weights += (records @ weight)[:, None]
    return project_on_simplex(total / weights)


def project_on_simplex(points: Floats) -> Floats:
    """Find the nearest point of the simplex to every row (Held, Wolfe and Crowder 1974)."""
    falling = -np.sort(-points, axis=1)
    excess = (falling.cumsum(axis=1) - 1) / np.arange(1, points.shape[1] + 1)
    support = (falling > excess).sum(axis=1)
    threshold = excess[np.arange(len(points)), support - 1]
    return np.asarray(np.maximum(points - threshold[:, None], 0.0))
