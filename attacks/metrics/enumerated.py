"""Metrics that are given by their score alone."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from math import prod

import numpy as np

from reconbench.attacks.metrics.base import (
    MAX_TARGETS,
    Bools,
    Codes,
    Floats,
    MetricError,
    make_domain,
    multiply_columns,
)
from reconbench.bounds import WholePriors
from reconbench.datasets import Domain, Prior, Table

# Pairs of a truth and a guess are listed: so many joint values of the targets at most.
MAX_VALUES = 1_000
# Whole priors of more joint values are not given to bounds.
MAX_BOUNDED = 64


class EnumeratedMetric(ABC):
    """A metric that scores every pair of joint target values, and derives all else from that.

    A subclass defines ``name`` and ``score``, and may refuse more columns in ``check``. A metric
    with a parameter, as in ``near:2``, also has a class method ``parse(parameter)``.
    """

    @property
    @abstractmethod
    def name(self) -> str: ...

    @abstractmethod
    def score(self, truth: Table, guess: Table) -> Bools: ...

    def check(self, domain: Domain, targets: Sequence[str]) -> None:
        domain.positions(targets)
        values = prod(domain.project(targets).sizes)
        if values > MAX_VALUES:
            raise MetricError(
                f"metric {self.name} takes targets of up to {MAX_VALUES:,} joint values, "
                f"{', '.join(targets)} have {values:,}; choose fewer or coarser columns"
            )

    def prior_success(self, prior: Prior, known: Table, guess: Table) -> Floats:
        expected = self._expected(prior, known, guess.domain)
        flat = np.ravel_multi_index(tuple(guess.codes.T), guess.domain.sizes)
        return np.asarray(expected[np.arange(len(guess)), flat])

    def best_guess(
        self, prior: Prior, known: Table, targets: Sequence[str]
    ) -> tuple[Table, Floats]:
        domain = prior.domain.project(targets)
        expected = self._expected(prior, known, domain)
        guess = np.stack(np.unravel_index(expected.argmax(axis=1), domain.sizes), axis=1)
        return Table(domain, guess), expected.max(axis=1)

    def decide(self, columns: Sequence[Floats]) -> Codes:
        sizes = [weights.shape[-1] for weights in columns]
        domain, joint = make_domain(sizes), multiply_columns(columns)
        best = (joint @ self._successes(domain)).argmax(axis=-1)
        return np.stack(np.unravel_index(best, sizes), axis=-1)

    def decide_joint(self, domain: Domain, values: Codes, weights: Floats) -> Codes:
        flat = np.ravel_multi_index(tuple(values.T), domain.sizes)
        best = (weights @ self._successes(domain)[flat]).argmax()
        return np.array(np.unravel_index(best, domain.sizes), dtype=np.int64)

    def whole_priors(
        self, prior: Prior, known: Table, targets: Sequence[str]
    ) -> WholePriors | None:
        """None where there are too many: bounds solve a program of m² variables for each prior."""
        domain = prior.domain.project(targets)
        if len(known) > MAX_TARGETS or prod(domain.sizes) > MAX_BOUNDED:
            return None
        priors = prior.conditional(known, targets).reshape(len(known), -1)
        return WholePriors(priors, success=self._successes(domain).T > 0)

    def _expected(self, prior: Prior, known: Table, domain: Domain) -> Floats:
        """P[success] of every record and joint guess."""
        chances = prior.conditional(known, domain.names).reshape(len(known), -1)
        return np.minimum(chances @ self._successes(domain), 1.0)

    def _successes(self, domain: Domain) -> Floats:
        """1 where a guess (across) succeeds on a truth (down), for all joint values."""
        values = np.indices(domain.sizes).reshape(len(domain), -1).T
        count = len(values)
        truth = Table(domain, np.repeat(values, count, axis=0))
        guess = Table(domain, np.tile(values, (count, 1)))
        return np.asarray(self.score(truth, guess), dtype=np.float64).reshape(count, count)
