"""Privacy profiles, tabulated curves, Laplace noise, randomised response; group privacy."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
import riskcal.analysis as riskcal
from dp_accounting.pld import privacy_loss_distribution as losses
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
    TabulatedCurve,
    as_replace_one,
    optimal_composition,
    profile_of,
)

ALPHAS = np.unique(np.concatenate([np.geomspace(1e-12, 0.01, 300), np.linspace(0, 1, 2_001)]))


def label(guarantee: Guarantee) -> str:
    return guarantee.describe()


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


def test_laplace_against_the_densities() -> None:
    """Neyman-Pearson between Lap(0, 1) and Lap(r, 1): reject above a threshold."""

    def survival(x: float) -> float:
        return 0.5 * math.exp(-x) if x > 0 else 1 - 0.5 * math.exp(x)

    for ratio, threshold in itertools.product((0.2, 1.0, 4.0), (-3.0, -0.5, 0.1, 0.7, 2.0, 6.0)):
        alpha, power = survival(threshold), survival(threshold - ratio)
        guarantee = LaplaceDP(ratio)
        assert float(guarantee.power(alpha)) == pytest.approx(power, rel=1e-12)
        assert float(guarantee.tradeoff(alpha)) == pytest.approx(1 - power, abs=1e-14)
    assert LaplaceDP(2.0).total_variation() == pytest.approx(1 - math.exp(-1.0))
    assert LaplaceDP(2.0).epsilon_at(0.0) == 2.0
    assert float(LaplaceDP(3.0).power(1e-300)) == pytest.approx(math.exp(3.0) * 1e-300)


@pytest.mark.parametrize("ratio", [0.2, 1.0, 3.0])
def test_laplace_agrees_with_dp_accounting_and_riskcal(ratio: float) -> None:
    pld = losses.from_laplace_mechanism(1 / ratio, value_discretization_interval=1e-3)
    guarantee = LaplaceDP(ratio)
    for epsilon in (0.0, 0.1 * ratio, 0.7 * ratio):
        ours, theirs = guarantee.delta_at(epsilon), pld.get_delta_for_epsilon(epsilon)
        assert ours <= theirs + 1e-12
        assert theirs == pytest.approx(ours, abs=1e-4)
    alpha = np.array([0.01, 0.2, 0.5, 0.8])
    np.testing.assert_allclose(
        guarantee.tradeoff(alpha), riskcal.get_beta_from_pld(pld, alpha=alpha), atol=1e-3
    )


@pytest.mark.parametrize(("values", "epsilon"), [(2, 0.5), (5, 2.0), (40, 3.0)])
def test_randomised_response_by_enumeration(values: int, epsilon: float) -> None:
    guarantee = RandomisedResponse(values, epsilon)
    p, q = guarantee.truthful, guarantee.each_other
    assert p + (values - 1) * q == pytest.approx(1.0)
    assert p / q == pytest.approx(math.exp(epsilon))
    null, alternative = np.full(values, q), np.full(values, q)
    null[0], alternative[1] = p, p
    for e in (0.0, 0.3, epsilon, epsilon + 1):
        truth = float(np.maximum(alternative - math.exp(e) * null, 0).sum())
        assert guarantee.delta_at(e) == pytest.approx(truth, abs=1e-15)
    pld = losses.from_randomized_response(1 - p + q, values, value_discretization_interval=1e-4)
    assert guarantee.delta_at(0.3) == pytest.approx(pld.get_delta_for_epsilon(0.3), abs=1e-4)
    orders = np.array([1.5, 2.0, 10.0])
    moment = [float(np.sum(alternative**t * null ** (1 - t))) for t in orders]
    np.testing.assert_allclose(guarantee.renyi(orders), np.log(moment) / (orders - 1), rtol=1e-12)
    if values == 2:
        np.testing.assert_allclose(guarantee.renyi(orders), PureDP(epsilon).renyi(orders))


def test_approx_dp_agrees_with_riskcal() -> None:
    alpha = np.linspace(0, 1, 11)
    ours = ApproxDP(1.0, 1e-3).tradeoff(alpha)
    np.testing.assert_allclose(ours, riskcal.get_beta_from_adp(1.0, 1e-3, alpha), atol=1e-12)
    ours = GaussianDP(1.3).tradeoff(alpha)
    np.testing.assert_allclose(ours, riskcal.get_beta_from_gdp(1.3, alpha), atol=1e-12)


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


def test_replace_one_from_add_or_remove_one() -> None:
    add = ApproxDP(1.0, 1e-5, Relation.ADD_REMOVE)
    both = as_replace_one(add)
    assert both.relation is Relation.REPLACE_ONE
    assert both.epsilon_at((1 + math.e) * 1e-5) == pytest.approx(2.0)
    textbook = ApproxDP(2.0, (1 + math.e) * 1e-5)
    assert np.all(both.power(ALPHAS) <= textbook.power(ALPHAS) + 1e-12)
    assert as_replace_one(textbook) is textbook
    converted = as_replace_one(GaussianDP(0.5, Relation.ADD_REMOVE, "one household"))
    assert converted == GaussianDP(1.0, Relation.REPLACE_ONE, "one household")


def test_mixing_relations_or_units_says_how_to_convert() -> None:
    with pytest.raises(ValueError, match=r"relation.*as_replace_one\(guarantee\)"):
        GaussianDP(1.0).compose(GaussianDP(1.0, Relation.ADD_REMOVE))
    with pytest.raises(ValueError, match="same unit"):
        ZCDP(1.0).compose(ZCDP(1.0, unit="one household"))
    for a, b in [(PureDP(1.0), PureDP(2.0)), (ApproxDP(1.0, 0.1), ApproxDP(2.0, 0.1))]:
        assert a.compose(b).epsilon == 3.0  # type: ignore[arg-type]
    assert GaussianDP(3.0).compose(GaussianDP(4.0)).mu == 5.0
    assert ZCDP(0.1).compose(ZCDP(0.2)).rho == pytest.approx(0.3)


@pytest.mark.parametrize("guarantee", [LaplaceDP(1.0), RandomisedResponse(4, 1.0)], ids=label)
def test_a_simulated_test_follows_the_curve_and_half_the_noise_breaks_it(
    guarantee: LaplaceDP | RandomisedResponse,
) -> None:
    """False-alarm rate: each |z| < 4.5 check fails by chance with probability 7e-6."""
    rng = np.random.default_rng(21)
    trials = 200_000

    def rates(scale: float) -> tuple[float, float]:
        """Reject above 1 (Laplace), or on the alternative's own value (randomised response)."""
        if isinstance(guarantee, LaplaceDP):
            noise = rng.laplace(0.0, scale / guarantee.ratio, (2, trials))
            return float(np.mean(noise[0] > 1)), float(np.mean(1 + noise[1] > 1))
        weaker = RandomisedResponse(guarantee.values, guarantee.epsilon / scale)
        reject = rng.random((2, trials)) < np.array([[weaker.each_other], [weaker.truthful]])
        return float(reject[0].mean()), float(reject[1].mean())

    error = 1 / math.sqrt(trials)
    false_positive, true_positive = rates(1.0)
    assert true_positive == pytest.approx(float(guarantee.power(false_positive)), abs=4.5 * error)
    false_positive, true_positive = rates(0.5)
    assert true_positive > float(guarantee.power(false_positive)) + 4.5 * error


def test_limits_of_a_profile() -> None:
    assert PrivacyProfile(np.array([2.0]), np.array([0.0])).epsilon_at(0.0) == pytest.approx(2.0)
    assert PrivacyProfile(np.array([2.0]), np.array([1e-3])).delta_at(math.inf) == 1e-3


@pytest.mark.parametrize(
    ("alphas", "betas", "message"),
    [
        ([0.0, 0.5, 1.0], [1.0, 0.7, 0.0], "must not exceed 1 − alpha, got beta 0.7 at alpha 0.5"),
        ([0.0, 0.2, 0.4, 1.0], [0.8, 0.7, 0.1, 0.0], "must be convex.* alpha 0.2"),
        ([0.0, 0.5, 0.7, 1.0], [0.4, 0.1, 0.2, 0.0], "must not increase"),
        ([0.1, 1.0], [0.5, 0.0], "must run from 0 to 1"),
        ([0.0, 0.6, 0.5, 1.0], [0.5, 0.1, 0.1, 0.0], "must not decrease"),
        ([0.0, 1.0], [0.5, 0.2, 0.0], "same length"),
        ([0.0, math.nan, 1.0], [0.5, 0.2, 0.0], r"alphas must be in \[0, 1\], got nan"),
        ([0.0, 0.5, 1.0], [1.2, 0.2, 0.0], r"betas must be in \[0, 1\], got 1.2"),
        ([], [], "non-empty"),
    ],
)
def test_what_is_not_a_curve_is_refused(
    alphas: list[float], betas: list[float], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        TabulatedCurve(np.array(alphas), np.array(betas))


def test_other_bad_input_is_refused() -> None:
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
    with pytest.raises(ValueError, match="ratio must be >= 0"):
        LaplaceDP(-1.0)
    with pytest.raises(ValueError, match="values must be"):
        RandomisedResponse(1, 1.0)
    with pytest.raises(ValueError, match="size must be an integer >= 1, got 0"):
        GaussianDP(1.0).group(0)
    with pytest.raises(ValueError, match=r"size must be an integer >= 1, got 1\.5"):
        LaplaceDP(1.0).group(1.5)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="equal guarantees"):
        optimal_composition([PureDP(1.0), PureDP(2.0)])
    with pytest.raises(ValueError, match="powers must be"):
        TabulatedCurve(np.array([0.0, 1.0]), np.array([1.0, 0.0]), powers=np.array([0.5, 1.0]))
