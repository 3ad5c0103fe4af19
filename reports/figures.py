"""Figures of a leaderboard: where everything stands, for the template to draw.

Horizontal places are percentages of a track from 0 to n records, so that a figure fits any width;
vertical places are pixels.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from reconbench.benchmarks.results import PROVED_CEILINGS
from reconbench.benchmarks.summary import Summary
from reconbench.reports.columns import (
    ANY_ATTACK,
    CONFIDENCES,
    MEAN,
    MEANS,
    TOP,
    options_text,
)
from reconbench.reports.ranking import game, ordered, setting

COLOURS = 5
SHAPES = 4
LANE = 14
MARGIN = 5


@dataclass(frozen=True)
class Look:
    """How an attack is drawn throughout a page: colours and shapes together tell 20 apart."""

    label: str
    colour: int
    shape: int


@dataclass(frozen=True)
class Mark:
    """One attack in one line: its mean and interval, or the reason why there is none."""

    look: Look
    y: float
    x: float | None
    low: float | None
    high: float | None
    value: str
    title: str


@dataclass(frozen=True)
class Band:
    """The tightest ceiling for any attack at 5, 50 and 95 %, in a single run."""

    low: float
    middle: float
    high: float
    title: str

    @property
    def width(self) -> float:
        return round(self.high - self.low, 3)

    @property
    def beyond(self) -> float:
        return round(100 - self.high, 3)


@dataclass(frozen=True)
class Rule:
    """A ceiling that is one number, drawn across its line."""

    x: float
    title: str


@dataclass(frozen=True)
class Flag:
    """The best possible expectation in this game; ``sure`` unless its computation has doubts."""

    x: float
    sure: bool
    title: str


@dataclass(frozen=True)
class Line:
    """One game: the prior, the attacks and the ceilings for one choice of target columns.

    ``best`` is what the Bayes-optimal attack expects, ``most`` the tightest ceiling on the expected
    success, ``published`` Theorem 3.5 at 95 % where the band has tighter bounds to compare it with.
    """

    label: str
    height: int
    prior: float
    prior_title: str
    best: Flag | None
    band: Band | None
    most: Rule | None
    published: Rule | None
    marks: tuple[Mark, ...]

    @property
    def description(self) -> str:
        ceilings = (each for each in (self.best, self.most, self.band, self.published) if each)
        parts = (*self.marks, *ceilings)
        return "; ".join([self.prior_title, *(each.title for each in parts)])


@dataclass(frozen=True)
class Mean:
    """A mean over the lines of a figure; the note says so where it is not over all of them."""

    value: str
    note: str


@dataclass(frozen=True)
class Average:
    """An attack's mean over the lines of a figure in which it has a result."""

    look: Look
    mean: Mean


@dataclass(frozen=True)
class Tick:
    x: float
    label: str


@dataclass(frozen=True)
class Figure:
    """All games that differ only in their target columns.

    ``apart`` are the details that tell it from the other figures of its data set and ε, ``unsure``
    the number of lines whose best possible expectation is not to be trusted.
    """

    dataset: str
    epsilon: str
    details: tuple[str, ...]
    n: str
    ticks: tuple[Tick, ...]
    lines: tuple[Line, ...]
    averages: tuple[Average, ...]
    prior_average: str
    best_average: Mean | None
    unsure: int
    most_average: Mean | None
    band_average: Mean | None
    published_average: Mean | None
    apart: tuple[str, ...] = ()


def figures(summaries: Sequence[Summary]) -> list[Figure]:
    """One figure a data set, ε, metric and number of targets (and n, k, mechanism, seed)."""
    labels = dict.fromkeys(_label(row) for row in summaries)
    looks = {
        label: Look(label, place % COLOURS, place % SHAPES) for place, label in enumerate(labels)
    }
    groups: dict[tuple[Hashable, ...], list[Summary]] = {}
    for row in ordered(summaries):
        groups.setdefault(setting(row), []).append(row)
    return _told_apart([_figure(rows, looks) for rows in groups.values()])


def _told_apart(found: Sequence[Figure]) -> list[Figure]:
    shared: dict[tuple[str, str], frozenset[str]] = {}
    for figure in found:
        place = (figure.dataset, figure.epsilon)
        details = frozenset(figure.details)
        shared[place] = shared.get(place, details) & details
    return [
        replace(figure, apart=tuple(each for each in figure.details if each not in common))
        for figure in found
        for common in (shared[figure.dataset, figure.epsilon],)
    ]


def _figure(rows: Sequence[Summary], looks: Mapping[str, Look]) -> Figure:
    first = rows[0]
    games: dict[tuple[Hashable, ...], list[Summary]] = {}
    for row in rows:
        games.setdefault(game(row), []).append(row)
    here = [look for label, look in looks.items() if label in {_label(row) for row in rows}]
    fullest = [_fullest(each) for each in games.values()]
    tops = [each[TOP][0] for each in map(_tightest, fullest) if each]
    return Figure(
        dataset=first.dataset,
        epsilon=_number(first.epsilon),
        details=_details(rows),
        n=_count(first.n),
        ticks=ticks(first.n),
        lines=tuple(_line(attacks, here) for attacks in games.values()),
        averages=tuple(_average(look, rows, len(games)) for look in here),
        prior_average=f"{fmean(row.baseline_expected for row in fullest):.1f}",
        best_average=_mean((row.best_possible for row in fullest), len(games)),
        unsure=sum(row.best_possible_converged is False for row in fullest),
        most_average=_mean(map(_most, fullest), len(games)),
        band_average=_mean(tops, len(games)),
        published_average=_mean(map(_published, fullest), len(games)),
    )


def _details(rows: Sequence[Summary]) -> tuple[str, ...]:
    first, count = rows[0], len(rows[0].targets)
    guarantees = dict.fromkeys(row.guarantee for row in rows)
    return (
        f"{first.metric} metric",
        f"{first.adversary} adversary",
        f"{count} target column{'s' if count > 1 else ''}, {len(first.known)} known",
        f"{_count(first.n)} records",
        f"{first.mechanism}, k = {first.k}",
        f"δ = {_number(first.delta)}",
        *(guarantees if len(guarantees) == 1 else ()),
        f"seed {first.seed}",
    )


def _line(rows: Sequence[Summary], looks: Sequence[Look]) -> Line:
    full = _fullest(rows)
    lanes = enumerate((row, look) for look in looks for row in rows if _label(row) == look.label)
    return Line(
        label=full.column,
        height=2 * MARGIN + LANE * len(rows),
        prior=_place(full.baseline_expected, full.n),
        prior_title=f"{full.baseline_expected:.1f} of {full.n} expected from the prior alone",
        best=_best(full),
        band=_band(full),
        most=_rule(_most(full), full.n, "the most that any attack gets on average"),
        published=_rule(_published(full), full.n, "published 95 % ceiling, Theorem 3.5"),
        marks=tuple(_mark(row, look, lane) for lane, (row, look) in lanes),
    )


def _mark(row: Summary, look: Look, lane: int) -> Mark:
    y = MARGIN + LANE * (lane + 0.5)
    if row.success is None:
        value = "failed" if row.failures else "skipped"
        return Mark(look, y, None, None, None, value, f"{value}: {look.label}: {row.error or ''}")
    title = f"{row.success:.1f} of {row.n} reconstructed"
    low = high = None
    if row.success_low is not None and row.success_high is not None:
        low, high = _place(row.success_low, row.n), _place(row.success_high, row.n)
        title += f", 95 % interval {row.success_low:.1f} to {row.success_high:.1f}"
    place = _place(row.success, row.n)
    return Mark(look, y, place, low, high, f"{row.success:.1f}", f"{title}, by {look.label}")


def _best(row: Summary) -> Flag | None:
    if row.best_possible is None:
        return None
    sure = row.best_possible_converged is not False
    title = f"{row.best_possible:.1f} of {row.n}: best possible in this game, in expectation"
    note = "" if sure else " (not converged, not to be trusted)"
    return Flag(_place(row.best_possible, row.n), sure, f"{title}{note}")


def _band(row: Summary) -> Band | None:
    at = _tightest(row)
    if not at:
        return None
    title = ", ".join(
        f"{value:.1f} at {CONFIDENCES[confidence]} ({bound})"
        for confidence, (value, bound) in at.items()
    )
    low, middle, high = (_place(value, row.n) for value, _ in at.values())
    return Band(low, middle, high, f"ceiling for any attack in one run: {title}")


def _tightest(row: Summary) -> dict[str, tuple[float, str]]:
    """The smallest proved ceiling and its bound, by confidence; empty if one is missing.

    Others stand in only where no proved one is stored.
    """
    proved = [bound for bound in PROVED_CEILINGS if bound in row.ceilings]
    bounds = proved or ANY_ATTACK
    found = {bound: row.ceilings[bound] for bound in bounds if bound in row.ceilings}
    at = {
        confidence: [(by[confidence], bound) for bound, by in found.items() if confidence in by]
        for confidence in CONFIDENCES
    }
    return {confidence: min(each) for confidence, each in at.items()} if all(at.values()) else {}


def _most(row: Summary) -> float | None:
    """The tightest ceiling on the expected success, whatever the attack."""
    found = [row.ceilings[bound][MEAN] for bound in MEANS if MEAN in row.ceilings.get(bound, {})]
    return min(found, default=None)


def _published(row: Summary) -> float | None:
    """The 95 % ceiling of Theorem 3.5, if there are others to compare it with."""
    others = [bound for bound in ANY_ATTACK if bound != "thm35" and bound in row.ceilings]
    return row.ceilings.get("thm35", {}).get(TOP) if others else None


def _rule(value: float | None, n: int, meaning: str) -> Rule | None:
    return None if value is None else Rule(_place(value, n), f"{value:.1f} of {n}: {meaning}")


def _average(look: Look, rows: Sequence[Summary], games: int) -> Average:
    mean = _mean((row.success for row in rows if _label(row) == look.label), games)
    return Average(look, mean or Mean("no result", ""))


def _mean(values: Iterable[float | None], games: int) -> Mean | None:
    found = [value for value in values if value is not None]
    if not found:
        return None
    note = "" if len(found) == games else f"over {len(found)} of {games}"
    return Mean(f"{fmean(found):.1f}", note)


def _fullest(rows: Sequence[Summary]) -> Summary:
    """The row with most repetitions: prior and ceiling are the game's, means over the same runs."""
    return max(rows, key=lambda row: row.repetitions)


def ticks(n: int) -> tuple[Tick, ...]:
    """0, n and round numbers between them, about five."""
    scale = 10.0 ** math.floor(math.log10(max(n, 5) / 5))
    step = next(int(scale * m) for m in (1, 2, 5, 10) if scale * m * 6 >= n)
    inner = range(0, n - step // 2, step) if step > 1 else range(n)
    return tuple(Tick(_place(at, n), _count(at)) for at in (*inner, n))


def _label(row: Summary) -> str:
    return f"{row.attack} {options_text(row)}" if row.attack_options else row.attack


def _place(value: float, n: int) -> float:
    return round(100 * min(max(value / n, 0.0), 1.0), 3)


def _count(value: int) -> str:
    return f"{value:,}".replace(",", "\u202f")


def _number(value: float) -> str:
    return "∞" if math.isinf(value) else f"{value:g}"
