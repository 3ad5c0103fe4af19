"""One hidden column of a table that is not too long: everything goes through one matrix of rows."""

from __future__ import annotations

from math import inf
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from reconbench.attacks.base import AttackerView, log_chances
from reconbench.attacks.posterior.chains import STEP, choose_step, find_partners
from reconbench.attacks.posterior.evidence import Evidence, list_values
from reconbench.attacks.posterior.gibbs import gram_round
from reconbench.attacks.posterior.posteriors import (
    BATCHES,
    ColumnPosteriors,
    Posteriors,
    number_groups,
)

Codes = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]


class GramModel:
    """The Gram matrix of the rows and a statistic gathered once; O(n V) a sweep, and O(rows) more
    for every record that changes.

    A row are the records that count in the same known cells, however their priors may differ.
    """

    most_replicas = 256
    frozen: ClassVar[float] = inf
    patience: ClassVar[int] = 1

    def __init__(
        self, view: AttackerView, evidence: Evidence, possible: Bools | None = None
    ) -> None:
        """``possible``, (known rows, values), says which are; all by default."""
        rows, self._row = evidence.find_rows(view.known)
        (part,) = evidence.parts
        self._view = view
        self._gram = evidence.share(rows, part)
        self._gathered = evidence.gather(rows, list_values(view.target_domain.sizes))
        self._prior = view.prior.conditional(view.known, view.targets)
        if possible is not None:
            self._prior = self._prior * possible[number_groups(view.known)]
        self._log_prior = log_chances(self._prior)
        self._partners = find_partners(self._gram[self._row][:, self._row])
        self._constant = evidence.constant
        self.step = choose_step(self._prior) if evidence.is_loose else STEP

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
        counts = np.zeros((len(self._x), size, len(self._gram)))
        replicas = np.arange(len(self._x))[:, None]
        np.add.at(counts, (replicas, self._x, self._row), 1.0)
        self._pulled = np.ascontiguousarray(counts @ self._gram)
        self.forget(0)

    def sweep(self, at: Codes, weights: Floats, rng: np.random.Generator) -> Floats:
        errors = np.empty(at.size)
        needed = 1 if len(weights) == 1 else 3
        gram_round(
            self._gram,
            self._gathered,
            self._row,
            self._log_prior,
            self._x,
            self._pulled,
            at,
            weights,
            rng.permutation(len(self._prior)),
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
