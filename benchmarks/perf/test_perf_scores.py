"""What expected scores cost: games of the quick suite with and without them."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from math import inf
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


def measure_cpu(task: Callable[[], object]) -> float:
    """Seconds of this process alone: what else the machine does has no part in it."""
    start = time.process_time()
    task()
    return time.process_time() - start


def test_scores_cost_less_than_a_third_of_a_game(benchmark: BenchmarkFixture) -> None:
    """Their chains are half as long as those of the attack `posterior`, which plays as well."""
    torch.set_num_threads(1)
    play_games()
    scored, plain = inf, inf
    for _ in range(4):
        scored = min(scored, measure_cpu(play_games))
        with patch.object(Round, "judges", ()):
            plain = min(plain, measure_cpu(play_games))
    benchmark.extra_info["scored / plain"] = scored / plain
    benchmark.pedantic(play_games, rounds=1)
    assert scored < 1.3 * plain
