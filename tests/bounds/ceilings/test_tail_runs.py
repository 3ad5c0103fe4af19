"""Runs that stand for the unlisted values: against a slow twin, and never below the full list."""

from __future__ import annotations

import numpy as np
import pytest

from reconbench.bounds import (
    ApproxDP,
    FdpRecursion,
    GaussianDP,
    Guarantee,
    PriorExact,
    TailRuns,
    majorise_tail,
)
from reconbench.bounds.ceilings import tail_runs

GUARANTEES = [GaussianDP(0.3), GaussianDP(2.0), ApproxDP(1.0, 1e-5), ApproxDP(6.0, 1e-3)]


def draw(seed: int, n: int = 6, m: int = 400, concentration: float = 0.1) -> np.ndarray:
    """Joint priors of two columns, (n, m / 20, 20)."""
    rng = np.random.default_rng(seed)
    return rng.dirichlet(np.full(m, concentration), size=n).reshape(n, -1, 20)


def in_order(priors: np.ndarray) -> np.ndarray:
    return -np.sort(-priors.reshape(len(priors), -1), axis=1)


def spread_out(runs: TailRuns, row: int) -> np.ndarray:
    return np.repeat(runs.values[row], runs.counts[row].astype(int))


def twin(listed: np.ndarray, lists: list[np.ndarray], length: int) -> np.ndarray:
    """The next `length` values of one row, each as large as all lines together allow."""
    most = []
    for j in range(length + 1):
        k = len(listed) + j
        allowed = [1.0, listed.sum() + j * listed[-1]]
        for values in lists:
            for place in tail_runs._places(len(listed), len(values)):
                allowed.append(values[:place].sum() + (k - place) * values[place - 1])
        most.append(min(allowed))
    return np.diff(most)


@pytest.mark.parametrize("seed", range(3))
def test_against_a_slow_twin(seed: int) -> None:
    joint = draw(seed)
    whole, part = in_order(joint), in_order(joint.sum(axis=2))
    listed, lists = whole[:, :5], [whole[:, :60], part[:, :12]]
    runs = majorise_tail(listed, lists)
    for row in range(len(whole)):
        expected = twin(listed[row], [values[row] for values in lists], 3000)
        values = spread_out(runs, row)
        padded = np.zeros(3000)
        padded[: len(values)] = values[:3000]
        np.testing.assert_allclose(np.cumsum(padded), np.cumsum(expected), atol=1e-12)


@pytest.mark.parametrize("seed", range(8))
def test_runs_majorise_what_is_not_listed(seed: int) -> None:
    joint = draw(seed, concentration=0.02 * 3**seed)
    whole, part = in_order(joint), in_order(joint.sum(axis=2))
    for listed, lists in [
        (whole[:, :1], [part]),
        (whole[:, :1], []),
        (whole[:, :30], [whole[:, :100], part]),
        (whole, []),
    ]:
        runs = majorise_tail(listed, lists)
        totals = listed.sum(axis=1) + (runs.values * runs.counts).sum(axis=1)
        np.testing.assert_allclose(totals, 1.0, atol=1e-12)
        for row in range(len(whole)):
            stand_in = np.concatenate([listed[row], spread_out(runs, row)])
            stand_in = -np.sort(-stand_in)[: whole.shape[1]]
            most = np.ones(whole.shape[1])
            most[: len(stand_in)] = np.cumsum(stand_in)
            assert (most >= np.cumsum(whole[row]) - 1e-12).all()


@pytest.mark.parametrize("guarantee", GUARANTEES, ids=str)
def test_ceilings_are_never_below_those_of_the_full_list(guarantee: Guarantee) -> None:
    joint = draw(3, n=20)
    whole, part = in_order(joint), in_order(joint.sum(axis=2))
    exact = PriorExact(whole, guarantee).per_target
    recursion = FdpRecursion(whole, guarantee)
    for count in (1, 10, 100):
        listed = whole[:, :count]
        tail = np.maximum(1 - listed.sum(axis=1), 0.0)
        plain = PriorExact(listed, guarantee, tail).per_target
        for lists in ([], [part], [whole[:, : 2 * count], part]):
            runs = majorise_tail(listed, lists)
            bound = PriorExact(listed, guarantee, tail, runs).per_target
            assert (bound >= exact - 1e-9).all()
            assert (bound <= plain + 1e-9).all()
            if lists and count < part.shape[1]:
                # A subset of the columns is a ceiling, and the runs know it, but for the grid.
                assert (bound <= 1.001 * PriorExact(part, guarantee).per_target).all()
            ours = FdpRecursion(listed, guarantee, tail, runs)
            for confidence in (0.5, 0.95):
                assert ours.ceiling(confidence) >= recursion.ceiling(confidence)


def test_values_below_the_truth_would_be_noticed() -> None:
    # Negative control: a tail spread over a hundred times as many values is no ceiling.
    whole = in_order(draw(0))
    listed, guarantee = whole[:, :5], GaussianDP(2.0)
    runs = majorise_tail(listed, [])
    spread = TailRuns(runs.values / 100, runs.counts * 100)
    bound = PriorExact(listed, guarantee, 1 - listed.sum(axis=1), spread)
    assert (bound.per_target < PriorExact(whole, guarantee).per_target - 1e-6).any()


def test_limits() -> None:
    # Everything is listed; a tail of a certain value; values so small that counts would overflow.
    whole = np.array([[0.5, 0.3, 0.2, 0.0]])
    assert (majorise_tail(whole, []).values < 1e-12).all()
    runs = majorise_tail(np.array([[0.25]]), [])
    assert spread_out(runs, 0).tolist() == [0.25, 0.25, 0.25]
    runs = majorise_tail(np.array([[0.4, 1e-300], [0.4, 1e-14]]), [np.array([[0.4], [0.9]])])
    np.testing.assert_allclose((runs.values * runs.counts).sum(axis=1), 0.6, rtol=1e-9)


@pytest.mark.parametrize("bound", [PriorExact, FdpRecursion])
def test_bad_input(bound: type[PriorExact | FdpRecursion]) -> None:
    listed, tail = np.array([[0.4, 0.1], [0.3, 0.2]]), np.array([0.5, 0.5])
    runs = majorise_tail(listed, [])
    with pytest.raises(ValueError, match=r"one row per target \(2\), got values of shape \(1, "):
        bound(listed, GaussianDP(1.0), tail, TailRuns(runs.values[:1], runs.counts[:1]))
    with pytest.raises(ValueError, match=r"add up to tail_mass in each row, a row is off by 0\.5"):
        bound(listed, GaussianDP(1.0), tail, TailRuns(runs.values, 2 * runs.counts))
