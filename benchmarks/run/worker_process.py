"""A process that runs tasks for its parent and may be killed at any time.

The parent sends a task down a pipe; the worker answers with whatever the task reports, and with
``Done``. Nothing that runs in a worker can harm the parent: a worker that hangs is killed with all
its children, one that dies is noticed, what it prints goes to standard error, and when the parent
dies its workers do too.
"""

from __future__ import annotations

import importlib
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from math import isfinite
from multiprocessing import connection, current_process, get_context, parent_process
from typing import Any

from reconbench.benchmarks import memory
from reconbench.benchmarks.player.keeper import kill_marked
from reconbench.benchmarks.player.referee import THREAD_VARIABLES, describe_exit, limit_players

# Loaded before a worker says that it is ready, so that no attack's time is spent on it.
PRELOADED = ("threadpoolctl", "reconbench.benchmarks.run.pool")
LEAST_GIB = 1.0

Report = Callable[[object], None]


class LimitError(ValueError):
    """A limit on time or memory that cannot be set."""


class WorkerError(ValueError):
    """A worker process that does not start."""


@dataclass(frozen=True)
class Limits:
    """What one call of an attack may take: seconds of time, and GiB of memory in its process.

    Attacks of other people do not see the folder ``hidden``, where the system can hide one.
    """

    seconds: float | None = None
    gib: float | None = None
    hidden: str = ""

    def __post_init__(self) -> None:
        if self.seconds is not None and not (isfinite(self.seconds) and self.seconds > 0):
            raise LimitError(
                f"timeout must be a positive number of seconds, or 0 for none, got {self.seconds:g}"
            )
        if self.gib is not None and not (isfinite(self.gib) and self.gib >= LEAST_GIB):
            raise LimitError(
                f"memory limit must be at least {LEAST_GIB:g} GiB (the libraries take a quarter of "
                f"that), or 0 for none, got {self.gib:g}"
            )
        if self.gib is not None and not memory.HAS_LIMITS:
            raise LimitError(
                f"memory limit {self.gib:g}: this platform has no memory limits, leave it out"
            )

    @classmethod
    def of(cls, timeout: float, memory_limit: float) -> Limits:
        """From the command line, where 0 means no limit."""
        return cls(timeout or None, memory_limit or None)

    def describe_timeout(self, times: int = 1) -> str:
        """What work did that took longer than a multiple of the limit, as part of a sentence."""
        limit = "--timeout" if times == 1 else f"{times} times --timeout"
        return f"exceeded the {times * (self.seconds or 0):g} s time limit ({limit})"


@dataclass(frozen=True)
class Ready:
    """The worker is up."""


@dataclass(frozen=True)
class Done:
    """The task is finished."""


class WorkerGone(Exception):
    """Nothing more will come from a worker."""


class Worker:
    """The parent's end of a worker process."""

    def __init__(self, limits: Limits) -> None:
        for name in THREAD_VARIABLES:
            os.environ.setdefault(name, "1")
        context = get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self._process = context.Process(target=serve, args=(theirs, limits))
        with _no_interrupts(), _children_allowed():
            self._process.start()
        theirs.close()
        self._limits = limits
        self.ready = False

    @property
    def waitables(self) -> tuple[Any, ...]:
        """For ``connection.wait``: one is ready when there is a message or the process died."""
        return self.pipe, self._process.sentinel

    def send(self, task: Callable[..., None], *arguments: object) -> None:
        """Let the worker call ``task(report, *arguments)``."""
        try:
            self.pipe.send((task, arguments))
        except OSError:
            raise WorkerGone from None

    def receive(self) -> Iterator[object]:
        """The messages so far. Raises ``WorkerGone`` after the last one of a dead worker."""
        alive = self._process.is_alive()
        try:
            while self.pipe.poll():
                message = self.pipe.recv()
                if isinstance(message, Ready):
                    self.ready = True
                else:
                    yield message
        except (EOFError, OSError):
            raise WorkerGone from None
        except Exception as error:  # a message that was built to be unreadable
            raise WorkerGone(f"sent an unreadable message ({type(error).__name__})") from None
        if not alive:
            raise WorkerGone

    def end(self) -> str:
        """Kill the worker, if it lives, and its children; how it ended, as part of a sentence."""
        self._process.join(timeout=2.0 if self._process.is_alive() else None)
        code = self._process.exitcode
        self.kill()
        if code is None:
            return "closed its worker's pipe"
        if not self.ready:
            raise WorkerError(
                f"a worker process could not start ({describe_exit(code)}); a script that uses "
                "several jobs or a time limit must run under `if __name__ == '__main__':`"
            )
        return f"killed its worker process ({describe_exit(code)})"

    def kill(self) -> None:
        """At once, with all its children; harmless if it is dead."""
        if self._process.pid is not None and hasattr(os, "killpg"):
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
        self._process.kill()
        self._process.join()
        kill_marked(str(self._process.pid))
        self.pipe.close()


def ask(
    worker: Worker, limits: Limits, task: Callable[..., None], *arguments: object
) -> Iterator[object]:
    """Run a task and yield what it reports. The time limit is for the gap between two messages.

    Raises ``TimeoutError`` or ``WorkerGone``, either way with the worker still to be ended.
    """
    worker.send(task, *arguments)
    last_message = time.monotonic()
    while True:
        connection.wait(worker.waitables, timeout=1.0)
        for message in worker.receive():
            last_message = time.monotonic()
            if isinstance(message, Done):
                return
            yield message
        if not worker.ready:
            last_message = time.monotonic()
        elif limits.seconds is not None and time.monotonic() > last_message + limits.seconds:
            raise TimeoutError


def kill_all(workers: Sequence[Worker]) -> None:
    for worker in workers:
        worker.kill()


def serve(pipe: connection.Connection, limits: Limits) -> None:
    """The whole life of a worker process."""
    _isolate_process()
    with suppress(ImportError):  # not everybody has it
        importlib.import_module("torch")
    for name in PRELOADED:
        importlib.import_module(name)
    memory.prefer_as_oom_victim()
    _forbid_tracing()
    if limits.gib is not None:
        memory.limit(limits.gib)
    limit_players(limits.seconds, limits.hidden)

    def report(message: object) -> None:
        try:
            pipe.send(message)
        except OSError:
            raise SystemExit from None  # nobody listens any more

    report(Ready())
    while True:
        try:
            task, arguments = pipe.recv()
        except (EOFError, OSError):
            return
        task(report, *arguments)
        report(Done())


def _isolate_process() -> None:
    """Own process group, nothing on standard output, no interrupts, and no life after the parent.

    Ctrl-C is for the parent, which kills its workers.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(os, "setsid"):
        os.setsid()
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    if sys.platform == "linux":
        _die_with_parent()
    else:
        threading.Thread(target=_watch_parent, daemon=True).start()


def _die_with_parent() -> None:
    """By the kernel: a thread cannot while a plugin hangs in C code that holds the interpreter."""
    import ctypes

    set_death_signal = 1
    ctypes.CDLL(None).prctl(set_death_signal, int(signal.SIGKILL), 0, 0, 0)


def _forbid_tracing() -> None:
    """No other process of the same user, such as a player, may read this one's memory (Linux)."""
    if sys.platform == "linux":
        import ctypes

        set_dumpable = 4
        ctypes.CDLL(None).prctl(set_dumpable, 0, 0, 0, 0)


def _watch_parent() -> None:
    parent = parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        os._exit(1)


@contextmanager
def _no_interrupts() -> Iterator[None]:
    """A new process starts with Ctrl-C blocked; one pressed meanwhile reaches this one later."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _children_allowed() -> Iterator[None]:
    """Python denies children to a daemonic process, such as a Dask worker, because nobody would
    end them; ours end with their parent."""
    process = current_process()
    before = process.daemon
    if before:
        process.daemon = False
    try:
        yield
    finally:
        if before:
            process.daemon = True
