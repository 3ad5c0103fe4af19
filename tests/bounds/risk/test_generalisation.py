"""Losses on training records and on fresh ones: Kulynych 2025, Lemma E.1."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy.special import ndtr

from reconbench.bounds import (
    ApproxDP,
    GaussianDP,
    Guarantee,
    LaplaceDP,
    PureDP,
    RandomisedResponse,
    Relation,
    generalisation_interval,
)

LOSSES = np.linspace(0, 1, 41)
GUARANTEES = [PureDP(1.0), ApproxDP(0.7, 0.05), GaussianDP(1.3), LaplaceDP(2.0)]


def enumerate_losses(
    records: int, epsilon: float, prior: list[float], loss: Callable[[int, int], float]
) -> tuple[float, float]:
    """A learner that publishes one record through randomised response: exact expected losses.

    Over all tables of the domain, outputs, and fresh records.
    """
    values = range(len(prior))
    mechanism = RandomisedResponse(len(prior), epsilon)
    train = fresh = 0.0
    for table in itertools.product(values, repeat=records):
        chance = math.prod(prior[z] for z in table)
        for output in values:
            p = mechanism.truthful if output == table[0] else mechanism.each_other
            train += chance * p * sum(loss(z, output) for z in table) / records
            fresh += chance * p * sum(prior[z] * loss(z, output) for z in values)
    return train, fresh


@pytest.mark.parametrize("records", [1, 2, 3])
@pytest.mark.parametrize("prior", [[0.5, 0.5], [0.9, 0.1], [0.2, 0.3, 0.5]])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
def test_a_small_learner_by_enumeration(records: int, prior: list[float], epsilon: float) -> None:
    for loss in (
        lambda z, output: float(z == output),
        lambda z, output: float(z != output),
        lambda z, output: (z + 2 * output) / 7,
    ):
        train, fresh = enumerate_losses(records, epsilon, prior, loss)
        for given, other in ((train, fresh), (fresh, train)):
            low, high = generalisation_interval(given, PureDP(epsilon))
            assert low - 1e-12 <= other <= high + 1e-12


def test_many_values_come_near_and_half_the_noise_passes() -> None:
    """Randomised response over m values: train e^ε/(e^ε + m − 1), fresh 1/m; bound e^ε/m."""
    epsilon, values = 1.0, 100
    train, fresh = enumerate_losses(
        1, epsilon, [1 / values] * values, lambda z, output: float(z == output)
    )
    assert fresh == pytest.approx(1 / values, rel=1e-12)
    _, high = generalisation_interval(fresh, PureDP(epsilon))
    assert train <= high == pytest.approx(math.exp(epsilon) / values)
    assert train > 0.97 * high
    cheat = RandomisedResponse(values, 2 * epsilon).truthful
    assert cheat > high
    _, most = generalisation_interval(1 - fresh, PureDP(epsilon))
    assert most < 1


@pytest.mark.parametrize("guarantee", GUARANTEES, ids=lambda each: each.describe())
def test_both_ends_by_slow_twins(guarantee: Guarantee) -> None:
    """Upper: the least of e^ε x + δ(ε) and 1 − e^−ε (1 − δ(ε) − x) over the profile. Lower: the
    least fresh loss from which the printed form (36) reaches the training loss, by bisection."""
    low, high = generalisation_interval(LOSSES, guarantee)
    epsilons = np.linspace(0, 12, 6_001)
    deltas = np.array([guarantee.delta_at(float(epsilon)) for epsilon in epsilons])

    def most(loss: float) -> float:
        first = np.exp(epsilons) * loss + deltas
        second = 1 - np.exp(-epsilons) * (1 - deltas - loss)
        return float(min(1.0, first.min(), second.min()))

    assert high == pytest.approx([most(float(loss)) for loss in LOSSES], abs=2e-5)
    start, end = np.zeros_like(LOSSES), np.ones_like(LOSSES)
    for _ in range(60):
        middle = (start + end) / 2
        reached = guarantee.power(middle) >= LOSSES
        start, end = np.where(reached, start, middle), np.where(reached, middle, end)
    assert low == pytest.approx(end, abs=1e-9)


def simulate_memory(sd: float, threshold: float, runs: int) -> tuple[int, int]:
    """How often z and a fresh record have θ_z > threshold, for θ = e_z + noise over 500 values.

    The learner's sensitivity is √2: two unit vectors.
    """
    values, rng = 500, np.random.default_rng(7)
    own, other = rng.integers(values, size=(2, runs))
    noise = rng.normal(0, sd, (2, runs))
    train = 1 + noise[0] > threshold
    # θ at a fresh value: of the same coordinate if it is the same value, else pure noise.
    fresh = np.where(own == other, train, noise[1] > threshold)
    return int(train.sum()), int(fresh.sum())


def test_a_learner_that_memorises_stays_within_and_one_with_half_the_noise_does_not() -> None:
    """False alarm: six standard errors each way, below 1e-8."""
    runs, sd = 400_000, 1.0
    guarantee = GaussianDP(math.sqrt(2) / sd)

    def excess(noise: float) -> float:
        hits, chance = simulate_memory(noise, 1.2, runs)
        fresh = (chance + 6 * math.sqrt(chance)) / runs
        train = (hits - 6 * math.sqrt(hits)) / runs
        return train - float(generalisation_interval(fresh, guarantee)[1])

    assert excess(sd) < 0
    assert excess(sd / 2) > 0.1


@pytest.mark.parametrize("guarantee", GUARANTEES, ids=lambda each: each.describe())
def test_ends_are_monotone_and_hold_the_loss_within_the_total_variation(
    guarantee: Guarantee,
) -> None:
    low, high = generalisation_interval(LOSSES, guarantee)
    assert np.all(low <= LOSSES + 1e-12) and np.all(high + 1e-12 >= LOSSES)
    assert np.all(np.diff(low) >= -1e-12) and np.all(np.diff(high) >= -1e-12)
    variation = guarantee.total_variation()
    assert np.all(high - LOSSES <= variation + 1e-9)
    assert np.all(LOSSES - low <= variation + 1e-9)


def test_limits() -> None:
    low, high = generalisation_interval(LOSSES, PureDP(1e-13))
    np.testing.assert_allclose(low, LOSSES, atol=1e-12)
    np.testing.assert_allclose(high, LOSSES, atol=1e-12)
    low, high = generalisation_interval([0.2, 0.8], GaussianDP(200.0))
    assert low.tolist() == pytest.approx([0, 0]) and high.tolist() == pytest.approx([1, 1])
    # Pure DP: a loss of 0 stays 0. With δ, what happens with probability δ is not seen in training.
    assert [float(end) for end in generalisation_interval(0.0, PureDP(3.0))] == [0, 0]
    low, high = generalisation_interval(0.0, ApproxDP(3.0, 0.1))
    assert (float(low), float(high)) == pytest.approx((0, 0.1))
    widths = [np.ptp(generalisation_interval(0.3, GaussianDP(mu))) for mu in (0.1, 0.5, 1, 3)]
    assert widths == sorted(widths)
    middle = generalisation_interval(0.5, GaussianDP(1.0))
    assert [float(end) for end in middle] == pytest.approx([ndtr(-1.0), ndtr(1.0)])


@pytest.mark.parametrize("loss", [-0.1, 1.1, math.nan])
def test_what_is_no_loss_is_refused(loss: float) -> None:
    with pytest.raises(ValueError, match="training_loss"):
        generalisation_interval(loss, PureDP(1.0))


def test_another_relation_is_refused() -> None:
    with pytest.raises(ValueError, match=r"Lemma E\.1.*as_replace_one"):
        generalisation_interval(0.1, GaussianDP(1.0, Relation.ADD_REMOVE))
