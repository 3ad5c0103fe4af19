"""Every pair of attacks over a whole suite: one difference, one interval, one test.

The difference is that of the expected scores on the same tables and noise, in % of n, mean over all
games that both were given. Games of one repetition share their table, so a *table* is a block: its
differences are added up, and if neither attack is favoured, the sum of every block is as likely to
have the other sign. That is the exact sign-flip test; p-values are adjusted for all pairs (Holm).
A game that an attack did not finish counts as if it had answered with the prior's guess.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import sqrt

import numpy as np
import numpy.typing as npt
from scipy.special import stdtrit

from reconbench.benchmarks.game.setting import Setting
from reconbench.benchmarks.store.summary import Summary
from reconbench.reports.leaderboard.labels import label_attack
from reconbench.reports.statistics import flip_blocks, holm

Floats = npt.NDArray[np.float64]
Codes = npt.NDArray[np.int64]
# Beyond so many attacks the pairs would fill pages.
MOST_ATTACKS = 40


@dataclass(frozen=True)
class AttackComparison:
    """One attack against another over a suite; ``mean`` is in % of n, with its 95 % interval.

    ``adjusted`` is the p-value after Holm's correction over all pairs of the suite.
    """

    attack: str
    other: str
    adversary: str
    attacker_prior: str
    mean: float
    low: float | None
    high: float | None
    p: float
    adjusted: float
    cells: int
    tables: int

    @property
    def is_ahead(self) -> bool:
        """Whether the attack is ahead of the other by more than chance explains."""
        return self.mean > 0 and self.adjusted <= 0.05

    def reverse(self) -> AttackComparison:
        """The same comparison, told from the other side."""
        low = None if self.high is None else -self.high
        high = None if self.low is None else -self.low
        return replace(
            self, attack=self.other, other=self.attack, mean=-self.mean, low=low, high=high
        )


def compare_attacks(summaries: Iterable[Summary]) -> list[AttackComparison]:
    """Every pair of attacks of each adversary and attacker's prior, the better one first."""
    groups: dict[tuple[str, str], list[Summary]] = {}
    for row in summaries:
        if not row.computed:
            groups.setdefault((row.adversary, row.attacker_prior), []).append(row)
    found = [pair for key, rows in groups.items() for pair in _compare_group(rows, *key)]
    adjusted = holm([pair.p for pair in found])
    pairs = [replace(pair, adjusted=p) for pair, p in zip(found, adjusted, strict=True)]
    return [pair if pair.mean >= 0 else pair.reverse() for pair in pairs]


def _compare_group(
    rows: Sequence[Summary], adversary: str, attacker_prior: str
) -> list[AttackComparison]:
    games = _Games(rows)
    names = list(dict.fromkeys(label_attack(row) for row in rows))[:MOST_ATTACKS]
    gains = {name: games.spread(row for row in rows if label_attack(row) == name) for name in names}
    pairs = []
    for one, other in combinations(names, 2):
        difference = gains[one] - gains[other]
        both = ~np.isnan(difference)
        if not both.any():
            continue
        table = np.unique(games.table[both])
        totals = np.bincount(games.table[both], weights=difference[both])[table].astype(np.float64)
        mean, count = 100 * float(difference[both].mean()), int(both.sum())
        half = _find_half_width(totals, games.stratum[table])
        width = None if half is None else 100 * half / count
        pairs.append(
            AttackComparison(
                one,
                other,
                adversary,
                attacker_prior,
                mean,
                None if width is None else mean - width,
                None if width is None else mean + width,
                p := flip_blocks(totals),
                p,
                len(np.unique(games.cell[both])),
                len(totals),
            )
        )
    return pairs


class _Games:
    """Every repetition of every game of some rows, numbered; each has a cell and a table.

    Tables are drawn alike where data set, number of records and seed agree: a stratum.
    """

    def __init__(self, rows: Sequence[Summary]) -> None:
        self._reps: dict[Setting, dict[int, int]] = {}
        cells: dict[Setting, int] = {}
        tables: dict[object, int] = {}
        strata: dict[object, int] = {}
        cell: list[int] = []
        table: list[int] = []
        stratum: list[int] = []
        for row in rows:
            known = self._reps.setdefault(row.setting, {})
            drawn = (row.dataset, row.data_hash, row.n, row.seed)
            for rep in row.scores:
                if rep in known:
                    continue
                known[rep] = len(cell)
                if (drawn, rep) not in tables:
                    tables[drawn, rep] = len(tables)
                    stratum.append(strata.setdefault(drawn, len(strata)))
                cell.append(cells.setdefault(row.setting, len(cells)))
                table.append(tables[drawn, rep])
        self.tables = len(tables)
        self.cell, self.table = np.array(cell, dtype=np.int64), np.array(table, dtype=np.int64)
        self.stratum = np.array(stratum, dtype=np.int64)

    def spread(self, rows: Iterable[Summary]) -> Floats:
        """The gain of one attack in every repetition, a share of n; NaN where it did not play."""
        gains = np.full(len(self.cell), np.nan)
        for row in rows:
            numbers = self._reps[row.setting]
            if not row.gains:
                gains[list(numbers.values())] = 0.0
            for rep, gain in row.gains.items():
                gains[numbers[rep]] = gain / row.scored
        return gains


def _find_half_width(totals: Floats, strata: Codes) -> float | None:
    """Half the 95 % interval of the sum of all blocks (Welch and Satterthwaite over strata)."""
    parts = [totals[strata == stratum] for stratum in np.unique(strata)]
    if min(len(part) for part in parts) < 2:
        return None
    variances = np.array([len(part) * part.var(ddof=1) for part in parts])
    total = float(variances.sum())
    if total == 0:
        return 0.0
    freedoms = np.array([len(part) - 1 for part in parts])
    freedom = total**2 / float((variances**2 / freedoms).sum())
    return float(stdtrit(freedom, 0.975)) * sqrt(total)
