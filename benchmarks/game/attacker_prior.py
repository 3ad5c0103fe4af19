"""The attacker's prior, where it is not the one that tables are drawn from.

Swanberg 2025, section 7.1. ``same`` is the data's own prior. The others are fitted to records that
are sampled from it with a stream of their own, so that the attacker's prior is one fixed network,
whatever the game:

- ``independent``: the one-way marginals, columns independent;
- ``chow-liu``: a tree;
- ``records:N``: a network fitted to N records only, by the method of the shipped priors.

The ceiling ``misfit-thm35`` allows for the difference, see ``bounds.ceilings.misfit``.
"""

from __future__ import annotations

from itertools import product
from math import prod

import numpy as np
import numpy.typing as npt

from reconbench.attacks import Metric
from reconbench.attacks.metrics import scores_by_record
from reconbench.benchmarks.game.random_streams import make_stream
from reconbench.bounds.ceilings.misfit import SAME as SAME
from reconbench.datasets import Prior, Table

Floats = npt.NDArray[np.float64]

# Records behind `independent` and `chow-liu`: enough that structure, not chance, is the misfit.
RECORDS = 20_000
# Joint values of the targets above which the gap between two priors is not enumerated.
MOST_GUESSES = 1_000

_fitted: dict[tuple[str, str], Prior] = {}


class AttackerPriorError(ValueError):
    """A spec that names no attacker's prior."""


def check_attacker_prior(spec: str) -> None:
    """Refuse a spec that names no attacker's prior."""
    _parse_records(spec)


def get_attacker_prior(prior: Prior, spec: str) -> Prior:
    """Get the prior that the attacker believes; fitted once per process."""
    records = _parse_records(spec)
    if spec == SAME:
        return prior
    key = (prior.sha256(), spec)
    if key not in _fitted:
        _fitted[key] = _fit(prior, spec, records)
    return _fitted[key]


def bound_misfit_success(
    prior: Prior, believed_prior: Prior, metric: Metric, known: Table, targets: tuple[str, ...]
) -> Floats | None:
    """Bound the success of the best guess on every target from the attacker's prior q.

    P_i = min(1, max_z q_i(z) + γ_i) with γ_i = max_z p_i(z) − q_i(z), which is no less than
    max_z p_i(z). None where the targets have too many joint values to enumerate, or a guess is a
    whole list.
    """
    domain = prior.domain.project(targets)
    if prod(domain.sizes) > MOST_GUESSES or not scores_by_record(metric):
        return None
    best, gap = np.zeros(len(known)), np.full(len(known), -np.inf)
    for codes in product(*(range(size) for size in domain.sizes)):
        guess = Table(domain, np.tile(codes, (len(known), 1)))
        believed = metric.prior_success(believed_prior, known, guess)
        gap = np.maximum(gap, metric.prior_success(prior, known, guess) - believed)
        best = np.maximum(best, believed)
    return np.asarray(np.minimum(1.0, best + gap))


def _parse_records(spec: str) -> int:
    """The number of records that a prior is fitted to."""
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
    from reconbench.datasets.network.fit import (
        ChowLiu,
        GreedyMutualInformation,
        Independent,
        StructureSearch,
        fit,
    )

    searches: dict[str, StructureSearch] = {"independent": Independent(), "chow-liu": ChowLiu()}
    rng = make_stream("attacker prior", {"prior": prior.sha256(), "records": records})
    return fit(prior.sample(records, rng), searches.get(spec, GreedyMutualInformation()))
