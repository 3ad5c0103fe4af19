"""Where the gap comes from: parts that add up, and rows of synthetic tables."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from reconbench.benchmarks.game.options import Options
from reconbench.benchmarks.game.play import AttackSpec, Game, Round, play
from reconbench.benchmarks.store.summary import Summary, summarise
from reconbench.reports.leaderboard.gap import GapReferences
from reconbench.reports.leaderboard.table import Leaderboard


def make_row(rows: float, expected: float, **changes: Any) -> Summary:
    played = play(
        Round.draw(Game("acs", ("SEX",), 1.0, n=20, known=("AGEP", "MAR"))), AttackSpec("prior")
    )
    (summary,) = summarise([played])
    options = {} if rows == 1 else {"rows": f"{rows:g}n"}
    return replace(
        summary,
        mechanism="pgm",
        mechanism_options=Options(options),
        facts={"release.rows_per_record": rows},
        expected_success=expected,
        best_possible=15.0,
        ceilings={"prior-exact": {"mean": 18.0}},
        **changes,
    )


def test_parts_add_up_to_the_gap() -> None:
    short, long = make_row(1, 11.0), make_row(50, 14.0)
    informed = make_row(1, 16.0, adversary="informed")
    informed = replace(informed, best_possible=16.0)
    references = GapReferences.find([short, long, informed])
    parts = references.split(short)
    assert parts == {
        "gap_attack": 1.0,
        "gap_rows": 3.0,
        "gap_threat": 1.0,
        "gap_bound": 2.0,
        "gap_open": None,
    }
    assert sum(float(part or 0) for part in parts.values()) == pytest.approx(18.0 - 11.0)
    assert references.split(long)["gap_rows"] == 0.0


def test_rows_have_no_part_where_one_length_was_played() -> None:
    short = make_row(1, 11.0)
    other = make_row(50, 14.0, attack="another")
    seen = make_row(50, 14.0, access="measurements")
    parts = GapReferences.find([short, other, seen]).split(short)
    assert parts["gap_rows"] is None and parts["gap_attack"] == 4.0


def test_the_column_is_there_for_synthetic_tables_only() -> None:
    short, long = make_row(1, 11.0), make_row(50, 14.0)
    board = Leaderboard.from_summaries([short, long])
    assert {row["gap_rows"] for row in board.rows} == {0.0, 3.0}
    assert "gap_rows" not in Leaderboard.from_summaries([replace(short, facts={})]).columns
