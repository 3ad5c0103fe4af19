"""The report on a published table without its truth, made from ``templates/assess_rows.md``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reconbench.reports.assess.template_values import common_values, describe_goal
from reconbench.reports.text.document import list_first_items, render_markdown, render_page

if TYPE_CHECKING:
    from reconbench.benchmarks.assess.rows_report import RowsReport


def rows_html(report: RowsReport) -> str:
    """One page that opens offline."""
    return render_page("assess_rows.md", _values(report))


def rows_markdown(report: RowsReport) -> str:
    return render_markdown("assess_rows.md", _values(report))


def summarise_rows(report: RowsReport) -> list[str]:
    """The report in a few sentences."""
    return list_first_items(rows_markdown(report))


def _values(report: RowsReport) -> dict[str, object]:
    question = report.question
    return common_values(None) | {
        "report": report,
        "found": report.found,
        "question": question,
        "goal": describe_goal(question.targets, question.metric),
        "versions": ", ".join(f"{name} {text}" for name, text in report.versions.items()),
    }
