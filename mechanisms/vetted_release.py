"""Marginals of a real table for publication, with the discrete Gaussian noise of OpenDP.

The other mechanisms here exist to be attacked: they draw floating-point noise from seeded
generators, and the low bits of such noise can reveal the exact count (Mironov 2012, "On
significance of the least significant bits for differential privacy"). This module draws no noise
itself. OpenDP does, on integers, from the operating system's random source (Canonne, Kamath and
Steinke 2020, "The discrete Gaussian for differential privacy").

Replace-one neighbours, with the number of records and the domain public. The unit is one record.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from math import inf, isfinite, nextafter, sqrt
from typing import Any

import numpy as np

from reconbench.bounds import ApproxDP, Relation
from reconbench.datasets import Table
from reconbench.mechanisms.base import MechanismError
from reconbench.mechanisms.marginals import (
    MarginalSets,
    MarginalsRelease,
    Workload,
    marginal_counts,
    workload,
)
from reconbench.missing_package import needed_by

# OpenDP takes and returns Python lists.
MOST_CELLS = 10_000_000


@dataclass(frozen=True)
class VettedRelease:
    """Released marginals, with the privacy that OpenDP states for all of them together.

    The release is ``rho``-zCDP and (``budget.epsilon``, ``budget.delta``)-DP for replace-one
    neighbours; ``scale`` is the parameter σ of the discrete Gaussian on every count.
    """

    release: MarginalsRelease
    budget: ApproxDP
    rho: float
    scale: float


def release_vetted_marginals(
    table: Table,
    epsilon: float,
    delta: float,
    *,
    k: int = 3,
    hidden: Sequence[str] = (),
) -> VettedRelease:
    """Release k-way marginals of a table under (ε, δ)-DP, for publication.

    Args:
        table: the records; its domain must be public, not read off the records.
        epsilon: total budget of the release, finite.
        delta: total δ, greater than 0: Gaussian noise has no pure guarantee.
        k: columns in a marginal.
        hidden: release only marginals that hold one of these columns; by default, all.

    Raises:
        MechanismError: if the budget is not allowed, or OpenDP is not installed.
    """
    if not (isfinite(epsilon) and epsilon > 0):
        raise MechanismError(f"epsilon must be a finite number greater than 0, got {epsilon:g}")
    if not 0 < delta < 1:
        raise MechanismError(
            f"delta must be between 0 and 1, both excluded, got {delta:g}; Gaussian noise has no "
            "guarantee with delta = 0"
        )
    if len(table) == 0:
        raise MechanismError("the table has no records")
    which = Workload.TOUCHING if hidden else Workload.ALL
    sets = workload(table.domain, hidden or table.domain.names, k, which)
    counts = [marginal_counts(table, columns) for columns in sets]
    cells = sum(marginal.size for marginal in counts)
    if cells > MOST_CELLS:
        raise MechanismError(
            f"the marginals have {cells:,} cells, more than {MOST_CELLS:,}; lower k or name fewer "
            "columns"
        )
    opendp = _load_opendp()
    sensitivity = bound_sensitivity(sets)
    scale = _find_scale(opendp, sensitivity, epsilon, delta)
    measurement = _make_gaussian(opendp, scale)
    exact = np.concatenate([marginal.ravel() for marginal in counts]).astype(np.int64)
    noisy = np.array(measurement(exact.tolist()), dtype=np.float64)
    ends = np.cumsum([marginal.size for marginal in counts])[:-1]
    answers = tuple(
        part.reshape(marginal.shape)
        for part, marginal in zip(np.split(noisy, ends), counts, strict=True)
    )
    release = MarginalsRelease(table.domain, sets, answers, scale)
    budget = ApproxDP(epsilon, delta, Relation.REPLACE_ONE)
    return VettedRelease(release, budget, float(measurement.map(sensitivity)), scale)


def bound_sensitivity(sets: MarginalSets) -> float:
    """The L2 sensitivity of all marginals together, replace-one, rounded up: √(2T) for T sets.

    Replacing a record moves one count of each marginal down by 1 and one up by 1.
    """
    return nextafter(sqrt(2 * len(sets)), inf)


def _load_opendp() -> Any:
    with needed_by("a release for publication", "opendp", extra="release"):
        opendp = import_module("opendp.prelude")
    opendp.enable_features("contrib")
    return opendp


def _make_gaussian(opendp: Any, scale: float) -> Any:
    """The discrete Gaussian on vectors of integers: ρ = Δ²/(2σ²)-zCDP for L2 sensitivity Δ."""
    space = opendp.vector_domain(opendp.atom_domain(T="i64")), opendp.l2_distance(T="f64")
    return opendp.m.make_gaussian(*space, scale=scale)


def _find_scale(opendp: Any, sensitivity: float, epsilon: float, delta: float) -> float:
    """The smallest σ for which OpenDP's own conversion from zCDP gives (ε, δ)."""

    def make(scale: float) -> Any:
        approximate = opendp.c.make_zCDP_to_approxDP(_make_gaussian(opendp, scale))
        return opendp.c.make_fix_delta(approximate, delta)

    # From ε ≥ ρ and from ε ≤ ρ + 2√(ρ ln(1/δ)), with wide margins.
    most = sensitivity * (2 + 4 * sqrt(np.log(1 / delta))) * max(1 / epsilon, 1 / sqrt(epsilon))
    return float(
        opendp.binary_search_param(
            make, d_in=sensitivity, d_out=(epsilon, delta), T=float, bounds=(0.0, float(most))
        )
    )
