"""Estimate what a suite will take before it runs: rows, seconds and released numbers.

Seconds come from stored rows where there are any, otherwise from a table of rough costs, measured
on a busy machine with two cores: good enough for minutes or hours, not for comparing attacks. Rows
from other code versions are used for time estimates but still count as missing.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from statistics import fmean

from reconbench.attacks.metrics.exact import MAX_VALUES
from reconbench.benchmarks import plugins
from reconbench.benchmarks.game.play import Adversary, AttackSpec, Game
from reconbench.benchmarks.game.result import Status
from reconbench.benchmarks.run.runner import (
    LARGEST_GROUP,
    MOST_NUMBERS,
    Unit,
    count_cells,
    count_numbers,
)
from reconbench.benchmarks.store.store import Entry, Keys, identify_attack
from reconbench.mechanisms.local.reports import LocalReports

MIB = 1 << 20
# What an idle worker process holds: the attacks' libraries.
WORKER_MIB = 500
# How often attacks on several columns hold a release: for simulated tables and for gradients.
COPIES = 20
# From this budget on there is hardly any noise.
CLEAR = 30.0
# Tables of more records are long.
LONG = 2000


@dataclass(frozen=True)
class Cost:
    """Seconds of one repetition on one core.

    ``once`` and ``a_record`` are for one target column, ``clear`` times that where there is hardly
    any noise, and ``beyond`` for every record of a long table; several columns cost ``joint`` and
    ``a_cell`` for every released cell on top.
    """

    once: float
    a_record: float
    joint: float = 0.0
    a_cell: float = 0.0
    clear: float = 1.0
    beyond: float = 0.0

    def seconds(self, game: Game, cells: int) -> float:
        seconds = self.once + self.a_record * game.n + self.beyond * max(0, game.n - LONG)
        if game.epsilon >= CLEAR:
            seconds *= self.clear
        if len(game.targets) > 1:
            seconds += self.joint + self.a_cell * cells * game.n / 100
        return seconds


ROUGH: dict[str, Cost] = {
    "prior": Cost(0.002, 2e-6),
    "random": Cost(0.002, 2e-6),
    "agia": Cost(0.05, 5e-4),
    "agia-optimal": Cost(0.05, 5e-4),
    "agia-prior": Cost(0.1, 2e-3, 0.5),
    **dict.fromkeys(("naive-bayes", "knn"), Cost(0.01, 1e-5)),
    **dict.fromkeys(("bayes-net", "gradient-boosting", "random-forest"), Cost(0.08, 1e-4)),
    # Learnt once for a setting, so that a repetition has a share of it.
    **dict.fromkeys(("naive-bayes-pooled", "knn-pooled", "cliques"), Cost(0.15, 1e-5)),
    **dict.fromkeys(
        ("bayes-net-pooled", "gradient-boosting-pooled", "random-forest-pooled", "stack"),
        Cost(0.3, 1e-4),
    ),
    **dict.fromkeys(("table-linear", "table-rap"), Cost(0.05, 1e-3)),
    "averaging": Cost(0.002, 2e-5, 0.0, 2e-5),
    "confidence-ranked": Cost(0.02, 1.2e-3, 1.0, 1e-4),
    "extraction": Cost(0.005, 1e-5),
    "extraction-prior": Cost(0.01, 5e-4),
    "imputation": Cost(0.05, 5e-4, 1.0, 5e-5),
    "informed": Cost(0.01, 4e-4, 0.5, 1e-5),
    "linear": Cost(0.01, 5e-4, 1.0, 1e-4),
    "optimal": Cost(0.005, 1.5e-4),
    "posterior": Cost(0.01, 4e-4, 1.0, 1.7e-5, clear=8.0, beyond=4e-3),
    "rap": Cost(0.01, 3e-4, 0.2, 3e-5, clear=6.0),
    "rap-converged": Cost(0.01, 4e-4, 2.0, 4e-4),
    "rap-map": Cost(0.01, 4e-4, 2.0, 4e-4),
}
UNLISTED = Cost(0.5, 5e-3, 2.0, 1e-4)
# Table, release and ceilings, which all attacks on a round share.
ROUND = Cost(0.015, 3e-4)
# Ceilings of several columns, a listed number of a distinct prior and, where not all are listed, a
# column; of an error, a value of a prior.
A_LISTED_NUMBER = 1e-5
A_LONG_COLUMN = 0.03
A_VALUE = 2e-4


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
    """A whole suite. ``memory_mib`` is what the largest group of repetitions holds in a worker, or
    what a stored row says that its worker held, if that is more."""

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


def estimate(units: Sequence[Unit], stored: Collection[Entry] = ()) -> Estimate:
    """What the units take, given the rows of a store."""
    timings = _Timings(units, stored)
    games: dict[Game, list[Unit]] = {}
    for unit in units:
        games.setdefault(unit.game.repeat(0), []).append(unit)
    found, memory = [], 0.0
    for game, group in games.items():
        known, released = count_cells(game)
        names = tuple(_name(spec) for spec in group[0].attacks)
        seconds, done = 0.0, 0
        for unit in group:
            missing = [spec for spec in unit.attacks if not timings.has(unit.game, spec)]
            done += len(unit.attacks) - len(missing)
            if missing:
                seconds += _round_seconds(game, known)
                alone = sum(timings.seconds(game, spec, released) for spec in missing)
                seconds += alone * (1 + _other_worlds(game))
        rows = sum(len(unit.attacks) for unit in group)
        found.append(GameEstimate(game, len(group), names, rows, done, released, seconds))
        numbers = count_numbers(game)
        together = max(1, min(LARGEST_GROUP, len(group), MOST_NUMBERS // numbers))
        copies = COPIES if len(game.targets) > 1 else 1
        memory = max(memory, together * copies * numbers * 8 / MIB)
    memory = max(memory + WORKER_MIB, timings.peak_mib)
    return Estimate(tuple(found), memory, timings.source())


class _Timings:
    """Seconds by cell and, where a cell has none, by attack and size of the game."""

    def __init__(self, units: Sequence[Unit], stored: Collection[Entry]) -> None:
        self._cells: dict[Hashable, list[float]] = {}
        self._sizes: dict[Hashable, list[float]] = {}
        self._names: dict[tuple[str, str], str] = {}
        self._done: set[Hashable] = set()
        self._stored = self._rough = 0
        self.peak_mib = 0.0
        held = {each.key for each in stored}
        timed = {each.key.config: each.row for each in stored if each.row.status is Status.OK}
        for row in timed.values():
            size = (row.dataset, len(row.targets), row.n, row.mechanism_options, row.attack)
            self._sizes.setdefault((*size, _options(row.attack_options)), []).append(row.seconds)
        keys = Keys()
        for unit in units if stored else ():
            for spec in unit.attacks:
                key = keys.of(unit.game, spec, unit.bounds)
                if key in held:
                    self._done.add((unit.game, identify_attack(spec)))
                if key.config in timed:
                    row = timed[key.config]
                    self._names[identify_attack(spec)] = row.attack
                    self.peak_mib = max(self.peak_mib, row.peak_memory_mib or 0.0)
                    cell = (unit.game.repeat(0), identify_attack(spec))
                    self._cells.setdefault(cell, []).append(row.seconds)

    def has(self, game: Game, spec: AttackSpec) -> bool:
        """Whether a run would leave this very row as it is; failed rows are not retried unasked."""
        return (game, identify_attack(spec)) in self._done

    def seconds(self, game: Game, spec: AttackSpec, cells: int) -> float:
        """Of one row of a game, given as its repetition 0."""
        name = self._names.get(identify_attack(spec), _name(spec))
        dataset, options = plugins.shorten_spec(game.dataset), game.mechanism_options
        size = (dataset, len(game.targets), game.n, options, name)
        found = self._cells.get((game, identify_attack(spec)))
        found = found or self._sizes.get((*size, _options(spec.options)))
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


def _round_seconds(game: Game, known: tuple[str, ...]) -> float:
    """Of all that attacks share; records with the same known values have one prior."""
    priors = min(game.n, _joint_size(game.dataset, known))
    values = _joint_size(game.dataset, game.targets)
    found = ROUND.seconds(game, 0)
    if game.metric != "exact":
        found += A_VALUE * priors * values
    elif len(game.targets) > 1:
        found += A_LISTED_NUMBER * priors * min(values, MAX_VALUES)
        if values > MAX_VALUES:
            found += A_LONG_COLUMN * len(game.targets)
    return found


def _other_worlds(game: Game) -> float:
    """How often an attack plays a whole table again to measure its advantage."""
    if game.adversary is Adversary.INFORMED:
        return game.advantage / game.n
    local = issubclass(plugins.load_mechanism(game.mechanism), LocalReports)
    return min(game.advantage, 1) if local else game.advantage


def _joint_size(dataset: str, columns: tuple[str, ...]) -> int:
    return prod(plugins.load_prior(dataset).domain.project(columns).sizes)


def _name(spec: AttackSpec) -> str:
    """The name in a row: of a file's class, without importing it, the class's own."""
    path, colon, cls = spec.spec.rpartition(":")
    return cls if colon and path.endswith(".py") else spec.spec


def _options(found: Mapping[str, object]) -> str:
    return repr(sorted((key, repr(value)) for key, value in found.items()))
