"""The first picture of a leaderboard on which only bounds were computed: a few panels of curves."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from reconbench.reports.figures.charts import GIVEN, Chart, list_charts, select_rows
from reconbench.reports.figures.svg import DASHES, PALETTE, Axis, Dots, Line, Panel, draw_figure
from reconbench.reports.leaderboard.columns.dictionary import Value
from reconbench.reports.text.number_format import brief

Row = Mapping[str, Value]
# Panels that are drawn, and their size in pixels: they fit a phone.
MOST = 3
_WIDTH, _HEIGHT = 250, 190
_TITLES = {"epsilon": "privacy budget ε", "value_risk": "risk that is allowed", "targets": "level"}
_Points = Mapping[str, Sequence[tuple[float, float]]]


@dataclass(frozen=True)
class ComputedOverview:
    """Drawings as SVG text, and how many panels have no room."""

    drawings: tuple[str, ...]
    left_out: int


def draw_computed_overview(
    rows: Sequence[Row], columns: Collection[str]
) -> ComputedOverview | None:
    """Draw the first figure of computed values that these rows allow, without a script."""
    for chart in list_charts(columns):
        chosen, left_out = ([], 0) if chart.played else select_rows(chart, rows)
        if not chosen:
            continue
        groups: dict[tuple[Value, ...], list[Row]] = {}
        for row in chosen:
            groups.setdefault(tuple(row[name] for name in chart.alike), []).append(row)
        values = [name for name in columns if name.startswith("value_") and name not in GIVEN]
        kept = list(groups.values())[:MOST]
        several = len({row["dataset"] for row in chosen}) > 1
        return ComputedOverview(
            tuple(_draw_panel(chart, group, values, several=several) for group in kept),
            left_out + len(groups) - len(kept),
        )
    return None


def _draw_panel(chart: Chart, rows: Sequence[Row], columns: Sequence[str], *, several: bool) -> str:
    """Curves, or one line of dots per name where what varies is no number."""
    places = list(dict.fromkeys(row[chart.varies] for row in rows))
    named = any(isinstance(place, str) for place in places)
    points: dict[str, list[tuple[float, float]]] = {}
    for row in rows:
        at = row[chart.varies]
        place = float(places.index(at)) if named else float(at or 0.0)
        for name in columns:
            value = row.get(name)
            if value is not None:
                points.setdefault(name.removeprefix("value_"), []).append((place, float(value)))
    first = rows[0]
    title = f"{first['dataset']}: {first['metric']}" if several else str(first["metric"])
    about = f"{first['mechanism']}, baseline {float(first.get('value_baseline') or 0.0):.3g}"
    label = _TITLES.get(chart.varies, chart.varies.removeprefix("value_"))
    panel = (
        _draw_names([brief(str(place), 9) for place in places], points, about)
        if named
        else _draw_curves(label, points, about, log=chart.varies == "epsilon")
    )
    return draw_figure(title, [panel], f"Values of {len(points)} bounds against {label}.")


def _draw_curves(label: str, points: _Points, about: str, *, log: bool) -> Panel:
    xs = [x for line in points.values() for x, _ in line]
    ys = [y for line in points.values() for _, y in line]
    marks = [
        Line(sorted(line), name, PALETTE[index % len(PALETTE)], DASHES[index % len(DASHES)])
        for index, (name, line) in enumerate(points.items())
    ]
    x = Axis(label, min(xs), max(xs), log=log and min(xs) > 0)
    return Panel(x, Axis.covering("", ys), marks, about, _WIDTH, _HEIGHT)


def _draw_names(names: Sequence[str], points: _Points, about: str) -> Panel:
    lines = Axis("", len(names) - 0.5, -0.5, tuple(enumerate(names)))
    xs = [value for line in points.values() for _, value in line]
    marks = [
        Dots([(value, place) for place, value in line], name, PALETTE[index % len(PALETTE)])
        for index, (name, line) in enumerate(points.items())
    ]
    x = Axis.covering("value of the bound", xs)
    return Panel(x, lines, marks, about, _WIDTH, max(_HEIGHT, 22 * len(names)))
