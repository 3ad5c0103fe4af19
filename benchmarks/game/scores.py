"""Two scores of a guess: as drawn, and as expected given the release.

Given the release and what is known, the chance that guess g_i of record i succeeds is its posterior
probability, whatever attack it comes from. The sum of these over the records,

    expected_successes = Σ_i P(g_i succeeds | release, known),

has the mean of the successes as drawn and only a part of their noise (Rao-Blackwell). The prior's
own guess is scored by the same posterior, ``expected_baseline``, so that an attack's gain over it
is a difference of two numbers that share most of what noise is left.

Where no posterior is to be had, or its chains disagree, the prior's guess is a control variate:

    successes − baseline_successes + baseline_expected,

whose mean is also that of the successes, since the last two terms have the same mean.
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
    CONTROL = "control variate"


@dataclass(frozen=True)
class Score:
    """What an attack and the prior's guess expect on one release, in records."""

    expected: float
    baseline: float
    by: ScoredBy

    @property
    def gain(self) -> float:
        """Records beyond the prior's guess."""
        return self.expected - self.baseline


def read_score(row: Result) -> Score | None:
    """The score of a finished row; older rows have none and get their control variate."""
    if row.successes is None:
        return None
    if row.expected_successes is None or row.expected_baseline is None:
        return score_by_control(row)
    return Score(row.expected_successes, row.expected_baseline, ScoredBy(row.scored_by))


def score_by_control(row: Result) -> Score:
    """The control variate of a finished row."""
    gain = (row.successes or 0) - row.baseline_successes
    return Score(row.baseline_expected + gain, row.baseline_expected, ScoredBy.CONTROL)
