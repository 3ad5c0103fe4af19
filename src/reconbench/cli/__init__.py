"""The command line. It only connects the packages.

Each module holds the commands that it is named after; ``bounds`` has `ceiling`, `risk`,
`compare-bounds`, `rad`, `gradients` and `calibrate`, ``publishing`` `submit`, `verify` and `site`.
``terminal`` prints tables, and ``_options`` holds shared options. What the commands share with the
Python front is in ``reconbench.front``.
"""

from __future__ import annotations

import errno
import os
import sys
from importlib.metadata import version
from typing import Annotated

import typer

from reconbench.cli import (
    assess,
    audit,
    data,
    games,
    plugins,
    report,
    results,
    suites,
)
from reconbench.cli.bounds import calibrate, gradients, rad
from reconbench.cli.bounds import commands as bounds
from reconbench.cli.publishing import site, submissions
from reconbench.cli.terminal.tables import make_printable

app = typer.Typer(
    name="reconbench",
    help="How much of a table can an attacker reconstruct from a differentially private release, "
    "and how much could any attacker?",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    add_completion=False,
)


def _print_version(asked: bool) -> None:
    if asked:
        typer.echo(f"reconbench {version('reconbench')}")
        raise typer.Exit


@app.callback()
def _options(
    show_version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version and exit."
        ),
    ] = False,
) -> None:
    from reconbench.benchmarks import foreign_code

    foreign_code.probing = True


app.command("list", help=plugins.LIST_HELP)(plugins.list_)
app.command("game", help=games.GAME_HELP)(games.game)
app.command("run", help=games.RUN_HELP)(games.run)
app.command("ceiling", help=bounds.CEILING_HELP)(bounds.ceiling)
app.command("risk", help=bounds.RISK_HELP)(bounds.risk)
app.command("rad", help=rad.HELP)(rad.rad)
app.command("gradients", help=gradients.HELP)(gradients.gradients)
app.command("calibrate", help=calibrate.HELP)(calibrate.calibrate)
app.command("compare-bounds", help=bounds.COMPARE_HELP)(bounds.compare_bounds)
app.command("assess", help=assess.HELP)(assess.assess)
app.command("submit", help=submissions.SUBMIT_HELP)(submissions.submit)
app.command("verify", help=submissions.VERIFY_HELP)(submissions.verify)
app.command("site", help=site.HELP)(site.site)
app.command("new", help=plugins.NEW_HELP)(plugins.new)
app.command("check", help=plugins.CHECK_HELP)(plugins.check)
app.add_typer(audit.app, name="audit")
app.add_typer(data.app, name="data")
app.add_typer(suites.app, name="suite")
app.add_typer(results.app, name="results")
app.add_typer(report.app, name="report")


# What a shell reports for a program whose reader went away, as `head` does.
CLOSED_PIPE = 141


def main() -> None:
    """Run the command line; an error prints one line and exits with 2, a full disk with 3.

    A reader of the output that goes away ends the program without a word, with 141.
    """
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    try:
        app()
    except SystemExit as stop:
        if isinstance(stop.__context__, BrokenPipeError):
            sys.exit(CLOSED_PIPE)
        raise
    except (ValueError, OSError) as error:
        if os.environ.get("RECONBENCH_DEBUG"):
            raise
        sys.stderr.write(f"error: {make_printable(' '.join(str(error).split()))}\n")
        full = isinstance(error, OSError) and error.errno == errno.ENOSPC
        sys.exit(3 if full else getattr(error, "exit_code", 2))
