"""`reconbench report`: figures and comparisons from stored results."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from reconbench.cli import compare

FIGURES_HELP = """Save the figures of a leaderboard for a paper, with the numbers behind each.

Reads the rows that `reconbench run` stored in a folder and leaves out stale ones. Writes every
figure that the rows allow in each format, and its numbers as CSV. Suites of computations give one
figure each, with the axes of the paper; as SVG these need no extra, all others the extra `figures`.

\b
Examples:
  reconbench report figures results/quick --out figures
  reconbench report figures results/swanberg --out figures --format pdf
  reconbench report figures results/kulynych --out figures
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
    out: Annotated[Path, typer.Option(help="Folder for the files; created if missing.")],
    formats: Annotated[
        str, typer.Option("--format", help="Formats, comma-separated: svg, png, pdf.")
    ] = "svg",
) -> None:
    from reconbench.benchmarks.game.row_schema.checks import NO_ATTACK
    from reconbench.benchmarks.store.export_import import drop_stale, read
    from reconbench.benchmarks.store.summary import summarise
    from reconbench.datasets.atomic_files import write_atomic
    from reconbench.reports.figures.export import Format, draw_leaderboard_figures
    from reconbench.reports.leaderboard.table import Leaderboard

    chosen = Format.parse_list(formats)
    entries = read(folder)
    rows = [entry.row for entry in drop_stale(entries)]
    # A store lists rows as they finished, which differs between runs where games were played.
    # Computed rows stand there in the order of their suite, and keep it.
    played = [row for row in rows if row.attack != NO_ATTACK]
    played.sort(key=lambda row: (row.dataset, row.targets, row.attack, row.rep))
    rows = [row for row in rows if row.attack == NO_ATTACK] + played
    leaderboard = Leaderboard.from_summaries(summarise(rows))
    written = 0
    for file in draw_leaderboard_figures(leaderboard, chosen):
        if not written:
            _make_folder(out)
        write_atomic(out / file.name, file.content)
        typer.echo(str(out / file.name))
        written += 1
    if not written:
        stale = len(entries) - len(rows)
        left = f" ({stale} stale rows are left out)" if stale else ""
        raise ValueError(f"nothing to draw in {folder}: it has no finished rows{left}")


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ValueError(f"cannot make the folder --out {folder}: {error.strerror}") from None
