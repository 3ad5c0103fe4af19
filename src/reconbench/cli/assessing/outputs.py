"""The files of a report, and what the terminal shows of it."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from reconbench.cli.assessing.inputs import PriorFile

if TYPE_CHECKING:
    from reconbench.benchmarks.assess.report import AssessmentReport


def check_folder(out: Path) -> None:
    """Refuse a folder that cannot be made, before anything is played; nothing is made yet."""
    nearest = next(path for path in (out, *out.absolute().parents) if path.exists())
    if not nearest.is_dir() or not os.access(nearest, os.W_OK):
        reason = "not writable" if nearest.is_dir() else "not a folder"
        raise ValueError(f"cannot make the folder {out}: {nearest} is {reason}")


def write_assessment(
    report: AssessmentReport, out: Path, prior: PriorFile, *, as_json: bool
) -> None:
    """Write the report on an assessed table, and the prior that was fitted to it."""
    from reconbench.reports.assess.report import assess_html, assess_markdown, summarise_assessment

    pages = {"md": assess_markdown(report), "html": assess_html(report)}
    summary = summarise_assessment(report)
    write_report(out, report.to_json(), pages, summary, prior, as_json=as_json)


def write_report(
    out: Path,
    document: Mapping[str, Any],
    pages: Mapping[str, str],
    summary: Sequence[str],
    prior: PriorFile | None = None,
    *,
    as_json: bool,
) -> None:
    """Write the document and its pages by the ends of their names, and what was fitted."""
    from reconbench.datasets.atomic_files import write_atomic

    text = json.dumps(document, ensure_ascii=False, indent=1, allow_nan=False) + "\n"
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ValueError(f"cannot make the folder {out}: {error.strerror}") from None
    if prior is not None:
        prior.keep(out)
    contents = {"json": text, **pages}
    for kind, content in contents.items():
        write_atomic(out / f"report.{kind}", content)
    if as_json:
        typer.echo(text, nl=False)
        return
    for line in (*summary, *(str(out / f"report.{kind}") for kind in contents)):
        typer.echo(line)
