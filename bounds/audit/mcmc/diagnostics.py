"""Whether chains agree, and how much their draws are worth (Vehtari et al. 2021).

"Rank-Normalization, Folding, and Localization: An Improved R̂ for Assessing Convergence of MCMC",
Bayesian Analysis 16. Traces are (chains, draws). A trace that does not move has no R-hat (nan),
and its effective size is the number of draws. The numbers are those of ArviZ, which `by_arviz` asks
itself (extra ``arviz``), with Monte Carlo errors besides.
"""

from __future__ import annotations

from importlib import import_module

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri
from scipy.stats import rankdata

from reconbench.missing_package import needed_by

Floats = NDArray[np.float64]

TAILS = (0.05, 0.95)


def rank_rhat(trace: Floats) -> float:
    """The larger of the split R-hats of rank-normalised draws and of their folded distances."""
    halves = _split(trace)
    if np.ptp(halves) == 0:
        return float("nan")
    distance = np.abs(halves - np.median(halves))
    return max(_rhat(_rank_normal(halves)), _rhat(_rank_normal(distance)))


def bulk_size(trace: Floats) -> float:
    """Effective size for the middle of the distribution: of rank-normalised split chains."""
    return _effective_size(_rank_normal(_split(trace)))


def tail_size(trace: Floats) -> float:
    """The smaller effective size of the 5 % and the 95 % quantile."""
    halves = _split(trace)
    return min(_effective_size((halves <= np.quantile(trace, p)).astype(np.float64)) for p in TAILS)


def autocorrelation(trace: Floats, lags: int) -> Floats:
    """Lag by lag from 0 up to `lags`, mean over chains, each about its own mean."""
    covariance = _autocovariance(trace)
    total = covariance[:, :1]
    if not (total > 0).all():
        return np.full(min(lags + 1, trace.shape[1]), np.nan)
    return np.asarray((covariance / total).mean(axis=0)[: lags + 1], dtype=np.float64)


def by_arviz(trace: Floats) -> dict[str, float]:
    """R-hat, effective sizes, and standard errors of the mean and of the 5 % and 95 % quantiles."""
    with needed_by("a diagnosis by ArviZ", "arviz_stats", extra="arviz"):
        stats = import_module("arviz_stats.base").array_stats
    low, high = TAILS
    found = {
        "r_hat": stats.rhat(trace, method="rank"),
        "ess_bulk": stats.ess(trace, method="bulk"),
        "ess_tail": stats.ess(trace, method="tail", prob=TAILS),
        "mcse_mean": stats.mcse(trace, method="mean"),
        "mcse_lower": stats.mcse(trace, method="quantile", prob=low),
        "mcse_upper": stats.mcse(trace, method="quantile", prob=high),
    }
    return {name: float(value) for name, value in found.items()}


def _split(trace: Floats) -> Floats:
    half = trace.shape[1] // 2
    return np.concatenate([trace[:, :half], trace[:, -half:]])


def _rank_normal(trace: Floats) -> Floats:
    # Blom: Φ⁻¹((r − 3/8)/(S + 1/4))
    ranks = rankdata(trace, method="average").reshape(trace.shape)
    return np.asarray(ndtri((ranks - 0.375) / (trace.size + 0.25)), dtype=np.float64)


def _rhat(trace: Floats) -> float:
    draws = trace.shape[1]
    within = trace.var(axis=1, ddof=1).mean()
    between = trace.mean(axis=1).var(ddof=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = between / within
    return float(np.sqrt((draws - 1) / draws + ratio))


def _autocovariance(trace: Floats) -> Floats:
    draws = trace.shape[1]
    padded = 1 << (2 * draws - 1).bit_length()
    centred = trace - trace.mean(axis=1, keepdims=True)
    power = np.abs(np.fft.rfft(centred, padded, axis=1)) ** 2
    return np.asarray(np.fft.irfft(power, padded, axis=1)[:, :draws] / draws, dtype=np.float64)


def _effective_size(trace: Floats) -> float:
    """Geyer's initial monotone sequence over all chains."""
    chains, draws = trace.shape
    if np.ptp(trace) == 0:
        return float(trace.size)
    covariance = _autocovariance(trace).mean(axis=0)
    within = covariance[0] * draws / (draws - 1)
    pooled = covariance[0] + (trace.mean(axis=1).var(ddof=1) if chains > 1 else 0.0)
    # ρ_t = 1 − (W − autocovariance at t)/var⁺
    rho = 1 - (within - covariance) / pooled
    rho[0] = 1.0
    pairs = rho[: draws - draws % 2].reshape(-1, 2).sum(axis=1)
    # The sums of pairs are positive and fall; what rounding or noise adds beyond that is cut.
    negative = np.flatnonzero(pairs < 0)
    stop = int(negative[0]) if len(negative) else len(pairs)
    monotone = np.minimum.accumulate(pairs[:stop])
    last = max(float(rho[2 * stop]), 0.0) if 2 * stop < len(rho) else 0.0
    time = max(-1 + 2 * float(monotone.sum()) + last, 1 / np.log10(trace.size))
    return float(trace.size / time)
