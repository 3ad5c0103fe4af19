"""Rényi and zero-concentrated DP as curves, against mpmath, dp-accounting and riskcal."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
import riskcal.analysis as riskcal
from dp_accounting.rdp import rdp_privacy_accountant as rdp

from reconbench.bounds import (
    ZCDP,
    GaussianDP,
    LaplaceDP,
    PureDP,
    RandomisedResponse,
    RenyiBounded,
    RenyiDP,
    zcdp_rho,
)
from reconbench.bounds.guarantees.renyi import ORDERS
from reconbench.bounds.guarantees.renyi_power import largest_power


def exact_power(alpha: float, order: float, epsilon: float) -> mpmath.mpf:
    """The largest s with d_t(s‖α) ≤ ε and d_t(α‖s) ≤ ε, by bisection in 40 digits."""
    with mpmath.workdps(40):
        a, t = mpmath.mpf(alpha), mpmath.mpf(order)
        limit = mpmath.exp((t - 1) * epsilon)

        def fits(s: mpmath.mpf) -> bool:
            forward = s**t * a ** (1 - t) + (1 - s) ** t * (1 - a) ** (1 - t)
            backward = a**t * s ** (1 - t) + (1 - a) ** t * (1 - s) ** (1 - t)
            return bool(max(forward, backward) <= limit)

        low, high = a, mpmath.mpf(1)
        for _ in range(120):
            middle = (low + high) / 2
            low, high = (middle, high) if fits(middle) else (low, middle)
        return low


@pytest.mark.parametrize("order", [1.1, 2.0, 7.0, 60.0])
@pytest.mark.parametrize("alpha", [1e-9, 1e-3, 0.2, 0.7])
def test_one_order_against_mpmath_and_riskcal(order: float, alpha: float) -> None:
    guarantee = RenyiDP(np.array([order]), np.array([0.4]))
    truth = exact_power(alpha, order, 0.4)
    assert float(guarantee.power(alpha)) == pytest.approx(float(truth), rel=1e-9)
    assert float(guarantee.tradeoff(alpha)) == pytest.approx(float(1 - truth), rel=1e-9)
    assert float(guarantee.power(alpha)) >= float(truth) * (1 - 1e-15)
    theirs = riskcal.get_beta_from_rdp(0.4, alpha, order)
    assert float(guarantee.tradeoff(alpha)) == pytest.approx(float(theirs), abs=1e-5)


def test_zcdp_agrees_with_riskcal() -> None:
    alpha = np.array([0.01, 0.1, 0.4])
    theirs = riskcal.get_beta_from_zcdp(0.5, alpha)
    np.testing.assert_allclose(ZCDP(0.5).tradeoff(alpha), theirs, atol=2e-3)
    assert ZCDP(0.5).total_variation() == pytest.approx(
        riskcal.get_advantage_from_zcdp(0.5), abs=2e-3
    )


@pytest.mark.parametrize("rho", [1e-3, 0.1, 1.0])
def test_profile_lies_between_the_gaussian_and_the_textbook(rho: float) -> None:
    """exact ≤ ours ≤ textbook: Gaussian noise is ρ-zCDP, and others may leak more."""
    guarantee, exact = ZCDP(rho), ZCDP(rho).gaussian()
    for delta in (1e-9, 1e-5, 1e-2):
        ours = guarantee.epsilon_at(delta)
        textbook, _ = rdp.compute_epsilon(ORDERS, rho * ORDERS, delta)
        assert exact.epsilon_at(delta) <= ours <= textbook * (1 + 1e-9)
        simple = rho + 2 * math.sqrt(rho * math.log(1 / delta))
        assert ours <= simple
        assert zcdp_rho(simple, delta) == pytest.approx(rho, rel=1e-12)
    alpha = np.geomspace(1e-9, 1, 40)
    assert np.all(guarantee.tradeoff(alpha) <= exact.tradeoff(alpha) + 1e-12)
    assert exact.total_variation() <= guarantee.total_variation()


@pytest.mark.parametrize(
    "guarantee",
    [GaussianDP(0.7), PureDP(1.2), LaplaceDP(1.5), RandomisedResponse(6, 1.0)],
    ids=lambda g: g.describe(),
)
def test_renyi_curves_hold_for_the_curve_they_come_from(
    guarantee: GaussianDP | PureDP | LaplaceDP | RandomisedResponse,
) -> None:
    assert isinstance(guarantee, RenyiBounded)
    through = RenyiDP(ORDERS, guarantee.renyi(ORDERS))
    alpha = np.geomspace(1e-9, 1, 30)
    assert np.all(through.tradeoff(alpha) <= guarantee.tradeoff(alpha) + 1e-12)
    for epsilon in (0.0, 0.4, 1.0):
        assert through.delta_at(epsilon) >= guarantee.delta_at(epsilon) - 1e-12
    # D_t grows with t.
    assert np.all(np.diff(guarantee.renyi(ORDERS)) >= -1e-12)


def test_renyi_divergences_by_quadrature() -> None:
    t, r = 3.0, 1.5
    with mpmath.workdps(30):

        def density(x: mpmath.mpf, shift: float) -> mpmath.mpf:
            return mpmath.exp(-abs(x - shift)) / 2

        moment = mpmath.quad(
            lambda x: density(x, r) ** t * density(x, 0) ** (1 - t), [-60, 0, r, 60]
        )
    assert float(LaplaceDP(r).renyi(t)) == pytest.approx(float(mpmath.log(moment)) / (t - 1))


def test_orders_between_and_beyond() -> None:
    guarantee = RenyiDP(np.array([8.0, 2.0]), np.array([1.0, 0.3]))
    assert guarantee.orders.tolist() == [2.0, 8.0]
    assert guarantee.renyi([1.5, 2.0, 5.0, 8.0, 9.0]).tolist() == [0.3, 0.3, 1.0, 1.0, math.inf]
    total = guarantee.compose(RenyiDP(np.array([4.0]), np.array([0.5])))
    assert dict(zip(total.orders.tolist(), total.epsilons.tolist(), strict=True)) == {
        2.0: 0.8,
        4.0: 1.5,
    }
    nothing = guarantee.compose(RenyiDP(np.array([4.0]), np.array([math.inf])))
    assert nothing.total_variation() == pytest.approx(1.0)


def test_one_direction_is_weaker_than_both() -> None:
    alpha = np.geomspace(1e-6, 0.99, 30)
    orders, epsilons = np.array([3.0]), np.array([0.5])
    one = largest_power(alpha, orders, epsilons, both=False)[0]
    two = largest_power(alpha, orders, epsilons, both=True)[0]
    assert np.all(two <= one)
    assert np.any(two < one - 1e-3)


@pytest.mark.parametrize("rho", [1e-6, 0.01, 0.5, 8.0])
def test_profile_is_the_conjugate_of_the_curve(rho: float) -> None:
    """δ(ε) against max over α of 1 − f(α) − e^ε α on a fine grid: never below, and close."""
    guarantee = ZCDP(rho)
    alpha = np.concatenate([np.geomspace(1e-12, 1e-3, 400), np.linspace(1e-3, 1, 3_000)])
    power = guarantee.power(alpha)
    for epsilon in np.sqrt(rho) * np.array([0.0, 0.1, 0.7, 2.0, 4.0]):
        slow = float(np.max(power - math.exp(epsilon) * alpha))
        ours = guarantee.delta_at(float(epsilon))
        assert slow - 1e-12 <= ours <= slow * 1.01 + 1e-6
        assert guarantee.epsilon_at(ours) == pytest.approx(epsilon, rel=2e-2, abs=1e-9)


def test_bad_input_is_refused() -> None:
    with pytest.raises(ValueError, match="orders must be > 1"):
        RenyiDP(np.array([1.0]), np.array([0.1]))
    with pytest.raises(ValueError, match="orders must be > 1 and finite"):
        RenyiDP(np.array([math.inf]), np.array([0.1]))
    with pytest.raises(ValueError, match="epsilons must be >= 0"):
        RenyiDP(np.array([2.0]), np.array([-0.1]))
    with pytest.raises(ValueError, match="epsilons must be >= 0"):
        RenyiDP(np.array([2.0]), np.array([math.nan]))
    with pytest.raises(ValueError, match="non-empty 1-D arrays of the same length"):
        RenyiDP(np.array([]), np.array([]))
    with pytest.raises(ValueError, match="rho must be >= 0"):
        ZCDP(-1.0)
    with pytest.raises(ValueError, match="delta must be strictly between 0 and 1"):
        zcdp_rho(1.0, 0.0)
