"""The leaderboard as a table: every column with its meaning, and the values of every row."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property

from reconbench.benchmarks.game.setting import Setting
from reconbench.benchmarks.store.summary import Summary, tightest, tightest_mean
from reconbench.reports.leaderboard.attack_ranking import (
    Paired,
    Standing,
    against,
    against_prior,
    label,
    standings,
)
from reconbench.reports.leaderboard.columns import COLUMNS, TEXT, WHOLE, Value, documented, values
from reconbench.reports.leaderboard.printed_numbers import Printed, printed_for
from reconbench.reports.leaderboard.ranking import ordered, ranks
from reconbench.reports.leaderboard.row_warnings import Flag, flags, mean_gap

# A spreadsheet runs a cell that starts with one of these, also after blanks and at full width.
_FORMULA = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20")
_BREAKS = ("\t", "\r", "\n")

SUITE: Mapping[str, str] = {"suite": "the suite that was run; empty if it is not known"}
DERIVED: Mapping[str, str] = {
    "target_columns": "how many columns the attacker must guess at once",
    "within": "the L1 error that still counts as reconstructed: 0 for an exact match",
    "tightest_0.05": (
        "the smallest proved ceiling of a single run for any attack at 5 %, in records; Theorem "
        "3.5 where no proved one is stored"
    ),
    "tightest_0.5": "the same at 50 %",
    "tightest_0.95": "the same at 95 %",
    "tightest_mean": "the smallest ceiling on the expected success of any attack, in records",
    "normalised_advantage": (
        "(success − baseline) / (n − baseline): 0 is the prior's guess on the same tables, 1 all "
        "records; empty if the baseline is n"
    ),
    "gap_closed": (
        "(success − baseline) / (tightest_mean − baseline_expected): the share of what is possible "
        "at all that the attack got; noise if the gap is small (flag no-gap)"
    ),
    "gap_attack": (
        "weakness of the attack: best_possible − success, in records; a little below 0 by luck"
    ),
    "gap_threat": (
        "the threat model: what the best attack of the informed adversary expects in the same game "
        "less best_possible; empty if it did not play"
    ),
    "gap_bound": (
        "looseness of the bound: tightest_mean less what the best informed attack expects; empty "
        "if it did not play"
    ),
    "gap_open": (
        "threat model and bound together, tightest_mean − best_possible, where they cannot be split"
    ),
    "against_prior": "records beyond the prior's best guess on the same tables, mean difference",
    "against_prior_p": (
        "two-sided p-value of that difference: exact sign-flip test over repetitions, unadjusted"
    ),
    "against_prior_holm": "the same p-value, adjusted for all rows of this file (Holm 1979)",
    "against_rap": "records beyond the attack rap on the same tables and noise, mean difference",
    "against_rap_p": "two-sided p-value of that difference: exact sign-flip test, unadjusted",
    "against_rap_holm": "the same p-value, adjusted for all rows of this file (Holm 1979)",
    "suite_rank": (
        "place of the attack over the whole suite, by the share of the gap closed over all cells; "
        "attacks whose intervals overlap share a place"
    ),
    "flags": "automatic warnings, separated by a blank; see the list of flags",
}
PRINTED: Mapping[str, str] = {
    "paper": "the paper that prints values for this game and attack; they are not ours",
    "paper_baseline": "records that the paper prints for its prior alone",
    "paper_success": "records that the paper prints for its attack",
    "paper_ceiling_0.05": "the 5 % ceiling that the paper prints, in records",
    "paper_ceiling_0.95": "the 95 % ceiling that the paper prints, in records",
    "paper_note": "how the paper's game differs from ours",
}
WORDS = frozenset({*TEXT, "suite", "flags", "paper", "paper_note"})
_WHOLE = WHOLE | {"target_columns", "within", "suite_rank"}


class Direction(StrEnum):
    """What a larger number means."""

    LEAKED = "Higher: more was reconstructed"
    GUESSED = "Higher: more can be guessed without the release"
    ALLOWED = "Higher: more is allowed, so the promise is weaker"
    CLAIMED = "Above the success: surer than right; below it: less sure than right"
    MISJUDGED = "Higher: the attack misjudges its guesses"
    WEAK = "Higher: more room for a better attack"
    LOOSE = "Higher: more is left open by the analysis"
    BETTER = "Lower: a better place"
    SURPRISE = "Lower: harder to explain by chance"
    BUDGET = "Higher: less noise, less privacy"
    COST = "Higher: slower"
    NONE = ""


_DIRECTIONS: Sequence[tuple[str, Direction]] = (
    (r"success.*|best_possible|normalised_advantage|gap_closed", Direction.LEAKED),
    (r"rad|rad_low|rad_high", Direction.LEAKED),
    (r"against_(prior|rap)", Direction.LEAKED),
    (r"baseline.*|paper_baseline", Direction.GUESSED),
    (r"(paper_)?ceiling_.*|tightest_.*", Direction.ALLOWED),
    (r"paper_success", Direction.LEAKED),
    (r"promised", Direction.CLAIMED),
    (r"calibration_error", Direction.MISJUDGED),
    (r"gap_attack", Direction.WEAK),
    (r"gap_(threat|bound|open)", Direction.LOOSE),
    (r"rank|suite_rank", Direction.BETTER),
    (r"against_.*_(p|holm)", Direction.SURPRISE),
    (r"epsilon|delta", Direction.BUDGET),
    (r"seconds", Direction.COST),
    (r"value_baseline", Direction.GUESSED),
    (r"value_.*", Direction.ALLOWED),
)


@dataclass(frozen=True)
class Column:
    """One entry of the data dictionary."""

    name: str
    kind: str
    meaning: str

    @property
    def direction(self) -> Direction:
        for pattern, direction in _DIRECTIONS:
            if re.fullmatch(pattern, self.name):
                return direction
        return Direction.NONE


def _kind(name: str) -> str:
    if name == "best_possible_converged":
        return "boolean"
    return "text" if name in WORDS else "integer" if name in _WHOLE else "number"


def _described(columns: Mapping[str, str]) -> dict[str, Column]:
    return {name: Column(name, _kind(name), meaning) for name, meaning in columns.items()}


# Every column that a leaderboard may have, but for those of bounds of other packages.
DICTIONARY: Mapping[str, Column] = _described({**SUITE, **COLUMNS, **DERIVED, **PRINTED})

Row = Mapping[str, Value]


@dataclass(frozen=True)
class Board:
    """Rows in the order of ``summaries`` sorted by game, with the columns that they need."""

    summaries: tuple[Summary, ...]
    suite: str = ""

    @classmethod
    def of(cls, summaries: Sequence[Summary], suite: str = "") -> Board:
        return cls(tuple(ordered(summaries)), suite)

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns, without those of absent ceilings and absent papers."""
        return tuple(self.described)

    @cached_property
    def described(self) -> dict[str, Column]:
        """The columns by name, in their order."""
        printed = PRINTED if any(printed_for(row) for row in self.summaries) else {}
        return _described({**SUITE, **self._of_rows, **DERIVED, **printed})

    @cached_property
    def _of_rows(self) -> dict[str, str]:
        return documented(self.summaries)

    @cached_property
    def standings(self) -> list[Standing]:
        return standings(self.summaries)

    @cached_property
    def rows(self) -> list[dict[str, Value]]:
        """Every row's value in each of ``columns``; None where it has none."""
        places = {(s.attack, s.adversary, s.attacker_prior): s.rank for s in self.standings}
        informed = _informed(self.summaries)
        names = list(self._of_rows)
        return [
            {"suite": self.suite}
            | values(row, rank, names)
            | _derived(row, informed.get(_apart_from_adversary(row)))
            | _tested("against_prior", prior)
            | _tested("against_rap", rap)
            | {
                "suite_rank": places.get((label(row), row.adversary, row.attacker_prior)),
                "flags": " ".join(flags(row, in_paper=printed_for(row) is not None)),
            }
            | _printed(printed_for(row))
            for row, rank, prior, rap in zip(
                self.summaries,
                ranks(self.summaries),
                against_prior(self.summaries),
                against(self.summaries),
                strict=True,
            )
        ]

    def csv(self) -> str:
        """Numbers in full, CR LF (RFC 4180), text that a spreadsheet would run behind a ``'``."""
        return as_csv([self.columns, *([row[name] for name in self.columns] for row in self.rows)])

    def dictionary(self) -> str:
        """The columns of ``csv`` in its order, each with its kind, meaning and direction."""
        columns = self.described.values()
        lines = [[each.name, each.kind, each.meaning, str(each.direction)] for each in columns]
        return as_csv([["column", "kind", "meaning", "direction"], *lines])

    def raised(self) -> dict[Flag, int]:
        """How many rows carry each flag, the most serious first."""
        found = [flag for row in self.rows for flag in str(row["flags"]).split()]
        return {flag: found.count(flag) for flag in Flag if flag in found}


def _derived(row: Summary, informed: float | None) -> dict[str, Value]:
    if row.computed:
        return {**dict.fromkeys(DERIVED), "target_columns": len(row.targets)}
    most, gap, gained = tightest_mean(row.ceilings), mean_gap(row), None
    if row.success is not None:
        gained = row.success - row.baseline
    best = row.best_possible
    split = best is not None and informed is not None and row.adversary != "informed"
    return {
        "target_columns": len(row.targets),
        "within": _within(row.metric),
        **{f"tightest_{level}": None for level in ("0.05", "0.5", "0.95")},
        **{f"tightest_{level}": value for level, value in tightest(row.ceilings).items()},
        "tightest_mean": most,
        "normalised_advantage": _ratio(gained, row.n - row.baseline),
        "gap_closed": _ratio(gained, gap),
        "gap_attack": _less(best, row.success),
        "gap_threat": _less(informed, best) if split else None,
        "gap_bound": _less(most, informed) if split else None,
        "gap_open": None if split else _less(most, best),
    }


def _tested(name: str, found: Paired | None) -> dict[str, Value]:
    return {
        name: found.mean if found else None,
        f"{name}_p": found.p if found else None,
        f"{name}_holm": found.adjusted if found else None,
    }


def _printed(found: Printed | None) -> dict[str, Value]:
    if found is None:
        return dict.fromkeys(PRINTED)
    return {
        "paper": found.paper,
        "paper_baseline": found.baseline,
        "paper_success": found.success,
        "paper_ceiling_0.05": found.ceilings.get("0.05"),
        "paper_ceiling_0.95": found.ceilings.get("0.95"),
        "paper_note": found.note,
    }


def _apart_from_adversary(row: Summary) -> Setting:
    return replace(row.setting, adversary="")


def _informed(summaries: Sequence[Summary]) -> dict[Setting, float]:
    """What the best attack of the informed adversary expects, by game."""
    return {
        _apart_from_adversary(row): row.best_possible
        for row in summaries
        if row.adversary == "informed" and row.best_possible is not None
    }


def _within(metric: str) -> int | None:
    kind, _, error = metric.partition(":")
    if metric == "exact":
        return 0
    return int(error) if kind == "l1" and error.isdecimal() else None


def _ratio(part: float | None, whole: float | None) -> float | None:
    return None if part is None or whole is None or whole <= 0 else part / whole


def _less(first: float | None, second: float | None) -> float | None:
    return None if first is None or second is None else first - second


def as_csv(lines: Sequence[Sequence[Value]]) -> str:
    """RFC 4180, with a leading ``'`` before text that a spreadsheet would run."""
    out = io.StringIO(newline="")
    csv.writer(out).writerows([_safe(value) for value in line] for line in lines)
    return out.getvalue()


def _safe(value: Value) -> Value:
    if not isinstance(value, str):
        return None if isinstance(value, float) and math.isnan(value) else value
    runs = value.startswith(_BREAKS) or value.lstrip().startswith(_FORMULA)
    return f"'{value}" if runs else value
