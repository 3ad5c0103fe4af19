"""What expected scores cost: games of the quick suite with and without them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from unittest.mock import patch

import torch
from pytest_benchmark.fixture import BenchmarkFixture

from reconbench.benchmarks.game.play import AttackSpec, Game, Round, play

ATTACKS = tuple(map(AttackSpec, ("prior", "rap", "posterior")))
GAMES = tuple(
    Game(dataset, (column,), epsilon)
    for dataset, column in (("acs", "SEX"), ("acs", "AGEP"), ("acs", "MIG"), ("fire", "Priority"))
    for epsilon in (1.0, 10.0)
)


def play_games() -> None:
    for game in GAMES:
        for rep in range(2):
            round_ = Round.draw(replace(game, rep=rep))
            for attack in ATTACKS:
                play(round_, attack)


def play_without_scores() -> None:
    with patch.object(Round, "judges", ()):
        play_games()


def test_scores_cost_less_than_a_third_of_a_game(
    benchmark: BenchmarkFixture, least_cpu: Callable[..., list[float]]
) -> None:
    """Their chains are half as long as those of the attack `posterior`, which plays as well."""
    torch.set_num_threads(1)
    play_games()
    scored, plain = least_cpu(4, play_games, play_without_scores)
    benchmark.extra_info["scored / plain"] = scored / plain
    benchmark.pedantic(play_games, rounds=1)
    assert scored < 1.3 * plain
