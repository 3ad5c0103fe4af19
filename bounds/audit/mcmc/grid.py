"""The posterior of (ε, s) by direct integration: no chains, for independent binomial counts.

Given (ε, s) the attacks are independent and each error pair integrates out:

    P(X_j, Y_j | ε, s) ∝ (Q_j(ε, δ) − Q_j(sε, sδ)) / |R_s(ε, δ)|,

Q_j(ε, δ) the probability of R(ε, δ) when α ~ Beta(X + 1, N₀ − X + 1) and β likewise. So the
posterior is a sum over a grid of (ε, s). The slow twin of the sampler, and enough by itself for a
few attacks.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betainc, betainccinv, betaincinv, betaln, expit, xlog1py, xlogy

from reconbench.bounds import _validate
from reconbench.bounds.audit.mcmc.counts import Counts
from reconbench.bounds.audit.mcmc.model import (
    BetaStrength,
    FixedStrength,
    Prior,
    epsilon_level,
    strip_area,
)

Floats = NDArray[np.float64]

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(32)
# Error probabilities beyond these tails of their posterior are left out.
_TAIL = 1e-15
_CDF_POINTS = 40_001
# Cells of s in a first look, the share of the posterior that is left out, the largest ε.
_COARSE = 24
_NEGLIGIBLE = 1e-7
_LARGEST = 300.0


@dataclass(frozen=True)
class ErrorPosterior:
    """α ~ Beta(a₀, b₀) and β ~ Beta(a₁, b₁), independent: what one attack's counts say of it."""

    a0: float
    b0: float
    a1: float
    b1: float

    @classmethod
    def of(cls, counts: Counts, j: int, pseudo: float = 1.0) -> ErrorPosterior:
        """From a Beta(pseudo, pseudo) prior on each error: 1 is uniform, ½ Jeffreys'."""
        x, n0 = int(counts.false_positives[j]), int(counts.negatives[j])
        y, n1 = int(counts.false_negatives[j]), int(counts.positives[j])
        return cls(x + pseudo, n0 - x + pseudo, y + pseudo, n1 - y + pseudo)

    def outside(self, epsilon: ArrayLike, delta: ArrayLike) -> Floats:
        """P[(α, β) not in R(ε, δ)], elementwise."""
        e, d = np.broadcast_arrays(
            np.asarray(epsilon, dtype=np.float64), np.asarray(delta, dtype=np.float64)
        )
        below = _below_curve(self.a0, self.b0, self.a1, self.b1, e.ravel(), d.ravel())
        above = _below_curve(self.b0, self.a0, self.b1, self.a1, e.ravel(), d.ravel())
        return (below + above).reshape(e.shape)


def _below_curve(a0: float, b0: float, a1: float, b1: float, e: Floats, d: Floats) -> Floats:
    """P[β < f(α)] with f(α) = max(0, 1 − δ − e^ε α, e^−ε (1 − δ − α)), by Gauss-Legendre.

    The integral over α is split at the kink of f and where f reaches 0.
    """
    low, high = betaincinv(a0, b0, _TAIL), betainccinv(a0, b0, _TAIL)
    middle = betaincinv(a0, b0, 0.5)
    grid, cdf = _beta_cdf(a1, b1)
    kink = np.clip((1 - d) * expit(-e), low, high)
    end = np.clip(1 - d, low, high)
    cuts = np.sort(np.stack([np.full_like(e, low), np.full_like(e, middle), kink, end]), axis=0)
    total = np.zeros_like(e)
    for left, right in pairwise(cuts):
        half = (right - left)[:, None] / 2
        alpha = left[:, None] + half * (1 + _NODES)
        slack = (1 - d)[:, None] - alpha
        f = np.maximum(0.0, (1 - d)[:, None] - np.exp(e)[:, None] * alpha)
        f = np.maximum(f, np.exp(-e)[:, None] * slack)
        with np.errstate(divide="ignore"):
            density = np.exp(xlogy(a0 - 1, alpha) + xlog1py(b0 - 1, -alpha) - betaln(a0, b0))
        below = np.interp(f, grid, cdf, left=0.0, right=1.0)
        total += (density * below * half) @ _WEIGHTS
    return total


@lru_cache(maxsize=32)
def _beta_cdf(a: float, b: float) -> tuple[Floats, Floats]:
    """Points, and the distribution function of Beta(a, b) there."""
    ends = float(betaincinv(a, b, _TAIL)), float(betainccinv(a, b, _TAIL))
    grid = np.linspace(*ends, _CDF_POINTS)
    return grid, np.asarray(betainc(a, b, grid), dtype=np.float64)


@dataclass(frozen=True, eq=False)
class GridPosterior:
    """Probabilities of cells of a rectangular grid: rows are ε, columns s."""

    epsilon: Floats
    strength: Floats
    probability: Floats

    def epsilon_quantile(self, p: ArrayLike) -> Floats:
        return _quantile(self.epsilon, self.probability.sum(axis=1), p)

    def strength_quantile(self, p: ArrayLike) -> Floats:
        return _quantile(self.strength, self.probability.sum(axis=0), p)


def _quantile(centres: Floats, mass: Floats, p: ArrayLike) -> Floats:
    """Of a density that is constant within the cells, which are of equal width."""
    if len(centres) == 1:
        return np.full(np.shape(p), centres[0])
    half = (centres[1] - centres[0]) / 2
    edges = np.append(centres - half, centres[-1] + half)
    wanted = np.asarray(p, dtype=np.float64)
    found = np.interp(wanted, np.append(0.0, np.cumsum(mass) / mass.sum()), edges)
    return np.asarray(found, dtype=np.float64)


def grid_posterior(
    counts: Counts,
    delta: float,
    prior: Prior | None = None,
    *,
    cells: int = 400,
    strength_cells: int = 200,
) -> GridPosterior:
    """The posterior of (ε, s) on a grid of `cells` × `strength_cells` cells.

    ε runs over the range that holds nearly all of it: cells of less than 1e-7 at its ends are cut.
    """
    delta = _validate.below_one("delta", delta)
    prior = prior or Prior()
    errors = [ErrorPosterior.of(counts, j) for j in range(len(counts))]
    top = min(8 * np.sqrt(prior.variance), _LARGEST)
    low, high = _where(errors, delta, prior, top)
    # Twice: the first range is a cautious one.
    for size, s in (
        (cells // 2, _strength_centres(prior, _COARSE)),
        (cells, _strength_centres(prior, strength_cells)),
    ):
        width = (high - low) / size
        e = np.asarray(low + width * (np.arange(size) + 0.5), dtype=np.float64)
        mass = _normalised(_log_posterior(errors, delta, prior, e, s))
        there = np.flatnonzero(mass.sum(axis=1) > _NEGLIGIBLE)
        low = max(0.0, e[there[0]] - 2 * width)
        high = min(top, e[there[-1]] + 2 * width)
    return GridPosterior(e, s, mass)


def _where(
    errors: list[ErrorPosterior], delta: float, prior: Prior, top: float
) -> tuple[float, float]:
    """A range of ε that holds nearly all of the posterior, from points near the data and far."""
    p = np.linspace(0.001, 0.999, 41)
    levels = [
        epsilon_level(betaincinv(each.a0, each.b0, p), betaincinv(each.a1, each.b1, p), delta)
        for each in errors
    ]
    near = np.concatenate([*levels, *(1.1 * level for level in levels)])
    e = np.unique(np.concatenate([np.geomspace(1e-4, top, 200), near]).clip(1e-4, top))
    log_mass = _log_posterior(errors, delta, prior, e, _strength_centres(prior, _COARSE))
    if log_mass.max() == -np.inf:
        raise ValueError(
            "the counts are next to impossible under this prior of the strength: the attacks are "
            "too different for it; let s be estimated, or fix a smaller one"
        )
    share = _normalised(log_mass + np.log(np.gradient(e))[:, None]).sum(axis=1)
    there = np.flatnonzero(share > _NEGLIGIBLE)
    first, last = max(there[0] - 1, 0), min(there[-1] + 1, len(e) - 1)
    return float(e[first]) if there[0] > 0 else 0.0, float(e[last])


def _normalised(log_mass: Floats) -> Floats:
    mass = np.exp(log_mass - log_mass.max())
    return np.asarray(mass / mass.sum(), dtype=np.float64)


def _strength_centres(prior: Prior, cells: int) -> Floats:
    if isinstance(prior.strength, FixedStrength):
        return np.array([prior.strength.value])
    return (np.arange(cells) + 0.5) / cells


def _log_posterior(
    errors: list[ErrorPosterior], delta: float, prior: Prior, e: Floats, s: Floats
) -> Floats:
    log_mass = np.repeat(prior.log_epsilon(e)[:, None], len(s), axis=1)
    if isinstance(prior.strength, BetaStrength):
        log_mass += prior.strength.log_density(s)
    log_mass -= len(errors) * np.log(strip_area(e[:, None], delta, s))
    for each in errors:
        strip = each.outside(e[:, None] * s, delta * s) - each.outside(e, delta)[:, None]
        with np.errstate(divide="ignore"):
            log_mass += np.log(np.maximum(strip, 0.0))
    return log_mass
