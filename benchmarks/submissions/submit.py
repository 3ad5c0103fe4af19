"""Play a suite with one attack and make an entry of it."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from reconbench.benchmarks import plugins
from reconbench.benchmarks.game.attack_spec import AttackSpec
from reconbench.benchmarks.game.result import Result, Status
from reconbench.benchmarks.game.rows import read_versions
from reconbench.benchmarks.kernels import read_kernels
from reconbench.benchmarks.run.runner import Unit
from reconbench.benchmarks.store.provenance import shipped_name
from reconbench.benchmarks.submissions.cheat_test import count_sealed_repetitions
from reconbench.benchmarks.submissions.entry import (
    MOST_ROWS,
    About,
    Entry,
    EntryError,
    Machine,
    SubmittedAttack,
    SubmittedSuite,
)
from reconbench.benchmarks.suites.suite import Suite

# With fewer, no number of sealed repetitions that anybody would play exposes a cheat.
FEWEST_REPETITIONS = 2


@dataclass(frozen=True)
class Submission:
    """An attack in a file and the rounds that it is to play."""

    attack: SubmittedAttack
    suite: SubmittedSuite
    units: tuple[Unit, ...]

    @classmethod
    def prepare(
        cls,
        spec: str,
        suite: Suite,
        *,
        options: Mapping[str, Any] | None = None,
        seed: int | None = None,
        repetitions: int | None = None,
    ) -> Submission:
        """Find whatever is wrong before anything is played; the attack is built in a player."""
        parts = plugins.split_file(spec)
        if parts is None or parts.parameter:
            raise EntryError(
                f"the attack must be a class in a file, as my_attack.py:MyAttack, got {spec!r}"
            )
        chosen = AttackSpec(plugins.make_absolute(spec), dict(options or {}))
        name = chosen.build().name
        if shipped_name(name) is not None:
            raise EntryError(
                f"the attack in {parts.path} has the name of an attack of reconbench, {name!r}; "
                "choose another name"
            )
        attack = SubmittedAttack.from_file(Path(parts.path), parts.name, name, chosen.options)
        seed = suite.seed if seed is None else seed
        units = list_units(suite, chosen, seed=seed, repetitions=repetitions)
        if len(units) > MOST_ROWS:
            raise EntryError(
                f"suite {suite.name} has {len(units):,} rounds, and an entry holds {MOST_ROWS:,} "
                "rows; choose a smaller suite or fewer repetitions"
            )
        check_repetitions(units)
        submitted = SubmittedSuite(name=suite.name, seed=seed, repetitions=repetitions)
        return cls(attack, submitted, tuple(units))

    @property
    def sealed_repetitions(self) -> int:
        """How many sealed repetitions `verify` will play for each game."""
        return count_sealed_repetitions(count_repetitions(self.units))

    def finish(self, rows: Sequence[Result], about: About) -> Entry:
        """The entry of the rows that were played; refused if the attack failed."""
        failed = [row for row in rows if row.status is Status.FAILED]
        if failed:
            raise EntryError(
                f"no entry was written: the attack failed in {len(failed)} of {len(rows)} rows; "
                f"the first: {failed[0].error}"
            )
        if all(row.status is Status.SKIPPED for row in rows):
            raise EntryError(
                f"no entry was written: the attack skips every game of the suite: {rows[0].error}"
            )
        kernels = next((row.kernels for row in rows if row.kernels), read_kernels())
        machine = Machine(
            kernels=dict(kernels),
            python=platform.python_version(),
            system=f"{platform.system()} {platform.machine()}",
        )
        plain = tuple(replace(row, printed="") for row in rows)
        return Entry(self.attack, self.suite, about, read_versions(), machine, plain)


def list_units(
    suite: Suite, attack: AttackSpec, *, seed: int, repetitions: int | None
) -> list[Unit]:
    """The rounds of a suite's games, for one attack alone."""
    units = suite.units(seed=seed, repetitions=repetitions)
    if not units:
        raise EntryError(f"suite {suite.name} has computations only; choose a suite with games")
    return [replace(unit, attacks=(attack,)) for unit in units]


def check_repetitions(units: Sequence[Unit]) -> int:
    """The repetitions that every game has; raises if they are too few to be verified."""
    fewest = count_repetitions(units)
    if fewest < FEWEST_REPETITIONS:
        raise EntryError(
            f"an entry needs at least {FEWEST_REPETITIONS} repetitions of every game, got "
            f"{fewest}; submit it again with --reps"
        )
    return fewest


def count_repetitions(units: Sequence[Unit]) -> int:
    """The repetitions that every game has."""
    by_game: dict[object, set[int]] = {}
    for unit in units:
        by_game.setdefault(unit.game.repeat(0), set()).add(unit.game.rep)
    return len(set.intersection(*by_game.values()))
