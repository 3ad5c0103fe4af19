"""Play many games on all cores.

Work is handed out by round (one table, one release), so that all attacks on it share them. Every
process computes with one thread, and streams are named, so results do not depend on the number
of workers. Finished rows go to the store one by one.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import get_context

from reconbench.attacks import AttackError
from reconbench.benchmarks.game import AttackSpec, Game, Round, failed, play
from reconbench.benchmarks.results import Result, Status
from reconbench.benchmarks.store import Store, row_key

THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")

Progress = Callable[[int, Result], None]


class RunError(ValueError):
    """A run that could not go on."""


@dataclass(frozen=True)
class Unit:
    """A round and the attacks that play it."""

    game: Game
    attacks: tuple[AttackSpec, ...]


def run(
    units: Sequence[Unit],
    store: Store,
    *,
    jobs: int = 1,
    progress: Progress = lambda done, row: None,
) -> list[Result]:
    """Play what the store does not hold yet; the rows of all units, in their order.

    ``progress`` is told how many rows are done and the newest one. Failed rows are played again.
    """
    keys = [[row_key(unit.game, attack) for attack in unit.attacks] for unit in units]
    rows = store.get(key for group in keys for key in group)
    rows = {key: row for key, row in rows.items() if row.status is not Status.FAILED}
    open_units, open_keys = [], []
    for unit, group in zip(units, keys, strict=True):
        missing = [i for i, key in enumerate(group) if key not in rows]
        if missing:
            open_units.append(Unit(unit.game, tuple(unit.attacks[i] for i in missing)))
            open_keys.append([group[i] for i in missing])
    for index, found in play_units(open_units, jobs):
        for key, row in zip(open_keys[index], found, strict=True):
            store.put(key, row)
            rows[key] = row
            progress(len(rows), row)
    return [rows[key] for group in keys for key in group]


def play_unit(unit: Unit) -> list[Result]:
    """All attacks of a unit; an attack that fails yields a row that says so."""
    with one_thread():
        round_ = Round.of(unit.game)
        return [_attempt(round_, attack) for attack in unit.attacks]


@contextmanager
def one_thread() -> Iterator[None]:
    """Sums come out the same whatever the number of cores only if their order is fixed."""
    import torch
    from threadpoolctl import threadpool_limits

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with threadpool_limits(limits=1):
            yield
    finally:
        torch.set_num_threads(before)


def _attempt(round_: Round, attack: AttackSpec) -> Result:
    try:
        return play(round_, attack)
    except AttackError as error:
        return failed(round_, attack, error)


def play_units(units: Sequence[Unit], jobs: int = 1) -> Iterator[tuple[int, list[Result]]]:
    """Units as they finish, with their place; a few per worker in flight at any time."""
    if jobs == 1 or len(units) <= 1:
        for index, unit in enumerate(units):
            yield index, play_unit(unit)
        return
    for name in THREAD_VARIABLES:
        os.environ.setdefault(name, "1")
    context = get_context("spawn")
    with ProcessPoolExecutor(jobs, mp_context=context, initializer=_leave_interrupts) as pool:
        waiting: dict[Future[list[Result]], int] = {}
        queue = iter(enumerate(units))
        try:
            while True:
                for index, unit in queue:
                    waiting[pool.submit(play_unit, unit)] = index
                    if len(waiting) >= 3 * jobs:
                        break
                if not waiting:
                    return
                finished, _ = wait(waiting, return_when=FIRST_COMPLETED)
                for future in finished:
                    yield waiting.pop(future), future.result()
        except BrokenProcessPool:
            raise RunError(
                "a worker process died (out of memory, or killed); finished rows are kept: "
                "run again to go on, with fewer --jobs if memory is short"
            ) from None
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


def _leave_interrupts() -> None:
    """Ctrl-C goes to the parent, which lets the workers finish what they have."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def available_cores() -> int:
    """The cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
