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
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from multiprocessing import connection
from types import FrameType, TracebackType
from typing import Any, Self

from reconbench.benchmarks.game import lost, unplayed
from reconbench.benchmarks.groups import (
    SETTING_UP,
    Building,
    Built,
    Exhausted,
    Group,
    Played,
    Started,
    Turn,
    play_group,
)
from reconbench.benchmarks.results import Result
from reconbench.benchmarks.workers import Done, Gone, Limits, Report, Worker, kill_all

# Setting up a game may take this many times as long as an attack on it.
PATIENCE = 10


def report_group(report: Report, group: Group, turns: Sequence[Turn]) -> None:
    """``play_group`` as a worker's task."""
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

    def lose(self, how: str) -> list[Played]:
        """The worker is gone, and ``how`` says why: the rows that are thereby decided."""
        if self._building is not None:
            doomed = [(t.attack, self._building) for t in self.turns if self._building in t.reps]
            found = [self._unplayed(place, how) for place in doomed if place not in self._done]
        elif self._playing is not None:
            attack, reps = self._playing.attack, self._playing.reps
            found = [self._failed(attack, reps[0], how)] if len(reps) == 1 else []
        elif self._done:
            found = []
        else:
            doomed = [(turn.attack, rep) for turn in self.turns for rep in turn.reps]
            found = [self._unplayed(place, how) for place in doomed]
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

    def _failed(self, attack: int, rep: int, how: str) -> Played:
        spec = self.group.attacks[attack]
        row = lost(self._blanks[rep], spec, "")
        return Played(attack, rep, lost(row, spec, f"attack {row.attack!r} {how}"))

    def _unplayed(self, place: tuple[int, int], how: str) -> Played:
        attack, rep = place
        game, spec = self.group.games[rep], self.group.attacks[attack]
        return Played(attack, rep, unplayed(game, spec, f"{SETTING_UP} {how}"))


class Pool:
    """Use as ``with Pool(jobs, limits) as pool``: its workers are killed at the end, however it
    comes, also by Ctrl-C or SIGTERM."""

    def __init__(self, jobs: int, limits: Limits) -> None:
        self._jobs = jobs
        self._limits = limits
        self._idle: list[Worker] = []
        self._busy: dict[Worker, Assignment] = {}
        self._before: Any = None

    def __enter__(self) -> Self:
        main = threading.current_thread() is threading.main_thread()
        if main and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
            self._before = signal.signal(signal.SIGTERM, _leave)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        kill_all([*self._idle, *self._busy])
        self._idle, self._busy = [], {}
        if self._before is not None:
            signal.signal(signal.SIGTERM, self._before)

    def warm(self) -> None:
        """Start a first worker, which comes up while the parent is still busy with itself."""
        if not self._idle:
            self._idle.append(Worker(self._limits))

    def play(self, groups: Sequence[Group]) -> Iterator[tuple[int, Played]]:
        """Rows as they finish, with the places of their groups."""
        queue = deque(Assignment(place, group, group.turns()) for place, group in enumerate(groups))
        while queue or self._busy:
            while queue and len(self._busy) < self._jobs:
                self._assign(queue.popleft())
            self._wait()
            for worker, assignment in list(self._busy.items()):
                for played in self._attend(worker, assignment, queue):
                    yield assignment.place, played

    def _assign(self, assignment: Assignment) -> None:
        while True:
            worker = self._idle.pop() if self._idle else Worker(self._limits)
            self._busy[worker] = assignment
            try:
                worker.send(report_group, assignment.group, assignment.turns)
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
    ) -> Iterator[Played]:
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


def _leave(number: int, frame: FrameType | None) -> None:
    """SIGTERM ends the program as Ctrl-C does: in order, with the customary exit code."""
    sys.exit(128 + number)
