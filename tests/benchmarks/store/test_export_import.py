"""Rows on their way: exported, merged, compared and pruned."""

from __future__ import annotations

import csv
import json
import sqlite3
import sys
from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from math import inf
from pathlib import Path
from typing import Any

import pytest

from reconbench.benchmarks.game.options import Options
from reconbench.benchmarks.game.play import AttackSpec, Game, Round, play
from reconbench.benchmarks.game.result import FIELDS, Result, Status
from reconbench.benchmarks.store.export_import import (
    DifferenceKind,
    TransferError,
    diff,
    export,
    find_prunable,
    group_cells,
    merge,
    prune,
    read,
)
from reconbench.benchmarks.store.store import (
    FILE_NAME,
    Key,
    Origin,
    Store,
    StoreError,
    _seal,
    row_key,
)
from reconbench.missing_package import MissingPackage

GAME = Game("acs", ("SEX",), 3.0, n=10, mechanism_options=Options({"k": 2}))
PRIOR = AttackSpec("prior")
LOST: dict[str, Any] = {"status": Status.FAILED, "successes": None}


@pytest.fixture(scope="module")
def row(drop_scores: Callable[[Result], Result]) -> Result:
    return drop_scores(play(Round.draw(GAME), PRIOR))


def key(rep: int) -> Key:
    return row_key(replace(GAME, rep=rep), PRIOR)


def stored(folder: Path, rows: dict[Key, Result]) -> Path:
    with Store(folder) as store:
        store.create()
        for name, row in rows.items():
            store.put(name, row)
    return folder


def reps(row: Result, *numbers: int, **changes: Any) -> dict[Key, Result]:
    return {key(rep): replace(row, rep=rep, **changes) for rep in numbers}


def other_code(rows: dict[Key, Result]) -> dict[Key, Result]:
    """The same rows, as made by a former state of the code."""
    return {
        Key(f"old {each.text}", each.config, replace(each.origin, code="old")): row
        for each, row in rows.items()
    }


def test_merged_stores_hold_all_rows(row: Result, tmp_path: Path) -> None:
    ours = stored(tmp_path / "ours", reps(row, 0, 1))
    theirs = stored(tmp_path / "theirs", reps(row, 1, 2, seconds=99.0, peak_memory_mib=1.0))
    more = stored(tmp_path / "more", reps(row, 2, 3))
    done = merge(ours, [theirs / FILE_NAME, more])
    assert (done.added, done.replaced, done.same) == (2, 0, 2)
    assert [each.row.rep for each in read(ours)] == [0, 1, 2, 3]
    assert read(ours)[1].row.seconds == row.seconds
    again = merge(ours, [theirs, more])
    assert (again.added, again.same) == (0, 4)
    fresh = merge(tmp_path / "fresh", [ours])
    assert fresh.added == 4 and diff(tmp_path / "fresh", ours) == []


def test_rows_that_contradict_are_not_merged(row: Result, tmp_path: Path) -> None:
    ours = stored(tmp_path / "ours", reps(row, 0, 1))
    theirs = stored(tmp_path / "theirs", {**reps(row, 5), **reps(row, 1, successes=9)})
    before = (ours / FILE_NAME).read_bytes()
    with pytest.raises(TransferError) as error:
        merge(ours, [theirs])
    text = str(error.value)
    assert "nothing was merged: prior on acs SEX, ε = 3" in text and "repetition 1" in text
    assert (
        "differs in successes by more than numerical drift: " in text
        and key(1).text[:12] in text
        and "\n" not in text
    )
    assert (ours / FILE_NAME).read_bytes() == before
    with pytest.raises(TransferError, match="nothing was merged"):
        merge(tmp_path / "new", [ours, theirs])
    assert not (tmp_path / "new").exists()


def test_a_finished_row_beats_a_failed_one(row: Result, tmp_path: Path) -> None:
    failed = reps(row, 0, **LOST, error="too slow")
    ours = stored(tmp_path / "ours", {**failed, **reps(row, 1)})
    theirs = stored(tmp_path / "theirs", {**reps(row, 0), **reps(row, 1, **LOST, error="x")})
    done = merge(ours, [theirs])
    assert (done.added, done.replaced, done.same) == (0, 1, 1)
    assert {each.row.status for each in read(ours)} == {Status.OK}


def test_stores_that_are_missing_are_not_made(row: Result, tmp_path: Path) -> None:
    ours = stored(tmp_path / "ours", reps(row, 0))
    for call in (
        lambda: merge(ours, [tmp_path / "none"]),
        lambda: merge(tmp_path / "new", [tmp_path / "none"]),
        lambda: diff(ours, tmp_path / "none"),
        lambda: prune(tmp_path / "none", []),
    ):
        with pytest.raises(StoreError, match="no result store at"):
            call()
    assert [path.name for path in tmp_path.iterdir()] == ["ours"]


def test_differences(row: Result, tmp_path: Path) -> None:
    first = stored(
        tmp_path / "first",
        {**reps(row, 0, 1, 2), **other_code(reps(row, 4)), **other_code(reps(row, 5))},
    )
    second = stored(
        tmp_path / "second",
        {
            **reps(row, 0, seconds=7.0, peak_memory_mib=3.0),
            **reps(row, 1, successes=9),
            **reps(row, 3),
            **reps(row, 4),
            **reps(row, 5, successes=8),
        },
    )
    found = diff(first, second)
    assert [each.kind for each in found] == [
        DifferenceKind.VALUES,
        DifferenceKind.ONLY_FIRST,
        DifferenceKind.CODE,
        DifferenceKind.CODE,
        DifferenceKind.ONLY_SECOND,
    ]
    assert found[0].fields == {"successes": (row.successes, 9)}
    assert found[2].fields == {} and found[3].fields == {"successes": (row.successes, 8)}
    assert "repetition 1: successes" in found[0].describe()
    assert json.loads(json.dumps(found[0].to_json()))["fields"]["successes"][1] == 9
    assert diff(first, first) == []


def test_cells_leave_stale_rows_out(row: Result, tmp_path: Path) -> None:
    folder = stored(
        tmp_path,
        {
            **reps(row, 0, successes=4),
            **reps(row, 1, successes=6),
            **reps(row, 2, **LOST, error="gone"),
            **other_code(reps(row, 0, 1, successes=10)),
            Key("u", "u", Origin("nowhere.py:X", row.mechanism, "c")): replace(row, attack="x"),
        },
    )
    first, second = group_cells(read(folder))
    assert (first.ok, first.failed, first.stale, first.success) == (2, 1, 2, 5.0)
    assert first.error == "gone" and second.unknown == 1 and second.row.attack == "x"
    assert first.to_json()["stale"] == 2 and json.dumps(first.to_json())


def test_pruning_takes_what_was_asked_for(row: Result, tmp_path: Path) -> None:
    rows = {
        **reps(row, 0),
        **reps(row, 1, **LOST, error="gone"),
        **other_code(reps(row, 0)),
        Key("u", "u", Origin("nowhere.py:X", row.mechanism, "c")): row,
    }
    folder = stored(tmp_path, rows)
    entries = read(folder)
    stale = find_prunable(entries, stale=True, failed=False)
    failed = find_prunable(entries, stale=False, failed=True)
    assert [each.key.origin.code for each in stale] == ["old"]
    assert [each.row.error for each in failed] == ["gone"]
    prune(folder, find_prunable(entries, stale=True, failed=True))
    assert [each.key.text for each in read(folder)] == [key(0).text, "u"]


@pytest.fixture
def odd(row: Result, tmp_path: Path) -> Path:
    return stored(
        tmp_path / "odd",
        {
            **reps(row, 0, epsilon=inf, info={"loss": inf}),
            **reps(row, 1, **LOST, error='=cmd("x")\nä', ceilings={}),
        },
    )


def test_csv(odd: Path, tmp_path: Path, row: Result) -> None:
    path = tmp_path / "rows.csv"
    assert export(read(odd), path) == 2
    with path.open(newline="", encoding="utf-8") as stream:
        first, second = csv.DictReader(stream)
    assert set(FIELDS) - {"ceilings"} <= set(first)
    assert first["epsilon"] == "inf" and json.loads(first["targets"]) == ["SEX"]
    assert float(first["ceiling_thm35_0.95"]) == row.ceilings["thm35"]["0.95"]
    assert float(first["baseline_expected"]) == row.baseline_expected
    assert second["ceiling_thm35_0.95"] == "" == second["successes"]
    assert second["error"].startswith("'=cmd") and second["standing"] == "current"
    assert sorted(each.name for each in tmp_path.iterdir()) == ["odd", "rows.csv"]


def test_parquet(odd: Path, tmp_path: Path, row: Result) -> None:
    parquet = import_module("pyarrow.parquet")
    path = tmp_path / "rows.parquet"
    assert export(read(odd), path) == 2
    table = parquet.read_table(path)
    first, second = table.to_pylist()
    assert first["epsilon"] == inf and first["targets"] == '["SEX"]'
    assert first["successes"] == row.successes and second["successes"] is None
    assert second["error"] == '=cmd("x")\nä' and second["best_possible"] is None
    assert str(table.schema.field("best_possible_converged").type) == "bool"
    assert export([], tmp_path / "none.parquet") == 0
    assert sorted(each.name for each in tmp_path.iterdir()) == [
        "none.parquet",
        "odd",
        "rows.parquet",
    ]


def test_parquet_without_the_extra(
    odd: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingPackage, match=r"pip install 'reconbench\[parquet\]', or export to"):
        export(read(odd), tmp_path / "rows.parquet")
    assert not (tmp_path / "rows.parquet").exists()


def test_tables_that_cannot_be_written(odd: Path, tmp_path: Path) -> None:
    with pytest.raises(TransferError, match=r"must end in \.csv or \.parquet"):
        export(read(odd), tmp_path / "rows.xlsx")
    with pytest.raises(TransferError, match="no folder"):
        export(read(odd), tmp_path / "none" / "rows.csv")


def test_rows_of_others_are_validated_even_if_sealed(row: Result, tmp_path: Path) -> None:
    """Anybody can write a seal, so it does not make a row of the wrong shape good."""
    theirs = stored(tmp_path / "theirs", reps(row, 0))
    with sqlite3.connect(theirs / FILE_NAME) as connection:
        name, text = connection.execute("SELECT key, row FROM results").fetchone()
        forged = json.dumps({**json.loads(text), "successes": "many"})
        sealed = (forged, _seal(name, forged.encode()))
        connection.execute("UPDATE results SET row = ?, seal = ?", sealed)
    connection.close()
    mine = stored(tmp_path / "mine", reps(row, 1))
    with pytest.raises(StoreError, match="successes"):
        merge(mine, [theirs])
    assert len(read(mine)) == 1
