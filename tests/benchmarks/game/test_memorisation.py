"""Held-out records, and what attackers see of a synthetic release."""

from __future__ import annotations

from dataclasses import replace
from statistics import fmean

import numpy as np
import pytest

from reconbench.benchmarks.game.play import AttackSpec, Game, GameError, Round, play
from reconbench.benchmarks.game.setting import Access
from reconbench.benchmarks.game.worlds.memorisation import HeldOut
from reconbench.benchmarks.store.summary import summarise
from reconbench.mechanisms.synthetic.release import SyntheticRelease

STAR = Game(
    "acs",
    ("SEX",),
    30.0,
    n=60,
    known=("AGEP", "MAR", "ESP"),
    mechanism="pgm",
    mechanism_options={"structure": "star"},  # type: ignore[arg-type]
    access="measurements",
    held_out=200,
)


def memorised(game: Game, attack: str, reps: int = 6) -> tuple[float, float, float]:
    rows = [play(Round.draw(game.repeat(rep)), AttackSpec(attack)) for rep in range(reps)]
    (summary,) = summarise(rows)
    assert summary.memorised is not None
    assert summary.memorised_low is not None and summary.memorised_high is not None
    return summary.memorised, summary.memorised_low, summary.memorised_high


def test_guesses_from_the_prior_are_as_good_outside() -> None:
    row = play(Round.draw(STAR), AttackSpec("prior"))
    assert row.held_out_expected == pytest.approx(row.held_out_baseline)
    assert memorised(STAR, "prior")[0] == pytest.approx(0.0, abs=1e-12)


def test_precise_counts_are_memorised_and_noise_is_not() -> None:
    mean, low, _ = memorised(STAR, "posterior")
    assert mean > 0.05 and low > 0
    noisy = replace(STAR, epsilon=0.01)
    assert abs(memorised(noisy, "posterior")[0]) < 0.02


def test_held_out_records_are_fresh_and_equal_for_all_attacks() -> None:
    round_ = Round.draw(STAR)
    one, other = HeldOut.draw(round_), HeldOut.draw(round_)
    assert one.known == other.known and one.truth == other.truth
    assert len(one.known) == STAR.held_out
    assert [view.n for view in one.views(round_)] == [STAR.n] * 4
    assert not np.array_equal(one.known.codes[: STAR.n], round_.view.known.codes)
    # Held-out records come after the table, noise and guesses are drawn: they change nothing else.
    without = play(Round.draw(replace(STAR, held_out=0)), AttackSpec("posterior"))
    assert play(round_, AttackSpec("posterior")).guess_hash == without.guess_hash


def test_expected_successes_outside_agree_with_those_drawn() -> None:
    rows = [play(Round.draw(STAR.repeat(rep)), AttackSpec("posterior")) for rep in range(8)]
    drawn = [row.held_out_successes or 0 for row in rows]
    worth = [row.held_out_expected or 0.0 for row in rows]
    # Binomial, 1600 records: four standard errors are 80; false alarms below 1e-4.
    assert abs(sum(drawn) - sum(worth)) < 80
    assert fmean(worth) < (rows[0].held_out_baseline or 0.0) + 1


@pytest.mark.parametrize("access", list(Access))
def test_attackers_see_what_they_may(access: str) -> None:
    round_ = Round.draw(replace(STAR, access=access))
    seen, whole = round_.view.release, round_.released
    assert isinstance(seen, SyntheticRelease) and isinstance(whole, SyntheticRelease)
    assert whole.measurements is not None
    assert (seen.measurements is not None) == (access == Access.MEASUREMENTS)
    assert seen.table == whole.table


def test_best_possible_does_not_depend_on_access() -> None:
    rows = [
        play(Round.draw(replace(STAR, access=access)), AttackSpec("prior")) for access in Access
    ]
    assert rows[0].best_possible is not None
    assert rows[0].best_possible == rows[1].best_possible


def test_measurements_are_refused_where_nothing_is_fitted() -> None:
    from reconbench.benchmarks.game.game import check

    with pytest.raises(GameError, match="access to measurements needs a mechanism"):
        check(Game("acs", ("SEX",), 1.0, access="measurements"))
    with pytest.raises(GameError, match="access must be table or measurements"):
        Game("acs", ("SEX",), 1.0, access="everything")
    with pytest.raises(GameError, match="held_out must be 0"):
        Game("acs", ("SEX",), 1.0, held_out=-1)
