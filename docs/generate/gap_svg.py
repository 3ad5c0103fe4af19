"""The gap between an attack and the published ceiling as stacked bars: a standalone SVG file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isinf

from reconbench.reports.statistics import Split
from reconbench.reports.text.templates import template

_LEFT, _TOP, _PANEL, _BETWEEN, _ROW, _BAR = 190, 118, 208, 34, 20, 13
_LONGEST = 26


@dataclass(frozen=True)
class Part:
    """A kind of segment; ``fill`` goes from dark to light, so that it also reads in grey."""

    key: str
    fill: str
    label: str


@dataclass(frozen=True)
class Segment:
    fill: str
    x: float
    width: float
    title: str


@dataclass(frozen=True)
class Bar:
    y: int
    prior: float
    top: float
    segments: tuple[Segment, ...]
    title: str


@dataclass(frozen=True)
class Panel:
    label: str
    left: int
    right: int
    ticks: tuple[tuple[str, float], ...]
    bars: tuple[Bar, ...]


def gap_svg(splits: Sequence[Split], weak: str, n: int) -> str:
    """Panels by ε, a bar a column: from the attack's mean success to the published ceilings."""
    columns = list(dict.fromkeys((each.cell.dataset, each.cell.column) for each in splits))
    budgets = sorted({each.cell.epsilon for each in splits})
    panels = []
    for place, epsilon in enumerate(budgets):
        left = _LEFT + place * (_PANEL + _BETWEEN)
        here = [each for each in splits if each.cell.epsilon == epsilon]
        panels.append(
            Panel(
                f"ε = {'∞' if isinf(epsilon) else f'{epsilon:g}'}",
                left,
                left + _PANEL,
                tuple((f"{n * step // 4}", left + _PANEL * step / 4) for step in (0, 2, 4)),
                tuple(
                    _bar(each, left, columns.index((each.cell.dataset, each.cell.column)), n)
                    for each in here
                ),
            )
        )
    return template("gap_svg.html").render(
        title=f"From {weak} to the published ceiling: attack, threat model or bound?",
        weak=weak,
        n=n,
        parts=PARTS,
        panels=panels,
        rows=[
            (_short(f"{dataset} {column}"), f"{dataset} {column}", _TOP + _ROW * place + _ROW / 2)
            for place, (dataset, column) in enumerate(columns)
        ],
        left=_LEFT,
        top=_TOP,
        bar=_BAR,
        bottom=_TOP + _ROW * len(columns),
        width=_LEFT + max(len(budgets), 3) * (_PANEL + _BETWEEN) + 6,
        height=_TOP + _ROW * len(columns) + 52,
    )


PARTS = (
    Part("attack", "#1f4e79", "attack weakness"),
    Part("threat", "#d98200", "threat model"),
    Part("slack", "#f0cf8e", "bound: left by prior-exact"),
    Part("avoidable", "url(#dots)", "bound: removed by prior-exact"),
)


def _bar(split: Split, left: int, place: int, n: int) -> Bar:
    def across(value: float) -> float:
        return round(left + _PANEL * min(max(value / n, 0.0), 1.0), 2)

    edges = (split.weak, split.realistic, split.informed, split.exact, split.published_50)
    name = f"{split.cell.dataset} {split.cell.column}, ε = {split.cell.epsilon:g}"
    segments = []
    reached = edges[0]
    for part, start, end in zip(PARTS, edges[:-1], edges[1:], strict=True):
        begin, reached = reached, max(reached, end)
        segments.append(
            Segment(
                part.fill,
                across(begin),
                round(across(reached) - across(begin), 2),
                f"{name}: {part.label} {end - start:+.1f}",
            )
        )
    levels = (
        "attack",
        "realistic optimum",
        "informed optimum",
        "prior-exact",
        "Theorem 3.5 median",
    )
    story = ", ".join(f"{label} {value:.1f}" for label, value in zip(levels, edges, strict=True))
    return Bar(
        y=_TOP + _ROW * place + (_ROW - _BAR) // 2,
        prior=across(split.prior),
        top=across(split.published_95),
        segments=tuple(segments),
        title=f"{name}: prior {split.prior:.1f}, {story}, 95 % {split.published_95:.1f}",
    )


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
