"""The standing check of all expected scores: their mean must be that of the successes as drawn.

An expected score is only as good as the posterior behind it. With half the true noise, say, the
posterior is too sure of itself, and guesses that follow it expect more than they get. Over a suite
the difference of the two scores, expected minus drawn, shows that: its mean is 0 if, and in
practice only if, the posterior is right. Games of one repetition share their table, so tables are
the observations.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import sqrt
from statistics import fmean, stdev

from scipy.special import stdtr, stdtrit

from reconbench.benchmarks.store.summary import Summary

# Right posteriors are doubted in so few suites.
LEVEL = 1e-3


@dataclass(frozen=True)
class SelfCheck:
    """Expected minus drawn successes, in records per game, mean over tables."""

    mean: float
    half: float
    p: float
    tables: int

    @property
    def passed(self) -> bool:
        return self.p >= LEVEL

    def describe(self) -> str:
        """One line."""
        text = (
            f"expected minus drawn successes: {self.mean:+.2f} ± {self.half:.2f} records per game "
            f"({self.tables} tables)"
        )
        return text if self.passed else f"{text}: the expected scores are wrong, do not trust them"


def check_scores(summaries: Iterable[Summary]) -> SelfCheck | None:
    """Compare both scores of all rows that a posterior scored; None with fewer than 3 tables."""
    by_table: dict[object, list[float]] = {}
    for row in summaries:
        for rep, surplus in row.surplus.items():
            table = (row.dataset, row.data_hash, row.n, row.seed, rep)
            by_table.setdefault(table, []).append(surplus)
    means = [fmean(values) for values in by_table.values()]
    if len(means) < 3:
        return None
    mean, error, freedom = fmean(means), stdev(means) / sqrt(len(means)), len(means) - 1
    if error == 0:
        return SelfCheck(mean, 0.0, 1.0 if mean == 0 else 0.0, len(means))
    p = 2 * float(stdtr(freedom, -abs(mean) / error))
    return SelfCheck(mean, float(stdtrit(freedom, 0.975)) * error, p, len(means))
