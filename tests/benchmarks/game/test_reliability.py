"""Scores of attacks against what they got right."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from reconbench.benchmarks.game.options import Options
from reconbench.benchmarks.game.play import AttackSpec, Game, Round, play
from reconbench.benchmarks.game.reliability import (
    compute_reliability_error,
    count_reliability,
    merge_reliability,
)
from reconbench.benchmarks.game.result import Result
from reconbench.benchmarks.store.summary import summarise
from reconbench.reports import Leaderboard

GAME = Game(
    "acs", ("SEX",), 10.0, n=200, mechanism_options=Options({"k": 2}), known=("AGEP", "MAR", "RELP")
)


def test_counts_by_tenths() -> None:
    scores = np.array([0.0, 0.05, 0.55, 0.59, 0.9, 1.0])
    hits = np.array([False, True, True, False, True, True])
    counts = count_reliability([scores[:2], scores[2:]], hits)
    assert counts == {
        "0": [2.0, pytest.approx(0.05), 1.0],
        "5": [2.0, pytest.approx(1.14), 1.0],
        "9": [2.0, pytest.approx(1.9), 2.0],
    }
    assert compute_reliability_error(counts) == pytest.approx((0.95 + 0.14 + 0.1) / 6)
    twice = merge_reliability([counts, {}, counts])
    assert twice["5"] == [4.0, pytest.approx(2.28), 2.0] and list(twice) == ["0", "5", "9"]
    assert compute_reliability_error(twice) == pytest.approx(compute_reliability_error(counts))
    assert compute_reliability_error({}) is None


@pytest.mark.parametrize(
    "scores",
    [
        [None],
        [np.array([0.5, 0.5]), None],
        [np.array([0.5, -0.1, 0.2])],
        [np.array([0.5, 1.1, 0.2])],
        [np.array([0.5])],
        [],
    ],
)
def test_what_is_no_chance_is_left_out(scores: list[np.ndarray | None]) -> None:
    assert count_reliability(scores, np.array([True, False, True])) == {}


@pytest.fixture(scope="module")
def results() -> list[Result]:
    rounds = [Round.draw(GAME.repeat(rep)) for rep in range(6)]
    return [play(each, AttackSpec(name)) for each in rounds for name in ("prior", "posterior")]


def test_rows_keep_the_scores_and_survive_json(results: list[Result]) -> None:
    for row in results:
        counts = row.calibration.values()
        assert sum(each[0] for each in counts) == row.n
        assert sum(each[2] for each in counts) == row.successes
        assert Result.from_json(row.to_json()) == row
    optimal = [row for row in results if row.attack == "posterior"]
    for row in optimal:
        # the mean of an optimal attack's scores is what it expects to get
        promised = sum(each[1] for each in row.calibration.values())
        assert promised == pytest.approx(row.best_possible, abs=0.05 * row.n)


def test_the_optimal_attack_is_calibrated_and_a_boaster_is_not(results: list[Result]) -> None:
    """1,200 records: an error of 0.06 is beyond chance (a tenth has a standard error of some 3 %,
    and the mean distance over tenths is below it); twice as sure is far off."""
    summaries = {row.attack: row for row in summarise(results)}
    for name in ("prior", "posterior"):
        found = summaries[name].reliability_error
        assert found is not None and found < 0.06
    row = summaries["posterior"]
    boast = {tenth: [n, n, right] for tenth, (n, _, right) in row.reliability.items()}
    assert (replace(row, reliability=boast).reliability_error or 0) > 0.15


def test_the_board_shows_promise_error_and_tenths(results: list[Result]) -> None:
    found = next(each for each in summarise(results) if each.attack == "posterior")
    (row,) = Leaderboard.from_summaries([found]).rows
    assert row["promised"] == pytest.approx(found.success, abs=10)
    tenths = [each.split(":") for each in str(row["calibration"]).split()]
    assert sum(int(each[1]) for each in tenths) == 1200
    assert sum(int(each[3]) for each in tenths) == round(6 * (found.success or 0))
    for tenth, _, mean, _ in tenths:
        assert int(tenth) / 10 <= float(mean) <= (int(tenth) + 1) / 10
    (silent,) = Leaderboard.from_summaries([replace(found, reliability={})]).rows
    assert silent["promised"] is silent["calibration_error"] is silent["calibration"] is None
