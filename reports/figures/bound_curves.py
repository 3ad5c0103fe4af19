"""Bounds on the success as curves over the baseline: a standalone SVG file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from reconbench.reports.figures.svg import (
    DASHES,
    PALETTE,
    Axis,
    Line,
    Panel,
    Rules,
    draw_figure,
)
from reconbench.reports.leaderboard.columns.dictionary import ReportError

_ROUNDING = 1e-9


def curves_svg(
    title: str,
    x: Sequence[float],
    series: Mapping[str, Sequence[float | None]],
    x_label: str = "success without the release (baseline)",
    y_label: str = "success with the release, at most",
) -> str:
    """Draw curves on the unit square as the text of an SVG file; None in a series is a gap.

    ``x`` and all values are probabilities. The dashed grey diagonal is "no release", where the
    success is the baseline. Write the text as UTF-8.
    """
    across = [_check_probability("x", value) for value in x]
    diagonal = Rules([(0, 0, 1, 1)], "no release", "#8a919b", "4 4", 1.5)
    curves = [
        Line(
            _pair_points(name, across, values),
            name,
            PALETTE[index % len(PALETTE)],
            DASHES[index % len(DASHES)],
        )
        for index, (name, values) in enumerate(series.items())
    ]
    listed = f" Curves: {', '.join(series)}." if series else ""
    description = (
        f"Across: {x_label}. Up: {y_label}.{listed} The dashed grey diagonal is no release at all."
    )
    axes = Axis(x_label, 0, 1), Axis(y_label, 0, 1)
    panel = Panel(*axes, [diagonal, *curves], width=520, height=420)
    return draw_figure(title, [panel], description)


def _pair_points(
    name: str, across: Sequence[float], values: Sequence[float | None]
) -> list[tuple[float, float | None]]:
    if len(values) != len(across):
        raise ReportError(
            f"series {name!r} has {len(values)} values for {len(across)} values of x: "
            "give one for each, None for a gap"
        )
    return [
        (at, None if value is None else _check_probability(name, value))
        for at, value in zip(across, values, strict=True)
    ]


def _check_probability(name: str, value: float) -> float:
    if not -_ROUNDING <= value <= 1 + _ROUNDING:
        raise ReportError(
            f"{name!r} holds {value!r}: a curve needs probabilities from 0 to 1, None for a gap"
        )
    return min(max(float(value), 0.0), 1.0)
