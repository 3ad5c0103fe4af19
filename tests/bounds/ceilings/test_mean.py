"""The mean ceiling from the guess's prior: closed forms, enumeration, simulation, limits."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
from numpy.typing import NDArray

from reconbench.bounds import ApproxDP, GaussianDP, PureDP
from reconbench.bounds.ceilings.mean import MeanFromGuess, mean_ceiling
from reconbench.bounds.ceilings.prior_exact import PriorExact

FloatArray = NDArray[np.float64]


def test_golden_hundred_targets() -> None:
    assert mean_ceiling(np.full(100, 0.56), GaussianDP(0.268051)) == pytest.approx(66.24, abs=0.005)


@pytest.mark.parametrize("b", [1e-20, 1e-6, 0.1, 0.5, 0.97])
def test_it_equals_the_twin(b: float) -> None:
    with mpmath.workdps(60):
        # 1 − f(b) = Φ(Φ⁻¹(b) + μ), the quantile by bisection.
        low, high = mpmath.mpf(-12), mpmath.mpf(12)
        for _ in range(200):
            middle = (low + high) / 2
            low, high = (middle, high) if mpmath.ncdf(middle) < b else (low, middle)
        expected = float(mpmath.ncdf(low + mpmath.mpf("0.7")))
    assert mean_ceiling([b], GaussianDP(0.7)) == pytest.approx(expected, rel=1e-9)
    kinks = min(1.0, 0.01 + math.e * b, 1 - math.exp(-1) * (0.99 - b))
    assert mean_ceiling([b], ApproxDP(1.0, 0.01)) == pytest.approx(kinks, rel=1e-12)


def test_random_channels_and_attacks_never_pass_it() -> None:
    """Every target's success, for any guesses, against their own average prior success."""
    rng = np.random.default_rng(40)
    closest = 0.0
    for _ in range(300):
        m, outputs = int(rng.integers(2, 6)), int(rng.integers(2, 8))
        channel = rng.dirichlet(np.full(outputs, rng.choice([0.2, 1.0, 10.0])), size=m)
        pi = rng.dirichlet(np.full(m, rng.choice([0.5, 5.0])))
        success = rng.random((m, m)) < 0.5
        guess = rng.integers(m, size=outputs)
        hit = success[guess].T * channel
        weights = pi @ channel
        b = min(1.0, float(weights @ (success @ pi)[guess]))
        for epsilon in (0.05, 0.5, 2.0):
            excess = channel[:, None] - math.exp(epsilon) * channel[None]
            delta = float(np.maximum(excess, 0).sum(axis=2).max())
            bound = mean_ceiling([b], ApproxDP(epsilon, min(delta, 0.999)))
            assert pi @ hit.sum(axis=1) <= bound + 1e-12
            closest = max(closest, float(pi @ hit.sum(axis=1)) / max(bound, 1e-12))
    assert closest > 0.95


def test_simulated_randomised_response_comes_close_and_half_the_noise_passes() -> None:
    rng = np.random.default_rng(41)
    m, runs, n = 100, 4000, 50

    def mean_success(epsilon: float) -> tuple[float, float]:
        x = rng.integers(m, size=(runs, n))
        other = (x + rng.integers(1, m, size=x.shape)) % m
        kept = rng.random(x.shape) < math.exp(epsilon) / (math.exp(epsilon) + m - 1)
        hits = (np.where(kept, x, other) == x).sum(axis=1)
        return float(hits.mean()), 4.5 * float(hits.std()) / math.sqrt(runs)

    ceiling = mean_ceiling(np.full(n, 1 / m), PureDP(1.0))
    mean, error = mean_success(1.0)
    assert 0.95 * ceiling - error <= mean <= ceiling + error
    mean, error = mean_success(2.0)
    assert mean > ceiling + error


def test_runs_are_averaged_before_the_curve_is_applied() -> None:
    """Averaging 1 − f(b) over runs instead comes out below a real attack's success.

    A record is published with probability δ. The attack then names that very record, a guess of
    prior 0 that is right; otherwise it names an attribute that records have with probability p.
    """
    delta, p = 0.1, 0.95
    guarantee = ApproxDP(1e-9, delta)
    truth = delta + (1 - delta) * p
    runs = np.array([[0.0]] + [[p]] * 9)
    assert mean_ceiling(runs, guarantee) >= truth
    assert mean_ceiling(runs, guarantee) == pytest.approx(mean_ceiling([0.9 * p], guarantee))
    assert np.mean([mean_ceiling(run, guarantee) for run in runs]) < truth - 0.01


def test_limits_and_monotonicity() -> None:
    b = np.array([0.0, 1e-9, 0.3, 1.0])
    np.testing.assert_allclose(MeanFromGuess(b, GaussianDP(0.0)).per_target, b, rtol=1e-12)
    assert MeanFromGuess(b, PureDP(1.0)).per_target[[0, 3]].tolist() == [0.0, 1.0]
    np.testing.assert_allclose(MeanFromGuess(b[1:], GaussianDP(math.inf)).per_target, 1.0)
    previous = b
    for mu in (0.1, 1.0, 5.0):
        bound = MeanFromGuess(b, GaussianDP(mu)).per_target
        assert np.all(bound >= previous)
        previous = bound


def test_never_below_the_prior_exact_ceiling_of_the_best_guess() -> None:
    priors = np.random.default_rng(42).dirichlet(np.ones(5), size=30)
    for guarantee in (GaussianDP(0.5), PureDP(1.0), ApproxDP(1.0, 0.01)):
        mean = MeanFromGuess(priors.max(axis=1), guarantee).per_target
        assert np.all(mean >= PriorExact(priors, guarantee).per_target - 1e-12)


def test_bad_input_is_refused() -> None:
    with pytest.raises(ValueError, match="prior_success must be a non-empty array"):
        MeanFromGuess(np.array([]), PureDP(1.0))
    with pytest.raises(ValueError, match="prior_success must be a non-empty array"):
        MeanFromGuess(np.zeros((2, 2, 2)), PureDP(1.0))
    with pytest.raises(ValueError, match=r"prior_success must be in \[0, 1\], got 1.5"):
        mean_ceiling([1.5], PureDP(1.0))
