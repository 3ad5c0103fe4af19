"""The standing check of the best possible: no attack may get more than it, beyond chance.

A best possible is sampled by chains that agree; chains can agree and be wrong. An attack that gets
more records than the optimum expects on the same releases shows it. Single runs say little, since
draws are lucky or not, so each attack is judged over the whole suite; games of one repetition
share their table, so tables are the observations.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import sqrt
from statistics import fmean, stdev

from scipy.special import stdtr

from reconbench.benchmarks.store.summary import Summary
from reconbench.reports.leaderboard.labels import label_attack
from reconbench.reports.statistics import holm

# A right optimum is doubted in so few suites.
LEVEL = 1e-3
FEWEST_TABLES = 3
# Without noise the optimum often gets the same as an attack, up to floating point.
ROUNDING = 1e-6


@dataclass(frozen=True)
class AheadOfBest:
    """An attack that got ``mean`` records per game more than the best possible, over ``tables``."""

    attack: str
    mean: float
    p: float
    tables: int

    def describe(self) -> str:
        return (
            f"{self.attack} gets {self.mean:,.2f} records per game more than the best possible, "
            f"over {self.tables} tables (p = {self.p:.1g}): the stated optimum is too low, or the "
            "attack saw too much"
        )


def find_attacks_ahead(summaries: Iterable[Summary]) -> list[AheadOfBest]:
    """Attacks that significantly beat the best possible (one-sided t tests, Holm over attacks)."""
    by_attack: dict[str, dict[object, list[float]]] = {}
    for row in summaries:
        tables = by_attack.setdefault(label_attack(row), {})
        for rep, more in row.beyond_best.items():
            table = (row.dataset, row.data_hash, row.n, row.seed, rep)
            tables.setdefault(table, []).append(more)
    compared = [
        _compare(attack, [fmean(games) for games in tables.values()])
        for attack, tables in by_attack.items()
        if len(tables) >= FEWEST_TABLES
    ]
    adjusted = holm([one.p for one in compared])
    return [one for one, p in zip(compared, adjusted, strict=True) if p < LEVEL]


def _compare(attack: str, means: list[float]) -> AheadOfBest:
    mean, error = fmean(means), stdev(means) / sqrt(len(means))
    if error < ROUNDING:
        return AheadOfBest(attack, mean, float(mean < ROUNDING), len(means))
    return AheadOfBest(attack, mean, float(stdtr(len(means) - 1, -mean / error)), len(means))
