"""Attacks ranked over a suite, and compared pair by pair over the same tables and noise.

The rule: the share of the gap between the prior and the ceiling on the mean that an attack closes,
over all cells of the suite. With s the successes, b those of the prior's best guess on the same
tables, c the ceiling on the expected success and e the prior's expectation,

    share = Σ_cells (s − b) / n  /  Σ_cells (c − e) / n.

This is the mean of the cells' shares (s − b) / (c − e), each cell weighing as much as its gap: an
unweighted mean is decided by the cells that have next to no gap, where the luck of one record is
many times the gap. A cell that an attack did not finish counts as if it had answered with the
prior's guess, which needs no release.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import sqrt
from statistics import fmean, stdev

from scipy.special import stdtrit

from reconbench.benchmarks.game.setting import Setting
from reconbench.benchmarks.store.summary import Summary
from reconbench.reports.leaderboard.columns import options_text
from reconbench.reports.leaderboard.row_warnings import LEAST_GAP, Flag, flags, mean_gap
from reconbench.reports.statistics import holm, sign_flip

REFERENCE = "rap"


@dataclass(frozen=True)
class Standing:
    """One attack over the suite; ``plain`` is the unweighted mean of its cells' shares.

    ``plain`` leaves out cells whose gap is less than 1 % of n. ``rank`` is 1 + the number of
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
    plain: float | None
    plain_cells: int
    seconds: float | None
    flagged: Mapping[Flag, int]
    rank: int | None = None


@dataclass(frozen=True)
class Paired:
    """An attack less a reference over the repetitions that both finished."""

    games: int
    mean: float
    p: float
    adjusted: float


def label(row: Summary) -> str:
    """An attack with its options, which make it another one."""
    return f"{row.attack} {options_text(row)}" if row.attack_options else row.attack


def standings(summaries: Sequence[Summary]) -> list[Standing]:
    """The attacks of each adversary and attacker's prior, best first."""
    leagues: dict[tuple[str, str], list[Summary]] = {}
    for row in summaries:
        if not row.computed:
            leagues.setdefault((row.adversary, row.attacker_prior), []).append(row)
    return [each for rows in leagues.values() for each in _league(rows)]


def against_prior(summaries: Sequence[Summary]) -> list[Paired | None]:
    """Each row less the prior's best guess on the same tables; Holm over the rows given."""
    return _paired(
        [
            {} if row.computed else {rep: a - b for rep, (a, b) in row.outcomes.items()}
            for row in summaries
        ]
    )


def against(summaries: Sequence[Summary], reference: str = REFERENCE) -> list[Paired | None]:
    """Each row less the reference attack in the same game; Holm over the rows given."""
    theirs: dict[Setting, Summary] = {}
    for row in sorted(summaries, key=lambda row: len(row.attack_options)):
        if row.attack == reference:
            theirs.setdefault(row.setting, row)
    found = []
    for row in summaries:
        other = theirs.get(row.setting)
        shared = {} if other is None or other is row else other.outcomes
        both = (rep for rep in row.outcomes if rep in shared)
        found.append({rep: row.outcomes[rep][0] - shared[rep][0] for rep in both})
    return _paired(found)


def _paired(differences: Sequence[Mapping[int, int]]) -> list[Paired | None]:
    tested = [place for place, each in enumerate(differences) if each]
    known: dict[tuple[int, ...], float] = {}
    p_values = []
    for place in tested:
        key = tuple(sorted(differences[place].values()))
        if key not in known:
            known[key] = sign_flip(key)
        p_values.append(known[key])
    found: list[Paired | None] = [None] * len(differences)
    for place, p, adjusted in zip(tested, p_values, holm(p_values), strict=True):
        values = differences[place].values()
        found[place] = Paired(len(values), fmean(values), p, adjusted)
    return found


def _league(rows: Sequence[Summary]) -> list[Standing]:
    gaps: dict[Setting, float] = {}
    for row in rows:
        gap = mean_gap(row)
        if gap is not None and gap > 0:
            gaps.setdefault(row.setting, gap / row.n)
    by_attack: dict[str, list[Summary]] = {}
    for row in rows:
        by_attack.setdefault(label(row), []).append(row)
    found = [_standing(each, gaps) for each in by_attack.values()]
    return sorted(_ranked(found), key=lambda each: (each.share is None, -(each.share or 0.0)))


def _standing(rows: Sequence[Summary], gaps: Mapping[Setting, float]) -> Standing:
    total = sum(gaps.values())
    counted = [row for row in rows if row.setting in gaps and row.success is not None]
    closed = {row.setting: _gained(row) / row.n for row in counted}
    wide = [place for place, gap in gaps.items() if gap >= LEAST_GAP]
    share = sum(closed.values()) / total if counted and total > 0 else None
    half = _half_width(counted, gaps)
    if half is not None:
        half *= sum(gaps[place] for place in closed) / total
    took = [row.seconds for row in rows if row.seconds is not None]
    return Standing(
        attack=label(rows[0]),
        adversary=rows[0].adversary,
        attacker_prior=rows[0].attacker_prior,
        cells=len(gaps),
        finished=len(counted),
        share=share,
        low=None if share is None or half is None else share - half,
        high=None if share is None or half is None else share + half,
        plain=fmean(closed.get(place, 0.0) / gaps[place] for place in wide)
        if counted and wide
        else None,
        plain_cells=len(wide),
        seconds=fmean(took) if took else None,
        flagged=_counts(rows),
    )


def _gained(row: Summary) -> float:
    """Records beyond the prior's guess on the same tables, mean over repetitions."""
    if row.outcomes:
        return fmean(a - b for a, b in row.outcomes.values())
    return (row.success or 0.0) - row.baseline


def _half_width(rows: Sequence[Summary], gaps: Mapping[Setting, float]) -> float | None:
    """Half the 95 % Student interval of the share of these rows' own gap, a repetition of all its
    cells being one observation."""
    gained: dict[int, float] = {}
    possible: dict[int, float] = {}
    for row in rows:
        gap = gaps[row.setting]
        for rep, (a, b) in row.outcomes.items():
            gained[rep] = gained.get(rep, 0.0) + (a - b) / row.n
            possible[rep] = possible.get(rep, 0.0) + gap
    shares = [gained[rep] / possible[rep] for rep in gained]
    if len(shares) < 2:
        return None
    return float(stdtrit(len(shares) - 1, 0.975)) * stdev(shares) / sqrt(len(shares))


def _ranked(found: Sequence[Standing]) -> list[Standing]:
    """Ties share a rank: only an interval that lies wholly above pushes an attack down."""
    spans = [
        (each.share, each.share) if each.low is None else (each.low, each.high) for each in found
    ]
    return [
        replace(
            each,
            rank=None
            if high is None
            else 1 + sum(other is not None and other > high for other, _ in spans),
        )
        for each, (_, high) in zip(found, spans, strict=True)
    ]


def _counts(rows: Iterable[Summary]) -> dict[Flag, int]:
    raised = [flag for row in rows for flag in flags(row, in_paper=False)]
    return {flag: raised.count(flag) for flag in Flag if flag in raised}
