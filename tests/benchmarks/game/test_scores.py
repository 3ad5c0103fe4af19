"""Three scores, one mean; and a wrong posterior does not go unnoticed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from reconbench.attacks.judges import find_judge
from reconbench.benchmarks.game.play import AttackSpec, Game, Round, play
from reconbench.benchmarks.game.result import Result, ResultError
from reconbench.benchmarks.game.scores import ScoredBy, read_luck, read_score
from reconbench.benchmarks.store.summary import summarise
from reconbench.benchmarks.store.tightest import tightest_mean
from reconbench.mechanisms import MarginalsRelease
from reconbench.reports.leaderboard.checks.self_check import check_scores

GAME = Game("acs", ("SEX",), 10.0, n=30)


@pytest.fixture(scope="module")
def rows() -> list[Result]:
    return [play(Round.draw(replace(GAME, rep=rep)), AttackSpec("posterior")) for rep in range(40)]


def test_three_scores_have_the_same_mean(rows: list[Result]) -> None:
    """Differences from the successes as drawn, over 40 tables: false alarms below 1e-4 each."""
    drawn = np.array([row.successes for row in rows], dtype=float)
    expected = np.array([row.expected_successes for row in rows], dtype=float)
    adjusted, control = [], []
    for row in rows:
        most = tightest_mean(row.ceilings)
        score = read_score(row, most)
        older = replace(row, expected_successes=None, expected_baseline=None, scored_by="")
        by_control = read_score(older, most)
        assert score is not None and by_control is not None
        assert score.by is ScoredBy.SAMPLED and by_control.by is ScoredBy.CONTROL
        assert score.baseline == by_control.baseline == row.baseline_expected
        adjusted.append(score.expected)
        control.append(by_control.expected)
    for other in (expected, np.array(adjusted), np.array(control)):
        difference = other - drawn
        assert abs(difference.mean()) < 4 * difference.std(ddof=1) / np.sqrt(len(rows))
    baseline = np.array([row.baseline_expected for row in rows])
    gain = drawn - np.array([row.baseline_successes for row in rows])
    assert np.std(np.array(adjusted) - baseline) < 0.6 * np.std(gain)


def test_luck_has_mean_zero_and_a_weight_that_ignores_the_release(rows: list[Result]) -> None:
    luck = np.array([read_luck(row, tightest_mean(row.ceilings)) for row in rows])
    assert abs(luck.mean()) < 4 * luck.std(ddof=1) / np.sqrt(len(rows))
    row = rows[0]
    assert row.expected_baseline is not None
    full = row.expected_baseline - row.baseline_expected
    assert read_luck(row, row.baseline_expected) == pytest.approx(full)
    assert read_luck(row, None) == pytest.approx(full)
    assert read_luck(row, row.n) == 0
    assert read_luck(replace(row, expected_baseline=None), row.n / 2) == 0


def test_a_wrong_posterior_is_caught(rows: list[Result]) -> None:
    """With half the noise the posterior is too sure: it expects more than it gets."""
    honest = check_scores(summarise(rows))
    assert honest is not None and honest.passed and "records per game" in honest.describe()
    wrong = []
    for row in rows:
        round_ = Round.draw(replace(GAME, rep=row.rep))
        release = round_.view.release
        assert isinstance(release, MarginalsRelease)
        sure = replace(round_.view, release=replace(release, noise_sd=release.noise_sd / 2))
        judge = find_judge(sure, np.random.default_rng(row.rep))
        assert judge is not None and judge.best_possible is not None
        wrong.append(replace(row, expected_successes=judge.best_possible.expected))
    caught = check_scores(summarise(wrong))
    assert caught is not None and not caught.passed and "do not trust" in caught.describe()
    assert check_scores(summarise(rows[:2])) is None


def test_attacks_that_never_look_are_scored_by_the_prior() -> None:
    round_ = Round.draw(replace(GAME, n=20))
    for name in ("prior", "random"):
        row = play(round_, AttackSpec(name))
        score = read_score(row, tightest_mean(row.ceilings))
        assert row.scored_by == "prior" and score is not None
        assert score.expected == row.expected_from_prior
    assert play(round_, AttackSpec("rap")).scored_by == "exact posterior"
    assert play(Round.draw(GAME), AttackSpec("rap")).scored_by == "sampled posterior"
    prior = play(round_, AttackSpec("prior"))
    summary = summarise([prior])[0]
    assert summary.expected_success == pytest.approx(summary.baseline_expected)


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"scored_by": "luck"}, "scored_by must be one of"),
        ({"scored_by": ""}, "expected_successes must be given unless"),
        ({"expected_successes": None}, "expected_successes must be given unless"),
        ({"expected_successes": 31.0}, "expected_successes must be a number from 0 to 30"),
        ({"expected_baseline": -1.0}, "expected_baseline must be a number from 0 to 30"),
        ({"expected_baseline": None}, "expected_baseline must be given here"),
        ({"scored_by": "control variate", "expected_successes": None}, "must be none here"),
        ({"expected_successes_se": -1.0}, "expected_successes_se must be"),
    ],
)
def test_scores_that_cannot_be_are_refused(
    rows: list[Result], changes: dict[str, object], error: str
) -> None:
    assert Result.from_json(rows[0].to_json()) == rows[0]
    with pytest.raises(ResultError, match=error):
        Result.from_json({**rows[0].to_json(), **changes})
