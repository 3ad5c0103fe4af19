"""The columns of a leaderboard: the name, meaning, kind and direction of each, in order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import get_type_hints

from reconbench.benchmarks.game.setting import AXES, Setting
from reconbench.benchmarks.store.summary import MEAN, VALUE_MEANINGS, Declaration, Kind, Summary
from reconbench.benchmarks.store.tightest import declared_bounds
from reconbench.reports.column import Column as Column
from reconbench.reports.column import Direction as Direction
from reconbench.reports.column import ReportError as ReportError
from reconbench.reports.column import Value as Value
from reconbench.reports.column import index_columns
from reconbench.reports.leaderboard.columns.scores import SCORE_COLUMNS
from reconbench.reports.leaderboard.columns.worlds import HELD_OUT_COLUMNS, RAD_COLUMNS
from reconbench.reports.leaderboard.gap import ROWS_PER_RECORD
from reconbench.reports.leaderboard.printed_values import find_printed_values

CONFIDENCES: Mapping[str, str] = {"0.05": "5 %", "0.5": "50 %", "0.95": "95 %"}
_UNKNOWN = "a bound that neither the stored rows nor this version of reconbench declare"


def _name_ceiling(bound: str, level: str) -> str:
    return f"ceiling_{bound}" if level == MEAN else f"ceiling_{bound}_{level}"


def _declare_ceilings(bound: Declaration) -> list[Column]:
    """The columns of a bound: one per confidence, or one on the mean."""
    source = f"{bound.statement.rstrip('.')}; {bound.reference}"
    if bound.kind is Kind.MEAN:
        meanings = {
            MEAN: "no attack reconstructs more records than this in expectation, that is on "
            f"average over runs, though a single run may; mean over repetitions ({source})"
        }
    else:
        meanings = {
            level: "at most this many records are reconstructed with a probability of at least "
            f"{percent}, mean over repetitions ({bound.scope}. {source})"
            for level, percent in CONFIDENCES.items()
        }
    return [
        Column(_name_ceiling(bound.name, level), meaning, direction=Direction.ALLOWED)
        for level, meaning in meanings.items()
    ]


_CEILINGS = index_columns(
    column for bound in declared_bounds().values() for column in _declare_ceilings(bound)
)
_BASELINE = "value_baseline"
_RISK = "value_risk"
_VALUES = index_columns(
    [
        Column(
            _BASELINE,
            "computed rows: the success of the best guess from the prior alone on one target; "
            "empty if an attack played",
            direction=Direction.GUESSED,
        ),
        Column(
            _RISK,
            "computed rows: the limit on the risk that the row was calibrated to, if it was",
        ),
        *(
            Column(
                f"value_{bound}",
                "computed rows: the value for one target of what the column metric names: the "
                "largest success or advantage that the bound allows, a number of queries, or the "
                f"error of one query ({meaning})",
                direction=Direction.ALLOWED,
            )
            for bound, meaning in VALUE_MEANINGS.items()
        ),
    ]
)
# Axes of a setting that a leaderboard shows as two columns.
_SECOND_COLUMNS: Mapping[str, Column] = {
    "known": Column("known_columns", "names of the known columns, comma-separated", "text"),
    "mechanism_options": Column(
        "k", "columns in each released marginal; empty if none are released", "integer"
    ),
}
_AXIS_KINDS = {
    name: {int: "integer", float: "number"}.get(kind, "text")
    for name, kind in get_type_hints(Setting).items()
} | {"known": "integer"}


def _declare_axes() -> Iterable[Column]:
    for name, axis in AXES.items():
        direction = Direction.BUDGET if name in ("epsilon", "delta") else Direction.NONE
        yield Column(name, axis.meaning, _AXIS_KINDS[name], direction)
        if name in _SECOND_COLUMNS:
            yield _SECOND_COLUMNS[name]


AXIS_COLUMNS = index_columns(_declare_axes())

_DERIVED = (
    Column("target_columns", "number of columns that the attacker must guess at once", "integer"),
    Column(
        "within",
        "the L1 error that still counts as reconstructed: 0 for an exact match",
        "integer",
    ),
    Column(
        "tightest_0.05",
        "the smallest proved ceiling on a single run of any attack at 5 %, in records; Theorem 3.5 "
        "if no proved one is stored",
        direction=Direction.ALLOWED,
    ),
    Column("tightest_0.5", "the same at 50 %", direction=Direction.ALLOWED),
    Column("tightest_0.95", "the same at 95 %", direction=Direction.ALLOWED),
    Column(
        "tightest_mean",
        "the smallest ceiling on the expected success of any attack, in records",
        direction=Direction.ALLOWED,
    ),
    Column(
        "normalised_advantage",
        "(expected_success − baseline_expected) / (n − baseline_expected): 0 is the prior's guess, "
        "1 is all records; empty if the baseline is n",
        direction=Direction.LEAKED,
    ),
    Column(
        "gap_closed",
        "(expected_success − baseline_expected) / (tightest_mean − baseline_expected): the share "
        "of the possible gain that the attack achieved; empty if the gap is below 1 % of n or "
        "smaller than its noise (flag no-gap)",
        direction=Direction.LEAKED,
    ),
    Column(
        "gap_attack",
        "weakness of the attack: best_possible − expected_success, in records; Monte Carlo error "
        "can make it slightly negative. Of a synthetic table that was also played longer, it is "
        "counted from what the attack expects of the longest one",
        direction=Direction.WEAK,
    ),
    Column(
        "gap_rows",
        "sampling of synthetic rows: what the same attack expects of the longest table that was "
        "played, minus what it expects of this one. No protection: the generator can be run again",
        direction=Direction.WEAK,
    ),
    Column(
        "gap_threat",
        "the threat model: what the best attack of the informed adversary expects in the same "
        "game, minus best_possible; empty if that attack did not play",
        direction=Direction.LOOSE,
    ),
    Column(
        "gap_bound",
        "looseness of the bound: tightest_mean minus what the best informed attack expects; empty "
        "if that attack did not play",
        direction=Direction.LOOSE,
    ),
    Column(
        "gap_open",
        "threat model and bound together, tightest_mean − best_possible, where they cannot be "
        "separated",
        direction=Direction.LOOSE,
    ),
    Column(
        "against_prior",
        "expected records beyond the prior's best guess on the same tables, mean difference",
        direction=Direction.LEAKED,
    ),
    Column(
        "against_prior_low",
        "lower end of the 95 % interval of that difference (Student's t over repetitions); empty "
        "for one repetition",
        direction=Direction.LEAKED,
    ),
    Column(
        "against_prior_high",
        "upper end of the 95 % interval of that difference",
        direction=Direction.LEAKED,
    ),
    Column(
        "against_rap",
        "expected records beyond the attack rap on the same tables and noise, mean difference",
        direction=Direction.LEAKED,
    ),
    Column(
        "against_rap_low",
        "lower end of the 95 % interval of that difference",
        direction=Direction.LEAKED,
    ),
    Column(
        "against_rap_high",
        "upper end of the 95 % interval of that difference",
        direction=Direction.LEAKED,
    ),
    Column(
        "suite_rank",
        "rank of the attack over the whole suite: 1 + the number of attacks that are ahead of it "
        "by more than chance explains (sign-flip test over tables, Holm over all pairs)",
        "integer",
        Direction.BETTER,
    ),
    Column("flags", "automatic warnings, separated by spaces; see the list of flags", "text"),
)
PRINTED = index_columns(
    [
        Column(
            "paper",
            "the paper that prints values for this game and attack; not our results",
            "text",
        ),
        Column(
            "paper_baseline",
            "records that the paper prints for the prior alone",
            direction=Direction.GUESSED,
        ),
        Column(
            "paper_success",
            "records that the paper prints for its attack",
            direction=Direction.LEAKED,
        ),
        Column(
            "paper_ceiling_0.05",
            "the 5 % ceiling that the paper prints, in records",
            direction=Direction.ALLOWED,
        ),
        Column(
            "paper_ceiling_0.95",
            "the 95 % ceiling that the paper prints, in records",
            direction=Direction.ALLOWED,
        ),
        Column("paper_note", "how the paper's game differs from ours", "text"),
    ]
)

# Every column that a leaderboard may have, except those of bounds of other packages.
DICTIONARY: Mapping[str, Column] = index_columns(
    [
        Column("suite", "the suite that was run; empty if unknown", "text"),
        *AXIS_COLUMNS.values(),
        Column(
            "guarantee",
            "the privacy guarantee of the release and its neighbouring relation",
            "text",
        ),
        Column(
            "facts", "what the mechanism reports about itself, such as its noise, as JSON", "text"
        ),
        Column(
            "rank",
            "rank of the attack in its game by expected success; ties share a rank",
            "integer",
            Direction.BETTER,
        ),
        Column("attack", "the attack; none for a computed row, where no attack played", "text"),
        Column(
            "attack_options",
            "the options of the attack, as JSON; for a computed row, its kind and what was asked "
            "for",
            "text",
        ),
        Column(
            "repetitions",
            "finished repetitions, each with a fresh table and fresh noise",
            "integer",
        ),
        Column("failures", "repetitions in which the attack failed", "integer"),
        Column("skipped", "repetitions that the attack declined", "integer"),
        Column(
            "success",
            "records reconstructed out of n, mean over repetitions",
            direction=Direction.LEAKED,
        ),
        Column(
            "success_low",
            "lower end of the 95 % interval of that mean (Student's t); empty for one repetition",
            direction=Direction.LEAKED,
        ),
        Column(
            "success_high",
            "upper end of the 95 % interval of that mean",
            direction=Direction.LEAKED,
        ),
        Column(
            "expected_success",
            "records that the guesses are worth given the release, whatever was drawn, mean over "
            "repetitions: the mean of success without most of its noise. Comparisons, ranks and "
            "figures use it",
            direction=Direction.LEAKED,
        ),
        Column(
            "expected_success_low",
            "lower end of the 95 % interval of that mean over releases of tables with these known "
            "columns (Student's t); empty for one repetition",
            direction=Direction.LEAKED,
        ),
        Column(
            "expected_success_high",
            "upper end of the 95 % interval of that mean",
            direction=Direction.LEAKED,
        ),
        Column(
            "scored_by",
            "how expected_success was obtained: from the exact posterior or sampled posterior of "
            "the hidden columns given the release; from the prior, for an attack that never looks "
            "at the release; or by a control variate, the successes less the luck of the prior's "
            "guess on the same tables, where no posterior is to be had",
            "text",
        ),
        Column(
            "baseline",
            "records that the best guess from the prior alone got on the same tables, mean",
            direction=Direction.GUESSED,
        ),
        Column(
            "baseline_expected",
            "records that the best guess from the prior alone gets in expectation",
            direction=Direction.GUESSED,
        ),
        Column(
            "best_possible",
            "records that the Bayes-optimal attack of this adversary expects to reconstruct from "
            "these releases, mean over repetitions and corrected for luck like expected_success; "
            "empty if its computation did not converge in every repetition, or if the release has "
            "no posterior and the attack that would compute it did not play: then it lies between "
            "expected_success and tightest_mean",
            direction=Direction.LEAKED,
        ),
        Column(
            "best_possible_se", "Monte Carlo standard error of best_possible, for these releases"
        ),
        Column(
            "best_possible_converged",
            "True if the computation of best_possible met its own checks in every repetition; if "
            "False, best_possible is empty",
            "boolean",
        ),
        Column(
            "best_possible_at_most",
            "certified upper bound on best_possible: that itself where it is exact; where counts "
            "without noise leave more tables than could be listed, what each known row allows at "
            "most; empty if some repetition has none",
        ),
        Column(
            "best_attack_95",
            "records that the Bayes-optimal attack on this very mechanism exceeds in at most 5 % "
            "of runs, over these releases: what lies between it and tightest_0.95, only knowledge "
            "of the mechanism can remove; empty where the attack's distribution is not known",
            "integer",
            Direction.LEAKED,
        ),
        *_CEILINGS.values(),
        *RAD_COLUMNS.values(),
        *HELD_OUT_COLUMNS.values(),
        *_VALUES.values(),
        Column(
            "above_ceiling",
            "share of repetitions that exceeded the 95 % ceiling of Theorem 3.5: at most 0.05 in "
            "the long run",
        ),
        Column(
            "above_proved",
            "share of repetitions that exceeded the tightest proved 95 % ceiling: at most 0.05 in "
            "the long run; empty if none is stored",
        ),
        *SCORE_COLUMNS,
        Column(
            "seconds",
            "seconds that the attack took per table, mean over repetitions",
            direction=Direction.COST,
        ),
        Column(
            "bound_errors",
            "why bounds of other packages have no ceiling in some repetition",
            "text",
        ),
        Column(
            "error",
            "why the attack failed or declined, from the first such repetition",
            "text",
        ),
        *_DERIVED,
        *PRINTED.values(),
    ]
)
_OPTIONAL = {
    *_CEILINGS,
    *_VALUES,
    *RAD_COLUMNS,
    *HELD_OUT_COLUMNS,
    *PRINTED,
    "advantage",
    "target_records",
    "access",
    "held_out",
    "gap_rows",
    "data_hash",
    "bound_errors",
}


def select_columns(summaries: Sequence[Summary]) -> dict[str, Column]:
    """The columns that these rows need, by name, in order.

    Columns of bounds, computed values and papers that no row has are left out. Those of bounds of
    other packages follow the other ceilings, as the rows declare them.
    """
    needed = dict.fromkeys(name for row in summaries for name in get_bound_values(row))
    if any(row.advantage for row in summaries):
        needed |= dict.fromkeys(("advantage", *RAD_COLUMNS))
    if any(row.held_out for row in summaries):
        needed |= dict.fromkeys(("held_out", *HELD_OUT_COLUMNS))
    if any(row.target_records for row in summaries):
        needed["target_records"] = None
    if any(ROWS_PER_RECORD in row.facts for row in summaries):
        needed["gap_rows"] = None
    if any(row.access != AXES["access"].usual for row in summaries):
        needed["access"] = None
    datasets = {row.dataset for row in summaries}
    if len({(row.dataset, row.data_hash) for row in summaries}) > len(datasets):
        needed["data_hash"] = None
    if any(row.bound_errors for row in summaries):
        needed["bound_errors"] = None
    if any(find_printed_values(row) for row in summaries):
        needed |= dict.fromkeys(PRINTED)
    declared = index_columns(
        column
        for row in summaries
        for bound in row.bounds.values()
        for column in _declare_ceilings(bound)
    )
    columns: dict[str, Column] = {}
    for name, column in DICTIONARY.items():
        if name == next(iter(RAD_COLUMNS)):
            for other in needed:
                if other not in _OPTIONAL:
                    unknown = Column(other, _UNKNOWN, direction=Direction.ALLOWED)
                    columns[other] = declared.get(other, unknown)
        if name in needed or name not in _OPTIONAL:
            columns[name] = column
    return columns


def get_bound_values(row: Summary) -> dict[str, float]:
    """A row's ceilings on counts of records, or the values of its computation, by column."""
    if row.computed:
        values = {f"value_{bound}": levels[MEAN] for bound, levels in row.ceilings.items()}
        limit = {_RISK: row.attack_options["risk"]} if "risk" in row.attack_options else {}
        return {_BASELINE: row.baseline_expected, **limit, **values}
    return {
        _name_ceiling(bound, level): value
        for bound, by_level in row.ceilings.items()
        for level, value in by_level.items()
    }
