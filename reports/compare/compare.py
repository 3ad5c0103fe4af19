"""Two sets of results, before and after a change: what got better, worse, or moved within noise.

Rows are paired by game, attack and repetition: both met the same table and the same noise. A cell
is an attack on a game, over its repetitions. Its p-value is exact, by flipping signs of the paired
differences, and Holm's over all cells; so with m repetitions no p is below 2^(1 − m). Cells of one
repetition share their table, so an attack's overall test flips whole repetitions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from math import sqrt
from statistics import fmean, stdev
from typing import Any

from scipy.stats import t as student

from reconbench.benchmarks.game.result import Result, Status
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
    """A row that failed in one of the two only."""

    row: str
    error: str


@dataclass(frozen=True)
class Comparison:
    """All of it. ``elsewhere`` counts pairs that met different tables: they are not compared."""

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
        return any(each.verdict is Verdict.WORSE for each in (*self.cells, *self.overall))

    @property
    def can_tell(self) -> bool:
        """Whether any cell has enough repetitions for a p-value below the level, after Holm."""
        fewest = [2.0 ** (1 - each.games) for each in self.cells]
        return bool(fewest) and min(holm(fewest)) <= self.level

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "worse": self.worse, "can_tell": self.can_tell}


def compare(before: Sequence[Result], after: Sequence[Result], level: float = LEVEL) -> Comparison:
    """Of several rows with one game, attack and repetition the last one counts."""
    if not 0 < level < 1:
        raise ValueError(f"level must be strictly between 0 and 1, got {level:g}")
    old, new = ({(row.cell, row.rep): row for row in rows} for rows in (before, after))
    both = [(old[key], new[key]) for key in old if key in new]
    done = [pair for pair in both if all(row.status is Status.OK for row in pair)]
    paired = [pair for pair in done if pair[0].table_hash == pair[1].table_hash]
    return Comparison(
        cells=_cells(paired, level),
        overall=_overall(paired, level),
        only_before=tuple(row.describe() for key, row in old.items() if key not in new),
        only_after=tuple(row.describe() for key, row in new.items() if key not in old),
        appeared=_shifts([(b, a) for a, b in both]),
        vanished=_shifts(both),
        elsewhere=len(done) - len(paired),
        level=level,
    )


Pair = tuple[Result, Result]


def _shifts(pairs: Sequence[Pair]) -> tuple[Shift, ...]:
    """Rows of which the first failed and the second did not."""
    return tuple(
        Shift(first.describe(), first.error or "")
        for first, second in pairs
        if first.status is Status.FAILED and second.status is not Status.FAILED
    )


def _cells(pairs: Sequence[Pair], level: float) -> tuple[Change, ...]:
    groups: dict[tuple[object, ...], list[Pair]] = {}
    for pair in pairs:
        groups.setdefault(pair[0].cell, []).append(pair)
    blocks = [[[pair] for pair in group] for group in groups.values()]
    names = [(_player(group[0][0]), _game(group[0][0])) for group in groups.values()]
    return _changes(names, blocks, level)


def _overall(pairs: Sequence[Pair], level: float) -> tuple[Change, ...]:
    """One line an attack: a block is a repetition of a seed, over all its games."""
    attacks: dict[str, dict[tuple[int, int], list[Pair]]] = {}
    for pair in pairs:
        row = pair[0]
        attacks.setdefault(_player(row), {}).setdefault((row.seed, row.rep), []).append(pair)
    names = [(attack, "all games") for attack in attacks]
    return _changes(names, [list(blocks.values()) for blocks in attacks.values()], level)


def _changes(
    names: Sequence[tuple[str, str]], groups: Sequence[Sequence[Sequence[Pair]]], level: float
) -> tuple[Change, ...]:
    sums = [[sum(_difference(pair) for pair in block) for block in blocks] for blocks in groups]
    p_values = [sign_flip(found) for found in sums]
    return tuple(
        _change(name, blocks, p, adjusted, level)
        for name, blocks, p, adjusted in zip(names, groups, p_values, holm(p_values), strict=True)
    )


def _change(
    name: tuple[str, str], blocks: Sequence[Sequence[Pair]], p: float, adjusted: float, level: float
) -> Change:
    pairs = [pair for block in blocks for pair in block]
    difference = fmean(_difference(pair) for pair in pairs)
    half = _half_width([fmean(_difference(pair) for pair in block) for block in blocks])
    before, after = (sum(pair[side].seconds for pair in pairs) for side in (0, 1))
    return Change(
        attack=name[0],
        game=name[1],
        games=len(blocks),
        before=fmean(old.successes or 0 for old, _ in pairs),
        after=fmean(new.successes or 0 for _, new in pairs),
        difference=difference,
        low=None if half is None else difference - half,
        high=None if half is None else difference + half,
        p=p,
        adjusted=adjusted,
        verdict=_verdict(pairs, difference, adjusted <= level),
        seconds_ratio=after / before if before > 0 else None,
    )


def _verdict(pairs: Sequence[Pair], difference: float, significant: bool) -> Verdict:
    if not any(_difference(pair) for pair in pairs):
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


def _player(row: Result) -> str:
    return " ".join([row.attack, *(f"{key}={value}" for key, value in row.attack_options.items())])


def _game(row: Result) -> str:
    """The game without attack and repetition, as ``Result.describe`` has it."""
    told = row.describe().removeprefix(f"{_player(row)} on ")
    return told.removesuffix(f", repetition {row.rep}")
