"""Every axis of a setting tells games apart, wherever games are told apart."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest

from reconbench.benchmarks.game.options import Options
from reconbench.benchmarks.game.play import AttackSpec, Game, Round, play
from reconbench.benchmarks.game.result import Result
from reconbench.benchmarks.game.setting import AXES, Setting, find_varying_axes
from reconbench.benchmarks.run.runner import run
from reconbench.benchmarks.store.export_import import group_cells
from reconbench.benchmarks.store.store import Entry, Key, Store, row_key
from reconbench.benchmarks.store.summary import Summary, summarise
from reconbench.benchmarks.suites.suite import read_suite
from reconbench.reports.figures.charts import list_charts, select_rows
from reconbench.reports.leaderboard.ranking import rank_in_games
from reconbench.reports.leaderboard.table import Leaderboard
from reconbench.reports.leaderboard.text_tables import tabulate_suite

ROOT = Path(__file__).resolve().parents[2]
GAME = Game("acs", ("SEX",), 3.0, n=10, known=("AGEP", "MAR"))
# Another value on each axis. An axis that is not listed here fails the test of that name.
OTHER: dict[str, Any] = {
    "dataset": "fire",
    "targets": ("SEX", "DIS"),
    "epsilon": 4.0,
    "delta": 1e-6,
    "n": 11,
    "known": ("AGEP",),
    "mechanism": "exact-marginals",
    "mechanism_options": Options({"k": 2}),
    "metric": "l1:0",
    "adversary": "informed",
    "attacker_prior": "records:50",
    "seed": 1,
    "advantage": 2,
    "target_records": 9,
    "access": "measurements",
    "held_out": 5,
    "data_hash": "another",
}
axis = pytest.mark.parametrize("axis", [each.name for each in fields(Setting)])


@pytest.fixture(scope="module")
def row(drop_scores: Callable[[Result], Result]) -> Result:
    return drop_scores(play(Round.draw(GAME), AttackSpec("prior")))


def pair(row: Result, axis: str) -> list[Result]:
    """Two rows that differ on one axis alone; the second reconstructed more."""
    changed: dict[str, Any] = {axis: OTHER[axis]}
    if axis == "mechanism_options":
        changed["facts"] = {**row.facts, "mechanism.k": 2.0}
    return [replace(row, successes=1), replace(row, successes=2, **changed)]


def summaries(row: Result, axis: str) -> list[Summary]:
    return summarise(pair(row, axis))


@axis
def test_summaries_and_cells_are_apart(row: Result, axis: str) -> None:
    assert len(summaries(row, axis)) == 2
    entries = [Entry(Key(str(i)), each) for i, each in enumerate(pair(row, axis))]
    assert len(group_cells(entries)) == 2


@axis
def test_both_are_first_in_their_game(row: Result, axis: str) -> None:
    assert rank_in_games(summaries(row, axis)) == [1, 1]
    assert rank_in_games(
        summarise([pair(row, axis)[0], replace(row, successes=2, attack="rap")])
    ) == [2, 1]


@axis
def test_terminal_lines_are_apart(row: Result, axis: str) -> None:
    (lines,) = tabulate_suite(summaries(row, axis))
    assert len(lines.rows) == 2
    settings = [tuple(line[: lines.header.index("games")]) for line in lines.rows]
    assert len(set(settings)) == 2


def test_terminal_lines_pool_which_columns_are_hidden(row: Result) -> None:
    other = replace(row, targets=("MAR",), known=("AGEP", "SEX"))
    (lines,) = tabulate_suite(summarise([row, other]))
    assert len(lines.rows) == 1
    assert find_varying_axes([row, other]) == []


@axis
def test_panels_are_apart(row: Result, axis: str) -> None:
    board = Leaderboard.from_summaries(summaries(row, axis))
    for chart in list_charts(board.columns):
        if chart.name in ("success", "time"):
            drawn, _ = select_rows(chart, board.rows)
            assert len(drawn) == 2
            assert len({tuple(each[name] for name in chart.alike) for each in drawn}) == 2


@axis
def test_rows_say_which_they_are(row: Result, axis: str) -> None:
    if axis != "data_hash":
        first, second = pair(row, axis)
        assert first.describe() != second.describe()


@axis
def test_store_keys_are_apart(axis: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The hash of a prior is that of its content, so here another prior stands in."""
    spec = AttackSpec("prior")
    key = row_key(GAME, spec)
    if axis == "data_hash":
        from reconbench.benchmarks import plugins

        other = plugins.load_prior("fire")
        monkeypatch.setattr(plugins, "load_prior", lambda dataset: other)
        assert row_key(GAME, spec).config != key.config
        return
    assert row_key(replace(GAME, **{axis: OTHER[axis]}), spec).config != key.config


# A suite has one seed, options stand with their mechanism, and the hash is that of the data set.
CHOSEN = [name for name in AXES if name not in ("seed", "mechanism_options", "data_hash")]
SUITE: dict[str, Any] = {
    "dataset": "acs",
    "targets": ["AGEP"],
    "known": ["SEX", "MAR"],
    "n": 10,
    "epsilon": 3,
}


@pytest.mark.parametrize("axis", [name for name in CHOSEN if name != "known"])
def test_suites_leave_games_out_by_every_axis(axis: str, tmp_path: Path) -> None:
    value = {"targets": "DIS", "metric": "l1:1"}.get(axis, OTHER[axis])
    usual = "AGEP" if axis == "targets" else getattr(GAME, axis)
    block = {**SUITE, axis: [usual, value]}
    if axis == "dataset":
        block |= {"targets": "visit:1-1", "known": "last:3"}
    if axis == "mechanism":
        block["epsilon"] = float("inf")
    if axis == "access":
        block["mechanism"] = "pgm"
    lines = [
        f"{name} = {json.dumps(each).replace('Infinity', 'inf')}" for name, each in block.items()
    ]
    head = 'name = "x"\ndescription = ""\nrepetitions = 1\nattacks = ["prior"]\n[[games]]\n'
    path = tmp_path / "x.toml"
    path.write_text(head + "\n".join(lines))
    assert len(read_suite(path).units()) == 2
    path.write_text(head + "\n".join([*lines, f"exclude = [{{{axis} = {json.dumps(value)}}}]"]))
    (unit,) = read_suite(path).units()
    assert getattr(unit.game, axis) == (("AGEP",) if axis == "targets" else usual)


TWO_BLOCKS = """
name = "two"
description = "one column with all others known, and several with three known"
repetitions = 1
attacks = ["prior"]
[[games]]
dataset = "acs"
targets = ["SCHL"]
n = 20
epsilon = 3
[[games]]
dataset = "acs"
targets = "visit:1-4"
known = "last:3"
n = 20
epsilon = 3
"""


def test_two_blocks_print_separate_lines(tmp_path: Path) -> None:
    path = tmp_path / "two.toml"
    path.write_text(TWO_BLOCKS)
    with Store(tmp_path / "out") as store:
        rows = run(read_suite(path).units(), store, jobs=1)
    (lines,) = tabulate_suite(summarise(rows))
    assert "known columns" in lines.header and "targets" in lines.header
    assert len(lines.rows) == 5
    assert all(line[lines.header.index("games")] == "1" for line in lines.rows)


NEW_AXIS = """    weather: str = axis("weather", "a new axis", default="fair", label="{} weather")
    data_hash: str = axis("""
PLAYED = """
import json, sys
from dataclasses import replace
from pathlib import Path
from reconbench.benchmarks.game.play import AttackSpec, Game, Round, play
from reconbench.benchmarks.store.store import row_key
from reconbench.benchmarks.store.summary import summarise
from reconbench.benchmarks.suites.suite import read_suite
from reconbench.reports.leaderboard.text_tables import tabulate_suite
from reconbench.reports.leaderboard.table import Leaderboard
from reconbench.reports.figures.charts import list_charts, select_rows
path = Path(sys.argv[1]) / "s.toml"
path.write_text('''name = "s"
description = ""
repetitions = 1
attacks = ["prior"]
[[games]]
dataset = "acs"
targets = ["SEX"]
known = ["AGEP", "MAR"]
n = 10
epsilon = 1
weather = ["fair", "foul", "dry"]
exclude = [{weather = "dry"}]
''')
games = [unit.game for unit in read_suite(path).units()]
rows = [play(Round.draw(game), AttackSpec("prior")) for game in games]
found = summarise(rows)
board = Leaderboard.from_summaries(found)
bars = list_charts(board.columns)[0]
(lines,) = tabulate_suite(found)
print(json.dumps({
    "games": [game.weather for game in games],
    "keys": len({row_key(game, AttackSpec("prior")).config for game in games}),
    "stored": [type(row).from_json(row.to_json()).weather for row in rows],
    "csv": [row["weather"] for row in board.rows],
    "dictionary": "a new axis" in board.describe_columns(),
    "panels": len({tuple(row[n] for n in bars.alike) for row in select_rows(bars, board.rows)[0]}),
    "named": "weather" in json.dumps(bars.spec["transform"]),
    "lines": [line[lines.header.index("weather")] for line in lines.rows],
    "tables": len({row.table_hash for row in rows}),
}))
"""


def test_a_new_axis_is_one_field(tmp_path: Path) -> None:
    """In a copy of the package with one more field, and nothing else changed."""
    package = tmp_path / "reconbench"
    package.mkdir()
    for name in ("__init__.py", "py.typed", "cli"):
        source = ROOT / "src" / "reconbench" / name
        if source.is_dir():
            shutil.copytree(source, package / name)
        else:
            shutil.copy(source, package / name)
    for room in ("attacks", "benchmarks", "bounds", "datasets", "mechanisms", "reports"):
        shutil.copytree(
            ROOT / room, package / room, ignore=shutil.ignore_patterns("perf", "__pycache__")
        )
    file = package / "benchmarks" / "game" / "setting.py"
    text = file.read_text(encoding="utf-8")
    assert text.count("    data_hash: str = axis(") == 1
    file.write_text(text.replace("    data_hash: str = axis(", NEW_AXIS), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-c", PLAYED, str(tmp_path)],
        env={**os.environ, "PYTHONPATH": str(tmp_path), "PYTHONSAFEPATH": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    both = ["fair", "foul"]
    assert json.loads(done.stdout) == {
        "games": both,
        "keys": 2,
        "stored": both,
        "csv": both,
        "dictionary": True,
        "panels": 2,
        "named": True,
        "lines": both,
        "tables": 1,
    }


def test_every_axis_has_another_value_here() -> None:
    assert set(OTHER) == set(AXES)
