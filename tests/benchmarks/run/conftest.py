"""Attacks that do their worst to a sweep, and attacks that take several views at once."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from reconbench.benchmarks.game.play import Game, Round

BAD = """
import ctypes, os, re, signal, subprocess, sys, time
import numpy as np
import torch

class Bad:
    def reconstruct(self, view, rng):
        return self.answer(view)

class Raises(Bad):
    name = "raises"
    def answer(self, view):
        raise RuntimeError("of my own")

class Leaves(Bad):
    name = "leaves"
    def answer(self, view):
        sys.exit(4)

class Hangs(Bad):
    name = "hangs"
    def answer(self, view):
        subprocess.Popen([sys.executable, "-c", "import time; time.sleep(1000)  # CHILD_MARK"])
        while True:
            time.sleep(1)

class Busy(Bad):
    name = "busy"
    def answer(self, view):
        return re.match(r"(a+)+$", "a" * 64 + "b")

class Exits(Bad):
    name = "exits"
    def answer(self, view):
        os._exit(3)

class Killed(Bad):
    name = "killed"
    def answer(self, view):
        os.kill(os.getpid(), signal.SIGKILL)

class Crashes(Bad):
    name = "crashes"
    def answer(self, view):
        ctypes.string_at(0)

class Shape(Bad):
    name = "shape"
    def answer(self, view):
        return view.reconstruction(np.zeros((3, 3), dtype=int))

class Huge(Bad):
    name = "huge"
    def answer(self, view):
        return np.ones(100 * 2**27)

class Greedy(Bad):
    name = "greedy"
    kept = []
    def answer(self, view):
        while True:
            self.kept.append(torch.ones(2**24))

class Talks(Bad):
    name = "talks"
    def answer(self, view):
        print("{not json")
        os.write(1, b"nor this")
        return view.reconstruction([0] * view.n, info={"loss": np.float32(2), "none": np.nan})

class Odd(Bad):
    name = "odd"
    def answer(self, view):
        return view.reconstruction([0] * view.n, info={"loss": lambda: 0})
"""

TOGETHER = """
import os, time
import numpy as np
from pathlib import Path

class Many:
    name = "many"
    def reconstruct(self, view, rng):
        self.note(1)
        if self.wrong(view):
            self.harm()
        return view.reconstruction(rng.integers(0, 2, (view.n, len(view.targets))))
    def reconstruct_many(self, views, rngs):
        self.note(len(views))
        if any(map(self.wrong, views)):
            self.harm()
        sizes = [(view.n, len(view.targets)) for view in views]
        codes = [rng.integers(0, 2, size) for rng, size in zip(rngs, sizes)]
        return [view.reconstruction(mine) for view, mine in zip(views, codes)]
    def note(self, size):
        with open(Path(__file__).with_suffix(".log"), "a") as log:
            log.write(f"{self.name} {size}\\n")
    def wrong(self, view):
        return False

class Fragile(Many):
    def wrong(self, view):
        return int(view.known.codes.sum()) == WRONG

class Dies(Fragile):
    name = "dies"
    def harm(self):
        os._exit(5)

class Sleeps(Fragile):
    name = "sleeps"
    def harm(self):
        time.sleep(1000)

class Fails(Fragile):
    name = "fails"
    def harm(self):
        raise KeyError("third")

class Short(Many):
    name = "short"
    def reconstruct_many(self, views, rngs):
        self.note(len(views))
        return super().reconstruct_many(views, rngs)[1:]

class Text(Many):
    name = "text"
    def reconstruct_many(self, views, rngs):
        return "guesses"
    def reconstruct(self, view, rng):
        raise ValueError("neither")

class Shared(Many):
    name = "shared"
    def reconstruct_many(self, views, rngs):
        return super().reconstruct_many(views, [rngs[0]] * len(views))
"""


@pytest.fixture(scope="module")
def bad(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("plugins") / "bad.py"
    path.write_text(BAD.replace("CHILD_MARK", f"mark-{os.getpid()}"))
    return path


@pytest.fixture(scope="module")
def together(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("plugins") / "together.py"
    third = Round.draw(Game("acs", ("SEX",), 3.0, n=40, rep=2)).view.known.codes.sum()
    path.write_text(TOGETHER.replace("WRONG", str(int(third))))
    return path
