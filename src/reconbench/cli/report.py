"""`reconbench report`: what is made of stored results beside the leaderboard."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from reconbench.cli import compare

FIGURES_HELP = """Save the figures of a leaderboard for a paper, with the numbers behind each.

Reads the rows that `reconbench run` stored in a folder and leaves stale ones out. Every figure that
the rows allow is written in each format, and its numbers as CSV. Needs the extra `figures`.

\b
Examples:
  reconbench report figures results/quick --out figures
  reconbench report figures results/swanberg --out figures --format pdf
  reconbench report figures results/quick --out figures --format svg,png,pdf
"""

app = typer.Typer(
    help="Make figures from stored results, and compare two stores.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@app.callback()
def report() -> None:
    """Make figures from stored results, and compare two stores."""


app.command("compare", help=compare.HELP)(compare.compare)


@app.command(help=FIGURES_HELP)
def figures(
    folder: Annotated[Path, typer.Argument(help="An output folder of `reconbench run`.")],
    out: Annotated[Path, typer.Option(help="Where the files go; made if it is not there.")],
    formats: Annotated[
        str, typer.Option("--format", help="Some of svg, png and pdf, separated by commas.")
    ] = "svg",
) -> None:
    from reconbench.benchmarks.store.export_import import drop_stale, read
    from reconbench.benchmarks.store.summary import summarise
    from reconbench.datasets.atomic_files import write_atomic
    from reconbench.reports.figures.export import Format, drawn
    from reconbench.reports.leaderboard.table import Board

    chosen = Format.several(formats)
    entries = read(folder)
    rows = [entry.row for entry in drop_stale(entries)]
    # a store lists its rows as they were finished, which is another order in every run
    rows.sort(key=lambda row: (row.dataset, row.targets, row.attack, row.rep))
    board = Board.of(summarise(rows))
    written = 0
    for each in drawn(board, chosen):
        if not written:
            _made(out)
        write_atomic(out / each.name, each.content)
        typer.echo(str(out / each.name))
        written += 1
    if not written:
        stale = len(entries) - len(rows)
        left = f" ({stale} stale ones are left out)" if stale else ""
        raise ValueError(f"nothing to draw in {folder}: it has no finished rows{left}")


def _made(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ValueError(f"--out {folder} is no folder to write to: {error.strerror}") from None
