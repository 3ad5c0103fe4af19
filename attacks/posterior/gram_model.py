"""One hidden column of a table that is not too long: everything goes through one n × n matrix."""

from __future__ import annotations

from math import inf
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from reconbench.attacks.base import AttackerView, log_chances
from reconbench.attacks.marginals.release_parts import ReleaseParts, shared_parts
from reconbench.attacks.posterior.chains import STEP, find_partners
from reconbench.attacks.posterior.gibbs import gram_round
from reconbench.attacks.posterior.posteriors import (
    BATCHES,
    ColumnPosteriors,
    Posteriors,
    number_groups,
)
from reconbench.mechanisms import MarginalsRelease

Codes = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]


class GramModel:
    """The Gram matrix of the records and a statistic gathered once; O(n V) a sweep, and O(n) more
    for every record that changes."""

    most_replicas = 256
    step: ClassVar[float] = STEP
    frozen: ClassVar[float] = inf

    patience: ClassVar[int] = 1

    def __init__(
        self, view: AttackerView, release: MarginalsRelease, possible: Bools | None = None
    ) -> None:
        """``possible``, (known rows, values), says which are; all by default."""
        parts = ReleaseParts([release], view.known, view.targets)
        self._view = view
        self._gram = shared_parts(view.known, parts.k - 1)
        gathered = parts.gathered(tuple(parts.order))[0]
        self._prior = view.prior.conditional(view.known, view.targets)
        if possible is not None:
            self._prior = self._prior * possible[number_groups(view.known)]
        self._gathered = np.broadcast_to(gathered, self._prior.shape).copy()
        self._log_prior = log_chances(self._prior)
        self._partners = find_partners(self._gram)
        self._constant = float(parts.sums_of_squares()[0])

    @property
    def cost(self) -> int:
        """Of a sweep of one replica, in looks at a number."""
        return 4 * self._prior.size + 8 * self._partners.size

    def start(self, chains: int, levels: int, rng: np.random.Generator) -> None:
        n, size = self._prior.shape
        self._chances = np.empty((chains, n, size))
        total = self._prior.cumsum(axis=1)
        below = total / total[:, -1:] <= rng.random((chains * levels, n, 1))
        self._x: Codes = below.sum(axis=2)
        one_hot = np.eye(size)[self._x]
        self._pulled = np.ascontiguousarray((self._gram @ one_hot).transpose(0, 2, 1))
        self.forget(0)

    def sweep(self, at: Codes, weights: Floats, rng: np.random.Generator) -> Floats:
        errors = np.empty(at.size)
        needed = 1 if len(weights) == 1 else 3
        gram_round(
            self._gram,
            self._gathered,
            self._log_prior,
            self._x,
            self._pulled,
            at,
            weights,
            rng.random((*at.shape, needed, len(self._prior))),
            self._partners,
            self._chances,
            errors,
        )
        return errors + self._constant

    def log_priors(self, replicas: Codes) -> Floats:
        rows = np.arange(len(self._prior))
        return np.asarray(self._log_prior[rows, self._x[replicas]].sum(axis=1))

    def forget(self, sweeps: int) -> None:
        self._sums = np.zeros((BATCHES, *self._chances.shape))
        self._kept, self._sweeps = 0, max(sweeps, 1)

    def keep(self, replicas: Codes) -> None:
        self._sums[min(self._kept * BATCHES // self._sweeps, BATCHES - 1)] += self._chances
        self._kept += 1

    def tables(self, replicas: Codes) -> Codes:
        return self._x[replicas][..., None]

    def posteriors(self) -> Posteriors:
        return ColumnPosteriors.of(self._view, self._sums)
