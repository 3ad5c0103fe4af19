"""What another machine needs to play groups of this one, and how a group is played there.

A machine of the cluster has the package and nothing else of the user's: attacks and mechanisms in
files, and priors with their codebooks, are sent as a parcel, and groups as orders. ``play_order``
is the task of a Dask worker. It plays in a child process, as a pool on this machine does: if an
attack hangs, exits or takes too much memory, its row fails and the Dask worker stays as it was.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
import threading
from collections.abc import Container, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from importlib import import_module
from pathlib import Path
from typing import Any

from reconbench.benchmarks import plugins
from reconbench.benchmarks.game.result import Result
from reconbench.benchmarks.game.rows import read_versions
from reconbench.benchmarks.run.pool import Assignment, Pool
from reconbench.benchmarks.run.worker_process import Limits
from reconbench.benchmarks.run.worker_tasks import FailedRow, FinishedRow, Group, Outcome, Turn
from reconbench.benchmarks.store.provenance import installed_version
from reconbench.datasets.network.bif import ENDINGS, codebook_path

# Rows are sent under this name as they finish; the scheduler keeps the last ones of each name.
TOPIC = "reconbench rows"
# A child process that has been idle for so long is ended: its client is most likely gone.
IDLE_SECONDS = 30.0


class ClusterError(ValueError):
    """A cluster that cannot be reached, or whose rows would not be those of this machine."""


class SchedulerLost(ClusterError):
    """A scheduler that went away during a run."""

    exit_code = 3


@dataclass(frozen=True)
class Parcel:
    """Files by the path that specs give; a file comes with those that must lie beside it."""

    files: Mapping[str, tuple[tuple[str, bytes], ...]]

    @classmethod
    def of(cls, groups: Iterable[Group]) -> Parcel:
        return cls({path: _contents(Path(path)) for path in sorted(_own_files(groups))})

    def sha256(self) -> str:
        parts = [
            [path, [[name, hashlib.sha256(text).hexdigest()] for name, text in contents]]
            for path, contents in self.files.items()
        ]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()

    def unpack(self, base: Path) -> dict[str, str]:
        """Where the copies are, by original path; they are written once, whole or not at all."""
        folder = base / f"reconbench-{self.sha256()[:32]}"
        if not folder.exists():
            fresh = Path(tempfile.mkdtemp(dir=base, prefix=".reconbench-"))
            for index, contents in enumerate(self.files.values()):
                (fresh / str(index)).mkdir()
                for name, text in contents:
                    (fresh / str(index) / Path(name).name).write_bytes(text)
            try:
                os.rename(fresh, folder)
            except OSError:
                shutil.rmtree(fresh)
                if not folder.exists():
                    raise
        return {
            path: str(folder / str(index) / Path(contents[0][0]).name)
            for index, (path, contents) in enumerate(self.files.items())
        }


def _own_files(groups: Iterable[Group]) -> set[str]:
    """Every file of the user's own that a group names, in whichever field of its game."""
    specs: set[str] = set()
    for group in groups:
        first = group.games[0]
        specs |= {value for f in fields(first) if isinstance(value := getattr(first, f.name), str)}
        specs |= {attack.spec for attack in group.attacks} | set(group.bounds)
    return {path for spec in specs if (path := plugins.get_file(spec)) is not None}


def _contents(path: Path) -> tuple[tuple[str, bytes], ...]:
    try:
        beside = [codebook_path(path)] if path.name.endswith(ENDINGS) else []
        beside = [each for each in beside if each.exists()]
        return tuple((each.name, each.read_bytes()) for each in (path, *beside))
    except OSError as error:
        raise ClusterError(
            f"cannot send {error.filename} to the cluster: {error.strerror}"
        ) from None


@dataclass(frozen=True)
class Run:
    """What all orders of a run have in common."""

    name: str
    limits: Limits
    packages: Mapping[str, str]
    parcel: Parcel


@dataclass(frozen=True)
class Order:
    """A part of a group that one worker plays, and the index of the group in its run."""

    index: int
    group: Group
    turns: tuple[Turn, ...]

    def remaining(self, done: Container[tuple[int, int, int]]) -> Order:
        """What is left of it; ``done`` has group, attack and repetition of each finished row."""
        left = [
            Turn(
                turn.attack, tuple(r for r in turn.reps if (self.index, turn.attack, r) not in done)
            )
            for turn in self.turns
        ]
        return replace(self, turns=tuple(turn for turn in left if turn.reps))

    def halves(self) -> list[Order]:
        """The same work in two orders, or nothing if it is a single row."""
        turns = list(self.turns)
        if len(turns) == 1:
            turns = turns[0].split()
        if len(turns) == 1:
            return []
        middle = len(turns) // 2
        parts = (turns[:middle], turns[middle:])
        return [replace(self, turns=tuple(part)) for part in parts]


def list_packages(groups: Iterable[Group]) -> dict[str, str]:
    """Versions of everything installed that the rows depend on, installed plugins included."""
    found = dict(read_versions())
    for group in groups:
        specs = [("attack", attack.spec) for attack in group.attacks]
        specs += [
            (kind, getattr(group.games[0], kind)) for kind in ("mechanism", "dataset", "metric")
        ]
        specs += [("bound", name) for name in plugins.get_entries("bound")]
        for kind, spec in specs:
            point = plugins.get_entries(kind).get(spec.partition(":")[0])
            if point is not None and point.dist is not None:
                found[point.dist.name] = point.dist.version
    return found


def check_packages(packages: Mapping[str, str], there: Mapping[str, str | None], who: str) -> None:
    """Rows name the versions they were made with, so those of a worker must be the same."""
    for name, wanted in packages.items():
        if there[name] != wanted:
            has = f"{name} {there[name]}" if there[name] else f"no {name}"
            raise ClusterError(
                f"Dask worker {who} has {has}, this machine {name} {wanted}: its rows would not be "
                "the same; install the same versions on every worker"
            )


def play_order(run: Run, order: Order) -> list[Outcome]:
    """Play an order on the Dask worker that runs this; finished rows are also sent at once."""
    dask: Any = import_module("distributed")
    worker = dask.get_worker()
    key = worker.get_current_task()
    check_packages(
        run.packages, {name: installed_version(name) for name in run.packages}, worker.address
    )
    copies = run.parcel.unpack(Path(worker.local_directory))

    def stopped() -> bool:
        task = worker.state.tasks.get(key)
        return task is None or task.state == "cancelled"

    outcomes: list[Outcome] = []
    with _get_pool(run, copies) as pool:
        work = [Assignment(order.index, order.group, list(order.turns))]
        for index, outcome in pool.outcomes(work, stopped):
            outcomes.append(outcome)
            worker.log_event(
                TOPIC, {"run": run.name, "group": index, "outcome": encode_outcome(outcome)}
            )
    return outcomes


def encode_outcome(outcome: Outcome) -> str:
    """An outcome as JSON, for ``decode_outcome``."""
    row = None if outcome.row is None else outcome.row.to_json()
    reason = outcome.reason if isinstance(outcome, FailedRow) else None
    return json.dumps([outcome.attack, outcome.rep, reason, row], allow_nan=False)


def decode_outcome(text: str) -> Outcome:
    """The exact inverse of ``encode_outcome``: whole numbers stay whole."""
    attack, rep, reason, raw = json.loads(text)
    row = None if raw is None else Result.from_trusted_json(raw)
    if reason is not None:
        return FailedRow(attack, rep, reason, row)
    if row is None:
        raise ClusterError("a Dask worker sent a finished row without its content")
    return FinishedRow(attack, rep, row)


class _ThreadPool(threading.local):
    """The pool of a thread: on Linux a child process ends with the thread that started it."""

    run: str | None = None
    pool: Pool | None = None
    closing: threading.Timer | None = None


_thread_pool = _ThreadPool()


@contextmanager
def _get_pool(run: Run, copies: Mapping[str, str]) -> Iterator[Pool]:
    """A child process for this thread, kept for the next order of the same run."""
    if _thread_pool.closing is not None:
        _thread_pool.closing.cancel()
        _thread_pool.closing.join()
    if _thread_pool.pool is not None and _thread_pool.run != run.name:
        _thread_pool.pool.close()
        _thread_pool.pool = None
    if _thread_pool.pool is None:
        # Dask sets it for its workers; children would keep giving memory back and asking again.
        os.environ.pop("MALLOC_TRIM_THRESHOLD_", None)
        _thread_pool.run, _thread_pool.pool = run.name, Pool(1, run.limits, copies)
    pool = _thread_pool.pool
    try:
        yield pool
    except BaseException:
        pool.close()
        raise
    _thread_pool.closing = threading.Timer(IDLE_SECONDS, pool.close)
    _thread_pool.closing.daemon = True
    _thread_pool.closing.start()
