"""The ceiling for success sets: exact match, the best channels, enumeration, limits, bad input."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import linprog

from reconbench.bounds import ApproxDP, GaussianDP, Guarantee, PureDP, Relation
from reconbench.bounds.ceilings.prior_exact import PriorExact
from reconbench.bounds.ceilings.prior_exact_sets import PriorExactSets, within

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
GUARANTEES: list[Guarantee] = [GaussianDP(0.3), GaussianDP(2.0), PureDP(1.0), ApproxDP(1.0, 0.05)]


def by_channels(pi: FloatArray, success: BoolArray, epsilon: float) -> float:
    """The best success of any ε-DP channel from truths to guesses, by linear programming."""
    guesses, m = success.shape
    rows = []
    for u in range(guesses):
        for z in range(m):
            for w in range(m):
                if z != w:
                    row = np.zeros((guesses, m))
                    row[u, z], row[u, w] = 1.0, -math.exp(epsilon)
                    rows.append(row.ravel())
    solved = linprog(
        -(success * pi).ravel(),
        A_ub=np.array(rows),
        b_ub=np.zeros(len(rows)),
        A_eq=np.tile(np.eye(m), guesses),
        b_eq=np.ones(m),
    )
    assert solved.fun is not None
    return -float(solved.fun)


def test_within_an_error() -> None:
    assert within(4, 0).tolist() == np.eye(4, dtype=bool).tolist()
    assert within(4, 1).sum(axis=1).tolist() == [2, 3, 3, 2]
    assert within(4, 10).all()


@pytest.mark.parametrize("guarantee", GUARANTEES, ids=lambda g: g.describe())
def test_exact_match_is_the_prior_exact_ceiling(guarantee: Guarantee) -> None:
    priors = np.random.default_rng(30).dirichlet(np.full(6, 0.7), size=8)
    exact = PriorExact(priors, guarantee).per_target
    sets = PriorExactSets(priors, guarantee, within(6, 0)).per_target
    np.testing.assert_allclose(sets, exact, rtol=1e-12)


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 2.0])
def test_the_best_pure_dp_channel_stays_below_and_close(epsilon: float) -> None:
    rng = np.random.default_rng(31)
    for m, error in ((3, 1), (5, 1), (6, 1), (6, 2)):
        pi = rng.dirichlet(np.ones(m))
        best = by_channels(pi, within(m, error), epsilon)
        bound = PriorExactSets(pi[None], PureDP(epsilon), within(m, error)).mean
        assert best - 1e-9 <= bound <= 1.02 * best


@pytest.mark.parametrize("epsilon", [0.2, 1.0, 3.0])
def test_for_pure_dp_some_mechanism_reaches_the_prior_exact_ceiling(epsilon: float) -> None:
    """Under pure DP the events {guess = z} are all there is, so the bound is exact."""
    rng = np.random.default_rng(21)
    for m in (2, 3, 5, 6):
        pi = rng.dirichlet(np.full(m, rng.choice([0.3, 1.0, 8.0])))
        bound = PriorExact(pi[None], PureDP(epsilon))
        best = by_channels(pi, np.eye(m, dtype=bool), epsilon)
        assert bound.mean == pytest.approx(best, abs=1e-9)
        assert bound.gap < 1e-9


def check_random_channels(rng: np.random.Generator, count: int) -> None:
    for _ in range(count):
        m = int(rng.integers(2, 6))
        success = rng.random((int(rng.integers(1, 6)), m)) < 0.5
        outputs = int(rng.integers(2, 8))
        channel = rng.dirichlet(np.full(outputs, rng.choice([0.2, 1.0, 10.0])), size=m)
        pi = rng.dirichlet(np.ones(m))
        # The best guess for each output.
        best = float(np.max((success * pi) @ channel, axis=0).sum())
        for epsilon in (0.05, 0.5, 2.0):
            excess = channel[:, None] - math.exp(epsilon) * channel[None]
            delta = float(np.maximum(excess, 0).sum(axis=2).max())
            guarantee = ApproxDP(epsilon, min(delta, 0.999))
            assert best <= PriorExactSets(pi[None], guarantee, success).mean + 1e-12


def test_random_channels_never_pass_it() -> None:
    check_random_channels(np.random.default_rng(32), 40)


@pytest.mark.slow
def test_many_random_channels_never_pass_it() -> None:
    check_random_channels(np.random.default_rng(33), 300)


def test_simulated_attacks_stay_below_and_half_the_noise_does_not() -> None:
    """Randomised response over three windows of an ordinal column, guesses within one."""
    rng = np.random.default_rng(34)
    m, runs, success = 8, 200_000, within(8, 1)
    pi = rng.dirichlet(np.full(m, 3.0))

    def hits(epsilon: float) -> float:
        """The share of windows {0, 1, 2}, {3, 4, 5}, {6, 7} reported as they are."""
        window = np.minimum(rng.choice(m, p=pi, size=runs) // 3, 2)
        other = (window + rng.integers(1, 3, size=runs)) % 3
        kept = rng.random(runs) < math.exp(epsilon) / (math.exp(epsilon) + 2)
        return float(np.mean(np.where(kept, window, other) == window))

    ceiling = PriorExactSets(pi[None], PureDP(1.0), success).mean
    error = 4.5 * math.sqrt(0.25 / runs)
    assert hits(1.0) <= ceiling + error
    assert hits(2.0) > ceiling + error


def test_limits_and_monotonicity() -> None:
    rng = np.random.default_rng(35)
    priors = rng.dirichlet(np.ones(6), size=4)
    success = within(6, 1)
    best_prior = (priors @ success.T).max(axis=1)
    np.testing.assert_allclose(
        PriorExactSets(priors, GaussianDP(0.0), success).per_target, best_prior, rtol=1e-9
    )
    nothing = PriorExactSets(priors, GaussianDP(math.inf), success)
    np.testing.assert_allclose(nothing.per_target, 1.0, rtol=1e-9)
    np.testing.assert_allclose(
        PriorExactSets(priors, GaussianDP(1.0), within(6, 6)).per_target, 1.0, rtol=1e-12
    )
    assert PriorExactSets(priors, GaussianDP(1.0), ~within(6, 6)).mean == pytest.approx(0, abs=1e-9)
    previous = best_prior
    for mu in (0.2, 0.7, 2.0):
        bound = PriorExactSets(priors, GaussianDP(mu), success).per_target
        assert np.all(bound <= GaussianDP(mu).power(best_prior) + 1e-15)
        assert np.all(bound >= previous - 1e-9)
        previous = bound


def test_repeated_priors_are_solved_once_and_put_back() -> None:
    rng = np.random.default_rng(36)
    two = rng.dirichlet(np.ones(4), size=2)
    which = np.array([0, 1, 1, 0, 1])
    bound = PriorExactSets(two[which], PureDP(1.0), within(4, 1))
    alone = PriorExactSets(two, PureDP(1.0), within(4, 1)).per_target
    np.testing.assert_array_equal(bound.per_target, alone[which])
    assert bound.n == 5
    assert bound.mean == pytest.approx(float(alone[which].sum()))


def test_bad_input_is_refused() -> None:
    priors = np.full((1, 4), 0.25)
    with pytest.raises(ValueError, match=r"one column per value \(4\), got an array of shape"):
        PriorExactSets(priors, PureDP(1.0), within(5, 1))
    with pytest.raises(ValueError, match="success must have one row per guess"):
        PriorExactSets(priors, PureDP(1.0), np.zeros((0, 4), dtype=bool))
    with pytest.raises(ValueError, match="list every value"):
        PriorExactSets(np.full((1, 4), 0.2), PureDP(1.0), within(4, 1))
    with pytest.raises(ValueError, match="replace-one"):
        PriorExactSets(priors, PureDP(1.0, Relation.ADD_REMOVE), within(4, 1))
