"""Exact match: every target column of the record is right."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import prod

import numpy as np

from reconbench.attacks.metrics.base import Bools, Codes, Floats
from reconbench.bounds import TailRuns, WholePriors, majorise_tail
from reconbench.datasets import Domain, Prior, Table, list_likeliest_values

# Whole priors list so many values of a record at most, and so many numbers altogether: for records
# that differ in what is known, and for all.
MAX_VALUES = 1 << 10
MAX_LISTED = 1 << 22
MAX_EXPANDED = 1 << 25
# So many more values of a record are looked at to bound the rest.
DEPTH = 1 << 12


@dataclass(frozen=True)
class ExactMatch:
    """Every target column of the record is right.

    Args:
        None.

    Example:
        >>> import reconbench as rb
        >>> rb.ExactMatch().name
        'exact'
    """

    @property
    def name(self) -> str:
        return "exact"

    def check(self, domain: Domain, targets: Sequence[str]) -> None:
        domain.positions(targets)

    def score(self, truth: Table, guess: Table) -> Bools:
        matches: Bools = (truth.codes == guess.codes).all(axis=1)
        return matches

    def prior_success(self, prior: Prior, known: Table, guess: Table) -> Floats:
        joint = prior.log_evidence(known.join(guess)) - prior.log_evidence(known)
        return np.minimum(np.exp(joint), 1.0)

    def best_guess(
        self, prior: Prior, known: Table, targets: Sequence[str]
    ) -> tuple[Table, Floats]:
        return prior.map(known, targets)

    def decide(self, columns: Sequence[Floats]) -> Codes:
        return np.stack([weights.argmax(axis=-1) for weights in columns], axis=-1)

    def decide_joint(self, domain: Domain, values: Codes, weights: Floats) -> Codes:
        listed, which = np.unique(values, axis=0, return_inverse=True)
        best: Codes = listed[np.bincount(which.reshape(-1), weights).argmax()]
        return best

    def whole_priors(self, prior: Prior, known: Table, targets: Sequence[str]) -> WholePriors:
        """Each target's joint prior: its likeliest values, and runs that majorise the rest.

        The rest is bounded by longer lists and by the priors of subsets of the targets (all
        prefixes, columns and pairs): a record is right on all targets only if it is on a subset.
        """
        n, values = len(known), _count_values(prior, targets)
        rows, which = known.distinct()
        listed = max(1, min(MAX_VALUES, MAX_LISTED // len(rows), MAX_EXPANDED // n))
        if values <= listed:
            return WholePriors(prior.conditional(rows, targets).reshape(len(rows), -1)[which])
        deep = max(listed, min(DEPTH, MAX_LISTED // len(rows)))
        own = list_likeliest_values(prior, rows, targets, deep)
        top = own[:, :listed]
        subsets = [
            list_likeliest_values(prior, rows, subset, deep)
            for subset in _subsets(targets)
            if _count_values(prior, subset) > top.shape[1]
        ]
        runs = majorise_tail(top, [own, *subsets])
        tail = np.maximum(1 - top.sum(axis=1), 0.0)
        return WholePriors(
            top[which], tail[which], tail_runs=TailRuns(runs.values[which], runs.counts[which])
        )


def _subsets(targets: Sequence[str]) -> list[tuple[str, ...]]:
    """Prefixes, single columns and pairs: few, and most of them quick to list."""
    prefixes = [tuple(targets[:count]) for count in range(1, len(targets))]
    few = [*combinations(targets, 1), *combinations(targets, 2)]
    return list(dict.fromkeys(s for s in (*prefixes, *few) if len(s) < len(targets)))


def _count_values(prior: Prior, targets: Sequence[str]) -> int:
    return prod(prior.domain.project(targets).sizes)
