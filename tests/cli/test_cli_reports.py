"""Runs with computations, and the reports of a run that are left alone or written anew."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from reconbench.benchmarks.store import provenance, source_code
from reconbench.front.games import suite_reports

Run = Callable[..., Any]

MIXED = """
name = "mixed"
description = "two games and eight levels"
include = ["kulynych-fig4"]
repetitions = 1
attacks = ["prior", "rap"]
[[games]]
dataset = "acs"
targets = ["SEX", "MAR"]
epsilon = 1
n = 10
k = 2
"""


def ended(done: Any) -> dict[str, Any]:
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


@pytest.fixture
def levels(reconbench: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(provenance, "report_version", lambda: "this")
    out = tmp_path / "out"
    end = ended(reconbench("run", "kulynych-fig4", "--out", str(out), "--json"))
    assert (end["rows"], end["played"], end["failures"]) == (8, 8, 0)
    return out


def again(reconbench: Run, out: Path) -> dict[str, Any]:
    return ended(reconbench("run", "kulynych-fig4", "--out", str(out), "--json"))


def test_a_suite_of_computations(reconbench: Run, levels: Path) -> None:
    assert again(reconbench, levels)["played"] == 0
    with (levels / "leaderboard.csv").open(newline="") as file:
        rows = {row["targets"]: row for row in csv.DictReader(file)}
    state = rows["2 state"]
    assert len(rows) == 8 and state["attack"] == state["adversary"] == "none"
    assert state["success"] == state["baseline"] == "" and state["metric"] == "worst-case advantage"
    assert round(100 * float(state["value_f-dp"])) == 52
    page = (levels / "leaderboard.html").read_text()
    assert "value_rero-zcdp" in page
    shown = reconbench("run", "kulynych-fig4", "--out", str(levels))
    assert "kulynych-fig4, computed for one target: worst-case advantage" in shown.stdout
    assert f"{float(state['value_rero-zcdp']):.3g}" in shown.stdout
    assert "Records reconstructed" not in shown.stdout


def test_points_of_many_values_are_cut_to_the_terminal(reconbench: Run, tmp_path: Path) -> None:
    suite = tmp_path / "errors.toml"
    suite.write_text(
        'name = "errors"\ndescription = "simulated"\n[[curves]]\ncompute = "gradient-errors"\n'
        'network = "optimal"\nsigma = [0.1, 1]\nsamples = 40\n',
        encoding="utf-8",
    )
    shown = reconbench("run", str(suite), "--out", str(tmp_path / "out"))
    assert all(name in shown.stdout for name in ("ks-smaller", "ratio", "seen-50", "law-50"))
    assert "optimal, samples 40, sigma 0.1" in shown.stdout and "seen-95" not in shown.stdout
    assert "8 more values per point in leaderboard.csv" in shown.stderr
    with (tmp_path / "out" / "leaderboard.csv").open(newline="") as file:
        assert all(float(row["value_seen-95"]) > 0 for row in csv.DictReader(file))


def test_results_of_computations(reconbench: Run, levels: Path, tmp_path: Path) -> None:
    cells = json.loads(reconbench("results", "show", str(levels), "--json").stdout)
    assert [each["ok"] for each in cells] == [1] * 8 and cells[1]["success"] is None
    assert round(100 * cells[1]["values"]["f-dp"]) == 52
    text = f"rero-zcdp {cells[1]['values']['rero-zcdp']:.3g}"
    assert text in reconbench("results", "show", str(levels)).stdout
    table = tmp_path / "rows.csv"
    assert reconbench("results", "export", str(levels), str(table)).returncode == 0
    with table.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["standing"] for row in rows} == {"current"}
    assert float(rows[1]["ceiling_f-dp_mean"]) == cells[1]["values"]["f-dp"]
    other = tmp_path / "other"
    assert reconbench("results", "import", str(other), str(levels)).returncode == 0
    assert reconbench("results", "diff", str(other), str(levels)).returncode == 0
    pruned = reconbench("results", "prune", str(other), "--stale", "--yes").stdout
    assert "0 stale rows of 8" in pruned


def test_force_computes_again(reconbench: Run, levels: Path) -> None:
    done = reconbench("run", "kulynych-fig4", "--out", str(levels), "--force", "--json")
    end = ended(done)
    assert (end["played"], end["changed"], end["rows"]) == (8, 0, 8)


def test_progress_of_computations(reconbench: Run, tmp_path: Path) -> None:
    out = str(tmp_path / "out")
    told = reconbench("run", "kulynych-fig4", "--out", out, "--jobs", "2").stderr
    assert "kulynych-fig4: 8 of 8" in told
    quiet = reconbench("run", "kulynych-fig4", "--out", f"{out}2", "--quiet")
    assert quiet.stderr == "" and quiet.returncode == 0


def test_an_attack_without_games_is_refused(reconbench: Run, tmp_path: Path) -> None:
    out = tmp_path / "out"
    done = reconbench("run", "kulynych", "--attack", "rap", "--out", str(out))
    assert done.returncode == 2 and "has computations only" in done.stderr
    assert done.stderr.count("\n") == 1 and not out.exists()


def test_games_and_computations_in_one_store(reconbench: Run, tmp_path: Path) -> None:
    (tmp_path / "mixed.toml").write_text(MIXED)
    arguments = ("run", str(tmp_path / "mixed.toml"), "--out", str(tmp_path / "out"))
    end = ended(reconbench(*arguments, "--jobs", "1", "--json"))
    assert (end["rows"], end["played"], end["stale"]) == (12, 12, 0)
    shown = reconbench(*arguments).stdout
    assert (
        "Records reconstructed" in shown
        and "kulynych-fig4, computed for one target: worst-case advantage" in shown
    )
    with (tmp_path / "out" / "leaderboard.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["attack"] == "none" for row in rows].count(True) == 8
    for row in rows:
        computed = row["attack"] == "none"
        assert bool(row["success"]) != computed and bool(row["value_f-dp"]) == computed
        assert bool(row["ceiling_thm35_0.95"]) != computed
    # what is finished is found without the attacks' libraries
    code = (
        "import sys\nfrom reconbench.cli import main\n"
        f"sys.argv = ['reconbench', *{[*arguments, '--json']!r}]\n"
        "try:\n    main()\nexcept SystemExit as stop:\n    assert not stop.code\n"
        "print(sorted({'torch', 'numba', 'pgmpy', 'pandas', 'scipy.stats'} & set(sys.modules)))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    first, last = done.stdout.splitlines()
    assert json.loads(first)["played"] == 0 and last == "[]"


NAMES = (suite_reports.CSV, suite_reports.HTML, suite_reports.RECORD)


def written(out: Path, reconbench: Run) -> bool:
    """Whether another run writes the reports, which it is to leave as they were at first."""
    for name in NAMES:
        if (out / name).exists():
            os.utime(out / name, (1, 1))
    again(reconbench, out)
    times = {(out / name).stat().st_mtime > 1 for name in NAMES}
    assert len(times) == 1
    return times.pop()


def test_reports_are_left_alone(reconbench: Run, levels: Path) -> None:
    before = reconbench("run", "kulynych-fig4", "--out", str(levels)).stdout
    assert not written(levels, reconbench)
    assert reconbench("run", "kulynych-fig4", "--out", str(levels)).stdout == before


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "harm",
    [
        lambda path: path.unlink(),
        lambda path: path.write_bytes(b""),
        lambda path: path.write_bytes(path.read_bytes().replace(b"state", b"State")),
        lambda path: path.write_bytes(path.read_bytes() + b"\n[]"),
    ],
)
def test_an_altered_report_is_written_anew(
    reconbench: Run, levels: Path, name: str, harm: Callable[[Path], object]
) -> None:
    was = {each: (levels / each).read_bytes() for each in NAMES}
    harm(levels / name)
    assert written(levels, reconbench)
    assert {each: (levels / each).read_bytes() for each in NAMES} == was
    assert not written(levels, reconbench)


def test_other_code_other_rows_and_other_facts_write_anew(
    reconbench: Run, levels: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(provenance, "report_version", lambda: "other")
        assert written(levels, reconbench)
    assert written(levels, reconbench)
    monkeypatch.setattr("reconbench.front.games.suite_runs.read_versions", lambda: {"numpy": "0"})
    assert written(levels, reconbench)
    assert "numpy 0" in (levels / suite_reports.HTML).read_text()


def test_templates_count_as_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source_code, "files", lambda name: tmp_path)
    found = [provenance.report_version()]
    for name in ("a.py", "templates/a.html", "templates/b.html", "__pycache__/a.pyc"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("x")
        found.append(provenance.report_version())
    assert len(set(found)) == 4 and found[-1] == found[-2]
