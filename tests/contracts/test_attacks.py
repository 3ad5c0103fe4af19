"""Every registered attack keeps its contract, and each kind of dishonest one does not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from reconbench.benchmarks import plugins
from reconbench.benchmarks.game.play import AttackSpec
from reconbench.benchmarks.plugins.check_attack import CHECKS, Player, check_attack, play_check

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

class Forger(Guess):
    name = "forger"
    def codes(self, view, rng):
        for array in vars(view.release).values():
            if isinstance(array, np.ndarray):
                array.setflags(write=True)
                array[...] = 0
        return np.zeros((view.n, len(view.targets)), dtype=int)

class Shapeless(Guess):
    name = "shapeless"
    def codes(self, view, rng):
        return np.zeros(7, dtype=int)
"""


# What an attack plays, where that is not noisy marginals as the realistic adversary.
PLAYS: dict[str, dict[str, Any]] = {
    "agia": {"mechanism": "gradient"},
    "agia-optimal": {"mechanism": "gradient"},
    "agia-prior": {"mechanism": "gradient"},
    "extraction": {"mechanism": "ngram-dpsgd"},
    "extraction-prior": {"mechanism": "ngram-dpsgd"},
    "informed": {"adversary": "informed"},
    "optimal": {"mechanism": "grr"},
    "cliques": {"mechanism": "privbayes", "options": {"tables": 4}},
    "naive-bayes": {"mechanism": "privbayes"},
    "naive-bayes-pooled": {"mechanism": "privbayes", "options": {"tables": 4}},
    "table-linear": {"mechanism": "privbayes", "options": {"k": 2}},
    "table-rap": {"mechanism": "privbayes", "options": {"tables": 4}},
}
LONG = (
    "cliques", "imputation", "informed", "posterior", "rap-converged", "rap-map",
    "table-linear", "table-rap",
)  # fmt: skip
# The attacks of `naive-bayes` and `naive-bayes-pooled`, with other learners.
OTHER_LEARNERS = ("bayes-net", "gradient-boosting", "knn", "random-forest")
OTHERS_POOLED = (*(f"{name}-pooled" for name in OTHER_LEARNERS), "stack")
PLAYED = ("valid guesses", "same seed, same guesses", "stays below the ceiling")


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.slow) if name in LONG else name
        for name in plugins.get_entries("attack")
        if name not in (*OTHER_LEARNERS, *OTHERS_POOLED)
    ],
)
def test_registered_attacks_keep_their_contract(name: str) -> None:
    checks = {check.name: check for check in check_attack(name, **PLAYS.get(name, {}))}
    assert list(checks) == list(CHECKS)
    assert [check for check in checks.values() if check.passed is False] == []
    assert all(checks[each].passed for each in PLAYED)
    wide = checks["several columns"]
    assert wide.passed or "there are no games with two columns" in wide.detail


@pytest.mark.parametrize("name", [*OTHER_LEARNERS, *OTHERS_POOLED])
def test_attacks_with_other_learners_keep_what_is_up_to_the_learner(name: str) -> None:
    options = {"tables": 4} if name in OTHERS_POOLED else {}
    player = Player(AttackSpec(name, options), "privbayes")
    for check in ("valid guesses", "several columns", "same seed, same guesses"):
        assert play_check(check, player).passed


@pytest.mark.parametrize("mechanism", ["gradient", "ngram-dpsgd"])
def test_forged_releases_are_caught(tmp_path: Path, mechanism: str) -> None:
    path = tmp_path / "dishonest.py"
    path.write_text(DISHONEST)
    found = play_check("leaves the view alone", Player(AttackSpec(f"{path}:Forger"), mechanism))
    assert found.passed is False
    assert "changed the release" in found.detail or "WRITEABLE" in found.detail


def test_an_unknown_mechanism_is_told() -> None:
    with pytest.raises(ValueError, match="unknown mechanism 'nope'"):
        check_attack("prior", mechanism="nope")


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
