"""The f-DP recursion for any priors: known cases, enumeration, simulation, limits, bad input."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import binom

from reconbench.bounds import (
    ApproxDP,
    GaussianDP,
    Guarantee,
    PoissonBinomial,
    PureDP,
)
from reconbench.bounds.audit.one_run import Tally, UniformCanaries
from reconbench.bounds.ceilings.fdp_recursion import FdpRecursion, fdp_ceilings
from reconbench.bounds.ceilings.prior_exact import PriorExact
from reconbench.bounds.ceilings.profile import profile_ceilings

FloatArray = NDArray[np.float64]


def binary(likelier: FloatArray) -> FloatArray:
    return np.column_stack([likelier, 1 - likelier])


def test_golden_hundred_targets() -> None:
    # Theorem 3.5 gives 84 and 77 for these, the profile 77 and 46.
    assert fdp_ceilings(np.full((100, 2), [0.56, 0.44]), GaussianDP(0.268051))[0.95] == 72
    assert fdp_ceilings(np.full((100, 10), 0.1), GaussianDP(0.719117))[0.95] == 45


@pytest.mark.parametrize("guarantee", [GaussianDP(0.0), GaussianDP(0.8), PureDP(1.0)])
@pytest.mark.parametrize(("n", "k"), [(1, 3), (10, 2), (30, 5)])
def test_uniform_priors_are_the_published_recursion(n: int, k: int, guarantee: Guarantee) -> None:
    bound = FdpRecursion(np.full((n, k), 1 / k), guarantee)
    for v in range(1, n + 1, 3):
        published = UniformCanaries(guarantee).p_value(Tally(v, n, n, k))
        ours = float(bound.tail(v))
        # The same up to prices on a grid and tangents at the smaller of two probabilities.
        assert published * (1 - 1e-6) <= ours <= published * 1.03 + 1e-12


def test_one_target_is_near_the_prior_exact_ceiling() -> None:
    rng = np.random.default_rng(60)
    for guarantee in (GaussianDP(0.5), GaussianDP(2.0), PureDP(1.0)):
        for pi in rng.dirichlet(np.ones(4), size=10):
            tail = float(FdpRecursion(pi[None], guarantee).tail(1))
            exact = PriorExact(pi[None], guarantee).mean
            assert exact - 1e-9 <= tail <= min(1.0, 1.25 * exact)


def test_group_reveal_stays_below() -> None:
    """A random group of j records is published with probability n·δ/j, the rest is hidden."""
    n, delta, p = 20, 0.01, 0.6
    rng = np.random.default_rng(63)
    priors = binary(np.full(n, p) + rng.uniform(-0.05, 0.05, size=n))
    bound = FdpRecursion(priors, ApproxDP(1e-9, delta))
    v = np.arange(1, n + 1)
    tails, least = bound.tail(v), float(priors.max(axis=1).min())
    for j in range(1, n + 1):
        # The hidden records are guessed from the prior, each right with at least this probability.
        hidden, rest = binom.sf(v - 1, n, least), binom.sf(v - j - 1, n - j, least)
        published = n * delta / j
        assert np.all((1 - published) * hidden + published * rest <= tails + 1e-12)


def test_simulated_randomised_response_and_half_the_noise() -> None:
    rng = np.random.default_rng(64)
    m, n, runs, epsilon = 4, 200, 20_000, 1.0

    def successes(true_epsilon: float) -> NDArray[np.int64]:
        kept = math.exp(true_epsilon) / (math.exp(true_epsilon) + m - 1)
        return rng.binomial(n, kept, size=runs)

    # Priors within a factor e^ε of each other: guessing the report is optimal.
    priors = rng.dirichlet(np.full(m, 60.0), size=n)
    v95 = fdp_ceilings(priors, PureDP(epsilon))[0.95]
    error = 4.5 * math.sqrt(0.05 * 0.95 / runs)
    assert np.mean(successes(epsilon) > v95) <= 0.05 + error
    assert np.mean(successes(2 * epsilon) > v95) > 0.05 + error


def test_without_leakage_it_is_near_the_prior_sum() -> None:
    likelier = np.random.default_rng(65).uniform(0.5, 0.95, size=100)
    prior = PoissonBinomial(likelier)
    for guarantee in (GaussianDP(0.0), PureDP(1e-12)):
        bound = FdpRecursion(binary(likelier), guarantee)
        v95 = int(np.argmax(prior.tails <= 0.05)) - 1
        assert v95 <= bound.ceiling(0.95) <= v95 + 3
        v = np.arange(60, 101, 8)
        assert np.all(bound.tail(v) >= prior.tail(v) - 1e-12)


def test_a_tail_only_rounds_up() -> None:
    full = -np.sort(-np.random.default_rng(68).dirichlet(np.full(200, 0.05), size=20), axis=1)
    v = np.arange(4, 21, 4)
    exact = previous = FdpRecursion(full, GaussianDP(1.0)).tail(v)
    for kept in (100, 10, 2):
        tail = full[:, kept:].sum(axis=1)
        bound = FdpRecursion(full[:, :kept], GaussianDP(1.0), tail).tail(v)
        assert np.all(bound >= previous * (1 - 1e-9))
        previous = bound
        if kept == 100:
            np.testing.assert_allclose(bound, exact, rtol=0.01)
    assert fdp_ceilings([[0.1]] * 9, GaussianDP(1.0), [0.5], 0.9) == fdp_ceilings(
        np.full((9, 10), 0.1), GaussianDP(1.0), [0.5]
    )


def test_below_the_profile_on_skewed_priors() -> None:
    priors = np.random.default_rng(67).dirichlet(np.full(10, 0.4), size=100)
    for mu in (0.268051, 0.719117, 2.000446):
        ours = fdp_ceilings(priors, GaussianDP(mu))[0.95]
        assert ours <= profile_ceilings(priors.max(axis=1), GaussianDP(mu))[0.95]


def test_bad_input_is_refused() -> None:
    with pytest.raises(ValueError, match="pass what is not listed as tail_mass"):
        FdpRecursion(np.full((2, 3), 0.3), GaussianDP(1.0))
    with pytest.raises(ValueError, match="non-empty 2-D"):
        FdpRecursion(np.array([0.5, 0.5]), GaussianDP(1.0))
