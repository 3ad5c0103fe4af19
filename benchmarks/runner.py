"""Play many games: what is missing in a store, on all cores, one row at a time.

Repetitions of a game are grouped for attacks that take several at once. Every process computes
with one thread, and streams are named, so results depend neither on the number of workers nor on
the grouping. Finished rows go to the store one by one, and are never played again unless asked for.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from math import ceil, prod

from reconbench.benchmarks.game import AttackSpec, Game, check, plays_together
from reconbench.benchmarks.groups import Group, Played, play_group
from reconbench.benchmarks.groups import one_thread as one_thread
from reconbench.benchmarks.pool import Players, Pool
from reconbench.benchmarks.results import Result, Status
from reconbench.benchmarks.store import Key, Keys, Store
from reconbench.benchmarks.workers import Limits

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

    def keeps(self, row: Result) -> bool:
        return self is Replay.MISSING or (self is Replay.FAILED and row.status is not Status.FAILED)


@dataclass(frozen=True)
class Unit:
    """A round and the attacks that play it."""

    game: Game
    attacks: tuple[AttackSpec, ...]


@dataclass(frozen=True)
class Plan:
    """What is asked for, what of it a store holds, and what is to be played."""

    keys: list[list[Key]]
    units: list[Unit]
    open_keys: list[list[Key]]
    stored: dict[Key, Result]

    @property
    def total(self) -> int:
        return sum(map(len, self.keys))

    @property
    def held(self) -> int:
        """How many rows are done before anything is played."""
        return self.total - sum(map(len, self.open_keys))

    def check(self) -> None:
        """Whatever can be wrong with an open game is found here, before anything is written."""
        for game in {replace(unit.game, rep=0): None for unit in self.units}:
            check(game)


def run(
    units: Sequence[Unit],
    store: Store,
    *,
    replay: Replay = Replay.MISSING,
    jobs: int = 1,
    limits: Limits | None = None,
    pool: Players | None = None,
    progress: Progress = lambda done, row: None,
) -> list[Result]:
    """Play what the store does not hold yet; the rows of all units, in their order.

    ``progress`` is told how many rows are done and the newest one. For ``jobs``, ``limits`` and
    ``pool`` see ``play_units``.
    """
    chosen = plan(units, store, replay)
    return carry_out(chosen, store, jobs=jobs, limits=limits, pool=pool, progress=progress)


def plan(units: Sequence[Unit], store: Store, replay: Replay = Replay.MISSING) -> Plan:
    """Look up what there is. Nothing is played or written."""
    hashed = Keys()
    keys = [[hashed.of(unit.game, attack) for attack in unit.attacks] for unit in units]
    stored = store.get(key for group in keys for key in group)
    held = {key: row for key, row in stored.items() if replay.keeps(row)}
    open_units, open_keys = [], []
    for unit, group in zip(units, keys, strict=True):
        missing = [i for i, key in enumerate(group) if key not in held]
        if missing:
            open_units.append(Unit(unit.game, tuple(unit.attacks[i] for i in missing)))
            open_keys.append([group[i] for i in missing])
    return Plan(keys, open_units, open_keys, stored)


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
    """Play what a plan has left open; the rows of all its units, in their order.

    A finished row that is played again stays as it was; ``differs`` is told of the two if they are
    not the same but for timings.
    """
    rows = dict(chosen.stored)
    if chosen.units:
        store.create()
    done = chosen.held
    for place, attack, row in play_units(chosen.units, jobs, limits, pool):
        key = chosen.open_keys[place][attack]
        before = chosen.stored.get(key)
        if before is None or before.status is Status.FAILED:
            store.put(key, row)
            rows[key] = row
        elif before.differences(row):
            differs(before, row)
        done += 1
        progress(done, row)
    return [rows[key] for group in chosen.keys for key in group]


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
        attacks = tuple((spec.spec, repr(sorted(spec.options.items()))) for spec in unit.attacks)
        alike.setdefault((replace(unit.game, rep=0), attacks), []).append(place)
    fair = len(units) if jobs == 1 else ceil(len(units) / (2 * jobs))
    found = []
    for places in alike.values():
        first = units[places[0]]
        together = any(plays_together(attack, first.game) for attack in first.attacks)
        size = 1
        if together and len(places) > 1:
            size = max(1, min(LARGEST_GROUP, fair, MOST_NUMBERS // _numbers(first.game)))
        parts = ceil(len(places) / size)
        for part in range(parts):
            mine = tuple(places[part::parts])
            games = tuple(units[place].game for place in mine)
            found.append((Group(games, first.attacks), mine))
    return found


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
