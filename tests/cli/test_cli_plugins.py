from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]


def test_a_new_attack_works_and_passes_its_own_test(reconbench: Run, tmp_path: Path) -> None:
    done = reconbench("new", "attack", "own-votes", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert sorted(p.name for p in tmp_path.iterdir()) == ["own_votes.py", "test_own_votes.py"]
    checked = reconbench("check", "attack", "own_votes.py:OwnVotes", "--json", cwd=tmp_path)
    assert checked.returncode == 0, checked.stdout
    assert {"name", "passed", "detail"} == set(json.loads(checked.stdout)[0])
    tested = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_own_votes.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert tested.returncode == 0, tested.stdout
    again = reconbench("new", "attack", "own-votes", cwd=tmp_path)
    assert again.returncode == 2 and "exists already" in again.stderr


def test_a_failing_attack_exits_with_1(reconbench: Run, tmp_path: Path) -> None:
    (tmp_path / "bad.py").write_text(
        "class Bad:\n    name = 'bad'\n    def reconstruct(self, view, rng):\n        return None\n"
    )
    done = reconbench("check", "attack", "bad.py:Bad", cwd=tmp_path)
    assert done.returncode == 1 and "FAILED" in done.stdout


@pytest.mark.parametrize("name", ["My Attack", "../evil", "UPPER", "a--b", "1st", ""])
def test_names_are_checked(reconbench: Run, tmp_path: Path, name: str) -> None:
    done = reconbench("new", "attack", name, cwd=tmp_path)
    assert done.returncode == 2 and list(tmp_path.iterdir()) == []
