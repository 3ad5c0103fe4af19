"""The best response to a price: the profile, brute force, and chords that stay on the safe side."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import ArrayLike, NDArray

from reconbench.bounds import ApproxDP, GaussianDP, Guarantee, PureDP, Relation
from reconbench.bounds.ceilings.prior_exact import PriorExact
from reconbench.bounds.guarantees._conjugate import (
    best_response,
    hockey_stick,
    largest_epsilon,
    neighbour_floor,
)

FloatArray = NDArray[np.float64]
GUARANTEES: list[Guarantee] = [
    GaussianDP(0.01),
    GaussianDP(0.8),
    GaussianDP(4.0),
    PureDP(0.3),
    PureDP(5.0),
    ApproxDP(1.0, 0.1),
]


class Opaque:
    """A guarantee known by its profile alone, as a numerical one is."""

    relation = Relation.REPLACE_ONE
    unit = "one record"

    def __init__(self, inner: Guarantee) -> None:
        self.inner = inner

    def tradeoff(self, alpha: ArrayLike) -> FloatArray:
        return self.inner.tradeoff(alpha)

    def power(self, alpha: ArrayLike) -> FloatArray:
        return self.inner.power(alpha)

    def delta_at(self, epsilon: float) -> float:
        return self.inner.delta_at(epsilon)

    def epsilon_at(self, delta: float) -> float:
        return self.inner.epsilon_at(delta)

    def total_variation(self) -> float:
        return self.inner.total_variation()

    def group(self, size: int) -> Guarantee:
        return self.inner.group(size)

    def describe(self) -> str:
        return f"opaque {self.inner.describe()}"


def value(guarantee: Guarantee, slope: FloatArray) -> FloatArray:
    a, g = best_response(guarantee)(np.log(slope))
    return slope * a - g


@pytest.mark.parametrize("guarantee", GUARANTEES, ids=lambda g: g.describe())
def test_it_is_the_profile_and_the_maximum(guarantee: Guarantee) -> None:
    slopes = np.exp(-np.linspace(0, 8, 41))
    a = np.linspace(0, 1, 20_001)
    brute = np.max(slopes[:, None] * a - guarantee.tradeoff(1 - a), axis=1)
    profile = [s * guarantee.delta_at(max(0.0, -math.log(s))) for s in slopes]
    np.testing.assert_allclose(value(guarantee, slopes), profile, rtol=1e-9, atol=1e-15)
    np.testing.assert_allclose(value(guarantee, slopes), brute, atol=1e-4)
    assert np.all(value(guarantee, slopes) >= brute - 1e-12)
    response, floor = best_response(guarantee)(np.log(slopes))
    np.testing.assert_allclose(floor, guarantee.tradeoff(1 - response), atol=1e-12)


@pytest.mark.parametrize("guarantee", GUARANTEES, ids=lambda g: g.describe())
def test_hockey_stick_is_the_maximum(guarantee: Guarantee) -> None:
    rng = np.random.default_rng(90)
    up, down = rng.uniform(0, 2, size=(2, 50))
    up[:2], down[1:3] = 0, 0
    a = np.linspace(0, 1, 20_001)
    brute = np.max(up[:, None] * a - down[:, None] * guarantee.tradeoff(1 - a), axis=1)
    np.testing.assert_allclose(
        hockey_stick(best_response(guarantee), up, down), brute, atol=3e-4, rtol=1e-3
    )
    assert np.all(hockey_stick(best_response(guarantee), up, down) >= brute - 1e-12)


@pytest.mark.parametrize("guarantee", GUARANTEES, ids=lambda g: g.describe())
def test_chords_never_lie_below_and_stay_close(guarantee: Guarantee) -> None:
    slopes = np.exp(-np.linspace(0, 30, 1001))
    exact, chords = value(guarantee, slopes), value(Opaque(guarantee), slopes)
    assert np.all(chords >= exact - 1e-15)
    np.testing.assert_allclose(chords, exact, atol=2e-5)
    priors = np.random.default_rng(91).dirichlet(np.ones(6), size=20)
    tight, sampled = PriorExact(priors, guarantee), PriorExact(priors, Opaque(guarantee))
    assert np.all(sampled.per_target >= tight.per_target - 1e-12)
    np.testing.assert_allclose(sampled.per_target, tight.per_target, rtol=1e-4)


def test_neighbour_floor_keeps_small_probabilities() -> None:
    assert float(neighbour_floor(GaussianDP(1.0), 1e-30)) == pytest.approx(8.3e-36, rel=0.02)
    np.testing.assert_allclose(neighbour_floor(PureDP(1.0), [0, 1e-3]), [0, 1e-3 / math.e])
    assert neighbour_floor(GaussianDP(math.inf), [0.0, 0.5, 1.0]).tolist() == [0.0, 0.0, 0.0]
    np.testing.assert_allclose(neighbour_floor(GaussianDP(0.0), [0.0, 0.5, 1.0]), [0, 0.5, 1])


def test_where_the_profile_ends() -> None:
    assert largest_epsilon(PureDP(2.0)) == 2.0
    assert largest_epsilon(ApproxDP(2.0, 0.1)) == 2.0
    assert GaussianDP(0.5).delta_at(largest_epsilon(GaussianDP(0.5))) == pytest.approx(1e-15)
    assert 0 < largest_epsilon(GaussianDP(0.0)) < 1e-12
    assert math.isfinite(largest_epsilon(GaussianDP(math.inf)))
