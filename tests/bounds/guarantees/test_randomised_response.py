"""Randomised response: enumeration, simulation, bad input."""

from __future__ import annotations

import math

import numpy as np
import pytest
from dp_accounting.pld import privacy_loss_distribution as losses

from reconbench.bounds import PureDP, RandomisedResponse


@pytest.mark.parametrize(("values", "epsilon"), [(2, 0.5), (5, 2.0), (40, 3.0)])
def test_randomised_response_by_enumeration(values: int, epsilon: float) -> None:
    guarantee = RandomisedResponse(values, epsilon)
    p, q = guarantee.truthful, guarantee.each_other
    assert p + (values - 1) * q == pytest.approx(1.0)
    assert p / q == pytest.approx(math.exp(epsilon))
    null, alternative = np.full(values, q), np.full(values, q)
    null[0], alternative[1] = p, p
    for e in (0.0, 0.3, epsilon, epsilon + 1):
        truth = float(np.maximum(alternative - math.exp(e) * null, 0).sum())
        assert guarantee.delta_at(e) == pytest.approx(truth, abs=1e-15)
    pld = losses.from_randomized_response(1 - p + q, values, value_discretization_interval=1e-4)
    assert guarantee.delta_at(0.3) == pytest.approx(pld.get_delta_for_epsilon(0.3), abs=1e-4)
    orders = np.array([1.5, 2.0, 10.0])
    moment = [float(np.sum(alternative**t * null ** (1 - t))) for t in orders]
    np.testing.assert_allclose(guarantee.renyi(orders), np.log(moment) / (orders - 1), rtol=1e-12)
    if values == 2:
        np.testing.assert_allclose(guarantee.renyi(orders), PureDP(epsilon).renyi(orders))


def test_a_simulated_test_follows_the_curve_and_half_the_noise_breaks_it() -> None:
    """Reject on the alternative's own value; each check fails by chance with probability 7e-6."""
    rng = np.random.default_rng(21)
    guarantee, trials = RandomisedResponse(4, 1.0), 200_000

    def rates(scale: float) -> tuple[float, float]:
        weaker = RandomisedResponse(guarantee.values, guarantee.epsilon / scale)
        reject = rng.random((2, trials)) < np.array([[weaker.each_other], [weaker.truthful]])
        return float(reject[0].mean()), float(reject[1].mean())

    error = 1 / math.sqrt(trials)
    false_positive, true_positive = rates(1.0)
    assert true_positive == pytest.approx(float(guarantee.power(false_positive)), abs=4.5 * error)
    false_positive, true_positive = rates(0.5)
    assert true_positive > float(guarantee.power(false_positive)) + 4.5 * error


def test_one_value_is_refused() -> None:
    with pytest.raises(ValueError, match="values must be"):
        RandomisedResponse(1, 1.0)
