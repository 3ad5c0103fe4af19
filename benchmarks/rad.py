"""The reconstruction advantage of any attack in the ordinary game.

Guerra-Balboa 2026, Definition 4.1: the success of an attack on records that took part, minus its
success on the same records when others, drawn from the prior, took part in their place. The
attacker is told the same in both worlds: the known columns of the records under attack. What an
attack owes to the prior, to the known columns or to the rest of the table cancels.

A repetition plays a round as always. Then it replaces some of its records by fresh draws of the
prior, releases that table with the same noise stream, lets the attack play again with the same
stream of its own, and scores it against the records that were taken out. Both worlds have the laws
of the definition; that they share their noise only makes the difference less noisy.

Replacing one record at a time is the definition. Where a record's guess depends on nothing but its
own part of the release (local reports), replacing all at once gives the same number for one release
instead of n.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import inf, sqrt

import numpy as np
import numpy.typing as npt
from scipy.special import stdtrit

from reconbench.attacks import Attack, AttackError, AttackerView, check_reconstruction, skip_reason
from reconbench.benchmarks.game import RELEASE_AXES, Adversary, AttackSpec, Game, GameError, Round
from reconbench.datasets import Table

Codes = npt.NDArray[np.int64]

AXES = (*RELEASE_AXES, "metric", "adversary")


@dataclass(frozen=True)
class Worlds:
    """One repetition: how many records were attacked, and the successes in both worlds."""

    records: int
    took_part: int
    replaced: int

    @property
    def rad(self) -> float:
        return (self.took_part - self.replaced) / self.records


@dataclass(frozen=True)
class RadEstimate:
    """The advantage of an attack over independent repetitions of a game."""

    attack: str
    worlds: tuple[Worlds, ...]
    total_variation: float

    @property
    def rad(self) -> float:
        return float(np.mean([each.rad for each in self.worlds]))

    @property
    def success(self) -> float:
        """The success rate on records that took part, which RAD corrects."""
        return float(np.mean([each.took_part / each.records for each in self.worlds]))

    @property
    def error(self) -> float:
        """The standard error over repetitions; inf for a single one."""
        if len(self.worlds) < 2:
            return inf
        return float(np.std([each.rad for each in self.worlds], ddof=1)) / sqrt(len(self.worlds))

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Student's interval: its confidence is as stated as repetitions grow in number."""
        if not 0 < confidence < 1:
            raise GameError(f"confidence must be strictly between 0 and 1, got {confidence}")
        if len(self.worlds) < 2:
            return -1.0, 1.0
        reach = float(stdtrit(len(self.worlds) - 1, (1 + confidence) / 2)) * self.error
        return max(self.rad - reach, -1.0), min(self.rad + reach, 1.0)


def estimate_rad(
    game: Game, attack: AttackSpec, reps: int, *, records: int = 1, group: int = 1
) -> RadEstimate:
    """Play ``reps`` repetitions of both worlds.

    Each attacks ``records`` records, drawn at random, and replaces ``group`` of them at a time:
    one for the definition, all of them at once where records do not bear on each other's guesses.
    """
    if reps < 1:
        raise GameError(f"reps must be at least 1, got {reps}")
    if not 1 <= group <= records <= game.n:
        raise GameError(
            f"group and records must be 1 <= group <= records <= n = {game.n}, got {group} and "
            f"{records}"
        )
    if group > 1 and game.adversary is Adversary.INFORMED:
        raise GameError(
            f"group must be 1 for the informed adversary, who knows all other records, got {group}"
        )
    player = attack.build()
    rounds = (Round.of(game.at(game.rep + rep)) for rep in range(reps))
    worlds, variation = [], 0.0
    for round_ in rounds:
        worlds.append(play_worlds(round_, player, records, group))
        variation = round_.mechanism.guarantee.total_variation()
    return RadEstimate(player.name, tuple(worlds), variation)


def play_worlds(round_: Round, player: Attack, records: int, group: int) -> Worlds:
    """Both worlds of one repetition."""
    game, prior = round_.game, round_.prior
    rng = game.stream("rad replacements", prior, "n")
    chosen = np.sort(rng.permutation(game.n)[:records])
    table = round_.view.known.join(round_.truth).project(round_.view.release.domain.names)
    took_part = _hits(round_, player, round_.view, chosen, table)
    replaced = 0
    for start in range(0, records, group):
        some = chosen[start : start + group]
        codes = table.codes.copy()
        codes[some] = prior.sample(len(some), rng).project(table.domain.names).codes
        noise = game.stream("release", prior, *RELEASE_AXES)
        release = round_.mechanism.release(Table(table.domain, codes), noise)
        view = replace(round_.view, release=release)
        replaced += _hits(round_, player, view, some, table)
    return Worlds(records, took_part, replaced)


def _hits(round_: Round, player: Attack, view: AttackerView, chosen: Codes, table: Table) -> int:
    """Successes on the chosen records of the true table, whatever was released."""
    rng = round_.game.stream(f"attack {player.name}", round_.prior, *AXES)
    hits = 0
    for rows, each in _views(round_.game, view, chosen, table):
        reason = skip_reason(player, each)
        if reason is not None:
            raise AttackError(f"attack {player.name!r} cannot play this game: {reason}")
        guess = check_reconstruction(each, player.reconstruct(each, rng)).guess
        truth = Table(round_.truth.domain, round_.truth.codes[rows])
        success = round_.metric.score(truth, guess)
        hits += int(success[np.isin(rows, chosen)].sum())
    return hits


def _views(
    game: Game, view: AttackerView, chosen: Codes, table: Table
) -> Iterator[tuple[Sequence[int] | Codes, AttackerView]]:
    """What the adversary sees, and of which records: all at once, or the chosen one by one."""
    if game.adversary is Adversary.REALISTIC:
        yield np.arange(game.n), view
        return
    for i in chosen:
        others = Table(table.domain, np.delete(table.codes, i, axis=0))
        target = Table(view.known.domain, view.known.codes[i : i + 1])
        yield [int(i)], replace(view, known=target, others=others)
