"""Several hidden columns with few enough joint values to be tabulated."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from math import prod
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from reconbench.attacks.base import AttackerView, log_chances
from reconbench.attacks.posterior.chains import find_partners
from reconbench.attacks.posterior.evidence import Evidence, list_values
from reconbench.attacks.posterior.joint.sweeps import joint_round
from reconbench.attacks.posterior.posteriors import JointPosteriors, Posteriors

Codes = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

# Numbers that all replicas may hold.
MOST_NUMBERS = 1 << 26
# Joint values times known rows.
MOST_VALUES = 1 << 23
# Where the smallest misfit that a trade can leave weighs as many units of log-likelihood, tables
# hardly change any more.
FROZEN = 20.0
# Log-probability of the impossible: finite, and far below all others.
IMPOSSIBLE = -1e9
# Probabilities of a record's values below this are not kept.
NEGLIGIBLE = 1e-6


class JointModel:
    """Trades of columns between records, fresh draws of all of them, and sweeps of each column.

    With P the different parts that hidden columns have in the measured sets, a record costs P times
    the values of its columns and at most of its trades, and a change P times the known rows. Chains
    run in threads. Memory is, for
    each replica, the joint values of all these parts, times the known rows for parts that some set
    joins with known columns.
    """

    step: ClassVar[float] = 0.15
    patience: ClassVar[int] = 3

    def __init__(
        self, view: AttackerView, evidence: Evidence, possible: Bools | None = None
    ) -> None:
        """``possible``, (known rows, joint values), says which are; all by default."""
        self._view = view
        self.frozen = FROZEN / evidence.misfit
        known, self._group = view.known.distinct()
        self._sizes = view.target_domain.sizes
        values = prod(self._sizes)
        prior = view.prior.conditional(known, view.targets).reshape(len(known), values)
        if possible is not None:
            prior = prior * possible
        self._below = prior.cumsum(axis=1)
        self._log_prior = np.maximum(log_chances(prior), IMPOSSIBLE)
        self._codes = list_values(self._sizes)
        parts = list(evidence.parts)
        self._held = sum(len(part) for part in parts)
        self._gram = np.stack([evidence.share(known, part) for part in parts])
        self._strides = np.cumprod([1, *self._sizes[:0:-1]])[::-1].copy()
        # What all known rows see alike is kept once.
        self._own = np.array([int(not evidence.is_blind(part)) for part in parts])
        rows_of = np.where(self._own, len(known), 1)
        widths = rows_of * [prod(self._sizes[c] for c in part) for part in parts]
        starts = np.cumsum([0, *widths])[:-1]
        self._width = int(widths.sum())
        self._place = np.stack(
            [
                start
                + seen
                * np.ravel_multi_index(self._codes[:, part].T, [self._sizes[c] for c in part])
                for part, start, seen in zip(parts, starts, rows_of, strict=True)
            ],
            axis=1,
        )
        self._gathered = evidence.gather(known, self._codes)
        self._constant = evidence.constant
        self._partners = find_partners(evidence.share_known(view.known))
        self._threads = ThreadPoolExecutor(os.cpu_count())

    @property
    def most_replicas(self) -> int:
        return max(1, MOST_NUMBERS // self._width)

    @property
    def cost(self) -> int:
        parts = self._place.shape[1]
        # A trade of one column looks at the parts that hold it, before and after.
        traded = 2 * self._partners.shape[1] * (parts + self._held)
        return int(self._view.n * (sum(self._sizes) * parts + traded))

    def start(self, chains: int, levels: int, rng: np.random.Generator) -> None:
        replicas, n = chains * levels, self._view.n
        uniform = rng.random((replicas, n)) * self._below[self._group, -1]
        self._x = np.empty((replicas, n), dtype=np.int64)
        for i, g in enumerate(self._group):
            self._x[:, i] = np.searchsorted(self._below[g], uniform[:, i], side="right")
        self._pulled = np.zeros((replicas, self._width))
        rows = np.arange(len(self._gathered))
        for pulled, x in zip(self._pulled, self._x, strict=True):
            for place, own, gram in zip(self._place[x].T, self._own, self._gram, strict=True):
                seen = rows if own else rows[:1]
                np.add.at(pulled, place[:, None] + seen, gram[self._group][:, seen])
        self._kept_values = np.zeros((chains, n, sum(self._sizes)), dtype=np.int64)
        self._kept_weights = np.zeros((chains, n, sum(self._sizes)))
        self.forget(0)

    def sweep(self, at: Codes, weights: Floats, rng: np.random.Generator) -> Floats:
        errors = np.empty(at.size)
        order = rng.permutation(self._view.n)
        uniforms = rng.random((*at.shape, 4 + len(self._sizes), self._view.n))

        def sweep_chain(chain: int) -> None:
            found = np.empty(at.shape[1])
            joint_round(
                self._x,
                self._pulled,
                self._gram,
                self._own,
                self._place,
                self._codes,
                self._strides,
                np.array(self._sizes),
                self._gathered,
                self._log_prior,
                self._below,
                self._group,
                self._partners,
                at[chain],
                weights,
                order,
                uniforms[chain],
                self._kept_values[chain],
                self._kept_weights[chain],
                found,
            )
            errors[at[chain]] = found

        # Chains share nothing that is written to, so the number of threads changes no number.
        list(self._threads.map(sweep_chain, range(len(at))))
        return errors + self._constant

    def log_priors(self, replicas: Codes) -> Floats:
        return np.asarray(self._log_prior[self._group, self._x[replicas]].sum(axis=1))

    def forget(self, sweeps: int) -> None:
        self._draws: list[tuple[Codes, Codes, Codes, Floats]] = []

    def keep(self, replicas: Codes) -> None:
        for chain, weights in enumerate(self._kept_weights):
            record, index = np.nonzero(weights > NEGLIGIBLE)
            values = self._kept_values[chain, record, index]
            codes = self._codes[values].astype(np.min_scalar_type(max(self._sizes)))
            self._draws.append(
                (
                    np.full(len(record), chain),
                    self._group[record],
                    codes,
                    weights[record, index],
                )
            )

    def tables(self, replicas: Codes) -> Codes:
        return self._codes[self._x[replicas]]

    def posteriors(self) -> Posteriors:
        return JointPosteriors(self._group, self._sizes, self._draws, view=self._view)


def fits(view: AttackerView) -> bool:
    """Whether joint values are few enough."""
    rows = len(view.known.distinct()[0])
    return rows * prod(view.target_domain.sizes) <= MOST_VALUES
