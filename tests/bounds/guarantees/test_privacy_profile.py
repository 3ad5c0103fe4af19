"""Privacy profiles: the best of their pairs, group privacy, optimal composition, bad input."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reconbench.bounds import (
    ApproxDP,
    GaussianDP,
    PrivacyProfile,
    PureDP,
    Relation,
    compose_with_pair,
    optimal_composition,
    profile_of,
)

ALPHAS = np.unique(np.concatenate([np.geomspace(1e-12, 0.01, 300), np.linspace(0, 1, 2_001)]))


def test_closed_group_forms_agree_with_polylines() -> None:
    alpha = np.array([1e-9, 1e-3, 0.1, 0.6])
    exact = PureDP(0.7).group(5)
    assert exact.epsilon == pytest.approx(3.5)
    chain = PrivacyProfile(np.array([0.7]), np.array([0.0])).group(5)
    # (1 − f)∘5 is at most the pure 5ε curve: kinks are cut, never added.
    assert np.all(chain.power(alpha) <= exact.power(alpha) + 1e-12)
    for size in (2, 7, 40):
        grouped = profile_of(GaussianDP(0.1)).group(size)
        gap = grouped.power(alpha) - GaussianDP(0.1 * size).power(alpha)
        assert np.all(gap >= -1e-12)
        assert np.all(gap <= 5e-4)
    textbook = ApproxDP(4 * 0.5, 1e-3 * math.expm1(2.0) / math.expm1(0.5))
    assert np.all(ApproxDP(0.5, 1e-3).group(4).power(alpha) <= textbook.power(alpha) + 1e-12)


def test_large_groups_of_fine_curves_stay_small_and_valid() -> None:
    grouped = profile_of(GaussianDP(0.01)).group(300)
    assert grouped.alphas.size <= 20_000
    alpha = np.array([1e-4, 0.05, 0.3])
    gap = grouped.power(alpha) - GaussianDP(3.0).power(alpha)
    assert np.all(gap >= -1e-12)
    assert np.all(gap < 0.02)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.floats(0, 12), st.floats(0, 0.999)), min_size=1, max_size=12))
def test_a_profile_is_the_best_of_its_pairs(pairs: list[tuple[float, float]]) -> None:
    epsilons, deltas = (np.array(column) for column in zip(*pairs, strict=True))
    guarantee = PrivacyProfile(epsilons, deltas)
    alpha = np.concatenate([[0.0, 1.0], np.geomspace(1e-9, 1, 200)])
    expected = np.zeros_like(alpha)
    for epsilon, delta in pairs:
        lines = (1 - delta - math.exp(epsilon) * alpha, math.exp(-epsilon) * (1 - delta - alpha))
        expected = np.maximum(expected, np.maximum(*lines))
    np.testing.assert_allclose(guarantee.tradeoff(alpha), expected, rtol=1e-9, atol=1e-12)
    for epsilon, delta in pairs:
        assert guarantee.delta_at(epsilon) <= delta + 1e-12


def test_a_profile_on_a_grid_lies_below_the_true_curve() -> None:
    true, coarse = GaussianDP(1.2), profile_of(GaussianDP(1.2), np.linspace(0, 6, 13))
    assert np.all(coarse.tradeoff(ALPHAS) <= true.tradeoff(ALPHAS) + 1e-15)
    for epsilon in (0.0, 0.1, 0.77, 3.0, 5.9):
        assert coarse.delta_at(epsilon) >= true.delta_at(epsilon) * (1 - 1e-12)
    fine = profile_of(true)
    assert np.max(true.tradeoff(ALPHAS) - fine.tradeoff(ALPHAS)) < 1e-5
    assert fine.epsilon_at(1e-5) == pytest.approx(true.epsilon_at(1e-5), rel=1e-4)


def test_optimal_composition_by_enumeration() -> None:
    epsilon, delta, k = 0.4, 0.01, 5
    found = optimal_composition([ApproxDP(epsilon, delta)] * k)
    # The dominating pair: reveal with probability δ, else two-valued randomised response.
    p = math.exp(epsilon) / (1 + math.exp(epsilon))
    one = np.array(
        [
            [0.0, (1 - delta) * (1 - p), (1 - delta) * p, delta],
            [delta, (1 - delta) * p, (1 - delta) * (1 - p), 0.0],
        ]
    )
    joint = one
    for _ in range(k - 1):
        joint = np.array([np.outer(joint[i], one[i]).ravel() for i in (0, 1)])
    for e in found.epsilons:
        truth = float(np.maximum(joint[0] - math.exp(e) * joint[1], 0).sum())
        assert found.delta_at(float(e)) == pytest.approx(truth, rel=1e-9)
    basic = ApproxDP(epsilon, delta)
    for _ in range(k - 1):
        basic = basic.compose(ApproxDP(epsilon, delta))
    assert basic.epsilon == pytest.approx(k * epsilon)
    assert basic.delta == pytest.approx(found.deltas[0])


def test_limits_of_a_profile() -> None:
    assert PrivacyProfile(np.array([2.0]), np.array([0.0])).epsilon_at(0.0) == pytest.approx(2.0)
    assert PrivacyProfile(np.array([2.0]), np.array([1e-3])).delta_at(math.inf) == 1e-3


def test_bad_profiles_are_refused() -> None:
    with pytest.raises(ValueError, match="epsilons must be >= 0"):
        PrivacyProfile(np.array([-1.0]), np.array([0.1]))
    with pytest.raises(ValueError, match="epsilons must be >= 0"):
        PrivacyProfile(np.array([math.nan]), np.array([0.1]))
    with pytest.raises(ValueError, match=r"deltas must be in \[0, 1\], got 1.5"):
        PrivacyProfile(np.array([1.0]), np.array([1.5]))
    with pytest.raises(ValueError, match="non-empty"):
        PrivacyProfile(np.array([]), np.array([]))
    with pytest.raises(ValueError, match="same length"):
        PrivacyProfile(np.array([1.0]), np.array([0.5, 0.1]))
    with pytest.raises(ValueError, match="equal guarantees"):
        optimal_composition([PureDP(1.0), PureDP(2.0)])


def test_pure_with_gaussian_against_privacy_loss_distributions() -> None:
    """Exact for randomised response with Gaussian noise; dp-accounting rounds losses up."""
    from dp_accounting.pld import privacy_loss_distribution as pld

    both = compose_with_pair(PureDP(0.7), GaussianDP(0.9))
    step = 1e-4
    total = pld.from_gaussian_mechanism(1 / 0.9, value_discretization_interval=step).compose(
        pld.from_randomized_response(2 / (1 + math.exp(0.7)), 2, value_discretization_interval=step)
    )
    for epsilon in (0.0, 0.3, 1.0, 2.5):
        known = float(total.get_delta_for_epsilon(epsilon))
        assert both.delta_at(epsilon) == pytest.approx(known, abs=2e-4)
    assert both.total_variation() > max(
        PureDP(0.7).total_variation(), GaussianDP(0.9).total_variation()
    )


def test_composing_pairs_agrees_with_the_optimal_composition() -> None:
    pair = ApproxDP(0.5, 0.01)
    ours, known = compose_with_pair(pair, pair), optimal_composition([pair, pair])
    for epsilon in (0.0, 0.2, 0.5, 1.0, 3.0):
        assert ours.delta_at(epsilon) == pytest.approx(known.delta_at(epsilon), abs=1e-5)
        assert ours.delta_at(epsilon) >= known.delta_at(epsilon) - 1e-12
    nothing = compose_with_pair(PureDP(math.inf), GaussianDP(1.0))
    assert nothing.total_variation() == 1.0


def test_mixed_compositions_are_refused_with_the_way_out() -> None:
    with pytest.raises(ValueError, match=r"another PureDP, got 1-GDP.*compose_with_pair"):
        PureDP(1.0).compose(GaussianDP(1.0))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"another GaussianDP, got 1-DP.*compose_with_pair"):
        GaussianDP(1.0).compose(PureDP(1.0))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="share a neighbouring relation"):
        compose_with_pair(PureDP(1.0, Relation.ADD_REMOVE), GaussianDP(1.0))
