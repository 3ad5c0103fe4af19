"""Metrics by a distance: a guess succeeds if its columns are close enough to the truth in sum.

A distance of records is the sum of whole-number distances of their columns. The mass within a
distance of every guess at once is a recursion over columns, so that the best guess is found among
all joint values without listing pairs of them.
"""

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
    multiply_columns,
)
from reconbench.bounds import WholePriors
from reconbench.datasets import Domain, Prior, Table

# The mass around every joint value is listed for each record: so many values at most.
MAX_VALUES = 1 << 14
# Whole priors of more joint values are not given to bounds: a program of m² variables for each.
MAX_BOUNDED = 64
# Numbers that are held at once.
MAX_HELD = 1 << 22


class WithinDistance(ABC):
    """Σ_j d_j(truth_j, guess_j) ≤ limit, for the distances d_j of a subclass.

    A subclass defines ``name``, how far its guesses may be off (``get_limit``) and the distance of
    one column (``measure``).
    """

    @property
    @abstractmethod
    def name(self) -> str: ...

    @abstractmethod
    def get_limit(self, columns: int) -> int:
        """The largest distance of a success, given the number of target columns."""

    @abstractmethod
    def measure(self, truth: Codes, guess: Codes) -> Codes:
        """The distances of codes of one column, broadcast."""

    def check(self, domain: Domain, targets: Sequence[str]) -> None:
        domain.positions(targets)
        values = prod(domain.project(targets).sizes)
        if len(targets) > 1 and values > MAX_VALUES:
            raise MetricError(
                f"metric {self.name} takes targets of up to {MAX_VALUES:,} joint values, "
                f"{', '.join(targets)} have {values:,}; choose fewer or coarser columns"
            )

    def score(self, truth: Table, guess: Table) -> Bools:
        distance = self.measure(truth.codes, guess.codes).sum(axis=1)
        close: Bools = distance <= self.get_limit(truth.codes.shape[1])
        return close

    def prior_success(self, prior: Prior, known: Table, guess: Table) -> Floats:
        chances = prior.conditional(known, guess.domain.names)
        success = np.empty(len(guess))
        step = max(1, MAX_HELD // prod(chances.shape[1:]))
        for start in range(0, len(guess), step):
            part = slice(start, start + step)
            close = self._find_close(guess.codes[part], chances.shape[1:])
            success[part] = np.where(close, chances[part], 0.0).reshape(len(close), -1).sum(axis=1)
        return np.minimum(success, 1.0)

    def best_guess(
        self, prior: Prior, known: Table, targets: Sequence[str]
    ) -> tuple[Table, Floats]:
        guess, success = self._decide(prior.conditional(known, targets))
        return Table(prior.domain.project(targets), guess), np.minimum(success, 1.0)

    def decide(self, columns: Sequence[Floats]) -> Codes:
        sizes = [weights.shape[-1] for weights in columns]
        joint = multiply_columns(columns)
        return self._decide(joint.reshape(-1, *sizes))[0].reshape(*joint.shape[:-1], len(sizes))

    def decide_joint(self, domain: Domain, values: Codes, weights: Floats) -> Codes:
        joint = np.zeros(domain.sizes)
        np.add.at(joint, tuple(values.T), weights)
        guess: Codes = self._decide(joint[None])[0][0]
        return guess

    def whole_priors(
        self, prior: Prior, known: Table, targets: Sequence[str]
    ) -> WholePriors | None:
        """None where there are too many values: bounds solve a program for each prior."""
        domain = prior.domain.project(targets)
        values = prod(domain.sizes)
        if len(known) > MAX_TARGETS or (len(targets) > 1 and values > MAX_BOUNDED):
            return None
        every = Table.of_all_values(domain).codes
        success = self._find_close(every, domain.sizes).reshape(values, values)
        return WholePriors(prior.conditional(known, targets).reshape(-1, values), success=success)

    def sum_within(self, joint: Floats) -> Floats:
        """The weight within the limit of every joint value, both (n, *sizes)."""
        sizes = joint.shape[1:]
        # Beyond the largest distance there is nothing to add.
        farthest = sum(int(self._distances(size).max()) for size in sizes)
        limit = min(self.get_limit(len(sizes)), farthest)
        step = max(1, MAX_HELD // (prod(sizes) * (limit + 1)))
        parts = [joint[start : start + step] for start in range(0, len(joint), step)]
        return np.concatenate([self._mass_within(part, limit) for part in parts])

    def _decide(self, joint: Floats) -> tuple[Codes, Floats]:
        """The best guess for each record's joint weights, (n, *sizes), and the mass within."""
        mass = self.sum_within(joint).reshape(len(joint), -1)
        best = mass.argmax(axis=1)
        guess = np.stack(np.unravel_index(best, joint.shape[1:]), axis=1)
        return guess, mass[np.arange(len(best)), best]

    def _mass_within(self, joint: Floats, limit: int) -> Floats:
        """Mass within the limit of every joint value, (n, *sizes).

        M_r(z), the mass at distance r of z, starts as the weights at r = 0. Column by column,
            M_r(.., z_j, ..) ← Σ_v M_{r − d(v, z_j)}(.., v, ..).
        """
        masses = np.zeros((limit + 1, *joint.shape))
        masses[0] = joint
        for axis in range(1, joint.ndim):
            distances = self._distances(joint.shape[axis])
            spread = np.zeros_like(masses)
            for distance in range(min(limit, int(distances.max())) + 1):
                near = (distances == distance).astype(np.float64)
                nearer = masses[: limit + 1 - distance]
                moved = np.tensordot(nearer, near, axes=(axis + 1, 0))
                spread[distance:] += np.moveaxis(moved, -1, axis + 1)
            masses = spread
        mass: Floats = masses.sum(axis=0)
        return mass

    def _distances(self, size: int) -> Codes:
        codes = np.arange(size)
        return self.measure(codes[:, None], codes[None, :])

    def _find_close(self, guess: Codes, sizes: Sequence[int]) -> Bools:
        """Which joint values each guess succeeds on, (guesses, *sizes)."""
        total = np.zeros((len(guess), *sizes), dtype=np.int64)
        for axis, size in enumerate(sizes):
            own = self.measure(np.arange(size), guess[:, axis, None])
            shape = [len(guess), *(size if axis == each else 1 for each in range(len(sizes)))]
            total += own.reshape(shape)
        close: Bools = total <= self.get_limit(len(sizes))
        return close
