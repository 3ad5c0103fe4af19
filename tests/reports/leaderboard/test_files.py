"""The leaderboard as CSV: its columns, numbers, order and ranks, and that text cannot run."""

from __future__ import annotations

import csv
import io
import json
import math
import re
from dataclasses import replace
from importlib import import_module

import pytest

from reconbench.benchmarks.game.play import AttackSpec, Game, Round, play
from reconbench.benchmarks.store.summary import Kind, Summary, summarise
from reconbench.benchmarks.store.tightest import declared_bounds
from reconbench.reports import (
    DICTIONARY,
    Leaderboard,
    leaderboard_columns,
    leaderboard_csv,
    leaderboard_parquet,
)

OPTIONAL = re.compile(
    r"bound_errors|advantage|target_records|access|held_out.*|memorised.*|gap_rows|data_hash|rad"
    r"|rad_.*|(ceiling|value|paper)(_.*)?"
)


def read(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text, newline="")))


def test_the_header_is_the_documented_columns_in_order(summary: Summary) -> None:
    every = {
        name: dict.fromkeys(declared.levels, 1.0) for name, declared in declared_bounds().items()
    }
    row = replace(
        summary,
        ceilings=every,
        advantage=1,
        target_records=99,
        access="measurements",
        held_out=10,
        facts={"release.rows_per_record": 1.0},
        bound_errors=("new: broken",),
    )
    rows = [replace(row, data_hash=text) for text in "ab"]
    header = leaderboard_csv(rows).splitlines()[0].split(",")
    assert header == [name for name in DICTIONARY if not name.startswith(("value_", "paper"))]


def test_the_dictionary_beside_the_file_describes_its_columns(summary: Summary) -> None:
    header = leaderboard_csv([summary]).splitlines()[0].split(",")
    found = read(leaderboard_columns([summary]))
    assert [each["column"] for each in found] == header
    for each in found:
        assert each["meaning"] == DICTIONARY[each["column"]].meaning
        assert each["kind"] in {"text", "integer", "number", "boolean"}
    said = {each["column"]: each["direction"] for each in found}
    assert said["success"].startswith("Higher") and said["rank"].startswith("Lower")
    assert said["dataset"] == ""


def test_every_kind_is_that_of_the_values(summary: Summary, bounded: Summary) -> None:
    kinds: dict[str, type | tuple[type, ...]] = {
        "text": str,
        "integer": int,
        "number": (int, float),
        "boolean": bool,
    }
    best = replace(bounded, best_possible=51.0, best_possible_converged=True)
    for row in Leaderboard.from_summaries([best, summary]).rows:
        for name, value in row.items():
            if value is not None:
                assert isinstance(value, kinds[DICTIONARY[name].kind]), name


def test_parquet_holds_the_same_table(bounded: Summary, failed: Summary) -> None:
    pyarrow_parquet = import_module("pyarrow.parquet")
    rows = [bounded, failed, replace(bounded, epsilon=math.inf)]
    table = pyarrow_parquet.read_table(io.BytesIO(leaderboard_parquet(rows, "demo")))
    board = Leaderboard.from_summaries(rows, "demo")
    assert table.column_names == list(board.columns)
    assert table.to_pylist() == [{name: row[name] for name in board.columns} for row in board.rows]
    assert b"meaning" in table.schema.field("success").metadata


def test_a_mean_ceiling_has_one_column_without_a_confidence(summary: Summary) -> None:
    means = [name for name, each in declared_bounds().items() if each.kind is Kind.MEAN]
    ceilings = {name: {"mean": float(place)} for place, name in enumerate(sorted(means)[::-1])}
    (row,) = read(leaderboard_csv([replace(summary, ceilings=ceilings)]))
    assert row["tightest_mean"] == "0.0"
    assert {name: row[name] for name in row if name.startswith("ceiling_")} == {
        "ceiling_prior-exact": "0.0",
        "ceiling_mean": "1.0",
    }
    for name in means:
        assert "in expectation" in DICTIONARY[f"ceiling_{name}"].meaning


def test_every_ceiling_of_a_real_row_has_a_column() -> None:
    rounds = [
        Round.draw(Game("acs", ("AGEP",), epsilon=1.0, n=5, metric=metric))
        for metric in ("exact", "l1:1")
    ]
    rows = summarise([play(each, AttackSpec("prior")) for each in rounds])
    stored = {bound for row in rows for bound in row.ceilings}
    assert {"thm35", "profile", "fdp-recursion", "prior-exact"} <= stored
    header = leaderboard_csv(rows).splitlines()[0]
    assert all(f"ceiling_{bound}" in header for bound in stored)


def test_columns_of_absent_ceilings_are_left_out(summary: Summary) -> None:
    header = leaderboard_csv([summary]).splitlines()[0].split(",")
    there = {f"ceiling_thm35_{level}" for level in ("0.05", "0.5", "0.95")}
    assert header == [name for name in DICTIONARY if name in there or not OPTIONAL.fullmatch(name)]


@pytest.mark.parametrize(
    ("ceilings", "column"),
    [
        ({"new": {"0.9": 1.0}}, "ceiling_new_0.9"),
        ({"thm35": {"mean": 1.0}}, "ceiling_thm35"),
        ({"mean": {"0.95": 1.0}}, "ceiling_mean_0.95"),
    ],
)
def test_an_unknown_ceiling_is_shown_and_said_to_be_unknown(
    summary: Summary, ceilings: dict[str, dict[str, float]], column: str
) -> None:
    """After all games were played, nothing that a row holds may end the run."""
    rows = [replace(summary, ceilings=ceilings)]
    assert read(leaderboard_csv(rows))[0][column] == "1.0"
    meanings = {each["column"]: each["meaning"] for each in read(leaderboard_columns(rows))}
    assert "neither the stored rows nor this version" in meanings[column]


def test_a_bound_of_another_package_is_described_as_the_row_declares_it(summary: Summary) -> None:
    declared = replace(declared_bounds()["mean"], name="foreign", statement="Foreign bound.")
    row = replace(
        summary,
        ceilings={"foreign": {"mean": 1.0}, **summary.ceilings},
        bounds={"foreign": declared},
    )
    header = leaderboard_csv([row]).splitlines()[0].split(",")
    meanings = {each["column"]: each["meaning"] for each in read(leaderboard_columns([row]))}
    assert "Foreign bound" in meanings["ceiling_foreign"]
    assert header.index("ceiling_foreign") > header.index("ceiling_thm35_0.95")
    # It is shown, and neither ranked nor flagged by.
    assert read(leaderboard_csv([row]))[0]["tightest_mean"] == ""


def test_numbers_survive_the_round_trip(summary: Summary) -> None:
    (row,) = read(leaderboard_csv([replace(summary, attack_options={"steps": 5})]))
    for name in ("n", "k", "seed", "repetitions", "failures", "skipped"):
        assert int(row[name]) == getattr(summary, name)
    for name in ("epsilon", "delta", "success", "success_low", "baseline_expected", "seconds"):
        assert float(row[name]) == getattr(summary, name)
    assert float(row["ceiling_thm35_0.5"]) == summary.ceilings["thm35"]["0.5"]
    assert row["known"] == "2"
    assert json.loads(row["attack_options"]) == {"steps": 5}


def test_the_best_possible_has_three_columns(summary: Summary) -> None:
    best = replace(
        summary, best_possible=51.25, best_possible_se=0.01, best_possible_converged=False
    )
    names = ("best_possible", "best_possible_se", "best_possible_converged")
    (row,) = read(leaderboard_csv([best]))
    assert [row[name] for name in names] == ["51.25", "0.01", "False"]
    (none,) = read(leaderboard_csv([summary]))
    assert [none[name] for name in names] == ["", "", ""]


def test_rows_go_by_dataset_column_epsilon_and_falling_success(summary: Summary) -> None:
    rows = [
        replace(summary, dataset=dataset, targets=(column,), epsilon=epsilon, attack=attack)
        for attack in ("rap", "prior", "broken")
        for epsilon in (10.0, 1.0)
        for dataset in ("fire", "acs")
        for column in ("B", "A")
    ]
    success = {"rap": 40.0, "prior": 50.0, "broken": None}
    rows = [replace(row, expected_success=success[row.attack]) for row in rows]
    found = [
        (row["dataset"], row["targets"], row["epsilon"], row["attack"])
        for row in read(leaderboard_csv(rows))
    ]
    assert found == [
        (dataset, column, epsilon, attack)
        for dataset in ("fire", "acs")
        for column in ("B", "A")
        for epsilon in ("1.0", "10.0")
        for attack in ("prior", "rap", "broken")
    ]


def test_ranks_are_per_game_and_shared_by_ties(summary: Summary) -> None:
    rows = [
        replace(summary, attack=name, expected_success=success)
        for name, success in (("a", 10.0), ("b", 30.0), ("c", 30.0), ("d", None))
    ]
    rows.append(replace(summary, attack="a", epsilon=2.0, expected_success=5.0))
    found = [(row["attack"], row["rank"]) for row in read(leaderboard_csv(rows))]
    assert found == [("b", "1"), ("c", "1"), ("a", "3"), ("d", ""), ("a", "1")]


def test_games_that_differ_in_metric_only_are_not_mixed(summary: Summary) -> None:
    rows = [
        replace(summary, metric=metric, attack=attack, expected_success=success)
        for metric, attack, success in (
            ("exact", "a", 1.0),
            ("within-1", "a", 9.0),
            ("exact", "b", 5.0),
        )
    ]
    found = [(row["metric"], row["attack"], row["rank"]) for row in read(leaderboard_csv(rows))]
    assert found == [("exact", "b", "1"), ("exact", "a", "2"), ("within-1", "a", "1")]


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r", "\n", "  =", "\uff1d"])
def test_text_that_a_spreadsheet_would_run_is_quoted(failed: Summary, start: str) -> None:
    name = f"{start}HYPERLINK(1)"
    (row,) = read(leaderboard_csv([replace(failed, attack=name, error=name, dataset=name)]))
    assert row["attack"] == row["error"] == row["dataset"] == f"'{name}"


def test_negative_numbers_stay_numbers(summary: Summary) -> None:
    (row,) = read(leaderboard_csv([replace(summary, seed=-3)]))
    assert row["seed"] == "-3"


def test_commas_quotes_and_line_breaks_keep_their_cell(summary: Summary) -> None:
    name = 'a,"b"\r\nc'
    (row,) = read(leaderboard_csv([replace(summary, attack=name)]))
    assert row["attack"] == name


def test_an_infinite_epsilon_is_inf(summary: Summary) -> None:
    assert read(leaderboard_csv([replace(summary, epsilon=math.inf)]))[0]["epsilon"] == "inf"


def test_no_results_leave_the_header() -> None:
    assert read(leaderboard_csv([])) == []
    assert leaderboard_csv([]).startswith("suite,dataset,targets,")


def test_failures_have_neither_success_nor_rank(summary: Summary, failed: Summary) -> None:
    best, lost = read(leaderboard_csv([failed, summary]))
    assert (best["attack"], best["rank"], best["error"]) == ("rap", "1", "")
    assert (lost["attack"], lost["rank"], lost["success"]) == ("broken", "", "")
    assert (lost["failures"], lost["error"]) == ("3", failed.error)


def test_only_failures_make_a_file(failed: Summary) -> None:
    (row,) = read(leaderboard_csv([failed]))
    assert row["success"] == row["rank"] == ""
    assert not [name for name in row if name.startswith("ceiling_")]


def test_a_single_repetition_has_no_interval(summary: Summary) -> None:
    one = replace(summary, repetitions=1, success_low=None, success_high=None)
    (row,) = read(leaderboard_csv([one]))
    assert (row["success_low"], row["success_high"]) == ("", "")
