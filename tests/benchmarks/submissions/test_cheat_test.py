"""The permutation test: its level, its power, and what it leaves out."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from math import comb

import numpy as np
import pytest

from reconbench.benchmarks.game.result import Result, Status
from reconbench.benchmarks.submissions.cheat_test import (
    LEVEL,
    LOOKS,
    CheatTest,
    Floats,
    _compute_p,
    compare_gains,
    count_sealed_repetitions,
)
from reconbench.benchmarks.submissions.entry import Entry


def test_enough_sealed_repetitions_are_played_to_refuse() -> None:
    for public in range(2, 30):
        sealed = count_sealed_repetitions(public)
        assert sealed >= public and LOOKS / comb(public + sealed, public) <= LEVEL
        if sealed > public:
            assert LOOKS / comb(public + sealed - 1, public) > LEVEL
    assert [count_sealed_repetitions(n) for n in (2, 3, 5)] == [62, 21, 9]


def naive_p(table: Floats, public: int) -> float:
    """Every choice of the public repetitions, one by one."""
    scaled = (table - table.mean(axis=0)) / table.std(axis=0)
    overall, largest = [], []
    for chosen in combinations(range(len(table)), public):
        overall.append(table[list(chosen)].mean())
        largest.append(scaled[list(chosen)].mean(axis=0).max())
    shares = [np.mean(np.array(s) >= s[0] - 1e-9) for s in (overall, largest)]
    return float(min(1.0, 2 * min(shares)))


def test_the_p_value_is_that_of_an_obvious_twin() -> None:
    rng = np.random.default_rng(0)
    for _ in range(10):
        table = rng.normal(size=(9, 4))
        assert _compute_p(table, 4) == pytest.approx(naive_p(table, 4), abs=1e-12)


def test_an_honest_attack_is_refused_at_most_at_the_level() -> None:
    """At 5 % in place of LEVEL: 2,000 tables, so 0.065 is exceeded with probability < 0.002."""
    rng = np.random.default_rng(1)
    shared = rng.normal(size=(2000, 12, 1))
    tables = np.round(shared + rng.normal(size=(2000, 12, 5)), 1)
    refused = np.mean([_compute_p(table, 4) <= 0.05 for table in tables])
    assert 0.01 < refused < 0.065


def test_a_cheat_in_all_games_and_one_in_a_single_game_are_found() -> None:
    rng = np.random.default_rng(2)
    table = rng.normal(size=(14, 40))
    everywhere, once = table.copy(), table.copy()
    everywhere[:5] += 2
    once[:5, 7] += 12
    assert _compute_p(table, 5) > 0.05
    assert _compute_p(everywhere, 5) <= LEVEL and _compute_p(once, 5) <= LEVEL


def test_many_repetitions_are_sampled() -> None:
    rng = np.random.default_rng(3)
    table = rng.normal(size=(40, 2))
    assert _compute_p(table, 20) > LEVEL
    table[:20] += 2
    assert _compute_p(table, 20) <= LEVEL


def row_of(entry: Entry, rep: int, gain: int, **changes: object) -> Result:
    row = entry.rows[0]
    return replace(row, rep=rep, successes=row.baseline_successes + gain, **changes)  # type: ignore[arg-type]


def test_raw_gains_are_compared_in_games_that_both_finished(entry: Entry) -> None:
    public = [row_of(entry, rep, 6) for rep in range(3)]
    sealed = [row_of(entry, rep, 0, seed=5) for rep in range(21)]
    test = compare_gains(public, sealed)
    assert test is not None and test.refuses and "+6.00 % of records" in test.describe()
    assert (test.cells, test.public_repetitions, test.sealed_repetitions) == (1, 3, 21)
    assert test.public_gain == pytest.approx(6.0) and test.sealed_gain == 0.0
    skipped = [replace(row, status=Status.SKIPPED, successes=None) for row in sealed]
    assert compare_gains(public, skipped) is None
    same = compare_gains(public, [row_of(entry, rep, 6, seed=5) for rep in range(21)])
    assert isinstance(same, CheatTest) and same.p == 1.0
