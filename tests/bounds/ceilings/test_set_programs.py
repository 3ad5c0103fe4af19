"""Weights for success sets: intervals against the general program, flows, enumeration."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from numpy.typing import NDArray

from reconbench.bounds import ApproxDP, GaussianDP, Guarantee, PureDP
from reconbench.bounds.ceilings.prior_exact import PriorExact
from reconbench.bounds.ceilings.prior_exact_sets import PriorExactSets, _tangents, within
from reconbench.bounds.ceilings.programs.set_programs import AnyProgram, IntervalProgram, Intervals
from reconbench.bounds.guarantees._conjugate import best_response

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
PIECEWISE_LINEAR: list[Guarantee] = [PureDP(1.0), ApproxDP(0.5, 0.05)]
GUARANTEES: list[Guarantee] = [*PIECEWISE_LINEAR, GaussianDP(0.3), GaussianDP(2.0)]


def ragged(rng: np.random.Generator, m: int) -> BoolArray:
    """Intervals of any place and length that cover all values, some of them within others."""
    first = rng.integers(0, m, size=m)
    end = np.minimum(first + rng.integers(1, m, size=m), m)
    code = np.arange(m)
    sets = (first[:, None] <= code) & (code < end[:, None])
    return np.concatenate([sets, np.eye(m, dtype=bool)[~sets.any(axis=0)]])


def both(success: BoolArray, guarantee: Guarantee) -> tuple[AnyProgram, IntervalProgram]:
    slopes, constants = _tangents(guarantee, best_response(guarantee))
    intervals = Intervals.of(success)
    assert intervals is not None
    lines = tuple(slopes.tolist()), tuple(constants.tolist())
    return AnyProgram(success, slopes, constants), IntervalProgram(intervals, *lines)


@pytest.mark.parametrize("guarantee", GUARANTEES, ids=lambda g: g.describe())
def test_intervals_give_the_bound_of_the_general_program(guarantee: Guarantee) -> None:
    rng = np.random.default_rng(40)
    respond = best_response(guarantee)
    # Both evaluate the bound where tangents of g put the weights: exact if g is piecewise linear.
    close = 1e-9 if guarantee in PIECEWISE_LINEAR else 2e-3
    for m in (2, 5, 9):
        for success in (within(m, 1), within(m, 2), ragged(rng, m), ragged(rng, m)):
            general, intervals = both(success, guarantee)
            pi = rng.dirichlet(np.full(m, 0.6))
            slow = general.weights(pi).bound(pi, respond)
            assert intervals.weights(pi).bound(pi, respond) == pytest.approx(slow, abs=close)


@pytest.mark.parametrize("seed", range(6))
def test_every_routing_is_a_mixture_of_spread_sets(seed: int) -> None:
    """The flow through each value is the sum over rows of W that the general bound accepts."""
    rng = np.random.default_rng(seed)
    m = 7
    success = ragged(rng, m)
    _, program = both(success, PureDP(1.0))
    own, below, above = rng.random(m), rng.random(m), rng.random(m)
    rows = np.zeros((m, m))
    for w in range(m):
        alone = np.where(np.arange(m) == w, own, 0.0)
        rows[w] = program._routed(alone, below, above) + alone
    np.testing.assert_allclose(program._routed(own, below, above), rows.sum(axis=0) - own)
    # λ_w pays for all of row w, whatever is guessed.
    assert np.all((rows @ success.T).max(axis=1) <= own + 1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_demands_that_spread_sets_allow_can_be_covered(seed: int) -> None:
    """Total unimodularity: the least total that covers is the largest demand of a spread set."""
    from scipy.optimize import linprog

    rng = np.random.default_rng(seed)
    m = 6
    success, demand = ragged(rng, m), rng.random(m)
    covered = linprog(np.ones(len(success)), A_ub=-success.T.astype(float), b_ub=-demand)
    together = success.T.astype(int) @ success.astype(int) > 0
    spread = [
        chosen
        for size in range(1, m + 1)
        for chosen in combinations(range(m), size)
        if not any(together[a, b] for a, b in combinations(chosen, 2))
    ]
    assert covered.fun == pytest.approx(max(demand[list(chosen)].sum() for chosen in spread))


def test_what_are_intervals_and_what_are_not() -> None:
    assert Intervals.of(within(5, 1)) == Intervals((0, 0, 0, 1, 2), (3, 4, 5, 5, 5))
    assert Intervals.of(np.eye(3, dtype=bool)) == Intervals((0, 1, 2), (1, 2, 3))
    assert Intervals.of(np.array([[True, False, True], [False, True, False]])) is None
    assert Intervals.of(np.array([[True, True, False]])) is None
    # A guess that never succeeds changes nothing.
    never = np.concatenate([within(4, 1), np.zeros((1, 4), dtype=bool)])
    assert Intervals.of(never) == Intervals.of(within(4, 1))


def test_a_prior_that_was_met_before_is_not_solved_again(monkeypatch: pytest.MonkeyPatch) -> None:
    priors = np.random.default_rng(41).dirichlet(np.ones(5), size=3)
    first = PriorExactSets(priors, PureDP(0.9), within(5, 1)).per_target
    solve = IntervalProgram.solve
    solved: list[FloatArray] = []

    def counted(self: IntervalProgram, pi: FloatArray) -> object:
        solved.append(pi)
        return solve(self, pi)

    monkeypatch.setattr(IntervalProgram, "solve", counted)
    again = PriorExactSets(priors[::-1], PureDP(0.9), within(5, 1)).per_target
    np.testing.assert_array_equal(again, first[::-1])
    assert not solved
    # Neither another guarantee nor another error is mistaken for it.
    PriorExactSets(priors, PureDP(0.8), within(5, 1)).per_target.sum()
    PriorExactSets(priors, PureDP(0.9), within(5, 0.5)).per_target.sum()
    assert len(solved) == 3


def test_a_prior_that_one_guess_covers_is_certain() -> None:
    priors = np.array([[0.3, 0.7, 0.0, 0.0], [0.25, 0.25, 0.25, 0.25]])
    sure, other = PriorExactSets(priors, GaussianDP(0.1), within(4, 1)).per_target
    assert sure == 1.0 and other < 1.0
    assert PriorExactSets(priors, GaussianDP(0.1), within(4, 2)).mean == 2.0


@pytest.mark.parametrize("guarantee", GUARANTEES, ids=lambda g: g.describe())
def test_single_values_come_to_the_closed_form(guarantee: Guarantee) -> None:
    priors = np.random.default_rng(42).dirichlet(np.full(6, 0.7), size=8)
    exact, respond = PriorExact(priors, guarantee).per_target, best_response(guarantee)
    _, program = both(np.eye(6, dtype=bool), guarantee)
    found = np.array([program.weights(pi).bound(pi, respond) for pi in priors])
    assert np.all(found >= exact - 1e-9)
    np.testing.assert_allclose(found, exact, rtol=1e-3)
