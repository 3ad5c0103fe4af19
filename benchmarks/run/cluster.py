"""Hand groups out to a Dask cluster: the same rows as a pool on this machine, from many.

The scheduler keeps the book on its workers. Orders of a worker that is lost go to another; orders
that seem to take workers down are tried once more, each with nothing else running, and divided
until the row at fault is found.
"""

from __future__ import annotations

import logging
import queue
import socket
import time
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import version
from types import TracebackType
from typing import Any, Self
from uuid import uuid4

from reconbench.benchmarks.errors import describe_error
from reconbench.benchmarks.game.play import unplayed, versions
from reconbench.benchmarks.run.cluster_files import (
    TOPIC,
    ClusterError,
    Order,
    Parcel,
    Run,
    from_text,
    packages_of,
    play_order,
    same_packages,
)
from reconbench.benchmarks.run.pool import leaving_in_order
from reconbench.benchmarks.run.worker_process import Limits
from reconbench.benchmarks.run.worker_tasks import Group, Outcome, Played, settled

CONNECT_SECONDS = 8.0
SCHEMES = ("tcp", "tls", "ws", "wss", "ucx")
# How often an order is tried again after an error of the worker itself, say a full disk.
RETRIES = 2
# Taken for the number of workers as long as there is none.
EXPECTED_WORKERS = 8

log = logging.getLogger("reconbench")


def _distributed() -> Any:
    try:
        return import_module("distributed")
    except ImportError:
        raise ClusterError(
            "--scheduler needs Dask, which is not installed: pip install 'reconbench[cluster]'"
        ) from None


@dataclass(frozen=True)
class _Early:
    """What a worker sent while it goes on with its order."""

    place: int
    outcome: Outcome


class Cluster:
    """Use as ``with Cluster("tcp://host:port", limits) as cluster``, then like a ``Pool``."""

    def __init__(self, address: str, limits: Limits) -> None:
        self._dask = _distributed()
        self._address = address
        self._limits = limits
        self._client: Any = None
        self._ending = ExitStack()

    def __enter__(self) -> Self:
        self._client = self._connect()
        self._ending.enter_context(leaving_in_order())
        try:
            self._check_versions()
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with suppress(Exception):
            self._client.close(timeout=2)
        self._ending.close()

    @property
    def jobs(self) -> int:
        """How many groups are played at a time."""
        return sum(self._client.nthreads().values()) or EXPECTED_WORKERS

    def play(self, groups: Sequence[Group]) -> Iterator[tuple[int, Played]]:
        """Rows as they finish, with the places of their groups."""
        run = Run(uuid4().hex, self._limits, packages_of(groups), Parcel.of(groups))
        orders = [Order(place, each, tuple(each.turns())) for place, each in enumerate(groups)]
        return _Play(self._dask, self._client, run).rows(orders)

    def _connect(self) -> Any:
        try:
            self._probe()
            return self._dask.Client(self._address, timeout=CONNECT_SECONDS, set_as_default=False)
        except (OSError, ValueError, ImportError) as error:
            raise ClusterError(
                f"no Dask scheduler answers at {self._address!r} ({describe_error(error)}); give "
                "the tcp://host:port that `dask scheduler` prints, or leave --scheduler out"
            ) from None

    def _probe(self) -> None:
        """A scheduler greets first. Dask waits for ever on a port that listens and says nothing."""
        addressing = self._dask.comm.addressing
        scheme, location = addressing.parse_address(self._address)
        if scheme not in SCHEMES:
            raise ValueError(f"it must begin with one of {', '.join(SCHEMES)}, as in tcp://")
        place = addressing.parse_host_port(location)
        patience = time.monotonic() + CONNECT_SECONDS
        while scheme == "tcp":
            left = max(patience - time.monotonic(), 0.1)
            try:
                with socket.create_connection(place, timeout=left) as line:
                    if line.recv(1):
                        return
            except ConnectionError:
                pass
            if time.monotonic() > patience:
                raise OSError(f"nothing in {CONNECT_SECONDS:g} s")
            time.sleep(0.2)

    def _check_versions(self) -> None:
        """Of the workers that are there; later ones are checked as they get their first order."""
        try:
            self._client.run_on_scheduler(version, "reconbench")
        except ImportError:
            raise ClusterError(
                f"the Dask scheduler at {self._address!r} runs without reconbench: it reads the "
                "tasks that it hands out; install reconbench where it runs"
            ) from None
        wanted = versions()
        there: dict[str, dict[str, str | None]] = {}
        for name in wanted:
            found = self._client.run(version, name, on_error="return")
            for who, what in found.items():
                if isinstance(what, str | ImportError):
                    there.setdefault(who, {})[name] = what if isinstance(what, str) else None
        for who, packages in there.items():
            same_packages({name: wanted[name] for name in packages}, packages, who)


class _Play:
    """One call of ``play``."""

    def __init__(self, dask: Any, client: Any, run: Run) -> None:
        self._dask = dask
        self._client = client
        self._run = run
        self._news: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._open: dict[str, tuple[Any, Order]] = {}
        self._suspects: deque[Order] = deque()
        self._alone = False
        self._done: set[tuple[int, int, int]] = set()
        self._warned = time.monotonic()

    def rows(self, orders: Sequence[Order]) -> Iterator[tuple[int, Played]]:
        self._client.subscribe_topic(TOPIC, self._hear)
        shared = self._client.submit(_itself, self._run, key=f"reconbench-run-{self._run.name}")
        try:
            self._submit(shared, orders)
            while self._open or self._suspects:
                if not self._open:
                    self._alone = True
                    self._submit(shared, [self._suspects.popleft()])
                for place, outcome in self._next():
                    at = (place, outcome.attack, outcome.rep)
                    if at not in self._done:
                        self._done.add(at)
                        yield place, settled(orders[place].group, outcome)
        finally:
            with suppress(Exception):
                self._client.unsubscribe_topic(TOPIC)
                self._client.cancel([future for future, _ in self._open.values()])

    def _submit(self, shared: Any, orders: Sequence[Order]) -> None:
        keys = [f"reconbench-{self._run.name}-{uuid4().hex}" for _ in orders]
        futures = self._client.map(
            play_order, [shared] * len(orders), orders, key=keys, retries=RETRIES, pure=False
        )
        for future, order in zip(futures, orders, strict=True):
            self._open[future.key] = future, order
            future.add_done_callback(self._news.put)

    def _hear(self, event: tuple[float, Any]) -> None:
        """What a worker sent, in the client's own thread."""
        said = event[1]
        if isinstance(said, dict) and said.get("run") == self._run.name:
            self._news.put(_Early(said["place"], from_text(said["outcome"])))

    def _next(self) -> list[tuple[int, Outcome]]:
        try:
            news = self._news.get(timeout=1.0)
        except queue.Empty:
            self._look_around()
            return []
        if isinstance(news, _Early):
            return [(news.place, news.outcome)]
        _, order = self._open.pop(news.key)
        return [(order.place, outcome) for outcome in self._result(news, order)]

    def _result(self, future: Any, order: Order) -> Sequence[Outcome]:
        try:
            outcomes: list[Outcome] = future.result()
        except self._dask.KilledWorker as killed:
            return self._suspect(order, killed.allowed_failures + 1)
        except ClusterError:
            raise
        except self._dask.CancelledError:
            raise ClusterError(
                "the Dask scheduler is gone or dropped the run; finished rows are kept, the same "
                "command goes on from there"
            ) from None
        except Exception as error:  # whatever else a cluster may come up with
            raise ClusterError(
                f"a Dask worker could not play a group: {describe_error(error)}"
            ) from error
        return outcomes

    def _suspect(self, order: Order, workers: int) -> list[Played]:
        """Workers died over an order, which is its own fault for certain if it was alone."""
        order = order.rest(self._done)
        if not order.turns:
            return []
        if not self._alone:
            self._suspects.append(order)
            return []
        halves = order.halves()
        self._suspects.extendleft(reversed(halves))
        if halves:
            return []
        (turn,) = order.turns
        spec, game = order.group.attacks[turn.attack], order.group.games[turn.reps[0]]
        how = f"attack {spec.spec!r} took down every Dask worker that played it, {workers} in a row"
        return [Played(turn.attack, turn.reps[0], unplayed(game, spec, how))]

    def _look_around(self) -> None:
        """Say now and then that nobody is there to play."""
        if time.monotonic() > self._warned + 30 and not self._client.nthreads():
            self._warned = time.monotonic()
            log.warning("the Dask scheduler has no workers; waiting for some")


def _itself(run: Run) -> Run:
    """As a task of its own, a run's files travel once to each worker and are never lost."""
    return run
