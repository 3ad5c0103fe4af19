"""Posteriors of several hidden columns, from values that are followed through a chain's states.

Given the other records x as they are when record i is to move, its value is u with the chance
    P(u | x, release) = π_i(u) exp(−w E_i(u)) / Z_i,   Z_i = Σ_v π_i(v) exp(−w E_i(v)).
The move chooses between the record's value, which has this distribution once the chain has settled,
and M draws from π_i. The law of these M + 1 has, over that of M + 1 draws from π_i, the density
(mean of their likelihoods) / Z_i. So E[1 / mean of their likelihoods] = 1 / Z_i, and
    π_i(u) exp(−w E_i(u)) / mean likelihood
has the mean P(u | x, release), for every u, drawn or not. How often u was drawn has the same mean
and, for values that are rare, hundreds of times the variance.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from reconbench.attacks.base import AttackerView
from reconbench.attacks.posterior.draws.agreements import Agreements
from reconbench.attacks.posterior.posteriors import BATCHES
from reconbench.datasets import Table

Codes = npt.NDArray[np.int64]
Shorts = npt.NDArray[np.uint16]
Floats = npt.NDArray[np.float64]


class Trail:
    """Sweeps of chains: tables before and after, (sweeps, chains, d′, n), and what weighs values.

    ``log_means``, (sweeps, chains, n), are of the M + 1 likelihoods of each record.
    """

    def __init__(
        self,
        view: AttackerView,
        agreements: Agreements,
        before: Shorts,
        after: Shorts,
        log_means: Floats,
        weight: float,
    ) -> None:
        self._sweeps, self.chains = before.shape[:2]
        self._view = view
        self._agreements = agreements
        self._before, self._after = (x.reshape(-1, *x.shape[2:]) for x in (before, after))
        self._log_means = log_means.reshape(-1, log_means.shape[2])
        self._weight = weight

    def estimate_chances(self, values: Codes, groups: Codes) -> Floats:
        """The chance of values, (V, d′), of records of these groups: (batches, chains, V).

        Batches are as even as they can be; a batch without a sweep is left out.
        """
        shorts = np.ascontiguousarray(values, dtype=np.uint16)
        sweeps = self._before, self._after, self._log_means
        odds = self._agreements.follow(*sweeps, shorts, groups, self._weight)
        odds = odds.reshape(self._sweeps, self.chains, -1)
        batches = np.array_split(odds, min(BATCHES, self._sweeps))
        means = np.stack([batch.mean(axis=0) for batch in batches])
        return np.asarray(np.exp(self._log_prior(values, groups)) * means)

    def _log_prior(self, values: Codes, groups: Codes) -> Floats:
        prior, known = self._view.prior, self._agreements.known
        same = Table(known.domain, known.codes[groups])
        whole = same.join(Table(self._view.target_domain, values))
        return np.asarray(prior.log_evidence(whole) - prior.log_evidence(known)[groups])

    @property
    def batch_shares(self) -> Floats:
        """The share of all sweeps that each batch has."""
        sizes = [len(part) for part in np.array_split(np.arange(self._sweeps), BATCHES)]
        return np.asarray(np.array([size for size in sizes if size]) / self._sweeps)


class FollowedPosteriors:
    """Chances of any guess by following it through the trail.

    Guesses are made among ``candidates``, (groups, C, d′): the likeliest that a pilot found.
    """

    def __init__(self, trail: Trail, group: Codes, candidates: Codes) -> None:
        self.chains = trail.chains
        self._trail = trail
        self._group = group
        self._candidates = candidates
        # chances that were estimated, (batches, chains), by group and value
        self._known: dict[tuple[int, ...], Floats] = {}
        groups, count, width = candidates.shape
        owners = np.repeat(np.arange(groups), count)
        chances = self._estimate(np.column_stack([owners, candidates.reshape(-1, width)]))
        mean = np.einsum("bcv,b->cv", chances, trail.batch_shares)
        self._chances = mean.reshape(self.chains, groups, count)

    def guess(self, chains: Sequence[int]) -> Codes:
        best = self._chances[list(chains)].mean(axis=0).argmax(axis=1)
        return np.asarray(self._candidates[np.arange(len(best)), best][self._group])

    def success(self, chain: int, guess: Codes) -> Floats:
        return np.asarray(self._trail.batch_shares @ self._estimate_guess(guess)[:, chain])

    def judge(self, chain: int, guess: Codes) -> Floats:
        return np.asarray(self._estimate_guess(guess)[:, chain].sum(axis=1))

    def _estimate_guess(self, guess: Codes) -> Floats:
        """The chance of each record's guess by every batch of every chain: (batches, chains, n)."""
        own = np.column_stack([self._group[: len(guess)], guess])
        distinct, which = np.unique(own, axis=0, return_inverse=True)
        return self._estimate(distinct)[..., which.reshape(-1)]

    def _estimate(self, rows: Codes) -> Floats:
        """The same of groups and values, (V, 1 + d′); those met before are not followed again."""
        keys = [tuple(row) for row in rows.tolist()]
        new = np.array([key for key in dict.fromkeys(keys) if key not in self._known])
        if len(new):
            chances = self._trail.estimate_chances(new[:, 1:], new[:, 0])
            self._known |= zip(map(tuple, new.tolist()), np.moveaxis(chances, 2, 0), strict=True)
        return np.stack([self._known[key] for key in keys], axis=-1)
