"""Privacy losses on a grid, against mpmath, enumeration, closed forms and dp-accounting."""

from __future__ import annotations

import itertools
import math
from typing import Any

import mpmath as mp
import numpy as np
import pytest
from dp_accounting.pld import privacy_loss_distribution as losses
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from reconbench.bounds import GaussianDP, LaplaceDP, Relation
from reconbench.bounds._validate import FloatArray
from reconbench.bounds.guarantees.composed import (
    DiscreteGaussianRelease,
    GaussianRelease,
    LaplaceRelease,
    Release,
    composed,
)
from reconbench.bounds.guarantees.loss_distribution import Cells, LossDistribution, compose

ROUNDING = 3e-15


def hockey_stick(p: FloatArray, q: FloatArray, epsilon: float) -> float:
    """δ(ε) of two distributions on the same outputs."""
    return float(np.maximum(p - np.exp(epsilon) * q, 0.0).sum())


def exact_step(sigma: float, share: float, epsilon: Any, *, removing: bool) -> Any:
    """δ(ε) of one step of DP-SGD, (1 − q) N(0, σ²) + q N(1, σ²) against N(0, σ²) or the reverse.

    The outputs that count are those beyond the one where the two densities are as e^ε to 1.
    """
    s, q = mp.mpf(sigma), mp.mpf(share)
    ratio = mp.e**epsilon if removing else mp.e**-epsilon
    if ratio <= 1 - q:
        return 1 - ratio if removing else mp.mpf(0)
    x = s**2 * mp.log((ratio - 1 + q) / q) + mp.mpf(1) / 2
    side = -1 if removing else 1
    null = mp.ncdf(side * x / s)
    mixed = (1 - q) * null + q * mp.ncdf(side * (x - 1) / s)
    return mixed - ratio * null if removing else null - mixed / ratio


@pytest.mark.parametrize(
    ("sigma", "share", "step"),
    [(0.5715, 0.0038, 1e-3), (1.0, 0.1, 1e-3), (5.0, 1e-6, 1e-4), (0.1, 0.01, 1e-2), (1, 1, 1e-3)],
)
@pytest.mark.parametrize("removing", [True, False])
def test_one_step_of_dp_sgd_against_mpmath(
    sigma: float, share: float, step: float, removing: bool
) -> None:
    """On the grid δ(ε) is exact, in its tail too."""
    cells = GaussianRelease(sigma, share).cells(step)
    found = (cells if removing else cells.reverse()).split().deltas()
    places = np.unique(np.linspace(0, found.size - 1, 30).astype(int))
    with mp.workdps(40):
        exact = [exact_step(sigma, share, int(k) * mp.mpf(step), removing=removing) for k in places]
    for k, known in zip(places, map(float, exact), strict=True):
        assert abs(found[k] - known) <= ROUNDING
        assert found[k] == pytest.approx(known, rel=1e-8, abs=1e-16)


@pytest.mark.parametrize(
    ("sigma", "share", "count", "step"), [(0.6, 0.004, 792, 1e-3), (1.0, 0.1, 50, 1e-3)]
)
def test_dp_sgd_lies_between_both_roundings_of_dp_accounting(
    sigma: float, share: float, count: int, step: float
) -> None:
    """Above losses rounded down, below losses rounded up, and where it connects the dots as we do.

    A step that rounds down must fail.
    """
    guarantee = composed([GaussianRelease(sigma, share, count)], Relation.ADD_REMOVE,
                         discretisation=step)  # fmt: skip

    def theirs(**rounding: bool) -> FloatArray:
        total = losses.from_gaussian_mechanism(
            sigma, sampling_prob=share, value_discretization_interval=step, **rounding
        ).self_compose(count)
        return np.asarray(total.get_delta_for_epsilon(guarantee.epsilons[:: 200]))  # fmt: skip

    ours = guarantee.deltas[::200]
    low = theirs(pessimistic_estimate=False, use_connect_dots=False)
    assert np.all(low <= ours + 1e-12)
    assert np.all(ours <= theirs(use_connect_dots=False) + 1e-12)
    np.testing.assert_allclose(ours, theirs(), rtol=1e-7, atol=1e-11)
    down = [
        compose([(LossDistribution(one.step, one.lowest - 1, one.masses, one.infinite), count)])
        for cells in [GaussianRelease(sigma, share).cells(step)]
        for one in (cells.split(), cells.reverse().split())
    ]
    assert max(each.deltas()[0] for each in down) < ours[0]


def test_gaussian_compositions_are_gaussian_dp_far_out() -> None:
    """Never below μ-GDP; above it by the grid's rounding, and by what counts as infinite."""
    sigma, count, step = 30.0, 792, 1e-4
    total = compose([(GaussianRelease(sigma).cells(step).split(), count)])
    exact = GaussianDP(math.sqrt(count) / sigma)
    deltas = total.deltas()
    assert total.infinite < 1e-12
    for k in range(0, 75_000, 2_500):
        known = exact.delta_at(k * step)
        assert known <= deltas[k] <= known * 1.03 + 2 * total.infinite + 1e-15


@pytest.mark.parametrize("count", [792, 10_000, 1_000_000])
def test_rounding_of_the_transforms_is_allowed_for(count: int) -> None:
    """A loss of two values adds up to a binomial one."""
    once = LossDistribution(1e-6, -1, np.array([0.37, 0.0, 0.63]), 0.0)
    total = compose([(once, count)])
    heads = np.arange(count + 1)
    places = 2 * heads - count - total.lowest
    held = (places >= 0) & (places < total.masses.size)
    gaps = binom.pmf(heads[held], count, 0.63) - total.masses[places[held]]
    assert abs(float(gaps.sum())) < total.infinite < 1e-9
    tails = np.abs(np.cumsum(gaps[::-1]))
    assert tails.max() < total.infinite


@pytest.mark.parametrize("share", [1.0, 0.1])
def test_laplace_noise_against_its_profile(share: float) -> None:
    """Subsampled: δ(ε) = q δ₁(log(1 + (e^ε − 1)/q)) for removing a record (Balle et al. 2018)."""
    scale, step = 2.0, 1e-3
    found = LaplaceRelease(scale, share).cells(step).split().deltas()
    one = LaplaceDP(1 / scale)
    for k in range(0, found.size, 20):
        bare = math.log1p(math.expm1(k * step) / share)
        assert found[k] == pytest.approx(share * one.delta_at(bare), abs=ROUNDING)


@pytest.mark.parametrize(("sigma", "shift", "share"), [(1.2, 1, 1.0), (0.7, 2, 1.0), (1.5, 1, 0.2)])
def test_two_discrete_gaussians_against_enumeration(sigma: float, shift: int, share: float) -> None:
    x = np.arange(-40, 41)
    null = np.exp(-0.5 * (x / sigma) ** 2)
    null /= null.sum()
    moved = (1 - share) * null + share * np.roll(null, shift)
    pair = np.outer(null, null).ravel(), np.outer(moved, moved).ravel()
    guarantee = composed(
        [DiscreteGaussianRelease(sigma, shift, share, 2)], Relation.ADD_REMOVE, discretisation=1e-3
    )
    for epsilon in (0.0, 0.1, 0.5, 1.0, 2.0):
        known = max(hockey_stick(*pair, epsilon), hockey_stick(*pair[::-1], epsilon))
        assert known - ROUNDING <= guarantee.delta_at(epsilon) <= known + 2e-4


pairs = st.lists(st.tuples(st.floats(0.01, 1.0), st.floats(0.01, 1.0)), min_size=1, max_size=6).map(
    lambda pair: np.array(pair).T / np.sum(pair, axis=0)[:, None]
)


@given(pairs, pairs, st.floats(0.0, 4.0))
def test_whatever_is_composed_is_never_below_enumeration(
    first: FloatArray, second: FloatArray, epsilon: float
) -> None:
    step = 0.05

    def once(p: FloatArray, q: FloatArray) -> LossDistribution:
        return Cells.of_atoms(step, np.log(p / q), p, q, 0.0).split()

    for direction in (1, -1):
        pair, other = first[::direction], second[::direction]
        total = compose([(once(*pair), 2), (once(*other), 1)])
        both = [
            np.array([math.prod(each) for each in itertools.product(pair[i], pair[i], other[i])])
            for i in (0, 1)
        ]
        deltas, place = np.append(total.deltas(), total.infinite), epsilon / step
        above = deltas[min(math.floor(place), deltas.size - 1)]
        assert hockey_stick(both[0], both[1], epsilon) <= above + ROUNDING
        alone = once(*pair).deltas()
        for k in range(alone.size):
            exact = hockey_stick(pair[0], pair[1], k * step)
            assert alone[k] == pytest.approx(exact, abs=ROUNDING)


def test_reversing_twice_changes_nothing() -> None:
    cells = GaussianRelease(0.8, 0.05).cells(1e-3)
    again = cells.reverse().reverse()
    assert again.lowest == cells.lowest and again.above == cells.above
    assert np.array_equal(again.p[1:], cells.p[1:]) and np.array_equal(again.q, cells.q)


@pytest.mark.parametrize(
    "release",
    [GaussianRelease(0.1, 0.004, 792), GaussianRelease(0.3, 1e-5, 10**6), LaplaceRelease(0.02)],
)
def test_rare_large_losses_keep_the_grid_short(release: Release) -> None:
    """Either way of a step whose losses reach further than almost all sums."""
    cells = release.cells(1e-2)
    for one in (cells.split(), cells.reverse().split()):
        assert compose([(one, release.count)]).masses.size < 500_000
    everything = LossDistribution(1e-2, 0, np.zeros(1), 1.0)
    assert compose([(everything, 3)]).deltas()[0] == 1.0
