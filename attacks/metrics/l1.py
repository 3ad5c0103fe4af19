"""Within an L1 error: the guess is close on one ordinal column."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from reconbench.attacks.metrics.base import MAX_TARGETS, Bools, Codes, Floats, MetricError
from reconbench.bounds import WholePriors, within
from reconbench.datasets import Domain, Prior, Table


@dataclass(frozen=True)
class WithinL1:
    """The code of one ordinal column is off by at most ``error`` (Swanberg 2025, section 6.4)."""

    error: int

    def __post_init__(self) -> None:
        if self.error < 0:
            raise MetricError(f"the L1 error must be 0 or more, got {self.error}")

    @classmethod
    def parse(cls, parameter: str) -> Self:
        """``E`` of ``l1:E``, a whole number."""
        if not parameter.isdecimal():
            raise MetricError(
                f"metric l1 needs a whole number after the colon, such as l1:2, got {parameter!r}"
            )
        return cls(int(parameter))

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

    def decide(self, columns: Sequence[Floats]) -> Codes:
        guess: Codes = self._mass_within(columns[0]).argmax(axis=-1)
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
