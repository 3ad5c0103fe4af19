"""Input that cannot hurt: huge suites, deep files, long names, and readers that go away."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from reconbench.benchmarks.game.play import AttackSpec, Game
from reconbench.benchmarks.game.result import Status
from reconbench.benchmarks.game.rows import unplayed_row
from reconbench.benchmarks.store.store import Store, row_key
from reconbench.benchmarks.suites import suite as suites
from reconbench.benchmarks.suites.game_block import GameBlock
from reconbench.benchmarks.suites.suite import SuiteError, find_suite

Run = Callable[..., Any]
COMMAND = Path(sys.executable).parent / "reconbench"
HEAD = 'name = "big"\ndescription = "too much"\nattacks = ["prior"]\n'
BLOCK = '[[games]]\ndataset = "acs"\ntargets = "SEX"\n'


def write(path: Path, text: str) -> str:
    path.write_text(text, encoding="utf-8")
    return str(path)


MANY = ", ".join(str(1 + i / 1000) for i in range(1500))
HUGE = {
    "repetitions": (HEAD + "repetitions = 1_000_000_000\n" + BLOCK + "epsilon = 1\n", 10**9),
    "games": (HEAD + BLOCK + f"epsilon = [{MANY}]\nn = {list(range(1, 2001))}\n", 15 * 10**6),
}


@pytest.mark.parametrize("kind", HUGE)
def test_huge_suites_are_counted_before_they_are_listed(
    reconbench: Run, tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise AssertionError("a huge suite was expanded")

    monkeypatch.setattr(GameBlock, "expand", fail)
    text, rows = HUGE[kind]
    path = write(tmp_path / "big.toml", text)
    refused = reconbench("run", path, "--out", str(tmp_path / "out"))
    assert refused.returncode == 2 and refused.stderr.count("\n") == 1
    assert f"has {rows:,} rows, more than 1,000,000" in refused.stderr
    assert f"--max-rows {rows}" in refused.stderr and not (tmp_path / "out").exists()
    shown = reconbench("suite", "show", path)
    assert shown.returncode == 0 and f"{rows:,} rows" in shown.stdout
    assert json.loads(reconbench("suite", "show", path, "--json").stdout)["rows"] == rows


def test_the_limit_of_rows_can_be_set(reconbench: Run, tmp_path: Path) -> None:
    out = str(tmp_path / "out")
    few = reconbench("run", "smoke", "--max-rows", "11", "--out", out)
    assert few.returncode == 2 and "has 12 rows, more than 11" in few.stderr
    smoke = find_suite("smoke")
    assert len(smoke.units(most_rows=12)) * 3 == 12 > 0
    with pytest.raises(SuiteError, match="more than 11"):
        smoke.units(most_rows=11)


@pytest.mark.parametrize("name", ["smoke", "quick", "swanberg", "k-sweep", "attacks", "rad"])
def test_the_count_is_that_of_the_rows(name: str) -> None:
    """Up to rounds that blocks share or exclude, which count before they are dropped."""
    suite = find_suite(name)
    listed = sum(len(unit.attacks) for unit in suite.units(repetitions=1))
    counted = suite.count_rows(repetitions=1)
    assert counted >= listed and (counted == listed or name in ("swanberg", "rad"))


@pytest.mark.parametrize(
    "text",
    [
        HEAD + "x = " + "[" * 3000 + "]" * 3000,
        HEAD + ".".join("a" * 3000) + " = 1",
        HEAD + "x = " + "{a = " * 3000 + "1" + "}" * 3000,
    ],
    ids=["lists", "dotted", "tables"],
)
def test_deep_files_are_refused_in_one_line(reconbench: Run, tmp_path: Path, text: str) -> None:
    done = reconbench("suite", "show", write(tmp_path / "deep.toml", text))
    assert done.returncode == 2 and "nested more than 20 deep" in done.stderr
    assert done.stderr.count("\n") == 1


def test_large_files_ranges_and_chains_are_refused(
    reconbench: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    long = write(tmp_path / "l.toml", HEAD + BLOCK + 'epsilon = 1\nmetric = "l1:0-9999999999"\n')
    done = reconbench("suite", "show", long)
    assert done.returncode == 2 and "has more than 10,000 values" in done.stderr
    for i in range(22):
        write(tmp_path / f"s{i}.toml", f'name="s{i}"\ndescription=""\ninclude=["s{i + 1}.toml"]\n')
    done = reconbench("suite", "show", str(tmp_path / "s0.toml"))
    assert done.returncode == 2 and "more than 20 suites" in done.stderr
    monkeypatch.setattr(suites, "MOST_BYTES", 100)
    done = reconbench("suite", "show", long)
    assert done.returncode == 2 and "cannot read suite" in done.stderr


@pytest.mark.parametrize(
    "command",
    [
        ("run", "smoke", "--out", "a" * 300),
        ("suite", "show", "smoke", "--out", "a" * 300),
        ("results", "show", "a" * 300),
        ("results", "import", "b" * 300, "a" * 300),
        ("data", "sample", "acs", "-n", "5", "-o", "a" * 300),
        ("suite", "show", "a" * 300 + ".toml"),
    ],
)
def test_long_names_are_one_line(reconbench: Run, tmp_path: Path, command: tuple[str, ...]) -> None:
    done = reconbench(*command, cwd=tmp_path)
    assert done.returncode == 2 and "too long" in done.stderr and done.stderr.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_readers_that_go_away(tmp_path: Path) -> None:
    """`| head` ends the program without a word; a closed or full output is no traceback."""

    def run(redirection: str) -> tuple[int, str]:
        line = f"set -o pipefail; {COMMAND} data describe acs {redirection}"
        done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, cwd=tmp_path)
        return done.returncode, done.stderr

    assert run("| true") == (141, "")
    assert run(">&-") == (0, "")
    if Path("/dev/full").exists():
        code, text = run("> /dev/full")
        assert code == 3 and text.startswith("error: ") and text.count("\n") == 1


def test_failed_rows_are_done_until_they_are_asked_for(reconbench: Run, tmp_path: Path) -> None:
    """`suite show` counts as `run` plays: a failed row is not tried again unasked."""
    text = 'name = "s"\ndescription = ""\nrepetitions = 2\nattacks = ["prior"]\n' + BLOCK
    path = write(tmp_path / "s.toml", text + "epsilon = 3\nn = 10\n")
    game = Game("acs", ("SEX",), 3.0, n=10)
    with Store(tmp_path / "out") as store:
        row = replace(unplayed_row(game, AttackSpec("prior"), "gone"), rep=0)
        assert row.status is Status.FAILED
        store.put(row_key(game, AttackSpec("prior")), row)
    out = ("--out", str(tmp_path / "out"))
    assert json.loads(reconbench("suite", "show", path, "--json", *out).stdout)["stored"] == 1
    run = ("run", path, "--jobs", "1", "--json", *out)
    first = json.loads(reconbench(*run).stdout)
    assert (first["played"], first["failures"]) == (1, 1)
    again = json.loads(reconbench(*run).stdout)
    assert (again["played"], again["failures"]) == (0, 1)
    asked = json.loads(reconbench(*run, "--retry-failed").stdout)
    assert (asked["played"], asked["failures"]) == (1, 0)


def test_help_and_pages_say_the_same_about_failed_rows(reconbench: Run) -> None:
    docs = Path(__file__).resolve().parents[2] / "docs"
    for name in ("results-store.md", "suites.md", "plugins.md"):
        assert "--retry-failed" in (docs / name).read_text(encoding="utf-8")
    assert "tries the failed ones again" not in (docs / "plugins.md").read_text(encoding="utf-8")
    shown = " ".join(reconbench("run", "--help").stdout.split())
    assert "not tried again unless --retry-failed" in shown
