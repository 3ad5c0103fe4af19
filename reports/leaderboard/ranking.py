"""The order of rows, the rank of an attack in its game, and the ranking over a whole suite.

Attacks are ranked over a suite by the share that they close of the gap between the prior and the
ceiling on the mean, over all cells. With s the successes, b those of the prior's best guess on the
same tables, c the ceiling on the expected success and e the prior's expectation,

    share = Σ_cells (s − b) / n  /  Σ_cells (c − e) / n.

This is the mean of the cells' shares (s − b) / (c − e), each cell weighted by its gap: a plain mean
would be decided by the cells with almost no gap, where one record guessed by chance is many times
the gap. A cell that an attack did not finish counts as if it had answered with the prior's
guess, which needs no release.
"""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import sqrt
from statistics import fmean, stdev
from typing import Any

from scipy.special import stdtrit

from reconbench.benchmarks.game.setting import Setting
from reconbench.benchmarks.store.summary import Summary
from reconbench.reports.leaderboard.flags import LEAST_GAP, Flag, find_flags, mean_gap


@dataclass(frozen=True)
class RankedAttack:
    """One attack over the suite; ``plain_mean`` is the unweighted mean of its cells' shares.

    ``plain_mean`` leaves out cells whose gap is less than 1 % of n. ``rank`` is 1 + the number of
    attacks whose whole interval lies above this one's: attacks whose intervals overlap tie.
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
    """Sort by data set and column as they first appear, then ε, game, and falling mean success."""
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
            row.success is None,
            -(row.success or 0.0),
        ),
    )


def _number(keys: Iterable[Hashable]) -> dict[Hashable, int]:
    """Keys numbered in the order in which they first appear."""
    return {key: index for index, key in enumerate(dict.fromkeys(keys))}


def rank_in_games(summaries: Sequence[Summary]) -> list[int | None]:
    """1 + the number of attacks in the same game with more success; None without a result."""
    successes: dict[Setting, list[float]] = {}
    for row in summaries:
        if row.success is not None:
            successes.setdefault(row.setting, []).append(row.success)
    return [
        None
        if row.success is None
        else 1 + sum(other > row.success for other in successes[row.setting])
        for row in summaries
    ]


def rank_attacks(summaries: Sequence[Summary]) -> list[RankedAttack]:
    """Rank the attacks of each adversary and attacker's prior over the suite, best first."""
    groups: dict[tuple[str, str], list[Summary]] = {}
    for row in summaries:
        if not row.computed:
            groups.setdefault((row.adversary, row.attacker_prior), []).append(row)
    return [attack for rows in groups.values() for attack in _rank_group(rows)]


def label_attack(row: Summary) -> str:
    """An attack with its options: other options make another attack."""
    return f"{row.attack} {format_json(row.attack_options)}" if row.attack_options else row.attack


def format_json(options: Mapping[str, Any]) -> str:
    """Options or facts as JSON, sorted by name."""
    if not options:
        return "{}"
    return json.dumps(dict(options), sort_keys=True, ensure_ascii=False, default=str)


def _rank_group(rows: Sequence[Summary]) -> list[RankedAttack]:
    gaps: dict[Setting, float] = {}
    by_attack: dict[str, list[Summary]] = {}
    for row in rows:
        gap = mean_gap(row)
        if gap is not None and gap > 0:
            gaps.setdefault(row.setting, gap / row.n)
        by_attack.setdefault(label_attack(row), []).append(row)
    attacks = _assign_ranks([_score_attack(own, gaps) for own in by_attack.values()])
    return sorted(attacks, key=lambda attack: (attack.share is None, -(attack.share or 0.0)))


def _score_attack(rows: Sequence[Summary], gaps: Mapping[Setting, float]) -> RankedAttack:
    total = sum(gaps.values())
    counted = [row for row in rows if row.setting in gaps and row.success is not None]
    closed = {row.setting: _mean_gain(row) / row.n for row in counted}
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


def _mean_gain(row: Summary) -> float:
    """Records beyond the prior's guess on the same tables, mean over repetitions."""
    if row.outcomes:
        return fmean(got - prior for got, prior in row.outcomes.values())
    return (row.success or 0.0) - row.baseline


def _half_width(rows: Sequence[Summary], gaps: Mapping[Setting, float]) -> float | None:
    """Half the 95 % Student interval of the share of these rows' own gap.

    A repetition of all its cells is one observation.
    """
    gained: dict[int, float] = {}
    possible: dict[int, float] = {}
    for row in rows:
        for rep, (got, prior) in row.outcomes.items():
            gained[rep] = gained.get(rep, 0.0) + (got - prior) / row.n
            possible[rep] = possible.get(rep, 0.0) + gaps[row.setting]
    shares = [gained[rep] / possible[rep] for rep in gained]
    if len(shares) < 2:
        return None
    return float(stdtrit(len(shares) - 1, 0.975)) * stdev(shares) / sqrt(len(shares))


def _assign_ranks(attacks: Sequence[RankedAttack]) -> list[RankedAttack]:
    """Ties share a rank: only an interval that lies wholly above pushes an attack down."""
    lows = [attack.share if attack.low is None else attack.low for attack in attacks]
    highs = [attack.share if attack.low is None else attack.high for attack in attacks]
    return [
        replace(
            attack,
            rank=None if high is None else 1 + sum(low is not None and low > high for low in lows),
        )
        for attack, high in zip(attacks, highs, strict=True)
    ]
