"""The first picture of a leaderboard as one SVG file, for notebooks and papers.

It shows what ``overview`` lays out for the page: a line per choice of hidden columns, a panel per
budget, and records gained over guessing from the prior, per 100.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from reconbench.reports.figures.overview import Group, Mark, Overview, Plot, build_overview
from reconbench.reports.figures.roles import ATTACK_COLOURS, ROLE_COLOURS, Look
from reconbench.reports.figures.svg import (
    Axis,
    Boxes,
    Dots,
    Panel,
    Rules,
    draw_figure,
)
from reconbench.reports.figures.svg import Mark as SvgMark
from reconbench.reports.leaderboard.columns.dictionary import Value
from reconbench.reports.text.number_format import brief

TITLE = "Records gained over guessing from the prior, per 100"
CEILING, BEST, GUESSING = "ceiling on the mean", "best possible", "guessing from the prior"
# Panels side by side, their width, the height of a line, and the most letters of its name.
_COLUMNS, _WIDTH, _LINE, _NAME = 3, 240, 34, 10
_BAR, _TICK = "#d9dde2", 0.36


def draw_static_overview(rows: Sequence[Mapping[str, Value]], attacks: Sequence[str]) -> str | None:
    """Draw the picture as SVG; ``attacks`` are ordered as ranked. None if no attack finished."""
    overview = build_overview(rows, attacks)
    if overview is None:
        return None
    several = len(overview.first) > 1
    panels = [
        _draw_plot(group, plot, overview.looks, several=several)
        for group in overview.first
        for plot in group.plots
    ]
    return draw_figure(TITLE, panels, _describe(overview), min(_COLUMNS, len(panels)))


def _draw_plot(group: Group, plot: Plot, looks: Sequence[Look], *, several: bool) -> Panel:
    count = len(group.names)
    by_height = {name.y: index for index, name in enumerate(group.names)}
    names = tuple((float(i), brief(name.full, _NAME)) for i, name in enumerate(group.names))
    places = [(by_height[line.y], line) for line in plot.lines]
    bars = [
        (plot.zero, i - _TICK, line.most, i + _TICK) for i, line in places if line.most is not None
    ]
    texts = [line.text for _, line in places if line.most is not None]
    ticks = [
        (line.best, i - _TICK, line.best, i + _TICK) for i, line in places if line.best is not None
    ]
    ends = (-0.5, count - 0.5)
    marks: list[SvgMark] = [
        Boxes(bars, CEILING, _BAR, titles=texts),
        Rules([(plot.zero, ends[0], plot.zero, ends[1])], GUESSING, ROLE_COLOURS["prior"], "4 4"),
        Rules(ticks, BEST, ROLE_COLOURS["best"], width=2.6),
    ]
    for index, look in enumerate(looks):
        own = [(i, mark) for i, line in places for mark in line.marks if mark.look == look]
        marks += _draw_attack(look, index, own, group.line, by_height)
    title = f"{group.title}, {plot.title}" if several else plot.title
    x = Axis("", 0, 100, plot.ticks)
    return Panel(x, Axis("", ends[1], ends[0], names), marks, title, _WIDTH, _LINE * count + 8)


def _draw_attack(
    look: Look,
    index: int,
    own: Sequence[tuple[int, Mark]],
    line: int,
    by_height: Mapping[float, int],
) -> list[SvgMark]:
    """The marks of one attack with their intervals, each in its lane of the line."""
    heights = {position: height for height, position in by_height.items()}
    points, whiskers = [], []
    for position, mark in own:
        y = position + (mark.y - heights[position]) / line * 2 * _TICK
        points.append((mark.x, y))
        if mark.low is not None and mark.high is not None:
            whiskers.append((mark.low, y, mark.high, y))
    colour = ATTACK_COLOURS[look.colour]
    filled = index < len(ATTACK_COLOURS)
    return [Rules(whiskers, "", colour), Dots(points, brief(look.attack, 40), colour, filled)]


def _describe(overview: Overview) -> str:
    """What is drawn, line by line, for readers who do not see it."""
    return " ".join(
        f"{plot.text} {' '.join(line.text for line in plot.lines)}"
        for group in overview.first
        for plot in group.plots
    )
