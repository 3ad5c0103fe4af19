"""Games in which any guess may count for any record."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from reconbench.attacks import AnyGuess
from reconbench.attacks.judges import ListedJudge
from reconbench.benchmarks import plugins
from reconbench.benchmarks.assess.question import AssessError, Question, check_table
from reconbench.benchmarks.game.play import AttackSpec, Game, Round, play
from reconbench.datasets import Table

GAME = Game("acs", ("SEX", "MAR"), 3.0, n=12, known=("AGEP", "ESP"), metric="any:2:exact")


def test_the_judge_counts_every_guess_for_every_record() -> None:
    round_ = Round.draw(replace(GAME, mechanism="grr"))
    (judge,) = round_.judges
    assert isinstance(judge, ListedJudge) and isinstance(round_.metric, AnyGuess)
    sizes = round_.truth.domain.sizes
    guess = np.random.default_rng(0).integers(0, sizes, (12, 2))
    flat = np.ravel_multi_index(tuple(guess.T), sizes)
    values, counts = np.unique(flat, return_counts=True)
    listed = values[np.argsort(-counts, kind="stable")[:2]]
    assert judge.judge(guess).expected == pytest.approx(judge.chances[:, listed].sum())
    best = np.sort(judge.chances.sum(axis=0))[-2:].sum()
    assert round_.best_possible is not None
    assert round_.best_possible.expected == pytest.approx(best)
    hits = round_.hits(Table(round_.truth.domain, guess))
    truth = np.ravel_multi_index(tuple(round_.truth.codes.T), sizes)
    assert np.array_equal(hits, np.isin(truth, listed))


@pytest.mark.parametrize("targets", [("MAR",), ("SEX", "MAR")])
def test_judges_count_every_guess_for_every_record(targets: tuple[str, ...]) -> None:
    """Two lists that cover every value between them are worth all records together."""
    round_ = Round.draw(replace(GAME, targets=targets, metric="any:exact"))
    (judge,) = round_.judges
    assert judge.best_possible is None
    values = Table.of_all_values(round_.truth.domain).codes
    half = len(values) // 2
    lists = [part[np.arange(12) % len(part)] for part in (values[:half], values[half:])]
    worth = [judge.judge(guess).expected for guess in lists]
    assert sum(worth) == pytest.approx(12, rel=1e-9) and min(worth) > 0


def test_rows_have_ceilings_and_no_borrowed_optimum() -> None:
    short = AttackSpec("posterior", {"sweeps": 8, "burn_in": 4, "rounds": 1})
    row = play(Round.draw(replace(GAME, metric="any:2:columns:1")), short)
    assert row.best_possible is None and row.expected_successes is not None
    assert {"mean", "thm35"} <= set(row.ceilings) and "prior-exact" not in row.ceilings
    assert row.ceilings["mean"]["mean"] >= row.baseline_expected
    declined = play(Round.draw(replace(GAME, mechanism="grr")), AttackSpec("optimal"))
    assert declined.error is not None and "record by record" in declined.error
    other = replace(GAME, attacker_prior="independent")
    assert "misfit-thm35" not in play(Round.draw(other), AttackSpec("prior")).ceilings


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"adversary": "informed"}, "which the informed adversary knows in full"),
        ({"advantage": 2}, "leave advantage out"),
        ({"targets": ("SEX",), "metric": "any:columns:2"}, "needs at least 2 target columns"),
    ],
)
def test_bad_input(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Round.draw(replace(GAME, **changes))


def test_assessments_are_about_single_records() -> None:
    table = plugins.load_prior("acs").sample(200, np.random.default_rng(0))
    question = Question("acs", ("SEX",), epsilon=1.0, metric="any:exact")
    with pytest.raises(AssessError, match="use exact, columns:M or l1:E"):
        check_table(question, table)
