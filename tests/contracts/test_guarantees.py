"""Every class of guarantee keeps the contract of a trade-off curve.

f is convex, falls and stays below chance; the profile is its conjugate, ε(δ) the inverse of δ(ε),
and groups iterate the power. What is particular to a class is tested beside it.
"""

from __future__ import annotations

import inspect
import math

import numpy as np
import pytest

import reconbench.bounds
from reconbench.bounds import (
    ZCDP,
    ApproxDP,
    GaussianDP,
    Guarantee,
    LaplaceDP,
    PrivacyProfile,
    PureDP,
    RandomisedResponse,
    RenyiDP,
    TabulatedCurve,
    profile_of,
)

# A curve as somebody gave it, for one order of the two tables.
LOPSIDED = TabulatedCurve(np.array([0.0, 0.1, 0.4, 1.0]), np.array([0.9, 0.4, 0.1, 0.0]))
GUARANTEES: list[Guarantee] = [
    PureDP(0.1),
    PureDP(2.0),
    PureDP(50.0),
    PureDP(1.0).group(3),
    ApproxDP(1.0, 1e-5),
    ApproxDP(3.0, 0.2),
    ApproxDP(0.5, 1e-3).group(4),
    GaussianDP(0.05),
    GaussianDP(0.268051),
    GaussianDP(2.0),
    LaplaceDP(0.3),
    LaplaceDP(2.0),
    RandomisedResponse(2, 1.0),
    RandomisedResponse(7, 1.5),
    PrivacyProfile(np.array([0.0, 0.5, 1.0, 3.0]), np.array([0.4, 0.2, 0.05, 1e-6])),
    PrivacyProfile(np.array([1.0, 2.0]), np.array([0.1, 0.0])),
    LOPSIDED,
    profile_of(GaussianDP(1.0)),
    RenyiDP(np.array([2.0, 8.0]), np.array([0.5, 1.5])),
    ZCDP(0.2),
]
# Promise nothing, and leak nothing.
EMPTY: list[Guarantee] = [
    PureDP(math.inf),
    ApproxDP(math.inf, 1e-5),
    GaussianDP(math.inf),
    LaplaceDP(math.inf),
    RandomisedResponse(3, math.inf),
    PrivacyProfile(np.array([math.inf]), np.array([1e-5])),
    PrivacyProfile(np.array([1.0]), np.array([1.0])),
    TabulatedCurve(np.array([0.0, 1.0]), np.array([0.0, 0.0])),
    ZCDP(math.inf),
]
PERFECT: list[Guarantee] = [LaplaceDP(0.0), ZCDP(0.0), GaussianDP(0.0)]
FINE = np.concatenate([np.logspace(-14, -1, 4_001), np.linspace(0.0, 1, 200_001)])
ALPHAS = np.unique(np.concatenate([np.geomspace(1e-12, 0.01, 300), np.linspace(0, 1, 2_001)]))
EXACT = (PureDP, ApproxDP, GaussianDP)

every = pytest.mark.parametrize("guarantee", GUARANTEES, ids=lambda g: g.describe())


def test_every_class_is_here() -> None:
    named = (getattr(reconbench.bounds, name) for name in reconbench.bounds.__all__)
    classes = {
        each
        for each in named
        if inspect.isclass(each) and hasattr(each, "tradeoff") and each is not Guarantee
    }
    assert classes == {type(each) for each in GUARANTEES}


@every
def test_the_curve_is_convex_falls_and_stays_below_chance(guarantee: Guarantee) -> None:
    f = guarantee.tradeoff(ALPHAS)
    assert f[0] <= 1 and np.all(f <= 1 - ALPHAS + 1e-12)
    assert np.all(np.diff(f) <= 1e-12)
    assert f[-1] == pytest.approx(0.0, abs=1e-300)
    run, rise = np.diff(ALPHAS), np.diff(f)
    assert np.all(rise[1:] * run[:-1] >= rise[:-1] * run[1:] - 1e-15)
    np.testing.assert_allclose(guarantee.power(ALPHAS), 1 - f, rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    "guarantee", [each for each in GUARANTEES if each is not LOPSIDED], ids=lambda g: g.describe()
)
def test_the_curve_is_its_own_inverse(guarantee: Guarantee) -> None:
    """Neighbours are symmetric: f(f(α)) = α wherever f is positive and falls."""
    alpha = np.linspace(0, 1, 2_001)
    f = guarantee.tradeoff(alpha)
    inside = (f > 1e-9) & (f < 1 - 1e-9) & (alpha > 1e-9)
    inside &= f < guarantee.tradeoff(np.zeros(()))
    np.testing.assert_allclose(guarantee.tradeoff(f[inside]), alpha[inside], rtol=1e-6, atol=1e-9)


@every
def test_the_profile_is_the_conjugate_of_the_curve(guarantee: Guarantee) -> None:
    alphas = FINE if isinstance(guarantee, EXACT) else ALPHAS
    power = guarantee.power(alphas)
    # The grid can only fall short; Rényi profiles use a few orders and may be a little above.
    slack = 2e-4 if isinstance(guarantee, EXACT) else 1e-3
    slack = 5e-3 if isinstance(guarantee, RenyiDP | ZCDP) else slack
    for epsilon in (0.0, 0.05, 0.5, 0.7, 1.0, 1.3, 2.5):
        gain = float(np.max(power - math.exp(epsilon) * alphas))
        assert gain <= guarantee.delta_at(epsilon) + 1e-12
        assert guarantee.delta_at(epsilon) <= gain + slack
    assert guarantee.total_variation() == guarantee.delta_at(0.0)


@every
def test_epsilon_at_inverts_delta_at(guarantee: Guarantee) -> None:
    exact = isinstance(guarantee, EXACT)
    low, top = guarantee.delta_at(50.0 if exact else 8.0), guarantee.total_variation()
    for share in (0.999, 0.9, 0.5, 0.3, 0.2):
        delta = low + share * (top - low)
        back = guarantee.delta_at(guarantee.epsilon_at(delta))
        assert back == pytest.approx(delta, rel=1e-9 if exact else 1e-6)
    if top < 0.999:
        assert guarantee.epsilon_at(min(top * 1.001, 0.999)) == 0.0


@every
def test_a_larger_epsilon_has_a_smaller_delta(guarantee: Guarantee) -> None:
    deltas = [guarantee.delta_at(epsilon) for epsilon in np.linspace(0, 10, 101)]
    assert all(0 <= delta <= 1 for delta in deltas) and np.all(np.diff(deltas) <= 1e-12)


@every
def test_groups_iterate_the_power(guarantee: Guarantee) -> None:
    alpha = np.array([1e-6, 0.01, 0.2, 0.5])
    two, three = guarantee.group(2).power(alpha), guarantee.group(3).power(alpha)
    twice = guarantee.power(guarantee.power(alpha))
    thrice = guarantee.power(twice)
    if isinstance(guarantee, ZCDP):
        # n²ρ-zCDP is a theorem of its own; it covers the Gaussian mechanism.
        assert np.all(two >= guarantee.gaussian().group(2).power(alpha) - 1e-12)
    elif isinstance(guarantee, RenyiDP | PureDP):
        # Stated in the same terms, or from the textbook pairs: never below the iterated curve.
        assert np.all(two >= twice - 1e-12)
    else:
        np.testing.assert_allclose(two, twice, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(three, thrice, rtol=1e-9, atol=1e-12)
    assert np.all(three >= two - 1e-12)
    assert np.all(two >= guarantee.power(alpha) - 1e-12)
    if not isinstance(guarantee, RenyiDP):
        np.testing.assert_allclose(guarantee.group(1).power(alpha), guarantee.power(alpha))


@pytest.mark.parametrize("guarantee", EMPTY, ids=lambda g: g.describe())
def test_a_guarantee_that_promises_nothing(guarantee: Guarantee) -> None:
    alpha = [0.0, 0.3, 1.0]
    assert guarantee.tradeoff(alpha).tolist() == [0.0, 0.0, 0.0]
    assert guarantee.power(alpha).tolist() == [1.0, 1.0, 1.0]
    assert guarantee.delta_at(0.5) == pytest.approx(1.0)
    assert guarantee.total_variation() == pytest.approx(1.0)
    assert guarantee.epsilon_at(0.5) == math.inf


@pytest.mark.parametrize("guarantee", PERFECT, ids=lambda g: g.describe())
def test_a_guarantee_that_leaks_nothing(guarantee: Guarantee) -> None:
    np.testing.assert_allclose(guarantee.tradeoff([0.0, 0.3, 1.0]), [1.0, 0.7, 0.0], atol=1e-9)
    assert guarantee.total_variation() == pytest.approx(0.0, abs=1e-11)


@every
def test_what_is_no_number_is_refused(guarantee: Guarantee) -> None:
    with pytest.raises(ValueError, match="alpha"):
        guarantee.tradeoff([1.5])
    with pytest.raises(ValueError, match="epsilon"):
        guarantee.delta_at(-0.1)
    with pytest.raises(ValueError, match="delta"):
        guarantee.epsilon_at(1.5)
    with pytest.raises(ValueError, match="size"):
        guarantee.group(0)
    assert guarantee.relation.value in guarantee.describe() and guarantee.unit
