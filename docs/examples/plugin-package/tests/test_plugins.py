"""Every entry keeps the contract of its kind, and a game can be played with all of them."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ENTRIES = {
    "attack": "votes",
    "mechanism": "padded",
    "dataset": "people",
    "metric": "near:1",
    "bound": "variation",
}
GAME = (
    "game --dataset people --targets income --n 50 --epsilon 3 --mechanism padded "
    "--mechanism-option factor=2 --metric near:1 --attack votes --reps 1 --json"
)


def reconbench(*arguments):
    command = shutil.which("reconbench", path=Path(sys.executable).parent)
    done = subprocess.run([command, *arguments], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize(("kind", "name"), ENTRIES.items())
def test_contract(kind, name):
    reconbench("check", kind, name)


def test_game():
    row = json.loads(reconbench(*GAME.split()))
    assert (row["dataset"], row["mechanism"], row["metric"]) == ("people", "padded", "near:1")
    assert row["attack"] == "votes" and row["status"] == "ok"
    assert row["successes"] <= 50 and row["ceilings"]["variation"]["mean"] <= 50
