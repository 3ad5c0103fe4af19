"""Every guarantee at extreme parameters: no nan, no warning, a trade-off curve in [0, 1]."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reconbench.bounds import (
    ZCDP,
    ApproxDP,
    GaussianDP,
    Guarantee,
    LaplaceDP,
    PrivacyProfile,
    PureDP,
    RandomisedResponse,
    Relation,
    RenyiDP,
    as_replace_one,
)

SIZES = st.one_of(
    st.sampled_from([1e-300, 1e-17, 1e-8, 0.1, 1.0, 36.0, 699.0, 700.0, 745.0, 1e4, 1e300]),
    st.just(math.inf),
    st.floats(-300, 300).map(lambda exponent: 10.0**exponent),
)
DELTAS = st.sampled_from([0.0, 1e-300, 1e-5, 0.3, 1 - 1e-15])
FAMILIES: dict[str, Callable[[float, float], Guarantee]] = {
    "pure": lambda size, delta: PureDP(size),
    "approx": ApproxDP,
    "gaussian": lambda size, delta: GaussianDP(size),
    "laplace": lambda size, delta: LaplaceDP(size),
    "response": lambda size, delta: RandomisedResponse(7, size),
    "zcdp": lambda size, delta: ZCDP(size),
    "renyi": lambda size, delta: RenyiDP(np.array([2.0, 8.0]), np.array([size, 4 * size])),
    "profile": lambda size, delta: PrivacyProfile(np.array([size]), np.array([delta])),
}
LEVELS = np.concatenate(
    [[0.0], np.geomspace(1e-300, 0.4, 12), [0.5], 1 - np.geomspace(0.4, 1e-15, 8), [1.0]]
)


def check_curve(guarantee: Guarantee) -> None:
    f, power = guarantee.tradeoff(LEVELS), guarantee.power(LEVELS)
    assert np.all((f >= 0) & (f <= 1) & (power >= 0) & (power <= 1))
    np.testing.assert_allclose(f + power, 1.0, atol=1e-12)
    assert np.all(np.diff(f) <= 1e-12) and np.all(f <= 1 - LEVELS + 1e-12)
    # Convex: every point lies on or below the chord of its neighbours.
    left, middle, right = LEVELS[:-2], LEVELS[1:-1], LEVELS[2:]
    share = (middle - left) / (right - left)
    # A Rényi moment of 1e-17 is below its own rounding, which moves the edge by about 1e-8.
    slack = 1e-7 if isinstance(guarantee, RenyiDP | ZCDP) else 1e-11
    assert np.all(f[1:-1] <= (1 - share) * f[:-2] + share * f[2:] + slack)


@settings(max_examples=60, deadline=None)
@pytest.mark.parametrize("name", FAMILIES)
@given(size=SIZES, delta=DELTAS)
def test_extreme_parameters(name: str, size: float, delta: float) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        guarantee = FAMILIES[name](size, delta)
        check_curve(guarantee)
        deltas = [guarantee.delta_at(e) for e in (0.0, 1e-300, 1e-3, 1.0, 50.0, 1e4, math.inf)]
        assert all(0 <= d <= 1 for d in deltas)
        assert all(a >= b - 1e-12 for a, b in pairwise(deltas))
        epsilons = [guarantee.epsilon_at(d) for d in (0.0, 1e-300, 1e-5, 0.5, 0.999)]
        assert all(e >= 0 for e in epsilons)
        assert all(a >= b * (1 - 1e-9) for a, b in pairwise(epsilons))
        assert 0 <= guarantee.total_variation() <= 1
        if hasattr(guarantee, "renyi"):
            assert not np.isnan(guarantee.renyi(np.array([1.01, 2.0, 1e4]))).any()


@pytest.mark.parametrize("size", [1e-300, 1.0, 745.0, 1e300, math.inf])
@pytest.mark.parametrize("name", FAMILIES)
def test_groups_of_extreme_guarantees(name: str, size: float) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_curve(FAMILIES[name](size, 1e-5).group(2))


def test_known_extremes() -> None:
    assert LaplaceDP(745.0).tradeoff(0.0) == 1.0 and LaplaceDP(1e300).tradeoff(0.0) == 1.0
    assert LaplaceDP(1e300).power(1e-300) == 1.0
    assert GaussianDP(1e300).epsilon_at(1e-5) == math.inf
    assert ZCDP(1e3).epsilon_at(1e-5) > 1e3
    small = LaplaceDP(1.5)
    alpha = np.array([0.01, 0.1, 0.3, 0.6])
    slow = np.where(
        alpha < math.exp(-1.5) / 2, 1 - math.exp(1.5) * alpha, math.exp(-1.5) / 4 / alpha
    )
    slow = np.where(alpha < 0.5, slow, math.exp(-1.5) * (1 - alpha))
    np.testing.assert_allclose(small.tradeoff(alpha), slow, rtol=1e-13)
    assert as_replace_one(ZCDP(1e300, Relation.ADD_REMOVE)).relation is Relation.REPLACE_ONE
