"""The exponential mechanism picks as it says, and costs what is stated."""

from __future__ import annotations

from math import exp, inf, sqrt

import numpy as np
import numpy.typing as npt
import pytest
from scipy.special import expit, log_expit, ndtr, ndtri, ndtri_exp
from scipy.stats import chisquare, norm

from reconbench.bounds import GaussianDP
from reconbench.mechanisms.synthetic.selection import (
    find_selection_epsilon,
    find_selection_mu,
    select,
)

Floats = npt.NDArray[np.float64]
EPSILONS = [1e-3, 0.1, 1.0, 5.0, 20.0]


def probit_of_logistic(x: Floats) -> Floats:
    """h = Φ⁻¹∘σ, which is odd, with all digits in both tails."""
    return np.asarray(-np.sign(x) * ndtri_exp(log_expit(-np.abs(x))))


def find_vertices(first: Floats, second: Floats) -> tuple[Floats, Floats]:
    """The trade-off curve of two discrete distributions: its vertices, by Neyman and Pearson."""
    order = np.argsort(-second / first)
    return np.cumsum(first[order]), 1 - np.cumsum(second[order])


def is_gaussian(first: Floats, second: Floats, mu: float) -> bool:
    """Whether a pair of distributions is no easier to test than μ-GDP allows, either way."""
    curve = GaussianDP(mu)
    return all(
        bool((miss >= curve.tradeoff(np.minimum(alarm, 1.0)) - 1e-12).all())
        for alarm, miss in (find_vertices(first, second), find_vertices(second, first))
    )


def draw_pair(epsilon: float, cells: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Two distributions whose log ratios differ by at most ε between outcomes."""
    first = rng.dirichlet(np.full(cells, 0.5)) + 1e-9
    first /= first.sum()
    second = first * np.exp(epsilon * rng.choice([0.0, 1.0, rng.random()], cells))
    return first, second / second.sum()


def test_what_it_picks_is_what_it_says() -> None:
    """χ², false alarms 1e-6; at twice the ε it is rejected."""
    scores, sensitivity, epsilon = np.array([0.0, 1.0, 3.0, 3.5]), 2.0, 3.0
    rng = np.random.default_rng(0)
    picked = [select(scores, sensitivity, epsilon, rng) for _ in range(20_000)]
    counts = np.bincount(picked, minlength=4)

    def test(scale: float) -> float:
        weights = np.exp(scale * scores)
        return float(chisquare(counts, 20_000 * weights / weights.sum()).pvalue)

    assert test(epsilon / (2 * sensitivity)) > 1e-6
    assert test(epsilon / sensitivity) < 1e-6


def test_without_noise_the_largest_score_wins() -> None:
    rng = np.random.default_rng(0)
    assert select([1.0, 3.0, 3.0], 1.0, inf, rng) == 1
    assert find_selection_mu(inf) == find_selection_epsilon(inf) == inf


@pytest.mark.parametrize("epsilon", [*EPSILONS, 100.0, 1000.0])
def test_cost_and_its_inverse(epsilon: float) -> None:
    mu = find_selection_mu(epsilon)
    assert find_selection_epsilon(mu) == pytest.approx(epsilon, rel=1e-9)
    if epsilon <= 20:
        assert mu == pytest.approx(2 * norm.ppf(exp(epsilon / 2) / (1 + exp(epsilon / 2))))
    # Never more than what every ε-DP mechanism costs, and ε√(2π)/4 for small ε.
    assert mu <= 2 * -ndtri(expit(-epsilon)) if epsilon < 700 else mu < epsilon
    assert find_selection_mu(1e-6) == pytest.approx(1e-6 * sqrt(2 * np.pi) / 4)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_the_cost_is_that_of_the_worst_pair_of_coins(epsilon: float) -> None:
    """Of all coins with logit p − logit q = ε none costs more; the one in the middle just that."""
    middle = np.linspace(-30, 30, 6001)
    costs = probit_of_logistic(middle + epsilon / 2) - probit_of_logistic(middle - epsilon / 2)
    assert costs.max() == pytest.approx(find_selection_mu(epsilon), rel=1e-9)
    assert middle[costs.argmax()] == pytest.approx(0.0, abs=1e-9)


def test_steps_of_the_proof() -> None:
    """G ≥ 0 for z ≥ 0, and h′ falls, where h is the probit of the logistic curve."""
    z = np.linspace(0, 8, 8001)
    u, density = 2 * ndtr(z) - 1, norm.pdf(z)
    assert (4 * density * u >= 4 * z * ndtr(z) * ndtr(-z) * (1 - 1e-12)).all()
    s = np.linspace(0, 25, 2501)
    slopes = np.diff(probit_of_logistic(s)) / np.diff(s)
    assert (np.diff(slopes) < 1e-10).all() and slopes[0] > 2 * slopes[-1]


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_bounded_range_is_gaussian(epsilon: float) -> None:
    """Random pairs of bounded range; pairs of twice the range break it."""
    rng = np.random.default_rng(0)
    mu = find_selection_mu(epsilon)
    for cells in (2, 3, 10):
        assert all(is_gaussian(*draw_pair(epsilon, cells, rng), mu) for _ in range(200))
    assert not all(is_gaussian(*draw_pair(2 * epsilon, 2, rng), mu) for _ in range(200))
    coin = np.array([expit(epsilon / 2), expit(-epsilon / 2)])
    assert is_gaussian(coin, coin[::-1], mu * (1 + 1e-9))
    assert not is_gaussian(coin, coin[::-1], mu * 0.999)


@pytest.mark.parametrize(("epsilon", "times"), [(0.1, 30), (1.0, 15), (3.0, 5)])
def test_composition_against_dp_accounting(epsilon: float, times: int) -> None:
    """Privacy loss distributions of k worst coins stay below √k μ-GDP.

    Not far below: for small ε they approach √k ε/2-GDP, which is 0.8 of that.
    """
    from dp_accounting.pld import privacy_loss_distribution as pld

    coin = {0: float(np.log(expit(epsilon / 2))), 1: float(np.log(expit(-epsilon / 2)))}
    flipped = {0: coin[1], 1: coin[0]}
    once = pld.from_two_probability_mass_functions(
        coin, flipped, pessimistic_estimate=False, value_discretization_interval=1e-4
    )
    composed = once.self_compose(times)
    mu = sqrt(times) * find_selection_mu(epsilon)
    at = np.linspace(0.0, 3 * mu, 13)
    theirs = np.array([composed.get_delta_for_epsilon(each) for each in at])

    def holds(limit: float) -> bool:
        ours = np.array([GaussianDP(limit).delta_at(each) for each in at])
        return bool((theirs <= ours * (1 + 1e-3) + 1e-9).all())

    assert holds(mu)
    assert not holds(0.75 * mu)
