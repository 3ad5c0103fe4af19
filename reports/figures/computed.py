"""Figures of computed rows: one per suite, with the axes of the paper that it follows.

``computed_curves`` says which values stand where; here they become panels of a static figure.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil
from textwrap import fill

from markupsafe import Markup

from reconbench.benchmarks.computations.axes import Drawing, Quantity
from reconbench.benchmarks.store.summary import Summary
from reconbench.reports.figures.computed_curves import Curve, CurvePanel, Place, collect_panels
from reconbench.reports.figures.series import EndLabels, Look, MarkedLine, Numbers
from reconbench.reports.figures.spreads import Spread, draw_spreads
from reconbench.reports.figures.svg import SOFT, Axis, Boxes, Mark, Panel, Rules, draw_figure
from reconbench.reports.text.templates import printable

# Panels of a suite that are drawn: more of them say nothing that a table does not.
MOST_PANELS = 36
# Of a panel in pixels; the narrow one is for pages, which a phone shows, too.
_WIDTH, _NARROW, _HEIGHT = 300, 240, 230
# Pixels of a bar with its number above it, and between the bars of two names.
_BAR, _GAP, _MOST_BARS = 32, 18, 30
# How far an axis goes beyond bars, for the numbers above them.
_ROOM = 1.08
_COLUMNS, _MOST_WIDTH = 3, 1600
# What is not above this has no place on a logarithmic axis.
_LEAST = 1e-250
# Characters in a line of a name below an axis, and the pixels of one.
_NAME, _CHARACTER = 12, 7.3


def draw_suites(rows: Sequence[Summary]) -> dict[str, str]:
    """A figure per suite with computed rows, by its name: all its panels side by side."""
    figures = {}
    for suite in dict.fromkeys(row.dataset for row in rows if row.computed):
        found = collect_panels(row for row in rows if row.dataset == suite)
        panels = _draw_panels(found[:MOST_PANELS])
        if panels:
            widest = max(panel.outer[0] for panel in panels)
            columns = max(1, min(_COLUMNS, _MOST_WIDTH // widest))
            title = f"{suite}{_count_left_out(found)}"
            figures[suite] = draw_figure(title, _align(panels, columns), _say(panels), columns)
    return figures


@dataclass(frozen=True)
class PanelDrawing:
    """A panel as SVG, for pages as it is; one that is wide scrolls on a narrow page."""

    text: Markup
    wide: bool


@dataclass(frozen=True)
class SuiteDrawing:
    """The panels of a suite, and in words how many there are."""

    panels: tuple[PanelDrawing, ...]
    count: str


def draw_single_panels(rows: Sequence[Summary], suite: str) -> SuiteDrawing:
    """The panels of a suite, each a figure of its own: a page puts them where there is room."""
    found = collect_panels(row for row in rows if row.dataset == suite)
    panels = tuple(
        PanelDrawing(
            Markup(draw_figure(panel.title, [replace(panel, title="")], _say([panel]))),
            panel.width > _WIDTH,
        )
        for panel in _draw_panels(found[:MOST_PANELS], _NARROW)
    )
    count = f"{len(found)} panel{'' if len(found) == 1 else 's'}"
    return SuiteDrawing(panels, f"{count}{_count_left_out(found)}")


def _count_left_out(panels: Sequence[CurvePanel]) -> str:
    more = len(panels) - MOST_PANELS
    return f", the first {MOST_PANELS} of {len(panels)}" if more > 0 else ""


def _align(panels: Sequence[Panel], columns: int) -> list[Panel]:
    """Panels of a column take the same room beside them."""
    rooms = [max(panel.right for panel in panels[i::columns]) for i in range(columns) if panels[i:]]
    return [replace(panel, right=rooms[i % columns]) for i, panel in enumerate(panels)]


def _say(panels: Sequence[Panel]) -> str:
    """What is drawn, in words."""
    return " ".join(f"{panel.title}: {panel.y.label} against {panel.x.label}." for panel in panels)


def _draw_panels(panels: Sequence[CurvePanel], width: int = _WIDTH) -> list[Panel]:
    """Panels with the same axes share their scales; a value looks alike in all."""
    labels = dict.fromkeys(panel.label(curve) for panel in panels for curve in panel.curves)
    looks = {label: Look.of(index) for index, label in enumerate(labels)}
    return [
        _draw_panel(panel, [other for other in panels if other.axes is panel.axes], looks, width)
        for panel in panels
    ]


def _draw_panel(
    panel: CurvePanel, sharing: Sequence[CurvePanel], looks: Mapping[str, Look], width: int
) -> Panel:
    every = [curve for each in sharing for curve in each.curves]
    names = list(dict.fromkeys(x for curve in every for x, _ in curve.points if isinstance(x, str)))
    bars = len(panel.curves) if panel.axes.drawing is Drawing.BARS else 0
    if names:
        x, width = _fit_names(panel.axes.x, names, width, bars * _BAR + _GAP)
    else:
        x = _fit(panel.axes.x, _numbers(every))
    heights = [y for curve in every for _, y in curve.points]
    level = [] if panel.axes.level is None else [panel.axes.level]
    y = _fit(panel.axes.y, [*heights, *level])
    marks: list[Mark] = [*_draw_references(panel, x, y)]
    labels = EndLabels([])
    match panel.axes.drawing:
        case Drawing.BARS:
            marks += _draw_bars(panel, names, looks)
            y = Axis(y.label, 0.0, _ROOM * (max(0.0, *heights) or 1.0))
        case Drawing.INTERVALS:
            marks += _draw_intervals(panel, names, looks, y.high)
        case Drawing.BOXES:
            marks += draw_spreads(_list_spreads(panel))
        case Drawing.LINES:
            lines = [_draw_line(panel, curve, names, looks) for curve in panel.curves]
            labels = EndLabels([(*each.points[-1], each.label, each.look) for each in lines])
            marks += [*lines, labels]
    room = {"right": labels.room} if labels.ends else {}
    return Panel(x, y, marks, panel.title, width, max(_HEIGHT, labels.height), **room)


def _numbers(curves: Iterable[Curve]) -> list[float]:
    return [x for curve in curves for x, _ in curve.points if not isinstance(x, str)]


def _fit(quantity: Quantity, values: Sequence[float]) -> Axis:
    """An axis around the values; logarithmic only where it can show all of them."""
    if quantity.log and min(values) > _LEAST:
        return Axis.covering_log(quantity.title, values)
    ends = [end for end in (quantity.low, quantity.high) if end is not None]
    return Axis.covering(quantity.title, [*values, *ends])


def _fit_names(
    quantity: Quantity, names: Sequence[str], width: int, least: float
) -> tuple[Axis, int]:
    """An axis of names and the width that they need, some left out where that is too much."""
    shown = [fill(printable(name), _NAME, break_on_hyphens=False) for name in names]
    longest = max(len(line) for name in shown for line in name.split("\n"))
    each = max(least, _CHARACTER * longest + 10)
    room = max(width, min(_MOST_WIDTH, ceil(each * len(names))))
    axis = Axis.of_categories(quantity.title, shown)
    every = ceil(each * len(names) / room)
    return replace(axis, ticks=tuple(enumerate(shown))[::every]), room


def _place(x: Place, names: Sequence[str]) -> float:
    return float(names.index(x)) if isinstance(x, str) else x


def _draw_references(panel: CurvePanel, x: Axis, y: Axis) -> list[Mark]:
    """The line on which both quantities are equal, and the one at a height."""
    marks: list[Mark] = []
    if panel.axes.diagonal:
        low, high = max(x.low, y.low), min(x.high, y.high)
        ends = [(low, low, high, high)] if low < high else []
        marks += [Rules(ends, panel.axes.diagonal, SOFT, "2 4", 1.5)]
    if panel.axes.level is not None:
        level = panel.axes.level
        name = f"{panel.axes.y.title} {level:g}"
        marks += [Rules([(x.low, level, x.high, level)], name, SOFT, "2 4", 1.5)]
    return marks


def _draw_line(
    panel: CurvePanel, curve: Curve, names: Sequence[str], looks: Mapping[str, Look]
) -> MarkedLine:
    label = panel.label(curve)
    points = [(_place(x, names), y) for x, y in curve.points]
    return MarkedLine(points, label, looks[label], joined=not names)


def _draw_bars(panel: CurvePanel, names: Sequence[str], looks: Mapping[str, Look]) -> list[Mark]:
    """Bars side by side at each name, their ends marked and numbered."""
    width = 1 / (len(panel.curves) + _GAP / _BAR)
    marks: list[Mark] = []
    for index, curve in enumerate(panel.curves):
        label = panel.label(curve)
        left = (index - len(panel.curves) / 2) * width
        tops = [(_place(x, names) + left + width / 2, y) for x, y in curve.points]
        bars = [(x - 0.42 * width, 0.0, x + 0.42 * width, y) for x, y in tops]
        marks += [
            Boxes(bars, "", looks[label].colour, [0.45] * len(bars), [label] * len(bars)),
            MarkedLine(tops, label, looks[label], label, joined=False),
            *([Numbers(tops)] if len(names) * len(panel.curves) <= _MOST_BARS else []),
        ]
    return marks


def _draw_intervals(
    panel: CurvePanel, names: Sequence[str], looks: Mapping[str, Look], edge: float
) -> list[Mark]:
    """Whiskers from the first value to the third with a mark at the second; marks for others.

    Where only the first is known, nothing bounds the interval: it goes to the edge.
    """
    by_value = {curve.value: curve for curve in panel.curves}
    low, middle, high = (by_value.get(name) for name in panel.axes.values[:3])
    marks: list[Mark] = []
    if middle:
        tops, marked = dict(high.points) if high else {}, dict(middle.points)
        whiskers = [
            (_place(x, names), bottom, _place(x, names), tops.get(x, edge))
            for x, bottom in (low.points if low else ())
            if x in tops or x not in marked
        ]
        look, name = looks[panel.label(middle)], f"{middle.value}, interval"
        middles = [(_place(x, names), y) for x, y in middle.points]
        marks += [
            Rules(whiskers, name, look.colour, width=2.4),
            MarkedLine(middles, name, look, name, joined=False),
        ]
    for name in panel.axes.values[3:]:
        if name in by_value:
            line = _draw_line(panel, by_value[name], names, looks)
            marks.append(MarkedLine(line.points, name, line.look, name, joined=False))
    return marks


def _list_spreads(panel: CurvePanel) -> list[Spread]:
    """The quantiles of what was seen and of what was predicted, by place."""
    found = _list_quantiles(panel, panel.axes.values)
    return [Spread(float(x), quantiles[:5], quantiles[5:10]) for x, quantiles in found]


def _list_quantiles(
    panel: CurvePanel, values: Sequence[str]
) -> list[tuple[Place, tuple[float, ...]]]:
    """These values together, at each place that has all of them."""
    by_value = {curve.value: dict(curve.points) for curve in panel.curves}
    found = [by_value.get(name, {}) for name in values]
    return [(x, tuple(each[x] for each in found)) for x in found[0] if all(x in e for e in found)]
