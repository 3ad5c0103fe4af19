"""The columns of a leaderboard: their order, their meaning, and a row's values."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, get_type_hints

from reconbench.benchmarks.game.setting import AXES, Setting
from reconbench.benchmarks.store.summary import (
    MEAN,
    VALUE_MEANINGS,
    Declaration,
    Kind,
    Summary,
    declared_bounds,
)

Value = str | int | float | None


class ReportError(ValueError):
    """Results that cannot be reported."""


CONFIDENCES: Mapping[str, str] = {"0.05": "5 %", "0.5": "50 %", "0.95": "95 %"}
_UNKNOWN = "a bound that neither the stored rows nor this version of reconbench declare"


def _ceiling_column(bound: str, level: str) -> str:
    return f"ceiling_{bound}" if level == MEAN else f"ceiling_{bound}_{level}"


def _ceiling_columns(declared: Declaration) -> dict[str, str]:
    """The columns of a bound, with their meaning."""
    said = f"{declared.statement.rstrip('.')}; {declared.reference}"
    if declared.kind is Kind.MEAN:
        text = (
            "no attack reconstructs more records than this in expectation, that is on average over "
            f"runs, though a single run may; mean over repetitions ({said})"
        )
        return {_ceiling_column(declared.name, MEAN): text}
    return {
        _ceiling_column(declared.name, level): (
            "at most this many records are reconstructed with a probability of at least "
            f"{percent}, mean over repetitions ({declared.scope}. {said})"
        )
        for level, percent in CONFIDENCES.items()
    }


_CEILINGS = {
    name: meaning
    for declared in declared_bounds().values()
    for name, meaning in _ceiling_columns(declared).items()
}
_BASELINE = "value_baseline"
_VALUES = {
    _BASELINE: (
        "computed rows: the success of the best guess from the prior alone, against one target; "
        "empty where attacks played"
    )
} | {
    f"value_{bound}": (
        f"computed rows: what the column metric says, for one target: the most that the bound "
        f"allows of success or of advantage, how many queries, or the error of one ({meaning})"
    )
    for bound, meaning in VALUE_MEANINGS.items()
}

_RAD: Mapping[str, str] = {
    "rad": (
        "reconstruction advantage, from −1 to 1 (Guerra-Balboa 2026, Definition 4.1): the success "
        "rate on records that took part, less that of the same attack on them when others took "
        "part in their place; mean over repetitions"
    ),
    "rad_low": "lower end of the 95 % interval of rad (Student's t over repetitions)",
    "rad_high": "upper end of the 95 % interval of rad",
    "ceiling_rad": "no attack has a larger advantage in expectation; mean over repetitions",
    "rad_theorem": (
        "where ceiling_rad is from: Theorem 4.3 of Guerra-Balboa 2026, from the channel of one "
        "record, or Theorem 4.2, the total variation of the guarantee"
    ),
}

# Axes of a setting that a leaderboard shows as two columns.
_SPLIT: Mapping[str, Mapping[str, str]] = {
    "known": {"known_columns": "names of the known columns, comma-separated"},
    "mechanism_options": {"k": "columns in each released marginal; empty if none are released"},
}
AXIS_COLUMNS: Mapping[str, str] = {
    column: meaning
    for name, axis in AXES.items()
    for column, meaning in {name: axis.meaning, **_SPLIT.get(name, {})}.items()
}
# Shown where rows need them to be told apart.
_IF_NEEDED = ("advantage", "data_hash", "bound_errors")

COLUMNS: Mapping[str, str] = {
    **AXIS_COLUMNS,
    "guarantee": "the privacy guarantee of the release and its neighbouring relation",
    "facts": "what the mechanism says of itself, such as its noise, as JSON",
    "rank": "place of the attack in its game by mean success; ties share a place",
    "attack": "the attack; none: computed, nobody played",
    "attack_options": "the options of the attack, as JSON",
    "repetitions": "finished repetitions, each with a fresh table and fresh noise",
    "failures": "repetitions in which the attack broke off",
    "skipped": "repetitions that the attack declined",
    "success": "records reconstructed of n, mean over repetitions",
    "success_low": "lower end of the 95 % interval of that mean (Student's t); empty for one run",
    "success_high": "upper end of the 95 % interval of that mean",
    "baseline": "records the best guess from the prior alone got on the same tables, mean",
    "baseline_expected": "records the best guess from the prior alone gets in expectation",
    "best_possible": (
        "records the Bayes-optimal attack of this adversary expects to reconstruct from these very "
        "releases, mean over repetitions; empty if the attack that computes it (posterior, for the "
        "informed adversary informed) did not play"
    ),
    "best_possible_se": "Monte Carlo standard error of best_possible, for these very releases",
    "best_possible_converged": (
        "True if the computation of best_possible passed its own checks in every repetition; if "
        "False it is not to be trusted"
    ),
    **_CEILINGS,
    **_RAD,
    **_VALUES,
    "above_ceiling": (
        "share of repetitions that passed the 95 % ceiling of Theorem 3.5: at most 0.05 in the "
        "long run"
    ),
    "above_proved": (
        "share of repetitions that passed the tightest proved 95 % ceiling: at most 0.05 in the "
        "long run; empty if none is stored"
    ),
    "promised": (
        "records that the attack's own scores promise: the sum of the chances that it gives its "
        "guesses, mean over repetitions; empty if it gives none"
    ),
    "calibration_error": (
        "distance between the chances that the attack gives its guesses and the share that is "
        "right, mean over records put together by tenths of the scale; 0 if every chance holds, "
        "though a few hundredths are luck"
    ),
    "calibration": (
        "how sure and how right: for each tenth of the scale that has records, tenth (0 to 9), "
        "records, mean score and records that were right, joined by a colon; all repetitions"
    ),
    "seconds": "seconds the attack took for one table, mean over repetitions",
    "bound_errors": "why bounds of other packages have no ceiling in some repetition",
    "error": "why the attack failed or declined, from its first such repetition",
}

TEXT = frozenset(
    {
        *(name for name, kind in get_type_hints(Setting).items() if kind not in (int, float)),
        "known_columns",
        "guarantee",
        "facts",
        "attack",
        "attack_options",
        "best_possible_converged",
        "rad_theorem",
        "calibration",
        "bound_errors",
        "error",
    }
) - {"known"}
WHOLE = frozenset(
    {
        *(name for name, kind in get_type_hints(Setting).items() if kind is int),
        "known",
        "k",
        "rank",
        "repetitions",
        "failures",
        "skipped",
    }
)
_COUNTS = ("success", "baseline", "ceiling_")
_RECORDS = frozenset({"best_possible", "promised"})
_SHARES = frozenset(_RAD)


_AFTER_CEILINGS = next(iter(_RAD))
_OPTIONAL = {*_CEILINGS, *_VALUES, *_RAD, *_IF_NEEDED}


def documented(summaries: Sequence[Summary]) -> dict[str, str]:
    """The columns that these rows need, with their meaning.

    Those of bounds and computed values that no row has are left out; those of bounds of other
    packages follow the ceilings, as the rows declare them.
    """
    found = dict.fromkeys(name for row in summaries for name in _bounds(row))
    if any(row.advantage for row in summaries):
        found |= dict.fromkeys(("advantage", *_RAD))
    datasets = {row.dataset for row in summaries}
    if len({(row.dataset, row.data_hash) for row in summaries}) > len(datasets):
        found["data_hash"] = None
    if any(row.bound_errors for row in summaries):
        found["bound_errors"] = None
    foreign = {
        name: meaning
        for row in summaries
        for declared in row.bounds.values()
        for name, meaning in _ceiling_columns(declared).items()
    }
    more = {name: foreign.get(name, _UNKNOWN) for name in found if name not in _OPTIONAL}
    columns: dict[str, str] = {}
    for name, meaning in COLUMNS.items():
        if name == _AFTER_CEILINGS:
            columns |= more
        if name in found or name not in _OPTIONAL:
            columns[name] = meaning
    return columns


def values(row: Summary, rank: int | None, names: Iterable[str] = COLUMNS) -> dict[str, Value]:
    """A row's value in each of these columns; None where it has none."""
    counted = {} if not row.computed else {"baseline": None, "baseline_expected": None}
    found = vars(row)
    return {name: found.get(name) for name in names} | {
        "targets": row.column,
        "known": len(row.known),
        "known_columns": ", ".join(row.known),
        "k": row.k,
        "rank": rank,
        "attack_options": options_text(row),
        "mechanism_options": as_json(row.mechanism_options.without("k")),
        "facts": as_json(row.facts),
        "promised": row.promised,
        "calibration_error": row.reliability_error,
        "calibration": _calibration(row),
        "bound_errors": "; ".join(row.bound_errors) or None,
        **counted,
        **_bounds(row),
    }


def _calibration(row: Summary) -> str | None:
    """``9:80:0.961:77``: of 80 records with a score of 0.9 or more, 0.961 in the mean, 77 right."""
    found = (
        f"{tenth}:{records:.0f}:{sure / records:.3g}:{right:.0f}"
        for tenth, (records, sure, right) in row.reliability.items()
    )
    return " ".join(found) or None


def options_text(row: Summary) -> str:
    return as_json(row.attack_options)


def as_json(options: Mapping[str, Any]) -> str:
    if not options:
        return "{}"
    return json.dumps(dict(options), sort_keys=True, ensure_ascii=False, default=str)


def shown(name: str, value: Value) -> str:
    """A value as a person reads it: counts of records to a tenth, other numbers to 3 digits."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        counted = name not in _SHARES and (name.startswith(_COUNTS) or name in _RECORDS)
        return f"{value:.1f}" if counted else f"{value:.3g}"
    return str(value)


def _bounds(row: Summary) -> dict[str, float]:
    """Ceilings on counts of records, or the values of a computation."""
    if row.computed:
        values = {f"value_{bound}": levels[MEAN] for bound, levels in row.ceilings.items()}
        return {_BASELINE: row.baseline_expected, **values}
    return {
        _ceiling_column(bound, level): value
        for bound, by_level in row.ceilings.items()
        for level, value in by_level.items()
    }
