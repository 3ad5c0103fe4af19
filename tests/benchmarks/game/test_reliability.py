"""Scores of attacks against what they got right."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from reconbench.benchmarks.game.options import Options
from reconbench.benchmarks.game.play import AttackSpec, Game, Round, play
from reconbench.benchmarks.game.reliability import (
    FALSE_POSITIVE_RATES,
    add_counts,
    compute_reliability_error,
    compute_true_positive_rate,
    count_claims,
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


def enumerate_claims(scores: np.ndarray, hits: np.ndarray, rate: float) -> int:
    """The most right guesses above any threshold that at most the rate of the wrong ones exceed."""
    wrong = int((~hits).sum())
    thresholds = [-np.inf, *scores]
    allowed = [t for t in thresholds if ((scores > t) & ~hits).sum() <= rate * wrong + 1e-9]
    return max(int(((scores > t) & hits).sum()) for t in allowed)


@pytest.mark.parametrize("distinct", [2, 5, 1_000])
def test_claims_are_the_best_threshold(distinct: int) -> None:
    rng = np.random.default_rng(distinct)
    for n in (1, 7, 150):
        for share in (0.0, 0.4, 1.0):
            scores = rng.integers(0, distinct, n) / distinct
            hits = rng.random(n) < share
            claims = count_claims([scores], hits)
            for name, rate in FALSE_POSITIVE_RATES.items():
                claimed, right, chance = claims[name]
                assert claimed == enumerate_claims(scores, hits, rate)
                assert right == hits.sum() and 0 <= chance <= right


def test_scores_without_meaning_claim_what_chance_does() -> None:
    """2,000 plays of 60 records; scores that are the truth claim all, and equal ones nothing."""
    rng = np.random.default_rng(0)
    hits = np.arange(60) < 25
    plays = [count_claims([rng.random(60)], hits) for _ in range(2_000)]
    for name in FALSE_POSITIVE_RATES:
        claimed = np.array([play[name][0] for play in plays])
        error = claimed.std() / np.sqrt(len(plays))
        assert abs(claimed.mean() - plays[0][name][2]) < 5 * error
        assert compute_true_positive_rate(count_claims([hits.astype(float)], hits), name) == 1
        assert compute_true_positive_rate(count_claims([np.ones(60)], hits), name) == 0
        assert compute_true_positive_rate(add_counts(plays), name) == pytest.approx(
            claimed.mean() / 25
        )
    assert count_claims([None], hits) == count_claims([np.ones(3)], hits) == {}
    assert compute_true_positive_rate({}, "0.01") is None


def test_sure_guesses_of_the_optimal_attack_are_right(results: list[Result]) -> None:
    summaries = {row.attack: row for row in summarise(results)}
    (row,) = Leaderboard.from_summaries([summaries["posterior"]]).rows
    claimed, right, chance = summaries["posterior"].claims["0.1"]
    assert row["tpr_0.1"] == claimed / right > 1.5 * chance / right
    (silent,) = Leaderboard.from_summaries([replace(summaries["posterior"], claims={})]).rows
    assert silent["tpr_0.1"] is None


@pytest.mark.parametrize(
    "claims",
    [{"0.5": [0.0, 1.0, 0.0]}, {"0.1": [1.0, 2.0]}, {"0.1": [0.0, -1.0, 0.0]}],
)
def test_claims_that_cannot_be_are_refused(
    results: list[Result], claims: dict[str, list[float]]
) -> None:
    with pytest.raises(ValueError, match=r"claims\."):
        Result.from_json({**results[0].to_json(), "claims": claims})


def test_near_ties_may_move_a_threshold(results: list[Result]) -> None:
    row = results[1]
    claimed, right, chance = row.claims["0.1"]
    moved = replace(row, claims={**row.claims, "0.1": [max(claimed - 2, 0), right, chance]})
    assert row.differences(moved) == []
    far = replace(row, claims={**row.claims, "0.1": [claimed + 60, right, chance]})
    assert row.differences(far) == ["claims"]
