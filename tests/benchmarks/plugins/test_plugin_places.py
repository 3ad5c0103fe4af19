"""Keys of rows whose plugins lie elsewhere, and those of before there were options."""

from __future__ import annotations

import hashlib
import json
import shutil
from dataclasses import fields, replace
from pathlib import Path

from reconbench.benchmarks import plugins
from reconbench.benchmarks.game.play import AttackSpec, Game
from reconbench.benchmarks.game.result import SCHEMA_VERSION
from reconbench.benchmarks.store.store import row_key

SEX = Game("acs", ("SEX",), 1.0, n=30, k=2)

FILE = """
from reconbench.attacks.baselines import PriorGuess
from reconbench.datasets.shipped import acs
from reconbench.mechanisms import GaussianMarginals

class Mine(GaussianMarginals):
    name = "mine"

class Guess(PriorGuess):
    name = "guess"

def data():
    return acs()
"""


def test_without_options_the_configuration_is_hashed_as_before() -> None:
    axes = {each.name: getattr(SEX, each.name) for each in fields(Game)}
    del axes["mechanism_options"], axes["advantage"]
    axes |= {"epsilon": "1.0", "delta": "1e-05"}
    prior = plugins.load_prior("acs").sha256()
    text = json.dumps([axes, prior, SCHEMA_VERSION], sort_keys=True)
    player = json.dumps(["prior", "", {}], sort_keys=True)
    config = hashlib.sha256((text + player).encode()).hexdigest()
    assert row_key(SEX, AttackSpec("prior")).config == config
    other = replace(SEX, mechanism_options='{"workload": "all"}')
    assert row_key(other, AttackSpec("prior")).config != config


def test_a_copy_of_a_plugin_has_the_same_keys(tmp_path: Path) -> None:
    """Folders do not count; the content does, and so do the classes."""
    here, there = tmp_path / "here", tmp_path / "there"
    here.mkdir()
    there.mkdir()
    path = here / "mine.py"
    path.write_text(FILE)
    copy = Path(shutil.copy(path, there))

    def key(file: Path) -> tuple[str, str]:
        game = replace(SEX, dataset=f"{file}:data", mechanism=f"{file}:Mine")
        found = row_key(game, AttackSpec(f"{file}:Guess"))
        return found.text, found.config

    before = key(path)
    assert key(copy) == before
    copy.write_text(FILE + "\nmore = 1\n")
    edited = key(copy)
    assert edited[0] != before[0] and edited[1] == before[1]
    plain = row_key(replace(SEX, dataset=f"{path}:data"), AttackSpec(f"{path}:Guess"))
    assert plain.config != before[1]
