"""Rows are checked when they come in: one line names store, row and field, nothing is written."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from math import inf
from pathlib import Path
from typing import Any

import pytest

from reconbench.benchmarks.game import result
from reconbench.benchmarks.game.options import Options
from reconbench.benchmarks.game.play import AttackSpec, Game, Round, play
from reconbench.benchmarks.game.result import Result, ResultError
from reconbench.benchmarks.game.row_schema.checks import MOST_RECORDS
from reconbench.benchmarks.store.export_import import merge, read
from reconbench.benchmarks.store.store import FILE_NAME, Store, StoreError, _seal, row_key
from reconbench.benchmarks.suites.suite import find_suite

GAME = Game("acs", ("SEX",), 3.0, n=10, mechanism_options=Options({"k": 2}), advantage=3)
PRIOR = AttackSpec("prior")


@pytest.fixture(scope="module")
def row() -> Result:
    return play(Round.draw(GAME), AttackSpec("rap"))


@pytest.fixture(scope="module")
def computed() -> Result:
    return find_suite("kulynych-fig3").points()[0].row()


WRONG: list[tuple[str, Any, str]] = [
    ("n", -5, "n must be an integer from 1"),
    ("n", 0, "n must be"),
    ("n", MOST_RECORDS + 1, "n must be"),
    ("successes", 10**30, "successes must be an integer from 0 to 10"),
    ("successes", -1, "successes must be"),
    ("successes", 11, "successes must be"),
    ("successes", None, "successes must be"),
    ("epsilon", "-inf", "epsilon must be"),
    ("epsilon", 0.0, "epsilon must be greater than 0"),
    ("delta", 1.0, r"delta must be in \[0, 1\)"),
    ("delta", -0.1, "delta must be"),
    ("rep", -1, "rep must be"),
    ("seed", 2**70, "seed must be"),
    ("targets", [], "targets must be at least one column"),
    ("advantage", 11, "advantage must be"),
    ("table_hash", "f00", "table_hash must be 64 hexadecimal digits"),
    ("table_hash", "", "table_hash must be"),
    ("guess_hash", "Z" * 64, "guess_hash must be"),
    ("baseline_successes", 11, "baseline_successes must be"),
    ("baseline_expected", 10.1, "baseline_expected must be a number from 0 to 10"),
    ("expected_from_prior", -0.5, "expected_from_prior must be"),
    ("seconds", -1.0, "seconds must be"),
    ("best_possible", 12.0, "best_possible must be"),
    ("error", "gone", "error must be none where status is ok"),
    ("status", "failed", "error must be a text"),
    ("ceilings", {"thm35": {"0.95": 11}}, "ceilings.thm35.0.95 must be a number from 0 to 10"),
    ("ceilings", {"thm35": {"1.5": 1}}, "confidences in"),
    ("ceilings", {"thm35": {"high": 1}}, "confidences in"),
    ("rad_successes", 4, "rad_successes must be"),
    ("rad_successes", None, "rad_replaced must be"),
    ("rad_ceiling", -1.0, "rad_ceiling must be"),
    ("calibration", {"3": [10, 3.5]}, r"calibration\.3 must be three numbers"),
    ("calibration", {"11": [10, 3.5, 1]}, "a tenth"),
    ("calibration", {"3": [9, 3.0, 1]}, "must have 10 records in all"),
    ("calibration", {"3": [10, 9.0, 1]}, "sum of scores"),
    ("calibration", {"3": [10, 3.5, 11]}, "right"),
    ("calibration", {"3": [1.5, 0.5, 1]}, "whole number of records"),
    ("run_tail", {"n": 11, "start": 12, "values": []}, "run_tail.n must be"),
    ("run_tail", {"n": 10, "start": 1, "values": [0.1, 0.2]}, "but values must not increase"),
    ("run_tail", {"n": 10}, "run_tail must be a tail of a distribution, but has no"),
]


@pytest.mark.parametrize(("field", "value", "message"), WRONG)
def test_impossible_values_are_refused(row: Result, field: str, value: Any, message: str) -> None:
    raw = {**row.to_json(), field: value}
    for load in (Result.from_json, Result.from_trusted_json):
        with pytest.raises(ResultError, match=message) as error:
            load(raw)
        assert "\n" not in str(error.value) and "repetition" in str(error.value)


def test_failed_rows_have_an_error_and_no_score(
    row: Result, drop_scores: Callable[[Result], Result]
) -> None:
    with pytest.raises(ResultError, match="scored_by must be empty unless status is ok"):
        Result.from_json({**row.to_json(), "status": "failed", "error": "x", "successes": None})
    failed = {**drop_scores(row).to_json(), "status": "failed", "error": "gone", "successes": None}
    assert Result.from_json(failed).error == "gone"
    with pytest.raises(ResultError, match="successes must be none unless status is ok, got 3"):
        Result.from_json({**failed, "successes": 3})
    with pytest.raises(ResultError, match="error must be"):
        Result.from_json({**failed, "error": "x" * 10_001})


def test_computed_rows_have_ranges_of_their_own(computed: Result) -> None:
    raw = computed.to_json()
    assert Result.from_json(raw) == computed == Result.from_trusted_json(raw)
    (name, *_) = raw["ceilings"]
    wide = {**raw, "ceilings": {name: {"mean": 57.0}}, "epsilon": 0.0}
    assert Result.from_json(wide).ceilings[name]["mean"] == 57.0
    for field, value in (
        ("successes", 1),
        ("ceilings", {name: {"0.95": 1.0}}),
        ("baseline_expected", -1.0),
        ("epsilon", -1.0),
    ):
        with pytest.raises(ResultError, match=field):
            Result.from_json({**raw, field: value})


def test_an_infinite_epsilon_and_bounds_of_others_above_n_are_allowed(row: Result) -> None:
    raw = row.to_json() | {"epsilon": "inf", "ceilings": {"mine": {"mean": 99.0}}}
    with pytest.raises(ResultError, match=r"ceilings\.mine\.mean"):
        Result.from_json(raw)
    loose = Result.from_json(raw | {"bounds": {"mine": {"kind": "mean"}}})
    assert loose.epsilon == inf


def test_texts_for_numbers_are_refused_on_the_fast_path(row: Result) -> None:
    for field in ("n", "successes", "rep"):
        with pytest.raises(ResultError, match=field):
            Result.from_trusted_json({**row.to_json(), field: "many"})


def forge(folder: Path, **changes: Any) -> None:
    """Change the stored row and seal it again, as anybody can."""
    with closing(sqlite3.connect(folder / FILE_NAME)) as connection, connection:
        key, text = connection.execute("SELECT key, row FROM results").fetchone()
        forged = json.dumps({**json.loads(text), **changes})
        seal = _seal(key, forged.encode())
        connection.execute("UPDATE results SET row = ?, seal = ?", (forged, seal))


@pytest.fixture
def forged(row: Result, tmp_path: Path) -> Path:
    with Store(tmp_path / "theirs") as store:
        store.put(row_key(GAME, PRIOR), row)
    forge(tmp_path / "theirs", n=-5, successes=10**30, epsilon="-inf")
    return tmp_path / "theirs"


def test_a_merge_with_impossible_rows_writes_nothing(forged: Path, tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"theirs/results\.sqlite .* repetition 0: n must be"):
        merge(tmp_path / "mine", [forged])
    assert not (tmp_path / "mine").exists()


def test_the_store_of_a_run_is_checked_too(forged: Path) -> None:
    """An edited row whose checksum was made again is not trusted for its checksum."""
    with Store(forged) as store, pytest.raises(StoreError, match="n must be"):
        store.get([row_key(GAME, PRIOR)])
    with pytest.raises(StoreError, match="n must be"):
        read(forged)


def test_deep_json_is_refused(row: Result, tmp_path: Path) -> None:
    with Store(tmp_path / "theirs") as store:
        store.put(row_key(GAME, PRIOR), row)
    deep = "[" * 100_000 + "]" * 100_000
    with closing(sqlite3.connect(tmp_path / "theirs" / FILE_NAME)) as connection, connection:
        connection.execute("UPDATE results SET row = ?, seal = ''", (deep,))
    with pytest.raises(StoreError, match="cannot be read"):
        read(tmp_path / "theirs")


def test_checks_are_cheap_beside_reading(row: Result, monkeypatch: pytest.MonkeyPatch) -> None:
    """Resuming reads every row, checked. The checks take a third as long as reading without."""
    text = json.dumps(row.to_json())

    def measure() -> float:
        best = inf
        for _ in range(5):
            started = time.process_time()
            for _ in range(300):
                Result.from_trusted_json(json.loads(text))
            best = min(best, time.process_time() - started)
        return best

    checked = measure()
    monkeypatch.setattr(result, "check_row", lambda row: None)
    assert checked < 2 * measure()
