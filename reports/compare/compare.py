"""Compare results before and after a change: what got better, worse, or moved within noise.

Rows are paired by game, attack and repetition, so both met the same table and the same noise. A
cell is one attack on one game, over its repetitions. Its p-value is exact, from flipping the signs
of paired differences, and adjusted by Holm's method over all cells. With m repetitions, no p is
below 2^(1 − m). Cells of one repetition share their table, so an attack's overall test flips whole
repetitions.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from math import sqrt
from statistics import fmean, stdev
from typing import Any

from scipy.stats import t as student

from reconbench.benchmarks.game.result import Result, Status
from reconbench.benchmarks.game.setting import describe_setting
from reconbench.reports.statistics import holm, sign_flip

LEVEL = 0.05


class Verdict(StrEnum):
    BETTER = "better"
    WORSE = "worse"
    NOISE = "within noise"
    SAME = "the same"


@dataclass(frozen=True)
class Change:
    """After less before, in records reconstructed; ``low`` and ``high`` are a 95 % interval."""

    attack: str
    game: str
    games: int
    before: float
    after: float
    difference: float
    low: float | None
    high: float | None
    p: float
    adjusted: float
    verdict: Verdict
    seconds_ratio: float | None


@dataclass(frozen=True)
class Shift:
    """A row that failed in only one of the two stores."""

    row: str
    error: str


@dataclass(frozen=True)
class Comparison:
    """All changes. ``elsewhere`` counts pairs with different tables, which are not compared."""

    cells: tuple[Change, ...]
    overall: tuple[Change, ...]
    only_before: tuple[str, ...]
    only_after: tuple[str, ...]
    appeared: tuple[Shift, ...]
    vanished: tuple[Shift, ...]
    elsewhere: int
    level: float = LEVEL

    @property
    def worse(self) -> bool:
        return any(change.verdict is Verdict.WORSE for change in (*self.cells, *self.overall))

    @property
    def can_tell(self) -> bool:
        """Whether any cell has enough repetitions for a p-value below the level, after Holm."""
        fewest = [2.0 ** (1 - change.games) for change in self.cells]
        return bool(fewest) and min(holm(fewest)) <= self.level

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "worse": self.worse, "can_tell": self.can_tell}


def compare(before: Sequence[Result], after: Sequence[Result], level: float = LEVEL) -> Comparison:
    """Compare two sets of rows; of several with one game, attack and repetition the last counts."""
    if not 0 < level < 1:
        raise ValueError(f"level must be strictly between 0 and 1, got {level:g}")
    old, new = ({(row.cell, row.rep): row for row in rows} for rows in (before, after))
    both = [(old[key], new[key]) for key in old if key in new]
    done = [pair for pair in both if all(row.status is Status.OK for row in pair)]
    paired = [pair for pair in done if pair[0].table_hash == pair[1].table_hash]
    return Comparison(
        cells=_compare_groups(paired, level, lambda row: row.cell, describe_setting),
        overall=_compare_groups(paired, level, _describe_attack, lambda row: "all games"),
        only_before=tuple(row.describe() for key, row in old.items() if key not in new),
        only_after=tuple(row.describe() for key, row in new.items() if key not in old),
        appeared=_find_shifts((after, before) for before, after in both),
        vanished=_find_shifts(both),
        elsewhere=len(done) - len(paired),
        level=level,
    )


Pair = tuple[Result, Result]


def _find_shifts(pairs: Iterable[Pair]) -> tuple[Shift, ...]:
    """Rows that failed where the other one of the pair did not."""
    return tuple(
        Shift(first.describe(), first.error or "")
        for first, second in pairs
        if first.status is Status.FAILED and second.status is not Status.FAILED
    )


def _compare_groups(
    pairs: Sequence[Pair],
    level: float,
    group_of: Callable[[Result], Hashable],
    game_of: Callable[[Result], str],
) -> tuple[Change, ...]:
    """One change per group of pairs; a block of its test is one repetition of one seed."""
    groups: dict[Hashable, dict[tuple[int, int], list[Pair]]] = {}
    for pair in pairs:
        row = pair[0]
        blocks = groups.setdefault(group_of(row), {})
        blocks.setdefault((row.seed, row.rep), []).append(pair)
    p_values = [
        sign_flip([sum(map(_difference, block)) for block in blocks.values()])
        for blocks in groups.values()
    ]
    return tuple(
        _measure_change(list(blocks.values()), game_of, p, adjusted, level)
        for blocks, p, adjusted in zip(groups.values(), p_values, holm(p_values), strict=True)
    )


def _measure_change(
    blocks: Sequence[Sequence[Pair]],
    game_of: Callable[[Result], str],
    p: float,
    adjusted: float,
    level: float,
) -> Change:
    pairs = [pair for block in blocks for pair in block]
    first = pairs[0][0]
    difference = fmean(map(_difference, pairs))
    half = _half_width([fmean(map(_difference, block)) for block in blocks])
    before, after = (sum(pair[side].seconds for pair in pairs) for side in (0, 1))
    return Change(
        attack=_describe_attack(first),
        game=game_of(first),
        games=len(blocks),
        before=fmean(old.successes or 0 for old, _ in pairs),
        after=fmean(new.successes or 0 for _, new in pairs),
        difference=difference,
        low=None if half is None else difference - half,
        high=None if half is None else difference + half,
        p=p,
        adjusted=adjusted,
        verdict=_judge(pairs, difference, adjusted <= level),
        seconds_ratio=after / before if before > 0 else None,
    )


def _judge(pairs: Sequence[Pair], difference: float, significant: bool) -> Verdict:
    if not any(map(_difference, pairs)):
        return Verdict.SAME
    if not significant:
        return Verdict.NOISE
    return Verdict.BETTER if difference > 0 else Verdict.WORSE


def _difference(pair: Pair) -> int:
    return (pair[1].successes or 0) - (pair[0].successes or 0)


def _half_width(values: Sequence[float]) -> float | None:
    """Half of Student's 95 % interval of a mean."""
    if len(values) < 2:
        return None
    return float(student.ppf(0.975, len(values) - 1)) * stdev(values) / sqrt(len(values))


def _describe_attack(row: Result) -> str:
    return " ".join([row.attack, *(f"{key}={value}" for key, value in row.attack_options.items())])
