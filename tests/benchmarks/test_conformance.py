"""The kit passes honest attacks and catches each kind of dishonest one."""

from __future__ import annotations

from pathlib import Path

import pytest

from reconbench.benchmarks.conformance import check_attack

DISHONEST = """
import gc
import numpy as np

class Guess:
    def reconstruct(self, view, rng):
        return view.reconstruction(self.codes(view, rng))

class Random(Guess):
    name = "global-randomness"
    def codes(self, view, rng):
        return np.random.default_rng().integers(0, 2, size=(view.n, len(view.targets)))

class Vandal(Guess):
    name = "vandal"
    def codes(self, view, rng):
        for answer in view.release.answers:
            answer[:] = 0
        return np.zeros((view.n, len(view.targets)), dtype=int)

class Peeker(Guess):
    name = "peeker"
    def codes(self, view, rng):
        from reconbench.benchmarks.game import Round
        rounds = [x for x in gc.get_objects() if type(x) is Round and x.view is view]
        return rounds[-1].truth.codes if rounds else np.zeros((view.n, len(view.targets)), int)

class Shapeless(Guess):
    name = "shapeless"
    def codes(self, view, rng):
        return np.zeros(7, dtype=int)
"""


@pytest.mark.parametrize("name", ["posterior", "prior", "random", "rap"])
def test_our_attacks_pass(name: str) -> None:
    assert [check for check in check_attack(name) if check.passed is False] == []


@pytest.mark.parametrize(
    ("name", "check"),
    [
        ("Random", "same seed, same guesses"),
        ("Vandal", "leaves the view alone"),
        ("Peeker", "sees only the view"),
        ("Peeker", "gains nothing without a release"),
        ("Peeker", "stays below the ceiling"),
        ("Shapeless", "valid guesses"),
    ],
)
def test_dishonest_attacks_are_caught(tmp_path: Path, name: str, check: str) -> None:
    path = tmp_path / "dishonest.py"
    path.write_text(DISHONEST)
    failed = {c.name for c in check_attack(f"{path}:{name}") if c.passed is False}
    assert check in failed
