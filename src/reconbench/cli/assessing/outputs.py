"""What the terminal shows of a report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from reconbench.front.assessing.report_files import draw_pages, format_document, write_report
from reconbench.front.assessing.sources import PriorFile

if TYPE_CHECKING:
    from reconbench.benchmarks.assess.report import AssessmentReport


def show_assessment(
    report: AssessmentReport, out: Path, prior: PriorFile, *, as_json: bool
) -> None:
    """Write the report on an assessed table, and the prior that was fitted to it."""
    from reconbench.reports.assess.report import summarise_assessment

    summary = summarise_assessment(report)
    show_report(out, report.to_json(), draw_pages(report), summary, prior, as_json=as_json)


def show_report(
    out: Path,
    document: Mapping[str, Any],
    pages: Mapping[str, str],
    summary: Sequence[str],
    prior: PriorFile | None = None,
    *,
    as_json: bool,
) -> None:
    """Write a report, and print its document or its summary with the paths of the files."""
    paths = write_report(out, document, pages, prior)
    if as_json:
        typer.echo(format_document(document), nl=False)
        return
    for line in (*summary, *map(str, paths)):
        typer.echo(line)
