"""What the runner costs beside the attacks: keys, pipes to the workers, and the store.

The workers play a stub that answers at once, so whatever time passes is the runner's own.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from importlib import import_module
from itertools import count
from math import inf
from pathlib import Path
from typing import Any

import pytest

from reconbench.benchmarks.game.options import Options
from reconbench.benchmarks.game.play import AttackSpec, Game
from reconbench.benchmarks.game.result import Result
from reconbench.benchmarks.run import pool as pools
from reconbench.benchmarks.run.cluster import Cluster
from reconbench.benchmarks.run.runner import Unit, group_units, plan, play_units, read_rows, run
from reconbench.benchmarks.run.worker_process import Limits
from reconbench.benchmarks.run.worker_tasks import Group
from reconbench.benchmarks.store.store import Entry, Keys, Store
from reconbench.benchmarks.suites.suite import find_suite
from reconbench.front.games.suite_reports import RECORD, Reports

STUB = """
import json
from dataclasses import replace
from reconbench.benchmarks.game.result import Result
from reconbench.benchmarks.run.worker_tasks import (
    AttackStarted, FinishedRow, SetupFinished, SetupStarted
)

ROW = Result.from_json(json.loads({row!r}))

def report_group(report, group, turns, *more):
    for turn in turns:
        for rep in turn.reps:
            row = replace(ROW, rep=group.games[rep].rep, epsilon=group.games[rep].epsilon)
            report(SetupStarted(rep))
            report(SetupFinished(rep, replace(row, attack="")))
            report(AttackStarted(turn))
            report(FinishedRow(turn.attack, rep, row))
"""
# Waits until so many workers are there, each with all attacks loaded. Players may have process
# numbers of their own, so these are not different.
GATHER = """
import tempfile, time
from pathlib import Path

class Gather:
    name = "gather"
    def __init__(self, folder: str, workers: int) -> None:
        self.folder, self.workers = Path(folder), workers
    def reconstruct(self, view, rng):
        tempfile.mkstemp(dir=self.folder)
        while len(list(self.folder.iterdir())) < self.workers:
            time.sleep(0.01)
        return view.reconstruction([0] * view.n)
"""
CELLS = 2000


def units(count: int) -> list[Unit]:
    game, attacks = (
        Game("acs", ("SEX",), 1.0, n=10, mechanism_options=Options({"k": 2})),
        (AttackSpec("prior"),),
    )
    return [
        Unit(replace(game, rep=place % 10, epsilon=1.0 + place // 10), attacks)
        for place in range(count)
    ]


@pytest.fixture(scope="module")
def row() -> Result:
    ((_, _, row),) = play_units(units(1))
    return row


@pytest.fixture
def stub(
    row: Result, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[[list[Unit], Store], float]]:
    """Play with two worker processes; the seconds that it took, without starting them."""
    (tmp_path / "stub_of_play.py").write_text(STUB.format(row=json.dumps(row.to_json())))
    monkeypatch.syspath_prepend(tmp_path)
    stub_of_play = import_module("stub_of_play")
    monkeypatch.setattr(pools, "report_group", stub_of_play.report_group)
    with pools.Pool(2, Limits()) as pool, Store(tmp_path / "warm") as store:
        run(units(20), store, jobs=2, pool=pool)

        def play(work: list[Unit], store: Store) -> float:
            start = time.perf_counter()
            rows = run(work, store, jobs=2, pool=pool)
            assert len(rows) == len(work)
            return time.perf_counter() - start

        yield play
    del sys.modules["stub_of_play"]


def test_rows_through_pool_and_store(
    benchmark: Any, stub: Callable[[list[Unit], Store], float], row: Result, tmp_path: Path
) -> None:
    """A row's way costs less than a fifth of the cheapest real one's playing."""
    work = units(CELLS)
    with Store(tmp_path / "out") as store:
        taken = benchmark.pedantic(stub, (work, store), rounds=1)
        assert len(store.entries()) == CELLS
    start = time.perf_counter()
    for unit in units(10):
        list(play_units([unit]))
    playing = (time.perf_counter() - start) / 10
    benchmark.extra_info["rows a second, two workers"] = CELLS / taken
    benchmark.extra_info["ms a row of the runner's own"] = 1000 * taken / CELLS
    benchmark.extra_info["ms a row of playing the prior attack"] = 1000 * playing
    assert taken / CELLS < 0.2 * playing


@pytest.fixture
def steady(tmp_path: Path) -> Callable[[pools.GroupPlayer, int], float]:
    """Seconds of figure 4 of Swanberg 2025, two tables a game, from when all workers are up."""
    (tmp_path / "gather.py").write_text(GATHER)
    suite, folders = find_suite("swanberg-fig4"), count()

    def play(players: pools.GroupPlayer, workers: int) -> float:
        folder = tmp_path / str(next(folders))
        folder.mkdir()
        work = suite.units(repetitions=2)
        options = {"folder": str(folder), "workers": workers}
        gather = AttackSpec(f"{tmp_path / 'gather.py'}:Gather", options)
        first = [Group((unit.game,), (*unit.attacks, gather)) for unit in work[:workers]]
        groups = [*first, *(group for group, _ in group_units(work, workers))]
        for place, played in players.play(groups):
            if place < workers and played.attack == len(first[0].attacks) - 1:
                start = time.perf_counter()
        return time.perf_counter() - start

    return play


LOOP = """
import time
start = time.perf_counter()
for _ in range(15_000_000):
    pass
print(time.perf_counter() - start)
"""


def second_core() -> float:
    """How much faster two loops that share nothing get on than one: 2 unless others are busy."""

    def loops(number: int) -> float:
        command = [sys.executable, "-c", LOOP]
        runs = [subprocess.Popen(command, stdout=subprocess.PIPE) for _ in range(number)]
        return max(float(each.communicate()[0]) for each in runs)

    return 2 * loops(1) / loops(2)


def test_two_jobs_and_a_cluster_of_two(
    benchmark: Any, steady: Callable[[pools.GroupPlayer, int], float]
) -> None:
    """Two jobs get nine tenths of what a second core can give, a cluster of two 85 % of that.

    The best of five attempts, since whatever else runs on the machine takes more from two.
    """
    workers = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    share, lag = 0.0, inf
    with (
        pools.Pool(1, Limits()) as alone,
        pools.Pool(2, Limits()) as pair,
        import_module("distributed").LocalCluster(**workers) as local,
        Cluster(local.scheduler_address, Limits()) as cluster,
    ):
        for attempt in range(5):
            possible = second_core()
            one, two = steady(alone, 1), steady(pair, 2)
            there = steady(cluster, 2) if attempt else benchmark.pedantic(steady, (cluster, 2))
            possible = min(possible, second_core())
            share, lag = max(share, one / two / possible), min(lag, there / two)
            benchmark.extra_info["one job / two jobs"] = one / two
            benchmark.extra_info["one loop / two loops"] = possible
            benchmark.extra_info["cluster of two / two jobs"] = there / two
            if share > 0.9 and lag < 1.15:
                break
    assert share > 0.9
    assert lag < 1.15


def test_resuming_costs_little(
    benchmark: Any, fastest: Callable[..., list[float]], row: Result, tmp_path: Path
) -> None:
    """Hashing all keys and reading all rows costs little more than validating rows would."""
    work, hashed = units(CELLS), Keys()
    with Store(tmp_path) as store:
        for unit in work:
            store.put(hashed.of(unit.game, unit.attacks[0]), replace(row, rep=unit.game.rep))
    text = json.dumps(row.to_json())

    def validate() -> None:
        for _ in range(CELLS):
            Result.from_json(json.loads(text))

    def resume() -> None:
        with Store(tmp_path) as store:
            todo = plan(work, store)
            assert not todo.units and len(read_rows(todo, store)) == CELLS

    resuming, validating = fastest(5, resume, validate)
    benchmark.pedantic(resume, rounds=1)
    benchmark.extra_info["ms a row to resume"] = 1000 * resuming / CELLS
    benchmark.extra_info["resuming / validating"] = resuming / validating
    assert resuming < 4 * validating


def test_a_finished_suite_does_not_write_its_reports_again(
    benchmark: Any, fastest: Callable[..., list[float]], row: Result, tmp_path: Path
) -> None:
    """Seeing that all is there takes less than a quarter of reading and reporting all rows."""
    work, hashed, cells = units(5 * CELLS), Keys(), 5 * CELLS
    with Store(tmp_path) as store:
        store.add(
            Entry(
                hashed.of(unit.game, unit.attacks[0]),
                replace(row, rep=unit.game.rep, epsilon=unit.game.epsilon),
            )
            for unit in work
        )
    reports = Reports(tmp_path, "stub", {})

    def resume() -> None:
        with Store(tmp_path) as store:
            todo = plan(work, store)
            reports.refresh(todo.keys, todo.stored, lambda: read_rows(todo, store))

    def write() -> None:
        (tmp_path / RECORD).unlink(missing_ok=True)
        resume()

    writing, resuming = fastest(3, write, resume)
    benchmark.pedantic(resume, rounds=1)
    benchmark.extra_info["rows"] = cells
    benchmark.extra_info["ms a row to see that all is there"] = 1000 * resuming / cells
    benchmark.extra_info["resuming / writing the reports"] = resuming / writing
    assert resuming < 0.25 * writing


def test_one_commit_a_row_is_affordable(
    benchmark: Any, fastest: Callable[..., list[float]], row: Result, tmp_path: Path
) -> None:
    """Crash safety costs less than ten times one commit for all."""
    work, hashed, folders = units(CELLS), Keys(), count()
    keys = [hashed.of(unit.game, unit.attacks[0]) for unit in work]

    def one_by_one() -> None:
        with Store(tmp_path / str(next(folders))) as store:
            for key in keys:
                store.put(key, row)

    def all_at_once() -> None:
        with Store(tmp_path / str(next(folders))) as store:
            store.add(Entry(key, row) for key in keys)

    alone, together = fastest(3, one_by_one, all_at_once)
    benchmark.pedantic(one_by_one, rounds=1)
    benchmark.extra_info["ms a row, one commit each"] = 1000 * alone / CELLS
    benchmark.extra_info["one commit each / one for all"] = alone / together
    assert alone < 10 * together
