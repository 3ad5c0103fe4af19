"""The kit for attacks plays in a worker process, whatever the attack does to it."""

from __future__ import annotations

from pathlib import Path

from reconbench.benchmarks.game.play import AttackSpec
from reconbench.benchmarks.plugins.check_attack import CHECKS, Player, check_attack, play_check
from reconbench.benchmarks.run.worker_process import Limits


def test_the_kit_reports_attacks_that_hang_or_die(bad: Path, together: Path) -> None:
    hung = check_attack(f"{bad}:Hangs", limits=Limits(seconds=1))
    assert hung[0].passed is False and hung[0].detail == (
        "attack 'hangs' exceeded the 1 s time limit (--timeout)"
    )
    assert {check.passed for check in hung[1:]} == {None} and len(hung) == len(CHECKS)
    died = check_attack(f"{bad}:Exits", limits=Limits())
    assert died[0].detail == "attack 'exits' killed its player process (exit code 3)"
    assert len(died) == len(CHECKS)


def test_the_kit_compares_together_with_alone(together: Path) -> None:
    name = "alone or together, same guesses"
    for plugin, passed, detail in (
        ("Shared", False, "reconstruct_many and reconstruct differ in SEX, repetition 1"),
        ("Short", False, "must return a list of 3 reconstructions"),
        ("Many", True, "reconstruct_many on 3 views gives the same"),
    ):
        found = play_check(name, Player(AttackSpec(f"{together}:{plugin}")))
        assert found.passed is passed and detail in found.detail, found
