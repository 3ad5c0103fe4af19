"""Fano's inequality with the exact information of two Gaussians: twins, simulation, limits."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest

from reconbench.bounds import (
    ApproxDP,
    BinaryPriorBound,
    FanoInformation,
    GaussianDP,
    Relation,
    UnifiedBound,
    fano_information,
    gaussian_information,
)


def twin(mu: float, prior: float) -> float:
    """h(mixture) − h(normal) with 30 digits."""
    with mpmath.workdps(30):

        def density(x: mpmath.mpf) -> mpmath.mpf:
            return (1 - prior) * mpmath.npdf(x) + prior * mpmath.npdf(x, mu)

        def surprise(x: mpmath.mpf) -> mpmath.mpf:
            return -density(x) * mpmath.log(density(x))

        ends = [-12, -4, 0, mu / 2, mu, mu + 4, mu + 12]
        mixture = mpmath.quad(surprise, sorted(ends))
        return float(mixture - mpmath.log(2 * mpmath.pi * mpmath.e) / 2)


@pytest.mark.parametrize(("mu", "prior"), [(0.5, 0.5), (1.0, 0.3), (2.0, 0.1), (8.0, 0.4)])
def test_information_equals_an_independent_quadrature(mu: float, prior: float) -> None:
    assert gaussian_information(mu, prior) == pytest.approx(twin(mu, prior), abs=1e-12)


def test_information_by_simulation() -> None:
    """400,000 draws, 5 standard errors (false alarm 6e-7); twice the noise must fail."""
    rng, mu, prior = np.random.default_rng(4), 1.5, 0.3
    bits = rng.random(400_000) < prior
    x = rng.normal(mu * bits, 1.0)
    ratio = mu * x - mu**2 / 2
    log_mixture = np.logaddexp(math.log(1 - prior), math.log(prior) + ratio)
    density = np.where(bits, ratio, 0.0) - log_mixture
    error = 5 * density.std() / math.sqrt(density.size)
    assert abs(density.mean() - gaussian_information(mu, prior)) < error
    assert abs(density.mean() - gaussian_information(mu / 2, prior)) > error


def test_limits() -> None:
    assert gaussian_information(0.0, 0.3) == gaussian_information(3.0, 0.0) == 0.0
    for mu in (30.0, 79.0, 81.0, 1e9):
        assert gaussian_information(mu, 0.5) == pytest.approx(math.log(2), abs=1e-12)
    # μ → 0: π(1 − π)μ²/2
    assert gaussian_information(1e-3, 0.2) == pytest.approx(0.2 * 0.8 * 1e-6 / 2, rel=1e-5)
    found = [gaussian_information(mu, 0.2) for mu in (0.1, 0.5, 1.0, 2.0, 5.0)]
    assert found == sorted(found)
    with pytest.raises(ValueError, match="prior"):
        gaussian_information(1.0, 1.2)


def test_one_unit_throughout() -> None:
    """σ = 4, sensitivity 2, a fair bit: 0.672 with the analytic bound, not 0.852."""
    analytic = -math.log((1 + math.exp(-1 / 8)) / 2)
    assert fano_information([0.5, 0.5], analytic) == pytest.approx(0.672, abs=5e-4)
    assert gaussian_information(0.5, 0.5) < analytic


@pytest.mark.parametrize("mu", [0.5, 1.0, 2.0])
def test_it_lies_between_the_exact_success_and_f_dp(mu: float) -> None:
    baselines = np.array([0.5, 0.6, 0.8, 0.95, 0.99])
    guarantee = GaussianDP(mu)
    found = FanoInformation().success(baselines, guarantee)
    assert np.all(found < UnifiedBound().success(baselines, guarantee))
    assert np.all(found >= BinaryPriorBound().success(baselines, guarantee) - 1e-12)


def test_where_it_does_not_hold() -> None:
    bound = FanoInformation()
    assert np.isnan(bound.success([0.4], GaussianDP(1.0))).all()
    assert bound.refuses(ApproxDP(1.0, 1e-5)) and bound.refuses(
        GaussianDP(1.0, Relation.ADD_REMOVE)
    )
    with pytest.raises(ValueError, match="needs Gaussian DP"):
        bound.success([0.6], ApproxDP(1.0, 1e-5))
