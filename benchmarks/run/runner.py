"""Play many games: what is missing in a store, on all cores, one row at a time.

Repetitions of a game are grouped for attacks that take several at once. Every process computes
with one thread, and streams are named, so results depend neither on the number of workers nor on
the grouping. Finished rows go to the store one by one, and are never played again unless asked for.
Points of computations are rows like those of games; they are computed in this process.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from functools import cache
from math import ceil, prod

from reconbench.benchmarks.computations.computation import Point
from reconbench.benchmarks.game.play import AttackSpec, Game, check
from reconbench.benchmarks.game.result import Result, Status
from reconbench.benchmarks.game.row_schema.agreement import Drift
from reconbench.benchmarks.player.referee import limit_players
from reconbench.benchmarks.run.pool import GroupPlayer, Pool
from reconbench.benchmarks.run.worker_process import Limits
from reconbench.benchmarks.run.worker_tasks import FinishedRow, Group, play_group, takes_several
from reconbench.benchmarks.run.worker_tasks import one_thread as one_thread
from reconbench.benchmarks.store.provenance import NO_ATTACK, shipped_name
from reconbench.benchmarks.store.store import (
    Key,
    Keys,
    RowHeader,
    Store,
    StoreError,
    identify_attack,
)

# The largest group, and the most released numbers that its rounds may hold in memory.
LARGEST_GROUP = 30
MOST_NUMBERS = 1 << 26

Progress = Callable[[int, Result], None]
Differs = Callable[[Result, Result], None]


class Replay(Enum):
    """What is played of the rows that a store holds already."""

    MISSING = "nothing: only what is missing"
    FAILED = "failed rows"
    ALL = "everything, to see whether it comes out the same"

    def keeps(self, status: Status) -> bool:
        return self is Replay.MISSING or (self is Replay.FAILED and status is not Status.FAILED)


@dataclass(frozen=True)
class Unit:
    """A round and the attacks that play it; ``bounds`` are those in files."""

    game: Game
    attacks: tuple[AttackSpec, ...]
    bounds: tuple[str, ...] = ()


@dataclass(frozen=True)
class Plan:
    """What is asked for, what of it a store holds, and what is to be played and computed.

    ``keys`` are of all rows, those of games first; ``open_keys`` go with ``units``.
    """

    keys: list[Key]
    units: list[Unit]
    open_keys: list[list[Key]]
    points: list[Point]
    stored: dict[Key, RowHeader]

    @property
    def total(self) -> int:
        return len(self.keys)

    @property
    def held(self) -> int:
        """How many rows are done before anything is played."""
        return self.total - sum(map(len, self.open_keys)) - len(self.points)

    def check(self) -> None:
        """Whatever can be wrong with an open game is found here, before anything is written."""
        for game in {replace(unit.game, rep=0): None for unit in self.units}:
            check(game)
        for computation in {
            id(point.computation): point.computation for point in self.points
        }.values():
            computation.check_data()


def run(
    units: Sequence[Unit],
    store: Store,
    *,
    points: Sequence[Point] = (),
    replay: Replay = Replay.MISSING,
    jobs: int = 1,
    limits: Limits | None = None,
    pool: GroupPlayer | None = None,
    progress: Progress = lambda done, row: None,
) -> list[Result]:
    """Play and compute what the store does not hold yet; return all rows, those of games first.

    ``progress`` gets the number of rows that are done and the newest one. For ``jobs``, ``limits``
    and ``pool`` see ``play_units``.
    """
    chosen = plan(units, store, replay, points)
    execute(chosen, store, jobs=jobs, limits=limits, pool=pool, progress=progress)
    return read_rows(chosen, store)


def plan(
    units: Sequence[Unit],
    store: Store,
    replay: Replay = Replay.MISSING,
    points: Sequence[Point] = (),
) -> Plan:
    """Look up what there is. Nothing is played or written.

    Raises if an attack cannot be built as an open row asks for; those of reconbench can be built
    without options, so they are not loaded for that.
    """
    hashed = Keys()
    unit_keys = [
        [hashed.of(unit.game, attack, unit.bounds) for attack in unit.attacks] for unit in units
    ]
    computed = {point.key: point for point in points}
    keys = [*(key for group in unit_keys for key in group), *computed]
    stored = store.read_headers(keys)
    held = {key for key, row in stored.items() if replay.keeps(row.status)}
    open_units, open_keys = [], []
    for unit, group in zip(units, unit_keys, strict=True):
        missing = [i for i, key in enumerate(group) if key not in held]
        if missing:
            open_units.append(replace(unit, attacks=tuple(unit.attacks[i] for i in missing)))
            open_keys.append([group[i] for i in missing])
    attacks = {identify_attack(spec): spec for unit in open_units for spec in unit.attacks}
    for spec in attacks.values():
        if spec.options or shipped_name(spec.spec) is None:
            spec.build()
    open_points = [point for key, point in computed.items() if key not in held]
    return Plan(keys, open_units, open_keys, open_points, stored)


def execute(
    chosen: Plan,
    store: Store,
    *,
    jobs: int = 1,
    limits: Limits | None = None,
    pool: GroupPlayer | None = None,
    progress: Progress = lambda done, row: None,
    differs: Differs = lambda stored, played: None,
    drift: Drift | None = None,
    seal: str = "",
) -> None:
    """Compute and play the open rows of a plan, computations first: they are quick.

    A finished row that is played again stays as it was; ``differs`` gets both if they differ, and
    ``drift`` collects how far the others are apart. ``seal`` is the commitment to a secret seed,
    for the rows of games.
    """
    if not (chosen.units or chosen.points):
        return
    store.create()
    replayed = _read_replayed(chosen, store)
    done = chosen.held
    for key, row in _play_open_rows(chosen, store, jobs, limits, pool):
        if seal and row.attack != NO_ATTACK:
            row = replace(row, seal=seal)
        stored = replayed.get(key)
        if stored is None or stored.status is Status.FAILED:
            store.put(key, row)
        else:
            compared = stored.compare(row)
            if drift is not None:
                drift.add(compared)
            if compared.different:
                differs(stored, row)
        done += 1
        progress(done, row)


def read_rows(chosen: Plan, store: Store) -> list[Result]:
    """The rows of a plan that was executed, in its order."""
    rows = store.get(chosen.keys)
    if len(rows) < len(set(chosen.keys)):
        raise StoreError(f"{store.path} lacks rows that this run wrote; run the same command again")
    return [rows[key] for key in chosen.keys]


def _read_replayed(chosen: Plan, store: Store) -> dict[Key, Result]:
    """The stored rows that the plan plays once more."""
    keys = [*(key for group in chosen.open_keys for key in group), *(p.key for p in chosen.points)]
    stored = [key for key in keys if key in chosen.stored]
    return store.get(stored) if stored else {}


def _play_open_rows(
    chosen: Plan, store: Store, jobs: int, limits: Limits | None, pool: GroupPlayer | None
) -> Iterator[tuple[Key, Result]]:
    for point in chosen.points:
        # The rows of its inputs are stored by now: points come after what they depend on.
        rows = store.get(each.key for each in point.inputs) if point.inputs else {}
        answers = tuple(rows[each.key] for each in point.inputs if each.key in rows)
        yield point.key, replace(point, answers=answers, threads=jobs).attempt()
    for unit, attack, row in play_units(chosen.units, jobs, limits, pool):
        yield chosen.open_keys[unit][attack], row


def play_units(
    units: Sequence[Unit],
    jobs: int = 1,
    limits: Limits | None = None,
    pool: GroupPlayer | None = None,
) -> Iterator[tuple[int, int, Result]]:
    """Rows as they finish, each with the indices of its unit and of the attack in it.

    One job without limits plays in this process, where an attack that hangs or kills its process
    cannot be helped. Otherwise ``jobs`` worker processes do, of ``pool`` if one is given.
    """
    if limits is not None:
        limit_players(limits.seconds, limits.hidden)
    grouping = group_units(units, jobs)
    groups = [group for group, _ in grouping]
    finished: Iterator[tuple[int, FinishedRow]]
    if pool is not None:
        finished = pool.play(groups)
    elif jobs == 1 and limits is None:
        finished = _play_here(groups)
    else:
        finished = _play_in_pool(groups, jobs, limits or Limits())
    for index, row in finished:
        yield grouping[index][1][row.rep], row.attack, row.row


def _play_here(groups: Sequence[Group]) -> Iterator[tuple[int, FinishedRow]]:
    for index, group in enumerate(groups):
        for event in play_group(group):
            if isinstance(event, FinishedRow):
                yield index, event


def _play_in_pool(
    groups: Sequence[Group], jobs: int, limits: Limits
) -> Iterator[tuple[int, FinishedRow]]:
    with Pool(jobs, limits) as pool:
        yield from pool.play(groups)


def group_units(units: Sequence[Unit], jobs: int = 1) -> list[tuple[Group, tuple[int, ...]]]:
    """Groups that cover the units, each with the indices of the units it was made of.

    Repetitions are grouped where an attack takes several at once; but not more than 30, nor more
    than fit in memory, nor so many that cores would idle at the end.
    """
    alike: dict[tuple[object, ...], list[int]] = {}
    for index, unit in enumerate(units):
        attacks = tuple(identify_attack(spec) for spec in unit.attacks)
        alike.setdefault((replace(unit.game, rep=0), attacks, unit.bounds), []).append(index)
    fair = len(units) if jobs == 1 else ceil(len(units) / (2 * jobs))
    groups = []
    for indices in alike.values():
        first = units[indices[0]]
        size = 1
        if len(indices) > 1 and any(takes_several(each, first.game) for each in first.attacks):
            size = max(1, min(LARGEST_GROUP, fair, MOST_NUMBERS // count_numbers(first.game)))
        parts = ceil(len(indices) / size)
        for part in range(parts):
            members = tuple(indices[part::parts])
            games = tuple(units[index].game for index in members)
            groups.append((Group(games, first.attacks, first.bounds), members))
    if jobs > 1:
        # the largest first, so that no core waits for one at the end
        def size_of(group: tuple[Group, tuple[int, ...]]) -> int:
            return len(group[1]) * count_numbers(group[0].games[0])

        groups.sort(key=size_of, reverse=True)
    return groups


def count_numbers(game: Game) -> int:
    """How many numbers a round of a game holds, more or less."""
    known, cells = count_cells(game)
    return cells + game.n * (len(known) + len(game.targets))


def count_cells(game: Game) -> tuple[tuple[str, ...], int]:
    """The known columns of a game, and how many numbers its release holds."""
    return _count_cells(replace(game, n=1, metric="exact", advantage=0, seed=0, rep=0))


@cache
def _count_cells(game: Game) -> tuple[tuple[str, ...], int]:
    _, columns, _, built = check(game)
    sizes: tuple[int, ...] = getattr(getattr(built, "domain", None), "sizes", ())
    sets: tuple[tuple[int, ...], ...] = getattr(built, "workload", ())
    return columns, sum(prod(sizes[i] for i in each) for each in sets)


def available_cores() -> int:
    """The cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
