"""What the border between referee and player costs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from reconbench.benchmarks.game.play import Adversary, AttackSpec, Game, Round, play
from reconbench.benchmarks.run.worker_tasks import one_thread

TWIN = """
from reconbench.attacks.baselines import RandomGuess

class Twin(RandomGuess):
    pass
"""


@pytest.mark.parametrize("adversary", list(Adversary))
def test_the_border(
    benchmark: Any, fastest: Callable[..., list[float]], tmp_path: Path, adversary: Adversary
) -> None:
    """The same attack on both sides; the border takes less than drawing and bounding the round.

    All views of the informed adversary cross it at once.
    """
    (tmp_path / "twin.py").write_text(TWIN)
    ours, theirs = AttackSpec("random"), AttackSpec(f"{tmp_path / 'twin.py'}:Twin")
    game = Game("acs", ("SEX",), 3.0, n=100, adversary=adversary)
    round_ = Round.draw(game)

    def set_up() -> None:
        _ = Round.draw(game).ceilings_for_any_attack

    with one_thread():
        play(round_, theirs)
        here, there, setting_up = benchmark.pedantic(
            fastest,
            args=(30, lambda: play(round_, ours), lambda: play(round_, theirs), set_up),
            rounds=1,
        )
    views = 1 if adversary is Adversary.REALISTIC else game.n
    benchmark.extra_info["ms a game at the border, n = 100"] = 1000 * (there - here)
    benchmark.extra_info["ms a view at the border"] = 1000 * (there - here) / views
    benchmark.extra_info["times setting the game up"] = (there - here) / setting_up
    assert there - here < setting_up * views
