"""The ceiling on weight that is guessed right, against enumeration and closed forms."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog

from reconbench.bounds import ApproxDP, GaussianDP, Guarantee, PureDP, Relation
from reconbench.bounds.weighted_success import bound_weighted_success

GUARANTEES = [PureDP(0.5), PureDP(3.0), GaussianDP(1.0), ApproxDP(1.0, 0.05)]


@pytest.mark.parametrize("guarantee", GUARANTEES)
def test_equal_weights_on_uniform_values_give_the_bound_on_success(guarantee: Guarantee) -> None:
    for size in (2, 10):
        bound = bound_weighted_success(np.full((3, size), 1 / size), np.full(size, 2.0), guarantee)
        success = 2 * float(guarantee.power(1 / size))
        assert success - 1e-12 <= bound[0] <= 1.03 * success and np.ptp(bound) == 0


@pytest.mark.parametrize("guarantee", GUARANTEES)
def test_two_values_by_a_fine_grid(guarantee: Guarantee) -> None:
    rates = np.linspace(0, 1, 20_001)
    for p, weights in ((0.5, (1.0, 4.0)), (0.9, (0.15, 3.3)), (0.99, (0.0, 6.6))):
        stakes = np.array([p, 1 - p]) * weights
        most = float(
            (stakes[0] * guarantee.power(rates) + stakes[1] * guarantee.power(1 - rates)).max()
        )
        (bound,) = bound_weighted_success([[p, 1 - p]], weights, guarantee)
        assert most - 1e-9 <= bound <= 1.03 * most + 1e-9


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 2.5])
def test_no_channel_of_pure_dp_does_better(epsilon: float) -> None:
    """The best ε-DP channel from values to guesses, by a linear program."""
    rng = np.random.default_rng(0)
    for _ in range(4):
        size = int(rng.integers(2, 5))
        prior, weights = rng.dirichlet(np.ones(size)), rng.exponential(size=size)
        gain = -np.diag(prior * weights).ravel()
        rows = []
        for guess in range(size):
            for one in range(size):
                for other in range(size):
                    if one != other:
                        row = np.zeros((size, size))
                        row[one, guess], row[other, guess] = 1.0, -np.exp(epsilon)
                        rows.append(row.ravel())
        sums = np.kron(np.eye(size), np.ones(size))
        best = linprog(gain, np.array(rows), np.zeros(len(rows)), sums, np.ones(size))
        (bound,) = bound_weighted_success([prior], weights, PureDP(epsilon))
        assert best.fun is not None and -best.fun <= bound + 1e-9
        # Negative control: weighing the bound on successes by the mean weight is no bound.
    mean = float(PureDP(0.3).power(0.9)) * (0.9 * 0.0 + 0.1 * 9.0)
    assert mean < float(bound_weighted_success([[0.9, 0.1]], [0.0, 9.0], PureDP(0.3))[0])


def test_limits() -> None:
    prior, weights = [[0.7, 0.2, 0.1]], [0.5, 2.0, 3.0]
    (nothing,) = bound_weighted_success(prior, weights, PureDP(1e-9))
    assert 0.4 <= nothing < 0.42
    (everything,) = bound_weighted_success(prior, weights, PureDP(60.0))
    assert everything == pytest.approx(0.35 + 0.4 + 0.3)
    assert bound_weighted_success([[1.0, 0.0]], [0.0, 0.0], PureDP(1.0)).tolist() == [0.0]
    grown = [float(bound_weighted_success(prior, weights, PureDP(e))[0]) for e in (0.1, 1.0, 5.0)]
    assert grown == sorted(grown)


@pytest.mark.parametrize(
    ("prior", "weights", "message"),
    [
        ([0.5, 0.5], [1.0, 1.0], r"must be \(targets, values\)"),
        ([[0.5, 0.5]], [1.0], "got shapes"),
        ([[0.5, 0.5]], [1.0, -1.0], "finite and 0 or more"),
        ([[0.5, 0.5]], [1.0, np.inf], "finite and 0 or more"),
    ],
)
def test_bad_input(prior: object, weights: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        bound_weighted_success(prior, weights, PureDP(1.0))  # type: ignore[arg-type]


def test_other_neighbours_are_refused() -> None:
    with pytest.raises(ValueError, match="replace-one"):
        bound_weighted_success([[1.0]], [1.0], PureDP(1.0, relation=Relation.ADD_REMOVE))


def test_guarantees_that_cannot_be_hashed_are_bounded_alike() -> None:
    class Foreign(GaussianDP):
        __hash__ = None  # type: ignore[assignment]

    priors, weights = np.array([[0.2, 0.3, 0.5]]), np.array([3.0, 2.0, 1.0])
    own, foreign = GaussianDP(0.7), Foreign(0.7)
    expected = bound_weighted_success(priors, weights, own)
    for guarantee in (own, foreign):
        assert bound_weighted_success(priors, weights, guarantee) == expected
