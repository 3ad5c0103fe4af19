"""The first picture of a leaderboard on which only bounds were computed: a few panels of curves."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from reconbench.reports.figures.charts import GIVEN, Chart, list_charts, select_rows
from reconbench.reports.figures.svg import DASHES, PALETTE, Axis, Dots, Line, Panel, draw_figure
from reconbench.reports.leaderboard.columns import Value
from reconbench.reports.text.number_format import brief

Row = Mapping[str, Value]
# Panels that are drawn, and their size in pixels: they fit a phone.
MOST = 4
_WIDTH, _HEIGHT = 250, 190


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
        return ComputedOverview(
            tuple(_draw_panel(chart, group, values) for group in kept),
            left_out + len(groups) - len(kept),
        )
    return None


def _draw_panel(chart: Chart, rows: Sequence[Row], columns: Sequence[str]) -> str:
    places = list(dict.fromkeys(row[chart.varies] for row in rows))
    named = any(isinstance(place, str) for place in places)
    points: dict[str, list[tuple[float, float]]] = {}
    for row in rows:
        at = row[chart.varies]
        x = float(places.index(at)) if named else float(at or 0.0)
        for name in columns:
            value = row.get(name)
            if value is not None:
                points.setdefault(name.removeprefix("value_"), []).append((x, float(value)))
    xs = [x for line in points.values() for x, _ in line]
    label = {"epsilon": "privacy budget ε", "value_risk": "risk that is allowed"}.get(
        chart.varies, chart.varies.removeprefix("value_")
    )
    log = chart.varies == "epsilon" and min(xs) > 0
    axis = (
        Axis.of_categories("", [brief(str(place), 9) for place in places])
        if named
        else Axis(label, min(xs), max(xs), log=log)
    )
    first = rows[0]
    baseline = first.get("value_baseline")
    title = f"{first['dataset']}, {first['metric']}"
    about = f"{first['mechanism']}, baseline {float(baseline or 0.0):.3g}"
    marks: list[Line | Dots] = []
    for index, (name, line) in enumerate(points.items()):
        colour, dash = PALETTE[index % len(PALETTE)], DASHES[index % len(DASHES)]
        ordered = sorted(line)
        marks.append(Dots(ordered, name, colour) if named else Line(ordered, name, colour, dash))
    height = Axis.covering("", [y for line in points.values() for _, y in line])
    panel = Panel(axis, height, marks, about, _WIDTH, _HEIGHT)
    return draw_figure(title, [panel], f"Values of {len(points)} bounds against {label}.")
