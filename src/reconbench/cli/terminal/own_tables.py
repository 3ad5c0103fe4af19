"""Tables as files: the user's own, with a line that says how they were read, and CSVs to write."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from reconbench.cli.terminal.tables import make_printable

if TYPE_CHECKING:
    from reconbench.datasets.domain import Domain
    from reconbench.datasets.network.misfit import Misfit
    from reconbench.datasets.own_table import CsvStyle, OwnTable

MOST_SHOWN = 5


def read_records(path: Path, domain: Domain, style: CsvStyle, *, quiet: bool = False) -> OwnTable:
    """Read a table by its domain, and say on stderr what was found out about it."""
    from reconbench.datasets.own_table import read_own_table

    found = read_own_table(path, domain, style)
    if not quiet:
        say(path, found.describe())
    return found


def say(path: Path, text: str) -> None:
    """Print what was found out about a file, out of the way of results."""
    typer.echo(make_printable(f"{path.name}: {text}"), err=True)


def write_csv(text: str, out: Path | None) -> None:
    """Write a CSV whole or not at all; print it if there is no file to write."""
    from reconbench.datasets.atomic_files import write_atomic

    if out is None:
        typer.echo(text, nl=False)
    else:
        write_atomic(out, text)


def describe_misfit(misfit: Misfit) -> list[str]:
    """What a fitted network does not explain, in a few lines."""
    if not misfit.missed:
        return [f"no pair of columns departs from the network beyond chance, of {misfit.pairs}"]
    lines = [
        f"{len(misfit.missed)} of {misfit.pairs} pairs of columns depart from the network beyond "
        f"chance (level {misfit.level:g}); the largest:"
    ]
    lines += [f"  {pair.describe()}" for pair in misfit.missed[:MOST_SHOWN]]
    return [make_printable(line) for line in lines]
