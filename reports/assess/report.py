"""The report of an assessment: a self-contained page, Markdown, and a few lines for the terminal.

The prose is in ``templates/assess.md``, which takes the typed values of an ``AssessmentReport``.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import TYPE_CHECKING

from reconbench.reports.figures.svg import (
    PALETTE,
    Axis,
    Boxes,
    Dots,
    Line,
    Mark,
    Panel,
    Rules,
    draw_figure,
)
from reconbench.reports.text.document import Figure, list_first_items, render_markdown, render_page
from reconbench.reports.text.number_format import brief, budget, listed, number, signed

if TYPE_CHECKING:
    from reconbench.benchmarks.assess.exposure import Column, Kind, Mean
    from reconbench.benchmarks.assess.report import AssessmentReport

OPTIMAL = "posterior"
_MOST_NAMES = 8
_MOST_KINDS = 12
_SCOPES = {
    "mean": "No attack, on average over your records (proved)",
    "worst-record": "No attack, on any single one of your records (proved)",
    "any-prior": "No attack, on any record, whatever is known of it beforehand (proved)",
    "real": "The best attack, on your table (measured)",
    "fresh": "The best attack, on tables drawn from the prior (measured)",
}


def assess_html(report: AssessmentReport) -> str:
    """One page that opens offline."""
    return render_page("assess.md", _values(report), _draw_gains(report))


def assess_markdown(report: AssessmentReport) -> str:
    """The same without the figure."""
    return render_markdown("assess.md", _values(report))


def summarise_assessment(report: AssessmentReport) -> list[str]:
    """The report in a few sentences."""
    return list_first_items(assess_markdown(report))


def _values(report: AssessmentReport) -> dict[str, object]:
    found, question = report.assessment, report.question
    known = [kind for column in found.exposure.by_known for kind in column.shown]
    known.sort(key=lambda kind: -kind.gain)
    others = [name for name in question.attacks if name not in ("prior", OPTIMAL)]
    return {
        "report": report,
        "found": found,
        "question": question,
        "source": report.source,
        "versions": ", ".join(f"{name} {text}" for name, text in report.versions.items()),
        "other_columns": [f"{name}, %" for name in others],
        "other_shares": lambda at: [_share(at.get_attack(name).real) for name in others],
        "exposed": known[:_MOST_KINDS] if any(kind.gain for kind in known) else [],
        "unsure": [
            _epsilon(each.epsilon)
            for each in found.budgets
            if each.get_attack(OPTIMAL).converged is False
        ],
        "scopes": _SCOPES,
        "infinity": inf,
        "before_and_after": _before_and_after,
        "count": lambda value: f"{value:,.0f}",
        "digits": lambda value: f"{value:,.0f}" if value >= 100 else f"{value:.3g}",
        "epsilon": _epsilon,
        "names": _names,
        "percentage": lambda share: f"{number(100 * share)} %",
        "round_down": round_down,
        "share": _share,
    }


def _epsilon(value: float | None) -> str:
    return "not stated" if value is None else budget(value)


def _names(names: Sequence[str], most: int = _MOST_NAMES) -> str:
    left = len(names) - most
    return listed([*map(brief, names[:most]), *([f"{left} more"] if left > 0 else [])])


def _share(mean: Mean | None) -> str:
    if mean is None:
        return "–"
    margin = "" if mean.margin is None else f" ± {number(100 * mean.margin)}"
    return f"{number(100 * mean.value)}{margin}"


def _before_and_after(group: Kind | Column) -> list[str]:
    gain = group.attack.value - group.prior
    return [number(100 * group.prior), _share(group.attack), signed(100 * gain)]


def round_down(value: float, digits: int = 3) -> str:
    """A number that is no larger than the value: an ε that is printed must keep the limit, too."""
    text = f"{value:.{digits}g}"
    if float(text) <= value:
        return text
    step = 10.0 ** (int(f"{value:e}".partition("e")[2]) - digits + 1)
    return f"{float(text) - step:.{digits}g}"


def _draw_gains(report: AssessmentReport) -> list[Figure]:
    """Gains in percentage points by ε, set at equal distances; nothing for a single ε."""
    budgets = report.assessment.budgets
    if len(budgets) < 2:
        return []
    labels = [_epsilon(each.epsilon) for each in budgets]
    proved = "no attack gains more (proved)"
    series: dict[str, list[tuple[float, float | None]]] = {
        proved: [(b.ceiling.gain, None) for b in budgets if b.ceiling],
        "best attack, tables drawn from the prior": [
            (b.fresh_gain.value, b.fresh_gain.margin) for b in budgets if b.fresh_gain
        ],
        "best attack, your table": [
            (real.value - b.prior_real, real.margin)
            for b in budgets
            for real in (b.get_attack(OPTIMAL).real,)
        ],
    }
    ends = [
        100 * (value + sign * (margin or 0))
        for points in series.values()
        for value, margin in points
        for sign in (-1, 1)
    ]
    y = Axis.covering("percentage points gained", (0, 1, *ends))
    x = Axis.of_categories("ε: more noise ← → less noise (the one asked about is shaded)", labels)
    asked = budgets.index(report.asked)
    marks: list[Mark] = [Boxes([(asked - 0.3, y.low, asked + 0.3, y.high)], colour="#fdf3d8")]
    colours = (PALETTE[3], PALETTE[4], PALETTE[0])
    for colour, (name, points) in zip(colours, series.items(), strict=True):
        places = [(float(i), 100 * value) for i, (value, _) in enumerate(points)]
        marks.append(Line(places, name, colour, width=2))
        if name == proved:
            continue
        whiskers = [
            (i, 100 * (value - margin), i, 100 * (value + margin))
            for i, (value, margin) in enumerate(points)
            if margin is not None
        ]
        titles = [
            f"{name}, ε = {label}: {signed(points_gained)} points"
            for label, (_, points_gained) in zip(labels, places, strict=True)
        ]
        marks += [Rules(whiskers, colour=colour), Dots(places, name, colour, titles=titles)]
    title = "The gain over guessing without a release"
    caption = "Percentage points gained, by ε; the table below has the numbers."
    panel = Panel(x, y, marks, width=560, height=260)
    return [Figure(title, caption, draw_figure(title, [panel], caption))]
