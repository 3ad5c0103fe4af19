"""The figures of a leaderboard as files for papers: SVG, PNG, PDF, and the CSV behind each."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from importlib import import_module
from textwrap import wrap
from typing import Any

from reconbench.reports.figures.charts import SOURCE, Chart, charts, chosen, field
from reconbench.reports.leaderboard.columns import ReportError, Value
from reconbench.reports.leaderboard.table import Board, as_csv
from reconbench.reports.text.templates import printable

PIXELS_A_POINT = 2.0
# Letters in a line of the caption within a figure.
LINE = 90


class Format(StrEnum):
    SVG = "svg"
    PNG = "png"
    PDF = "pdf"

    @classmethod
    def several(cls, text: str) -> tuple[Format, ...]:
        """``svg,png`` as formats, each once."""
        names = [part.strip().lower() for part in text.split(",") if part.strip()]
        known = [each.value for each in cls]
        odd = [name for name in names if name not in known]
        if odd or not names:
            raise ReportError(
                f"format {(odd or [text])[0]!r} is unknown: give some of {', '.join(known)}, "
                "separated by commas"
            )
        return tuple(cls(name) for name in dict.fromkeys(names))


@dataclass(frozen=True)
class Drawn:
    """A file to write: its name, and its content."""

    name: str
    content: bytes


def figure_data(chart: Chart, rows: Sequence[Mapping[str, Value]]) -> list[dict[str, Value]]:
    """What Vega-Lite draws: the chart's columns under plain names; an infinite ε is null."""
    return [{field(name): _plain(row.get(name)) for name in chart.columns} for row in rows]


def figure_csv(chart: Chart, rows: Sequence[Mapping[str, Value]]) -> str:
    """The numbers behind a figure, with the names of the leaderboard's columns."""
    here = [name for name in chart.columns if any(row.get(name) is not None for row in rows)]
    return as_csv([here, *([row.get(name) for name in here] for row in rows)])


def drawn(board: Board, formats: Sequence[Format]) -> Iterator[Drawn]:
    """Every figure that the rows allow, in each format and as CSV."""
    draw = _converter()
    for chart in charts(board.columns):
        rows, _ = chosen(chart, board.rows)
        if not rows:
            continue
        yield Drawn(f"{chart.name}.csv", figure_csv(chart, rows).encode())
        spec = {
            "$schema": "https://vega.github.io/schema/vega-lite/v6.json",
            "background": "white",
            "config": {"font": "sans-serif", "view": {"stroke": "#cccccc"}},
            **chart.spec,
            "title": {
                "text": chart.title,
                "subtitle": wrap(chart.reads, LINE),
                "subtitleColor": "#555555",
                "anchor": "start",
            },
            "data": {"name": SOURCE, "values": figure_data(chart, rows)},
        }
        for each in formats:
            yield Drawn(f"{chart.name}.{each}", _rendered(draw, json.dumps(spec), each))


def _rendered(draw: Any, spec: str, form: Format) -> bytes:
    if form is Format.SVG:
        return str(draw.vegalite_to_svg(spec)).encode()
    if form is Format.PNG:
        return bytes(draw.vegalite_to_png(spec, scale=PIXELS_A_POINT))
    return bytes(draw.vegalite_to_pdf(spec))


def _converter() -> Any:
    try:
        return import_module("vl_convert")
    except ImportError:
        raise ReportError(
            "figures as files need vl-convert: pip install 'reconbench[figures]'; the page "
            "leaderboard.html saves its figures without it"
        ) from None


def _plain(value: Value) -> Value:
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return printable(value) if isinstance(value, str) else value
