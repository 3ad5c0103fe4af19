from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from reconbench.benchmarks.plugins import KINDS

Run = Callable[..., Any]


@pytest.mark.parametrize("kind", KINDS)
def test_a_new_plugin_works_and_passes_its_own_test(
    reconbench: Run, tmp_path: Path, kind: str
) -> None:
    done = reconbench("new", kind, "own-votes", "--out", "here", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    folder = tmp_path / "here"
    assert sorted(p.name for p in folder.iterdir()) == ["own_votes.py", "test_own_votes.py"]
    spec = "own_votes.py:own_votes" if kind == "dataset" else "own_votes.py:OwnVotes"
    assert done.stdout.splitlines()[-1] == f"next: reconbench check {kind} here/{spec}"
    checked = reconbench("check", kind, f"here/{spec}", "--json", cwd=tmp_path)
    assert checked.returncode == 0, checked.stdout
    checks = json.loads(checked.stdout)
    assert {"name", "passed", "detail"} == set(checks[0])
    assert sum(check["passed"] is True for check in checks) >= 5
    again = reconbench("new", kind, "own-votes", "--out", "here", cwd=tmp_path)
    assert again.returncode == 2 and "already exists" in again.stderr


@pytest.mark.parametrize("kind", ["dataset", "mechanism"])
def test_the_written_test_passes(reconbench: Run, tmp_path: Path, kind: str) -> None:
    reconbench("new", kind, "own", cwd=tmp_path)
    tested = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_own.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert tested.returncode == 0, tested.stdout


def test_a_failing_attack_exits_with_1(reconbench: Run, tmp_path: Path) -> None:
    (tmp_path / "bad.py").write_text(
        "class Bad:\n    name = 'bad'\n    def reconstruct(self, view, rng):\n        return None\n"
    )
    done = reconbench("check", "attack", "bad.py:Bad", cwd=tmp_path)
    assert done.returncode == 1 and "FAILED" in done.stdout


@pytest.mark.parametrize("name", ["My Attack", "../evil", "UPPER", "a--b", "1st", ""])
def test_names_are_checked(reconbench: Run, tmp_path: Path, name: str) -> None:
    done = reconbench("new", "metric", name, cwd=tmp_path)
    assert done.returncode == 2 and list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("command", [("list",), ("new", "x"), ("check", "x")])
def test_unknown_kinds_are_one_line(
    reconbench: Run, tmp_path: Path, command: tuple[str, ...]
) -> None:
    done = reconbench(command[0], "atack", *command[1:], cwd=tmp_path)
    assert done.returncode == 2 and list(tmp_path.iterdir()) == []
    assert done.stderr == (
        "error: unknown kind 'atack'; use attack, mechanism, dataset, bound, metric; "
        "did you mean 'attack'?\n"
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("metric", "exact", "--option", "a=1"), "--option is for attacks and mechanisms"),
        (("dataset", "acs", "--timeout", "3"), "--timeout are for attacks, not for a dataset"),
        (("metric", "exakt"), "did you mean 'exact'?"),
    ],
)
def test_wrong_arguments_of_check(
    reconbench: Run, arguments: tuple[str, ...], message: str
) -> None:
    done = reconbench("check", *arguments)
    assert done.returncode == 2 and message in done.stderr


def test_options_reach_the_checks(reconbench: Run) -> None:
    done = reconbench("check", "mechanism", "grr", "--option", "record=true", "--json")
    facts = next(c for c in json.loads(done.stdout) if c["name"] == "facts are numbers")
    assert done.returncode == 0 and "values 48" in facts["detail"]


def test_everything_is_listed_at_once(reconbench: Run) -> None:
    listed = reconbench("list").stdout
    assert all(f"{kind}:" in listed for kind in KINDS)
    found = json.loads(reconbench("list", "--json").stdout)
    assert list(found) == list(KINDS) and all(all(found[kind].values()) for kind in KINDS)
