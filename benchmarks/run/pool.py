"""Hand groups out to worker processes on this machine, whatever the attacks do to them.

The pool knows at any time which attack a worker is at. An attack that passes the time limit or
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
from types import FrameType, TracebackType
from typing import Protocol, Self

from reconbench.benchmarks import plugins
from reconbench.benchmarks.game.result import Result
from reconbench.benchmarks.run.worker_process import Done, Gone, Limits, Report, Worker, kill_all
from reconbench.benchmarks.run.worker_tasks import (
    Building,
    Built,
    Exhausted,
    Group,
    Lost,
    Outcome,
    Played,
    Started,
    Turn,
    play_group,
    settled,
)

# Setting up a game may take this many times as long as an attack on it.
PATIENCE = 10


class Stopped(Exception):
    """Nobody waits for the rows any more."""


class Players(Protocol):
    """Whoever plays groups: a pool on this machine, or a cluster."""

    def play(self, groups: Sequence[Group]) -> Iterator[tuple[int, Played]]: ...


def report_group(
    report: Report, group: Group, turns: Sequence[Turn], shipped: Mapping[str, str]
) -> None:
    """``play_group`` as a worker's task; ``shipped`` as in ``plugins.use_copies``."""
    plugins.use_copies(shipped)
    for event in play_group(group, turns):
        report(event)


@dataclass
class Assignment:
    """A group in the hands of a worker, and how far it is."""

    place: int
    group: Group
    turns: list[Turn]
    deadline: float | None = None
    _building: int | None = None
    _playing: Turn | None = None
    _blanks: dict[int, Result] = field(default_factory=dict)
    _done: set[tuple[int, int]] = field(default_factory=set)

    def note(self, event: object) -> Played | None:
        """Follow the worker; a finished row comes back."""
        if isinstance(event, Building):
            self._building = event.rep
        elif isinstance(event, Built):
            self._building = None
            self._blanks[event.rep] = event.row
        elif isinstance(event, Started):
            self._building = None
            self._playing = event.turn
        elif isinstance(event, Played):
            self._done.add((event.attack, event.rep))
            if self._playing is not None and not self._open(self._playing):
                self._playing = None
            return event
        return None

    def allowance(self) -> int:
        """How many times the time limit the worker has, for what it is at."""
        return len(self._playing.reps) if self._playing is not None else PATIENCE

    def lose(self, how: str) -> list[Lost]:
        """The worker is gone, and ``how`` says why: the rows that are thereby decided."""
        if self._building is not None:
            doomed = [(t.attack, self._building) for t in self.turns if self._building in t.reps]
            found = [Lost(*place, how) for place in doomed if place not in self._done]
        elif self._playing is not None:
            attack, reps = self._playing.attack, self._playing.reps
            found = []
            if len(reps) == 1:
                found = [Lost(attack, reps[0], how, self._blanks[reps[0]])]
        elif self._done:
            found = []
        else:
            found = [Lost(turn.attack, rep, how) for turn in self.turns for rep in turn.reps]
        self._done |= {(each.attack, each.rep) for each in found}
        return found

    def rest(self) -> list[Turn]:
        """What is still to be played: one by one by an attack that was at work at the end."""
        found: list[Turn] = []
        for turn in self.turns:
            left = Turn(turn.attack, self._open(turn))
            suspect = self._playing is not None and self._playing.attack == turn.attack
            if left.reps:
                found += left.alone() if suspect else [left]
        return found

    def _open(self, turn: Turn) -> tuple[int, ...]:
        return tuple(rep for rep in turn.reps if (turn.attack, rep) not in self._done)


class Pool:
    """Use as ``with Pool(jobs, limits) as pool``: its workers are killed at the end, however it
    comes, also by Ctrl-C or SIGTERM.

    ``shipped`` is for plugins and priors of another machine, see ``plugins.use_copies``.
    """

    def __init__(self, jobs: int, limits: Limits, shipped: Mapping[str, str] | None = None) -> None:
        self._jobs = jobs
        self._limits = limits
        self._shipped = dict(shipped or {})
        self._idle: list[Worker] = []
        self._busy: dict[Worker, Assignment] = {}
        self._ending = ExitStack()

    def __enter__(self) -> Self:
        self._ending.enter_context(leaving_in_order())
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
        self._ending.close()

    def close(self) -> None:
        """Kill all workers; the pool can be used again."""
        kill_all([*self._idle, *self._busy])
        self._idle, self._busy = [], {}

    def warm(self, groups: int = 1) -> None:
        """Start the workers for so many groups: they come up while the parent is still busy."""
        while len(self._idle) < min(groups, self._jobs):
            self._idle.append(Worker(self._limits))

    def play(self, groups: Sequence[Group]) -> Iterator[tuple[int, Played]]:
        """Rows as they finish, with the places of their groups."""
        work = [Assignment(place, group, group.turns()) for place, group in enumerate(groups)]
        for place, outcome in self.outcomes(work):
            yield place, settled(groups[place], outcome)

    def outcomes(
        self, work: Iterable[Assignment], stopped: Callable[[], bool] = lambda: False
    ) -> Iterator[tuple[int, Outcome]]:
        """The same without loading any plugin in this process.

        Raises ``Stopped`` within about a second of ``stopped`` saying so.
        """
        queue = deque(work)
        while queue or self._busy:
            while queue and len(self._busy) < self._jobs:
                self._assign(queue.popleft())
            self._wait()
            if stopped():
                raise Stopped
            for worker, assignment in list(self._busy.items()):
                for outcome in self._attend(worker, assignment, queue):
                    yield assignment.place, outcome

    def _assign(self, assignment: Assignment) -> None:
        while True:
            worker = self._idle.pop() if self._idle else Worker(self._limits)
            self._busy[worker] = assignment
            try:
                worker.send(report_group, assignment.group, assignment.turns, self._shipped)
            except Gone:
                del self._busy[worker]
                worker.end()
            else:
                self._wind(assignment)
                return

    def _wait(self) -> None:
        """Until a worker has something to say or may have passed its time; a second at most."""
        deadlines = [each.deadline for each in self._busy.values() if each.deadline is not None]
        left = min([1.0, *(deadline - time.monotonic() for deadline in deadlines)])
        signs = [sign for worker in self._busy for sign in worker.signs_of_life]
        connection.wait(signs, timeout=max(left, 0.0))

    def _attend(
        self, worker: Worker, assignment: Assignment, queue: deque[Assignment]
    ) -> Iterator[Outcome]:
        how = None
        try:
            for event in worker.receive():
                played = assignment.note(event)
                self._wind(assignment)
                if played is not None:
                    yield played
                if isinstance(event, Done):
                    del self._busy[worker]
                    self._idle.append(worker)
                    return
                if isinstance(event, Exhausted):
                    how = ""
                    break
        except Gone as gone:
            how = str(gone) or worker.end()
        if how is None and not worker.ready:
            self._wind(assignment)
        elif how is None and assignment.deadline and time.monotonic() > assignment.deadline:
            how = self._limits.passed_time(assignment.allowance())
        if how is None:
            return
        del self._busy[worker]
        worker.kill()
        if how:
            yield from assignment.lose(how)
        rest = assignment.rest()
        if rest:
            queue.appendleft(Assignment(assignment.place, assignment.group, rest))

    def _wind(self, assignment: Assignment) -> None:
        seconds = self._limits.seconds
        if seconds is not None:
            assignment.deadline = time.monotonic() + seconds * assignment.allowance()


@contextmanager
def leaving_in_order() -> Iterator[None]:
    """SIGTERM ends the program as Ctrl-C does: in order, with the customary exit code."""
    main = threading.current_thread() is threading.main_thread()
    if not main or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        yield
        return
    signal.signal(signal.SIGTERM, _leave)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _leave(number: int, frame: FrameType | None) -> None:
    sys.exit(128 + number)
