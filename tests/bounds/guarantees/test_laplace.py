"""Laplace noise: densities, other libraries, simulation, bad input."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
import riskcal.analysis as riskcal
from dp_accounting.pld import privacy_loss_distribution as losses

from reconbench.bounds import LaplaceDP


def test_laplace_against_the_densities() -> None:
    """Neyman-Pearson between Lap(0, 1) and Lap(r, 1): reject above a threshold."""

    def survival(x: float) -> float:
        return 0.5 * math.exp(-x) if x > 0 else 1 - 0.5 * math.exp(x)

    for ratio, threshold in itertools.product((0.2, 1.0, 4.0), (-3.0, -0.5, 0.1, 0.7, 2.0, 6.0)):
        alpha, power = survival(threshold), survival(threshold - ratio)
        guarantee = LaplaceDP(ratio)
        assert float(guarantee.power(alpha)) == pytest.approx(power, rel=1e-12)
        assert float(guarantee.tradeoff(alpha)) == pytest.approx(1 - power, abs=1e-14)
    assert LaplaceDP(2.0).total_variation() == pytest.approx(1 - math.exp(-1.0))
    assert LaplaceDP(2.0).epsilon_at(0.0) == 2.0
    assert float(LaplaceDP(3.0).power(1e-300)) == pytest.approx(math.exp(3.0) * 1e-300)


@pytest.mark.parametrize("ratio", [0.2, 1.0, 3.0])
def test_laplace_agrees_with_dp_accounting_and_riskcal(ratio: float) -> None:
    pld = losses.from_laplace_mechanism(1 / ratio, value_discretization_interval=1e-3)
    guarantee = LaplaceDP(ratio)
    for epsilon in (0.0, 0.1 * ratio, 0.7 * ratio):
        ours, theirs = guarantee.delta_at(epsilon), pld.get_delta_for_epsilon(epsilon)
        assert ours <= theirs + 1e-12
        assert theirs == pytest.approx(ours, abs=1e-4)
    alpha = np.array([0.01, 0.2, 0.5, 0.8])
    np.testing.assert_allclose(
        guarantee.tradeoff(alpha), riskcal.get_beta_from_pld(pld, alpha=alpha), atol=1e-3
    )


def test_a_simulated_test_follows_the_curve_and_half_the_noise_breaks_it() -> None:
    """Reject above 1; each |z| < 4.5 check fails by chance with probability 7e-6."""
    rng = np.random.default_rng(21)
    guarantee, trials = LaplaceDP(1.0), 200_000

    def rates(scale: float) -> tuple[float, float]:
        noise = rng.laplace(0.0, scale / guarantee.ratio, (2, trials))
        return float(np.mean(noise[0] > 1)), float(np.mean(1 + noise[1] > 1))

    error = 1 / math.sqrt(trials)
    false_positive, true_positive = rates(1.0)
    assert true_positive == pytest.approx(float(guarantee.power(false_positive)), abs=4.5 * error)
    false_positive, true_positive = rates(0.5)
    assert true_positive > float(guarantee.power(false_positive)) + 4.5 * error


def test_bad_ratios_and_groups_are_refused() -> None:
    with pytest.raises(ValueError, match="ratio must be >= 0"):
        LaplaceDP(-1.0)
    with pytest.raises(ValueError, match=r"size must be an integer >= 1, got 1\.5"):
        LaplaceDP(1.0).group(1.5)  # type: ignore[arg-type]
