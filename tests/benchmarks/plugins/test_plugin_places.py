"""Keys of rows whose plugins lie elsewhere, and those of before there were options."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

from reconbench.benchmarks.game.options import Options
from reconbench.benchmarks.game.play import AttackSpec, Game, Round, play
from reconbench.benchmarks.store.store import row_key

SEX = Game("acs", ("SEX",), 1.0, n=30, mechanism_options=Options({"k": 2}))

FILE = """
from reconbench.attacks import ExactMatch
from reconbench.attacks.baselines import PriorGuess
from reconbench.datasets.shipped import acs
from reconbench.mechanisms import GaussianMarginals

class Mine(GaussianMarginals):
    name = "mine"

class Guess(PriorGuess):
    name = "guess"

class Same(ExactMatch):
    name = "same"

def data():
    return acs()
"""


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


def test_a_metric_in_a_file_counts_by_its_content(tmp_path: Path) -> None:
    """In the keys of rows and in the attacks' random streams; the row has the metric's name."""
    folders = [tmp_path / name for name in ("here", "there", "edited")]
    for folder in folders:
        folder.mkdir()
        (folder / "mine.py").write_text(FILE + "\nmore = 1\n" * (folder.name == "edited"))
    games = [replace(SEX, metric=f"{folder / 'mine.py'}:Same") for folder in folders]
    keys = [row_key(game, AttackSpec("random")).config for game in games]
    assert keys[0] == keys[1] != keys[2]
    here, there, _ = (play(Round.draw(game), AttackSpec("random")) for game in games)
    assert here.metric == "same" and here.differences(there) == []
