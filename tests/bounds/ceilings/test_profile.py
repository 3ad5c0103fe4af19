"""The profile-optimised ceiling: golden figures, a dense twin, channels, limits, bad input."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from numpy.typing import NDArray

from reconbench.bounds import (
    ApproxDP,
    GaussianDP,
    HighProbabilityBound,
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
        assert float(bound.tail(v)) == float(exact.tail(v))
    for confidence in (0.05, 0.5, 0.95, 0.999):
        best = min(theorem.ceiling(confidence) for theorem in theorems)
        assert bound.ceiling(confidence) <= best


def test_a_ceiling_is_what_its_tail_says() -> None:
    for priors, guarantee in itertools.product(
        (PRIORS, np.full(60, 0.2), np.array([0.5])),
        (GaussianDP(0.3), GaussianDP(1.5), ApproxDP(1.0, 1e-3), PureDP(0.5)),
    ):
        bound: HighProbabilityBound = Profile(priors, guarantee)
        for confidence in (0.05, 0.5, 0.95):
            v = bound.ceiling(confidence)
            assert 0 <= v <= bound.n
            assert bound.tail(v + 1) <= 1 - confidence
            if v > 0:
                assert bound.tail(v) > 1 - confidence


@pytest.mark.parametrize("delta", [0.0, 1e-9, 1e-3, 0.2])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
def test_never_above_theorem_35(epsilon: float, delta: float) -> None:
    guarantee = ApproxDP(epsilon, delta)
    v = np.arange(0, 42)
    tails = Profile(PRIORS, guarantee).tail(v)
    assert np.all(tails <= Theorem35(PRIORS, guarantee).tail(v))
    if delta == 0:
        assert profile_ceilings(PRIORS, PureDP(epsilon)) == theorem_3_2(PRIORS, PureDP(epsilon))


def best_tails(channel: FloatArray, priors: FloatArray) -> list[float]:
    """The largest P[L ≥ v] of any attack, v = 1, …, n, records being reported independently."""
    n, m = priors.shape
    tables = np.array(list(itertools.product(range(m), repeat=n)))
    outputs = np.array(list(itertools.product(range(channel.shape[1]), repeat=n)))
    joint = np.prod(priors[np.arange(n), tables], axis=1)[:, None] * np.prod(
        channel[tables[:, None, :], outputs[None]], axis=2
    )
    hits = (tables[:, None, :] == tables[None]).sum(axis=2)
    return [
        float(np.max((hits >= v).T.astype(float) @ joint, axis=0).sum()) for v in range(1, n + 1)
    ]


def test_enumerated_channels_never_pass_it() -> None:
    """Two-valued Gaussian reports, rounded to a few outputs, which keeps their guarantee."""
    rng = np.random.default_rng(51)
    for mu in (0.2, 1.0, 2.5):
        cuts = np.sort(rng.normal(mu / 2, 1, size=3))
        edges = np.concatenate([[-np.inf], cuts, [np.inf]])
        cdf = np.array(
            [[0.5 * math.erfc((at - e) / math.sqrt(2)) for e in edges] for at in (0, mu)]
        )
        channel = np.diff(cdf, axis=1)
        for n in (1, 2, 3):
            likelier = rng.uniform(0.5, 0.9, size=n)
            priors = np.column_stack([likelier, 1 - likelier])
            bound = Profile(likelier, GaussianDP(mu))
            for v, best in enumerate(best_tails(channel, priors), start=1):
                assert best <= float(bound.tail(v)) + 1e-12


def test_simulated_randomised_response_reaches_it_and_half_the_noise_passes() -> None:
    rng = np.random.default_rng(52)
    m, n, runs, epsilon = 4, 60, 20_000, 1.0

    def successes(true_epsilon: float) -> NDArray[np.int64]:
        kept = math.exp(true_epsilon) / (math.exp(true_epsilon) + m - 1)
        return rng.binomial(n, kept, size=runs)

    bound = Profile(np.full(n, 1 / m), PureDP(epsilon))
    error = 4.5 * math.sqrt(0.05 * 0.95 / runs)
    assert np.mean(successes(epsilon) > bound.ceiling(0.95)) <= 0.05 + error
    assert np.mean(successes(epsilon) >= bound.ceiling(0.5)) >= 0.5 - 4.5 * math.sqrt(0.25 / runs)
    assert np.mean(successes(2 * epsilon) > bound.ceiling(0.95)) > 0.05 + error


def test_limits_of_gaussian_dp() -> None:
    assert profile_ceilings(PRIORS, GaussianDP(0.0)) == profile_ceilings(PRIORS, PureDP(1e-12))
    assert profile_ceilings(PRIORS, GaussianDP(math.inf), [0.01]) == {0.01: 40}
    one = Profile(np.array([0.3]), GaussianDP(0.5))
    # One target: β + (1 − β)·δ at the best ε is at least the exact 1 − f and at most trivial.
    assert float(GaussianDP(0.5).power(0.3)) >= float(one.tail(1)) >= 0.3
