"""`reconbench suite`: list suites, and show what one holds and takes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from reconbench.cli import _show

if TYPE_CHECKING:
    from reconbench.benchmarks.run.cost_estimates import Estimate, GameEstimate
    from reconbench.benchmarks.store.store import Entry
    from reconbench.benchmarks.suites.suite import Suite

app = typer.Typer(
    help="Look at a suite before it runs.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

Json = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]
Name = Annotated[str, typer.Argument(help="A suite (see `suite list`) or a .toml file.")]


@app.command("list")
def list_(as_json: Json = False) -> None:
    """List the shipped suites: games, rows to play and estimated time on one core.

    \b
    Examples:
      reconbench suite list
      reconbench suite list --json
    """
    from reconbench.benchmarks.run.cost_estimates import estimate
    from reconbench.benchmarks.suites.suite import shipped

    found: list[dict[str, Any]] = []
    for name, suite in shipped().items():
        units = suite.units()
        plan = estimate(units) if units else None
        found.append(
            {
                "name": name,
                "games": len(plan.games) if plan else 0,
                "rows": plan.rows if plan else 0,
                "computations": len(suite.computations()),
                "computed_rows": len(suite.points()),
                "core_seconds": round(plan.seconds, 1) if plan else 0.0,
                "description": suite.description,
            }
        )
    if as_json:
        typer.echo(json.dumps(found, ensure_ascii=False, indent=1))
        return
    _show.pairs({each["name"]: f"{_size(each)}. {each['description']}" for each in found})
    typer.echo("times are rough, for one core; `reconbench suite show NAME` shows more")


@app.command()
def show(
    suite: Name,
    out: Annotated[
        Path | None,
        typer.Option(
            help="A folder of results: its rows count as done, and their times estimate the rest. "
            "Default: results/SUITE, if it exists."
        ),
    ] = None,
    reps: Annotated[
        int | None, typer.Option(min=1, help="Repetitions, instead of the suite's.")
    ] = None,
    jobs: Annotated[
        int | None, typer.Option(min=1, help="Worker processes; default: all cores.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Show a suite's games and computations, with estimates of time and memory.

    \b
    Examples:
      reconbench suite show swanberg-fig6
      reconbench suite show quick --out results/quick
      reconbench suite show path/to/suite.toml --reps 50 --json
    """
    from reconbench.benchmarks.run.cost_estimates import estimate
    from reconbench.benchmarks.run.runner import available_cores
    from reconbench.benchmarks.suites.suite import find_suite

    chosen = find_suite(suite)
    done = _stored(chosen.name, out)
    units = chosen.units(repetitions=reps)
    plan = estimate(units, done) if units else None
    many = jobs or available_cores()
    computations = _computations(chosen, done)
    if as_json:
        described: dict[str, Any] = {
            "name": chosen.name,
            "description": chosen.description,
            "parts": [part.name for part in chosen.parts],
            "computations": computations,
            **(_described(plan, many) if plan else {"games": []}),
        }
        typer.echo(json.dumps(described, ensure_ascii=False))
        return
    typer.echo(f"{chosen.name}: {chosen.description}")
    if plan:
        header, lines, same = _varying([_line(each) for each in plan.games])
        if same:
            typer.echo(
                "in all games: " + ", ".join(f"{key} {value}" for key, value in same.items())
            )
        _show.table("Games", header, lines)
        for line in _totals(plan, many):
            typer.echo(line)
    for each in computations:
        typer.echo(
            f"computation: {each['compute']} ({each['suite']}), {each['rows']} rows, "
            f"{each['stored']} of them stored; after {each['reference']}"
        )


def _computations(suite: Suite, done: list[Entry]) -> list[dict[str, Any]]:
    """Each computation as the suite asks for it, with the number of its rows and stored rows."""
    keys = {each.key for each in done}
    found = []
    for name, curve in suite.computations():
        points = [point.key for point in curve.points(name)]
        counts = {"rows": len(points), "stored": sum(key in keys for key in points)}
        asked = curve.model_dump(mode="json", exclude_none=True)
        found.append({"suite": name, "reference": curve.reference, **asked, **counts})
    return found


def _stored(suite: str, out: Path | None) -> list[Entry]:
    from reconbench.benchmarks.store.export_import import read
    from reconbench.benchmarks.store.store import FILE_NAME

    folder = Path("results") / suite if out is None else out
    if out is None and not (folder / FILE_NAME).is_file():
        return []
    return read(folder)


def _described(plan: Estimate, jobs: int) -> dict[str, Any]:
    from reconbench.benchmarks.game.setting import dump_axes

    return {
        "rows": plan.rows,
        "stored": plan.stored,
        "core_seconds": round(plan.seconds, 1),
        "seconds": round(plan.seconds / jobs, 1),
        "jobs": jobs,
        "timings": plan.source,
        "released": plan.released,
        "memory_mib": round(plan.memory_mib),
        "games": [
            {
                **dump_axes(each.game),
                "attacks": list(each.attacks),
                "repetitions": each.repetitions,
                "rows": each.rows,
                "stored": each.stored,
                "released": each.released,
                "core_seconds": round(each.seconds, 2),
            }
            for each in plan.games
        ],
    }


def _line(each: GameEstimate) -> dict[str, str]:
    from reconbench.benchmarks.game.setting import AXES

    game = each.game
    several = f"{game.targets[0]}, … {game.targets[-1]} ({len(game.targets)})"
    return {
        **{axis.title: axis.text(getattr(game, name)) for name, axis in AXES.items()},
        "targets": ", ".join(game.targets) if len(game.targets) < 3 else several,
        "known columns": ", ".join(game.known) or "all other columns",
        "attacks": ", ".join(each.attacks),
        "rows": str(each.rows),
        "stored": str(each.stored),
        "released": f"{each.released:,}",
        "time": _time(each.seconds),
    }


def _varying(lines: list[dict[str, str]]) -> tuple[list[str], list[list[str]], dict[str, str]]:
    """The columns in which games differ, their lines, and what all games have in common."""
    always = ("data set", "targets", "rows", "time")
    found = {key: {line[key] for line in lines} for key in lines[0]}
    header = [key for key, values in found.items() if len(values) > 1 or key in always]
    same = {key: lines[0][key] for key in lines[0] if key not in header}
    return header, [[line[key] for key in header] for line in lines], same


def _totals(plan: Estimate, jobs: int) -> list[str]:
    return [
        f"{len(plan.games)} games, {plan.rows} rows, {plan.stored} of them stored",
        f"time: about {_time(plan.seconds / jobs)} with {jobs} jobs, {_time(plan.seconds)} on one "
        f"core (from {plan.source})",
        f"memory: up to {plan.memory_mib:,.0f} MiB per worker; the largest release has "
        f"{plan.released:,} cells",
    ]


def _size(each: dict[str, Any]) -> str:
    games = f"{each['games']} games, {each['rows']} rows, {_time(each['core_seconds'])}"
    computed = f"{each['computations']} computations, {each['computed_rows']} rows"
    return "; ".join([games] * bool(each["games"]) + [computed] * bool(each["computations"]))


def _time(seconds: float) -> str:
    if seconds < 100:
        return f"{seconds:.0f} s"
    if seconds < 6000:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"
