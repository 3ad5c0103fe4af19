"""Attacks compared repetition by repetition, over the same tables and noise, game by game."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from reconbench.benchmarks.game.setting import Setting
from reconbench.benchmarks.store.summary import Summary
from reconbench.reports.statistics import find_student_half_width

REFERENCE = "rap"


@dataclass(frozen=True)
class PairedDifference:
    """The mean difference between an attack and a reference, over the repetitions of both.

    ``low`` and ``high`` are its 95 % Student interval; None for one repetition.
    """

    repetitions: int
    mean: float
    low: float | None
    high: float | None


def compare_to_prior(summaries: Sequence[Summary]) -> list[PairedDifference | None]:
    """Each row against what the prior's best guess expects on the same tables."""
    return [_summarise({} if row.computed else row.gains) for row in summaries]


def compare_to_attack(
    summaries: Sequence[Summary], reference: str = REFERENCE
) -> list[PairedDifference | None]:
    """Each row against the reference attack in the same game."""
    references: dict[Setting, Summary] = {}
    for row in sorted(summaries, key=lambda row: len(row.attack_options)):
        if row.attack == reference:
            references.setdefault(row.setting, row)
    differences = []
    for row in summaries:
        other = references.get(row.setting)
        theirs = {} if other is None or other is row else other.scores
        both = [rep for rep in row.scores if rep in theirs]
        differences.append({rep: row.scores[rep][0] - theirs[rep][0] for rep in both})
    return [_summarise(by_rep) for by_rep in differences]


def _summarise(differences: Mapping[int, float]) -> PairedDifference | None:
    values = list(differences.values())
    if not values:
        return None
    mean, half = fmean(values), find_student_half_width(values)
    low, high = (None, None) if half is None else (mean - half, mean + half)
    return PairedDifference(len(values), mean, low, high)
