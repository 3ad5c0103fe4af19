"""Noise levels, trading partners and convergence checks of Markov chains."""

from __future__ import annotations

from math import ceil, comb, inf, log, sqrt

import numpy as np
import numpy.typing as npt
from scipy.special import entr

from reconbench.datasets import Table

Codes = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

# Hottest level: a record's own cells weigh HOT units of log-likelihood. Levels are STEP apart.
HOT = 6.0
STEP = 0.4
# erfc(TRADING) is a third.
TRADING = 0.7
# Coldest level: the smallest misfit that a trade can leave weighs COLD units of log-likelihood.
COLD = 100.0
# Half the squared error that a trade leaves in each set in which it is to be seen.
TRADE = 2
PARTNERS = 8
LARGEST_RHAT = 1e6


def coldest_level(noise_sd: float, misfit: int) -> float:
    """The inverse noise variance, or a smaller one beyond which nothing changes.

    ``misfit`` is half the squared error that a trade leaves at least, where it leaves any.
    """
    return min(noise_sd**-2 if noise_sd > 0 else inf, COLD / misfit)


def smallest_misfit(columns: int, k: int) -> int:
    """Half the squared error that a trade leaves in all marginals of k columns at least.

    Two records that trade values of one column, and agree on all others but one, leave a squared
    error of 4 C(columns − 2, k − 2).
    """
    return TRADE * max(comb(max(columns - 2, 0), max(k - 2, 0)), 1)


def noise_levels(
    true: float, sets: float, most: int, step: float = STEP, frozen: float = inf
) -> Floats:
    """Inverse noise variances, the true one last, in steps small enough to trade places.

    ``sets`` is the number of cells a record counts in, or what they weigh together, ``most`` of
    levels. Beyond the level ``frozen`` tables hardly change, and steps are STEP.
    """
    hot = min(true, HOT / sets)
    melted = max(hot, min(true, frozen))
    fine = 1 + ceil(log(melted / hot) / step)
    coarse = ceil(log(true / melted) / STEP)
    if fine + coarse > most:
        levels = np.geomspace(hot, true, most)
    else:
        beyond = np.geomspace(melted, true, coarse + 1)[1:]
        levels = np.concatenate([np.geomspace(hot, melted, fine), beyond])
    levels[-1] = true
    return levels


def choose_step(prior: Floats) -> float:
    """The step of log noise levels at which neighbours trade places about a third of the time.

    Neighbours at levels w and w eˢ accept a trade with probability erfc(s σ / 2), σ² being the
    variance of their log-likelihoods, which grows with what there is to learn: for pairs and
    triples of the shipped priors' columns σ / 2 is at most about 0.35 √H, with H the entropy of the
    hidden cells in nats.
    """
    entropy = float(entr(prior).sum())
    return min(STEP, max(TRADING / (0.35 * sqrt(entropy + 1.0)), STEP / 4))


def find_partners(shared: Floats) -> Codes:
    """With whom records trade: those they share most marginals with, (n, PARTNERS).

    Of records that are known to be the same in all known columns a few will do.
    """
    n = len(shared)
    if n == 1:
        return np.zeros((1, 1), dtype=np.int64)
    same = (shared == np.diag(shared)) & ~np.eye(n, dtype=bool)
    many = same & (same.cumsum(axis=1) > PARTNERS // 4)
    others = shared - np.where(np.eye(n, dtype=bool), inf, np.where(many, shared.max(), 0.0))
    return np.argsort(-others, axis=1, kind="stable")[:, : min(PARTNERS, n - 1)]


def find_partners_by_sorting(known: Table) -> Codes:
    """The same for long tables: neighbours in lexicographic orders that start at every column.

    O(n d log n), where comparing all records would be O(n² d).
    """
    n, codes = len(known), known.codes
    partners = np.empty((n, PARTNERS), dtype=np.int64)
    for half in range(PARTNERS // 2):
        order = np.lexsort(np.roll(codes, half, axis=1).T)
        step = 1 + half // codes.shape[1]
        partners[order, 2 * half] = np.roll(order, step)
        partners[order, 2 * half + 1] = np.roll(order, -step)
    return partners


def split_rhat(trace: Floats) -> float:
    """Split R-hat (Gelman et al. 2013, section 11.4) of a (chains, sweeps) trace."""
    halves = _halves(trace)
    within = halves.var(axis=1, ddof=1).mean()
    between = halves.mean(axis=1).var(ddof=1)
    if between <= 1e-20 * max(1.0, float(np.abs(halves).max()) ** 2):
        return 1.0
    length = halves.shape[1]
    square = (length - 1) / length + between / max(within, between / LARGEST_RHAT**2)
    return float(np.sqrt(square))


def effective_size(trace: Floats) -> float:
    """Independent draws that would vary as much as the means of the half chains do.

    Rough, as there are few half chains; never more than the number of sweeps.
    """
    halves = _halves(trace)
    between = halves.mean(axis=1).var(ddof=1)
    if between == 0:
        return float(halves.size)
    return float(min(halves.size, len(halves) * halves.var(ddof=1) / between))


def _halves(trace: Floats) -> Floats:
    half = trace.shape[1] // 2
    return np.concatenate([trace[:, :half], trace[:, -half:]])
