"""The compiled walk of the gdp model (`gdp.py`); imported when first used."""

from __future__ import annotations

import numpy as np

from reconbench.bounds.audit.mcmc._kernels import Floats, log_prior
from reconbench.compilation import unlocked


@unlocked
def integral_below(m: float, start: float, width: float, density: Floats, below: Floats) -> float:
    """∫ of the tabulated likelihood up to m; it is linear between the points."""
    place = (m - start) / width
    if place <= 0.0:
        return 0.0
    if place >= len(density) - 1:
        last: float = below[-1]
        return last
    cell = int(place)
    share = place - cell
    rise = density[cell + 1] - density[cell]
    found: float = below[cell] + width * share * (density[cell] + rise * share / 2.0)
    return found


@unlocked
def log_strip_likelihood(
    mu: float, s: float, starts: Floats, widths: Floats, density: Floats, below: Floats
) -> float:
    """Σ_j log ∫ P(counts of base j | m) dm over sμ ≤ |m| ≤ μ, divided by (1 − s)μ."""
    total: float = -len(starts) * np.log((1.0 - s) * mu)
    for j in range(len(starts)):
        mass = 0.0
        for low, high in ((s * mu, mu), (-mu, -s * mu)):
            mass += integral_below(high, starts[j], widths[j], density[j], below[j])
            mass -= integral_below(low, starts[j], widths[j], density[j], below[j])
        if not mass > 0.0:
            return -np.inf
        total += np.log(mass)
    return total


@unlocked
def gdp_chain(
    steps: Floats,
    thresholds: Floats,
    starts: Floats,
    widths: Floats,
    density: Floats,
    below: Floats,
    variance: float,
    a: float,
    b: float,
    jacobian: float,
    now: Floats,
    trace: Floats,
) -> int:
    """Metropolis-Hastings for (μ, s), m_j integrated out; returns how many steps were accepted.

    ``now`` = (μ, s) moves on in place. ``steps`` (M, 2) are added to (log μ, s); ``jacobian`` is
    the exponent of μ′/μ; ``thresholds`` are logs of uniforms; ``trace`` (M, 2) receives (μ, s).
    """
    accepted = 0
    log_now = log_strip_likelihood(now[0], now[1], starts, widths, density, below)
    log_now += log_prior(now[0], now[1], variance, a, b)
    for i in range(len(steps)):
        mu, s = now[0] * np.exp(steps[i, 0]), now[1] + steps[i, 1]
        if 0.0 < s < 1.0 or (steps[i, 1] == 0.0 and s < 1.0):
            log_new = log_strip_likelihood(mu, s, starts, widths, density, below)
            log_new += log_prior(mu, s, variance, a, b)
            if thresholds[i] < log_new - log_now + jacobian * steps[i, 0]:
                accepted += 1
                now[0], now[1], log_now = mu, s, log_new
        trace[i, 0], trace[i, 1] = now[0], now[1]
    return accepted
