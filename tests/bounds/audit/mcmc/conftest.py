"""Counts of the paper, and data drawn from the model itself."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from reconbench.bounds.audit.mcmc import Counts, in_strip

# Yildirim 2025, section 4.1, second scenario.
STRONG_X = (40, 50, 60, 100, 100, 110, 120, 200, 200, 200)
STRONG_Y = (250, 200, 150, 100, 120, 100, 100, 80, 70, 60)

FromModel = Callable[..., Counts]


@pytest.fixture(scope="session")
def strong() -> Counts:
    """Ten strong attacks of 1,000 challenges each way."""
    return Counts.of([(x, 1000, y, 1000) for x, y in zip(STRONG_X, STRONG_Y, strict=True)])


@pytest.fixture(scope="session")
def from_model() -> FromModel:
    """Counts of n attacks from the model at (ε, s), by rejection from the unit square."""

    def draw(
        epsilon: float, s: float, delta: float, n: int, challenges: int, rng: np.random.Generator
    ) -> Counts:
        kept = np.empty((0, 2))
        while len(kept) < n:
            pairs = rng.random((100_000, 2))
            inside = in_strip(pairs[:, 0], pairs[:, 1], epsilon, delta, s)
            kept = np.concatenate([kept, pairs[inside]])
        alpha, beta = kept[:n].T
        x, y = rng.binomial(challenges, alpha), rng.binomial(challenges, beta)
        size = np.full(n, challenges)
        return Counts(x, size, y, size)

    return draw
