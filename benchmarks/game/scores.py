"""Two scores of a guess: as drawn, and as expected given the release.

Given the release and what is known, the chance that guess g_i of record i succeeds is its posterior
probability, whatever attack it comes from. The sum of these over the records,

    E = Σ_i P(g_i succeeds | release, known),

has the mean of the successes as drawn and only a part of their noise (Rao-Blackwell). The prior's
own guess, scored by the same posterior, is worth B, whose mean given the known columns is the
baseline b. E shares some of the luck that B has left, so the score of an attack is

    E − w (B − b),  w = 1 − (c − b) / (n − b),

a control variate with the same mean. c is the ceiling on the expected success of any attack, so w
is 1 where the release can tell nothing and 0 where it may tell everything. It depends on the known
columns alone, never on the release: otherwise the mean would change.

Where no posterior is to be had, or its chains disagree, the successes as drawn, of the attack and
of the prior's guess, stand in the places of E and B. The guess of an attack that never looks at the
release is worth what the prior says, without any luck.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from reconbench.benchmarks.game.result import Result


class ScoredBy(StrEnum):
    """Where the expected score of a row comes from."""

    EXACT = "exact posterior"
    SAMPLED = "sampled posterior"
    PRIOR = "prior"
    CONTROL = "control variate"


@dataclass(frozen=True)
class Score:
    """What an attack is worth on one table, in records, without the luck that could be removed.

    ``baseline`` is what the prior's best guess expects on the same known columns.
    """

    expected: float
    baseline: float
    by: ScoredBy

    @property
    def gain(self) -> float:
        """Records beyond the prior's guess."""
        return self.expected - self.baseline


def read_score(row: Result, most: float | None) -> Score | None:
    """The score of a finished row, given the ceiling on what any attack expects.

    Older rows have no posterior and are scored by the control variate.
    """
    if row.successes is None:
        return None
    by = ScoredBy(row.scored_by or ScoredBy.CONTROL)
    prior = row.baseline_expected
    if row.expected_successes is None:
        luck = _weigh_luck(row, most) * (row.baseline_successes - prior)
        return Score(row.successes - luck, prior, by)
    luck = 0.0 if by is ScoredBy.PRIOR else read_luck(row, most)
    return Score(row.expected_successes - luck, prior, by)


def read_luck(row: Result, most: float | None) -> float:
    """w (B − b): the luck that all guesses on the release of a row share."""
    if row.expected_baseline is None:
        return 0.0
    return _weigh_luck(row, most) * (row.expected_baseline - row.baseline_expected)


def _weigh_luck(row: Result, most: float | None) -> float:
    """w; without a ceiling nothing is known of what the release may tell."""
    room = row.scored - row.baseline_expected
    if most is None or room <= 0:
        return 1.0
    return 1 - min(max(most - row.baseline_expected, 0.0) / room, 1.0)
