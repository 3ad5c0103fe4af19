"""`reconbench game` and `run`."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from reconbench.cli._options import (
    BoundFiles,
    Given,
    Jobs,
    MaxRows,
    MemoryLimit,
    Sealed,
    SuiteJobs,
    SuiteName,
    SuiteReps,
    Timeout,
    explain_stop,
    parse_options,
    split_columns,
    with_axes,
)
from reconbench.cli.terminal.result_tables import print_alarms, print_game, print_suite
from reconbench.cli.terminal.tables import make_printable
from reconbench.front.progress import show_progress

if TYPE_CHECKING:
    from reconbench.benchmarks.game.result import Result
    from reconbench.benchmarks.store.seal import Seal

GAME_HELP = """Play one game and print prior, attack and ceiling side by side.

Each repetition samples a fresh table from the prior, releases it with fresh noise, attacks the
release and scores the guesses. By default the attacker knows all columns except the targets.
`expected` is what the guesses are worth given the release, whatever was drawn. The exit code is 4
if an attack is above its ceilings by more than chance explains.

\b
Examples:
  reconbench game --dataset acs --targets SEX --epsilon 1
  reconbench game --dataset fire --targets "ALS Unit" --epsilon inf --attack rap --reps 10
  reconbench game --dataset acs --targets AGEP --epsilon 1 --metric l1:1 --json
  reconbench game --dataset acs --targets SEX,MAR,RAC1P --epsilon 3 --metric columns:2
  reconbench game --dataset acs --targets MAR --epsilon 3 --n 1000 --target-records 50
  reconbench game --dataset acs --targets SCHL,AGEP --epsilon 3 --attack prior --attack rap
  reconbench game --dataset prior.bif --targets income --epsilon 1 --attack mine.py:MyAttack
"""

# The exit code of a result that cannot be: above its ceilings by more than chance explains.
ALARM = 4

RUN_HELP = """Run the games and computations of a suite, and write its leaderboard.

Finished rows are stored in the output folder and never computed twice, so a run that was stopped
resumes where it was. Rows made by another code version are kept but not used: see
`reconbench results`.

Any suite can be played on any data set, or in another setting: --dataset, --targets, --known,
--epsilon, --n and the other axes replace that axis in every block of games. Blocks on columns that
the data set has not are left out if other blocks fit; computations are left out. One line says what
was replaced and how many games remain. docs/suites.md has the rules.

Attacks run in worker processes. If an attack raises an error, returns invalid guesses, exceeds
--timeout or --memory-limit, or crashes its process, only that row fails: it records the reason, all
other rows are played. A failed row is kept and not tried again unless --retry-failed is given.

\b
Exit codes: 0 done, even with failed rows; 1 --force found rows with different results; 2 bad
input; 3 the store could not be written (a full disk) or the Dask scheduler is gone; 4 an alarm: a
row is above its ceilings by more than chance explains; 130 and 143 stopped by Ctrl-C or SIGTERM;
141 the reader of the output is gone.
Finished rows are kept in every case; the last line after a stop is the command to go on with.

\b
Examples:
  reconbench run quick
  reconbench run quick --reps 20 --jobs 2 --out results/more
  reconbench run quick --attack my_attack.py:MyAttack
  reconbench run quick --bound my_bound.py:MyBound
  reconbench run quick --attack my_attack.py:MyAttack --timeout 30 --memory-limit 4
  reconbench run quick --retry-failed --timeout 3600
  reconbench run quick --force
  reconbench run quick --attack my_attack.py:MyAttack --seal
  reconbench run quick --scheduler tcp://head-node:8786
  reconbench run swanberg --dataset acs-ca.bif
  reconbench run quick --dataset my_data.py:my_data --targets top-entropy:3 --epsilon 1,3,inf
  reconbench run kulynych
  reconbench run path/to/suite.toml
"""


def game(
    dataset: Annotated[
        str, typer.Option(help="A data set (see `list dataset`), a .bif file or file.py:function.")
    ],
    targets: Annotated[list[str], typer.Option(help="Columns to reconstruct, comma-separated.")],
    epsilon: Annotated[float, typer.Option(help="Privacy budget ε; `inf` for no noise.")],
    delta: Annotated[float, typer.Option(help="Privacy parameter δ.")] = 1e-5,
    k: Annotated[
        int | None,
        typer.Option(help="Columns per marginal; short for `--mechanism-option k=K`. Default 3."),
    ] = None,
    n: Annotated[int, typer.Option(help="Records in the table.")] = 100,
    known: Annotated[
        list[str] | None,
        typer.Option(help="Known columns, comma-separated; default: all except the targets."),
    ] = None,
    attack: Annotated[
        list[str] | None,
        typer.Option(help="A name (see `list attack`) or file.py:Class; repeatable. Default: rap."),
    ] = None,
    option: Annotated[
        list[str] | None, typer.Option(help="An option of the attacks, as key=value; repeatable.")
    ] = None,
    mechanism: Annotated[
        str, typer.Option(help="A name (see `list mechanism`) or file.py:Class.")
    ] = "gaussian-marginals",
    mechanism_option: Annotated[
        list[str] | None, typer.Option(help="An option of the mechanism, as key=value; repeatable.")
    ] = None,
    metric: Annotated[
        str,
        typer.Option(
            help="`exact`; `columns:M`: at least M targets right; `l1:E`: ordinal targets off by "
            "at most E in sum; `any:METRIC`: by some guess for any record; or file.py:Class."
        ),
    ] = "exact",
    adversary: Annotated[
        str, typer.Option(help="`realistic`, or `informed` (knows all other records in full).")
    ] = "realistic",
    advantage: Annotated[
        int,
        typer.Option(
            min=0,
            help="Measure the reconstruction advantage: attack this many records of each table "
            "again with the record replaced.",
        ),
    ] = 0,
    target_records: Annotated[
        int, typer.Option(min=0, help="Score only this many records of the table; 0 for all.")
    ] = 0,
    access: Annotated[
        str,
        typer.Option(
            help="What the attacker sees of a synthetic release: the `table`, or `measurements`: "
            "also what the generator was fitted to."
        ),
    ] = "table",
    held_out: Annotated[
        int,
        typer.Option(
            min=0, help="Also attack this many records that were not in the table, and compare."
        ),
    ] = 0,
    bound: BoundFiles = None,
    reps: Annotated[int, typer.Option(min=1, help="Repetitions.")] = 5,
    seed: Annotated[
        int | None, typer.Option(help="Random seed; the same seed gives the same numbers.")
    ] = None,
    seal: Sealed = False,
    jobs: Jobs = 1,
    timeout: Timeout = 600.0,
    memory_limit: MemoryLimit = 0.0,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object per repetition and attack.")
    ] = False,
) -> None:
    from reconbench.benchmarks import plugins
    from reconbench.benchmarks.game.options import Options
    from reconbench.benchmarks.game.play import AttackSpec, Game, check
    from reconbench.benchmarks.game.result import Status
    from reconbench.benchmarks.game.row_ceilings import add_repetition_ceilings
    from reconbench.benchmarks.player.referee import limit_players
    from reconbench.benchmarks.plugins.bounds import check_bound_files
    from reconbench.benchmarks.run.pool import Pool
    from reconbench.benchmarks.run.runner import Unit, play_units
    from reconbench.benchmarks.run.worker_process import Limits
    from reconbench.benchmarks.store.summary import summarise
    from reconbench.reports.leaderboard.checks.alarms import list_alarms

    limits = Limits.of(timeout, memory_limit)
    limit_players(limits.seconds)
    drawn = _draw_seal(seed) if seal else None
    options = parse_options(option or [], "--option")
    given = parse_options(mechanism_option or [], "--mechanism-option")
    released = Options(given if k is None else {**given, "k": k})
    plugins.check_options(mechanism, released)
    released = plugins.drop_default_options(mechanism, released)
    attacks = tuple(AttackSpec(plugins.make_absolute(spec), options) for spec in attack or ["rap"])
    bounds = check_bound_files(bound or [])
    units = [
        Unit(
            Game(
                dataset=plugins.make_absolute(dataset),
                targets=split_columns(targets),
                known=split_columns(known or []),
                epsilon=epsilon,
                delta=delta,
                n=n,
                mechanism=plugins.make_absolute(mechanism),
                mechanism_options=released,
                metric=plugins.make_absolute(metric),
                adversary=adversary,
                advantage=advantage,
                target_records=target_records,
                access=access,
                held_out=held_out,
                seed=drawn.seed if drawn is not None else seed or 0,
                rep=rep,
            ),
            attacks,
            bounds,
        )
        for rep in range(reps)
    ]
    by_index: dict[tuple[int, int], Result] = {}
    with (
        Pool(min(jobs, reps), limits) as pool,
        show_progress("game", reps * len(attacks), quiet=False) as advance,
    ):
        pool.start_workers()
        check(units[0].game)
        for spec in attacks:
            spec.build()
        if drawn is not None:
            typer.echo(f"sealed: {drawn.commitment}", err=True)
        for unit_index, attack_index, row in play_units(units, jobs, pool=pool):
            if row.status is Status.FAILED:
                raise ValueError(row.error)
            by_index[unit_index, attack_index] = replace(
                row, seal=drawn.commitment if drawn is not None else ""
            )
            advance()
    rows = add_repetition_ceilings([by_index[key] for key in sorted(by_index)])
    if drawn is not None:
        typer.echo(f"revealed: seed {drawn.seed}, salt {drawn.salt}", err=True)
    if as_json:
        for row in rows:
            typer.echo(json.dumps(_row_json(row), ensure_ascii=False, allow_nan=False))
    else:
        print_game(rows)
    alarms = list_alarms(summarise(rows))
    if alarms:
        print_alarms(alarms)
        raise typer.Exit(ALARM)


@with_axes
def run(
    suite: SuiteName,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Output folder; default results/SUITE, with the values of replaced axes "
            "in its name."
        ),
    ] = None,
    attack: Annotated[
        list[str] | None, typer.Option(help="Add an attack: a name or file.py:Class; repeatable.")
    ] = None,
    bound: BoundFiles = None,
    reps: SuiteReps = None,
    seed: Annotated[int | None, typer.Option(help="Seed; default: that of the suite.")] = None,
    seal: Sealed = False,
    jobs: SuiteJobs = None,
    max_rows: MaxRows = None,
    timeout: Timeout = 600.0,
    memory_limit: MemoryLimit = 0.0,
    scheduler: Annotated[
        str | None, typer.Option(help="Run on a cluster: the address of its Dask scheduler.")
    ] = None,
    only_missing: Annotated[
        bool, typer.Option("--only-missing", help="Play only missing rows (the default).")
    ] = False,
    retry_failed: Annotated[
        bool, typer.Option("--retry-failed", help="Also play failed rows again.")
    ] = False,
    force: Annotated[
        bool,
        typer.Option(
            "--force",
            help="Play everything again and report rows with different results, and numerical "
            "drift. Stored rows are not changed.",
        ),
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Do not show progress.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="End with one JSON object.")] = False,
    *,
    axes: Given,
) -> None:
    from reconbench.benchmarks.run.runner import Replay, available_cores
    from reconbench.benchmarks.run.worker_process import Limits
    from reconbench.benchmarks.store.seal import find_seal
    from reconbench.benchmarks.store.store import FILE_NAME
    from reconbench.benchmarks.suites.replaced_axes import replace_axes
    from reconbench.benchmarks.suites.suite import MOST_ROWS, find_suite
    from reconbench.front.games.suite_runs import SuiteRun, play_suite

    if only_missing + retry_failed + force > 1:
        raise ValueError("give at most one of --only-missing, --retry-failed and --force")
    replay = Replay.ALL if force else Replay.FAILED if retry_failed else Replay.MISSING
    limits = Limits.of(timeout, memory_limit)
    chosen = find_suite(suite)
    replaced = replace_axes(chosen, axes, max_rows or MOST_ROWS) if axes else None
    if replaced is not None:
        chosen = replaced.suite
    folder = out or Path("results") / chosen.name
    drawn = None
    if seal:
        _refuse_seed(seed)
        drawn = find_seal(folder)
        seed = drawn.seed
        limits = replace(limits, hidden=str(folder.resolve()))
    units = chosen.units(
        seed=seed,
        repetitions=reps,
        more_attacks=attack or [],
        more_bounds=bound or [],
        most_rows=max_rows or MOST_ROWS,
    )
    if replaced is not None:
        typer.echo(replaced.describe(), err=True)
    planned = SuiteRun(
        chosen.name,
        chosen.description,
        folder,
        units,
        chosen.points(),
        jobs or available_cores(),
        limits,
        replay,
        scheduler,
        drawn,
    )
    with explain_stop(folder):
        done = play_suite(
            planned,
            lambda name, total, held: show_progress(name, total, quiet=quiet or as_json, done=held),
        )
    reports = done.reports
    if as_json:
        end: dict[str, Any] = {"rows": done.plan.total, "failures": done.failed}
        end |= {"store": str(folder / FILE_NAME), "played": done.played, "stale": reports.stale}
        end |= {"changed": len(done.changed), "drift": done.drift.to_json()}
        end |= {"alarms": done.shown.alarms, "self_check": done.shown.self_check}
        end |= {"csv": str(reports.csv), "html": str(reports.html)}
        if replaced is not None:
            end |= {"replaced": replaced.describe()}
        typer.echo(json.dumps(end))
    else:
        print_suite(done.shown)
        if done.failed:
            text = f"{done.failed} rows failed; the first: {make_printable(done.error)}"
            typer.echo(f"{text} (--retry-failed plays them again)", err=True)
        if reports.stale:
            typer.echo(
                f"{reports.stale} stale rows, made by another code version, are left out",
                err=True,
            )
        for before, now in done.changed:
            names = ", ".join(before.differences(now))
            typer.echo(f"different result: {before.describe()}: {names}", err=True)
        if done.drift.rows:
            typer.echo(done.drift.describe(), err=True)
        typer.echo(str(reports.csv))
        typer.echo(str(reports.html))
    if done.changed:
        raise typer.Exit(1)
    if done.shown.alarms:
        raise typer.Exit(ALARM)


def _draw_seal(seed: int | None) -> Seal:
    from reconbench.benchmarks.store.seal import Seal

    _refuse_seed(seed)
    return Seal.draw()


def _refuse_seed(seed: int | None) -> None:
    if seed is not None:
        raise ValueError("--seal draws a secret seed; give --seal or --seed, not both")


def _row_json(row: Result) -> dict[str, Any]:
    shown = row.to_json()
    del shown["run_tail"]
    return shown
