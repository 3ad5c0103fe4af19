"""One-run audits: closed forms, twins, the null in small samples, coverage, inversion."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import binom

from reconbench.bounds import ApproxDP, GaussianDP, Guarantee, PureDP, Relation
from reconbench.bounds.audit.one_run import (
    Membership,
    OneRunTest,
    Tally,
    UniformCanaries,
    one_run_ceiling,
    one_run_lower_bound,
)


def gaussian(mu: float) -> OneRunTest:
    return UniformCanaries(GaussianDP(mu))


def pure(epsilon: float) -> OneRunTest:
    return Membership(PureDP(epsilon))


def exact_membership(tally: Tally, epsilon: float, delta: float) -> float:
    """Steinke et al. as printed: β + 2mδα, every tail summed term by term."""
    with mpmath.workdps(60):
        q = 1 / (1 + mpmath.exp(-mpmath.mpf(epsilon)))
        r, v = tally.guesses, tally.correct
        pmf = [mpmath.binomial(r, k) * q**k * (1 - q) ** (r - k) for k in range(r + 1)]
        beta = mpmath.fsum(pmf[v:])
        alpha = max(mpmath.fsum(pmf[v - i : v]) / i for i in range(1, v + 1))
        return float(min(mpmath.mpf(1), beta + 2 * tally.canaries * mpmath.mpf(delta) * alpha))


@pytest.mark.parametrize("delta", [0.0, 1e-9, 1e-4, 0.01])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
def test_membership_equals_the_twin(epsilon: float, delta: float) -> None:
    for tally in (Tally(1, 1, 1), Tally(30, 40, 60), Tally(40, 40, 40), Tally(5, 40, 1000)):
        p = Membership(ApproxDP(epsilon, delta)).p_value(tally)
        assert p == pytest.approx(exact_membership(tally, epsilon, delta), rel=1e-9)


def naive_recursion(tally: Tally, guarantee: Guarantee, tau: float) -> bool:
    """The recursion word for word, with g(r) as the least x with 1 − f(x) ≥ r, by root finding."""

    def inverse(r: float) -> float:
        if r <= float(1 - guarantee.tradeoff(0.0)):
            return 0.0
        return float(brentq(lambda x: float(1 - guarantee.tradeoff(x)) - r, 0.0, 1.0, xtol=1e-15))

    c, guesses, m, k = tally.correct, tally.guesses, tally.canaries, tally.values
    r, h = [0.0] * (c + 1), [0.0] * (c + 1)
    r[c], h[c] = tau * c / m, tau * (guesses - c) / m
    for i in range(c - 1, -1, -1):
        h[i] = max(h[i + 1], (k - 1) * inverse(min(1.0, r[i + 1])))
        r[i] = r[i + 1] + i / (guesses - i) * (h[i] - h[i + 1])
    return r[0] + h[0] > guesses / m


@pytest.mark.parametrize("guarantee", [GaussianDP(0.4), PureDP(1.0), ApproxDP(0.5, 0.01)])
def test_uniform_canaries_equal_the_twin(guarantee: Guarantee) -> None:
    test = UniformCanaries(guarantee)
    for tally in (Tally(15, 20, 20), Tally(9, 12, 30), Tally(13, 20, 20, 5)):
        p = test.p_value(tally)
        assert p < 1
        assert naive_recursion(tally, guarantee, p * (1 + 1e-6))
        assert not naive_recursion(tally, guarantee, p * (1 - 1e-6))


@pytest.mark.parametrize("k", [2, 3, 10])
@pytest.mark.parametrize("guarantee", [GaussianDP(1.0), PureDP(2.0), ApproxDP(1.0, 0.1)])
def test_one_canary_is_the_fixed_point(k: int, guarantee: Guarantee) -> None:
    p = UniformCanaries(guarantee).p_value(Tally(1, 1, 1, k))
    assert p == pytest.approx(float(1 - guarantee.tradeoff((1 - p) / (k - 1))), rel=1e-9)


@pytest.mark.parametrize("m", [1, 2, 3, 5, 10, 50])
@pytest.mark.parametrize("k", [2, 3, 10])
def test_chance_level_guessing_shows_nothing(m: int, k: int) -> None:
    """The null, exactly: with c ~ Bin(m, 1/k) every lower bound is 0 as often as promised."""
    right = np.arange(m + 1)
    probability = binom.pmf(right, m, 1 / k)
    for confidence in (0.5, 0.95, 0.99):
        bounds = [one_run_lower_bound(Tally(int(c), m, m, k), gaussian, confidence) for c in right]
        assert probability[np.array(bounds) > 0].sum() <= 1 - confidence + 1e-12
        if k == 2:
            bounds = [one_run_lower_bound(Tally(int(c), m, m), pure, confidence) for c in right]
            assert probability[np.array(bounds) > 0].sum() <= 1 - confidence + 1e-12


def test_p_values_are_never_below_the_truth_without_leakage() -> None:
    for m, k in ((1, 2), (7, 2), (30, 4), (100, 10)):
        truth = binom.sf(np.arange(m + 1) - 1, m, 1 / k)
        test = UniformCanaries(GaussianDP(0.0))
        p = np.array([test.p_value(Tally(c, m, m, k)) for c in range(m + 1)])
        assert np.all(p >= truth - 1e-9)
        assert np.all(np.diff(p) <= 1e-12)


def test_membership_against_randomised_response_and_half_the_noise() -> None:
    """Exact: v ~ Bin(m, q) reaches the level, and at twice ε it passes the bound."""
    m, epsilon = 200, 1.0
    right = np.arange(m + 1)
    bounds = np.array([one_run_lower_bound(Tally(int(c), m, m), pure) for c in right])

    def passes(true_epsilon: float) -> float:
        q = 1 / (1 + math.exp(-true_epsilon))
        return float(binom.pmf(right, m, q)[bounds > epsilon].sum())

    assert 0.02 < passes(epsilon) <= 0.05
    assert passes(2 * epsilon) > 0.9


def test_canaries_of_many_values_against_randomised_response_and_half_the_noise() -> None:
    m, k, epsilon = 200, 5, 1.0

    def truthful(epsilon: float) -> float:
        return math.exp(epsilon) / (math.exp(epsilon) + k - 1)

    v95 = one_run_ceiling(UniformCanaries(PureDP(epsilon)), m, m, k)
    assert 0.005 < binom.sf(v95, m, truthful(epsilon)) <= 0.05
    assert binom.sf(v95, m, truthful(2 * epsilon)) > 0.99


def test_gaussian_canaries_are_covered() -> None:
    """Each canary's bit in its own Gaussian noise, guessed by its sign: right with Φ(μ/2)."""
    m, right = 100, np.arange(101)
    bounds = np.array([one_run_lower_bound(Tally(int(c), m, m), gaussian) for c in right])
    assert np.all(np.diff(bounds) >= -1e-9)
    previous = 0.0
    for mu in (0.0, 0.3, 1.0, 2.0):
        counts = binom.pmf(right, m, 0.5 * math.erfc(-mu / 2 / math.sqrt(2)))
        assert counts[bounds > mu].sum() <= 0.05
        # Noise of their own is far from the worst that f-DP allows, yet the bound follows it.
        assert counts @ bounds >= previous
        previous = float(counts @ bounds)
    assert previous > 0.4


def test_abstaining_helps_where_scores_tell() -> None:
    few = one_run_lower_bound(Tally(50, 50, 1000), pure)
    many = one_run_lower_bound(Tally(525, 1000, 1000), pure)
    assert few > 2 > many
    assert Membership(ApproxDP(1.0, 1e-5)).p_value(Tally(40, 50, 10**4)) > Membership(
        ApproxDP(1.0, 1e-5)
    ).p_value(Tally(40, 50, 50))


def test_limits_and_monotonicity() -> None:
    tally = Tally(80, 100, 100)
    p = [pure(e).p_value(tally) for e in (1e-9, 0.1, 0.5, 1.0, 2.0, 50.0)]
    assert p == sorted(p)
    assert p[0] == pytest.approx(float(binom.sf(79, 100, 0.5)), rel=1e-6)
    assert p[-1] == 1.0
    q = [gaussian(mu).p_value(tally) for mu in (0.0, 0.1, 0.5, 1.0, 5.0, math.inf)]
    assert q == sorted(q)
    assert q[-1] == 1.0
    for test in (pure(1.0), gaussian(1.0)):
        assert test.p_value(Tally(0, 10, 10)) == 1.0
        ceilings = [one_run_ceiling(test, 100, 100, 2, c) for c in (0.05, 0.5, 0.95, 0.999)]
        assert ceilings == sorted(ceilings)
    assert one_run_ceiling(pure(1.0), 100, 100) == 80
    assert one_run_ceiling(pure(math.inf), 100, 100) == 100
    assert one_run_lower_bound(Tally(0, 10, 10), gaussian) == 0
    assert one_run_lower_bound(Tally(10**4, 10**4, 10**4), pure) == pytest.approx(8.112, abs=0.01)


def test_the_bound_is_refuted_just_below_and_not_above() -> None:
    tally = Tally(90, 100, 100)
    for family in (gaussian, pure):
        bound = one_run_lower_bound(tally, family)
        assert family(bound * (1 - 1e-6)).p_value(tally) <= 0.05
        assert family(bound * (1 + 1e-6)).p_value(tally) > 0.05


@pytest.mark.parametrize(
    ("numbers", "message"),
    [
        ((3, 2, 5), "correct must be an integer from 0 to guesses = 2"),
        ((-1, 2, 5), "correct must be an integer from 0"),
        ((1.5, 2, 5), "correct must be an integer from 0"),
        ((1, 6, 5), "guesses must be at most canaries = 5"),
        ((0, 0, 5), "guesses must be an integer >= 1"),
        ((1, 2, 5, 1), "values must be at least 2"),
    ],
)
def test_bad_tallies_are_refused(numbers: tuple[int, ...], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Tally(*numbers)


def test_other_bad_input_is_refused() -> None:
    with pytest.raises(ValueError, match="use UniformCanaries for a whole trade-off curve"):
        Membership(GaussianDP(1.0))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="values must be 2"):
        pure(1.0).p_value(Tally(1, 2, 2, 3))
    with pytest.raises(ValueError, match="replace-one"):
        Membership(PureDP(1.0, Relation.ADD_REMOVE))
    with pytest.raises(ValueError, match="replace-one"):
        UniformCanaries(GaussianDP(1.0, Relation.ADD_REMOVE))
    with pytest.raises(ValueError, match="confidence must be"):
        one_run_lower_bound(Tally(1, 1, 1), pure, 1.0)
