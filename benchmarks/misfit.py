"""Attackers whose prior is not the one that the table is drawn from (Swanberg 2025, section 7.1).

``same`` is the data's own prior. The others are fitted to records that are sampled from it with a
stream of their own, so that the attacker's prior is one fixed network, whatever the game:

- ``independent``: the one-way marginals, columns independent;
- ``chow-liu``: a tree;
- ``records:N``: a network found by the method of the shipped priors from N records only.
"""

from __future__ import annotations

from itertools import product
from math import prod

import numpy as np
import numpy.typing as npt

from reconbench.attacks import Metric
from reconbench.benchmarks.seeds import stream
from reconbench.bounds import CONFIDENCES, Theorem35
from reconbench.datasets import Prior, Table
from reconbench.mechanisms import Mechanism

Floats = npt.NDArray[np.float64]

SAME = "same"
# Records behind `independent` and `chow-liu`: enough that structure, not chance, is the misfit.
RECORDS = 20_000
# Joint values of the targets above which the gap between two priors is not enumerated.
MOST_GUESSES = 1_000

_fitted: dict[tuple[str, str], Prior] = {}


class AttackerPriorError(ValueError):
    """An attacker's prior that cannot be read."""


def check_spec(spec: str) -> None:
    """Refuse what does not name an attacker's prior."""
    _records(spec)


def attacker_prior(prior: Prior, spec: str) -> Prior:
    """The prior of an attacker who does not have the data's; fitted once in a process."""
    records = _records(spec)
    if spec == SAME:
        return prior
    key = (prior.sha256(), spec)
    if key not in _fitted:
        _fitted[key] = _fit(prior, spec, records)
    return _fitted[key]


def corrected(
    prior: Prior, theirs: Prior, metric: Metric, known: Table, targets: tuple[str, ...]
) -> Floats | None:
    """A bound on every target's prior success from the attacker's prior and its largest gap.

    p_i(z) is the success of guess z on a record of the data's prior, q_i(z) on one of the
    attacker's. With γ_i = max over z of p_i(z) − q_i(z), p_i(z) ≤ min(1, max q_i + γ_i). None
    where the targets have too many joint values to go through.
    """
    domain = prior.domain.project(targets)
    if prod(domain.sizes) > MOST_GUESSES:
        return None
    best, gap = np.zeros(len(known)), np.zeros(len(known))
    for codes in product(*(range(size) for size in domain.sizes)):
        guess = Table(domain, np.tile(codes, (len(known), 1)))
        believed = metric.prior_success(theirs, known, guess)
        gap = np.maximum(gap, metric.prior_success(prior, known, guess) - believed)
        best = np.maximum(best, believed)
    return np.minimum(1.0, best + gap)


def corrected_ceilings(priors: Floats, mechanism: Mechanism) -> dict[str, float]:
    """Theorem 3.5 at the corrected prior success: ``misfit_thm35_<confidence>``."""
    bound = Theorem35(priors, mechanism.budget)
    return {f"misfit_thm35_{level:g}": float(bound.ceiling(level)) for level in CONFIDENCES}


def _records(spec: str) -> int:
    """How many records a prior is fitted to."""
    kind, _, number = spec.partition(":")
    if spec in (SAME, "independent", "chow-liu"):
        return RECORDS
    if kind == "records" and number.isdecimal() and int(number) > 0:
        return int(number)
    raise AttackerPriorError(
        f"unknown attacker_prior {spec!r}; use 'same', 'independent', 'chow-liu' or 'records:N' "
        "such as 'records:300'"
    )


def _fit(prior: Prior, spec: str, records: int) -> Prior:
    from reconbench.datasets.fit import (
        ChowLiu,
        GreedyMutualInformation,
        Independent,
        StructureSearch,
        fit,
    )

    searches: dict[str, StructureSearch] = {"independent": Independent(), "chow-liu": ChowLiu()}
    rng = stream("attacker prior", {"prior": prior.sha256(), "records": records})
    return fit(prior.sample(records, rng), searches.get(spec, GreedyMutualInformation()))
