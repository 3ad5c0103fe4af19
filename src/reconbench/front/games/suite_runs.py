"""Play a suite into a folder: what `reconbench run` and `reconbench.run` have in common.

Finished rows go to the store of the folder one by one; those that are there are not played again.
At the end the leaderboard is written beside them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from pathlib import Path

from reconbench.benchmarks.computations.computation import Point
from reconbench.benchmarks.game.result import Result, Status
from reconbench.benchmarks.game.row_schema.agreement import Drift
from reconbench.benchmarks.game.rows import read_versions
from reconbench.benchmarks.player.referee import limit_players
from reconbench.benchmarks.run.pool import GroupPlayer, Pool
from reconbench.benchmarks.run.runner import Plan, Replay, Unit, execute, plan, read_rows
from reconbench.benchmarks.run.worker_process import Limits
from reconbench.benchmarks.store.seal import Seal, check_can_hide
from reconbench.benchmarks.store.store import Store
from reconbench.front.games.suite_reports import Reports, Shown
from reconbench.front.progress import Advance

# Shows progress of a named work: how many rows there are, and how many were done before.
Show = Callable[[str, int, int], AbstractContextManager[Advance]]


@dataclass(frozen=True)
class SuiteRun:
    """What is to be played and computed, and how.

    One job without ``limits`` plays in this process; otherwise worker processes do, here or on the
    cluster of the Dask ``scheduler``. ``seal`` is a secret seed that the units were made with.
    """

    name: str
    description: str
    folder: Path
    units: Sequence[Unit]
    points: Sequence[Point] = ()
    jobs: int = 1
    limits: Limits | None = None
    replay: Replay = Replay.MISSING
    scheduler: str | None = None
    seal: Seal | None = None


def describe_run(
    name: str, description: str, units: Sequence[Unit], seal: Seal | None = None
) -> dict[str, str]:
    """How results are made, by name, as pages show it."""
    facts = {"suite": f"{name}: {description}"}
    if units:
        facts["seed"] = str(units[0].game.seed)
    if seal is not None:
        facts["sealed"] = f"commitment {seal.commitment}, salt {seal.salt}"
    if units:
        facts["repetitions"] = str(len({unit.game.rep for unit in units}))
    versions = ", ".join(f"{name} {number}" for name, number in read_versions().items())
    return facts | {"versions": versions}


@dataclass(frozen=True)
class FinishedRun:
    """What a run ends with.

    ``played`` rows of ``plan`` were not there before. ``changed`` are finished rows that came out
    different when they were played again, as they are stored and as they came out.
    """

    plan: Plan
    played: int
    failed: int
    error: str | None
    reports: Reports
    shown: Shown
    changed: tuple[tuple[Result, Result], ...]
    drift: Drift

    def read_rows(self) -> list[Result]:
        """All rows, in the order of the suite."""
        with Store(self.reports.folder) as store:
            return read_rows(self.plan, store)


def play_suite(run: SuiteRun, show: Show) -> FinishedRun:
    """Play what the folder does not hold yet, and write the leaderboard.

    Raises a ValueError before anything is written if something is wrong with a game.
    """
    limits = run.limits or Limits()
    limit_players(limits.seconds)
    changed: list[tuple[Result, Result]] = []
    drift = Drift()
    with ExitStack() as stack:
        store = stack.enter_context(Store(run.folder))
        at_once = bool(run.units) and not store.path.exists()
        players = _open_players(stack, run, len(run.units)) if at_once else None
        todo = plan(run.units, store, run.replay, run.points)
        todo.check()
        if run.seal is not None and todo.units:
            _hide_seed(run.seal, run.folder, todo)
            limit_players(limits.seconds, limits.hidden)
        if players is None and todo.units:
            players = _open_players(stack, run, len(todo.units))
        pool, jobs = players or (None, run.jobs)
        advance = stack.enter_context(show(run.name, todo.total, todo.held))
        execute(
            todo,
            store,
            jobs=jobs,
            pool=pool,
            progress=lambda done, row: advance(failed=row.status is Status.FAILED),
            differs=lambda stored, played: changed.append((stored, played)),
            drift=drift,
            seal=run.seal.commitment if run.seal is not None else "",
        )
        if run.seal is not None and not run.seal.revealed:
            run.seal.reveal(run.folder)
        played = todo.total - todo.held
        stored = store.read_headers(todo.keys) if played else todo.stored
        facts = describe_run(run.name, run.description, run.units, run.seal)
        reports = Reports(run.folder, run.name, facts, store.stale())
        shown = reports.refresh(todo.keys, stored, lambda: read_rows(todo, store))
        failed = [key for key in todo.keys if stored[key].status is Status.FAILED]
        error = store.get(failed[:1])[failed[0]].error if failed else None
    return FinishedRun(todo, played, len(failed), error, reports, shown, tuple(changed), drift)


def _open_players(stack: ExitStack, run: SuiteRun, units: int) -> tuple[GroupPlayer | None, int]:
    """Open worker processes here or on a cluster, if any are to play; and say how many."""
    limits = run.limits or Limits()
    if run.scheduler is not None:
        from reconbench.benchmarks.run.cluster import Cluster

        cluster = stack.enter_context(Cluster(run.scheduler, limits))
        return cluster, cluster.jobs
    if run.jobs == 1 and run.limits is None:
        return None, 1
    pool = stack.enter_context(Pool(run.jobs, limits))
    pool.start_workers(units)
    return pool, run.jobs


def _hide_seed(seal: Seal, folder: Path, todo: Plan) -> None:
    """Keep a secret seed where attacks do not find it. Raises if it is revealed already."""
    if seal.revealed:
        raise ValueError(
            f"the seed of {folder} is revealed, so nothing more can be played sealed; choose "
            f"another --out, or play on with --seed {seal.seed} instead of --seal"
        )
    check_can_hide(folder, {each.spec for unit in todo.units for each in unit.attacks})
    seal.keep(folder)
