"""The columns of a leaderboard: their order, their meaning, and a row's values."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from reconbench.benchmarks.summary import Summary

Value = str | int | float | None


class ReportError(ValueError):
    """Results that cannot be reported."""


# High-probability ceilings for any attack, mostly the tightest first.
ANY_ATTACK: Mapping[str, str] = {
    "fdp-recursion": (
        "any attack, exact match only: f-DP recursion of Mahloujifar et al. 2024, extended to any "
        "priors"
    ),
    "profile-recursion": "any attack: reconbench's recursion over the whole privacy profile",
    "profile": "any attack: Theorem 3.5 minimised over the whole privacy profile",
    "thm35": "any attack: Theorem 3.5 of Swanberg et al. 2025",
}
TAILS: Mapping[str, str] = {
    **ANY_ATTACK,
    "cor34": "this attack: Corollary 3.4 of Swanberg et al. 2025, an estimate from its runs",
    "thm32": "the guesses this attack made, pure DP only: Theorem 3.2 of Swanberg et al. 2025",
    "misfit-thm35": (
        "any attack: Theorem 3.5 from an attacker's own prior and how far it is off at most"
    ),
}
# Ceilings on the expected success, for any attack.
MEANS: Mapping[str, str] = {
    "prior-exact": "reconbench's bound from each target's whole prior",
    "mean": (
        "Kulynych et al. 2025: sum over targets of 1 − f(success of the best guess from the prior)"
    ),
}
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
    "pso": "singling out on the average table, from (ε, δ) alone",
    "pso-f-dp": "singling out on the average table, from the whole trade-off curve",
    "spso": "singling out with all other records known, from the whole trade-off curve",
}
MEAN = "mean"
CONFIDENCES: Mapping[str, str] = {"0.05": "5 %", "0.5": "50 %", "0.95": "95 %"}
TOP = "0.95"

_CEILINGS = {
    f"ceiling_{bound}": (
        "no attack reconstructs more records than this in expectation, that is on average over "
        f"runs, though a single run may; mean over repetitions ({meaning})"
    )
    for bound, meaning in MEANS.items()
} | {
    f"ceiling_{bound}_{confidence}": (
        f"at most this many records are reconstructed with a probability of at least {percent}, "
        f"mean over repetitions ({meaning})"
    )
    for bound, meaning in TAILS.items()
    for confidence, percent in CONFIDENCES.items()
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
        f"allows of success or of advantage over the baseline, or how many queries ({meaning})"
    )
    for bound, meaning in COMPUTED.items()
}

COLUMNS: Mapping[str, str] = {
    "dataset": "the data set whose prior the tables are drawn from; the suite of a computed row",
    "targets": (
        "the columns the attacker must guess, separated by a comma and a space; what a computed "
        "row is about"
    ),
    "known": "how many other columns of every record the attacker knows",
    "n": "records in a table, and so the most that can be reconstructed",
    "k": "columns in each released marginal",
    "epsilon": "privacy budget ε of the release; inf means no noise",
    "delta": "privacy parameter δ of the release",
    "mechanism": "what released the table",
    "mechanism_options": "the options of the mechanism, as JSON",
    "guarantee": "the privacy guarantee of the release and its neighbouring relation",
    "metric": (
        "what counts as reconstructing a record; what the values of a computed row are: success, "
        "advantage or queries"
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
    **_VALUES,
    "above_ceiling": (
        "share of repetitions that passed the 95 % ceiling of Theorem 3.5: at most 0.05 in the "
        "long run"
    ),
    "seconds": "seconds the attack took for one table, mean over repetitions",
    "error": "why the attack failed or declined, from its first such repetition",
}

TEXT = frozenset(
    {
        "dataset",
        "targets",
        "mechanism",
        "mechanism_options",
        "guarantee",
        "metric",
        "adversary",
        "attacker_prior",
        "attack",
        "attack_options",
        "best_possible_converged",
        "error",
    }
)
_COUNTS = ("success", "baseline", "ceiling_")
_RECORDS = frozenset({"best_possible"})


def present(summaries: Sequence[Summary]) -> list[str]:
    """The documented columns, without those of ceilings and computed values that no row has."""
    found = {name for row in summaries for name in _bounds(row)}
    optional = _CEILINGS.keys() | _VALUES.keys()
    odd = sorted(found - optional)
    if odd:
        raise ReportError(
            f"no leaderboard column is documented for {odd[0]!r}: "
            f"known are the bounds {', '.join(TAILS)} at {', '.join(CONFIDENCES)}, and "
            f"{', '.join(MEANS)} at {MEAN}; for computed rows {', '.join(COMPUTED)} at {MEAN}"
        )
    return [name for name in COLUMNS if name in found or name not in optional]


def values(row: Summary, rank: int | None) -> dict[str, Value]:
    """A row's value in each documented column; None where it has none."""
    counted = {} if not row.computed else {"baseline": None, "baseline_expected": None}
    return {name: vars(row).get(name) for name in COLUMNS} | {
        "targets": row.column,
        "known": len(row.known),
        "rank": rank,
        "attack_options": options_text(row),
        "mechanism_options": as_json(row.mechanism_options),
        **counted,
        **_bounds(row),
    }


def options_text(row: Summary) -> str:
    return as_json(row.attack_options)


def as_json(options: Mapping[str, Any]) -> str:
    return json.dumps(options, sort_keys=True, ensure_ascii=False, default=str)


def shown(name: str, value: Value) -> str:
    """A value as a person reads it: counts of records to a tenth, other numbers to 3 digits."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        counted = name.startswith(_COUNTS) or name in _RECORDS
        return f"{value:.1f}" if counted else f"{value:.3g}"
    return str(value)


def _bounds(row: Summary) -> dict[str, float]:
    """Ceilings on counts of records, or the values of a computation."""
    if row.computed:
        values = {f"value_{bound}": levels[MEAN] for bound, levels in row.ceilings.items()}
        return {_BASELINE: row.baseline_expected, **values}
    return {
        f"ceiling_{bound}" if level == MEAN else f"ceiling_{bound}_{level}": value
        for bound, by_level in row.ceilings.items()
        for level, value in by_level.items()
    }
