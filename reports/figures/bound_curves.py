"""Bounds on the success as curves over the baseline: a standalone SVG file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from reconbench.reports.leaderboard.columns import ReportError
from reconbench.reports.text.templates import template

# Okabe and Ito's colours, told apart with any colour vision, without the yellow, which is too
# light on white. Five dash patterns and seven colours together tell 35 curves apart.
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#000000", "#e69f00", "#56b4e9")
_DASHES = ("none", "9 5", "2 4", "12 4 2 4", "5 3")

_LEFT, _TOP, _SIDE = 76, 64, 400
_LEGEND = 26
_LONGEST_NAME, _LONGEST_TITLE, _LONGEST_LABEL = 26, 68, 56
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Curve:
    """One series: its pieces between gaps, each the points of a polyline."""

    name: str
    short: str
    colour: str
    dash: str
    pieces: tuple[str, ...]
    y: int


def curves_svg(
    title: str,
    x: Sequence[float],
    series: Mapping[str, Sequence[float | None]],
    x_label: str = "success without the release (baseline)",
    y_label: str = "success with the release, at most",
) -> str:
    """The curves on the unit square as the text of an SVG file; None in a series is a gap.

    ``x`` and all values are probabilities; a dashed grey diagonal says "no release", where the
    success is the baseline. Write the text as UTF-8.
    """
    across = [_checked("x", value) for value in x]
    curves = tuple(
        Curve(
            name,
            _short(name, _LONGEST_NAME),
            _COLOURS[place % len(_COLOURS)],
            _DASHES[place % len(_DASHES)],
            _pieces(name, across, values),
            _TOP + 12 + _LEGEND * (place + 1),
        )
        for place, (name, values) in enumerate(series.items())
    )
    bottom = _TOP + _SIDE
    return template("curves_svg.html").render(
        title=title,
        short_title=_short(title, _LONGEST_TITLE),
        x_label=x_label,
        y_label=y_label,
        short_x_label=_short(x_label, _LONGEST_LABEL),
        short_y_label=_short(y_label, _LONGEST_LABEL),
        curves=curves,
        left=_LEFT,
        top=_TOP,
        right=_LEFT + _SIDE,
        bottom=bottom,
        ticks=[
            (f"{step / 5:g}", _LEFT + _SIDE * step // 5, bottom - _SIDE * step // 5)
            for step in range(6)
        ],
        height=max(bottom + 64, _TOP + 12 + _LEGEND * (len(curves) + 1)),
    )


def _pieces(name: str, across: Sequence[float], values: Sequence[float | None]) -> tuple[str, ...]:
    if len(values) != len(across):
        raise ReportError(
            f"series {name!r} has {len(values)} values for {len(across)} values of x: "
            "give one for each, None for a gap"
        )
    pairs = zip(across, values, strict=True)
    found = []
    for gap, piece in groupby(pairs, key=lambda pair: pair[1] is None):
        points = [_point(at, _checked(name, value)) for at, value in piece if value is not None]
        if not gap:
            # one point alone is drawn twice: a line of no length shows as a dot
            found.append(" ".join(points if len(points) > 1 else points * 2))
    return tuple(found)


def _point(x: float, y: float) -> str:
    return f"{_LEFT + _SIDE * x:.2f},{_TOP + _SIDE * (1 - y):.2f}"


def _checked(name: str, value: float) -> float:
    if not -_ROUNDING <= value <= 1 + _ROUNDING:
        raise ReportError(
            f"{name!r} holds {value!r}: a curve needs probabilities from 0 to 1, None for a gap"
        )
    return min(max(float(value), 0.0), 1.0)


def _short(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[: longest - 1]}…"
