"""A mechanism that leaks more than it claims does not go unnoticed in the terminal."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]

LEAK = """
from dataclasses import replace
from reconbench.mechanisms.marginals import GaussianMarginals, marginal_counts

class Leak(GaussianMarginals):
    "Exact counts that claim to be private."
    name = "leak"
    def release(self, table, rng):
        out = super().release(table, rng)
        answers = tuple(marginal_counts(table, c).astype(float) for c in out.workload)
        return replace(out, answers=answers)
"""
SUITE = """
name = "s"
description = "s"
repetitions = 3
attacks = ["prior", "linear"]
[[games]]
dataset = "acs"
targets = ["SEX"]
epsilon = [1]
n = 60
mechanism = "{mechanism}"
"""
GAME = ("game", "--dataset", "acs", "--targets", "SEX", "--epsilon", "1", "--n", "60")


@pytest.fixture
def leak(tmp_path: Path) -> str:
    path = tmp_path / "leak.py"
    path.write_text(LEAK)
    return f"{path}:Leak"


def test_a_game_above_its_ceilings_ends_in_red(reconbench: Run, leak: str) -> None:
    """Once is enough: one repetition is 1 in 20 by its number alone, but not by its size."""
    done = reconbench(*GAME, "--mechanism", leak, "--attack", "linear", "--reps", "1")
    assert done.returncode == 4
    (alarm,) = [line for line in done.stderr.splitlines() if line.startswith("alarm:")]
    assert "linear on acs SEX, ε = 1" in alarm and "above the 95 % ceiling of" in alarm
    assert "the attack saw too much" in alarm
    honest = reconbench(*GAME, "--attack", "linear", "--reps", "1")
    assert honest.returncode == 0 and "alarm" not in honest.stderr


def test_a_run_above_its_ceilings_says_so_every_time(
    reconbench: Run, leak: str, tmp_path: Path
) -> None:
    (tmp_path / "leaks.toml").write_text(SUITE.format(mechanism=leak))
    run = ("run", str(tmp_path / "leaks.toml"), "--out", str(tmp_path / "out"), "--jobs", "1")
    for _ in range(2):
        done = reconbench(*run, "--quiet")
        assert done.returncode == 4 and done.stderr.count("alarm: linear on acs SEX") == 1
    end = json.loads(reconbench(*run, "--json").stdout)
    assert len(end["alarms"]) == 1 and end["failures"] == 0
    table = (tmp_path / "out" / "leaderboard.csv").read_text()
    assert "above-ceiling" in table and "control variate" in table


def test_an_honest_run_checks_its_scores(reconbench: Run, tmp_path: Path) -> None:
    (tmp_path / "fine.toml").write_text(SUITE.format(mechanism="gaussian-marginals"))
    run = ("run", str(tmp_path / "fine.toml"), "--out", str(tmp_path / "out"), "--jobs", "1")
    done = reconbench(*run, "--quiet")
    assert done.returncode == 0
    assert "expected minus drawn successes:" in done.stderr and "(3 tables)" in done.stderr
    end = json.loads(reconbench(*run, "--json").stdout)
    assert end["alarms"] == [] and "records per game" in end["self_check"]
    assert "sampled posterior" in (tmp_path / "out" / "leaderboard.csv").read_text()
