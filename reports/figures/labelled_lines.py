"""Curves over one parameter, each with a colour, a dash, a marker and its name at its end."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from math import ceil, floor, log10
from xml.etree.ElementTree import Element

from reconbench.reports.figures.roles import ATTACK_SHAPES
from reconbench.reports.figures.svg import (
    DASHES,
    PALETTE,
    SOFT,
    Axis,
    Frame,
    Mark,
    Panel,
    Rules,
    draw_figure,
)
from reconbench.reports.leaderboard.columns.dictionary import ReportError

_OUTLINES = tuple(ATTACK_SHAPES.values())
# Points of a curve between two of its markers, and pixels between two names.
_STRIDE, _LINE = 6, 16
_CHARACTER, _LEADER = 7.0, 18


@dataclass(frozen=True)
class MarkedLine:
    """A line with a marker on every few points; a ``y`` of None is a gap."""

    points: Sequence[tuple[float, float | None]]
    name: str
    look: int

    @property
    def colour(self) -> str:
        return PALETTE[self.look % len(PALETTE)]

    def style(self) -> dict[str, str]:
        dash = DASHES[self.look % len(DASHES)]
        return {
            "stroke": self.colour,
            "stroke-width": "2.2",
            "stroke-dasharray": dash,
            "fill": "none",
        }

    def shapes(self, frame: Frame) -> Iterator[Element]:
        for gap, piece in groupby(self.points, key=lambda point: point[1] is None):
            if not gap:
                places = [frame.place(x, y) for x, y in piece if y is not None]
                joined = " ".join(f"{x:g},{y:g}" for x, y in places)
                yield Element("polyline", points=joined)
        outline = _OUTLINES[self.look % len(_OUTLINES)]
        # Each line starts with another point, so that lines that coincide show all their markers.
        first = self.look % _STRIDE if len(self.points) > _STRIDE else 0
        for x, y in self.points[first::_STRIDE]:
            if y is not None:
                across, down = frame.place(x, y)
                yield Element(
                    "path",
                    {
                        "d": outline,
                        "transform": f"translate({across:g} {down:g})",
                        "fill": self.colour,
                        "stroke": "#fff",
                        "stroke-width": "1",
                        "stroke-dasharray": "none",
                    },
                )

    def sample(self) -> MarkedLine:
        # The marker of a line of three points is on its first, so that one is in the middle.
        return replace(self, points=((0.5, 0.5), (0, 0.5), (1, 0.5)))


@dataclass(frozen=True)
class EndNames:
    """The names of lines beside the panel, at the height where each ends, none on another."""

    ends: Sequence[tuple[str, float, float]]

    name: str = ""

    def style(self) -> dict[str, str]:
        return {"stroke-width": "1", "stroke": SOFT}

    def shapes(self, frame: Frame) -> Iterator[Element]:
        right = frame.left + frame.width
        placed = sorted(
            ((frame.place(x, y), name) for name, x, y in self.ends), key=lambda each: each[0][1]
        )
        heights = _spread([place[1] for place, _ in placed], frame.top, frame.top + frame.height)
        for ((x, y), name), height in zip(placed, heights, strict=True):
            leader = f"M{x:g} {y:g}L{right + _LEADER - 4:g} {height:g}"
            yield Element("path", d=leader, fill="none")
            text = Element("text", x=f"{right + _LEADER:g}", y=f"{height + 4.5:g}", stroke="none")
            text.text = name
            yield text

    def sample(self) -> EndNames:
        return self


def _spread(heights: Sequence[float], top: float, bottom: float) -> list[float]:
    """The heights, moved apart to a line's distance; beyond the bottom all move up."""
    placed: list[float] = []
    for height in heights:
        placed.append(max(height, placed[-1] + _LINE) if placed else max(height, top))
    limit = bottom
    for index in reversed(range(len(placed))):
        placed[index] = min(placed[index], limit)
        limit = placed[index] - _LINE
    return placed


def log_axis(label: str, low: float, high: float) -> Axis:
    """A logarithmic axis; on few decades with ticks at 1, 2 and 5 of each."""
    decades = range(floor(log10(low)), ceil(log10(high)) + 1)
    steps = (1, 2, 5) if len(decades) <= 5 else (1,)
    ticks = [step * 10.0**power for power in decades for step in steps]
    inside = [(tick, f"{tick:g}") for tick in ticks if low <= tick <= high]
    every = ceil(len(inside) / 8) or 1
    return Axis(label, low, high, inside[::every], log=True)


def lines_svg(
    title: str,
    x: Axis,
    y_label: str,
    across: Sequence[float],
    series: Mapping[str, Sequence[float | None]],
    *,
    stated: tuple[float, str] | None = None,
    log: bool = False,
) -> str:
    """Draw curves over a parameter as the text of an SVG file, to be written as UTF-8.

    Args:
        title: what is drawn.
        x: the axis across.
        y_label: what the values are.
        across: the parameter's values.
        series: one value per value of the parameter, by name; None is a gap.
        stated: a value of the parameter to mark with a vertical line, and its name.
        log: a logarithmic axis up, for positive values.
    """
    values = [value for line in series.values() for value in line if value is not None]
    if not values:
        raise ReportError("series must have at least one value: there is nothing to draw")
    for name, line in series.items():
        if len(line) != len(across):
            raise ReportError(f"series {name!r} has {len(line)} values for {len(across)} across")
    y = (
        log_axis(y_label, min(values) / 1.2, max(values) * 1.2)
        if log
        else Axis.covering(y_label, [0.0, *values])
    )
    lines = [
        MarkedLine(list(zip(across, line, strict=True)), name, look)
        for look, (name, line) in enumerate(series.items())
    ]
    ends = [
        (line.name, *last)
        for line in lines
        if (last := next(((a, b) for a, b in reversed(line.points) if b is not None), None))
    ]
    marks: list[Mark] = [*lines, EndNames(ends)]
    if stated is not None:
        value, name = stated
        marks.insert(0, Rules([(value, y.low, value, y.high)], name, SOFT, "2 3", 1.5))
    room = _LEADER + int(max(len(name) for name, _, _ in ends) * _CHARACTER)
    panel = Panel(x, y, marks, width=520, height=380, beside=room)
    listed = ", ".join(series)
    return draw_figure(title, [panel], f"Across: {x.label}. Up: {y_label}. Lines: {listed}.")
