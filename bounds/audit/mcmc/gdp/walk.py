"""How chains of the gdp model begin and move: a likelihood as `sampler.py` expects it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from reconbench.bounds.audit.mcmc.estimate import Run
from reconbench.bounds.audit.mcmc.gdp.model import StrengthLikelihoods, attack_mu
from reconbench.bounds.audit.mcmc.model import FixedStrength

Floats = NDArray[np.float64]
Words = NDArray[np.uint64]
Start = Callable[[Run, np.random.Generator], tuple[Floats, Floats, Floats]]


class GdpWalk:
    """Carries nothing: what a base says of its own m is tabulated, and integrated in each step."""

    # Moves are cheap: there are no auxiliary pairs.
    parameters, thinning = 2, 5

    def __init__(self, run: Run) -> None:
        self._run = run
        self._tables = StrengthLikelihoods.of(run.counts)

    def starts(self, place: int) -> Start:
        return start_gdp

    def start(self, low: Floats, high: Floats) -> tuple[Floats, ...]:
        return ()

    def walked(self, trace: Floats) -> Floats:
        return np.column_stack([np.log(trace[:, 0]), trace[:, 1]])

    def tuned(self, carried: tuple[Floats, ...], seen: Floats) -> tuple[Floats, ...]:
        return carried

    def advance(
        self,
        state: Words,
        steps: Floats,
        thresholds: Floats,
        jacobian: float,
        now: Floats,
        carried: tuple[Floats, ...],
        trace: Floats,
    ) -> int:
        from reconbench.bounds.audit.mcmc.gdp import _kernels

        prior, tables = self._run.prior, self._tables
        a, b = prior.strength.exponents
        return _kernels.gdp_chain(
            steps,
            thresholds,
            tables.start,
            tables.width,
            tables.density,
            tables.below,
            float(prior.variance),
            a,
            b,
            jacobian,
            now,
            trace,
        )


def start_gdp(run: Run, rng: np.random.Generator) -> tuple[Floats, Floats, Floats]:
    """(μ, s) such that the strip holds what the counts of every base say of its m; no pairs."""
    x, n0, y, n1 = run.counts.columns.T
    alpha, beta = rng.beta(x + 1.0, n0 - x + 1.0), rng.beta(y + 1.0, n1 - y + 1.0)
    level = np.abs(attack_mu(alpha, beta))
    mu = max(float(level.max()), 0.01) * (1 + 0.3 * rng.random())
    strength = run.prior.strength
    if isinstance(strength, FixedStrength):
        s = strength.value
    else:
        s = min(max(float(level.min()) / mu * (1 - 0.5 * rng.random()), 1e-6), 1 - 1e-6)
    return np.array([mu, s]), level, level
