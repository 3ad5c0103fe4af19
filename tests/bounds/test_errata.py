"""Each printed form that fails, failing, and the corrected one holding on the same example.

docs/reproduction.md has the derivations.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from numpy.typing import NDArray

from reconbench.bounds import (
    ZCDP,
    ApproxDP,
    BinaryPriorBound,
    GaussianDP,
    ProfileRecursion,
    PureDP,
    RandomisedResponse,
    ReRoRenyi,
    ReRoZCDP,
    Theorem32,
    Theorem35,
    UnifiedBound,
    bayes_error,
    beta,
    zcdp_rho,
)

FloatArray = NDArray[np.float64]


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
@pytest.mark.parametrize("values", [2, 3, 10])
def test_swanberg_section_42(values: int, epsilon: float) -> None:
    """Printed e^ε/(e^ε + 1/p): below what guessing the report achieves."""
    p, e = 1 / values, math.exp(epsilon)
    truth = RandomisedResponse(values, epsilon).truthful
    assert truth > e / (e + 1 / p) * 1.01
    assert truth <= float(beta(p, epsilon)) * (1 + 1e-12)


def test_swanberg_theorem_32_needs_pure_dp() -> None:
    """Published with probability δ: given that output, the success is certain."""
    prior, epsilon, delta = 0.1, 0.5, 0.01
    printed = Theorem32(np.array([prior]), PureDP(epsilon))
    assert float(printed.tail(1)) < 1.0
    # The mechanism is (0, δ)-DP; over its coins, not given its output, Theorem 3.5 holds.
    truth = delta + (1 - delta) * prior
    assert truth <= float(Theorem35(np.array([prior]), ApproxDP(epsilon, delta)).tail(1))
    with pytest.raises(ValueError, match="must be PureDP"):
        Theorem32(np.array([prior]), ApproxDP(epsilon, delta))  # type: ignore[arg-type]


def test_swanberg_theorem_35_is_passed_at_small_v() -> None:
    """Two uniform bits; the guess has 0, 1 or 2 wrong bits with q0, q1 (each), q2."""
    delta, e = 0.1, math.e
    q2 = (1 - 2 * delta - e * delta) / (1 + e) ** 2
    q1 = e * q2 + delta
    wrong = np.array([[0, 1, 1, 2], [1, 0, 2, 1], [1, 2, 0, 1], [2, 1, 1, 0]])
    channel = np.array([e * q1, q1, q2])[wrong]
    assert np.allclose(channel.sum(axis=1), 1)
    for x, y in itertools.permutations(range(4), 2):
        if wrong[x, y] == 1:
            assert np.maximum(channel[x] - e * channel[y], 0).sum() <= delta + 1e-12
    at_least_one = 1 - q2
    printed = Theorem35(np.full(2, 0.5), ApproxDP(1.0, delta))
    assert at_least_one > float(printed.tail(1)) + 0.01
    corrected = ProfileRecursion(np.full(2, 0.5), ApproxDP(1.0, delta))
    assert at_least_one <= float(corrected.tail(1))
    assert e * q1 <= float(corrected.tail(2)) <= 1


def test_swanberg_theorem_35_needs_its_n_delta() -> None:
    """With prior 0 the term is reached: v records published together with probability n·δ/v."""
    n, delta = 4, 0.05
    bound = Theorem35(np.zeros(n), ApproxDP(1.0, delta))
    for v in range(1, n + 1):
        assert float(bound.tail(v)) == pytest.approx(min(1.0, n * delta / v))


def test_kulynych_disease_status_is_no_erratum() -> None:
    """Printed: below 0.001 pp for a status of prevalence 1e-4, whose baseline is 0.9999."""
    gaussian = ZCDP(zcdp_rho(10.6, 1e-10)).gaussian()
    assert float(BinaryPriorBound().success(0.9999, gaussian)) - 0.9999 < 1e-5
    assert float(UnifiedBound().success(0.9999, gaussian)) - 0.9999 == pytest.approx(
        9.99e-5, rel=1e-3
    )
    # Singling out with weight 1e-4 is another question.
    assert float(UnifiedBound().success(1e-4, gaussian)) - 1e-4 == pytest.approx(0.0105, abs=5e-5)


def best_binary(prior_of_one: float, zero: FloatArray, one: FloatArray) -> float:
    return float(np.maximum((1 - prior_of_one) * zero, prior_of_one * one).sum())


def test_kulynych_theorem_d1_needs_queries_that_sum_to_one() -> None:
    """q ≡ 1 is a bounded function with expectation 1, above 1 − R_f(π)."""
    for mu, prior in itertools.product((0.1, 1.0, 3.0), (0.2, 0.5)):
        printed = 1 - bayes_error(GaussianDP(mu), prior)
        assert printed < 1.0
        corrected = float(BinaryPriorBound().success(1 - prior, GaussianDP(mu)))
        assert corrected == pytest.approx(printed)
    rng = np.random.default_rng(63)
    for _ in range(200):
        zero, one = rng.dirichlet(np.ones(4), size=2)
        prior, guess = float(rng.uniform()), rng.uniform(size=4)
        # q(z₁; θ) = guess, q(z₀; θ) = 1 − guess.
        expected = (1 - prior) * zero @ (1 - guess) + prior * one @ guess
        assert expected <= best_binary(prior, zero, one) + 1e-12


def test_kulynych_theorem_d1_swaps_the_prior() -> None:
    """A curve for one order of the two tables: T(M(z₀), M(z₁))(α) = (1 − α)/2."""
    zero, one, prior = np.array([1.0, 0.0]), np.array([0.5, 0.5]), 0.3
    alpha = np.linspace(0, 1, 1_001)
    f = (1 - alpha) / 2
    truth = best_binary(prior, zero, one)
    printed = 1 - float(np.min(prior * alpha + (1 - prior) * f))
    corrected = 1 - float(np.min((1 - prior) * alpha + prior * f))
    assert printed < truth - 0.1
    assert corrected == pytest.approx(truth)
    # For a symmetric curve the two agree.
    g = GaussianDP(0.8).tradeoff(alpha)
    both = [float(np.min(p * alpha + (1 - p) * g)) for p in (prior, 1 - prior)]
    assert both[0] == pytest.approx(both[1], abs=1e-6)


@pytest.mark.parametrize("rho", [0.1, 1.0, 5.0])
def test_kulynych_corollary_b1_needs_a_small_baseline(rho: float) -> None:
    """Printed for every baseline; above e^−ρ it falls below what guessing achieves."""
    for baseline in (0.985, 0.999, 1.0):
        printed = math.exp(-((math.sqrt(-math.log(baseline)) - math.sqrt(rho)) ** 2))
        assert printed < baseline
        assert float(ReRoZCDP().success(baseline, ZCDP(rho))) == 1.0
        assert float(ReRoRenyi().success(baseline, ZCDP(rho))) >= baseline
    small = math.exp(-2 * rho)
    printed = math.exp(-((math.sqrt(2 * rho) - math.sqrt(rho)) ** 2))
    assert float(ReRoZCDP().success(small, ZCDP(rho))) == pytest.approx(printed)
