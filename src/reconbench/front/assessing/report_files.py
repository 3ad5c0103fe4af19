"""The files of an assessment's report."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reconbench.front.assessing.sources import PriorFile, Records

if TYPE_CHECKING:
    from reconbench.benchmarks.assess.report import AssessmentReport


def check_folder(out: Path) -> None:
    """Refuse a folder that cannot be made, before anything is played; nothing is made yet."""
    nearest = next(path for path in (out, *out.absolute().parents) if path.exists())
    if not nearest.is_dir() or not os.access(nearest, os.W_OK):
        reason = "not writable" if nearest.is_dir() else "not a folder"
        raise ValueError(f"cannot make the folder {out}: {nearest} is {reason}")


def format_document(document: Mapping[str, Any]) -> str:
    """A report's numbers as the text of its JSON file."""
    return json.dumps(document, ensure_ascii=False, indent=1, allow_nan=False) + "\n"


def write_report(
    out: Path,
    document: Mapping[str, Any],
    pages: Mapping[str, str],
    prior: PriorFile | None = None,
) -> list[Path]:
    """Write the document and its pages by the ends of their names, and what was fitted.

    Returns the paths of the document and of the pages.
    """
    from reconbench.datasets.atomic_files import write_atomic

    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ValueError(f"cannot make the folder {out}: {error.strerror}") from None
    if prior is not None:
        prior.keep(out)
    contents = {"json": format_document(document), **pages}
    for kind, content in contents.items():
        write_atomic(out / f"report.{kind}", content)
    return [out / f"report.{kind}" for kind in contents]


def write_record_table(path: Path, report: AssessmentReport, records: Records) -> None:
    """Write the risk of every record, for the eyes of its owner alone: one line each."""
    from reconbench.datasets.atomic_files import PRIVATE, write_atomic

    found = report.assessment.per_record
    if found is None:
        raise ValueError("the risk of every record was not measured; ask for per_record")
    write_atomic(path, found.to_csv(records.positions.tolist()), PRIVATE)


def draw_pages(report: AssessmentReport) -> dict[str, str]:
    """The pages of a report on a table, by the ends of their names."""
    from reconbench.reports.assess.report import assess_html, assess_markdown

    return {"md": assess_markdown(report), "html": assess_html(report)}
