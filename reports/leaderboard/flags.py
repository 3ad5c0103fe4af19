"""Flags: automatic warnings on a row, for what a careful reader would ask before trusting it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from math import sqrt
from statistics import fmean, stdev

from scipy.special import betainc, stdtr

from reconbench.benchmarks.store.summary import Summary
from reconbench.benchmarks.store.tightest import TOP, tightest, tightest_mean
from reconbench.reports.statistics import find_student_half_width

# A run exceeds its own 95 % ceiling with a probability of at most this.
ALLOWED = 0.05
# More excesses than chance explains at this level raise the alarm.
LEVEL = 0.05
# An alarm from a single excess, or from a mean, is this rare by chance.
RARE = 1e-3
# Sums of probabilities are equal up to this.
_ROUNDING = 1e-9


class Weight(StrEnum):
    """How serious a flag is."""

    ALARM = "alarm"
    CAUTION = "caution"
    NOTE = "note"


class Flag(StrEnum):
    ABOVE = "above-ceiling"
    ABOVE_MEAN = "above-mean-ceiling"
    FAILED = "failed"
    BELOW = "below-baseline"
    UNCONVERGED = "not-converged"
    SKIPPED = "skipped"
    PASSED = "passed-ceiling-allowed"
    BY_CHANCE = "above-mean-by-chance"
    VACUOUS = "ceiling-vacuous"
    MEAN_ONLY = "mean-ceiling-only"
    NO_GAP = "no-gap"
    SINGLE = "one-repetition"
    NO_REFERENCE = "reference-missing"
    COMPUTED = "computed"
    PAPER = "paper-value"
    SEALED = "sealed"


@dataclass(frozen=True)
class Meaning:
    weight: Weight
    text: str


MEANINGS: Mapping[Flag, Meaning] = {
    Flag.ABOVE: Meaning(
        Weight.ALARM,
        "exceeded the 95 % ceiling (the tightest proved one, else that of Theorem 3.5) in more "
        "repetitions than chance allows (exact binomial test at 5 %), or by so much that it "
        "happens once in 1,000 suites: the attack saw too much, or the mechanism, the prior or a "
        "bound is not what it claims to be",
    ),
    Flag.ABOVE_MEAN: Meaning(
        Weight.ALARM,
        "the expected success exceeds the ceiling on the mean by more than its repetitions vary "
        "(Student's t at 0.1 %, and the successes as drawn say the same): by chance in at most 1 "
        "row of 1,000",
    ),
    Flag.FAILED: Meaning(Weight.ALARM, "at least one repetition failed"),
    Flag.BELOW: Meaning(
        Weight.CAUTION,
        "expects less than the prior's guess on the same tables, with the whole 95 % interval of "
        "the difference (by chance in 1 row of 40): the attack is not tuned, or trusts noise too "
        "much",
    ),
    Flag.UNCONVERGED: Meaning(
        Weight.CAUTION,
        "the computation of the best possible success failed its own checks, so it is not shown: "
        "it lies between what the attacks reached and the ceiling on the mean",
    ),
    Flag.SKIPPED: Meaning(Weight.CAUTION, "the attack declined at least one repetition"),
    Flag.PASSED: Meaning(
        Weight.NOTE,
        "some repetitions exceeded the 95 % ceiling (the tightest proved one, else that of "
        "Theorem 3.5), but no more than chance allows",
    ),
    Flag.BY_CHANCE: Meaning(
        Weight.NOTE,
        "the expected success lies above the ceiling on the mean, which is about an average over "
        "all releases, by no more than the few releases of these repetitions explain: more "
        "repetitions bring it below",
    ),
    Flag.VACUOUS: Meaning(
        Weight.NOTE, "the tightest 95 % ceiling is all n records: this budget rules out nothing"
    ),
    Flag.MEAN_ONLY: Meaning(
        Weight.NOTE,
        "no ceiling on a single run holds, only on the mean: the informed adversary's guesses can "
        "be right or wrong all together",
    ),
    Flag.NO_GAP: Meaning(
        Weight.NOTE,
        "baseline and ceiling on the mean are less than 1 % of n apart, or less than these "
        "repetitions vary: the share closed would be noise and is not shown",
    ),
    Flag.SINGLE: Meaning(Weight.NOTE, "one repetition: no interval and no test"),
    Flag.NO_REFERENCE: Meaning(
        Weight.NOTE,
        "the release has no posterior, and the attack that computes the best possible success did "
        "not play",
    ),
    Flag.COMPUTED: Meaning(Weight.NOTE, "only bounds were computed: no attack was played"),
    Flag.PAPER: Meaning(
        Weight.NOTE, "a paper prints a value for this game, which is shown beside ours"
    ),
    Flag.SEALED: Meaning(
        Weight.NOTE,
        "played with a secret seed, revealed afterwards: no attack could draw the tables again",
    ),
}

# A gap between baseline and ceiling of less than this share of n is too small to measure.
LEAST_GAP = 0.01


def find_flags(row: Summary, *, in_paper: bool) -> tuple[Flag, ...]:
    """The flags of a row, the most serious first."""
    if row.computed:
        return (Flag.COMPUTED,)
    gap, gained = mean_gap(row), gain_interval(row)
    most = tightest_mean(row.ceilings)
    above_mean = gap is not None and is_above_mean(row, gap)
    passed = most is not None and (row.expected_success or 0.0) > most + _ROUNDING
    top = tightest(row.ceilings).get(TOP)
    above = row.above_ceiling if row.above_proved is None else row.above_proved
    exceeded = round((above or 0.0) * row.repetitions)
    chance = binomial_tail(exceeded, row.repetitions, ALLOWED)
    raised = {
        Flag.ABOVE: exceeded > 0 and (chance < LEVEL or is_incredible(row)),
        Flag.ABOVE_MEAN: above_mean,
        Flag.FAILED: row.failures > 0,
        Flag.BELOW: gained is not None and gained[1] < -_ROUNDING,
        Flag.UNCONVERGED: row.best_possible_converged is False,
        Flag.SKIPPED: row.skipped > 0,
        Flag.PASSED: exceeded > 0 and chance >= LEVEL and not is_incredible(row),
        Flag.BY_CHANCE: passed and not above_mean,
        Flag.VACUOUS: top is not None and top >= row.scored,
        Flag.MEAN_ONLY: top is None and gap is not None,
        Flag.NO_GAP: gap is not None and not is_gap_measurable(row, gap),
        Flag.SINGLE: row.repetitions == 1,
        Flag.NO_REFERENCE: row.best_possible is None and row.best_possible_converged is None,
        Flag.PAPER: in_paper,
        Flag.SEALED: row.sealed,
    }
    return tuple(flag for flag in Flag if raised.get(flag))


def mean_gap(row: Summary) -> float | None:
    """Records between what the prior expects and the most that any attack expects."""
    most = tightest_mean(row.ceilings)
    return None if most is None or row.computed else most - row.baseline_expected


def is_gap_measurable(row: Summary, gap: float) -> bool:
    """Whether the gap is at least 1 % of n, and larger than the noise of the gain."""
    half = find_student_half_width(list(row.gains.values()))
    return gap >= LEAST_GAP * row.scored and (half is None or gap > half)


def gain_interval(row: Summary) -> tuple[float, float] | None:
    """95 % Student interval of the expected records beyond the prior's guess."""
    gains = list(row.gains.values())
    half = find_student_half_width(gains)
    return None if half is None else (fmean(gains) - half, fmean(gains) + half)


def is_incredible(row: Summary) -> bool:
    """Whether a repetition got so many successes that Theorem 3.5 all but rules it out."""
    return row.surprise is not None and row.surprise < RARE


def is_above_mean(row: Summary, gap: float) -> bool:
    """Both tests must agree: repetitions that happen to be equal have no spread.

    The first is Student's t for the gains, the second binomial for the successes as drawn.
    """
    gains = list(row.gains.values())
    if len(gains) < 2 or fmean(gains) <= gap:
        return False
    error = stdev(gains) / sqrt(len(gains))
    if error > 0 and float(stdtr(len(gains) - 1, (gap - fmean(gains)) / error)) >= RARE:
        return False
    total, trials = sum(got for got, _ in row.outcomes.values()), row.scored * len(row.outcomes)
    return (
        binomial_tail(total, trials, min(1.0, (row.baseline_expected + gap) / row.scored))
        < LEVEL / 2
    )


def binomial_tail(count: int, trials: int, chance: float) -> float:
    """P[Binomial(trials, chance) ≥ count], as a tail: I_chance(count, trials − count + 1)."""
    return 1.0 if count <= 0 else float(betainc(count, trials - count + 1, chance))
