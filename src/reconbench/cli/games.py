"""`reconbench game` and `run`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from reconbench.cli import _show

if TYPE_CHECKING:
    from reconbench.benchmarks.game.result import Result
    from reconbench.benchmarks.run.pool import GroupPlayer
    from reconbench.benchmarks.run.worker_process import Limits

GAME_HELP = """Play one game and print prior, attack and ceiling side by side.

A table is sampled from the prior, released, attacked and scored; every repetition draws a fresh
table and fresh noise. The known columns default to all but the targets.

\b
Examples:
  reconbench game --dataset acs --targets SEX --epsilon 1
  reconbench game --dataset fire --targets "ALS Unit" --epsilon inf --attack rap --reps 10
  reconbench game --dataset acs --targets AGEP --epsilon 1 --metric l1:1 --json
  reconbench game --dataset acs --targets SCHL,AGEP --epsilon 3 --attack prior --attack rap
  reconbench game --dataset prior.bif --targets income --epsilon 1 --attack mine.py:MyAttack
"""

RUN_HELP = """Run a suite, its games and its computations, and write its leaderboard.

Finished rows are kept in the output folder and never computed twice, so a run that was stopped
goes on where it was. Rows made by other code stay there too, but count for nothing: see
`reconbench results`.

Attacks play in worker processes. One that raises, answers nonsense, takes longer than --timeout,
asks for more than --memory-limit or takes its process down loses that row only: the row says why,
all others are played, and --retry-failed tries it again.

\b
Exit codes: 0 done (also with failed rows), 1 --force found rows that came out otherwise, 2 bad
input, 3 the store could not be written (a full disk), 130 and 143 stopped by Ctrl-C and SIGTERM.
Finished rows are kept in every case.

\b
Examples:
  reconbench run quick
  reconbench run quick --reps 20 --jobs 2 --out results/more
  reconbench run quick --attack my_attack.py:MyAttack
  reconbench run quick --bound my_bound.py:MyBound
  reconbench run quick --attack my_attack.py:MyAttack --timeout 30 --memory-limit 4
  reconbench run quick --retry-failed --timeout 3600
  reconbench run quick --force
  reconbench run quick --scheduler tcp://head-node:8786
  reconbench run kulynych
  reconbench run path/to/suite.toml
"""


Json = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]
Seed = Annotated[int, typer.Option(help="Same seed, same numbers.")]
Jobs = Annotated[int, typer.Option(min=1, help="Worker processes; results do not depend on it.")]
BoundFiles = Annotated[
    list[str] | None,
    typer.Option("--bound", help="One more bound, as file.py:Class; installed ones are always on."),
]
Timeout = Annotated[
    float,
    typer.Option(
        min=0.0, help="Seconds that an attack may take for one repetition; 0 for no limit."
    ),
]
MemoryLimit = Annotated[
    float,
    typer.Option(min=0.0, help="GiB that each worker process may use, 1 at least; 0: no limit."),
]


def game(
    dataset: Annotated[
        str, typer.Option(help="A data set (see `list dataset`), a .bif file or file.py:function.")
    ],
    targets: Annotated[
        list[str], typer.Option(help="Columns to reconstruct, separated by commas.")
    ],
    epsilon: Annotated[float, typer.Option(help="Privacy budget; `inf` for none.")],
    delta: Annotated[float, typer.Option(help="Privacy budget.")] = 1e-5,
    k: Annotated[
        int | None,
        typer.Option(help="Columns in a marginal; short for `--mechanism-option k=K`. Default 3."),
    ] = None,
    n: Annotated[int, typer.Option(help="Records in the table.")] = 100,
    known: Annotated[
        list[str] | None, typer.Option(help="Known columns; default: all but the targets.")
    ] = None,
    attack: Annotated[
        list[str] | None, typer.Option(help="A name or file.py:Class; may be repeated.")
    ] = None,
    option: Annotated[
        list[str] | None, typer.Option(help="An option of the attacks, as key=value.")
    ] = None,
    mechanism: Annotated[
        str, typer.Option(help="A name (see `list mechanism`) or file.py:Class.")
    ] = "gaussian-marginals",
    mechanism_option: Annotated[
        list[str] | None, typer.Option(help="An option of the mechanism, as key=value.")
    ] = None,
    metric: Annotated[
        str, typer.Option(help="`exact`, `l1:E` on an ordinal column, or file.py:Class.")
    ] = "exact",
    adversary: Annotated[
        str, typer.Option(help="`realistic`, or `informed`: knows all other records in full.")
    ] = "realistic",
    advantage: Annotated[
        int,
        typer.Option(
            min=0,
            help="Attack so many records of each table once more with the record replaced: "
            "the reconstruction advantage.",
        ),
    ] = 0,
    bound: BoundFiles = None,
    reps: Annotated[int, typer.Option(min=1, help="Repetitions.")] = 5,
    seed: Seed = 0,
    jobs: Jobs = 1,
    timeout: Timeout = 600.0,
    memory_limit: MemoryLimit = 0.0,
    as_json: Annotated[
        bool, typer.Option("--json", help="One JSON object a repetition and attack.")
    ] = False,
) -> None:
    from reconbench.benchmarks import plugins
    from reconbench.benchmarks.game.options import Options
    from reconbench.benchmarks.game.play import AttackSpec, Game, check
    from reconbench.benchmarks.game.result import Status
    from reconbench.benchmarks.game.row_ceilings import add_repetition_ceilings
    from reconbench.benchmarks.plugins.bounds import check_bound_files
    from reconbench.benchmarks.run.pool import Pool
    from reconbench.benchmarks.run.runner import Unit, play_units
    from reconbench.benchmarks.run.worker_process import Limits

    limits = Limits.of(timeout, memory_limit)
    options = parse_options(option or [], "--option")
    asked = parse_options(mechanism_option or [], "--mechanism-option")
    released = Options(asked if k is None else {**asked, "k": k})
    plugins.check_options(mechanism, released)
    released = plugins.drop_default_options(mechanism, released)
    attacks = tuple(AttackSpec(plugins.make_absolute(spec), options) for spec in attack or ["rap"])
    bounds = check_bound_files(bound or [])
    units = [
        Unit(
            Game(
                dataset=plugins.make_absolute(dataset),
                targets=_columns(targets),
                known=_columns(known or []),
                epsilon=epsilon,
                delta=delta,
                n=n,
                mechanism=plugins.make_absolute(mechanism),
                mechanism_options=released,
                metric=plugins.make_absolute(metric),
                adversary=adversary,
                advantage=advantage,
                seed=seed,
                rep=rep,
            ),
            attacks,
            bounds,
        )
        for rep in range(reps)
    ]
    found: dict[tuple[int, int], Result] = {}
    with (
        Pool(min(jobs, reps), limits) as pool,
        _show.progress("game", reps * len(attacks), quiet=False) as advance,
    ):
        pool.start_workers()
        check(units[0].game)
        for each in attacks:
            each.build()
        for place, which, row in play_units(units, jobs, pool=pool):
            if row.status is Status.FAILED:
                raise ValueError(row.error)
            found[place, which] = row
            advance()
    rows = add_repetition_ceilings([found[key] for key in sorted(found)])
    if as_json:
        for row in rows:
            typer.echo(json.dumps(_printed(row), ensure_ascii=False, allow_nan=False))
    else:
        _show.game(rows)


def run(
    suite: Annotated[str, typer.Argument(help="A suite (see `suite list`) or a .toml file.")],
    out: Annotated[Path | None, typer.Option(help="Output folder; default results/SUITE.")] = None,
    attack: Annotated[
        list[str] | None, typer.Option(help="One more attack: a name or file.py:Class.")
    ] = None,
    bound: BoundFiles = None,
    reps: Annotated[
        int | None, typer.Option(min=1, help="Repetitions, instead of the suite's.")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Seed, instead of the suite's.")] = None,
    jobs: Annotated[
        int | None, typer.Option(min=1, help="Worker processes; default: all cores.")
    ] = None,
    timeout: Timeout = 600.0,
    memory_limit: MemoryLimit = 0.0,
    scheduler: Annotated[
        str | None, typer.Option(help="Play on a cluster: the address of its Dask scheduler.")
    ] = None,
    only_missing: Annotated[
        bool, typer.Option("--only-missing", help="Play rows that are not there: the default.")
    ] = False,
    retry_failed: Annotated[
        bool, typer.Option("--retry-failed", help="Play failed rows again, too.")
    ] = False,
    force: Annotated[
        bool,
        typer.Option(
            "--force",
            help="Play everything again and report rows that come out otherwise. Finished rows "
            "stay as they are.",
        ),
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="End with one JSON object.")] = False,
) -> None:
    from reconbench.benchmarks.game.result import Status
    from reconbench.benchmarks.game.rows import read_versions
    from reconbench.benchmarks.run.runner import Replay, available_cores, execute, plan, read_rows
    from reconbench.benchmarks.run.worker_process import Limits
    from reconbench.benchmarks.store.store import Store
    from reconbench.benchmarks.suites.suite import find_suite
    from reconbench.cli._reports import Reports

    if only_missing + retry_failed + force > 1:
        raise ValueError("give one of --only-missing, --retry-failed and --force, not several")
    replay = Replay.ALL if force else Replay.FAILED if retry_failed else Replay.MISSING
    limits = Limits.of(timeout, memory_limit)
    chosen = find_suite(suite)
    units = chosen.units(
        seed=seed, repetitions=reps, more_attacks=attack or [], more_bounds=bound or []
    )
    folder = out or Path("results") / chosen.name
    many = jobs or available_cores()
    facts = {"suite": f"{chosen.name}: {chosen.description}"}
    if units:
        facts["seed"] = str(units[0].game.seed)
        facts["repetitions"] = str(len({unit.game.rep for unit in units}))
    facts["versions"] = ", ".join(f"{name} {number}" for name, number in read_versions().items())
    changed: list[tuple[Result, Result]] = []
    with ExitStack() as stack:
        store = stack.enter_context(Store(folder))
        at_once = bool(units) and not store.path.exists()
        players = _players(stack, many, len(units), limits, scheduler) if at_once else None
        todo = plan(units, store, replay, chosen.points())
        todo.check()
        if players is None and todo.units:
            players = _players(stack, many, len(todo.units), limits, scheduler)
        pool, many = players or (None, many)
        advance = stack.enter_context(
            _show.progress(chosen.name, todo.total, quiet=quiet or as_json, done=todo.held)
        )
        execute(
            todo,
            store,
            jobs=many,
            pool=pool,
            progress=lambda done, row: advance(failed=row.status is Status.FAILED),
            differs=lambda stored, played: changed.append((stored, played)),
        )
        played = todo.total - todo.held
        stored = store.read_headers(todo.keys) if played else todo.stored
        reports = Reports(folder, chosen.name, facts, store.stale())
        shown = reports.refresh(todo.keys, stored, lambda: read_rows(todo, store))
        failed = [key for key in todo.keys if stored[key].status is Status.FAILED]
        error = store.get(failed[:1])[failed[0]].error if failed else None
    if as_json:
        end = {"rows": todo.total, "failures": len(failed), "store": str(store.path)}
        end |= {"played": played, "stale": reports.stale, "changed": len(changed)}
        end |= {"csv": str(reports.csv), "html": str(reports.html)}
        typer.echo(json.dumps(end))
    else:
        for lines in shown:
            lines.show()
        if failed:
            text = f"{len(failed)} rows failed; the first: {_show.plain(error)}"
            typer.echo(f"{text} (--retry-failed plays them again)", err=True)
        if reports.stale:
            typer.echo(
                f"{reports.stale} rows are stale: made by other code, left out here", err=True
            )
        for before, now in changed:
            names = ", ".join(before.differences(now))
            typer.echo(f"came out otherwise: {before.describe()}: {names}", err=True)
        typer.echo(str(reports.csv))
        typer.echo(str(reports.html))
    if changed:
        raise typer.Exit(1)


def _players(
    stack: ExitStack, jobs: int, units: int, limits: Limits, scheduler: str | None
) -> tuple[GroupPlayer, int]:
    """Worker processes here, or those of a cluster, and how many."""
    if scheduler is not None:
        from reconbench.benchmarks.run.cluster import Cluster

        cluster = stack.enter_context(Cluster(scheduler, limits))
        return cluster, cluster.jobs
    from reconbench.benchmarks.run.pool import Pool

    pool = stack.enter_context(Pool(jobs, limits))
    pool.start_workers(units)
    return pool, jobs


def _columns(texts: Sequence[str]) -> tuple[str, ...]:
    return tuple(name.strip() for text in texts for name in text.split(",") if name.strip())


def parse_options(texts: Sequence[str], flag: str) -> dict[str, Any]:
    """key=value pairs; a value that reads as JSON is that, anything else is text."""
    found: dict[str, Any] = {}
    for text in texts:
        key, equals, value = text.partition("=")
        if not equals or not key.isidentifier():
            raise ValueError(f"{flag} takes key=value, got {text!r}")
        try:
            found[key] = json.loads(value)
        except json.JSONDecodeError:
            found[key] = value
    return found


def _printed(row: Result) -> dict[str, Any]:
    shown = row.to_json()
    del shown["run_tail"]
    return shown
