"""Figures as files: every format, the numbers behind them, and the command that writes them."""

from __future__ import annotations

import csv
import io
import math
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from reconbench.benchmarks.store.summary import Summary
from reconbench.cli import app
from reconbench.reports import Leaderboard, ReportError
from reconbench.reports.figures.charts import list_charts, select_rows
from reconbench.reports.figures.export import (
    Format,
    draw_leaderboard_figures,
    figure_csv,
    figure_data,
)


@pytest.fixture
def board(bounded: Summary) -> Leaderboard:
    row = replace(bounded, best_possible=55.0, best_possible_converged=True)
    return Leaderboard.from_summaries([row, replace(row, epsilon=math.inf, attack="'\"<b>=1")])


def test_every_figure_comes_in_every_format_with_its_numbers(board: Leaderboard) -> None:
    found = {each.name: each.content for each in draw_leaderboard_figures(board, list(Format))}
    names = {name.partition(".")[0] for name in found}
    assert names == {"success", "epsilon", "heat", "split", "time", "bounds"}
    starts = {"svg": b"<svg", "png": b"\x89PNG", "pdf": b"%PDF", "csv": b"dataset,"}
    for name, content in found.items():
        assert content.startswith(starts[name.rpartition(".")[2]]), name
    assert b"&lt;b>" in found["success.svg"] or b"&lt;b&gt;" in found["success.svg"]
    assert b"<b>" not in found["success.svg"]


def test_the_numbers_are_those_of_the_board(board: Leaderboard) -> None:
    first = list_charts(board.columns)[0]
    rows, _ = select_rows(first, board.rows)
    found = list(csv.DictReader(io.StringIO(figure_csv(first, rows), newline="")))
    assert [float(each["success"]) for each in found] == [row["success"] for row in rows]
    assert [each["epsilon"] for each in found] == ["1.0", "inf"]
    data = figure_data(first, rows)
    assert [each["epsilon"] for each in data] == [1.0, None]
    assert data[0]["tightest_0_95"] == 77.0


def test_a_sweep_holds_what_else_is_known_fixed(bounded: Summary) -> None:
    """One column with all others known, and with three: two games, not one line."""
    other = replace(bounded, known=(*bounded.known, "ESP"), epsilon=3.0)
    by_epsilon = next(
        each
        for each in list_charts(Leaderboard.from_summaries([bounded]).columns)
        if each.name == "epsilon"
    )
    assert select_rows(by_epsilon, Leaderboard.from_summaries([bounded, other]).rows)[0] == []
    swept = [bounded, replace(bounded, epsilon=3.0), other]
    rows, _ = select_rows(by_epsilon, Leaderboard.from_summaries(swept).rows)
    assert {row["known"] for row in rows} == {len(bounded.known)} and len(rows) == 2


def test_rows_share_a_panel_only_if_they_agree(bounded: Summary) -> None:
    """Whatever keeps groups of rows apart is in the name of their panel, or lines would mix."""
    for chart in list_charts(Leaderboard.from_summaries([bounded]).columns):
        if not chart.played or chart.name in ("success", "split", "time"):
            continue
        steps = [each for each in chart.spec["transform"] if "calculate" in each]
        found = {each["as"]: each["calculate"] for each in steps}
        named = found["group"]
        for part in ("panel", "budget", "who"):
            named = named.replace(f"datum.{part}", found[part])
        assert [each for each in chart.alike if f"datum.{each}" not in named] == [], chart.name


def test_formats_are_checked() -> None:
    assert Format.parse_list("SVG, pdf,svg") == (Format.SVG, Format.PDF)
    for text in ("gif", "svg,gif", "", ","):
        with pytest.raises(ReportError, match="svg, png, pdf"):
            Format.parse_list(text)


def test_without_the_converter_the_error_says_what_to_install(
    board: Leaderboard, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    with pytest.raises(ReportError, match=r"pip install 'reconbench\[figures\]'"):
        list(draw_leaderboard_figures(board, [Format.SVG]))


SUITE = """
name = "tiny"
description = "one column at two budgets"
repetitions = 2
attacks = ["prior"]

[[games]]
dataset = "acs"
targets = ["SEX"]
n = 5
epsilon = [1, 2]
"""


def test_the_command_writes_the_figures_of_a_store(tmp_path: Path) -> None:
    suite, store, out = tmp_path / "tiny.toml", tmp_path / "store", tmp_path / "new" / "figures"
    suite.write_text(SUITE, encoding="utf-8")
    command = ["run", str(suite), "--out", str(store), "--jobs", "1", "--quiet"]
    assert CliRunner().invoke(app, command).exit_code == 0
    done = CliRunner().invoke(app, ["report", "figures", str(store), "--out", str(out)])
    assert done.exit_code == 0, done.output
    names = {path.name for path in out.iterdir()}
    assert {"success.svg", "success.csv", "epsilon.svg", "epsilon.csv"} <= names
    assert set(done.output.split()) == {str(out / name) for name in names}


def test_bad_input_is_a_user_error(tmp_path: Path) -> None:
    for arguments, said in (
        (["--format", "gif"], "gif"),
        ([], "no result store"),
    ):
        command = ["report", "figures", str(tmp_path), "--out", str(tmp_path / "f"), *arguments]
        done = CliRunner().invoke(app, command)
        assert isinstance(done.exception, ValueError)
        assert said in str(done.exception)
    assert not (tmp_path / "f").exists()
