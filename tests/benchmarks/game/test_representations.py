"""Games, rounds, views, guesses and rows on one short line."""

from __future__ import annotations

import numpy as np

from reconbench.attacks.baselines import PriorGuess
from reconbench.benchmarks.game.options import Options
from reconbench.benchmarks.game.play import AttackSpec, Game, Round, play


def test_a_game_shows_what_it_chooses() -> None:
    options = Options({"k": 2})
    game = Game("acs", ("SEX",), epsilon=1, mechanism_options=options, adversary="informed")
    assert repr(game) == (
        "Game(dataset='acs', targets=('SEX',), epsilon=1.0, mechanism_options={'k': 2}, "
        "adversary='informed')"
    )
    assert repr(Game("acs", ("SEX", "MAR"), float("inf"), rep=3)) == (
        "Game(dataset='acs', targets=('SEX', 'MAR'), epsilon=inf, rep=3)"
    )


def test_what_holds_arrays_prints_one_short_line() -> None:
    round_ = Round.draw(Game("acs", ("SEX",), epsilon=1.0))
    guess = PriorGuess().reconstruct(round_.view, np.random.default_rng(0))
    row = play(round_, AttackSpec("prior"))
    assert repr(guess) == "Reconstruction(Table(100 records of 'SEX'), with scores)"
    assert repr(round_.view).startswith("AttackerView('SEX' of 100 records, from MarginalsRelease(")
    assert f"{row.successes} of 100" in repr(row)
    for value in (round_, round_.view, round_.view.release, round_.mechanism, guess, row):
        assert len(repr(value)) < 300 and "\n" not in repr(value)
