"""Whole runs that are killed, run out of disk, or share a store: nothing is lost or doubled."""

from __future__ import annotations

import contextlib
import json
import os
import random
import resource
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from reconbench.benchmarks.store.export_import import diff, read
from reconbench.benchmarks.store.store import FILE_NAME

SUITE = """
name = "s"
description = "s"
repetitions = {reps}
attacks = ["prior", "random"]
[[games]]
dataset = "acs"
targets = ["SEX"]
n = 10
k = 2
epsilon = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
"""
KILLS = 20
COMMAND = str(Path(sys.executable).with_name("reconbench"))


def start(folder: Path, out: str, *more: str, largest_file: int = 0) -> subprocess.Popen[str]:
    def limit() -> None:
        if largest_file:
            resource.setrlimit(resource.RLIMIT_FSIZE, (largest_file, largest_file))

    # A command that may not write cannot store its own coverage either.
    env = {key: value for key, value in os.environ.items() if not key.startswith("COV")}
    return subprocess.Popen(
        [COMMAND, "run", "suite.toml", "--out", out, "--quiet", *more],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=env if largest_file else None,
        preexec_fn=limit,
    )


def stored(folder: Path) -> int:
    """How many rows there are, by a reader that does not disturb."""
    path = folder / FILE_NAME
    with contextlib.suppress(sqlite3.Error):
        if path.exists():
            uri = f"{path.as_uri()}?mode=ro"
            with contextlib.closing(sqlite3.connect(uri, uri=True)) as connection:
                return int(connection.execute("SELECT count(*) FROM results").fetchone()[0])
    return 0


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an undisturbed run in it."""
    folder = tmp_path_factory.mktemp("runs")
    (folder / "suite.toml").write_text(SUITE.format(reps=15))
    undisturbed = start(folder, "whole")
    assert undisturbed.wait() == 0
    assert stored(folder / "whole") == 300
    return folder


@pytest.mark.slow
def test_runs_killed_again_and_again_end_as_if_undisturbed(whole: Path) -> None:
    """Two of five are killed as rows come in, the others at any moment, most while they start."""
    moments, killed = random.Random(5), whole / "killed"
    counts = []
    for number in range(KILLS):
        before = stored(killed)
        run = start(whole, "killed")
        if number % 5 > 1:
            time.sleep(moments.uniform(0, 3))
        else:
            wanted = before + moments.randint(1, 15)
            while run.poll() is None and stored(killed) < wanted:
                time.sleep(moments.uniform(0, 0.02))
        run.kill()
        run.communicate()
        counts.append(stored(killed))
        assert counts[-1] >= before
        assert run.returncode == -9 or counts[-1] == 300
    assert len(set(counts)) > KILLS // 4
    last = start(whole, "killed", "--json")
    assert json.loads(last.communicate()[0])["rows"] == 300 and last.returncode == 0
    assert diff(whole / "whole", killed) == []


@pytest.mark.slow
def test_a_disk_that_fills_up(whole: Path) -> None:
    """Files that may not grow stand in for the disk. What was stored is there, and goes on."""
    run = start(whole, "full", largest_file=200_000)
    errors = run.communicate()[1]
    assert run.returncode == 3, errors
    assert errors.startswith("error: cannot write to ") and errors.count("\n") == 1, errors
    assert "all rows stored before are kept: free some space" in errors
    kept = stored(whole / "full")
    assert 0 < kept < 300 and len(read(whole / "full")) == kept
    again = start(whole, "full", "--json")
    assert json.loads(again.communicate()[0])["played"] == 300 - kept
    assert diff(whole / "whole", whole / "full") == []


@pytest.mark.slow
def test_two_runs_on_one_store(whole: Path) -> None:
    runs = [start(whole, "shared", "--jobs", "1", "--reps", "5") for _ in range(2)]
    for run in runs:
        _, errors = run.communicate()
        assert run.returncode == 0, errors
    entries = read(whole / "shared")
    assert len(entries) == len({each.key for each in entries}) == 100
    expected = {each.key: each.row for each in read(whole / "whole")}
    assert all(not each.row.differences(expected[each.key]) for each in entries)
