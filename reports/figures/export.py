"""The figures of a leaderboard as files for papers: SVG, PNG, PDF, and the CSV behind each."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from importlib import import_module
from textwrap import wrap
from typing import Any

from reconbench.benchmarks.store.summary import MEAN
from reconbench.missing_package import needed_by
from reconbench.reports.figures.chart_specs import SOURCE, field_name, fix_looks, role_styles
from reconbench.reports.figures.charts import Chart, list_charts, select_rows
from reconbench.reports.figures.computed import draw_suites
from reconbench.reports.figures.overview import label_row
from reconbench.reports.figures.roles import GUESSING, list_looks
from reconbench.reports.leaderboard.columns.dictionary import ReportError, Value
from reconbench.reports.leaderboard.table import Leaderboard, format_csv
from reconbench.reports.text.templates import printable

PIXELS_PER_POINT = 2.0
# The most characters in a line of a figure's caption.
_CAPTION_WIDTH = 90


class Format(StrEnum):
    SVG = "svg"
    PNG = "png"
    PDF = "pdf"

    @classmethod
    def parse_list(cls, text: str) -> tuple[Format, ...]:
        """Read ``svg,png`` as formats, each once."""
        names = [part.strip().lower() for part in text.split(",") if part.strip()]
        known = [each.value for each in cls]
        odd = [name for name in names if name not in known]
        if odd or not names:
            raise ReportError(
                f"format {(odd or [text])[0]!r} is unknown: give one or more of "
                f"{', '.join(known)}, comma-separated"
            )
        return tuple(cls(name) for name in dict.fromkeys(names))


@dataclass(frozen=True)
class FigureFile:
    """A file to write: its name, and its content."""

    name: str
    content: bytes


def figure_data(chart: Chart, rows: Sequence[Mapping[str, Value]]) -> list[dict[str, Value]]:
    """What Vega-Lite draws: the chart's columns under plain names; an infinite ε is null."""
    return [
        {field_name(name): _make_plain(row.get(name)) for name in chart.columns} for row in rows
    ]


def figure_csv(chart: Chart, rows: Sequence[Mapping[str, Value]]) -> str:
    """The numbers behind a figure, with the names of the leaderboard's columns."""
    here = [name for name in chart.columns if any(row.get(name) is not None for row in rows)]
    return format_csv([here, *([row.get(name) for name in here] for row in rows)])


def draw_leaderboard_figures(
    leaderboard: Leaderboard, formats: Sequence[Format]
) -> Iterator[FigureFile]:
    """Draw every figure that the rows allow, in each format, with its numbers as CSV.

    Figures of computed rows come first: as SVG they need no converter.
    """
    yield from _draw_computed_figures(leaderboard, formats)
    yield from _draw_played_figures(leaderboard, formats)


def _draw_computed_figures(
    leaderboard: Leaderboard, formats: Sequence[Format]
) -> Iterator[FigureFile]:
    """One figure per suite, after the figures of the paper."""
    for suite, drawing in draw_suites(leaderboard.summaries).items():
        name = f"computed-{re.sub(r'[^0-9A-Za-z._-]', '_', suite)}"
        yield FigureFile(f"{name}.csv", _format_computed(leaderboard, suite).encode())
        for form in formats:
            yield FigureFile(f"{name}.{form}", convert_svg(drawing, form))


def _format_computed(leaderboard: Leaderboard, suite: str) -> str:
    """What was asked for and what came out, a line per row."""
    rows = [row for row in leaderboard.summaries if row.computed and row.dataset == suite]
    told = ("metric", "column", "mechanism", "guarantee", "epsilon", "delta")
    options = dict.fromkeys(name for row in rows for name in row.attack_options)
    asked = [name for name in options if name not in told]
    values = list(dict.fromkeys(name for row in rows for name in row.ceilings))
    head = [*told, *asked]
    lines = [
        [
            *(getattr(row, name) for name in told),
            *(row.attack_options.get(name) for name in asked),
            *(row.ceilings.get(name, {}).get(MEAN) for name in values),
        ]
        for row in rows
    ]
    return format_csv([[*head, *(f"value_{name}" for name in values)], *lines])


def _draw_played_figures(
    leaderboard: Leaderboard, formats: Sequence[Format]
) -> Iterator[FigureFile]:
    for chart, rows in _choose_charts(leaderboard):
        yield FigureFile(f"{chart.name}.csv", figure_csv(chart, rows).encode())
        spec = _write_spec(chart, rows, leaderboard)
        for form in formats:
            yield FigureFile(f"{chart.name}.{form}", _render(_import_converter(), spec, form))


def list_figures(leaderboard: Leaderboard) -> dict[str, str]:
    """The figures that the rows allow: their titles by name."""
    return {chart.name: chart.title for chart, _ in _choose_charts(leaderboard)}


def draw_leaderboard_figure(leaderboard: Leaderboard, name: str) -> str:
    """Draw one figure as SVG."""
    chosen = {chart.name: (chart, rows) for chart, rows in _choose_charts(leaderboard)}
    if name not in chosen:
        raise ReportError(f"no figure {name!r} can be drawn; there are {', '.join(chosen)}")
    spec = _write_spec(*chosen[name], leaderboard)
    return _render(_import_converter(), spec, Format.SVG).decode()


_Rows = list[Mapping[str, Value]]


def _choose_charts(leaderboard: Leaderboard) -> Iterator[tuple[Chart, _Rows]]:
    """The charts that the rows allow, each with those that it draws."""
    for chart in list_charts(leaderboard.columns):
        rows, _ = select_rows(chart, leaderboard.rows)
        if rows:
            yield chart, rows


def _write_spec(chart: Chart, rows: _Rows, leaderboard: Leaderboard) -> str:
    """The Vega-Lite specification of a chart, with its data."""
    attacks = [look.attack for look in list_looks(a.attack for a in leaderboard.ranking)]
    spec = {
        "$schema": "https://vega.github.io/schema/vega-lite/v6.json",
        "background": "white",
        "config": {
            "font": "sans-serif",
            "view": {"stroke": "#cccccc"},
            "style": role_styles(),
        },
        **fix_looks(chart.spec, [*map(printable, attacks)], _list_drawn(chart, attacks, rows)),
        "title": {
            "text": chart.title,
            "subtitle": wrap(chart.reads, _CAPTION_WIDTH),
            "subtitleColor": "#555555",
            "anchor": "start",
        },
        "data": {"name": SOURCE, "values": figure_data(chart, rows)},
    }
    return json.dumps(spec)


def convert_svg(svg: str, form: Format) -> bytes:
    """A static figure in another format."""
    if form is Format.SVG:
        return svg.encode()
    converter = _import_converter()
    if form is Format.PNG:
        return bytes(converter.svg_to_png(svg, scale=PIXELS_PER_POINT))
    return bytes(converter.svg_to_pdf(svg))


def _list_drawn(
    chart: Chart, attacks: Sequence[str], rows: Sequence[Mapping[str, Value]]
) -> list[str]:
    """The attacks in the legend; figures of records draw guessing as a line of its own."""
    here = {label_row(row) for row in rows if not (chart.measure and row["attack"] == GUESSING)}
    return [printable(attack) for attack in attacks if attack in here]


def _render(converter: Any, spec: str, form: Format) -> bytes:
    if form is Format.SVG:
        return str(converter.vegalite_to_svg(spec)).encode()
    if form is Format.PNG:
        return bytes(converter.vegalite_to_png(spec, scale=PIXELS_PER_POINT))
    return bytes(converter.vegalite_to_pdf(spec))


def _import_converter() -> Any:
    instead = "save them from the page leaderboard.html"
    with needed_by("saving figures", "vl_convert", extra="figures", instead=instead):
        return import_module("vl_convert")


def _make_plain(value: Value) -> Value:
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return printable(value) if isinstance(value, str) else value
