"""Trade-off curves, privacy profiles and their inverses."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
import riskcal.analysis as riskcal
from dp_accounting.pld import accountant, common, privacy_loss_mechanism
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import ndtri

from reconbench.bounds import ApproxDP, GaussianDP, PureDP, Relation, gaussian_mu


def exact_gaussian_delta(epsilon: float, mu: float) -> mpmath.mpf:
    """δ(ε) = Φ(−ε/μ + μ/2) − e^ε Φ(−ε/μ − μ/2), as it stands, in 60 digits."""
    with mpmath.workdps(60):
        e, m = mpmath.mpf(epsilon), mpmath.mpf(mu)
        return mpmath.ncdf(-e / m + m / 2) - mpmath.exp(e) * mpmath.ncdf(-e / m - m / 2)


def test_approx_profile_closed_forms() -> None:
    guarantee = ApproxDP(1.0, 1e-5)
    assert guarantee.delta_at(1.0) == 1e-5
    assert guarantee.delta_at(7.0) == 1e-5
    assert guarantee.epsilon_at(1e-5) == 1.0
    assert guarantee.epsilon_at(9e-6) == math.inf
    e = math.e
    assert guarantee.total_variation() == pytest.approx(1e-5 + (1 - 1e-5) * (e - 1) / (e + 1))
    assert PureDP(1.0).delta_at(1.0) == 0.0
    assert PureDP(1.0).epsilon_at(0.0) == 1.0
    assert PureDP(2.0).total_variation() == pytest.approx(math.tanh(1.0), rel=1e-15)


def test_tradeoff_keeps_small_levels() -> None:
    # 1 − f near α = 0, where 1 − α would lose every digit: f(α) = 1 − Φ(Φ⁻¹(α) + μ).
    alpha = np.array([1e-300, 1e-30, 1e-12])
    f = GaussianDP(30.0).tradeoff(alpha)
    expected = [float(mpmath.ncdf(-float(x) - 30)) for x in ndtri(alpha)]
    np.testing.assert_allclose(f, expected, rtol=1e-12)
    np.testing.assert_allclose(PureDP(700.0).tradeoff(alpha), math.exp(-700.0), rtol=1e-12)


@settings(max_examples=150, deadline=None)
@given(st.floats(-6, 1.5), st.floats(0, 1))
def test_gaussian_delta_is_accurate_wherever_it_is_not_zero(log_mu: float, depth: float) -> None:
    mu = 10**log_mu
    epsilon = mu * (mu / 2 + 36 * depth)
    exact = exact_gaussian_delta(epsilon, mu)
    ours = mpmath.mpf(GaussianDP(mu).delta_at(epsilon))
    assert abs(ours / exact - 1) < 1e-11


@pytest.mark.parametrize("epsilon", [0.01, 0.1, 1.0, 10.0, 100.0])
@pytest.mark.parametrize("delta", [1e-12, 1e-9, 1e-5, 1e-2])
def test_gaussian_mu_and_epsilon_solve_the_exact_equation(epsilon: float, delta: float) -> None:
    mu = gaussian_mu(epsilon, delta)
    assert abs(exact_gaussian_delta(epsilon, mu) / mpmath.mpf(delta) - 1) < 1e-11
    assert GaussianDP(mu).epsilon_at(delta) == pytest.approx(epsilon, rel=1e-10)


@pytest.mark.parametrize(
    ("epsilon", "mu"), [(0.5, 0.142211), (1.0, 0.268051), (3.0, 0.719117), (10.0, 2.000446)]
)
def test_gaussian_mu_golden(epsilon: float, mu: float) -> None:
    assert gaussian_mu(epsilon, 1e-5) == pytest.approx(mu, abs=5e-7)


@pytest.mark.parametrize("epsilon", [0.01, 0.1, 0.5, 1.0, 3.0, 10.0, 30.0, 100.0])
def test_gaussian_mu_agrees_with_dp_accounting(epsilon: float) -> None:
    mu = gaussian_mu(epsilon, 1e-5)
    loss = privacy_loss_mechanism.GaussianPrivacyLoss(1 / mu, sensitivity=1)
    assert loss.get_delta_for_epsilon(epsilon) == pytest.approx(1e-5, rel=1e-10)
    parameters = common.DifferentialPrivacyParameters(epsilon, 1e-5)
    noise = accountant.get_smallest_gaussian_noise(parameters, 1, 1)
    assert 1 / noise == pytest.approx(mu, rel=1e-6)


@settings(max_examples=50, deadline=None)
@given(st.floats(0.01, 100), st.floats(1e-12, 0.9), st.floats(1.001, 2))
def test_gaussian_mu_grows_with_either_budget(epsilon: float, delta: float, more: float) -> None:
    mu = gaussian_mu(epsilon, delta)
    assert gaussian_mu(epsilon * more, delta) > mu
    assert gaussian_mu(epsilon, min(delta * more, 0.99)) > mu


def test_approx_dp_agrees_with_riskcal() -> None:
    alpha = np.linspace(0, 1, 11)
    ours = ApproxDP(1.0, 1e-3).tradeoff(alpha)
    np.testing.assert_allclose(ours, riskcal.get_beta_from_adp(1.0, 1e-3, alpha), atol=1e-12)
    ours = GaussianDP(1.3).tradeoff(alpha)
    np.testing.assert_allclose(ours, riskcal.get_beta_from_gdp(1.3, alpha), atol=1e-12)


def test_limits() -> None:
    for nothing in (PureDP(math.inf), ApproxDP(math.inf, 1e-5), GaussianDP(math.inf)):
        assert nothing.delta_at(10.0) == 1.0
    perfect = GaussianDP(0.0)
    np.testing.assert_allclose(perfect.tradeoff([0.0, 0.3, 1.0]), [1.0, 0.7, 0.0], rtol=1e-15)
    assert (perfect.delta_at(0.0), perfect.epsilon_at(0.0)) == (0.0, 0.0)
    assert GaussianDP(1.0).epsilon_at(0.0) == math.inf
    assert GaussianDP(1.0).delta_at(math.inf) == 0.0
    assert gaussian_mu(math.inf, 1e-5) == math.inf
    assert PureDP(1e-12).total_variation() == pytest.approx(5e-13)
    assert GaussianDP(1e-9).total_variation() == pytest.approx(1e-9 / math.sqrt(2 * math.pi))


def test_a_test_between_two_gaussians_follows_the_curve_and_half_the_noise_breaks_it() -> None:
    """False-alarm rate: each |z| < 4.5 check fails by chance with probability 7e-6."""
    rng = np.random.default_rng(5)
    trials, mu, alpha = 200_000, 0.8, 0.1
    threshold = -float(ndtri(alpha))
    f = float(GaussianDP(mu).tradeoff(alpha))
    error = math.sqrt(f * (1 - f) / trials)
    right = np.mean(rng.normal(mu, 1.0, trials) <= threshold)
    assert abs(right - f) < 4.5 * error
    half = np.mean(rng.normal(mu, 0.5, trials) <= threshold * 0.5)
    assert half < f - 4.5 * error


def test_descriptions_carry_the_relation() -> None:
    assert PureDP(1).describe() == "1-DP, replace-one"
    assert ApproxDP(1, 1e-5).describe() == "(1, 1e-05)-DP, replace-one"
    assert GaussianDP(0.268051).describe() == "0.268-GDP, replace-one"
    assert PureDP(2.5, Relation.ADD_REMOVE).describe() == "2.5-DP, add-or-remove-one"
    assert PureDP(1).unit == "one record"


def test_to_approx_keeps_relation_and_unit() -> None:
    guarantee = GaussianDP(gaussian_mu(1.0, 1e-5), Relation.ADD_REMOVE, "one household")
    approx = guarantee.to_approx(1e-5)
    assert approx.epsilon == pytest.approx(1.0, rel=1e-12)
    assert approx.delta == 1e-5
    assert (approx.relation, approx.unit) == (Relation.ADD_REMOVE, "one household")
    with pytest.raises(ValueError, match="delta must be below the total variation"):
        GaussianDP(0.1).to_approx(0.5)


@pytest.mark.parametrize("bad", [0, -1.0, math.nan, "one", None])
def test_bad_epsilon_is_refused(bad: float) -> None:
    with pytest.raises(ValueError, match="epsilon must be"):
        PureDP(bad)
    with pytest.raises(ValueError, match="epsilon must be"):
        ApproxDP(bad, 1e-5)
    with pytest.raises(ValueError, match="epsilon must be"):
        gaussian_mu(bad, 1e-5)


@pytest.mark.parametrize("bad", [-1e-9, 1.0, 2, math.nan])
def test_bad_delta_is_refused(bad: float) -> None:
    with pytest.raises(ValueError, match="delta must be"):
        ApproxDP(1.0, bad)
    with pytest.raises(ValueError, match="delta must be"):
        GaussianDP(1.0).epsilon_at(bad)


def test_other_bad_input_is_refused() -> None:
    with pytest.raises(ValueError, match=r"epsilon must be > 0 \(inf allowed\), got -1"):
        PureDP(-1)
    with pytest.raises(ValueError, match=r"mu must be >= 0 \(inf allowed\), got -0.1"):
        GaussianDP(-0.1)
    with pytest.raises(ValueError, match=r"alpha must be in \[0, 1\], got 1.5"):
        PureDP(1.0).tradeoff([0.5, 1.5])
    with pytest.raises(ValueError, match="delta must be > 0 for a Gaussian mechanism"):
        gaussian_mu(1.0, 0.0)
    with pytest.raises(ValueError, match="epsilon must be >= 0"):
        PureDP(1.0).delta_at(-0.1)
    with pytest.raises(ValueError, match="size must be an integer >= 1, got 0"):
        GaussianDP(1.0).group(0)
