"""Play all games of a question: on the table itself, and on tables drawn from the prior."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from typing import Protocol

from reconbench.benchmarks.assess.games.real_games import (
    RealGame,
    build_real_round,
    play_real_game,
)
from reconbench.benchmarks.assess.question import AssessError
from reconbench.benchmarks.game.play import AttackSpec, Game, Round, play
from reconbench.benchmarks.game.result import Result, Status
from reconbench.benchmarks.game.worlds.memorisation import HeldOut
from reconbench.benchmarks.run.worker_tasks import one_thread
from reconbench.datasets import Table


@dataclass(frozen=True)
class Task:
    """A game on a table, or on one that is drawn, and the attacks that play it."""

    game: Game
    table: Table | None
    specs: tuple[AttackSpec, ...]
    held_out: HeldOut | None = None


Outcome = list[Result] | RealGame


class Memory(Protocol):
    """What remembers outcomes from one call to the next."""

    def find(self, task: Task) -> Outcome | None: ...

    def keep(self, task: Task, outcome: Outcome) -> None: ...


def recall_tasks(tasks: Sequence[Task], memory: Memory | None) -> dict[int, Outcome]:
    """The outcomes that are remembered, by the index of their task."""
    found = {} if memory is None else {i: memory.find(task) for i, task in enumerate(tasks)}
    return {index: outcome for index, outcome in found.items() if outcome is not None}


def play_tasks(
    tasks: Mapping[int, Task], jobs: int = 1, memory: Memory | None = None
) -> Iterator[tuple[int, Outcome]]:
    """Outcomes with the indices of their tasks, each remembered as soon as it is there."""
    played = _play_all(list(tasks.values()), jobs)
    for (index, task), outcome in zip(tasks.items(), played, strict=True):
        if memory is not None:
            memory.keep(task, outcome)
        yield index, outcome


def _play_all(tasks: Sequence[Task], jobs: int) -> Iterator[Outcome]:
    if jobs == 1 or len(tasks) < 2:
        yield from map(_play, tasks)
        return
    with ProcessPoolExecutor(min(jobs, len(tasks)), mp_context=get_context("spawn")) as pool:
        try:
            yield from pool.map(_play, tasks)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _play(task: Task) -> Outcome:
    game, table, specs = task.game, task.table, task.specs
    with one_thread():
        if table is None:
            round_ = Round.draw(game)
            rows = [play(round_, spec) for spec in specs]
            for row in rows:
                if row.status is not Status.OK:
                    raise AssessError(f"attack {row.attack!r} cannot play: {row.error}")
            return rows
        return play_real_game(build_real_round(game, table), table, specs, task.held_out)
