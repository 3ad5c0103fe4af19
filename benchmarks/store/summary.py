"""Summaries of cells: one attack on one game over its repetitions, a line of a leaderboard."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf, sqrt
from statistics import fmean, stdev
from typing import Any

from scipy.special import stdtrit

# The option of computed rows that names their kind.
from reconbench.benchmarks.computations.computation import COMPUTE as COMPUTE

# What the values of computed rows mean, by name: the columns of a leaderboard.
from reconbench.benchmarks.computations.kinds import VALUE_MEANINGS as VALUE_MEANINGS
from reconbench.benchmarks.game.reliability import FALSE_POSITIVE_RATES as FALSE_POSITIVE_RATES
from reconbench.benchmarks.game.reliability import (
    Claims,
    Reliability,
    add_counts,
    compute_reliability_error,
    compute_true_positive_rate,
    merge_reliability,
)
from reconbench.benchmarks.game.result import Result, Status
from reconbench.benchmarks.game.row_ceilings import (
    add_repetition_ceilings,
    drop_refuted_ceilings,
)
from reconbench.benchmarks.game.scores import Score, ScoredBy, read_score
from reconbench.benchmarks.game.setting import Setting, get_axis_values
from reconbench.benchmarks.plugins.bounds import column_order
from reconbench.benchmarks.store.optimum import Optimum, find_optima
from reconbench.benchmarks.store.provenance import NO_ATTACK
from reconbench.benchmarks.store.tightest import PUBLISHED, TOP, proved_bounds, tightest_mean
from reconbench.bounds.ceilings.base import MEAN as MEAN
from reconbench.bounds.ceilings.base import Declaration as Declaration
from reconbench.bounds.ceilings.base import Kind as Kind
from reconbench.bounds.ceilings.base import Scope as Scope
from reconbench.bounds.ceilings.compact_tail import CompactTail


@dataclass(frozen=True, kw_only=True)
class Summary(Setting):
    """One attack on one game, over its repetitions; successes are counts of n records.

    ``ceilings`` are means over repetitions, by bound and confidence. ``above_ceiling`` is the
    share of repetitions in which the attack exceeded its own 95 % ceiling of Theorem 3.5: at most
    5 % in the long run, whatever the attack; ``above_proved`` is the same for the smallest
    proved one. ``best_possible`` belongs to the game and is the same for all its attacks; None if
    neither a judge nor a trusted attack states it, or if its computation did not converge in every
    repetition, which ``best_possible_converged`` says; ``best_possible_at_most`` is a certified
    upper bound on it, where one is known. ``best_attack_95`` is the 95 % quantile of
    the optimal attack's successes over the same releases. ``outcomes`` are the successes of the
    attack and of the prior's best guess, by finished repetition.

    ``rad`` is the reconstruction advantage on ``advantage`` records of each table, with its 95 %
    interval over repetitions, each a difference of both worlds; ``ceiling_rad`` is what
    ``rad_theorem`` of Guerra-Balboa 2026 allows any attack in expectation. All None where the game
    does not ask for it. ``reliability`` counts the records of all repetitions by how sure the
    attack said it was, and ``claims`` what it could claim at low false-positive rates.
    ``rarity`` has the bits of all repetitions that were right, see ``Round.weigh_rarity``.

    ``held_out_success`` is the share of records outside the table that the same attack is expected
    to guess right, and ``memorised`` the difference of both gains over the prior, with its 95 %
    interval; None where the game has no held-out records.

    ``bounds`` are the declarations of the bounds of other packages, by name, and ``bound_errors``
    says of each that failed in some repetition why it did.

    ``scores`` are what the guesses are worth without the luck of the draw (see ``game.scores``)
    and what the prior's best guess expects, by finished repetition; ``scored_by`` says how they
    were obtained. ``expected_success`` is the mean of the first, with a 95 % interval for tables
    with these known columns. ``best_possible`` is corrected for luck in the same way. ``surplus``
    is expected minus drawn successes where a posterior scored: its mean is 0 if that is right.
    ``beyond_best`` is drawn successes minus the best possible on the same release: on average
    nobody's is above 0.

    ``surprise`` is a bound on the chance that any repetition gets as many successes as the luckiest
    one did, by Theorem 3.5 for the guesses made; None where no ceiling on one run holds.

    ``sealed`` says that every repetition was played with a secret seed.

    The summary of a computation has no success: see ``computed``.
    """

    guarantee: str
    attack: str
    attack_options: Mapping[str, Any]
    repetitions: int
    failures: int
    skipped: int
    error: str | None
    success: float | None
    success_low: float | None
    success_high: float | None
    baseline: float
    baseline_expected: float
    ceilings: Mapping[str, Mapping[str, float]]
    above_ceiling: float | None
    seconds: float | None
    best_possible: float | None = None
    best_possible_se: float | None = None
    best_possible_converged: bool | None = None
    best_possible_at_most: float | None = None
    best_attack_95: int | None = None
    outcomes: Mapping[int, tuple[int, int]] = field(default_factory=dict)
    facts: Mapping[str, float] = field(default_factory=dict)
    rad: float | None = None
    rad_low: float | None = None
    rad_high: float | None = None
    ceiling_rad: float | None = None
    rad_theorem: str | None = None
    reliability: Reliability = field(default_factory=dict)
    claims: Claims = field(default_factory=dict)
    rarity: Mapping[str, float] = field(default_factory=dict)
    above_proved: float | None = None
    bounds: Mapping[str, Declaration] = field(default_factory=dict)
    bound_errors: tuple[str, ...] = ()
    sealed: bool = False
    expected_success: float | None = None
    expected_success_low: float | None = None
    expected_success_high: float | None = None
    scored_by: str = ""
    scores: Mapping[int, tuple[float, float]] = field(default_factory=dict)
    surplus: Mapping[int, float] = field(default_factory=dict)
    beyond_best: Mapping[int, float] = field(default_factory=dict)
    surprise: float | None = None
    held_out_success: float | None = None
    memorised: float | None = None
    memorised_low: float | None = None
    memorised_high: float | None = None

    @property
    def gains(self) -> dict[int, float]:
        """Expected records beyond the prior's guess on the same release, by repetition."""
        return {rep: expected - baseline for rep, (expected, baseline) in self.scores.items()}

    @property
    def k(self) -> int | None:
        """Columns in each released marginal, where the mechanism releases marginals."""
        k = self.facts.get("mechanism.k")
        return None if k is None else int(k)

    @property
    def column(self) -> str:
        return ", ".join(self.targets)

    @property
    def promised(self) -> float | None:
        """Records that the attack's own scores promise, mean over repetitions."""
        records = sum(counts[0] for counts in self.reliability.values())
        promised = sum(counts[1] for counts in self.reliability.values())
        return self.scored * promised / records if records else None

    @property
    def true_positive_rates(self) -> dict[str, float | None]:
        """Of the right guesses of all repetitions, the share claimed at false-positive rates."""
        return {
            rate: compute_true_positive_rate(self.claims, rate) for rate in FALSE_POSITIVE_RATES
        }

    @property
    def rarity_shares(self) -> dict[str, float]:
        """Bits as shares of all bits: those of the attack, of the prior's guess, and the most."""
        total = self.rarity.get("total", 0.0)
        parts = {name: bits for name, bits in self.rarity.items() if name != "total"}
        return {name: min(bits / total, 1.0) for name, bits in parts.items()} if total else {}

    @property
    def reliability_error(self) -> float | None:
        return compute_reliability_error(self.reliability)

    @property
    def computed(self) -> bool:
        """Whether nobody attacked: then baseline and ceilings are no counts of records.

        ``baseline_expected`` is the baseline of one target, and ``ceilings`` has a value of what
        ``metric`` says for each bound, under ``mean``.
        """
        return self.attack == NO_ATTACK and self.adversary == NO_ATTACK


def _read_foreign_bounds(rows: Iterable[Result]) -> dict[str, Declaration]:
    """Declarations as the rows carry them: the bounds need not be installed here."""
    declared = {
        name: declaration
        for row in rows
        for name, raw in row.bounds.items()
        if name in row.ceilings and (declaration := Declaration.from_json(name, raw))
    }
    return dict(sorted(declared.items(), key=lambda item: column_order(item[1])))


def _read_bound_errors(rows: Iterable[Result]) -> tuple[str, ...]:
    errors = {
        name: raw["error"] for row in rows for name, raw in row.bounds.items() if "error" in raw
    }
    return tuple(f"{name}: {text}" for name, text in errors.items())


def summarise(rows: Sequence[Result]) -> list[Summary]:
    """Summarise every cell, in the order in which cells first appear."""
    cells: dict[tuple[object, ...], list[Result]] = {}
    for row in add_repetition_ceilings(drop_refuted_ceilings(rows)):
        cells.setdefault(row.cell, []).append(row)
    optima = find_optima(rows)
    return [_summarise_cell(cell, optima.get(cell[0].setting)) for cell in cells.values()]


def _read_score(row: Result) -> Score | None:
    return read_score(row, tightest_mean(row.ceilings))


def _summarise_cell(rows: list[Result], best: Optimum | None) -> Summary:
    set_up = [row for row in rows if row.table_hash] or rows
    first = set_up[0]
    done = [row for row in rows if row.status is Status.OK]
    scored = [row for row in done if row.successes is not None]
    counts = [float(row.successes or 0) for row in scored]
    low, high = _compute_interval(counts, 0.0, first.scored)
    gains = [row.rad for row in done if row.rad is not None]
    rad_low, rad_high = _compute_interval(gains, -1.0, 1.0)
    limits = [row.rad_ceiling for row in done if row.rad_ceiling is not None]
    errors = [row.error for row in rows if row.error]
    scores = {row.rep: score for row in scored if (score := _read_score(row)) is not None}
    low_gain, high_gain = _compute_interval([score.gain for score in scores.values()])
    prior = fmean(score.baseline for score in scores.values()) if scores else 0.0
    return Summary(
        **get_axis_values(first),
        guarantee=first.guarantee,
        attack=first.attack,
        attack_options=first.attack_options,
        repetitions=len(done),
        failures=sum(row.status is Status.FAILED for row in rows),
        skipped=sum(row.status is Status.SKIPPED for row in rows),
        error=errors[0] if errors else None,
        success=fmean(counts) if counts else None,
        success_low=low,
        success_high=high,
        baseline=fmean(row.baseline_successes for row in set_up),
        baseline_expected=fmean(row.baseline_expected for row in set_up),
        ceilings=_average_ceilings(done),
        above_ceiling=_compute_share_above(done, (PUBLISHED,)),
        seconds=fmean(row.seconds for row in done) if done else None,
        best_possible=best.expected if best else None,
        best_possible_se=best.error if best else None,
        best_possible_converged=best.converged if best else None,
        best_possible_at_most=best.at_most if best else None,
        best_attack_95=best.find_quantile(float(TOP)) if best else None,
        outcomes={row.rep: (row.successes or 0, row.baseline_successes) for row in scored},
        facts=first.facts,
        rad=fmean(gains) if gains else None,
        rad_low=rad_low,
        rad_high=rad_high,
        ceiling_rad=fmean(limits) if limits else None,
        rad_theorem=next((row.rad_theorem for row in done if row.rad_theorem), None),
        reliability=merge_reliability(row.calibration for row in done),
        claims=add_counts(row.claims for row in done),
        rarity=_add_rarity(done),
        above_proved=_compute_share_above(done, proved_bounds()),
        bounds=_read_foreign_bounds(rows),
        bound_errors=_read_bound_errors(rows),
        sealed=all(row.seal for row in rows),
        expected_success=fmean(score.expected for score in scores.values()) if scores else None,
        expected_success_low=None if low_gain is None else max(0.0, prior + low_gain),
        expected_success_high=None if high_gain is None else min(first.scored, prior + high_gain),
        scored_by=" + ".join(dict.fromkeys(score.by for score in scores.values())),
        scores={rep: (score.expected, score.baseline) for rep, score in scores.items()},
        surplus=_read_surplus(scored),
        beyond_best=_compare_with_best(scored, best),
        surprise=_bound_surprise(scored),
        **_summarise_held_out(scored, scores),
    )


def _summarise_held_out(rows: Sequence[Result], scores: Mapping[int, Score]) -> dict[str, Any]:
    """What the attack expects on records outside the table, and how much more it gains on others.

    Gains are over the prior's best guess on the same records, as shares of records.
    """
    outside, memorised = [], []
    for row in rows:
        worth, guessed = row.held_out_expected, row.held_out_baseline
        if worth is None or guessed is None or not row.held_out:
            continue
        outside.append(worth / row.held_out)
        if row.rep in scores:
            inside = scores[row.rep].gain / row.scored
            memorised.append(inside - (worth - guessed) / row.held_out)
    low, high = _compute_interval(memorised, -1.0, 1.0)
    return {
        "held_out_success": fmean(outside) if outside else None,
        "memorised": fmean(memorised) if memorised else None,
        "memorised_low": low,
        "memorised_high": high,
    }


def _add_rarity(rows: Sequence[Result]) -> dict[str, float]:
    """The bits of all repetitions; nothing that some of them lack."""
    names = rows[0].rarity if rows else {}
    shared = [name for name in names if all(name in row.rarity for row in rows)]
    return {name: sum(row.rarity[name] for row in rows) for name in shared}


def _compare_with_best(rows: Iterable[Result], best: Optimum | None) -> dict[int, float]:
    known = best.on_releases if best else {}
    return {row.rep: (row.successes or 0) - known[row.rep] for row in rows if row.rep in known}


def _read_surplus(rows: Iterable[Result]) -> dict[int, float]:
    posterior = (ScoredBy.EXACT, ScoredBy.SAMPLED)
    return {
        row.rep: row.expected_successes - (row.successes or 0)
        for row in rows
        if row.expected_successes is not None and row.scored_by in posterior
    }


def _bound_surprise(rows: Sequence[Result]) -> float | None:
    """The smallest P[successes ≥ those drawn] of a repetition, times their number."""
    bounds = []
    for row in rows:
        if row.run_tail is not None and row.successes and TOP in row.ceilings.get(PUBLISHED, {}):
            tail = CompactTail.from_json(row.run_tail).tail(row.successes)
            bounds.append(min(1.0, float(tail) + row.scored * row.delta))
    return min(1.0, min(bounds) * len(bounds)) if bounds else None


def _compute_interval(
    values: Sequence[float], least: float = -inf, most: float = inf
) -> tuple[float | None, float | None]:
    """The 95 % Student interval of the mean, clipped to its range; none from one repetition."""
    if len(values) < 2:
        return None, None
    half = float(stdtrit(len(values) - 1, 0.975)) * stdev(values) / sqrt(len(values))
    mean = fmean(values)
    return max(least, mean - half), min(float(most), mean + half)


def _average_ceilings(rows: Sequence[Result]) -> dict[str, dict[str, float]]:
    values: dict[str, dict[str, list[float]]] = {}
    for row in rows:
        for name, levels in row.ceilings.items():
            for level, value in levels.items():
                values.setdefault(name, {}).setdefault(level, []).append(value)
    return {
        name: {level: fmean(by_row) for level, by_row in levels.items()}
        for name, levels in values.items()
    }


def _compute_share_above(rows: Sequence[Result], bounds: Sequence[str]) -> float | None:
    """The share of repetitions that exceeded the smallest of these 95 % ceilings."""
    above = []
    for row in rows:
        tops = [levels[TOP] for levels in map(row.ceilings.get, bounds) if levels and TOP in levels]
        if tops and row.successes is not None:
            above.append(float(row.successes > min(tops)))
    return fmean(above) if above else None
