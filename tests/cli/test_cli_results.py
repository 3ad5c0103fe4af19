"""`reconbench results`, and what `run` does with rows that are there."""

from __future__ import annotations

import csv
import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from reconbench.benchmarks.game.options import Options
from reconbench.benchmarks.game.play import AttackSpec, Game, Round, play
from reconbench.benchmarks.game.result import Result, Status
from reconbench.benchmarks.store.store import FILE_NAME, Key, Store, row_key
from reconbench.benchmarks.store.summary import summarise
from reconbench.cli.terminal.tables import print_table
from reconbench.front.progress import show_progress
from reconbench.reports.leaderboard.text_tables import tabulate_suite

Run = Callable[..., Any]
GAME = Game("acs", ("SEX",), 3.0, n=10, mechanism_options=Options({"k": 2}))
PRIOR = AttackSpec("prior")


@pytest.fixture(scope="module")
def row(drop_scores: Callable[[Result], Result]) -> Result:
    return drop_scores(play(Round.draw(GAME), PRIOR))


@pytest.fixture
def out(row: Result, tmp_path: Path) -> Path:
    """Two finished rows, a failed one and a stale one, in the folder results/s."""
    key = row_key(GAME, PRIOR)
    with Store(tmp_path / "results" / "s") as store:
        for rep in range(2):
            store.put(row_key(replace(GAME, rep=rep), PRIOR), replace(row, rep=rep))
        lost = replace(row, rep=2, status=Status.FAILED, error="too slow", successes=None)
        store.put(row_key(replace(GAME, rep=2), PRIOR), lost)
        store.put(Key("old", key.config, replace(key.origin, code="old")), row)
    return tmp_path / "results" / "s"


def test_show(reconbench: Run, out: Path, tmp_path: Path) -> None:
    done = reconbench("results", "show", cwd=tmp_path)
    assert done.returncode == 0 and "results/s" in done.stdout
    assert "1 stale rows were made by another code version" in done.stdout
    assert "1 rows failed; the first: too slow" in done.stdout
    (cell,) = json.loads(reconbench("results", "show", str(out), "--json").stdout)
    counts = [cell[name] for name in ("ok", "failed", "skipped", "stale")]
    assert counts == [2, 1, 0, 1] and cell["attack"] == "prior" and cell["targets"] == ["SEX"]


def test_errors_do_not_steer_the_terminal(reconbench: Run, row: Result, tmp_path: Path) -> None:
    lost = replace(row, status=Status.FAILED, error="\x1b[2Jgone\x07", successes=None)
    with Store(tmp_path / "results" / "s") as store:
        store.put(row_key(GAME, PRIOR), lost)
    shown = reconbench("results", "show", cwd=tmp_path).stdout
    assert "the first: \N{REPLACEMENT CHARACTER}[2Jgone" in shown
    assert "\x1b" not in shown and "\x07" not in shown


def test_tables_are_not_cut_in_a_pipe(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    word = "x" * 90
    print_table("wide", ["one", "two"], [[word, word]])
    assert f"{word} {word}" in " ".join(capsys.readouterr().out.split())
    monkeypatch.setenv("COLUMNS", "60")
    print_table("narrow", ["one", "two"], [[word, word]])
    assert capsys.readouterr().out.count("x") == 180


def test_show_and_the_closing_table_keep_games_apart(
    reconbench: Run, row: Result, tmp_path: Path
) -> None:
    """By whatever they differ in: the attacker's prior, what is known, options of the attack."""
    changes: list[dict[str, Any]] = [
        {},
        {"attacker_prior": "records:9"},
        {"known": ("MAR",)},
        {"attack_options": {"weight": 2}},
        {"delta": 1e-6},
    ]
    rows = [replace(row, **each, successes=place) for place, each in enumerate(changes)]
    with Store(tmp_path) as store:
        for place, each in enumerate(rows):
            store.put(Key(str(place)), each)
    found = json.loads(reconbench("results", "show", str(tmp_path), "--json").stdout)
    assert len({json.dumps({**each, "success": 0}) for each in found}) == len(changes)
    text = reconbench("results", "show", str(tmp_path)).stdout
    assert all(each in text for each in ("records:9", "known columns", "prior weight=2", "1e-06"))
    assert len({each.describe() for each in rows}) == len(changes)
    (lines,) = tabulate_suite(summarise(rows))
    axes = ["data set", "epsilon", "delta", "known columns", "attacker's prior"]
    assert lines.header[:6] == [*axes, "attack"]
    assert len(lines.rows) == len(changes)


def test_export(reconbench: Run, out: Path, tmp_path: Path) -> None:
    done = reconbench("results", "export", str(out), "rows.csv", cwd=tmp_path)
    assert (
        done.stdout
        == "3 rows written to rows.csv; 1 stale rows left out (--with-stale includes them)\n"
    )
    done = reconbench("results", "export", str(out), "rows.csv", "--with-stale", cwd=tmp_path)
    rows = list(csv.DictReader((tmp_path / "rows.csv").read_text().splitlines()))
    assert [each["standing"] for each in rows] == ["current"] * 3 + ["stale"]


def test_import_and_diff(reconbench: Run, out: Path, tmp_path: Path, row: Result) -> None:
    done = reconbench("results", "import", "new", str(out), cwd=tmp_path)
    assert done.stdout == "4 rows added, 0 were already there\n"
    same = reconbench("results", "diff", str(out), "new", cwd=tmp_path)
    assert same.returncode == 0 and "the same rows" in same.stdout
    with Store(tmp_path / "other") as store:
        store.put(row_key(GAME, PRIOR), replace(row, successes=9))
    other = reconbench("results", "diff", str(out), "other", "--json", cwd=tmp_path)
    found = json.loads(other.stdout)
    assert other.returncode == 1 and not found["equal"] and len(found["differences"]) == 4
    shown = reconbench("results", "diff", str(out), "other", cwd=tmp_path)
    assert shown.returncode == 1 and "other values: prior on acs SEX" in shown.stdout
    refused = reconbench("results", "import", "new", "other", cwd=tmp_path)
    assert refused.returncode == 2 and "differs in successes" in refused.stderr
    assert reconbench("results", "diff", str(out), "new", cwd=tmp_path).returncode == 0
    counts = reconbench("results", "import", "new", str(out), "--json", cwd=tmp_path)
    drift = {"rows": 0, "largest": 0.0, "fields": {}}
    assert json.loads(counts.stdout) == {"added": 0, "replaced": 0, "same": 4, "drift": drift}


def test_prune(reconbench: Run, out: Path) -> None:
    dry = reconbench("results", "prune", str(out), "--stale", "--failed", "--dry-run")
    assert dry.stdout == "2 stale and failed rows of 4: 2 of prior\n"
    assert reconbench("results", "prune", str(out), "--stale").stdout.splitlines() == [
        "1 stale rows of 4: 1 of prior",
        "1 rows deleted, 3 left",
    ]
    assert reconbench("results", "prune", str(out), "--stale").stdout == "0 stale rows of 3\n"
    none = reconbench("results", "prune", str(out))
    assert none.returncode == 2 and "--stale, --failed or both" in none.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("show",), "no result store in results/"),
        (("show", "none"), "no result store at none/results.sqlite"),
        (("export", "none", "x.csv"), "no result store at"),
        (("import", "new", "none"), "no result store at"),
        (("diff", "none", "none"), "no result store at"),
        (("prune", "none", "--stale"), "no result store at"),
    ],
)
def test_missing_stores(
    reconbench: Run, tmp_path: Path, arguments: tuple[str, ...], message: str
) -> None:
    done = reconbench("results", *arguments, cwd=tmp_path)
    assert done.returncode == 2 and done.stderr.count("\n") == 1 and message in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("command", ["show", "export", "import", "diff", "prune"])
def test_help_teaches(reconbench: Run, command: str) -> None:
    done = reconbench("results", command, "--help")
    assert done.returncode == 0 and "Example" in done.stdout


SUITE = """
name = "s"
description = "s"
repetitions = 2
attacks = ["prior"]
[[games]]
dataset = "acs"
targets = ["SEX"]
n = 10
k = 2
epsilon = 3
"""
FLAKY = """
from pathlib import Path

class Flaky:
    name = "flaky"
    def reconstruct(self, view, rng):
        code = int(Path(__file__).with_suffix(".txt").read_text())
        return view.reconstruction([code] * view.n)
"""


def test_run_keeps_retries_and_repeats(reconbench: Run, tmp_path: Path) -> None:
    (tmp_path / "suite.toml").write_text(SUITE)
    (tmp_path / "flaky.py").write_text(FLAKY)
    command = ("run", "suite.toml", "--out", "out", "--jobs", "1", "--attack", "flaky.py:Flaky")

    def counts(*more: str, code: int = 0) -> tuple[int, int, int]:
        done = reconbench(*command, "--json", *more, cwd=tmp_path)
        assert done.returncode == code, done.stderr
        end = json.loads(done.stdout)
        return end["played"], end["failures"], end["changed"]

    assert counts() == (4, 2, 0)
    assert counts() == (0, 2, 0) == counts("--only-missing")
    (tmp_path / "flaky.txt").write_text("0")
    assert counts("--retry-failed") == (2, 0, 0)
    assert counts("--force") == (4, 0, 0)
    (tmp_path / "flaky.txt").write_text("1")
    assert counts("--force", code=1) == (4, 0, 2)
    shown = reconbench(*command, "--force", "--quiet", cwd=tmp_path)
    assert shown.returncode == 1
    assert "different result: flaky on acs SEX" in shown.stderr
    assert counts() == (0, 0, 0)
    (tmp_path / "flaky.py").write_text(FLAKY + "    more = 1\n")
    done = reconbench(*command, cwd=tmp_path)
    assert "2 stale rows, made by another code version, are left out" in done.stderr
    assert "s: 3 of 4, " in done.stderr and "/s, " in done.stderr and " left" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--force", "--retry-failed"), "give at most one of --only-missing"),
        (("--out", "suite.toml"), "suite.toml is not a folder"),
        (("--out", "other"), "has schema 7"),
        (("--out", "text"), "not a database; the file is damaged"),
    ],
)
def test_runs_that_cannot_start(
    reconbench: Run, tmp_path: Path, arguments: tuple[str, ...], message: str
) -> None:
    (tmp_path / "suite.toml").write_text(SUITE)
    for name in ("other", "text"):
        (tmp_path / name).mkdir()
    (tmp_path / "text" / FILE_NAME).write_text("no database, but long enough to be read as one" * 9)
    with closing(sqlite3.connect(tmp_path / "other" / FILE_NAME)) as connection:
        connection.execute("CREATE TABLE results (x)")
        connection.execute("PRAGMA user_version=7")
    done = reconbench("run", "suite.toml", *arguments, cwd=tmp_path)
    assert done.returncode == 2 and done.stderr.count("\n") == 1, done.stderr
    assert message in done.stderr


def test_progress_lines(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with show_progress("s", 100, quiet=False, done=40) as advance:
        for place in range(60):
            advance(failed=place == 0)
    lines = capsys.readouterr().err.splitlines()
    assert [line.split(",")[0] for line in lines] == [
        f"s: {done} of 100" for done in range(50, 101, 10)
    ]
    assert all(line.endswith("1 failed") and "/s, 0:0" in line for line in lines)
    with show_progress("s", 100, quiet=True) as advance:
        advance(failed=True)
    assert capsys.readouterr().err == ""


def test_long_silences_are_broken(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    import time

    monkeypatch.setattr("reconbench.front.progress.SILENCE", 0.05)
    shown = ""
    with show_progress("s", 100, quiet=False):
        while shown.count("\n") < 2:
            time.sleep(0.01)
            shown += capsys.readouterr().err
    assert set(shown.splitlines()) == {"s: 0 of 100, 0/s"}


def test_a_bar_on_a_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    with show_progress("s", 4, quiet=False, done=1) as advance:
        advance(failed=True)
        advance()
    shown = capsys.readouterr().err
    assert "3/4" in shown and "1 failed" in shown and "/s" in shown
