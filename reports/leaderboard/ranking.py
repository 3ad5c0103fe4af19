"""The order of rows, and ranks: in a game, over a whole suite, and on every data set of it.

Attacks are ranked over a suite by the share that they close of the gap between the prior and the
ceiling on the mean, over all cells. With s the expected success, c the ceiling on it and b what the
prior's best guess expects on the same tables,

    share = Σ_cells (s − b) / n  /  Σ_cells (c − b) / n.

This is the mean of the cells' shares (s − b) / (c − b), each cell weighted by its gap: a plain mean
would be decided by the cells with almost no gap, where the noise that is left is many times the
gap. A cell that an attack did not finish counts as if it had answered with the prior's
guess, which needs no release. Attacks that a paired comparison over the suite cannot tell apart
share a rank.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from reconbench.benchmarks.game.setting import Setting
from reconbench.benchmarks.store.summary import Summary
from reconbench.benchmarks.store.tightest import tightest_mean
from reconbench.reports.leaderboard.comparisons import AttackComparison, compare_attacks
from reconbench.reports.leaderboard.flags import LEAST_GAP, Flag, find_flags, mean_gap
from reconbench.reports.leaderboard.labels import label_attack
from reconbench.reports.statistics import find_student_half_width

# Scores of the same guesses may differ in the last digits.
_ROUNDING = 1e-9


@dataclass(frozen=True)
class RankedAttack:
    """One attack over the suite; ``plain_mean`` is the unweighted mean of its cells' shares.

    ``plain_mean`` leaves out cells whose gap is less than 1 % of n. ``rank`` is 1 + the number of
    attacks that are ahead of this one by more than chance explains (see ``comparisons``).
    """

    attack: str
    adversary: str
    attacker_prior: str
    cells: int
    finished: int
    share: float | None
    low: float | None
    high: float | None
    plain_mean: float | None
    plain_mean_cells: int
    seconds: float | None
    flag_counts: Mapping[Flag, int]
    rank: int | None = None


def sort_rows(summaries: Sequence[Summary]) -> list[Summary]:
    """Sort by data set and column as they first appear, then ε, game, falling expected success."""
    datasets = _number(row.dataset for row in summaries)
    columns = _number((row.dataset, row.targets) for row in summaries)
    games = _number(row.setting for row in summaries)
    return sorted(
        summaries,
        key=lambda row: (
            datasets[row.dataset],
            columns[row.dataset, row.targets],
            row.epsilon,
            games[row.setting],
            row.expected_success is None,
            -(row.expected_success or 0.0),
        ),
    )


def _number(keys: Iterable[Hashable]) -> dict[Hashable, int]:
    """Keys numbered in the order in which they first appear."""
    return {key: index for index, key in enumerate(dict.fromkeys(keys))}


def rank_in_games(summaries: Sequence[Summary]) -> list[int | None]:
    """1 + the number of attacks in the same game that expect more; None without a result."""
    expected: dict[Setting, list[float]] = {}
    for row in summaries:
        if row.expected_success is not None:
            expected.setdefault(row.setting, []).append(row.expected_success)
    return [
        None
        if row.expected_success is None
        else 1 + sum(other > row.expected_success + _ROUNDING for other in expected[row.setting])
        for row in summaries
    ]


def rank_attacks(
    summaries: Sequence[Summary], comparisons: Iterable[AttackComparison]
) -> list[RankedAttack]:
    """Rank the attacks of each adversary and attacker's prior over the suite, best first."""
    ahead: dict[tuple[str, str, str], int] = {}
    for pair in comparisons:
        if pair.is_ahead:
            loser = (pair.other, pair.adversary, pair.attacker_prior)
            ahead[loser] = ahead.get(loser, 0) + 1
    groups: dict[tuple[str, str], list[Summary]] = {}
    for row in summaries:
        if not row.computed:
            groups.setdefault((row.adversary, row.attacker_prior), []).append(row)
    ranked = [attack for rows in groups.values() for attack in _rank_group(rows)]
    return [
        attack
        if attack.share is None
        else replace(
            attack,
            rank=1 + ahead.get((attack.attack, attack.adversary, attack.attacker_prior), 0),
        )
        for attack in ranked
    ]


@dataclass(frozen=True)
class DatasetRanking:
    """The attacks on one data set by themselves, best first; counts are means of 100 records."""

    dataset: str
    adversary: str
    attacker_prior: str
    cells: int
    prior: float
    best_possible: float | None
    most: float | None
    attacks: tuple[RankedAttack, ...]

    @property
    def gap(self) -> float:
        """What the release leaves to gain, where that is known."""
        return 0.0 if self.most is None else self.most - self.prior

    @property
    def is_measurable(self) -> bool:
        """Whether enough is left to gain to say which share of it an attack got."""
        return self.gap >= 100 * LEAST_GAP


def rank_by_dataset(summaries: Sequence[Summary]) -> list[DatasetRanking]:
    """Rank the attacks on every data set as if it were the whole suite, most to gain first.

    p-values are adjusted within a data set. Empty where there is one data set, whose ranking is
    that of the suite.
    """
    groups: dict[tuple[str, str, str], list[Summary]] = {}
    for row in summaries:
        if not row.computed:
            groups.setdefault((row.adversary, row.attacker_prior, row.dataset), []).append(row)
    if len({dataset for _, _, dataset in groups}) < 2:
        return []
    ranked = [_rank_dataset(rows) for rows in groups.values()]
    return sorted(ranked, key=lambda each: -each.gap)


def _rank_dataset(rows: Sequence[Summary]) -> DatasetRanking:
    first = rows[0]
    games = {row.setting: row for row in rows}
    by_game: dict[Setting, list[Summary]] = {}
    for row in rows:
        by_game.setdefault(row.setting, []).append(row)
    best, most = [], []
    for setting, own in by_game.items():
        stated = [row.best_possible for row in own if row.best_possible is not None]
        bounds = [top for row in own if (top := tightest_mean(row.ceilings)) is not None]
        best.append(100 * stated[0] / setting.scored if stated else None)
        most.append(100 * bounds[0] / setting.scored if bounds else None)
    return DatasetRanking(
        first.dataset,
        first.adversary,
        first.attacker_prior,
        len(games),
        fmean(100 * row.baseline_expected / row.scored for row in games.values()),
        _mean_of_all(best),
        _mean_of_all(most),
        tuple(rank_attacks(rows, compare_attacks(rows))),
    )


def _mean_of_all(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return fmean(known) if len(known) == len(values) else None


def _rank_group(rows: Sequence[Summary]) -> list[RankedAttack]:
    gaps: dict[Setting, float] = {}
    by_attack: dict[str, list[Summary]] = {}
    for row in rows:
        gap = mean_gap(row)
        if gap is not None and gap > 0:
            gaps.setdefault(row.setting, gap / row.scored)
        by_attack.setdefault(label_attack(row), []).append(row)
    attacks = [_score_attack(own, gaps) for own in by_attack.values()]
    return sorted(attacks, key=lambda attack: (attack.share is None, -(attack.share or 0.0)))


def _score_attack(rows: Sequence[Summary], gaps: Mapping[Setting, float]) -> RankedAttack:
    total = sum(gaps.values())
    counted = [row for row in rows if row.setting in gaps and row.gains]
    closed = {row.setting: fmean(row.gains.values()) / row.scored for row in counted}
    wide = [setting for setting, gap in gaps.items() if gap >= LEAST_GAP]
    share = sum(closed.values()) / total if counted and total > 0 else None
    half = _half_width(counted, gaps)
    if half is not None:
        half *= sum(gaps[setting] for setting in closed) / total
    seconds = [row.seconds for row in rows if row.seconds is not None]
    plain = [closed.get(setting, 0.0) / gaps[setting] for setting in wide] if counted else []
    raised = [flag for row in rows for flag in find_flags(row, in_paper=False)]
    return RankedAttack(
        attack=label_attack(rows[0]),
        adversary=rows[0].adversary,
        attacker_prior=rows[0].attacker_prior,
        cells=len(gaps),
        finished=len(counted),
        share=share,
        low=None if share is None or half is None else share - half,
        high=None if share is None or half is None else share + half,
        plain_mean=fmean(plain) if plain else None,
        plain_mean_cells=len(wide),
        seconds=fmean(seconds) if seconds else None,
        flag_counts=count_flags(raised),
    )


def count_flags(raised: Sequence[str]) -> dict[Flag, int]:
    """How often each flag was raised, the most serious first."""
    return {flag: raised.count(flag) for flag in Flag if flag in raised}


def _half_width(rows: Sequence[Summary], gaps: Mapping[Setting, float]) -> float | None:
    """Half the 95 % Student interval of the share of these rows' own gap.

    A repetition of all its cells is one observation.
    """
    gained: dict[int, float] = {}
    possible: dict[int, float] = {}
    for row in rows:
        for rep, gain in row.gains.items():
            gained[rep] = gained.get(rep, 0.0) + gain / row.scored
            possible[rep] = possible.get(rep, 0.0) + gaps[row.setting]
    return find_student_half_width([gained[rep] / possible[rep] for rep in gained])
