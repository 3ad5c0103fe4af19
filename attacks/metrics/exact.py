"""Exact match: every target column of the record is right."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from reconbench.attacks.metrics.base import Bools, Codes, Floats
from reconbench.bounds import WholePriors
from reconbench.datasets import Domain, Prior, Table

# Joint priors of more numbers are not listed.
MAX_LISTED = 1 << 22


@dataclass(frozen=True)
class ExactMatch:
    """Every target column of the record is right."""

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

    def whole_priors(self, prior: Prior, known: Table, targets: Sequence[str]) -> WholePriors:
        """Where the joint prior is too long to list, its likeliest value and the rest's mass do."""
        if len(known) * prod(prior.domain.project(targets).sizes) > MAX_LISTED:
            _, likeliest = prior.map(known, targets)
            return WholePriors(likeliest[:, None], 1 - likeliest)
        return WholePriors(prior.conditional(known, targets).reshape(len(known), -1))
