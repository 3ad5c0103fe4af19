"""Flags: automatic warnings on a row, for what a careful reader would ask before trusting it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from math import sqrt

from scipy.special import betainc, stdtrit

from reconbench.benchmarks.store.summary import TOP, Summary, tightest, tightest_mean

# A run exceeds its own 95 % ceiling with a probability of at most this.
ALLOWED = 0.05
# More excesses than chance explains at this level raise the alarm.
LEVEL = 0.05


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
        "repetitions than chance allows (exact binomial test at 5 %): the attack saw too much, the "
        "prior is wrong, or the bound is",
    ),
    Flag.ABOVE_MEAN: Meaning(
        Weight.ALARM,
        "gained more over the prior's guess on the same tables than the ceiling on the mean "
        "allows, with the whole 95 % interval and by a binomial test: by chance in at most 1 row "
        "of 40",
    ),
    Flag.FAILED: Meaning(Weight.ALARM, "at least one repetition failed"),
    Flag.BELOW: Meaning(
        Weight.CAUTION,
        "did worse than the prior's guess on the same tables, with the whole 95 % interval of the "
        "difference (by chance in 1 row of 40): the attack is not tuned, or trusts noise too much",
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
        "baseline and ceiling on the mean are less than 1 % of n apart: the share closed is noise",
    ),
    Flag.SINGLE: Meaning(Weight.NOTE, "one repetition: no interval and no test"),
    Flag.NO_REFERENCE: Meaning(
        Weight.NOTE, "the attack that computes the best possible success did not play this game"
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
    top = tightest(row.ceilings).get(TOP)
    above = row.above_ceiling if row.above_proved is None else row.above_proved
    exceeded = round((above or 0.0) * row.repetitions)
    chance = binomial_tail(exceeded, row.repetitions, ALLOWED)
    raised = {
        Flag.ABOVE: exceeded > 0 and chance < LEVEL,
        Flag.ABOVE_MEAN: gained is not None and _above_mean(row, gained[0]),
        Flag.FAILED: row.failures > 0,
        Flag.BELOW: gained is not None and gained[1] < 0,
        Flag.UNCONVERGED: row.best_possible_converged is False,
        Flag.SKIPPED: row.skipped > 0,
        Flag.PASSED: exceeded > 0 and chance >= LEVEL,
        Flag.VACUOUS: top is not None and top >= row.n,
        Flag.MEAN_ONLY: top is None and gap is not None,
        Flag.NO_GAP: gap is not None and gap < LEAST_GAP * row.n,
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


def gain_interval(row: Summary) -> tuple[float, float] | None:
    """95 % Student interval of the records beyond the prior's guess on the same tables."""
    gains = [got - prior for got, prior in row.outcomes.values()]
    count, total = len(gains), sum(gains)
    if count < 2:
        return None
    # whole numbers: (m Σg² − (Σg)²) / (m (m − 1)) is the sample variance without rounding
    variance = (count * sum(gain * gain for gain in gains) - total * total) / (count * (count - 1))
    half = _student_quantile(count - 1) * sqrt(variance / count)
    return total / count - half, total / count + half


@cache
def _student_quantile(freedom: int) -> float:
    return float(stdtrit(freedom, 0.975))


def _above_mean(row: Summary, gained: float) -> bool:
    """Both tests must agree: repetitions that happen to be equal have an interval of width 0."""
    most, gap = tightest_mean(row.ceilings), mean_gap(row)
    if most is None or gap is None or gained <= gap:
        return False
    total, trials = sum(got for got, _ in row.outcomes.values()), row.n * len(row.outcomes)
    return binomial_tail(total, trials, min(1.0, most / row.n)) < LEVEL / 2


def binomial_tail(count: int, trials: int, chance: float) -> float:
    """P[Binomial(trials, chance) ≥ count], as a tail: I_chance(count, trials − count + 1)."""
    return 1.0 if count <= 0 else float(betainc(count, trials - count + 1, chance))
