"""Objects as plugins: found while they are held, and never taken for another's code."""

from __future__ import annotations

import pytest

from reconbench.attacks.baselines import PriorGuess
from reconbench.benchmarks import plugins
from reconbench.benchmarks.game.play import AttackSpec, Game
from reconbench.benchmarks.plugins.in_memory import Held, find_held, holding, is_held
from reconbench.benchmarks.store.store import Freshness, Keys

GAME = Game("acs", ("SEX",), 1.0)


class Mine(PriorGuess):
    """The prior's guess, by another name."""

    name = "mine"


def test_an_object_is_found_while_it_is_held() -> None:
    spec = AttackSpec("here:Mine")
    with pytest.raises(plugins.PluginError, match="unknown attack 'here:Mine'"):
        spec.build()
    with holding({"here:Mine": Held("attack", Mine)}):
        assert isinstance(spec.build(), Mine) and not plugins.is_foreign("attack", "here:Mine")
        with holding({"here:Other": Held("attack", Mine)}):
            assert isinstance(spec.build(), Mine)
        assert find_held("attack", "here:Other") is None
        assert find_held("mechanism", "here:Mine") is None
    assert is_held("here:Mine") and find_held("attack", "here:Mine") is None


def test_a_built_attack_is_copied() -> None:
    mine = Mine()
    with holding({"here:Mine": Held("attack", mine)}):
        built = AttackSpec("here:Mine").build()
    assert isinstance(built, Mine) and built is not mine


def test_every_holding_is_other_code() -> None:
    keys = []
    for _ in range(2):
        with holding({"here:Mine": Held("attack", Mine)}):
            keys.append(Keys().of(GAME, AttackSpec("here:Mine")))
    assert keys[0] != keys[1] and keys[0].config == keys[1].config
    assert keys[0].origin.freshness is Freshness.UNKNOWN
