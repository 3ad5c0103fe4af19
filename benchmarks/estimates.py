"""What a suite will take before it runs: rows, seconds and released numbers.

Seconds come from rows that are stored already where there are any, otherwise from a table of
rough costs, measured on a busy machine with two cores: good for minutes or hours, not for a
comparison of attacks.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from math import prod
from statistics import fmean

from reconbench.benchmarks import options, plugins
from reconbench.benchmarks.game import Adversary, AttackSpec, Game, check
from reconbench.benchmarks.results import Result, Status
from reconbench.benchmarks.runner import LARGEST_GROUP, MOST_NUMBERS, Unit
from reconbench.mechanisms.ldp import LocalReports

MIB = 1 << 20
# What an idle worker process holds: the attacks' libraries.
WORKER_MIB = 500
# Joint priors of more numbers are not listed by the ceilings.
LISTED = 1 << 22


@dataclass(frozen=True)
class Cost:
    """Seconds of one repetition on one core.

    ``once`` and ``a_record`` are for one target column; several columns cost ``joint`` and
    ``a_cell`` for every released cell on top.
    """

    once: float
    a_record: float
    joint: float = 0.0
    a_cell: float = 0.0

    def seconds(self, game: Game, cells: int) -> float:
        found = self.once + self.a_record * game.n
        if len(game.targets) > 1:
            found += self.joint + self.a_cell * cells * game.n / 100
        return found


ROUGH: dict[str, Cost] = {
    "prior": Cost(0.005, 1e-5),
    "random": Cost(0.005, 1e-5),
    "agia": Cost(0.05, 5e-4),
    "agia-optimal": Cost(0.05, 5e-4),
    "agia-prior": Cost(0.1, 2e-3, 0.5),
    "averaging": Cost(0.02, 1e-4, 0.0, 2e-5),
    "confidence-ranked": Cost(0.3, 3e-3, 1.0, 1e-4),
    "extraction": Cost(0.005, 1e-5),
    "extraction-prior": Cost(0.01, 5e-4),
    "imputation": Cost(0.05, 5e-4, 1.0, 5e-5),
    "informed": Cost(0.02, 1.5e-3, 0.5, 1e-5),
    "linear": Cost(0.05, 1e-3, 1.0, 1e-4),
    "optimal": Cost(0.01, 5e-4),
    "posterior": Cost(0.05, 1e-3, 2.5, 6e-5),
    "rap": Cost(0.05, 5e-4, 0.5, 8e-5),
    "rap-converged": Cost(0.3, 3e-3, 2.0, 4e-4),
    "rap-map": Cost(0.3, 3e-3, 2.0, 4e-4),
}
UNLISTED = Cost(0.5, 5e-3, 2.0, 1e-4)
# Table, release and ceilings, which all attacks on a round share.
ROUND = Cost(0.1, 7e-4)
A_LISTED_NUMBER = 2e-5


@dataclass(frozen=True)
class GameEstimate:
    """One game of a suite with all its repetitions; ``seconds`` of one core, for open rows only."""

    game: Game
    repetitions: int
    attacks: tuple[str, ...]
    rows: int
    stored: int
    released: int
    seconds: float


@dataclass(frozen=True)
class Estimate:
    """A whole suite. ``memory_mib`` is what the largest group of repetitions holds in a worker."""

    games: tuple[GameEstimate, ...]
    memory_mib: float
    source: str

    @property
    def rows(self) -> int:
        return sum(each.rows for each in self.games)

    @property
    def stored(self) -> int:
        return sum(each.stored for each in self.games)

    @property
    def seconds(self) -> float:
        return sum(each.seconds for each in self.games)

    @property
    def released(self) -> int:
        return max(each.released for each in self.games)


def estimate(units: Sequence[Unit], stored: Iterable[Result] = ()) -> Estimate:
    """What the units take, given the finished rows of a store."""
    timings = _Timings(stored)
    games: dict[Game, list[Unit]] = {}
    for unit in units:
        games.setdefault(unit.game.at(0), []).append(unit)
    found, memory = [], 0.0
    for game, group in games.items():
        known, released = _released(game)
        names = tuple(_name(spec) for spec in group[0].attacks)
        seconds, done = 0.0, 0
        for unit in group:
            missing = [spec for spec in unit.attacks if not timings.has(unit.game, known, spec)]
            done += len(unit.attacks) - len(missing)
            if missing:
                seconds += _round_seconds(game)
                alone = sum(timings.seconds(game, known, spec, released) for spec in missing)
                seconds += alone * (1 + _other_worlds(game))
        rows = sum(len(unit.attacks) for unit in group)
        found.append(GameEstimate(game, len(group), names, rows, done, released, seconds))
        numbers = released + game.n * (len(known) + len(game.targets))
        together = max(1, min(LARGEST_GROUP, len(group), MOST_NUMBERS // numbers))
        memory = max(memory, together * numbers * 8 / MIB)
    return Estimate(tuple(found), memory + WORKER_MIB, timings.source())


class _Timings:
    """Seconds by cell and, where a cell has none, by attack and size of the game."""

    def __init__(self, rows: Iterable[Result]) -> None:
        self._cells: dict[Hashable, list[float]] = {}
        self._sizes: dict[Hashable, list[float]] = {}
        self._done: set[Hashable] = set()
        self._stored = self._rough = 0
        for row in rows:
            if row.status is Status.FAILED or not row.table_hash:
                continue
            chosen = _options(row.attack_options.items())
            cell = (*_axes_of(row), row.attack, chosen)
            self._done.add((*cell, row.seed, row.rep))
            if row.status is Status.OK:
                self._cells.setdefault(cell, []).append(row.seconds)
                size = (row.dataset, len(row.targets), row.n, row.k, row.attack, chosen)
                self._sizes.setdefault(size, []).append(row.seconds)

    def has(self, game: Game, known: tuple[str, ...], spec: AttackSpec) -> bool:
        cell = (*_axes_of_game(game, known), _name(spec), _options(spec.options.items()))
        return (*cell, game.seed, game.rep) in self._done

    def seconds(self, game: Game, known: tuple[str, ...], spec: AttackSpec, cells: int) -> float:
        name, chosen = _name(spec), _options(spec.options.items())
        size = (_dataset(game), len(game.targets), game.n, game.k, name, chosen)
        found = self._cells.get((*_axes_of_game(game, known), name, chosen))
        found = found or self._sizes.get(size)
        if found:
            self._stored += 1
            return fmean(found)
        self._rough += 1
        return ROUGH.get(name, UNLISTED).seconds(game, cells)

    def source(self) -> str:
        if not self._stored + self._rough:
            return "nothing: all rows are stored"
        if not self._stored:
            return "a shipped table of rough costs"
        if not self._rough:
            return "stored timings"
        share = self._stored / (self._stored + self._rough)
        return f"stored timings for {share:.0%} of the open rows, rough costs for the rest"


def _round_seconds(game: Game) -> float:
    listed = game.n * _joint_size(game.dataset, game.targets)
    joint = len(game.targets) > 1 and game.metric == "exact" and listed <= LISTED
    return ROUND.seconds(game, 0) + (A_LISTED_NUMBER * listed if joint else 0.0)


def _other_worlds(game: Game) -> float:
    """How often an attack plays a whole table again to measure its advantage."""
    if game.adversary is Adversary.INFORMED:
        return game.advantage / game.n
    local = issubclass(plugins.mechanism(game.mechanism), LocalReports)
    return min(game.advantage, 1) if local else game.advantage


def _joint_size(dataset: str, targets: tuple[str, ...]) -> int:
    return prod(plugins.prior(dataset).domain.project(targets).sizes)


def _released(game: Game) -> tuple[tuple[str, ...], int]:
    """The known columns of a game, and how many numbers its release holds."""
    mechanism = (game.mechanism, game.mechanism_options, game.epsilon)
    return _cells(game.dataset, game.targets, game.known, game.k, *mechanism)


@cache
def _cells(
    dataset: str,
    targets: tuple[str, ...],
    known: tuple[str, ...],
    k: int,
    mechanism: str,
    mechanism_options: str,
    epsilon: float,
) -> tuple[tuple[str, ...], int]:
    game = Game(dataset, targets, epsilon, known=known, k=k, mechanism=mechanism)
    _, columns, _, built = check(replace(game, mechanism_options=mechanism_options))
    sizes: tuple[int, ...] = getattr(getattr(built, "domain", None), "sizes", ())
    sets: tuple[tuple[int, ...], ...] = getattr(built, "workload", ())
    return columns, sum(prod(sizes[i] for i in each) for each in sets)


def _name(spec: AttackSpec) -> str:
    """The name in a row: of a file's class, without importing it, the class's own."""
    path, colon, cls = spec.spec.rpartition(":")
    return cls if colon and path.endswith(".py") else spec.spec


def _options(items: Iterable[tuple[str, object]]) -> str:
    return repr(sorted((key, repr(value)) for key, value in items))


def _dataset(game: Game) -> str:
    return plugins.short(game.dataset)


def _axes_of(row: Result) -> tuple[Hashable, ...]:
    return (
        row.dataset, tuple(row.targets), tuple(row.known), row.n, row.k, row.epsilon, row.delta,
        row.mechanism, row.metric, Adversary(row.adversary), row.attacker_prior,
        options.written(row.mechanism_options), row.advantage,
    )  # fmt: skip


def _axes_of_game(game: Game, known: tuple[str, ...]) -> tuple[Hashable, ...]:
    return (
        _dataset(game), game.targets, known, game.n, game.k, float(game.epsilon), game.delta,
        game.mechanism, game.metric, game.adversary, game.attacker_prior,
        game.mechanism_options, game.advantage,
    )  # fmt: skip
