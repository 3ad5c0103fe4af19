"""Games that score some of their records: the same game, counted on a part of its table."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from reconbench.attacks import Reconstruction, judges
from reconbench.attacks.judges import ListedJudge
from reconbench.benchmarks.game.play import AttackSpec, Game, Round, play
from reconbench.benchmarks.game.result import Result, ResultError
from reconbench.benchmarks.game.setting import Seeds, Setting, dump_axes
from reconbench.benchmarks.store.store import row_key
from reconbench.benchmarks.store.summary import summarise
from reconbench.datasets import Table
from reconbench.reports.leaderboard.flags import find_flags
from reconbench.reports.leaderboard.table import Leaderboard

GAME = Game("acs", ("SEX", "MAR"), 3.0, n=12, known=("AGEP", "ESP"))
RANDOM = AttackSpec("random")


def test_the_table_the_noise_and_the_guesses_stay() -> None:
    whole, part = (play(Round.draw(replace(GAME, target_records=m)), RANDOM) for m in (0, 5))
    assert part.table_hash == whole.table_hash and part.guess_hash == whole.guess_hash


@pytest.mark.parametrize("metric", ["exact", "columns:1"])
def test_everything_is_about_the_first_records(metric: str) -> None:
    """Row, ceilings and judge are those of a hand-made sum over the first five."""
    game = replace(GAME, metric=metric, mechanism="grr")
    whole, part = (Round.draw(replace(game, target_records=m)) for m in (0, 5))
    row = play(part, AttackSpec("optimal"))
    attack: Any = AttackSpec("optimal").build()
    answer: Reconstruction = attack.reconstruct(
        whole.view, whole.game.make_stream("attack optimal", whole.prior, Seeds.ATTACK)
    )
    hits = whole.hits(answer.guess)
    assert row.successes == hits[:5].sum() and row.scored == 5 and row.n == 12
    assert row.expected_from_prior == pytest.approx(
        whole.expected_from_prior(answer.guess)[:5].sum()
    )
    assert row.baseline_expected == pytest.approx(whole.baseline[1][:5].sum())
    assert row.baseline_successes == whole.hits(whole.baseline[0])[:5].sum()
    (judge,) = whole.judges
    assert isinstance(judge, ListedJudge) and answer.scores is not None
    assert row.expected_successes == pytest.approx(answer.scores[:5].sum())
    values = Table.of_all_values(whole.truth.domain)
    every = [Table(values.domain, np.tile(own, (len(values), 1))) for own in values.codes]
    counts = np.array([whole.metric.score(values, guess) for guess in every], dtype=float)
    best = (judge.chances[:5] @ counts.T).max(axis=1).sum()
    assert row.best_possible == pytest.approx(best)
    assert sum(counts[0] for counts in row.calibration.values()) == 5
    assert row.run_tail is not None and row.run_tail["n"] == 5
    most = {level: value for each in row.ceilings.values() for level, value in each.items()}
    assert max(most.values()) <= 5
    assert Result.from_json(row.to_json()) == row


def test_chains_judge_the_first_records() -> None:
    game = replace(GAME, targets=("SEX",))
    whole, part = (Round.draw(replace(game, target_records=m)) for m in (0, 4))
    guess = whole.baseline[0]
    judged = [whole.judges[0], part.judges[0]]
    worth = [judged[0].judge(guess.codes[:4]), judged[1].judge(guess.codes[:4])]
    assert worth[0] == worth[1] and part.judge(guess) == worth[1]
    assert part.best_possible is not None and whole.best_possible is not None
    assert part.best_possible.expected < whole.best_possible.expected
    successes = part.best_possible.successes
    assert successes is not None and successes.n == 4
    assert worth[0].expected <= part.best_possible.expected + 1e-9 < 4


def test_the_informed_adversary_attacks_the_first_records_only() -> None:
    game = replace(GAME, adversary="informed")
    whole, part = (Round.draw(replace(game, target_records=m)) for m in (0, 3))
    assert len(list(part.views())) == 3
    row, full = (play(each, AttackSpec("informed")) for each in (part, whole))
    assert row.expected_successes is not None and row.best_possible is not None
    assert row.best_possible < (full.best_possible or 0.0) <= 12
    assert row.successes is not None and row.successes <= 3


def test_an_attack_on_the_whole_table_does_not_say_what_is_possible_on_a_part(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Where nobody judges there is the attack's own statement, which is on all records."""
    monkeypatch.setattr(judges, "_judge_measurements", lambda *_: None)
    game = replace(GAME, epsilon=float("inf"), mechanism="exact-marginals")
    row = play(Round.draw(replace(game, target_records=3)), AttackSpec("posterior"))
    assert row.best_possible is None and row.best_possible_converged is None
    assert play(Round.draw(game), AttackSpec("posterior")).best_possible_converged is not None


def test_keys_of_other_games_stay() -> None:
    """The keys of two games from before there was this axis."""
    prior = AttackSpec("prior")
    keys = {
        "1e636e77f516f4c36e7502f35757e4cd271669109af19f41de9ac8606a438acb": Game(
            "acs", ("SEX",), 1.0
        ),
        "eaecec1faea88d7192f0fbe12cac501c80288e4f9db56acfc102524fef3a4103": Game(
            "fire", ("City",), 3.0, n=50, adversary="informed", advantage=3
        ),
    }
    for key, game in keys.items():
        assert row_key(game, prior).config == key
        assert "target_records" not in dump_axes(game)
    assert dump_axes(replace(GAME, target_records=5))["target_records"] == 5


def test_reports_count_scored_records() -> None:
    rows = [play(Round.draw(replace(GAME, target_records=5, rep=rep)), RANDOM) for rep in range(3)]
    (summary,) = summarise(rows)
    assert summary.scored == 5 and isinstance(summary, Setting)
    board = Leaderboard.from_summaries([summary])
    assert [row["target_records"] for row in board.rows] == [5]
    assert (
        "target_records"
        not in Leaderboard.from_summaries(summarise([play(Round.draw(GAME), RANDOM)])).columns
    )
    assert "5 records scored" in rows[0].describe()
    assert find_flags(replace(summary, ceilings={"thm35": {"0.95": 5.0}}), in_paper=False)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"target_records": 13}, r"target_records must be between 0 \(all\) and the 12 records"),
        ({"target_records": -1}, "got -1"),
        ({"target_records": 3, "advantage": 2}, "leave out target_records or advantage"),
    ],
)
def test_bad_input(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        replace(GAME, **changes)


def test_rows_with_too_many_successes_are_refused() -> None:
    raw = play(Round.draw(replace(GAME, target_records=5)), RANDOM).to_json()
    for field, value in (("successes", 6), ("target_records", 13), ("best_possible", 5.1)):
        with pytest.raises(ResultError, match=field):
            Result.from_json({**raw, field: value})
    assert np.isfinite(raw["baseline_expected"])
