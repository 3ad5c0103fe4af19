"""Hand groups out to worker processes on this machine, whatever the attacks do to them.

The pool always knows which attack a worker is playing. An attack that exceeds the time limit or
takes its process down gets a row that says so; a fresh worker goes on with the rest of the group.
Workers are used again and again otherwise, since starting one takes seconds.
"""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from multiprocessing import connection
from types import FrameType
from typing import Protocol, Self

from reconbench.benchmarks import plugins
from reconbench.benchmarks.game.result import Result
from reconbench.benchmarks.player.referee import KEEPER_SECONDS
from reconbench.benchmarks.run.worker_process import (
    Done,
    Limits,
    Report,
    Worker,
    WorkerGone,
    kill_all,
)
from reconbench.benchmarks.run.worker_tasks import (
    AttackStarted,
    FailedRow,
    FinishedRow,
    Group,
    MemoryExhausted,
    Outcome,
    SetupFinished,
    SetupStarted,
    Turn,
    complete_row,
    play_group,
)

# Setting up a game may take this many times as long as an attack on it.
PATIENCE = 10


class StoppedEarly(Exception):
    """Nobody waits for the rows any more."""


class GroupPlayer(Protocol):
    """What plays groups: a pool on this machine, or a cluster."""

    def play(self, groups: Sequence[Group]) -> Iterator[tuple[int, FinishedRow]]: ...


def report_group(
    report: Report, group: Group, turns: Sequence[Turn], copies: Mapping[str, str]
) -> None:
    """``play_group`` as a worker's task; ``copies`` as in ``plugins.use_copies``."""
    plugins.use_copies(copies)
    for event in play_group(group, turns):
        report(event)


@dataclass
class Assignment:
    """A group that a worker plays, with its index, and how far it is."""

    index: int
    group: Group
    turns: list[Turn]
    deadline: float | None = None
    _setting_up: int | None = None
    _playing: Turn | None = None
    _blanks: dict[int, Result] = field(default_factory=dict)
    _done: set[tuple[int, int]] = field(default_factory=set)

    def record(self, event: object) -> FinishedRow | None:
        """Follow the worker; return a finished row."""
        if isinstance(event, SetupStarted):
            self._setting_up = event.rep
        elif isinstance(event, SetupFinished):
            self._setting_up = None
            self._blanks[event.rep] = event.row
        elif isinstance(event, AttackStarted):
            self._setting_up = None
            self._playing = event.turn
        elif isinstance(event, FinishedRow):
            self._done.add((event.attack, event.rep))
            if self._playing is not None and not self._open(self._playing):
                self._playing = None
            return event
        return None

    def count_limits(self) -> int:
        """How many times the time limit the worker has for its present step."""
        return len(self._playing.reps) if self._playing is not None else PATIENCE

    def plays_foreign(self) -> bool:
        """Whether the present step is an attack in a player, whose time the worker itself limits.

        The pool only comes in if that fails.
        """
        if self._playing is None:
            return False
        return plugins.is_foreign("attack", self.group.attacks[self._playing.attack].spec)

    def fail(self, reason: str) -> list[FailedRow]:
        """The worker is gone: the rows that fail with it, and no others."""
        if self._setting_up is not None:
            rep = self._setting_up
            waiting = [(turn.attack, rep) for turn in self.turns if rep in turn.reps]
            rows = [FailedRow(*row, reason) for row in waiting if row not in self._done]
        elif self._playing is not None:
            attack, reps = self._playing.attack, self._playing.reps
            rows = []
            if len(reps) == 1:
                rows = [FailedRow(attack, reps[0], reason, self._blanks[reps[0]])]
        elif self._done:
            rows = []
        else:
            rows = [FailedRow(turn.attack, rep, reason) for turn in self.turns for rep in turn.reps]
        self._done |= {(row.attack, row.rep) for row in rows}
        return rows

    def remaining(self) -> list[Turn]:
        """What is still to be played: one by one by an attack that was playing at the end."""
        turns: list[Turn] = []
        for turn in self.turns:
            left = Turn(turn.attack, self._open(turn))
            suspect = self._playing is not None and self._playing.attack == turn.attack
            if left.reps:
                turns += left.split() if suspect else [left]
        return turns

    def _open(self, turn: Turn) -> tuple[int, ...]:
        return tuple(rep for rep in turn.reps if (turn.attack, rep) not in self._done)


class Pool:
    """Use as ``with Pool(jobs, limits) as pool``: its workers are killed at the end, even if that
    is Ctrl-C or SIGTERM.

    ``copies`` are of plugins and priors from another machine, see ``plugins.use_copies``.
    """

    def __init__(self, jobs: int, limits: Limits, copies: Mapping[str, str] | None = None) -> None:
        self._jobs = jobs
        self._limits = limits
        self._copies = dict(copies or {})
        self._idle: list[Worker] = []
        self._busy: dict[Worker, Assignment] = {}
        self._exits = ExitStack()

    def __enter__(self) -> Self:
        self._exits.enter_context(exit_on_sigterm())
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
        self._exits.close()

    def close(self) -> None:
        """Kill all workers; the pool can be used again."""
        kill_all([*self._idle, *self._busy])
        self._idle, self._busy = [], {}

    def start_workers(self, groups: int = 1) -> None:
        """Start workers for so many groups, while the parent is still busy with other things."""
        while len(self._idle) < min(groups, self._jobs):
            self._idle.append(Worker(self._limits))

    def play(self, groups: Sequence[Group]) -> Iterator[tuple[int, FinishedRow]]:
        """Rows as they finish, with the indices of their groups."""
        work = [Assignment(index, group, group.turns()) for index, group in enumerate(groups)]
        for index, outcome in self.outcomes(work):
            yield index, complete_row(groups[index], outcome)

    def outcomes(
        self, work: Iterable[Assignment], stopped: Callable[[], bool] = lambda: False
    ) -> Iterator[tuple[int, Outcome]]:
        """The same without loading any plugin in this process.

        Raises ``StoppedEarly`` within about a second after ``stopped`` is true.
        """
        queue = deque(work)
        while queue or self._busy:
            while queue and len(self._busy) < self._jobs:
                self._assign(queue.popleft())
            self._wait()
            if stopped():
                raise StoppedEarly
            for worker, assignment in list(self._busy.items()):
                for outcome in self._handle_events(worker, assignment, queue):
                    yield assignment.index, outcome

    def _assign(self, assignment: Assignment) -> None:
        while True:
            worker = self._idle.pop() if self._idle else Worker(self._limits)
            self._busy[worker] = assignment
            try:
                worker.send(report_group, assignment.group, assignment.turns, self._copies)
            except WorkerGone:
                del self._busy[worker]
                worker.end()
            else:
                self._set_deadline(assignment)
                return

    def _wait(self) -> None:
        """Until a worker has sent something or may have exceeded its time; a second at most."""
        deadlines = [work.deadline for work in self._busy.values() if work.deadline is not None]
        left = min([1.0, *(deadline - time.monotonic() for deadline in deadlines)])
        waitables = [waitable for worker in self._busy for waitable in worker.waitables]
        connection.wait(waitables, timeout=max(left, 0.0))

    def _handle_events(
        self, worker: Worker, assignment: Assignment, queue: deque[Assignment]
    ) -> Iterator[Outcome]:
        reason = None
        try:
            for event in worker.receive():
                row = assignment.record(event)
                self._set_deadline(assignment)
                if row is not None:
                    yield row
                if isinstance(event, Done):
                    del self._busy[worker]
                    self._idle.append(worker)
                    return
                if isinstance(event, MemoryExhausted):
                    reason = ""
                    break
        except WorkerGone as gone:
            reason = str(gone) or worker.end()
        if reason is None and not worker.ready:
            self._set_deadline(assignment)
        elif reason is None and assignment.deadline and time.monotonic() > assignment.deadline:
            reason = self._limits.describe_timeout(assignment.count_limits())
        if reason is None:
            return
        del self._busy[worker]
        worker.kill()
        if reason:
            yield from assignment.fail(reason)
        turns = assignment.remaining()
        if turns:
            queue.appendleft(Assignment(assignment.index, assignment.group, turns))

    def _set_deadline(self, assignment: Assignment) -> None:
        seconds = self._limits.seconds
        if seconds is not None:
            allowed = seconds * assignment.count_limits()
            if assignment.plays_foreign():
                allowed = 2 * allowed + KEEPER_SECONDS
            assignment.deadline = time.monotonic() + allowed


@contextmanager
def exit_on_sigterm() -> Iterator[None]:
    """SIGTERM ends the program as Ctrl-C does: with all cleanup, and the customary exit code."""
    main = threading.current_thread() is threading.main_thread()
    if not main or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        yield
        return
    signal.signal(signal.SIGTERM, _exit)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _exit(number: int, frame: FrameType | None) -> None:
    sys.exit(128 + number)
