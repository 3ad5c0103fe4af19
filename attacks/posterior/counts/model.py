"""One hidden column of a long table: counts of every value among records that agree otherwise."""

from __future__ import annotations

from math import inf
from typing import ClassVar

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from reconbench.attacks.base import AttackerView, log_chances
from reconbench.attacks.posterior.chains import STEP, find_partners_by_sorting
from reconbench.attacks.posterior.counts.blocks import Block, build_blocks, move_block
from reconbench.attacks.posterior.counts.sweeps import count_sweep, count_trades
from reconbench.attacks.posterior.evidence import Evidence
from reconbench.attacks.posterior.posteriors import BATCHES, CountPosteriors, Posteriors

Codes = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

# Numbers that all replicas may take together.
REPLICA_NUMBERS = 1 << 26
# Trades between rows begin where a single record weighs more log-likelihood than this.
STIFF = 1.0


class CountModel:
    """Sweeps over the distinct known rows: O(rows × sets × V) each, however many records."""

    step: ClassVar[float] = STEP
    frozen: ClassVar[float] = inf
    patience: ClassVar[int] = 1

    def __init__(self, view: AttackerView, evidence: Evidence) -> None:
        self._view = view
        rows, self._group = view.known.distinct()
        self._records = np.bincount(self._group)
        self._prior = view.prior.conditional(rows, view.targets)
        self._log_prior = log_chances(self._prior)
        self._scales, self._total = evidence.scales, evidence.total
        starts, steps = evidence.cells.locate_known(
            evidence.measurements.domain, rows, view.targets
        )
        # Every row is in one cell of every set; cells that no row is in stay as they are.
        reached, first, cells = np.unique(starts, return_index=True, return_inverse=True)
        own = first % len(steps)
        self._cells = np.ascontiguousarray(cells.reshape(starts.shape), dtype=np.int32)
        self._by_cell = self._scales[own]
        values = np.arange(self._prior.shape[1]) * steps[own]
        self._answers = evidence.cells.answers[reached[:, None] + values]
        ends = np.arange(len(rows) + 1) * len(steps)
        entries = np.ones(starts.size), self._cells.ravel(), ends
        self._incidence = csr_array(entries, shape=(len(rows), len(reached))).T.tocsr()
        squares = self._by_cell @ (self._answers**2)
        self._constant = evidence.constant - float(squares.sum())
        self._partners = find_partners_by_sorting(rows)

    @property
    def most_replicas(self) -> int:
        return max(1, REPLICA_NUMBERS // int(self._answers.size + self._prior.size))

    @property
    def cost(self) -> int:
        """A shift costs a dozen looks; those at cells are to neighbours, five at a time."""
        looks = self._prior.size * (12 + self._cells.shape[1] // 5) + self._cells.size
        return int(looks)

    def start(self, chains: int, levels: int, rng: np.random.Generator) -> None:
        self._chains, replicas = chains, chains * levels
        chances = self._prior / self._prior.sum(axis=1, keepdims=True)
        self._counts = rng.multinomial(
            self._records[:, None], chances[:, None], size=(len(chances), replicas)
        )
        flat = self._counts.reshape(len(chances), -1)
        counted = (self._incidence @ flat).reshape(-1, *self._counts.shape[1:])
        self._residual = counted - self._answers[:, None]
        self._means = np.empty(self._counts.shape)
        self._expected = self._records[:, None] * self._prior
        self._weight = 0.0
        self._blocks: list[Block] | None = None
        self._sums = np.zeros((BATCHES, self._chains, *self._prior.shape))
        self.forget(0)

    def sweep(self, at: Codes, weights: Floats, rng: np.random.Generator) -> Floats:
        of_replica = np.empty(at.size)
        of_replica[at] = weights
        fixed = self._prior, self._log_prior, self._cells, self._scales
        state = *fixed, self._counts, self._residual
        count_sweep(*state, of_replica, rng.permutation(len(self._prior)), rng, self._means)
        if weights[-1] * self._total > STIFF:
            count_trades(*state, self._partners, of_replica, rng)
        self._move_blocks(at[:, -1], float(weights[-1]), rng)
        squares = np.einsum("c,crv,crv->r", self._by_cell, self._residual, self._residual)
        return np.asarray(squares + self._constant)

    def _move_blocks(self, replicas: Codes, w: float, rng: np.random.Generator) -> None:
        """At the last level, once its noise stays the same."""
        if w != self._weight:
            self._weight, self._blocks = w, None
            return
        if self._blocks is None:
            self._blocks = build_blocks(self._expected, self._cells, self._scales, w)
        for block in self._blocks:
            for replica in replicas:
                state = self._counts[:, replica], self._residual[:, replica]
                fixed = self._log_prior, self._cells, self._scales
                move_block(*block, *fixed, *state, w, rng)

    def log_priors(self, replicas: Codes) -> Floats:
        """Of the records; those that agree are interchangeable, which is not counted."""
        log_prior = np.where(self._prior > 0, self._log_prior, 0.0)
        return np.asarray(np.einsum("grv,gv->r", self._counts[:, replicas], log_prior))

    def forget(self, sweeps: int) -> None:
        """What was kept so far tells where blocks should be."""
        if self._sums.any():
            shares = self._sums.sum(axis=(0, 1))
            shares /= shares.sum(axis=1, keepdims=True)
            self._expected, self._blocks = self._records[:, None] * shares, None
        self._sums = np.zeros((BATCHES, self._chains, *self._prior.shape))
        self._kept, self._sweeps = 0, max(sweeps, 1)

    def keep(self, replicas: Codes) -> None:
        self._sums[min(self._kept * BATCHES // self._sweeps, BATCHES - 1)] += self._means[
            :, replicas
        ].swapaxes(0, 1)
        self._kept += 1

    def tables(self, replicas: Codes) -> Codes:
        """As counts, (replicas, rows, V)."""
        return self._counts[:, replicas].swapaxes(0, 1)

    def posteriors(self) -> Posteriors:
        return CountPosteriors.of_shares(self._view, self._group, self._sums)
