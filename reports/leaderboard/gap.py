"""Where the gap between an attack and the ceiling on the mean comes from.

    ceiling − attack = attack weakness + sampling of rows + threat model + looseness of the bound

- *attack*: the best possible of this adversary, minus what the attack expects; of a synthetic table
  minus what the same attack expects of the longest table that was played.
- *sampling of rows*: what the attack expects of that table, minus what it expects of this one. It
  is no protection: the generator can be run again.
- *threat model*: the best possible of the informed adversary, minus that of this one.
- *bound*: the ceiling, minus the best possible of the informed adversary.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace

from reconbench.benchmarks.game.setting import Access, Adversary, Setting
from reconbench.benchmarks.store.summary import Summary
from reconbench.benchmarks.store.tightest import tightest_mean
from reconbench.reports.column import Value
from reconbench.reports.leaderboard.labels import label_attack

# The fact that says how many synthetic rows stand for a record, and the option that sets them.
ROWS_PER_RECORD, ROWS_OPTION = "release.rows_per_record", "rows"


@dataclass(frozen=True)
class GapReferences:
    """What rows of a suite are compared with to split their gaps.

    ``informed`` has the best possible of the informed adversary by game, ``longest`` what an attack
    expects of the longest synthetic table, by game and attack, where several lengths were played.
    """

    informed: dict[Setting, float]
    longest: dict[Hashable, float]

    @classmethod
    def find(cls, summaries: Sequence[Summary]) -> GapReferences:
        informed = {
            _drop_adversary(row): row.best_possible
            for row in summaries
            if row.adversary == Adversary.INFORMED and row.best_possible is not None
        }
        by_game: dict[Hashable, dict[float, float]] = {}
        for row in summaries:
            rows = row.facts.get(ROWS_PER_RECORD)
            if rows is not None and row.expected_success is not None and _sees_table(row):
                by_game.setdefault(_drop_rows(row), {})[rows] = row.expected_success
        longest = {
            game: lengths[max(lengths)] for game, lengths in by_game.items() if len(lengths) > 1
        }
        return cls(informed, longest)

    def split(self, row: Summary) -> dict[str, Value]:
        """The parts of a row's gap, in records."""
        best, most = row.best_possible, tightest_mean(row.ceilings)
        informed = None
        if row.adversary != Adversary.INFORMED and best is not None:
            informed = self.informed.get(_drop_adversary(row))
        longest = self.longest.get(_drop_rows(row)) if _sees_table(row) else None
        reached = row.expected_success if longest is None else longest
        return {
            "gap_attack": subtract(best, reached),
            "gap_rows": subtract(longest, row.expected_success),
            "gap_threat": subtract(informed, best),
            "gap_bound": subtract(most, informed),
            "gap_open": subtract(most, best) if informed is None else None,
        }


def subtract(first: float | None, second: float | None) -> float | None:
    """The difference of two values, where both are known."""
    return None if first is None or second is None else first - second


def _sees_table(row: Summary) -> bool:
    return row.access != Access.MEASUREMENTS


def _drop_adversary(row: Summary) -> Setting:
    return replace(row.setting, adversary="")


def _drop_rows(row: Summary) -> Hashable:
    options = row.mechanism_options.without(ROWS_OPTION)
    return replace(row.setting, mechanism_options=options), label_attack(row)
