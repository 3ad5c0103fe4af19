"""What an attacker wants: decomposable success, record by record.

A metric also knows what the prior alone achieves on it: the chance that a given guess succeeds on
a fresh record, and the best guess. Baselines and ceilings are read off these, so they move with
the metric.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Protocol

import numpy as np
import numpy.typing as npt

from reconbench.bounds import WholePriors, within
from reconbench.datasets import Domain, Prior, Table

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

# Joint priors of more numbers are not listed, nor success sets for more targets: bounds from these
# solve a linear program for each prior.
MAX_LISTED = 1 << 22
MAX_TARGETS = 1_000


class MetricError(ValueError):
    """A metric that does not fit the columns it is asked to score."""


class Metric(Protocol):
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

    def decide(self, columns: Sequence[Floats]) -> npt.NDArray[np.int64]:
        """The best guess when each target column has the given (..., V) weights on its own."""
        ...

    def whole_priors(
        self, prior: Prior, known: Table, targets: Sequence[str]
    ) -> WholePriors | None:
        """Each target's whole prior and what succeeds on it, for bounds; None if not listed."""
        ...


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

    def decide(self, columns: Sequence[Floats]) -> npt.NDArray[np.int64]:
        return np.stack([weights.argmax(axis=-1) for weights in columns], axis=-1)

    def whole_priors(self, prior: Prior, known: Table, targets: Sequence[str]) -> WholePriors:
        """Where the joint prior is too long to list, its likeliest value and the rest's mass do."""
        if len(known) * prod(prior.domain.project(targets).sizes) > MAX_LISTED:
            _, likeliest = prior.map(known, targets)
            return WholePriors(likeliest[:, None], 1 - likeliest)
        return WholePriors(prior.conditional(known, targets).reshape(len(known), -1))


@dataclass(frozen=True)
class WithinL1:
    """The code of one ordinal column is off by at most ``error`` (Swanberg 2025, section 6.4)."""

    error: int

    def __post_init__(self) -> None:
        if self.error < 0:
            raise MetricError(f"the L1 error must be 0 or more, got {self.error}")

    @property
    def name(self) -> str:
        return f"l1:{self.error}"

    def check(self, domain: Domain, targets: Sequence[str]) -> None:
        if len(targets) != 1:
            raise MetricError(f"the L1 metric takes one target column, got {len(targets)}")
        if not domain[targets[0]].ordinal:
            ordinal = ", ".join(attribute.name for attribute in domain if attribute.ordinal)
            raise MetricError(
                f"column {targets[0]!r} is not ordinal, so an L1 error means nothing on it; "
                f"ordinal columns: {ordinal or 'none'}"
            )

    def score(self, truth: Table, guess: Table) -> Bools:
        close: Bools = np.abs(truth.codes - guess.codes)[:, 0] <= self.error
        return close

    def prior_success(self, prior: Prior, known: Table, guess: Table) -> Floats:
        mass = self._mass_within(prior.conditional(known, guess.domain.names))
        return mass[np.arange(len(guess)), guess.codes[:, 0]]

    def best_guess(
        self, prior: Prior, known: Table, targets: Sequence[str]
    ) -> tuple[Table, Floats]:
        mass = self._mass_within(prior.conditional(known, targets))
        guess = mass.argmax(axis=1)
        return Table(prior.domain.project(targets), guess[:, None]), mass.max(axis=1)

    def decide(self, columns: Sequence[Floats]) -> npt.NDArray[np.int64]:
        guess: npt.NDArray[np.int64] = self._mass_within(columns[0]).argmax(axis=-1)
        return guess[..., None]

    def whole_priors(
        self, prior: Prior, known: Table, targets: Sequence[str]
    ) -> WholePriors | None:
        if len(known) > MAX_TARGETS:
            return None
        priors = prior.conditional(known, targets)
        return WholePriors(priors, success=within(priors.shape[1], self.error))

    def _mass_within(self, weights: Floats) -> Floats:
        """Mass within the error of every code, along the last axis."""
        size = weights.shape[-1]
        total = np.concatenate([np.zeros((*weights.shape[:-1], 1)), weights.cumsum(-1)], axis=-1)
        codes = np.arange(size)
        high, low = np.minimum(codes + self.error + 1, size), np.maximum(codes - self.error, 0)
        mass: Floats = np.clip(total[..., high] - total[..., low], 0.0, 1.0)
        return mass


def parse_metric(text: str) -> ExactMatch | WithinL1:
    """``exact``, or ``l1:E`` for a whole number E."""
    kind, _, value = text.partition(":")
    if text == "exact":
        return ExactMatch()
    if kind == "l1" and value.isdecimal():
        return WithinL1(int(value))
    raise MetricError(f"unknown metric {text!r}; use 'exact', or 'l1:E' such as 'l1:2'")
