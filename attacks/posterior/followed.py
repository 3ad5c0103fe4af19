"""Posteriors of several hidden columns, from values that are followed through a chain's states.

In the state x of a chain that has settled, the chance that record i has the value u is
    P(u | x without i, release) = π_i(u) exp(−w E_i(u)) / Z_i,   Z_i = Σ_v π_i(v) exp(−w E_i(v)).
A sweep chooses between the record's value, which has this distribution, and M draws from π_i. Under
the law of these M + 1, E[1 / mean of their likelihoods] = 1 / Z_i: weighing the draws by their mean
likelihood over Z_i is how that law differs from M + 1 independent draws. So
    π_i(u) exp(−w E_i(u)) / mean likelihood
has the mean P(u | x without i, release), for every u, drawn or not. How often u was drawn has the
same mean and, for values that are rare, hundreds of times the variance.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from reconbench.attacks.base import AttackerView
from reconbench.attacks.posterior.agreements import Agreements
from reconbench.attacks.posterior.posteriors import BATCHES
from reconbench.datasets import Table

Codes = npt.NDArray[np.int64]
Shorts = npt.NDArray[np.uint16]
Floats = npt.NDArray[np.float64]


class Trail:
    """States that chains went through: tables, (sweeps, chains, d′, n), and what weighs values.

    ``log_means``, (sweeps, chains, n), are of the M + 1 likelihoods of each record.
    """

    def __init__(
        self,
        view: AttackerView,
        agreements: Agreements,
        states: Shorts,
        log_means: Floats,
        weight: float,
    ) -> None:
        self.chains = states.shape[1]
        self._view = view
        self._agreements = agreements
        self._sweeps = len(states)
        self._states = states.reshape(-1, *states.shape[2:])
        self._log_means = log_means.reshape(-1, log_means.shape[2])
        self._weight = weight

    def estimate_chances(self, values: Codes, groups: Codes) -> Floats:
        """The chance of values, (V, d′), of records of these groups: (batches, chains, V).

        Batches are as even as they can be; a batch without a sweep is left out.
        """
        shorts = np.ascontiguousarray(values, dtype=np.uint16)
        odds = self._agreements.follow(
            self._states, self._log_means, shorts, groups, self._weight
        ).reshape(self._sweeps, self.chains, -1)
        batches = np.array_split(odds, min(BATCHES, self._sweeps))
        means = np.stack([batch.mean(axis=0) for batch in batches])
        chances = np.exp(log_prior_of(self._view, self._agreements, values, groups))
        return np.asarray(chances * means)

    @property
    def batch_shares(self) -> Floats:
        """The share of all sweeps that each batch has."""
        sizes = [len(part) for part in np.array_split(np.arange(self._sweeps), BATCHES)]
        return np.array([size for size in sizes if size]) / self._sweeps


def log_prior_of(
    view: AttackerView, agreements: Agreements, values: Codes, groups: Codes
) -> Floats:
    """log π of values, (V, d′), of records of the given groups."""
    known = Table(agreements.known.domain, agreements.known.codes[groups])
    whole = known.join(Table(view.target_domain, values))
    return np.asarray(
        view.prior.log_evidence(whole) - view.prior.log_evidence(agreements.known)[groups]
    )


class FollowedPosteriors:
    """Chances of any guess by following it through the trail.

    Guesses are made among ``candidates``, (groups, C, d′): the likeliest that a pilot found.
    """

    def __init__(self, trail: Trail, group: Codes, candidates: Codes) -> None:
        self.chains = trail.chains
        self._trail = trail
        self._group = group
        self._candidates = candidates
        groups, count, width = candidates.shape
        chances = trail.estimate_chances(
            candidates.reshape(-1, width), np.repeat(np.arange(groups), count)
        )
        mean = np.einsum("bcv,b->cv", chances, trail.batch_shares)
        self._chances = mean.reshape(self.chains, groups, count)
        self._judged: dict[bytes, Floats] = {}

    def guess(self, chains: Sequence[int]) -> Codes:
        best = self._chances[list(chains)].mean(axis=0).argmax(axis=1)
        return np.asarray(self._candidates[np.arange(len(best)), best][self._group])

    def success(self, chain: int, guess: Codes) -> Floats:
        return np.asarray(self._trail.batch_shares @ self._estimate(guess)[:, chain])

    def judge(self, chain: int, guess: Codes) -> Floats:
        return np.asarray(self._estimate(guess)[:, chain].sum(axis=1))

    def _estimate(self, guess: Codes) -> Floats:
        """The chance of each record's guess by every batch of every chain: (batches, chains, n)."""
        asked = np.ascontiguousarray(guess).tobytes()
        if asked not in self._judged:
            own = np.column_stack([self._group, guess])
            distinct, which = np.unique(own, axis=0, return_inverse=True)
            chances = self._trail.estimate_chances(distinct[:, 1:], distinct[:, 0])
            # every chain is asked in turn about one guess
            self._judged = {asked: chances[..., which.reshape(-1)]}
        return self._judged[asked]
