"""The region, its area and the likelihoods, against their definitions."""

from __future__ import annotations

from collections.abc import Callable

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from reconbench.bounds import Relation
from reconbench.bounds.audit.mcmc import (
    BetaStrength,
    CorrelatedNormal,
    FixedStrength,
    Prior,
    epsilon_level,
    hypotheses,
    in_region,
    in_strip,
    region_area,
    strip_area,
)
from reconbench.bounds.audit.mcmc.model import log_binomial, log_correlated, strength_level

unit = st.floats(0, 1)


@given(unit, unit, st.floats(0, 8), st.floats(0, 0.9))
def test_membership_is_the_four_inequalities(a: float, b: float, e: float, d: float) -> None:
    k = np.exp(e)
    # Theorem 1 as printed; away from the lines, where rounding decides.
    slack = (a + k * b - 1 + d, b + k * a - 1 + d, k + d - b - k * a, k + d - a - k * b)
    if min(abs(each) for each in slack) > 1e-9 * k:
        assert in_region(a, b, e, d) == (min(slack) >= 0)


@pytest.mark.parametrize("epsilon", [0.0, 0.1, 1.0, 3.0])
@pytest.mark.parametrize("delta", [0.0, 0.01, 0.3])
@pytest.mark.parametrize("s", [0.0, 0.6, 0.95])
def test_areas_are_the_share_of_a_fine_grid(epsilon: float, delta: float, s: float) -> None:
    side = (np.arange(1000) + 0.5) / 1000
    alpha, beta = np.meshgrid(side, side)
    share = in_region(alpha, beta, epsilon, delta).mean()
    assert region_area(epsilon, delta) == pytest.approx(share, abs=4e-3)
    share = in_strip(alpha, beta, epsilon, delta, s).mean()
    assert strip_area(epsilon, delta, s) == pytest.approx(share, abs=8e-3)
    inner = region_area(s * epsilon, s * delta)
    assert strip_area(epsilon, delta, s) == pytest.approx(region_area(epsilon, delta) - inner)


@pytest.mark.parametrize("s", [0.0, 0.5, 1 - 1e-9, 1 - 1e-14])
@pytest.mark.parametrize("epsilon", [1e-10, 0.5, 30.0])
@pytest.mark.parametrize("delta", [0.0, 1e-12, 0.1])
def test_area_keeps_its_digits_where_the_printed_formula_cancels(
    s: float, epsilon: float, delta: float
) -> None:
    with mpmath.workdps(60):
        e, d, t = mpmath.mpf(epsilon), mpmath.mpf(delta), mpmath.mpf(s)
        outer = (1 - d) ** 2 * mpmath.exp(-e) / (1 + mpmath.exp(-e))
        inner = (1 - t * d) ** 2 * mpmath.exp(-t * e) / (1 + mpmath.exp(-t * e))
        exact = float(2 * (inner - outer))
    assert strip_area(epsilon, delta, s) == pytest.approx(exact, rel=1e-12)


@given(unit, unit, st.floats(0, 0.5))
def test_levels_are_where_membership_begins(a: float, b: float, delta: float) -> None:
    level = float(epsilon_level(a, b, delta))
    if np.isfinite(level) and level < 30:
        assert in_region(a, b, level + 1e-6, delta)
        assert level < 1e-6 or not in_region(a, b, level - 1e-6, delta)
        t = float(strength_level(a, b, level + 0.5, delta))
        assert in_region(a, b, min(t + 1e-6, 1.0) * (level + 0.5), min(t + 1e-6, 1.0) * delta)


def test_likelihoods_are_distributions() -> None:
    assert log_binomial(3, 10, 0.2) == pytest.approx(stats.binom.logpmf(3, 10, 0.2))
    tau, rho = 0.1, 0.05
    a, b, n0, n1 = 0.3, 0.2, 40.0, 50.0
    v0, v1 = n0 + n0 * (n0 - 1) * tau, n1 + n1 * (n1 - 1) * tau
    cross = n0 * n1 * rho * np.sqrt(a * (1 - a) * b * (1 - b))
    covariance = [[a * (1 - a) * v0, cross], [cross, b * (1 - b) * v1]]
    expected = stats.multivariate_normal([n0 * a, n1 * b], covariance).logpdf([9, 13])
    assert log_correlated(9, n0, 13, n1, a, b, tau, rho) == pytest.approx(expected)
    # τ = ρ = 0 is the normal limit of independent binomials.
    separate = stats.norm(n0 * a, np.sqrt(n0 * a * (1 - a))).logpdf(9)
    separate += stats.norm(n1 * b, np.sqrt(n1 * b * (1 - b))).logpdf(13)
    assert log_correlated(9, n0, 13, n1, a, b, 0.0, 0.0) == pytest.approx(separate)
    assert log_correlated(9, n0, 13, n1, a, b, 0.0, 0.9) == -np.inf


def test_priors_are_normalised_and_variance_is_the_variance() -> None:
    e = np.linspace(0, 40, 400_001)
    density = np.exp(Prior(10.0).log_epsilon(e))
    assert np.trapezoid(density, e) == pytest.approx(1)
    assert np.trapezoid(density * e**2, e) == pytest.approx(10)
    s = (np.arange(10_000) + 0.5) / 10_000
    assert np.exp(BetaStrength(3, 2).log_density(s)).mean() == pytest.approx(1)


def test_relations_say_what_was_compared() -> None:
    assert hypotheses(Relation.ADD_REMOVE)[0] == "D"
    assert "z′" in hypotheses(Relation.REPLACE_ONE)[0]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Prior(0.0), "variance must be > 0"),
        (lambda: Prior(np.inf), "variance must be finite"),
        (lambda: BetaStrength(0, 1), "strength prior a must be > 0"),
        (lambda: FixedStrength(1.0), r"strength must be in \[0, 1\)"),
    ],
)
def test_bad_priors_are_refused(make: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()


def test_the_prior_of_tau_is_checked_and_told() -> None:
    assert CorrelatedNormal() == CorrelatedNormal(np.inf)
    assert "half-normal of sd 0.01" in CorrelatedNormal(0.01).describe()
    with pytest.raises(ValueError, match="tau_sd"):
        CorrelatedNormal(0.0)
