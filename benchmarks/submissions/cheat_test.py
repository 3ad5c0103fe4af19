"""Whether an attack does better on public games than on sealed ones beyond chance.

Public tables can be drawn again from their seed, and whoever does so knows the truth. On sealed
tables that is of no use. What is compared is the raw gain of a repetition r in a game c,

    x[r, c] = (successes − successes of the prior's best guess) / n,

never the expected score: that judges a guess by the posterior given the release, and gives a guess
that was copied from the truth no more than any other guess.

For an honest attack the repetitions, public and sealed, are independent draws of one distribution,
so every choice of which of them are the public ones is equally likely. The games of one repetition
share tables, so whole repetitions change places. Two statistics look for a cheat: the mean gain of
the public repetitions over all games, and the largest standardised mean gain in any one game, for a
cheat in few of many games. The p-value is twice the smaller one (Bonferroni): an honest attack is
refused with probability at most LEVEL, for any number of repetitions and games.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import comb

import numpy as np
import numpy.typing as npt

from reconbench.benchmarks.game.result import Result, Status
from reconbench.benchmarks.game.setting import Setting

# How often an honest attack is refused.
LEVEL = 1e-3
# Statistics that are looked at.
LOOKS = 2
# More choices than this are sampled.
MOST_CHOICES = 20_000
_ROUNDING = 1e-9

Floats = npt.NDArray[np.float64]
Gains = dict[Setting, dict[int, float]]


@dataclass(frozen=True)
class CheatTest:
    """The mean gains of public and sealed repetitions, in records per 100, and the p-value."""

    cells: int
    public_repetitions: int
    sealed_repetitions: int
    public_gain: float
    sealed_gain: float
    p: float
    level: float = LEVEL

    @property
    def refuses(self) -> bool:
        return self.p <= self.level

    def describe(self) -> str:
        """One line for people."""
        games = "1 game" if self.cells == 1 else f"{self.cells} games"
        return (
            f"gain over the prior's guess: {self.public_gain:+.2f} % of records in "
            f"{self.public_repetitions} public repetitions, {self.sealed_gain:+.2f} % in "
            f"{self.sealed_repetitions} sealed ones, over {games}; one-sided "
            f"permutation p = {self.p:.2g}, refused at {self.level:g}"
        )


def count_sealed_repetitions(public: int) -> int:
    """The fewest sealed repetitions that let a cheat in ``public`` repetitions be refused."""
    sealed = public
    while LEVEL * comb(public + sealed, public) < LOOKS:
        sealed += 1
    return sealed


def compare_gains(public: Sequence[Result], sealed: Sequence[Result]) -> CheatTest | None:
    """Test the rows; None if no game was finished in every repetition of both.

    Public repetitions that only some games have are left out.
    """
    ours, theirs = _collect_gains(public), _collect_gains(sealed)
    shared = [setting for setting in ours if setting in theirs]
    if not shared:
        return None
    first = set.intersection(*(set(ours[setting]) for setting in shared))
    second = set.intersection(*(set(theirs[setting]) for setting in shared))
    if not first or not second:
        return None
    table = np.array(
        [[ours[setting][rep] for setting in shared] for rep in sorted(first)]
        + [[theirs[setting][rep] for setting in shared] for rep in sorted(second)]
    )
    means = table.mean(axis=1)
    return CheatTest(
        cells=len(shared),
        public_repetitions=len(first),
        sealed_repetitions=len(second),
        public_gain=100 * float(means[: len(first)].mean()),
        sealed_gain=100 * float(means[len(first) :].mean()),
        p=_compute_p(table, len(first)),
    )


def drop_seed(row: Result) -> Setting:
    """The game of a row, whatever its seed."""
    return replace(row.setting, seed=0)


def _collect_gains(rows: Sequence[Result]) -> Gains:
    """The gain per record, by game and repetition."""
    gains: Gains = {}
    for row in rows:
        if row.status is Status.OK and row.successes is not None:
            gain = (row.successes - row.baseline_successes) / row.scored
            gains.setdefault(drop_seed(row), {})[row.rep] = gain
    return gains


def _compute_p(table: Floats, public: int) -> float:
    """The p-value of the first ``public`` rows of a table of repetitions and games."""
    chosen = _list_choices(len(table), public)
    spread = table.std(axis=0)
    varied = spread > _ROUNDING
    overall = chosen @ table.mean(axis=1)
    values = [_rank_first(overall)]
    if varied.any():
        scaled = (table[:, varied] - table[:, varied].mean(axis=0)) / spread[varied]
        values.append(_rank_first((chosen @ scaled).max(axis=1)))
    return min(1.0, LOOKS * min(values))


def _rank_first(statistics: Floats) -> float:
    """The share of choices that are at least as extreme as the first one, itself counted."""
    return float(np.mean(statistics >= statistics[0] - _ROUNDING))


def _list_choices(total: int, public: int) -> Floats:
    """Rows of weights: the choice that was made first, then all others or a sample of them."""
    made = np.zeros(total)
    made[:public] = 1 / public
    if comb(total, public) <= MOST_CHOICES:
        members = np.array(list(combinations(range(total), public)))
    else:
        rng = np.random.default_rng(0)
        members = np.argsort(rng.random((MOST_CHOICES, total)), axis=1)[:, :public]
        members[0] = np.arange(public)
    weights = np.zeros((len(members), total))
    np.put_along_axis(weights, members, 1 / public, axis=1)
    # Combinations are listed in lexical order, so the first one is the choice that was made.
    assert (weights[0] == made).all()
    return weights
