"""`reconbench report compare`: two stores, before and after a change."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from reconbench.cli.terminal.tables import print_table

if TYPE_CHECKING:
    from reconbench.reports.compare.compare import Comparison

# The most lines of the table that the terminal shows.
MOST_LINES = 40

HELP = """Compare two stores, before and after a change to an attack: better, worse, or noise?

Rows are paired by game, attack and repetition, so both met the same table and the same noise. For
each cell (one attack on one game) the table shows the mean change in records reconstructed with its
95 % interval, an exact sign-flip p-value adjusted by Holm's method over all cells, and the ratio of
seconds. All rows count, stale or not; where a store has several rows for one game, attack and
repetition, the newest counts. To check whether two stores are equal, use `reconbench results diff`.

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
    after: Annotated[Path, typer.Argument(help="Another one, from after the change.")],
    level: Annotated[
        float, typer.Option(help="Adjusted p-values up to this level are significant.")
    ] = 0.05,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Write a .html, .md or .csv file.")
    ] = None,
    fail_if_worse: Annotated[
        bool, typer.Option("--fail-if-worse", help="Exit with code 1 if anything got worse.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for programs.")] = False,
) -> None:
    from reconbench.benchmarks.store.export_import import read
    from reconbench.datasets.atomic_files import write_atomic
    from reconbench.reports.compare import report
    from reconbench.reports.compare.compare import compare as compare_rows

    writers: dict[str, Callable[[Comparison], str]] = {
        ".html": lambda found: report.compare_html(found, str(before), str(after)),
        ".md": lambda found: report.compare_markdown(found, str(before), str(after)),
        ".csv": report.compare_csv,
    }
    if out is not None and out.suffix.lower() not in writers:
        raise ValueError(f"--out must end with .html, .md or .csv, got {str(out)!r}")
    old, new = ([entry.row for entry in read(folder)] for folder in (before, after))
    comparison = compare_rows(old, new, level)
    if out is not None:
        write_atomic(out, writers[out.suffix.lower()](comparison))
    if as_json:
        typer.echo(json.dumps(comparison.to_json(), ensure_ascii=False, indent=1, allow_nan=False))
    else:
        shared = report.find_shared_ending(comparison)
        rows = [
            report.format_change(change, shared)
            for changes in (comparison.overall, comparison.cells)
            for change in report.sort_changes(changes)
        ]
        print_table(f"{before} → {after}", report.HEADER, rows[:MOST_LINES])
        if len(rows) > MOST_LINES:
            typer.echo(f"... and {len(rows) - MOST_LINES} more lines; --out and --json show all")
        for sentence in report.summarise_comparison(comparison):
            typer.echo(sentence)
        for shift in comparison.appeared:
            typer.echo(f"failed after: {shift.row}: {shift.error}", err=True)
    if fail_if_worse and comparison.worse:
        raise typer.Exit(1)
