"""`reconbench report compare`."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from reconbench.benchmarks.game.options import Options
from reconbench.benchmarks.game.play import AttackSpec, Game, Round, play
from reconbench.benchmarks.store.store import Store, row_key
from reconbench.cli.terminal.tables import _fit_widths

Run = Callable[..., Any]
GAME = Game("acs", ("SEX",), 3.0, n=20, mechanism_options=Options({"k": 2}), known=("AGEP", "MAR"))
PRIOR = AttackSpec("prior")


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Eight repetitions; in the store `after` the attack lost two records in each."""
    folder = tmp_path_factory.mktemp("stores")
    for rep in range(8):
        game = replace(GAME, rep=rep)
        row = play(Round.draw(game), PRIOR)
        for name, change in (("before", 0), ("after", -2)):
            with Store(folder / name) as store:
                moved = replace(row, successes=(row.successes or 0) + change)
                store.put(row_key(game, PRIOR), moved)
    return folder


def test_compare(reconbench: Run, stores: Path) -> None:
    done = reconbench("report", "compare", "before", "after", cwd=stores)
    assert done.returncode == 0, done.stderr
    assert "Of 1 cells that both stores have: 0 better, 1 worse" in done.stdout
    found = json.loads(reconbench("report", "compare", "before", "after", "--json").stdout)
    assert found["worse"] and found["cells"][0]["difference"] == -2
    assert found["cells"][0]["p"] == 2**-7


def test_exit_codes(reconbench: Run, stores: Path) -> None:
    worse = reconbench("report", "compare", "before", "after", "--fail-if-worse", cwd=stores)
    assert worse.returncode == 1
    better = reconbench("report", "compare", "after", "before", "--fail-if-worse", cwd=stores)
    assert better.returncode == 0
    same = reconbench("report", "compare", "after", "after", "--fail-if-worse", cwd=stores)
    assert same.returncode == 0 and "1 the same" in same.stdout


def test_files(reconbench: Run, stores: Path, tmp_path: Path) -> None:
    for kind in ("html", "md", "csv"):
        path = tmp_path / f"change.{kind}"
        done = reconbench("report", "compare", "before", "after", "--out", str(path), cwd=stores)
        assert done.returncode == 0 and "worse" in path.read_text()


def test_bad_input(reconbench: Run, stores: Path) -> None:
    for arguments, message in (
        (("before", "nowhere"), "no result store at nowhere"),
        (("before", "after", "--out", "x.pdf"), "must end with .html, .md or .csv"),
        (("before", "after", "--level", "0"), "level must be"),
    ):
        done = reconbench("report", "compare", *arguments, cwd=stores)
        assert done.returncode == 2 and message in done.stderr and done.stderr.count("\n") == 1


def test_a_table_wraps_between_words_where_the_terminal_allows() -> None:
    columns = [["attack", "posterior"], ["best possible %", "61.0"], ["", ""]]
    assert _fit_widths(columns, 40) == []  # nothing needs to wrap
    assert _fit_widths(columns, 20) == [9, 10, 1]
    assert _fit_widths(columns, 15) == []  # nothing helps
