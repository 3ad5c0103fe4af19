"""Hand groups out to a Dask cluster: the same rows as from a pool on this machine.

The scheduler keeps track of its workers. Orders of a worker that dies go to another; orders that
seem to take workers down are tried once more, each with nothing else running, and divided until
the row at fault is found.
"""

from __future__ import annotations

import logging
import queue
import socket
import time
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import version
from typing import Any, Self
from uuid import uuid4

from reconbench.benchmarks.errors import describe_error
from reconbench.benchmarks.game.rows import read_versions, unplayed_row
from reconbench.benchmarks.run.cluster_files import (
    TOPIC,
    ClusterError,
    Order,
    Parcel,
    Run,
    SchedulerLost,
    check_packages,
    decode_outcome,
    list_packages,
    play_order,
)
from reconbench.benchmarks.run.pool import exit_on_sigterm
from reconbench.benchmarks.run.worker_process import Limits
from reconbench.benchmarks.run.worker_tasks import FinishedRow, Group, Outcome, complete_row
from reconbench.missing_package import needed_by

CONNECT_SECONDS = 8.0
SCHEMES = ("tcp", "tls", "ws", "wss", "ucx")
# How often an order is tried again after an error of the worker itself, say a full disk.
RETRIES = 2
# Taken for the number of workers as long as there is none.
EXPECTED_WORKERS = 8

log = logging.getLogger("reconbench")


def _distributed() -> Any:
    with needed_by("--scheduler", "dask", extra="cluster"):
        return import_module("distributed")


@contextmanager
def _report_loss() -> Iterator[None]:
    """Report whatever Dask raises when its scheduler goes away, at any moment, as one error."""
    try:
        yield
    except ClusterError:
        raise
    except Exception as error:
        raise _describe_loss(error) from None


def _describe_loss(error: BaseException) -> SchedulerLost:
    return SchedulerLost(
        f"the Dask scheduler is gone or dropped the run ({describe_error(error)}); finished rows "
        "are kept, and the same command continues from there"
    )


@dataclass(frozen=True)
class _StreamedRow:
    """A row that a worker sent before the end of its order, and the index of its group."""

    group: int
    outcome: Outcome


class Cluster:
    """Use as ``with Cluster("tcp://host:port", limits) as cluster``, then like a ``Pool``."""

    def __init__(self, address: str, limits: Limits) -> None:
        self._dask = _distributed()
        self._address = address
        self._limits = limits
        self._client: Any = None
        self._exits = ExitStack()

    def __enter__(self) -> Self:
        self._client = self._connect()
        self._exits.enter_context(exit_on_sigterm())
        try:
            with _report_loss():
                self._check_versions()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(Exception):
            self._client.close(timeout=2)
        self._exits.close()

    @property
    def jobs(self) -> int:
        """How many groups are played at a time."""
        with _report_loss():
            return sum(self._client.nthreads().values()) or EXPECTED_WORKERS

    def play(self, groups: Sequence[Group]) -> Iterator[tuple[int, FinishedRow]]:
        """Rows as they finish, with the indices of their groups."""
        run = Run(uuid4().hex, self._limits, list_packages(groups), Parcel.of(groups))
        orders = [Order(index, group, tuple(group.turns())) for index, group in enumerate(groups)]
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
        host_and_port = addressing.parse_host_port(location)
        deadline = time.monotonic() + CONNECT_SECONDS
        while scheme == "tcp":
            left = max(deadline - time.monotonic(), 0.1)
            try:
                with socket.create_connection(host_and_port, timeout=left) as stream:
                    if stream.recv(1):
                        return
            except ConnectionError:
                pass
            if time.monotonic() > deadline:
                raise OSError(f"no answer in {CONNECT_SECONDS:g} s")
            time.sleep(0.2)

    def _check_versions(self) -> None:
        """Of the workers that are there; later ones are checked as they get their first order."""
        try:
            self._client.run_on_scheduler(version, "reconbench")
        except ImportError:
            raise ClusterError(
                f"the Dask scheduler at {self._address!r} cannot import reconbench, which it needs "
                "to read the tasks that it hands out; install reconbench where it runs"
            ) from None
        wanted = read_versions()
        by_worker: dict[str, dict[str, str | None]] = {}
        for name in wanted:
            answers = self._client.run(version, name, on_error="return")
            for worker, answer in answers.items():
                if isinstance(answer, str | ImportError):
                    number = answer if isinstance(answer, str) else None
                    by_worker.setdefault(worker, {})[name] = number
        for worker, packages in by_worker.items():
            check_packages({name: wanted[name] for name in packages}, packages, worker)


class _Play:
    """One call of ``play``."""

    def __init__(self, dask: Any, client: Any, run: Run) -> None:
        self._dask = dask
        self._client = client
        self._run = run
        self._updates: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._open: dict[str, tuple[Any, Order]] = {}
        self._suspects: deque[Order] = deque()
        self._alone = False
        self._done: set[tuple[int, int, int]] = set()
        self._warned = time.monotonic()

    def rows(self, orders: Sequence[Order]) -> Iterator[tuple[int, FinishedRow]]:
        with _report_loss():
            self._client.subscribe_topic(TOPIC, self._receive_event)
            name = f"reconbench-run-{self._run.name}"
            shared = self._client.submit(_return_run, self._run, key=name)
        try:
            self._submit(shared, orders)
            while self._open or self._suspects:
                if not self._open:
                    self._alone = True
                    self._submit(shared, [self._suspects.popleft()])
                for index, outcome in self._next():
                    row = (index, outcome.attack, outcome.rep)
                    if row not in self._done:
                        self._done.add(row)
                        yield index, complete_row(orders[index].group, outcome)
        finally:
            with suppress(Exception):
                self._client.unsubscribe_topic(TOPIC)
                self._client.cancel([future for future, _ in self._open.values()])

    def _submit(self, shared: Any, orders: Sequence[Order]) -> None:
        keys = [f"reconbench-{self._run.name}-{uuid4().hex}" for _ in orders]
        with _report_loss():
            futures = self._client.map(
                play_order, [shared] * len(orders), orders, key=keys, retries=RETRIES, pure=False
            )
        for future, order in zip(futures, orders, strict=True):
            self._open[future.key] = future, order
            future.add_done_callback(self._updates.put)

    def _receive_event(self, event: tuple[float, Any]) -> None:
        """Take what a worker sent, in the client's own thread."""
        message = event[1]
        if isinstance(message, dict) and message.get("run") == self._run.name:
            outcome = decode_outcome(message["outcome"])
            self._updates.put(_StreamedRow(message["group"], outcome))

    def _next(self) -> list[tuple[int, Outcome]]:
        try:
            update = self._updates.get(timeout=1.0)
        except queue.Empty:
            with _report_loss():
                self._warn_if_no_workers()
            return []
        if isinstance(update, _StreamedRow):
            return [(update.group, update.outcome)]
        _, order = self._open.pop(update.key)
        return [(order.index, outcome) for outcome in self._result(update, order)]

    def _result(self, future: Any, order: Order) -> Sequence[Outcome]:
        try:
            outcomes: list[Outcome] = future.result()
        except self._dask.KilledWorker as killed:
            return self._suspect(order, killed.allowed_failures + 1)
        except ClusterError:
            raise
        except self._dask.CancelledError as cancelled:
            raise _describe_loss(cancelled) from None
        except Exception as error:  # whatever else a cluster may come up with
            raise ClusterError(
                f"a Dask worker could not play a group: {describe_error(error)}"
            ) from error
        return outcomes

    def _suspect(self, order: Order, workers: int) -> list[FinishedRow]:
        """Workers died over an order; it is certainly at fault if it was running alone."""
        order = order.remaining(self._done)
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
        error = f"attack {spec.spec!r} killed every Dask worker that played it, {workers} in a row"
        return [FinishedRow(turn.attack, turn.reps[0], unplayed_row(game, spec, error))]

    def _warn_if_no_workers(self) -> None:
        """Every half a minute."""
        if time.monotonic() > self._warned + 30 and not self._client.nthreads():
            self._warned = time.monotonic()
            log.warning("the Dask scheduler has no workers; waiting for some")


def _return_run(run: Run) -> Run:
    """As a task of its own: so the files of a run are sent once to each worker, and kept."""
    return run
