"""What another machine needs to play groups of this one, and how a group is played there.

A machine of the cluster has the package and nothing else of the user's: attacks and mechanisms in
files, and priors with their codebooks, travel as a parcel, and groups as orders. ``play_order`` is
the task of a Dask worker. It plays in a child process, as a pool on this machine does: an attack
that hangs, exits or takes too much memory loses its row, and the Dask worker stays as it was.
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
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from reconbench.benchmarks import plugins
from reconbench.benchmarks.game.play import versions
from reconbench.benchmarks.game.result import Result
from reconbench.benchmarks.run.pool import Assignment, Pool
from reconbench.benchmarks.run.worker_process import Limits
from reconbench.benchmarks.run.worker_tasks import Group, Lost, Outcome, Played, Turn
from reconbench.datasets.network.bif import codebook_path

# Rows are sent under this name as they finish; the scheduler keeps the last ones of each name.
TOPIC = "reconbench rows"
# A child process that has had nothing to do for so long is ended: its client is most likely gone.
IDLE_SECONDS = 30.0


class ClusterError(ValueError):
    """A cluster that cannot be reached, or whose rows would not be those of this machine."""


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
        """Where the files are now, by their paths; they are written once, whole or not at all."""
        folder = base / f"reconbench-{self.sha256()[:32]}"
        if not folder.exists():
            fresh = Path(tempfile.mkdtemp(dir=base, prefix=".reconbench-"))
            for place, contents in enumerate(self.files.values()):
                (fresh / str(place)).mkdir()
                for name, text in contents:
                    (fresh / str(place) / Path(name).name).write_bytes(text)
            try:
                os.rename(fresh, folder)
            except OSError:
                shutil.rmtree(fresh)
                if not folder.exists():
                    raise
        return {
            path: str(folder / str(place) / Path(contents[0][0]).name)
            for place, (path, contents) in enumerate(self.files.items())
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
    beside = [codebook_path(path)] if path.suffix == ".bif" else []
    try:
        return tuple((each.name, each.read_bytes()) for each in (path, *beside))
    except OSError as error:
        raise ClusterError(f"cannot ship {error.filename}: {error.strerror}") from None


@dataclass(frozen=True)
class Run:
    """What all orders of a run have in common."""

    name: str
    limits: Limits
    packages: Mapping[str, str]
    parcel: Parcel


@dataclass(frozen=True)
class Order:
    """A part of a group that one worker plays; ``place`` is the group's in its run."""

    place: int
    group: Group
    turns: tuple[Turn, ...]

    def rest(self, done: Container[tuple[int, int, int]]) -> Order:
        """What is left of it, given the places of finished rows: group, attack, repetition."""
        left = [
            Turn(
                turn.attack, tuple(r for r in turn.reps if (self.place, turn.attack, r) not in done)
            )
            for turn in self.turns
        ]
        return replace(self, turns=tuple(turn for turn in left if turn.reps))

    def halves(self) -> list[Order]:
        """The same work in two orders, or nothing if it is a single row."""
        turns = list(self.turns)
        if len(turns) == 1:
            turns = turns[0].alone()
        if len(turns) == 1:
            return []
        middle = len(turns) // 2
        parts = (turns[:middle], turns[middle:])
        return [Order(self.place, self.group, tuple(part)) for part in parts]


def packages_of(groups: Iterable[Group]) -> dict[str, str]:
    """Versions of everything installed that the rows depend on, installed plugins included."""
    found = dict(versions())
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


def installed(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def same_packages(packages: Mapping[str, str], there: Mapping[str, str | None], who: str) -> None:
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
    same_packages(run.packages, {name: installed(name) for name in run.packages}, worker.address)
    shipped = run.parcel.unpack(Path(worker.local_directory))

    def stopped() -> bool:
        task = worker.state.tasks.get(key)
        return task is None or task.state == "cancelled"

    found: list[Outcome] = []
    with _own_pool(run, shipped) as pool:
        work = [Assignment(order.place, order.group, list(order.turns))]
        for place, outcome in pool.outcomes(work, stopped):
            found.append(outcome)
            worker.log_event(TOPIC, {"run": run.name, "place": place, "outcome": as_text(outcome)})
    return found


def as_text(outcome: Outcome) -> str:
    """An outcome as JSON, for ``from_text``."""
    row = None if outcome.row is None else outcome.row.to_json()
    how = outcome.how if isinstance(outcome, Lost) else None
    return json.dumps([outcome.attack, outcome.rep, how, row], allow_nan=False)


def from_text(text: str) -> Outcome:
    """The exact inverse of ``as_text``: whole numbers stay whole."""
    attack, rep, how, raw = json.loads(text)
    row = None if raw is None else Result.rebuilt(raw)
    if how is not None:
        return Lost(attack, rep, how, row)
    if row is None:
        raise ClusterError("a Dask worker sent a finished row that is none")
    return Played(attack, rep, row)


class _Desk(threading.local):
    """The pool of a thread: on Linux a child process ends with the thread that started it."""

    run: str | None = None
    pool: Pool | None = None
    closing: threading.Timer | None = None


_desk = _Desk()


@contextmanager
def _own_pool(run: Run, shipped: Mapping[str, str]) -> Iterator[Pool]:
    """A child process for this thread, kept for the next order of the same run."""
    if _desk.closing is not None:
        _desk.closing.cancel()
        _desk.closing.join()
    if _desk.pool is not None and _desk.run != run.name:
        _desk.pool.close()
        _desk.pool = None
    if _desk.pool is None:
        # Dask sets it for its workers; children would keep giving memory back and asking again.
        os.environ.pop("MALLOC_TRIM_THRESHOLD_", None)
        _desk.run, _desk.pool = run.name, Pool(1, run.limits, shipped)
    pool = _desk.pool
    try:
        yield pool
    except BaseException:
        pool.close()
        raise
    _desk.closing = threading.Timer(IDLE_SECONDS, pool.close)
    _desk.closing.daemon = True
    _desk.closing.start()
