"""A real Dask cluster on this machine: the rows of a local run, whatever happens to workers."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from importlib.util import find_spec
from math import inf
from pathlib import Path
from typing import Any, TypeVar

import pytest

from reconbench.benchmarks.game.play import AttackSpec, Game, Round, play
from reconbench.benchmarks.game.result import Result, Status
from reconbench.benchmarks.run import cluster
from reconbench.benchmarks.run.cluster import Cluster
from reconbench.benchmarks.run.cluster_files import (
    ClusterError,
    Order,
    Parcel,
    SchedulerLost,
    check_packages,
    decode_outcome,
    encode_outcome,
)
from reconbench.benchmarks.run.pool import Pool
from reconbench.benchmarks.run.runner import Unit, run
from reconbench.benchmarks.run.worker_process import Limits
from reconbench.benchmarks.run.worker_tasks import FailedRow, FinishedRow, Group, Turn
from reconbench.benchmarks.store.store import Store
from reconbench.datasets import BayNet, save_prior
from reconbench.missing_package import MissingPackage

if find_spec("distributed") is None and not os.environ.get("CI"):
    pytest.skip("needs the extra `cluster`", allow_module_level=True)

PLUGIN = """
import os, signal, subprocess, sys, time
from reconbench.mechanisms import GaussianMarginals

class Slow:
    name = "slow"
    def reconstruct(self, view, rng):
        time.sleep(0.4)
        return view.reconstruction(rng.integers(0, 2, (view.n, len(view.targets))))

class Exits(Slow):
    name = "exits"
    def reconstruct(self, view, rng):
        os._exit(3)

class Hangs(Slow):
    name = "hangs"
    def reconstruct(self, view, rng):
        subprocess.Popen([sys.executable, "-c", "import time; time.sleep(1000)  # CHILD_MARK"])
        time.sleep(1000)

class Shoots(Slow):
    name = "shoots"
    def reconstruct(self, view, rng):
        os.kill(os.getppid(), signal.SIGKILL)
        time.sleep(1000)

class Mine(GaussianMarginals):
    name = "mine"

class Deadly(GaussianMarginals):
    name = "deadly"
    def release(self, table, rng):
        if int(table.codes.sum()) == WRONG:
            os.kill(os.getppid(), signal.SIGKILL)
            time.sleep(1000)
        return super().release(table, rng)
"""
SUITE = """
name = "mine"
description = "an attack, a mechanism and a prior of one's own"
repetitions = 3
attacks = ["prior", "plugin.py:Slow"]
[[games]]
dataset = "toy.bif"
targets = ["b"]
mechanism = "plugin.py:Mine"
n = 20
epsilon = 2
"""
Found = TypeVar("Found")
MARK = f"cluster-{os.getpid()}"
PRIOR = AttackSpec("prior")


@dataclass
class Processes:
    """A scheduler and its workers, each with all its processes in a group of its own."""

    folder: Path
    address: str = ""

    def __post_init__(self) -> None:
        self._started: list[subprocess.Popen[bytes]] = []

    def start(self, name: str, *arguments: str) -> tuple[subprocess.Popen[bytes], Path]:
        log = self.folder / f"{name}.log"
        command = [str(Path(sys.executable).with_name("dask")), *arguments]
        with log.open("wb") as stream:
            process = subprocess.Popen(
                command, stdout=stream, stderr=stream, cwd=self.folder, start_new_session=True
            )
        self._started.append(process)
        return process, log

    def scheduler(self) -> subprocess.Popen[bytes]:
        place = ["--host", "127.0.0.1", "--port", "0"]
        process, log = self.start("scheduler", "scheduler", *place, "--no-dashboard", "--no-show")
        found = wait_for(lambda: re.search(r"tcp://127\.0\.0\.1:\d+", log.read_text()))
        self.address = found.group()
        return process

    def worker(self, name: str) -> subprocess.Popen[bytes]:
        one = ["--nthreads", "1", "--nworkers", "1", "--no-dashboard", "--name", name]
        process, log = self.start(name, "worker", self.address, *one)
        wait_for(lambda: "Registered to" in log.read_text())
        return process

    def stop(self) -> None:
        for process in reversed(self._started):
            kill(process)


def kill(process: subprocess.Popen[bytes]) -> None:
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def wait_for(check: Callable[[], Found | None]) -> Found:
    """What is found sooner or later; only a hang takes so long that this gives up."""
    for _ in range(6000):
        if found := check():
            return found
        time.sleep(0.05)
    raise AssertionError("it never happened")


def running(mark: str) -> bool:
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            if mark.encode() in path.read_bytes():
                return True
    return False


@pytest.fixture(scope="module")
def dask(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Processes]:
    """A scheduler with one worker."""
    processes = Processes(tmp_path_factory.mktemp("dask"))
    try:
        processes.scheduler()
        processes.worker("steady")
        yield processes
    finally:
        processes.stop()


@pytest.fixture
def folder(tmp_path: Path, toy_net: BayNet) -> Path:
    """Plugins and a prior that are nowhere but here."""
    found = tmp_path / "mine"
    found.mkdir()
    (found / "plugin.py").write_text(PLUGIN.replace("CHILD_MARK", MARK))
    save_prior(toy_net, found / "toy.bif")
    return found


def games(folder: Path, reps: int) -> list[Game]:
    mechanism = f"{folder / 'plugin.py'}:Mine"
    prior = str(folder / "toy.bif")
    return [Game(prior, ("b",), 2.0, n=20, mechanism=mechanism, rep=rep) for rep in range(reps)]


def mine(folder: Path, *names: str) -> tuple[AttackSpec, ...]:
    return tuple(AttackSpec(f"{folder / 'plugin.py'}:{name}") for name in names)


def differences(rows: Sequence[Result], others: Sequence[Result]) -> list[tuple[Any, ...]]:
    """Where rows differ in more than the machine's mood."""
    found = [
        (place, name, mine[name], others[place].to_json()[name])
        for place, mine in enumerate(row.to_json() for row in rows)
        for name in mine
        if json.dumps(mine[name]) != json.dumps(others[place].to_json()[name])
        and name not in ("seconds", "peak_memory_mib")
    ]
    return found if len(rows) == len(others) else [(len(rows), len(others))]


def ordered(found: Iterator[tuple[int, FinishedRow]]) -> list[Result]:
    rows = {(place, played.attack, played.rep): played.row for place, played in found}
    return [rows[key] for key in sorted(rows)]


def test_rows_are_those_of_a_local_run_though_a_worker_is_killed(
    dask: Processes, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Plugins and prior are gone from where they were as soon as they are packed."""
    units = [Unit(game, (PRIOR, *mine(folder, "Slow"))) for game in games(folder, 12)]
    with Store(tmp_path / "local") as store:
        local = run(units, store)
    away = tmp_path / "away"

    class Packed(Parcel):
        @classmethod
        def of(cls, groups: Any) -> Parcel:
            parcel = Parcel.of(groups)
            folder.rename(away)
            return parcel

    victim = dask.worker("victim")
    done = []

    def progress(_: int, row: Result) -> None:
        done.append(row)
        if len(done) == 8:
            kill(victim)

    monkeypatch.setattr(cluster, "Parcel", Packed)
    with (
        Store(tmp_path / "cluster") as store,
        Cluster(dask.address, Limits(seconds=20)) as there,
    ):
        assert there.jobs == 2
        rows = run(units, store, jobs=2, pool=there, progress=progress)
    assert victim.returncode == -signal.SIGKILL and len(done) == len(rows) == 24
    assert differences(rows, local) == [] and {row.status for row in rows} == {Status.OK}
    away.rename(folder)
    with Store(tmp_path / "cluster") as kept:
        again = run(units, kept, progress=lambda *_: pytest.fail("a row was not kept"))
    assert differences(again, local) == []


def test_a_suite_with_plugin_files_gives_one_store_by_any_way(
    dask: Processes, folder: Path
) -> None:
    (folder / "suite.toml").write_text(SUITE)
    ways = {
        "one": ("--jobs", "1"),
        "two": ("--jobs", "2"),
        "cluster": ("--scheduler", dask.address),
    }
    for out, how in ways.items():
        command("run", "suite.toml", "--out", out, "--quiet", *how, cwd=folder)
    for out in ("two", "cluster"):
        assert "same" in command("results", "diff", "one", out, cwd=folder)
    rows = command("results", "show", "cluster", "--json", cwd=folder)
    assert json.loads(rows) and '"slow"' in rows


def command(*arguments: str, cwd: Path) -> str:
    program = str(Path(sys.executable).with_name("reconbench"))
    done = subprocess.run([program, *arguments], cwd=cwd, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_attacks_that_exit_or_hang_lose_their_rows_only(dask: Processes, folder: Path) -> None:
    attacks = (PRIOR, *mine(folder, "Exits", "Hangs", "Slow"))
    groups = [Group((game,), attacks) for game in games(folder, 1)]
    limits = Limits(seconds=2)
    with Cluster(dask.address, limits) as there:
        rows = ordered(there.play(groups))
    with Pool(1, limits) as pool:
        assert differences(rows, ordered(pool.play(groups))) == []
    assert [row.error for row in rows] == [
        None,
        "attack 'exits' killed its player process (exit code 3)",
        "attack 'hangs' exceeded the 2 s time limit (--timeout)",
        None,
    ]
    assert not running(MARK)


def test_an_attack_that_kills_its_parent_does_not_reach_the_worker(
    dask: Processes, folder: Path
) -> None:
    group = Group(tuple(games(folder, 1)), (PRIOR, *mine(folder, "Shoots", "Slow")))
    with Cluster(dask.address, Limits(seconds=2)) as there:
        rows = ordered(there.play([group]))
    assert [row.status for row in rows] == [Status.OK, Status.FAILED, Status.OK]
    assert (rows[1].error or "").startswith("attack 'shoots' ")
    assert "Dask" not in (rows[1].error or "")


def test_a_mechanism_that_kills_the_dask_worker_is_given_up(dask: Processes, folder: Path) -> None:
    plugin = folder / "plugin.py"
    tables = [Round.draw(game).table.codes.sum() for game in games(folder, 2)]
    assert tables[0] != tables[1]
    plugin.write_text(plugin.read_text().replace("WRONG", str(tables[1])))
    deadly = [replace(game, mechanism=f"{plugin}:Deadly") for game in games(folder, 2)]
    group = Group(tuple(deadly), (PRIOR,))
    with Cluster(dask.address, Limits()) as there:
        there._client.run_on_scheduler(_allow, 0)
        try:
            rows = ordered(there.play([group]))
        finally:
            there._client.run_on_scheduler(_allow, 3)
    assert [row.status for row in rows] == [Status.OK, Status.FAILED]
    assert "killed every Dask worker that played it, 1 in a row" in (rows[1].error or "")
    assert replace(rows[1], attack="", attack_options={}).cell[:-2] == rows[0].cell[:-2]


def _allow(failures: int, dask_scheduler: Any) -> None:
    dask_scheduler.allowed_failures = failures


_allow.__module__ = "__main__"  # sent as it stands: the scheduler cannot import tests


def test_leaving_stops_what_is_running(dask: Processes, folder: Path) -> None:
    groups = [Group((game,), mine(folder, "Hangs")) for game in games(folder, 2)]
    with pytest.raises(KeyboardInterrupt), Cluster(dask.address, Limits()) as there:
        rows = there.play([Group((groups[0].games[0],), (PRIOR,)), *groups])
        next(rows)
        wait_for(lambda: running(MARK))
        raise KeyboardInterrupt
    del rows
    wait_for(lambda: not running(MARK))


def test_a_scheduler_that_dies_ends_the_run_and_keeps_its_rows(
    folder: Path, tmp_path: Path
) -> None:
    units = [Unit(game, mine(folder, "Slow")) for game in games(folder, 6)]
    own = Processes(tmp_path)
    kept = []

    def progress(_: int, row: Result) -> None:
        kept.append(row)
        if len(kept) == 2:
            kill(scheduler)

    try:
        scheduler = own.scheduler()
        own.worker("worker")
        with Store(tmp_path / "store") as store:
            with (
                pytest.raises(ClusterError, match="finished rows are kept"),
                Cluster(own.address, Limits()) as there,
            ):
                run(units, store, jobs=1, pool=there, progress=progress)
            assert 2 <= len(kept) < len(units)
            assert len(run(units, store)) == len(units)
    finally:
        own.stop()


def test_other_versions_are_refused(
    dask: Processes, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = {"reconbench": "99.0"}
    with monkeypatch.context() as patched:
        patched.setattr(cluster, "read_versions", lambda: other)
        with (
            pytest.raises(ClusterError, match=r"worker tcp://.* has reconbench .*reconbench 99\.0"),
            Cluster(dask.address, Limits()),
        ):
            pass
    with monkeypatch.context() as patched, Cluster(dask.address, Limits()) as there:
        patched.setattr(cluster, "list_packages", lambda groups: {"no-such-plugin": "1.0"})
        with pytest.raises(ClusterError, match="has no no-such-plugin, this machine no-such"):
            list(there.play([Group(tuple(games(folder, 1)), (PRIOR,))]))


def test_unreachable_schedulers_are_reported_in_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    client = pytest.importorskip("distributed").Client
    monkeypatch.setattr(client, "__init__", lambda *_, **__: pytest.fail("the probe let it pass"))
    monkeypatch.setattr(cluster, "CONNECT_SECONDS", 1.0)
    with socket.create_server(("127.0.0.1", 0)) as deaf:
        port = deaf.getsockname()[1]
        refuse(f"tcp://127.0.0.1:{port}", "")
    refuse(f"tcp://127.0.0.1:{port}", "no answer in 1 s")
    refuse("nowhere", "")
    refuse("udp://127.0.0.1:1", "must begin with one of")


def refuse(address: str, reason: str) -> None:
    """By the probe, before Dask's client, which would wait for ever, is asked."""
    error = rf"no Dask scheduler answers at '{address}' \(.*{reason}"
    with pytest.raises(ClusterError, match=error) as found, Cluster(address, Limits()):
        pass
    assert "\n" not in str(found.value)


def test_without_the_extra_there_is_a_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(MissingPackage, match=r"pip install 'reconbench\[cluster\]'"):
        Cluster("tcp://127.0.0.1:8786", Limits())


def test_parcels(folder: Path, tmp_path: Path) -> None:
    group = Group(tuple(games(folder, 2)), (PRIOR, *mine(folder, "Slow", "Exits")))
    parcel = Parcel.of([group, group])
    plugin, prior = str(folder / "plugin.py"), str(folder / "toy.bif")
    assert sorted(parcel.files) == [plugin, prior]
    there = parcel.unpack(tmp_path)
    assert there == parcel.unpack(tmp_path) and set(there) == {plugin, prior}
    for path, copy in there.items():
        assert Path(copy).read_bytes() == Path(path).read_bytes() and copy != path
    assert Path(there[prior]).with_suffix(".json").is_file()
    (folder / "plugin.py").write_text(PLUGIN + "\n")
    assert Parcel.of([group]).unpack(tmp_path) != there
    (folder / "toy.json").unlink()
    alone = Parcel.of([group]).unpack(tmp_path)[prior]  # a file of another tool has no codebook
    assert [path.name for path in Path(alone).parent.iterdir()] == ["toy.bif"]
    (folder / "toy.bif").unlink()
    with pytest.raises(ClusterError, match=r"cannot send .*toy\.bif to the cluster: No such file"):
        Parcel.of([group])


def test_orders_are_divided_down_to_a_row(folder: Path) -> None:
    group = Group(tuple(games(folder, 3)), (PRIOR, *mine(folder, "Slow")))
    order = Order(5, group, (Turn(0, (0, 1, 2)), Turn(1, (0,))))
    assert [part.turns for part in order.halves()] == [(Turn(0, (0, 1, 2)),), (Turn(1, (0,)),)]
    first = order.halves()[0].halves()
    assert [part.turns for part in first] == [(Turn(0, (0,)),), (Turn(0, (1,)), Turn(0, (2,)))]
    assert first[0].halves() == []
    assert order.remaining({(5, 0, 1), (5, 1, 0), (4, 0, 0)}).turns == (Turn(0, (0, 2)),)


class DeadClient:
    """A client whose scheduler has gone: every call fails in a way of its own."""

    def __getattr__(self, name: str) -> Any:
        def call(*arguments: object, **options: object) -> None:
            raise {"nthreads": OSError, "subscribe_topic": TimeoutError}.get(name, RuntimeError)(
                "Client is closed"
            )

        return call


def test_a_scheduler_that_dies_at_any_moment_is_one_line(folder: Path) -> None:
    cluster = Cluster("tcp://127.0.0.1:8786", Limits())
    cluster._client = DeadClient()
    group = Group(tuple(games(folder, 1)), (PRIOR,))
    for call in (lambda: cluster.jobs, lambda: list(cluster.play([group]))):
        with pytest.raises(SchedulerLost, match="the Dask scheduler is gone") as lost:
            call()
        assert lost.value.exit_code == 3 and "rows are kept" in str(lost.value)


def test_same_packages() -> None:
    check_packages({"numpy": "2.4"}, {"numpy": "2.4"}, "w")
    with pytest.raises(ClusterError, match=r"^Dask worker w has numpy 1, this machine numpy 2: "):
        check_packages({"numpy": "2"}, {"numpy": "1"}, "w")


def test_rows_travel_as_text_and_arrive_as_they_were() -> None:
    row = play(Round.draw(Game("acs", ("SEX",), inf, n=5)), AttackSpec("posterior"))
    assert row.epsilon == inf and row.best_possible is not None
    for outcome in (FinishedRow(1, 2, row), FailedRow(0, 1, "hung"), FailedRow(0, 1, "hung", row)):
        arrived = decode_outcome(encode_outcome(outcome))
        assert arrived == outcome and encode_outcome(arrived) == encode_outcome(outcome)
    with pytest.raises(ClusterError, match="without its content"):
        decode_outcome("[0, 0, null, null]")
