"""Any number of hidden columns and records: the residual of every released cell."""

from __future__ import annotations

from math import inf
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from reconbench.attacks.base import AttackerView, log_chances
from reconbench.attacks.posterior.chains import STEP, find_partners, find_partners_by_sorting
from reconbench.attacks.posterior.evidence import Evidence
from reconbench.attacks.posterior.gibbs import block_sweep, cell_sweep, cell_trades
from reconbench.attacks.posterior.posteriors import (
    BATCHES,
    ColumnPosteriors,
    JointPosteriors,
    Posteriors,
    Watched,
    number_groups,
    sum_by_group,
)
from reconbench.datasets import Table, draw_targets

Codes = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

GRAM_LIMIT = 2_000
REPLICA_CELLS = 1 << 26
# Fresh draws a record and sweep, over all levels; and how many of all are kept at most.
FRESH = 12
KEPT = 1 << 22
# Values of each record that are followed closely.
WATCHED = 12
# Fresh draws are made this many at a time.
STOCK = 1 << 10
# With less log-likelihood than this in all of a record's cells, fresh draws alone mix well.
WEAK = 2.0


class CellModel:
    """Sweeps over the columns of every record, and over all of them at once.

    Columns of the prior that the game leaves out are sampled along with the hidden ones: given all
    other columns, a column's distribution needs no summing out. A sweep costs n Σ_c sets(c) V_c,
    memory is the released cells a replica.
    """

    step: ClassVar[float] = STEP
    frozen: ClassVar[float] = inf
    patience: ClassVar[int] = 1

    def __init__(self, view: AttackerView, evidence: Evidence) -> None:
        self._view = view
        domain = evidence.measurements.domain
        self._played = domain.names
        self._left_out = tuple(name for name in view.prior.domain.names if name not in self._played)
        self._hidden = np.array(domain.positions(view.targets), dtype=np.int64)
        self._released, self._scales = evidence.cells, evidence.scales
        self._columns, self._strides = self._released.columns, self._released.strides
        self._offsets, self._answers = self._released.offsets, self._released.answers
        self._sets = [np.flatnonzero((self._columns == c).any(axis=1)) for c in self._hidden]
        self._sizes = view.target_domain.sizes
        self._by_cell = np.repeat(self._scales, self._released.lengths)
        self._total = evidence.total
        self._partners = (
            find_partners(evidence.share_known(view.known))
            if view.n <= GRAM_LIMIT
            else find_partners_by_sorting(view.known)
        )
        self._several = len(self._hidden) > 1
        self._group = number_groups(view.known)
        self._alone = [
            log_chances(view.prior.conditional(view.known, [target])) for target in view.targets
        ]

    @property
    def most_replicas(self) -> int:
        return max(1, REPLICA_CELLS // len(self._answers))

    @property
    def cost(self) -> int:
        by_column = sum(
            len(sets) * size for sets, size in zip(self._sets, self._sizes, strict=True)
        )
        return self._view.n * (by_column + 8 * len(self._columns))

    def start(self, chains: int, levels: int, rng: np.random.Generator) -> None:
        view, replicas = self._view, chains * levels
        self._fresh = max(1, FRESH // levels)
        self._stock = np.empty((0, view.n, 0), dtype=np.int64)
        self._chances = np.empty((chains, view.n, max(self._sizes)))
        self._block = np.empty((chains, view.n, self._fresh + 1))
        table = np.empty((view.n, len(self._played)), dtype=np.int64)
        for position, name in enumerate(self._played):
            if name not in view.targets:
                table[:, position] = view.known.column(name)
        self._codes = np.repeat(table[None], replicas, axis=0)
        self._codes[:, :, self._hidden], self._rest = self._draw(replicas, rng)
        cells = len(self._answers)
        self._residual = np.empty((replicas, cells))
        for codes, residual in zip(self._codes, self._residual, strict=True):
            residual[:] = (
                np.bincount(self._released.locate(codes).ravel(), minlength=cells) - self._answers
            )
        self._draws: list[tuple[Codes, Codes, Codes, Floats]] = []
        self.forget(0)

    def sweep(self, at: Codes, weights: Floats, rng: np.random.Generator) -> Floats:
        if not self._several or weights[-1] * self._total > WEAK:
            for index in range(len(self._hidden)):
                self._sweep_column(index, at, weights, rng)
            self._sweep_left_out(rng)
        if self._several:
            self._sweep_blocks(at, weights, rng)
        return np.asarray((self._residual**2) @ self._by_cell)

    def _sweep_column(
        self, index: int, at: Codes, weights: Floats, rng: np.random.Generator
    ) -> None:
        log_priors = self._log_conditional(index)
        uniforms = rng.random((*at.shape, 3, self._view.n))
        order = rng.permutation(self._view.n)
        for (chain, level), replica in np.ndenumerate(at):
            state = (
                self._codes[replica],
                self._residual[replica],
                self._columns,
                self._strides,
                self._offsets,
                self._scales,
                self._sets[index],
                int(self._hidden[index]),
                log_priors[replica],
                float(weights[level]),
            )
            chances = self._chances[chain, :, : self._sizes[index]]
            cell_sweep(*state, order, uniforms[chain, level, 0], chances)
            cell_trades(*state, uniforms[chain, level, 1:], self._partners)

    def _sweep_left_out(self, rng: np.random.Generator) -> None:
        """No cell counts these columns, so they follow the prior alone."""
        for index, name in enumerate(self._left_out if self._several else ()):
            below = self._conditional(name).cumsum(axis=-1)
            uniform = rng.random((*below.shape[:2], 1)) * below[..., -1:]
            self._rest[:, :, index] = (below[..., :-1] <= uniform).sum(axis=-1)

    def _sweep_blocks(self, at: Codes, weights: Floats, rng: np.random.Generator) -> None:
        drawn, rest = self._draw(at.size * self._fresh, rng)
        drawn = drawn.reshape(at.size, self._fresh, self._view.n, -1)
        rest = rest.reshape(at.size, self._fresh, self._view.n, -1)
        uniforms = rng.random((*at.shape, self._view.n))
        self._offered = []
        for (chain, level), replica in np.ndenumerate(at):
            if level == at.shape[1] - 1:
                now = self._codes[replica][None, :, self._hidden]
                self._offered.append(np.concatenate([drawn[replica], now]))
            taken = block_sweep(
                self._codes[replica],
                self._residual[replica],
                self._columns,
                self._strides,
                self._offsets,
                self._scales,
                self._hidden,
                drawn[replica],
                self._watch if level == at.shape[1] - 1 else self._watch[:0],
                float(weights[level]),
                uniforms[chain, level],
                self._block[chain],
                self._odds[chain],
            )
            changed = np.flatnonzero(taken < self._fresh)
            self._rest[replica, changed] = rest[replica, taken[changed], changed]

    def log_priors(self, replicas: Codes) -> Floats:
        """Of each hidden column on its own, added up: enough to compare chains by."""
        rows, states = np.arange(self._view.n), self._codes[replicas][:, :, self._hidden]
        own = [table[rows, states[:, :, index]] for index, table in enumerate(self._alone)]
        return np.asarray(np.sum(own, axis=(0, 2)))

    def forget(self, sweeps: int) -> None:
        self._sums = np.zeros((BATCHES, *self._chances.shape)) if not self._several else None
        self._sweeps = max(sweeps, 1)
        self._watch = self._likeliest()
        chains, n, offered = self._block.shape
        self._odds = np.zeros((chains, n, len(self._watch)))
        self._draws = []
        self._every = 1 + chains * n * offered * sweeps // KEPT
        self._turn = 0

    def _likeliest(self) -> Codes:
        """What was kept most so far, and the prior's favourite: (values, n, d′)."""
        view = self._view
        if not self._draws:
            return np.empty((0, view.n, len(self._hidden)), dtype=np.int64)
        pilot = JointPosteriors(self._group, self._sizes, self._draws)
        likeliest = pilot.likeliest(WATCHED)[self._group]
        favourite, _ = view.prior.map(view.known, view.targets)
        seen = (likeliest == favourite.codes[:, None]).all(axis=2).any(axis=1)
        likeliest[~seen, -1] = favourite.codes[~seen]
        return np.ascontiguousarray(likeliest.transpose(1, 0, 2))

    def keep(self, replicas: Codes) -> None:
        self._turn += 1
        if self._sums is not None:
            self._sums[min((self._turn - 1) * BATCHES // self._sweeps, BATCHES - 1)] += (
                self._chances
            )
            return
        if self._turn % self._every:
            return
        for chain, (offered, weights) in enumerate(zip(self._offered, self._block, strict=True)):
            record, index = np.nonzero(weights)
            codes = offered[index, record].astype(np.min_scalar_type(max(self._sizes)))
            chains = np.full(len(record), chain)
            self._draws.append((chains, self._group[record], codes, weights[record, index]))

    def tables(self, replicas: Codes) -> Codes:
        return self._codes[replicas][:, :, self._hidden]

    def posteriors(self) -> Posteriors:
        if self._sums is not None:
            return ColumnPosteriors.of(self._view, self._sums)
        return JointPosteriors(self._group, self._sizes, self._draws, self._watched(), self._view)

    def _watched(self) -> Watched:
        view = self._view
        _, member = np.unique(self._group, return_index=True)
        codes = self._watch[:, member].transpose(1, 0, 2)
        groups, count, width = codes.shape
        known = Table(view.known.domain, np.repeat(view.known.codes[member], count, axis=0))
        whole = known.join(Table(view.target_domain, codes.reshape(-1, width)))
        log_prior = view.prior.log_evidence(whole).reshape(groups, count)
        return Watched(codes, log_prior, sum_by_group(self._odds, self._group))

    def _draw(self, count: int, rng: np.random.Generator) -> tuple[Codes, Codes]:
        """Hidden and left-out cells from the prior given the known ones: (count, n, columns)."""
        view = self._view
        if len(self._stock) < count:
            wanted = (*view.targets, *(self._left_out if self._several else ()))
            at_once = max(count, STOCK if self._several else 0)
            self._stock = draw_targets(view.prior, view.known, wanted, at_once, rng)
        drawn, self._stock = self._stock[:count], self._stock[count:]
        return drawn[:, :, : len(view.targets)], drawn[:, :, len(view.targets) :]

    def _log_conditional(self, index: int) -> Floats:
        """log P(one hidden column | the rest of the record) + const: (replicas, n, V)."""
        if not self._several:
            return np.broadcast_to(self._alone[0], (len(self._codes), *self._alone[0].shape))
        return log_chances(self._conditional(self._played[self._hidden[index]]))

    def _conditional(self, target: str) -> Floats:
        """P(one column | all others): (replicas, n, V)."""
        whole = np.concatenate([self._codes, self._rest], axis=2)
        names = (*self._played, *self._left_out)
        index = names.index(target)
        rest = self._view.prior.domain.project(names[:index] + names[index + 1 :])
        known = Table(rest, np.delete(whole, index, axis=2).reshape(-1, len(rest)))
        chances = self._view.prior.conditional(known, [target])
        return chances.reshape(*whole.shape[:2], -1)
