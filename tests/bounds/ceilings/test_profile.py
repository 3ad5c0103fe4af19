"""The profile-optimised ceiling: golden figures, a dense twin, channels, limits, bad input."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from reconbench.bounds import (
    ApproxDP,
    GaussianDP,
    PureDP,
    Theorem35,
    theorem_3_2,
    theorem_3_5,
)
from reconbench.bounds.ceilings.profile import Profile, profile_ceilings

FloatArray = NDArray[np.float64]
PRIORS = np.random.default_rng(50).uniform(0.05, 0.9, size=40)


def test_golden_hundred_targets() -> None:
    # Theorem 3.5 at (1, 1e-5) and (3, 1e-5), where the same mechanisms are sold: 84 and 77.
    assert profile_ceilings(np.full(100, 0.56), GaussianDP(0.268051))[0.95] == 77
    assert profile_ceilings(np.full(100, 0.1), GaussianDP(0.719117))[0.95] == 46
    assert theorem_3_5(np.full(100, 0.56), ApproxDP(1.0, 1e-5))[0.95] == 84
    assert theorem_3_5(np.full(100, 0.1), ApproxDP(3.0, 1e-5))[0.95] == 77


@pytest.mark.parametrize("mu", [0.1, 0.7, 2.5])
def test_it_equals_a_dense_twin(mu: float) -> None:
    guarantee = GaussianDP(mu)
    grid = np.linspace(1e-3, 1, 800) * guarantee.epsilon_at(1e-15)
    theorems = [Theorem35(PRIORS, ApproxDP(e, guarantee.delta_at(e))) for e in grid]
    bound = Profile(PRIORS, guarantee)
    for v in (12, 20, 26, 33, 40):
        dense = min(float(theorem.tail(v)) for theorem in theorems)
        assert float(bound.tail(v)) == pytest.approx(dense, rel=1e-3)
        # Evaluated exactly where the search ends.
        epsilon = bound.epsilon(v)
        exact = Theorem35(PRIORS, ApproxDP(epsilon, guarantee.delta_at(epsilon)))
        assert float(bound.tail(v)) == pytest.approx(float(exact.tail(v)), rel=1e-12)
    for confidence in (0.05, 0.5, 0.95, 0.999):
        best = min(theorem.ceiling(confidence) for theorem in theorems)
        assert bound.ceiling(confidence) <= best


@pytest.mark.parametrize("delta", [0.0, 1e-9, 1e-3, 0.2])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
def test_never_above_theorem_35(epsilon: float, delta: float) -> None:
    guarantee = ApproxDP(epsilon, delta)
    v = np.arange(0, 42)
    tails = Profile(PRIORS, guarantee).tail(v)
    assert np.all(tails <= Theorem35(PRIORS, guarantee).tail(v) * (1 + 1e-12))
    if delta == 0:
        assert profile_ceilings(PRIORS, PureDP(epsilon)) == theorem_3_2(PRIORS, PureDP(epsilon))


def test_limits_of_gaussian_dp() -> None:
    assert profile_ceilings(PRIORS, GaussianDP(0.0)) == profile_ceilings(PRIORS, PureDP(1e-12))
    one = Profile(np.array([0.3]), GaussianDP(0.5))
    # One target: β + (1 − β)·δ at the best ε is at least the exact 1 − f and at most trivial.
    assert float(GaussianDP(0.5).power(0.3)) >= float(one.tail(1)) >= 0.3
