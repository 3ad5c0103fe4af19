"""The report of an assessment: a self-contained page, Markdown, and a few lines for the terminal.

All are made from the JSON document of ``reconbench assess`` alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil, floor

from reconbench.reports.assess.sections import OPTIMAL, Document, asked, brief, epsilon_of, sections
from reconbench.reports.assess.sections import headlines as _headlines
from reconbench.reports.text import number_format
from reconbench.reports.text.document import markdown
from reconbench.reports.text.templates import printable, template

CONFIDENTIAL = (
    "Confidential: this report was computed from the records themselves, without noise. It is for "
    "whoever may see the table. Do not publish it, nor the prior beside it."
)
_LEFT, _TOP, _WIDTH, _HEIGHT = 52, 14, 560, 240
_STEPS = (0.5, 1, 2, 5, 10, 20, 50)


@dataclass(frozen=True)
class Dot:
    x: float
    y: float
    low: float | None
    high: float | None
    title: str


@dataclass(frozen=True)
class Line:
    """A series; ``kind`` is its class in the page's style."""

    kind: str
    name: str
    dots: tuple[Dot, ...]

    @property
    def points(self) -> str:
        return " ".join(f"{dot.x},{dot.y}" for dot in self.dots)


@dataclass(frozen=True)
class Figure:
    lines: tuple[Line, ...]
    budgets: tuple[tuple[str, float, bool], ...]
    ticks: tuple[tuple[str, float], ...]
    left: int = _LEFT
    top: int = _TOP
    right: int = _LEFT + _WIDTH
    bottom: int = _TOP + _HEIGHT


def assess_html(document: Document) -> str:
    """One page that opens offline."""
    found = sections(document, str)
    return template("assess.html").render(
        title=_title(document),
        confidential=CONFIDENTIAL,
        headlines=headlines(document),
        first=found[0],
        sections=found[1:],
        figure=_figure(document),
    )


def assess_markdown(document: Document) -> str:
    """The same without the figure."""
    lines = [f"# {_safe(_title(document))}", "", number_format.prose(f"**{CONFIDENTIAL}**"), ""]
    lines += ["## In short", ""]
    short = _headlines(document, _safe)
    lines += [number_format.prose(f"{i}. {text}", "   ") for i, text in enumerate(short, 1)]
    for section in sections(document, _safe):
        lines += ["", *markdown(section)]
    return "\n".join(lines) + "\n"


def headlines(document: Document) -> list[str]:
    return _headlines(document, str)


def _safe(text: str) -> str:
    return number_format.name(printable(text))


def _title(document: Document) -> str:
    source = document["source"]
    file = source["release"] or source["table"]
    return f"What an attacker learns from a release of {brief(file)}"


def _figure(document: Document) -> Figure | None:
    """Gains in percentage points by ε; ε are set at equal distances. None for a single one."""
    rows = document["budgets"]
    if len(rows) < 2:
        return None
    best = [next(each for each in row["attacks"] if each["attack"] == OPTIMAL) for row in rows]
    series: dict[tuple[str, str], list[tuple[float, float | None]]] = {
        ("most", "no attack gains more (proved)"): [(row["ceiling"]["gain"], None) for row in rows],
        ("fresh", "best attack, tables drawn from the prior"): [
            (row["fresh_gain"]["value"], row["fresh_gain"]["margin"]) for row in rows
        ],
        ("real", "best attack, your table"): [
            (each["real"]["value"] - row["prior_real"], each["real"]["margin"])
            for row, each in zip(rows, best, strict=True)
        ],
    }
    values = [
        value + sign * (margin or 0)
        for each in series.values()
        for value, margin in each
        for sign in (-1, 1)
    ]
    step = next(s for s in _STEPS if 100 * (max(values) - min(values)) <= 6 * s)
    low = step * floor(min(100 * min(values) / step, 0))
    high = step * ceil(max(100 * max(values) / step, 1))

    def up(share: float) -> float:
        return round(_TOP + _HEIGHT * (high - 100 * share) / (high - low), 2)

    across = [round(_LEFT + _WIDTH * (i + 0.5) / len(rows), 2) for i in range(len(rows))]
    labels = [epsilon_of(row["epsilon"]) for row in rows]
    lines = tuple(
        Line(kind, name, tuple(_dots(name, across, labels, points, up)))
        for (kind, name), points in series.items()
    )
    count = round((high - low) / step)
    marks_at = [low + i * step for i in range(count + 1)]
    ticks = tuple((number_format.signed(at, 1 if step < 1 else 0), up(at / 100)) for at in marks_at)
    chosen = asked(document)["epsilon"]
    marks = [row["epsilon"] == chosen for row in rows]
    return Figure(lines, tuple(zip(labels, across, marks, strict=True)), ticks)


def _dots(
    name: str,
    across: Sequence[float],
    labels: Sequence[str],
    points: Sequence[tuple[float, float | None]],
    up: Callable[[float], float],
) -> list[Dot]:
    return [
        Dot(
            x,
            up(value),
            None if margin is None else up(value - margin),
            None if margin is None else up(value + margin),
            f"{name}, ε = {label}: {number_format.signed(100 * value)} points",
        )
        for x, label, (value, margin) in zip(across, labels, points, strict=True)
    ]
