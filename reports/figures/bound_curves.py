"""Bounds and audits as standalone SVG files: curves over the baseline, ceilings, intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any

from reconbench.benchmarks.store.summary import MEAN
from reconbench.reports.figures.svg import (
    DASHES,
    PALETTE,
    Axis,
    Dots,
    Line,
    Mark,
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


def draw_ceilings(
    title: str, ceilings: Mapping[str, Mapping[str, float]], expected: float, targets: int
) -> str:
    """Draw the ceilings of every bound: a line per confidence, and one for the mean."""
    levels = list(dict.fromkeys(level for by_level in ceilings.values() for level in by_level))
    names = [level if level == MEAN else f"{100 * float(level):g} %" for level in levels]
    y = Axis("", len(levels) - 0.5, -0.5, tuple(enumerate(names)))
    values = [value for by_level in ceilings.values() for value in by_level.values()]
    x = Axis.covering("targets recovered, at most", [expected, *values])
    marks: list[Mark] = [
        Rules([(expected, -0.5, expected, len(levels) - 0.5)], "expected without a release")
    ]
    for index, (name, by_level) in enumerate(ceilings.items()):
        lane = 0.6 * ((index + 0.5) / len(ceilings) - 0.5)
        points = [(value, levels.index(level) + lane) for level, value in by_level.items()]
        filled = index < len(PALETTE)
        marks.append(Dots(points, name, PALETTE[index % len(PALETTE)], filled))
    listed = f"Bounds: {', '.join(ceilings)}." if ceilings else ""
    description = f"Across: of {targets:,} targets, how many are recovered at most. {listed}"
    return draw_figure(title, [Panel(x, y, marks, width=460, height=70 * len(levels))], description)


def draw_intervals(
    title: str,
    label: str,
    intervals: Mapping[str, tuple[float, float, float]],
    claimed: float | None = None,
) -> str:
    """Draw estimates with their intervals, (low, estimate, high), and what is claimed.

    An infinite end is at the end of the axis.
    """
    finite = [value for ends in intervals.values() for value in ends if isfinite(value)]
    finite += [] if claimed is None else [claimed]
    x = Axis.covering(label, [0.0, *finite, 1.08 * max(finite, default=1.0)])
    y = Axis("", len(intervals) - 0.5, -0.5, ())
    marks: list[Mark] = []
    if claimed is not None:
        marks.append(Rules([(claimed, -0.5, claimed, len(intervals) - 0.5)], "claimed", dash="4 4"))
    for index, (name, ends) in enumerate(intervals.items()):
        low, estimate, high = (min(value, x.high) for value in ends)
        colour = PALETTE[index % len(PALETTE)]
        marks.append(Rules([(low, index, high, index)], "", colour))
        marks.append(Dots([(estimate, index)], name, colour))
    description = f"Across: {label}, by {', '.join(intervals)}."
    panel = Panel(x, y, marks, width=460, height=48 * len(intervals) + 20)
    return draw_figure(title, [panel], description)


def draw_risk_curves(report: Mapping[str, Any]) -> str:
    """Draw what ``bounds.compare_bounds`` says about many baselines."""
    series = {name: entry["success"] for name, entry in report["bounds"].items()}
    return curves_svg(name_risk_curves(report["guarantee"]), report["baselines"], series)


def name_risk_curves(guarantee: str) -> str:
    """The title of such a figure."""
    return f"Success on one target, {guarantee}"


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
