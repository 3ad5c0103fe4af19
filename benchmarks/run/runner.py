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
from math import ceil, prod

from reconbench.benchmarks.computations.computation import Point
from reconbench.benchmarks.game.play import AttackSpec, Game, check
from reconbench.benchmarks.game.result import Result, Status
from reconbench.benchmarks.game.setting import Setting
from reconbench.benchmarks.run.pool import Players, Pool
from reconbench.benchmarks.run.worker_process import Limits
from reconbench.benchmarks.run.worker_tasks import Group, Played, play_group, takes_several
from reconbench.benchmarks.run.worker_tasks import one_thread as one_thread
from reconbench.benchmarks.store.provenance import shipped_name
from reconbench.benchmarks.store.store import Held, Key, Keys, Store, StoreError

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
    stored: dict[Key, Held]

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


def run(
    units: Sequence[Unit],
    store: Store,
    *,
    points: Sequence[Point] = (),
    replay: Replay = Replay.MISSING,
    jobs: int = 1,
    limits: Limits | None = None,
    pool: Players | None = None,
    progress: Progress = lambda done, row: None,
) -> list[Result]:
    """Play and compute what the store does not hold yet; all rows, those of games first.

    ``progress`` is told how many rows are done and the newest one. For ``jobs``, ``limits`` and
    ``pool`` see ``play_units``.
    """
    chosen = plan(units, store, replay, points)
    return carry_out(chosen, store, jobs=jobs, limits=limits, pool=pool, progress=progress)


def plan(
    units: Sequence[Unit],
    store: Store,
    replay: Replay = Replay.MISSING,
    points: Sequence[Point] = (),
) -> Plan:
    """Look up what there is. Nothing is played or written.

    An attack that cannot be built as an open row asks for is told of here; those of reconbench can
    be without options, so they are not loaded for that.
    """
    hashed = Keys()
    keys = [
        [hashed.of(unit.game, attack, unit.bounds) for attack in unit.attacks] for unit in units
    ]
    computed = {point.key: point for point in points}
    every = [*(key for group in keys for key in group), *computed]
    stored = store.held(every)
    held = {key for key, found in stored.items() if replay.keeps(found.status)}
    open_units, open_keys = [], []
    for unit, group in zip(units, keys, strict=True):
        missing = [i for i, key in enumerate(group) if key not in held]
        if missing:
            open_units.append(replace(unit, attacks=tuple(unit.attacks[i] for i in missing)))
            open_keys.append([group[i] for i in missing])
    attacks = {called(spec): spec for unit in open_units for spec in unit.attacks}
    for spec in attacks.values():
        if spec.options or shipped_name(spec.spec) is None:
            spec.build()
    left = [point for key, point in computed.items() if key not in held]
    return Plan(every, open_units, open_keys, left, stored)


def carry_out(
    chosen: Plan,
    store: Store,
    *,
    jobs: int = 1,
    limits: Limits | None = None,
    pool: Players | None = None,
    progress: Progress = lambda done, row: None,
    differs: Differs = lambda stored, played: None,
) -> list[Result]:
    """Do what a plan has left open, see ``work_off``; all its rows, in their order."""
    work_off(chosen, store, jobs=jobs, limits=limits, pool=pool, progress=progress, differs=differs)
    return rows_of(chosen, store)


def work_off(
    chosen: Plan,
    store: Store,
    *,
    jobs: int = 1,
    limits: Limits | None = None,
    pool: Players | None = None,
    progress: Progress = lambda done, row: None,
    differs: Differs = lambda stored, played: None,
) -> None:
    """Compute and play what a plan has left open, computations first: they are quick.

    A finished row that is played again stays as it was; ``differs`` is told of the two if they are
    not the same but for timings.
    """
    if not (chosen.units or chosen.points):
        return
    store.create()
    before = _again(chosen, store)
    done = chosen.held
    for key, row in _finished(chosen, jobs, limits, pool):
        stored = before.get(key)
        if stored is None or stored.status is Status.FAILED:
            store.put(key, row)
        elif stored.differences(row):
            differs(stored, row)
        done += 1
        progress(done, row)


def rows_of(chosen: Plan, store: Store) -> list[Result]:
    """The rows of a plan that was carried out, in their order."""
    rows = store.get(chosen.keys)
    if len(rows) < len(set(chosen.keys)):
        raise StoreError(
            f"{store.path} lost rows while it was written to; run the same command again"
        )
    return [rows[key] for key in chosen.keys]


def _again(chosen: Plan, store: Store) -> dict[Key, Result]:
    """The rows that are there and done once more."""
    every = [*(key for group in chosen.open_keys for key in group), *(p.key for p in chosen.points)]
    twice = [key for key in every if key in chosen.stored]
    return store.get(twice) if twice else {}


def _finished(
    chosen: Plan, jobs: int, limits: Limits | None, pool: Players | None
) -> Iterator[tuple[Key, Result]]:
    for point in chosen.points:
        yield point.key, point.attempt()
    for place, attack, row in play_units(chosen.units, jobs, limits, pool):
        yield chosen.open_keys[place][attack], row


def play_units(
    units: Sequence[Unit],
    jobs: int = 1,
    limits: Limits | None = None,
    pool: Players | None = None,
) -> Iterator[tuple[int, int, Result]]:
    """Rows as they finish, with the places of their unit and of the attack in it.

    One job without limits plays in this process, where an attack that hangs or kills its process
    cannot be helped. Otherwise ``jobs`` worker processes do, of ``pool`` if one is given.
    """
    groups = grouped(units, jobs)
    found: Iterator[tuple[int, Played]]
    if pool is not None:
        found = pool.play([group for group, _ in groups])
    elif jobs == 1 and limits is None:
        found = _here([group for group, _ in groups])
    else:
        found = _in_a_pool([group for group, _ in groups], jobs, limits or Limits())
    for group, played in found:
        yield groups[group][1][played.rep], played.attack, played.row


def play_unit(unit: Unit) -> list[Result]:
    """All attacks of a unit, in this process; one that fails yields a row that says so."""
    return [row for _, _, row in play_units([unit])]


def _here(groups: Sequence[Group]) -> Iterator[tuple[int, Played]]:
    for place, group in enumerate(groups):
        for event in play_group(group):
            if isinstance(event, Played):
                yield place, event


def _in_a_pool(groups: Sequence[Group], jobs: int, limits: Limits) -> Iterator[tuple[int, Played]]:
    with Pool(jobs, limits) as pool:
        yield from pool.play(groups)


def grouped(units: Sequence[Unit], jobs: int = 1) -> list[tuple[Group, tuple[int, ...]]]:
    """Groups that cover the units, each with the places of the units it was made of.

    Repetitions are grouped where an attack takes several at once; but not more than 30, nor more
    than fit in memory, nor so many that cores would idle at the end.
    """
    alike: dict[tuple[object, ...], list[int]] = {}
    for place, unit in enumerate(units):
        attacks = tuple(called(spec) for spec in unit.attacks)
        alike.setdefault((replace(unit.game, rep=0), attacks, unit.bounds), []).append(place)
    fair = len(units) if jobs == 1 else ceil(len(units) / (2 * jobs))
    found = []
    for places in alike.values():
        first = units[places[0]]
        together = any(takes_several(attack, first.game) for attack in first.attacks)
        size = 1
        if together and len(places) > 1:
            size = max(1, min(LARGEST_GROUP, fair, MOST_NUMBERS // _numbers(first.game)))
        parts = ceil(len(places) / size)
        for part in range(parts):
            mine = tuple(places[part::parts])
            games = tuple(units[place].game for place in mine)
            found.append((Group(games, first.attacks, first.bounds), mine))
    if jobs > 1:
        # the largest first, so that no core waits for one at the end
        sizes: dict[Setting, int] = {}

        def size_of(each: tuple[Group, tuple[int, ...]]) -> int:
            game = each[0].games[0]
            if game.setting not in sizes:
                sizes[game.setting] = _numbers(game)
            return len(each[1]) * sizes[game.setting]

        found.sort(key=size_of, reverse=True)
    return found


def called(attack: AttackSpec) -> tuple[str, str]:
    """What tells attacks with options apart."""
    return attack.spec, repr(sorted(attack.options.items()))


def _numbers(game: Game) -> int:
    """How many numbers a round of a game holds, more or less."""
    _, known, _, mechanism = check(game)
    table = game.n * (len(known) + len(game.targets))
    sizes: tuple[int, ...] = getattr(getattr(mechanism, "domain", None), "sizes", ())
    sets: tuple[tuple[int, ...], ...] = getattr(mechanism, "workload", ())
    return table + sum(prod(sizes[i] for i in columns) for columns in sets)


def available_cores() -> int:
    """The cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
