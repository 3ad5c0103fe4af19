"""Attacks compared repetition by repetition, over the same tables and noise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from reconbench.benchmarks.game.setting import Setting
from reconbench.benchmarks.store.summary import Summary
from reconbench.reports.statistics import holm, sign_flip

REFERENCE = "rap"


@dataclass(frozen=True)
class PairedTest:
    """The mean difference between an attack and a reference, over the repetitions of both.

    ``p`` is that of the sign-flip test, ``adjusted`` the same after Holm's correction.
    """

    repetitions: int
    mean: float
    p: float
    adjusted: float


def compare_to_prior(summaries: Sequence[Summary]) -> list[PairedTest | None]:
    """Each row against the prior's best guess on the same tables; Holm over the rows given."""
    return _test_differences(
        [
            {} if row.computed else {rep: got - prior for rep, (got, prior) in row.outcomes.items()}
            for row in summaries
        ]
    )


def compare_to_attack(
    summaries: Sequence[Summary], reference: str = REFERENCE
) -> list[PairedTest | None]:
    """Each row against the reference attack in the same game; Holm over the rows given."""
    references: dict[Setting, Summary] = {}
    for row in sorted(summaries, key=lambda row: len(row.attack_options)):
        if row.attack == reference:
            references.setdefault(row.setting, row)
    differences = []
    for row in summaries:
        other = references.get(row.setting)
        theirs = {} if other is None or other is row else other.outcomes
        both = [rep for rep in row.outcomes if rep in theirs]
        differences.append({rep: row.outcomes[rep][0] - theirs[rep][0] for rep in both})
    return _test_differences(differences)


def _test_differences(differences: Sequence[Mapping[int, int]]) -> list[PairedTest | None]:
    tested = [index for index, by_rep in enumerate(differences) if by_rep]
    known: dict[tuple[int, ...], float] = {}
    p_values = []
    for index in tested:
        key = tuple(sorted(differences[index].values()))
        if key not in known:
            known[key] = sign_flip(key)
        p_values.append(known[key])
    tests: list[PairedTest | None] = [None] * len(differences)
    for index, p, adjusted in zip(tested, p_values, holm(p_values), strict=True):
        values = differences[index].values()
        tests[index] = PairedTest(len(values), fmean(values), p, adjusted)
    return tests
