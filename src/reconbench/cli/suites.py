"""`reconbench suite`: list suites, and show what one contains and costs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from reconbench.cli._options import Given, Json, SuiteJobs, SuiteName, SuiteReps, with_axes
from reconbench.cli.terminal.tables import print_pairs, print_table

if TYPE_CHECKING:
    from reconbench.benchmarks.run.cost_estimates import Estimate, GameEstimate
    from reconbench.benchmarks.store.store import Entry
    from reconbench.benchmarks.suites.suite import Suite

# A suite with more rows is counted, but its games are neither listed nor timed.
LISTED_ROWS = 100_000

app = typer.Typer(
    help="List suites, and see what one contains and costs before running it.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


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

    listed: list[dict[str, Any]] = []
    for name, suite in shipped().items():
        units = suite.units()
        plan = estimate(units) if units else None
        listed.append(
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
        typer.echo(json.dumps(listed, ensure_ascii=False, indent=1))
        return
    print_pairs(
        {entry["name"]: f"{_format_size(entry)}. {entry['description']}" for entry in listed}
    )
    typer.echo("times are rough estimates for one core; see `reconbench suite show NAME`")


@app.command()
@with_axes
def show(
    suite: SuiteName,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Output folder of a run: its rows count as done, and their times are used for "
            "estimates. Default: results/SUITE, if it exists."
        ),
    ] = None,
    reps: SuiteReps = None,
    jobs: SuiteJobs = None,
    as_json: Json = False,
    *,
    axes: Given,
) -> None:
    """Show a suite's games and computations, with estimates of time and memory.

    Axes that are given replace those of the suite, as in `run`.

    \b
    Examples:
      reconbench suite show swanberg-fig6
      reconbench suite show swanberg --dataset acs-ca.bif
      reconbench suite show quick --out results/quick
      reconbench suite show path/to/suite.toml --reps 50 --json
    """
    from reconbench.benchmarks.run.cost_estimates import estimate
    from reconbench.benchmarks.run.runner import available_cores
    from reconbench.benchmarks.suites.replaced_axes import replace_axes
    from reconbench.benchmarks.suites.suite import find_suite

    chosen = find_suite(suite)
    replaced = replace_axes(chosen, axes, LISTED_ROWS) if axes else None
    if replaced is not None:
        chosen = replaced.suite
    rows = chosen.count_rows(repetitions=reps)
    if rows > LISTED_ROWS:
        _show_count(chosen, rows, as_json)
        return
    done = _read_stored(chosen.name, out)
    units = chosen.units(repetitions=reps)
    plan = estimate(units, done) if units else None
    workers = jobs or available_cores()
    computations = _list_computations(chosen, done)
    if as_json:
        described: dict[str, Any] = {
            "name": chosen.name,
            "description": chosen.description,
            "parts": [part.name for part in chosen.parts],
            "computations": computations,
            **({"replaced": replaced.describe()} if replaced is not None else {}),
            **(_plan_json(plan, workers) if plan else {"games": []}),
        }
        typer.echo(json.dumps(described, ensure_ascii=False))
        return
    typer.echo(f"{chosen.name}: {chosen.description}")
    if replaced is not None:
        typer.echo(replaced.describe())
    if plan:
        header, lines, common = _drop_common([_describe_game(estimate) for estimate in plan.games])
        if common:
            typer.echo(
                "the same in all games: "
                + ", ".join(f"{key} {value}" for key, value in common.items())
            )
        print_table("Games", header, lines)
        for line in _describe_totals(plan, workers):
            typer.echo(line)
    for entry in computations:
        typer.echo(
            f"computation: {entry['compute']} ({entry['suite']}), {entry['rows']} rows, "
            f"{entry['stored']} of them stored; from {entry['reference']}"
        )


def _show_count(suite: Suite, rows: int, as_json: bool) -> None:
    """Say how large a suite is that is too large to list its games."""
    from reconbench.benchmarks.suites.suite import MOST_ROWS

    games = sum(axes.count() for part in suite.parts for axes in part.games or ())
    if as_json:
        counts = {"name": suite.name, "rows": rows, "game_count": games, "listed": False}
        typer.echo(json.dumps({**counts, "description": suite.description}, ensure_ascii=False))
        return
    typer.echo(f"{suite.name}: {suite.description}")
    typer.echo(
        f"{games:,} games, {rows:,} rows, before exclude; games are listed and timed up to "
        f"{LISTED_ROWS:,} rows"
    )
    if rows > MOST_ROWS:
        typer.echo(
            f"`reconbench run` refuses more than {MOST_ROWS:,} rows unless given --max-rows {rows}"
        )


def _list_computations(suite: Suite, done: list[Entry]) -> list[dict[str, Any]]:
    """The computations of a suite, each with the number of its rows and of those stored."""
    keys = {entry.key for entry in done}
    listed = []
    for name, curve in suite.computations():
        points = [point.key for point in curve.points(name)]
        counts = {"rows": len(points), "stored": sum(key in keys for key in points)}
        options = curve.model_dump(mode="json", exclude_none=True)
        listed.append({"suite": name, "reference": curve.reference, **options, **counts})
    return listed


def _read_stored(suite: str, out: Path | None) -> list[Entry]:
    from reconbench.benchmarks.store.export_import import read
    from reconbench.benchmarks.store.store import FILE_NAME

    folder = Path("results") / suite if out is None else out
    if out is None and not (folder / FILE_NAME).is_file():
        return []
    return read(folder)


def _plan_json(plan: Estimate, jobs: int) -> dict[str, Any]:
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
                **dump_axes(estimate.game),
                "attacks": list(estimate.attacks),
                "repetitions": estimate.repetitions,
                "rows": estimate.rows,
                "stored": estimate.stored,
                "released": estimate.released,
                "core_seconds": round(estimate.seconds, 2),
            }
            for estimate in plan.games
        ],
    }


def _describe_game(estimate: GameEstimate) -> dict[str, str]:
    from reconbench.benchmarks.game.setting import AXES

    game = estimate.game
    several = f"{game.targets[0]}, … {game.targets[-1]} ({len(game.targets)})"
    return {
        **{axis.title: axis.text(getattr(game, name)) for name, axis in AXES.items()},
        "targets": ", ".join(game.targets) if len(game.targets) < 3 else several,
        "known columns": ", ".join(game.known) or "all other columns",
        "attacks": ", ".join(estimate.attacks),
        "rows": str(estimate.rows),
        "stored": str(estimate.stored),
        "released": f"{estimate.released:,}",
        "time": _format_time(estimate.seconds),
    }


def _drop_common(lines: list[dict[str, str]]) -> tuple[list[str], list[list[str]], dict[str, str]]:
    """The columns in which games differ, their lines, and what all games have in common."""
    always = ("data set", "targets", "rows", "time")
    values_by_key = {key: {line[key] for line in lines} for key in lines[0]}
    header = [key for key, values in values_by_key.items() if len(values) > 1 or key in always]
    common = {key: lines[0][key] for key in lines[0] if key not in header}
    return header, [[line[key] for key in header] for line in lines], common


def _describe_totals(plan: Estimate, jobs: int) -> list[str]:
    return [
        f"{len(plan.games)} games, {plan.rows} rows, {plan.stored} of them stored",
        f"time: about {_format_time(plan.seconds / jobs)} with {jobs} jobs, "
        f"{_format_time(plan.seconds)} on one core (from {plan.source})",
        f"memory: up to {plan.memory_mib:,.0f} MiB per worker; the largest release has "
        f"{plan.released:,} cells",
    ]


def _format_size(entry: dict[str, Any]) -> str:
    games = f"{entry['games']} games, {entry['rows']} rows, {_format_time(entry['core_seconds'])}"
    computed = f"{entry['computations']} computations, {entry['computed_rows']} rows"
    return "; ".join([games] * bool(entry["games"]) + [computed] * bool(entry["computations"]))


def _format_time(seconds: float) -> str:
    if seconds < 100:
        return f"{seconds:.0f} s"
    if seconds < 6000:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"
