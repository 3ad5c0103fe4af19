"""The leaderboard as a table: the values of every row, and CSV files."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from reconbench.benchmarks.store.summary import Summary
from reconbench.benchmarks.store.tightest import tightest, tightest_mean
from reconbench.reports.leaderboard.checks.self_check import SelfCheck, check_scores
from reconbench.reports.leaderboard.columns.dictionary import (
    CONFIDENCES,
    PRINTED,
    Column,
    Value,
    get_bound_values,
    select_columns,
)
from reconbench.reports.leaderboard.comparisons import AttackComparison, compare_attacks
from reconbench.reports.leaderboard.flags import Flag, find_flags, is_gap_measurable, mean_gap
from reconbench.reports.leaderboard.gap import GapReferences
from reconbench.reports.leaderboard.labels import format_json, label_attack
from reconbench.reports.leaderboard.paired_differences import (
    PairedDifference,
    compare_to_attack,
    compare_to_prior,
)
from reconbench.reports.leaderboard.printed_values import PrintedValues, find_printed_values
from reconbench.reports.leaderboard.ranking import (
    DatasetRanking,
    RankedAttack,
    count_flags,
    rank_attacks,
    rank_by_dataset,
    rank_in_games,
    sort_rows,
)

# A spreadsheet runs a cell that starts with one of these, also after spaces and at full width.
_FORMULA = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20")
_BREAKS = ("\t", "\r", "\n")


@dataclass(frozen=True)
class Leaderboard:
    """Rows sorted by game, with the columns that they need."""

    summaries: tuple[Summary, ...]
    suite: str = ""

    @classmethod
    def from_summaries(cls, summaries: Sequence[Summary], suite: str = "") -> Leaderboard:
        return cls(tuple(sort_rows(summaries)), suite)

    @cached_property
    def columns(self) -> dict[str, Column]:
        """The columns by name, in order, without those of absent ceilings and papers."""
        return select_columns(self.summaries)

    @cached_property
    def ranking(self) -> list[RankedAttack]:
        return rank_attacks(self.summaries, self.comparisons)

    @cached_property
    def by_dataset(self) -> list[DatasetRanking]:
        """The ranking on every data set by itself, most to gain first; empty if there is one."""
        return rank_by_dataset(self.summaries)

    @cached_property
    def comparisons(self) -> list[AttackComparison]:
        """Every pair of attacks over the whole suite, the better one first."""
        return compare_attacks(self.summaries)

    @cached_property
    def self_check(self) -> SelfCheck | None:
        """Whether the expected scores agree with the successes as drawn."""
        return check_scores(self.summaries)

    @cached_property
    def rows(self) -> list[dict[str, Value]]:
        """Every row's value in each of ``columns``; None where it has none."""
        ranks = {(a.attack, a.adversary, a.attacker_prior): a.rank for a in self.ranking}
        references = GapReferences.find(self.summaries)
        return [
            _get_values(row, self.columns)
            | _derive_values(row, references)
            | _format_difference("against_prior", to_prior)
            | _format_difference("against_rap", to_rap)
            | {
                "suite": self.suite,
                "rank": rank,
                "suite_rank": ranks.get((label_attack(row), row.adversary, row.attacker_prior)),
                "flags": " ".join(find_flags(row, in_paper=find_printed_values(row) is not None)),
            }
            | _format_printed(find_printed_values(row))
            for row, rank, to_prior, to_rap in zip(
                self.summaries,
                rank_in_games(self.summaries),
                compare_to_prior(self.summaries),
                compare_to_attack(self.summaries),
                strict=True,
            )
        ]

    def to_csv(self) -> str:
        """Numbers in full, CR LF (RFC 4180), text that a spreadsheet would run behind a ``'``."""
        return format_csv(
            [[*self.columns], *([row[name] for name in self.columns] for row in self.rows)]
        )

    def describe_columns(self) -> str:
        """The data dictionary as CSV: each column with its kind, meaning and direction."""
        lines = [[c.name, c.kind, c.meaning, str(c.direction)] for c in self.columns.values()]
        return format_csv([["column", "kind", "meaning", "direction"], *lines])

    def count_flags(self) -> dict[Flag, int]:
        """How many rows carry each flag, the most serious first."""
        return count_flags([flag for row in self.rows for flag in str(row["flags"]).split()])


def _get_values(row: Summary, columns: Iterable[str]) -> dict[str, Value]:
    """What a row stores, by column."""
    stored = vars(row)
    return {name: stored.get(name) for name in columns} | {
        "targets": row.column,
        "known": len(row.known),
        "known_columns": ", ".join(row.known),
        "k": row.k,
        "attack_options": format_json(row.attack_options),
        "mechanism_options": format_json(row.mechanism_options.without("k")),
        "facts": format_json(row.facts),
        "promised": row.promised,
        "calibration_error": row.reliability_error,
        "calibration": _format_reliability(row),
        **{f"rarity_{name}": share for name, share in row.rarity_shares.items()},
        **{f"tpr_{rate}": share for rate, share in row.true_positive_rates.items()},
        "bound_errors": "; ".join(row.bound_errors) or None,
        **(dict.fromkeys(("baseline", "baseline_expected")) if row.computed else {}),
        **get_bound_values(row),
    }


def _format_reliability(row: Summary) -> str | None:
    """``9:80:0.961:77``: of 80 records with a score of 0.9 or more, 0.961 in the mean, 77 right."""
    tenths = (
        f"{tenth}:{records:.0f}:{sure / records:.3g}:{right:.0f}"
        for tenth, (records, sure, right) in row.reliability.items()
    )
    return " ".join(tenths) or None


def _derive_values(row: Summary, references: GapReferences) -> dict[str, Value]:
    if row.computed:
        return {"target_columns": len(row.targets)}
    most, gap, gained = tightest_mean(row.ceilings), mean_gap(row), None
    if row.expected_success is not None:
        gained = row.expected_success - row.baseline_expected
    return {
        "target_columns": len(row.targets),
        "within": _read_allowed_error(row.metric),
        **{f"tightest_{level}": None for level in CONFIDENCES},
        **{f"tightest_{level}": value for level, value in tightest(row.ceilings).items()},
        "tightest_mean": most,
        "normalised_advantage": _divide(gained, row.scored - row.baseline_expected),
        "gap_closed": _divide(gained, gap) if gap and is_gap_measurable(row, gap) else None,
        **references.split(row),
    }


def _format_difference(name: str, found: PairedDifference | None) -> dict[str, Value]:
    return {
        name: found.mean if found else None,
        f"{name}_low": found.low if found else None,
        f"{name}_high": found.high if found else None,
    }


def _format_printed(printed: PrintedValues | None) -> dict[str, Value]:
    if printed is None:
        return dict.fromkeys(PRINTED)
    return {
        "paper": printed.paper,
        "paper_baseline": printed.baseline,
        "paper_success": printed.success,
        "paper_ceiling_0.05": printed.ceilings.get("0.05"),
        "paper_ceiling_0.95": printed.ceilings.get("0.95"),
        "paper_note": printed.note,
    }


def _read_allowed_error(metric: str) -> int | None:
    kind, _, error = metric.partition(":")
    if metric == "exact":
        return 0
    return int(error) if kind == "l1" and error.isdecimal() else None


def _divide(part: float | None, whole: float | None) -> float | None:
    return None if part is None or whole is None or whole <= 0 else part / whole


def format_csv(lines: Sequence[Sequence[Value]]) -> str:
    """Lines as CSV (RFC 4180), with a leading ``'`` before text that a spreadsheet would run."""
    out = io.StringIO(newline="")
    csv.writer(out).writerows([_escape(value) for value in line] for line in lines)
    return out.getvalue()


def _escape(value: Value) -> Value:
    if not isinstance(value, str):
        return None if isinstance(value, float) and math.isnan(value) else value
    runs = value.startswith(_BREAKS) or value.lstrip().startswith(_FORMULA)
    return f"'{value}" if runs else value
