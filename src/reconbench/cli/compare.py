"""`reconbench report compare`: two stores, before and after a change."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from reconbench.cli import _show

# As many lines of the table are shown; all are with --json and --out.
MOST_LINES = 40

HELP = """Compare two stores, before and after a change of an attack: better, worse, or noise?

Rows are paired by game, attack and repetition: both met the same table and the same noise. For
each cell (an attack on a game) the table has the mean change in records reconstructed with its
95 % interval, an exact sign-flip p-value adjusted by Holm's method over all cells, and the ratio of
seconds. Rows of either store count whatever code made them, stale or not; of several with one game,
attack and repetition the newest does. `reconbench results diff` asks instead whether two stores are
equal.

\b
Exit codes: 0 compared, 1 --fail-if-worse and something got significantly worse, 2 bad input.

\b
Examples:
  reconbench report compare results/before results/after
  reconbench report compare results/before results/after --out change.html
  reconbench report compare results/before results/after --fail-if-worse --json
"""


def compare(
    before: Annotated[Path, typer.Argument(help="An output folder of `reconbench run`.")],
    after: Annotated[Path, typer.Argument(help="Another one, of after the change.")],
    level: Annotated[float, typer.Option(help="Adjusted p-values up to this count.")] = 0.05,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="A .html, .md or .csv file to write.")
    ] = None,
    fail_if_worse: Annotated[
        bool, typer.Option("--fail-if-worse", help="Exit code 1 if something got worse.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for programs.")] = False,
) -> None:
    from reconbench.benchmarks.store.export_import import read
    from reconbench.datasets.atomic_files import write_atomic
    from reconbench.reports.compare import pages
    from reconbench.reports.compare.compare import compare as compared

    kinds = {".html": pages.compare_html, ".md": pages.compare_markdown}
    if out is not None and out.suffix.lower() not in (*kinds, ".csv"):
        raise ValueError(f"--out must end with .html, .md or .csv, got {str(out)!r}")
    old, new = ([entry.row for entry in read(each)] for each in (before, after))
    found = compared(old, new, level)
    if out is not None and out.suffix.lower() == ".csv":
        write_atomic(out, pages.compare_csv(found))
    elif out is not None:
        write_atomic(out, kinds[out.suffix.lower()](found, str(before), str(after)))
    if as_json:
        typer.echo(json.dumps(found.to_json(), ensure_ascii=False, indent=1, allow_nan=False))
    else:
        same = pages.shared(found)
        rows = [
            pages.line(each, shared=same)
            for changes in (found.overall, found.cells)
            for each in pages.ordered(changes)
        ]
        _show.table(f"{before} → {after}", pages.HEADER, rows[:MOST_LINES])
        if len(rows) > MOST_LINES:
            typer.echo(f"... and {len(rows) - MOST_LINES} more lines: all with --out or --json")
        for text in pages.summary(found):
            typer.echo(text)
        for shift in found.appeared:
            typer.echo(f"failed after: {shift.row}: {shift.error}", err=True)
    if fail_if_worse and found.worse:
        raise typer.Exit(1)
