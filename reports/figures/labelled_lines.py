"""Curves over one parameter, each with a look of its own and its name at its end."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from reconbench.reports.figures.series import EndLabels, Look, MarkedLine
from reconbench.reports.figures.svg import SOFT, Axis, Mark, Panel, Rules, draw_figure
from reconbench.reports.leaderboard.columns.dictionary import ReportError

_WIDTH, _HEIGHT = 520, 380


def lines_svg(
    title: str,
    x_label: str,
    y_label: str,
    across: Sequence[float],
    series: Mapping[str, Sequence[float | None]],
    *,
    stated: float | None = None,
    log: bool = False,
) -> str:
    """Draw curves over a parameter as the text of an SVG file, to be written as UTF-8.

    Args:
        title: what is drawn.
        x_label: the name of the parameter, whose axis is logarithmic.
        y_label: what the values are.
        across: the parameter's values, positive.
        series: one value per value of the parameter, by name; None is a gap.
        stated: a value of the parameter to mark with a vertical line.
        log: a logarithmic axis up, for positive values.
    """
    values = [value for line in series.values() for value in line if value is not None]
    if not values:
        raise ReportError("series must have at least one value: there is nothing to draw")
    for name, line in series.items():
        if len(line) != len(across):
            raise ReportError(f"series {name!r} has {len(line)} values for {len(across)} across")
    x = Axis.covering_log(x_label, across)
    y = Axis.covering_log(y_label, values) if log else Axis.covering(y_label, [0.0, *values])
    marks: list[Mark] = []
    if stated is not None:
        upright = [(stated, y.low, stated, y.high)]
        marks.append(Rules(upright, f"{x_label} = {stated:g}", SOFT, "2 3", 1.5))
    ends = []
    for index, (name, line) in enumerate(series.items()):
        look = Look.of(index)
        pieces = [MarkedLine(piece, name, look) for piece in _split_at_gaps(across, line)]
        if pieces:
            marks += pieces
            ends.append((*pieces[-1].points[-1], name, look))
    labels = EndLabels(ends)
    height = max(_HEIGHT, labels.height)
    panel = Panel(x, y, [*marks, labels], width=_WIDTH, height=height, right=labels.room)
    listed = ", ".join(series)
    return draw_figure(title, [panel], f"Across: {x_label}. Up: {y_label}. Lines: {listed}.")


def _split_at_gaps(
    across: Sequence[float], line: Sequence[float | None]
) -> Iterator[list[tuple[float, float]]]:
    for gap, piece in groupby(zip(across, line, strict=True), key=lambda point: point[1] is None):
        if not gap:
            yield [(x, y) for x, y in piece if y is not None]
