"""The columns of a leaderboard: their order, their meaning, and a row's values."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from reconbench.benchmarks.store.summary import (
    MEAN,
    Declaration,
    Kind,
    Summary,
    declared_bounds,
)

Value = str | int | float | None


class ReportError(ValueError):
    """Results that cannot be reported."""


# What a computation says of one target, by bound: not counts of records.
COMPUTED: Mapping[str, str] = {
    "f-dp": "Kulynych et al. 2025, Theorem 3.2: 1 − f(baseline) over the whole trade-off curve",
    "tv": "Kulynych et al. 2025, Theorem 3.4: the baseline plus the total variation",
    "thm35": "Swanberg et al. 2025, Theorem 3.5, with one target",
    "binary": "Kulynych et al. 2025, Theorem D.1, corrected: a secret of two values",
    "mmc": "Mahloujifar et al. 2024, with one target of a uniform prior",
    "rero-pure": "Balle et al. 2022, Corollary 3: pure DP",
    "rero-rdp": "Balle et al. 2022: Rényi DP, at the best order",
    "rero-rdp-2": "Balle et al. 2022: Rényi DP, of order 2",
    "rero-zcdp": "Balle et al. 2022: zero-concentrated DP",
    "fano": "Guo et al. 2023: the Rényi form of Fano's inequality",
    "approx": "(ε, δ)-DP alone, without the curve: its total variation",
    "pure": "Laplace queries whose ε are added up",
    "rad-thm42": "Guerra-Balboa 2026, Theorem 4.2: whatever the attacker knows of the target",
    "rad-thm43": "Guerra-Balboa 2026, Theorem 4.3: exact, for a target of whom nothing is known",
    "rero": "Hayes et al. 2023: noise set by a success of 1 − f(baseline)",
    "protect": "Swanberg et al. 2025, section 5.3: the largest ε within the advantage",
    "scratch": "Riess 2026, Corollary IV.6 for its estimator: an image from its gradient alone",
    "scratch-published": "the same, also where guessing 0 is within the error",
    "identification": "one of a number of candidates, 1 − f(1/candidates): an attacker with a list",
    "corridor": "Riess 2026: the error at which both attackers succeed equally often",
    "zero-guess": "the error of guessing 0, which needs no release",
    "ks": "p-value of the test that simulated errors follow their law (Kolmogorov-Smirnov)",
    "ks-smaller": "p-value of the test that simulated errors are not smaller than their law",
    "ratio": "mean simulated error over the predicted one",
    **{
        f"{kind}-{place}": f"{meaning} quantile of the error, {place} %"
        for kind, meaning in (("seen", "simulated"), ("law", "predicted"))
        for place in ("05", "25", "50", "75", "95")
    },
    "epsilon-low": "Yildirim 2025: lower end of the 90 % interval of ε, from attacks' errors",
    "epsilon-median": "Yildirim 2025: posterior median of ε",
    "epsilon-high": "Yildirim 2025: upper end of the 90 % interval of ε",
    "strength-median": "Yildirim 2025: posterior median of the attacks' strength, 0 to 1",
    "clopper-pearson": "the largest lower bound on ε that the errors prove at 90 %",
    "pso": "singling out on the average table, from (ε, δ) alone",
    "pso-f-dp": "singling out on the average table, from the whole trade-off curve",
    "spso": "singling out with all other records known, from the whole trade-off curve",
}
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
    for bound, meaning in COMPUTED.items()
}

_RAD: Mapping[str, str] = {
    "advantage": (
        "records of each table that were attacked in two worlds to measure rad, drawn at random; "
        "0: rad was not measured"
    ),
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

COLUMNS: Mapping[str, str] = {
    "dataset": "the data set whose prior the tables are drawn from; the suite of a computed row",
    "targets": (
        "the columns the attacker must guess, separated by a comma and a space; what a computed "
        "row is about"
    ),
    "known": "how many other columns of every record the attacker knows",
    "known_columns": "which these are, separated by a comma and a space",
    "n": "records in a table, and so the most that can be reconstructed",
    "k": "columns in each released marginal",
    "epsilon": "privacy budget ε of the release; inf means no noise",
    "delta": "privacy parameter δ of the release",
    "mechanism": "what released the table",
    "mechanism_options": "the options of the mechanism, as JSON",
    "guarantee": "the privacy guarantee of the release and its neighbouring relation",
    "metric": (
        "what counts as reconstructing a record; what the values of a computed row are: success, "
        "advantage, queries or error"
    ),
    "adversary": (
        "realistic: knows the known columns of every record; informed: attacks each record "
        "knowing all others in full; none: computed"
    ),
    "attacker_prior": (
        "the prior that the attacker takes for the true one; same: it is the true one"
    ),
    "rank": "place of the attack in its game by mean success; ties share a place",
    "attack": "the attack; none: computed, nobody played",
    "attack_options": "the options of the attack, as JSON",
    "seed": "seed of the game: the same seed gives the same tables and noise to every attack",
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
        "dataset",
        "targets",
        "known_columns",
        "mechanism",
        "mechanism_options",
        "guarantee",
        "metric",
        "adversary",
        "attacker_prior",
        "attack",
        "attack_options",
        "best_possible_converged",
        "rad_theorem",
        "calibration",
        "bound_errors",
        "error",
    }
)
_COUNTS = ("success", "baseline", "ceiling_")
_RECORDS = frozenset({"best_possible", "promised"})
_SHARES = frozenset(_RAD)


_AFTER_CEILINGS = next(iter(_RAD))
_OPTIONAL = _CEILINGS.keys() | _VALUES.keys() | _RAD.keys() | {"bound_errors"}


def documented(summaries: Sequence[Summary]) -> dict[str, str]:
    """The columns that these rows need, with their meaning.

    Those of bounds and computed values that no row has are left out; those of bounds of other
    packages follow the ceilings, as the rows declare them.
    """
    found = dict.fromkeys(name for row in summaries for name in _bounds(row))
    if any(row.advantage for row in summaries):
        found |= dict.fromkeys(_RAD)
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
        "rank": rank,
        "attack_options": options_text(row),
        "mechanism_options": as_json(row.mechanism_options),
        "promised": row.promised,
        "calibration_error": row.calibration_error,
        "calibration": _calibration(row),
        "bound_errors": "; ".join(row.bound_errors) or None,
        **counted,
        **_bounds(row),
    }


def _calibration(row: Summary) -> str | None:
    """``9:80:0.961:77``: of 80 records with a score of 0.9 or more, 0.961 in the mean, 77 right."""
    found = (
        f"{tenth}:{records:.0f}:{sure / records:.3g}:{right:.0f}"
        for tenth, (records, sure, right) in row.calibration.items()
    )
    return " ".join(found) or None


def options_text(row: Summary) -> str:
    return as_json(row.attack_options)


def as_json(options: Mapping[str, Any]) -> str:
    if not options:
        return "{}"
    return json.dumps(options, sort_keys=True, ensure_ascii=False, default=str)


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
