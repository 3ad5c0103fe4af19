"""Verify an entry: replay some of its public rows, then play sealed games.

The source of an entry is a stranger's. It is written to a private folder and only ever imported in
a player process, under the limits of `run`. The rows that are replayed are drawn from the system's
randomness, as is the seed of the sealed games, so nobody can know them when the entry is made.
"""

from __future__ import annotations

import secrets
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from reconbench.benchmarks.game.attack_spec import AttackSpec
from reconbench.benchmarks.game.game import Game
from reconbench.benchmarks.game.result import Result, Status
from reconbench.benchmarks.game.row_schema.agreement import Comparison
from reconbench.benchmarks.game.rows import read_versions, unplayed_row
from reconbench.benchmarks.game.setting import Setting
from reconbench.benchmarks.player.referee import limit_players
from reconbench.benchmarks.run.pool import Pool
from reconbench.benchmarks.run.runner import Unit, play_units
from reconbench.benchmarks.run.worker_process import Limits
from reconbench.benchmarks.run.worker_tasks import SETTING_UP
from reconbench.benchmarks.store.seal import Seal
from reconbench.benchmarks.submissions.cheat_test import (
    compare_gains,
    count_sealed_repetitions,
    drop_seed,
)
from reconbench.benchmarks.submissions.entry import Entry, EntryError
from reconbench.benchmarks.submissions.submit import check_repetitions, list_units
from reconbench.benchmarks.submissions.verdict import Outcome, Replayed, RevealedSeal, Verdict
from reconbench.benchmarks.suites.suite import Suite

# Rows that are played again. If a share s of the rows is invented, all of these are honest with
# probability (1 - s)^20: 1 in 8 where a tenth is.
REPLAYED_ROWS = 20
# What the attack decided and what it met. Anything else that differs was computed by the referee.
DECISIONS = (
    "status",
    "table_hash",
    "guess_hash",
    "successes",
    "baseline_successes",
    "rad_successes",
    "rad_replaced",
)
# A row says which versions made it; a verdict says where they differ.
NOT_COMPARED = ("versions",)
# In place of the attack where only the axes of a row are needed.
_ANY_ATTACK = AttackSpec("prior")

Advance = Callable[[], None]
Play = Callable[[Sequence[Unit]], Iterator[tuple[int, Result]]]


class _Refused(Exception):
    """Why an entry is refused."""


@dataclass(frozen=True)
class Verification:
    """All that is to be played; made before anything is, so that progress can be shown."""

    entry: Entry
    replayed: tuple[tuple[Unit, Result], ...]
    sealed: tuple[Unit, ...]
    seal_suite: str
    seal: Seal

    @classmethod
    def plan(
        cls,
        entry: Entry,
        suite: Suite,
        seal_suite: Suite | None = None,
        replayed_rows: int = REPLAYED_ROWS,
        sealed_repetitions: int | None = None,
    ) -> Verification:
        """Match the rows with the suite, choose those to replay, and draw the secret seed."""
        pairs = match_rows(entry, suite)
        chosen = pairs
        if len(pairs) > replayed_rows:
            chosen = secrets.SystemRandom().sample(pairs, replayed_rows)
        public = check_repetitions([unit for unit, _ in pairs])
        fewest = count_sealed_repetitions(public)
        repetitions = sealed_repetitions or fewest
        if repetitions < fewest:
            raise EntryError(
                f"--sealed-reps must be at least {fewest} for {public} public repetitions, got "
                f"{repetitions}: with fewer, no cheat could be refused"
            )
        seal = Seal.draw()
        sealed = list_units(
            seal_suite or suite, _ANY_ATTACK, seed=seal.seed, repetitions=repetitions
        )
        games = {drop_seed(row) for row in entry.rows}
        if not any(replace(find_setting(unit.game), seed=0) in games for unit in sealed):
            raise EntryError(
                f"the suite {(seal_suite or suite).name} has no game of the entry, so sealed "
                "results could not be compared with public ones; choose another --seal-suite"
            )
        return cls(entry, tuple(chosen), tuple(sealed), (seal_suite or suite).name, seal)

    @property
    def rows(self) -> int:
        return len(self.replayed) + len(self.sealed)

    def run(
        self, *, jobs: int = 1, limits: Limits | None = None, advance: Advance = lambda: None
    ) -> Verdict:
        """Play, and judge. Raises an `EntryError` if the source cannot be imported and built.

        One job without limits plays in this process and a player; see ``runner.play_units``.
        """
        if limits is not None:
            limit_players(limits.seconds)
        with (
            tempfile.TemporaryDirectory(prefix="reconbench-entry-") as folder,
            ExitStack() as pools,
        ):
            spec = self.entry.attack.write(Path(folder))
            self._check_source(spec)
            pool = None
            if limits is not None or jobs > 1:
                pool = pools.enter_context(Pool(jobs, limits or Limits()))

            def play(units: Sequence[Unit]) -> Iterator[tuple[int, Result]]:
                own = [replace(unit, attacks=(spec,)) for unit in units]
                for index, _, row in play_units(own, jobs, pool=pool):
                    advance()
                    yield index, row

            return self._judge(play)

    def _check_source(self, spec: AttackSpec) -> None:
        attack = self.entry.attack
        try:
            name = spec.build().name
        except ValueError as error:
            path = spec.spec.rpartition(":")[0]
            text = str(error).replace(path, attack.file)
            raise EntryError(f"the attack of the entry cannot be played: {text}") from None
        if name != attack.name:
            raise EntryError(
                f"attack.name is {attack.name!r}, but the class calls itself {name!r}"[:300]
            )

    def _judge(self, play: Play) -> Verdict:
        verdict = Verdict(
            Outcome.REFUSED,
            (),
            self.entry,
            Replayed(rows=0, of=len(self.entry.rows), different=[], drift={}),
            read_versions(),
        )
        try:
            replayed = self._replay(play)
            verdict = replace(verdict, replayed=replayed)
            rows = self._play_sealed(play)
        except _Refused as refused:
            return replace(verdict, reasons=(str(refused)[:1000], *self._compare_versions()))
        seal = RevealedSeal(
            suite=self.seal_suite,
            commitment=self.seal.commitment,
            seed=self.seal.seed,
            salt=self.seal.salt,
        )
        test = compare_gains(self.entry.rows, rows)
        verdict = replace(verdict, seal=seal, sealed_rows=tuple(rows), test=test)
        if test is None:
            reason = "no game was finished in every public and every sealed repetition"
            return replace(verdict, reasons=(reason,))
        if test.refuses:
            reason = f"public results are better than sealed ones beyond chance: {test.describe()}"
            return replace(verdict, reasons=(reason,))
        reasons = (*_describe_replay(replayed), test.describe(), *self._compare_versions())
        outcome = Outcome.DRIFTED if replayed.different else Outcome.ACCEPTED
        return replace(verdict, outcome=outcome, reasons=reasons)

    def _replay(self, play: Play) -> Replayed:
        different: dict[str, None] = {}
        drift: dict[str, float] = {}
        for index, row in play([unit for unit, _ in self.replayed]):
            stated = self.replayed[index][1]
            _refuse_failure(row, "a public game")
            compared = _compare(stated, row)
            decided = [name for name in DECISIONS if name in compared.different]
            if decided:
                before, now = (getattr(each, decided[0]) for each in (stated, row))
                raise _Refused(
                    f"a replayed row comes out otherwise: {stated.describe()} differs in "
                    f"{', '.join(decided)}: {str(before)[:70]} in the entry, {str(now)[:70]} here"
                )
            different |= dict.fromkeys(compared.different)
            for name, size in compared.drift.items():
                drift[name] = max(size, drift.get(name, 0.0))
        return Replayed(
            rows=len(self.replayed),
            of=len(self.entry.rows),
            different=sorted(different),
            drift=dict(sorted(drift.items())),
        )

    def _play_sealed(self, play: Play) -> list[Result]:
        finished = {drop_seed(row) for row in self.entry.rows if row.status is Status.OK}
        rows: dict[int, Result] = {}
        for index, row in play(self.sealed):
            _refuse_failure(row, "a sealed game")
            if row.status is Status.SKIPPED and drop_seed(row) in finished:
                raise _Refused(
                    f"it skips a sealed game that it plays in public: {row.describe()}: {row.error}"
                )
            rows[index] = replace(row, seal=self.seal.commitment, printed="")
        return [rows[index] for index in sorted(rows)]

    def _compare_versions(self) -> tuple[str, ...]:
        here = read_versions()
        other = {
            name: number for name, number in self.entry.versions.items() if here.get(name) != number
        }
        if not other:
            return ()
        made = ", ".join(f"{name} {number}" for name, number in other.items())
        now = ", ".join(f"{name} {here.get(name, 'absent')}" for name in other)
        return (f"the entry was made with {made}; here: {now}"[:1000],)


def match_rows(entry: Entry, suite: Suite) -> list[tuple[Unit, Result]]:
    """The rounds of a suite with the entry's rows; raises unless they are the same games."""
    units = list_units(
        suite, _ANY_ATTACK, seed=entry.suite.seed, repetitions=entry.suite.repetitions
    )
    wanted = {(find_setting(unit.game), unit.game.rep): unit for unit in units}
    rows: dict[tuple[Setting, int], Result] = {}
    for row in entry.rows:
        key = row.setting, row.rep
        if key not in wanted:
            raise EntryError(f"the suite {suite.name} has no such row: {row.describe()}"[:400])
        if key in rows:
            raise EntryError(f"a row is there twice: {row.describe()}"[:400])
        rows[key] = row
    missing = [unit for key, unit in wanted.items() if key not in rows]
    if missing:
        game = missing[0].game
        raise EntryError(
            f"{len(missing)} of {len(wanted)} rows of the suite {suite.name} are missing, the "
            f"first on {game.dataset} {','.join(game.targets)}, repetition {game.rep}"[:400]
        )
    return [(wanted[key], row) for key, row in rows.items()]


def find_setting(game: Game) -> Setting:
    """The axes of a game as its rows have them."""
    return _find_setting(game.repeat(0))


@cache
def _find_setting(game: Game) -> Setting:
    return unplayed_row(game, _ANY_ATTACK, "").setting


def _compare(stated: Result, row: Result) -> Comparison:
    compared = stated.compare(row)
    different = tuple(name for name in compared.different if name not in NOT_COMPARED)
    return replace(compared, different=different)


def _refuse_failure(row: Result, where: str) -> None:
    if row.status is not Status.FAILED:
        return
    error = str(row.error)
    if error.startswith(SETTING_UP):
        raise EntryError(error)
    raise _Refused(f"the attack fails in {where}: {row.describe()}: {error}")


def _describe_replay(replayed: Replayed) -> tuple[str, ...]:
    text = f"{replayed.rows} of {replayed.of} public rows were replayed"
    if replayed.different:
        fields = ", ".join(replayed.different)
        return (f"{text}: the attack decides the same, but these numbers differ: {fields}",)
    if replayed.drift:
        largest = max(replayed.drift.values())
        return (f"{text} and agree up to numerical drift of at most {largest:.1e}",)
    return (f"{text} and agree",)
