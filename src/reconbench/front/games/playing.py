"""How calls play: in this process or in workers, with or without a store, until Ctrl-C."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NoReturn, Self

from reconbench.benchmarks.game.play import Round, play
from reconbench.benchmarks.game.result import Result, Status
from reconbench.benchmarks.player.referee import limit_players
from reconbench.benchmarks.plugins.in_memory import PREFIX, Held, is_held
from reconbench.benchmarks.run.runner import Unit, play_units
from reconbench.benchmarks.run.worker_process import Limits
from reconbench.front.arguments import (
    ArgumentError,
    read_flag,
    read_number,
    read_optional,
    read_whole,
)
from reconbench.front.games.results import Played, PlayResult, count_things
from reconbench.front.games.suite_runs import Show, SuiteRun, describe_run, play_suite
from reconbench.front.progress import is_watched, show_progress

NAME = "play"


class Interrupted(KeyboardInterrupt):
    """A call was stopped by Ctrl-C.

    Args:
        text: What was done until then.
        result: The rows that were finished; None where a folder keeps them.

    Example:
        >>> import reconbench as rb
        >>> try:
        ...     result = rb.play("acs", "SEX", epsilon=1, attack="prior", reps=1)
        ... except rb.Interrupted as stopped:
        ...     result = stopped.result
        >>> result
        PlayResult(1 game, prior, 1 row)
    """

    def __init__(self, text: str, result: PlayResult | None = None) -> None:
        super().__init__(text)
        self.result = result


@dataclass(frozen=True)
class Workers:
    """Who plays: this process, or several worker processes with limits on each attack."""

    jobs: int
    limits: Limits | None

    @classmethod
    def of(cls, jobs: object, timeout: object, memory_limit: object) -> Self:
        """From the arguments of a call; limits need a worker process, even for one job."""
        seconds = read_optional(read_number, "timeout", timeout, above=0)
        gib = read_optional(read_number, "memory_limit", memory_limit, above=0)
        limits = None if seconds is None and gib is None else Limits(seconds, gib)
        return cls(read_whole("jobs", jobs, 1), limits)

    @property
    def here(self) -> bool:
        return self.jobs == 1 and self.limits is None

    def check(self, units: Sequence[Unit]) -> None:
        """Refuse objects that other processes do not have."""
        specs = {spec.spec for unit in units for spec in unit.attacks}
        specs |= {spec for unit in units for spec in (unit.game.mechanism, unit.game.dataset)}
        held = sorted(spec for spec in specs if is_held(spec))
        if held and not self.here:
            raise ArgumentError(
                f"{held[0].removeprefix(PREFIX)} exists in this process only, so jobs must be 1, "
                "without timeout and memory_limit; or name it as file.py:Class"
            )


def choose_progress(progress: bool | None) -> Show:
    """Show progress if asked to, and by default where somebody looks on."""
    asked = read_optional(read_flag, "progress", progress)
    quiet = not (is_watched() if asked is None else asked)
    return lambda name, total, done: show_progress(name, total, quiet=quiet, done=done)


def play_here(
    units: Sequence[Unit], workers: Workers, show: Show, held: Mapping[str, Held]
) -> PlayResult:
    """Play without a store. The first failure of an attack is raised."""
    total = sum(len(unit.attacks) for unit in units)
    rows: dict[tuple[int, int], Result] = {}
    games = len({unit.game.setting for unit in units})

    def collect() -> PlayResult:
        played = tuple(
            Played(row, (units[unit].game, units[unit].attacks[attack], units[unit].bounds))
            for (unit, attack), row in sorted(rows.items())
        )
        facts = describe_run(NAME, count_things(games, "game"), units)
        return PlayResult(NAME, played, facts, total - len(rows), held=dict(held))

    limit_players(None)
    try:
        with show(NAME, total, 0) as advance:
            for unit, attack, row in play_units(units, workers.jobs, workers.limits):
                if row.status is Status.FAILED:
                    _raise_failure(units[unit], attack, row)
                rows[unit, attack] = row
                advance()
    except KeyboardInterrupt:
        text = f"stopped after {len(rows)} of {total} rows; `result` of this error has them"
        raise Interrupted(text, collect()) from None
    return collect()


def _raise_failure(unit: Unit, attack: int, row: Result) -> NoReturn:
    """Raise the failure of an attack; one in memory plays once more, to show where it raised."""
    spec = unit.attacks[attack]
    if is_held(spec.spec):
        play(Round.draw(unit.game, unit.bounds), spec)
    raise ValueError(row.error)


def play_stored(
    run: SuiteRun, show: Show, held: Mapping[str, Held]
) -> tuple[PlayResult, str | None]:
    """Play into a folder; the result, and the error of the first row that failed."""
    try:
        done = play_suite(run, show)
    except KeyboardInterrupt:
        text = f"stopped; finished rows are kept in {run.folder}, and the same call goes on there"
        raise Interrupted(text) from None
    rows = zip(done.plan.keys, done.read_rows(), strict=True)
    played = tuple(Played(row, key) for key, row in rows)
    result = PlayResult(run.name, played, done.reports.facts, 0, run.folder, dict(held))
    return result, done.error
