"""The report of an assessment: a self-contained page, Markdown, and a few lines for the terminal.

The prose is in ``templates/assess.md``, which takes the typed values of an ``AssessmentReport``.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import TYPE_CHECKING

from reconbench.benchmarks.assess.accuracy import MarginalsAccuracy, TableAccuracy
from reconbench.benchmarks.assess.assessment import PICKED, NoBest
from reconbench.benchmarks.assess.exposure import Mean
from reconbench.reports.assess.template_values import (
    common_values,
    describe_goal,
    format_epsilon,
    format_share,
)
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
from reconbench.reports.text.number_format import signed

if TYPE_CHECKING:
    from reconbench.benchmarks.assess.assessment import Budget
    from reconbench.benchmarks.assess.report import AssessmentReport

# Other attacks that have a column each; more have a table of their own.
_MOST_BESIDE = 3
# What is said of a release, by how its accuracy is measured and whether it was out already.
_RELEASE_TEMPLATES: dict[tuple[type[object], bool], str] = {
    (MarginalsAccuracy, False): "assess_marginals.md",
    (MarginalsAccuracy, True): "assess_marginals.md",
    (TableAccuracy, False): "assess_synthetic.md",
    (TableAccuracy, True): "assess_published_table.md",
    (type(None), False): "assess_other.md",
}
_SCOPES = {
    "mean": "No attack, on average over your records (proved)",
    "worst-record": "No attack, on any single one of your records (proved)",
    "any-prior": "No attack, on any record, whatever is known of it beforehand (proved)",
    "real": "The best attack, on your table (measured)",
    "fresh": "The best attack, on tables drawn from the prior (measured)",
}
_WHY_NO_BEST = {
    NoBest.ADAPTIVE: "this generator looks at the table to choose what it measures, and no "
    "computation here counts what the choice gives away",
    NoBest.NOT_MEASURED: "the release keeps no noisy counts from which it could be computed",
    NoBest.NOT_CONVERGED: "the chains that compute it did not agree",
    NoBest.NOT_PLAYED: "no tables were drawn",
    NoBest.NOT_TRUSTED: "this generator is a plugin, whose word on its noise is not taken",
}


def assess_html(report: AssessmentReport) -> str:
    """One page that opens offline."""
    several = len(report.assessment.budgets) > 1
    return render_page("assess.md", _values(report), [draw_gains(report)] if several else [])


def assess_markdown(report: AssessmentReport) -> str:
    """The same without the figure."""
    return render_markdown("assess.md", _values(report))


def summarise_assessment(report: AssessmentReport) -> list[str]:
    """The report in a few sentences."""
    return list_first_items(assess_markdown(report))


def _values(report: AssessmentReport) -> dict[str, object]:
    found, question = report.assessment, report.question
    others = [name for name in report.attacks if name not in ("prior", found.reference)]
    beside = others if len(others) <= _MOST_BESIDE else []
    return common_values(found.exposure) | {
        "report": report,
        "found": found,
        "question": question,
        "source": report.source,
        "threshold": question.threshold,
        "reps": question.reps,
        "goal": describe_goal(question.targets, question.metric),
        "versions": ", ".join(f"{name} {text}" for name, text in report.versions.items()),
        "release_template": _RELEASE_TEMPLATES[
            type(report.asked.accuracy), report.source.release is not None
        ],
        "measurements": question.access == "measurements",
        "optimal": report.optimal,
        "shows_best": _shows_best(report),
        "missing_best": _list_missing_best(report),
        "why_no_best": _WHY_NO_BEST,
        "others": others,
        "picked": found.reference == PICKED,
        "other_columns": [f"{name}, %" for name in beside],
        "other_shares": lambda at: [format_share(at.get_attack(name).real) for name in beside],
        "unsure": [
            format_epsilon(each.epsilon)
            for each in found.budgets
            if each.get_attack(found.reference).converged is False
        ],
        "scopes": _SCOPES,
        "infinity": inf,
    }


def _shows_best(report: AssessmentReport) -> bool:
    """Whether the best possible is known and is not what the reference expects anyway."""
    known = any(budget.best.gain for budget in report.assessment.budgets)
    return known and not report.optimal


def _list_missing_best(report: AssessmentReport) -> list[tuple[NoBest, list[str]]]:
    """The budgets whose best possible is not known, by the reason."""
    missing: dict[NoBest, list[str]] = {}
    for at in report.assessment.budgets:
        if at.best.why_not is not None and not report.optimal:
            missing.setdefault(at.best.why_not, []).append(format_epsilon(at.epsilon))
    return list(missing.items())


def draw_gains(report: AssessmentReport) -> Figure:
    """Gains in percentage points by ε, set at equal distances."""
    budgets = report.assessment.budgets
    labels = [format_epsilon(each.epsilon) for each in budgets]
    proved = "no attack gains more (proved)"
    series = _list_series(report, proved)
    ends = [
        100 * (value + sign * (margin or 0))
        for _, points in series.values()
        for _, value, margin in points
        for sign in (-1, 1)
    ]
    y = Axis.covering("percentage points gained", (0, 1, *ends))
    x = Axis.of_categories("ε: more noise ← → less noise (the one asked about is shaded)", labels)
    asked = budgets.index(report.asked)
    marks: list[Mark] = [Boxes([(asked - 0.3, y.low, asked + 0.3, y.high)], colour="#fdf3d8")]
    for name, (colour, points) in series.items():
        places = [(float(i), 100 * value) for i, value, _ in points]
        marks.append(Line(places, name, colour, width=2))
        if name == proved:
            continue
        whiskers = [
            (i, 100 * (value - margin), i, 100 * (value + margin))
            for i, value, margin in points
            if margin is not None
        ]
        titles = [
            f"{name}, ε = {labels[int(i)]}: {signed(points_gained)} points"
            for i, points_gained in places
        ]
        marks += [Rules(whiskers, colour=colour), Dots(places, name, colour, titles=titles)]
    title = "The gain over guessing without a release"
    caption = "Percentage points gained, by ε; the table below has the numbers."
    panel = Panel(x, y, marks, width=560, height=260)
    return Figure(title, caption, draw_figure(title, [panel], caption))


Points = list[tuple[int, float, float | None]]


def _list_series(report: AssessmentReport, proved: str) -> dict[str, tuple[str, Points]]:
    """What the figure draws: a colour, and the index of a budget, a gain and its margin each."""

    def list_points(read: Callable[[Budget], Mean | None]) -> Points:
        found = [(i, read(budget)) for i, budget in enumerate(report.assessment.budgets)]
        return [(i, mean.value, mean.margin) for i, mean in found if mean is not None]

    def gain_on_table(at: Budget) -> Mean:
        real = at.get_attack(report.assessment.reference).real
        return Mean(real.value - at.prior_real, real.margin)

    def prove_gain(at: Budget) -> Mean | None:
        return None if at.ceiling is None else Mean(at.ceiling.gain, None)

    series = {
        proved: (PALETTE[3], list_points(prove_gain)),
        "best possible, tables drawn from the prior": (
            PALETTE[2],
            list_points(lambda at: at.best.gain) if _shows_best(report) else [],
        ),
        "best attack, tables drawn from the prior": (
            PALETTE[4],
            list_points(lambda at: at.fresh_gain),
        ),
        "best attack, your table": (PALETTE[0], list_points(gain_on_table)),
    }
    return {name: (colour, points) for name, (colour, points) in series.items() if points}
