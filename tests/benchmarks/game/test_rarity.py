"""Successes weighed by how rare the hidden values are."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from reconbench.benchmarks.game.play import AttackSpec, Game, Round, play
from reconbench.benchmarks.game.result import Result, ResultError
from reconbench.benchmarks.store.summary import summarise
from reconbench.datasets import Table
from reconbench.reports import Leaderboard

GAME = Game("acs", ("MAR",), 3.0, n=30, known=("AGEP", "ESP"), mechanism="grr")


def list_bits(round_: Round) -> np.ndarray:
    """−log2 P(value) of every value of the one target, by way of another column."""
    sexes = Table.of_all_values(round_.prior.domain.project(["SEX"]))
    given = round_.prior.conditional(sexes, round_.game.targets)
    return np.asarray(-np.log2(np.exp(round_.prior.log_evidence(sexes)) @ given))


def test_bits_are_those_of_the_true_values() -> None:
    round_ = Round.draw(replace(GAME, target_records=20))
    row = play(round_, AttackSpec("optimal"))
    bits = list_bits(round_)[round_.truth.codes[:20, 0]]
    assert row.rarity["total"] == pytest.approx(bits.sum())
    right = round_.hits(round_.baseline[0])
    assert row.rarity["prior"] == pytest.approx(bits[right].sum())
    everything, nothing = (round_.weigh_rarity(np.full(20, each)) for each in (True, False))
    assert everything["right"] == everything["total"] and nothing["right"] == 0
    assert Result.from_json(row.to_json()) == row


def test_no_attack_expects_more_bits_than_the_ceiling() -> None:
    """Against randomised response the best guess for bits is known: the largest stake."""
    games = [Round.draw(GAME.repeat(rep)) for rep in range(20)]
    bits, won, most = list_bits(games[0]), [], []
    for round_ in games:
        (judge,) = round_.judges
        chances: np.ndarray = judge.chances  # type: ignore[attr-defined]
        won.append((chances * bits).max(axis=1).sum())
        most.append(round_.weigh_rarity(np.zeros(30, dtype=bool))["most"])
    error = np.std(np.subtract(most, won)) / np.sqrt(20)
    assert np.mean(won) < np.mean(most) + 3 * error
    # Negative control: guessing for bits wins more than the ceiling of a stronger guarantee.
    strict = Round.draw(replace(GAME, epsilon=0.01)).weigh_rarity(np.zeros(30, dtype=bool))
    assert np.mean(won) > strict["most"]


@pytest.mark.parametrize(
    "changes",
    [{"metric": "columns:1"}, {"targets": ("RELP", "SCHL")}],
)
def test_other_metrics_and_long_priors_have_no_ceiling(changes: dict[str, object]) -> None:
    row = play(Round.draw(replace(GAME, **changes)), AttackSpec("prior"))  # type: ignore[arg-type]
    assert set(row.rarity) == {"right", "prior", "total"}
    assert row.rarity["right"] == row.rarity["prior"] <= row.rarity["total"]


def test_the_leaderboard_has_shares_of_all_bits() -> None:
    rows = [play(Round.draw(GAME.repeat(rep)), AttackSpec("prior")) for rep in range(3)]
    (summary,) = summarise(rows)
    (line,) = Leaderboard.from_summaries([summary]).rows
    total = sum(row.rarity["total"] for row in rows)
    assert line["rarity_right"] == pytest.approx(sum(row.rarity["right"] for row in rows) / total)
    assert line["rarity_right"] == line["rarity_prior"]
    assert line["rarity_most"] == pytest.approx(sum(row.rarity["most"] for row in rows) / total)
    (older,) = summarise([rows[0], replace(rows[1], rarity={})])
    assert older.rarity_shares == {}


def test_bits_that_cannot_be_are_refused() -> None:
    raw = play(Round.draw(GAME), AttackSpec("prior")).to_json()
    for rarity, message in (({"right": -1.0}, "at least 0"), ({"wrong": 1.0}, "one of right")):
        with pytest.raises(ResultError, match=message):
            Result.from_json({**raw, "rarity": rarity})
