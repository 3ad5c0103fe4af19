"""The contract of a metric: what counts as a success, record by record."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt

from reconbench.bounds import WholePriors
from reconbench.datasets import Domain, Prior, Table

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Codes = npt.NDArray[np.int64]

# Success sets are not given for more targets: bounds solve a linear program for each prior.
MAX_TARGETS = 1_000


class MetricError(ValueError):
    """A metric that does not fit the columns it is asked to score."""


class Metric(Protocol):
    """What counts as reconstructing a record."""

    @property
    def name(self) -> str: ...

    def check(self, domain: Domain, targets: Sequence[str]) -> None:
        """Refuse target columns on which this metric means nothing."""
        ...

    def score(self, truth: Table, guess: Table) -> Bools:
        """Which records were reconstructed."""
        ...

    def prior_success(self, prior: Prior, known: Table, guess: Table) -> Floats:
        """P[the guess succeeds on a fresh record | what is known of it], for every record."""
        ...

    def best_guess(
        self, prior: Prior, known: Table, targets: Sequence[str]
    ) -> tuple[Table, Floats]:
        """The guess z* of largest prior success, and that success, for every record."""
        ...

    def decide(self, columns: Sequence[Floats]) -> Codes:
        """The best guess when each target column has the given (..., V) weights on its own."""
        ...

    def decide_joint(self, domain: Domain, values: Codes, weights: Floats) -> Codes:
        """The best guess for one record, (d,), whose joint values (m, d) have weights (m,).

        ``domain`` is that of the targets. Values may repeat; what is not listed weighs nothing,
        but may still be the best guess.
        """
        ...

    def whole_priors(
        self, prior: Prior, known: Table, targets: Sequence[str]
    ) -> WholePriors | None:
        """Each target's whole prior and what succeeds on it, for bounds; None if not listed."""
        ...
