"""Figures as files: every format, the numbers behind them, and the command that writes them."""

from __future__ import annotations

import csv
import io
import json
import math
import re
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from reconbench.benchmarks.store.summary import Summary, summarise
from reconbench.benchmarks.suites.suite import find_suite
from reconbench.cli import app
from reconbench.missing_package import MissingPackage
from reconbench.reports import Leaderboard, ReportError
from reconbench.reports.figures.chart_specs import fix_looks
from reconbench.reports.figures.charts import list_charts, select_rows
from reconbench.reports.figures.export import (
    Format,
    draw_leaderboard_figures,
    figure_csv,
    figure_data,
)
from reconbench.reports.figures.roles import ATTACK_COLOURS, ROLE_COLOURS


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
    assert [float(each["expected_success"]) for each in found] == [
        row["expected_success"] for row in rows
    ]
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
        if chart.name in ("success", "split", "time"):
            continue
        steps = [each for each in chart.spec["transform"] if "calculate" in each]
        found = {each["as"]: each["calculate"] for each in steps}
        named = found["group"]
        for part in ("panel", "budget", "who"):
            named = named.replace(f"datum.{part}", found[part])
        assert [each for each in chart.alike if f"datum.{each}" not in named] == [], chart.name


def find_scales(spec: object) -> list[tuple[list[str], list[str]]]:
    """Colours and shapes of every mark that tells series apart by both."""
    if isinstance(spec, list):
        return [found for part in spec for found in find_scales(part)]
    if not isinstance(spec, dict):
        return []
    here = []
    shape = spec.get("shape")
    if "color" in spec and isinstance(shape, dict) and "range" in shape.get("scale", {}):
        here = [(spec["color"]["scale"]["range"], shape["scale"]["range"])]
    return here + [found for part in spec.values() for found in find_scales(part)]


def test_no_two_bounds_share_colour_and_mark(bounded: Summary) -> None:
    """A scale repeats its range: bound i has colour i mod 7 and shape i mod 8, attacks mod 5."""
    scales = [
        found
        for chart in list_charts(Leaderboard.from_summaries([bounded]).columns)
        for found in find_scales(chart.spec)
    ]
    assert len(scales) > 5
    for colours, shapes in scales:
        most = 40
        looks = {(colours[i % len(colours)], shapes[i % len(shapes)]) for i in range(most)}
        assert len(looks) == most


def find_colours(spec: object) -> set[str]:
    """Colours that a drawing states itself, outside scales."""
    if isinstance(spec, list):
        return {found for part in spec for found in find_colours(part)}
    if not isinstance(spec, dict):
        return set()
    mark = spec.get("mark")
    here = {mark["color"]} if isinstance(mark, dict) and "color" in mark else set()
    return here | {found for part in spec.values() for found in find_colours(part)}


def test_what_limits_attacks_is_grey_and_no_attack_is(bounded: Summary) -> None:
    def chroma(colour: str) -> int:
        parts = [int(colour[start : start + 2], 16) for start in (1, 3, 5)]
        return max(parts) - min(parts)

    assert max(map(chroma, ROLE_COLOURS.values())) < 25
    assert min(map(chroma, ATTACK_COLOURS)) > 60
    charts = {c.name: c for c in list_charts(Leaderboard.from_summaries([bounded]).columns)}
    for name in ("success", "epsilon", "columns", "within", "n", "k"):
        assert find_colours(charts[name].spec) == set()
        styles = set(re.findall(r'"style": "([a-z-]+)"', json.dumps(charts[name].spec)))
        assert styles == set(ROLE_COLOURS)
        assert {role.removesuffix("-line") for role in charts[name].roles} == styles


def test_attacks_keep_their_looks_in_every_figure(board: Leaderboard) -> None:
    """The legend lists what is drawn, while colours follow the ranking of all attacks."""
    attacks = ["b", "a", "prior"]
    for chart in list_charts(board.columns):
        fixed = json.dumps(fix_looks(chart.spec, attacks, ["a"]))
        if '"field": "who", "legend"' in fixed:
            assert '"domain": ["b", "a", "prior"]' in fixed, chart.name
            assert '"values": ["a"]' in fixed, chart.name


def test_panels_with_most_to_gain_come_first(bounded: Summary) -> None:
    rows = [
        replace(bounded, targets=(f"c{place}",), ceilings={"prior-exact": {"mean": 50.0 + place}})
        for place in (3, 9, 1)
    ]
    board = Leaderboard.from_summaries(rows)
    chosen, left = select_rows(replace(list_charts(board.columns)[0], most=2), board.rows)
    assert [row["targets"] for row in chosen] == ["c9", "c3"] and left == 1


@pytest.fixture(scope="module")
def computed() -> Leaderboard:
    points = [p for suite in ("kulynych-fig3", "riess-fig3") for p in find_suite(suite).points()]
    return Leaderboard.from_summaries(summarise([point.row() for point in points]))


def test_computed_figures_come_per_suite_and_need_no_converter(
    computed: Leaderboard, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    found = {e.name: e.content for e in draw_leaderboard_figures(computed, [Format.SVG])}
    assert set(found) == {
        f"computed-{suite}.{end}"
        for suite in ("kulynych-fig3", "riess-fig3")
        for end in ("svg", "csv")
    }
    lines = list(
        csv.DictReader(io.StringIO(found["computed-kulynych-fig3.csv"].decode(), newline=""))
    )
    assert len(lines) == 36 and {line["baseline"] for line in lines} == {
        "0.01",
        "0.1",
        "worst-case",
    }
    rows = [row for row in computed.summaries if row.dataset == "kulynych-fig3"]
    assert [float(line["value_f-dp"]) for line in lines] == [
        row.ceilings["f-dp"]["mean"] for row in rows
    ]
    names = found["computed-kulynych-fig3.csv"].decode().partition("\r\n")[0].split(",")
    assert len(set(names)) == len(names)
    assert [float(line["epsilon"]) for line in lines] == [row.epsilon for row in rows]
    assert lines[0]["value_approx"] == "" and lines[-1]["value_approx"] != ""
    with pytest.raises(MissingPackage, match=r"pip install 'reconbench\[figures\]'"):
        list(draw_leaderboard_figures(computed, [Format.PNG]))


def test_computed_figures_come_in_every_format(computed: Leaderboard) -> None:
    odd = Leaderboard.from_summaries([replace(computed.summaries[0], dataset="../a b")])
    found = {each.name: each.content for each in draw_leaderboard_figures(odd, list(Format))}
    assert list(found) == [f"computed-.._a_b.{end}" for end in ("csv", "svg", "png", "pdf")]
    starts = {"svg": b"<svg", "png": b"\x89PNG", "pdf": b"%PDF", "csv": b"metric,"}
    for name, content in found.items():
        assert content.startswith(starts[name.rpartition(".")[2]]), name


def test_formats_are_checked() -> None:
    assert Format.parse_list("SVG, pdf,svg") == (Format.SVG, Format.PDF)
    for text in ("gif", "svg,gif", "", ","):
        with pytest.raises(ReportError, match="svg, png, pdf"):
            Format.parse_list(text)


def test_without_the_converter_the_error_says_what_to_install(
    board: Leaderboard, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    with pytest.raises(MissingPackage, match=r"pip install 'reconbench\[figures\]'"):
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


def test_the_command_draws_computations_with_the_axes_of_the_paper(tmp_path: Path) -> None:
    store, out = tmp_path / "store", tmp_path / "figures"
    command = ["run", "kulynych-fig2", "--out", str(store), "--quiet"]
    assert CliRunner().invoke(app, command).exit_code == 0
    done = CliRunner().invoke(app, ["report", "figures", str(store), "--out", str(out)])
    assert done.exit_code == 0, done.output
    names = {path.name for path in out.iterdir()}
    assert names == {"computed-kulynych-fig2.svg", "computed-kulynych-fig2.csv"}
    text = (out / "computed-kulynych-fig2.svg").read_text(encoding="utf-8")
    assert "risk: success − baseline" in text
    titles = [
        f"{noise}, {n} records" for noise in ("gaussian", "laplace") for n in ("500", "1,000")
    ]
    places = [text.index(f">{title}<") for title in titles]
    assert places == sorted(places), "panels keep the order of the suite"


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
