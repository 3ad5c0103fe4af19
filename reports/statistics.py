"""What the outcomes of paired games say: who is ahead, what is best possible, where the gap lies.

All attacks of a repetition meet the same table and the same noise, so attacks are compared game by
game. Games of one repetition share their table across columns and budgets: tests over many cells
therefore treat a repetition as one block.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import fmean, stdev

import numpy as np
import numpy.typing as npt

from reconbench.benchmarks.store.summary import REFERENCES, Outcomes

Floats = npt.NDArray[np.float64]

REALISTIC, INFORMED = "realistic", "informed"
FLIPS, SEED = 9_999, 20_250_701
EXACT_STEPS = 50_000_000
# Fewer expected hits or misses than this over all games make a cell too certain to be tested.
LEAST_EXPECTED = 5.0
LEAST_GAMES = 5


@dataclass(frozen=True)
class Cell:
    """A column at a budget."""

    dataset: str
    column: str
    values: int
    epsilon: float

    @classmethod
    def of(cls, each: Outcomes) -> Cell:
        return cls(each.dataset, each.column, each.values, each.epsilon)

    @property
    def binary(self) -> bool:
        return self.values == 2


def sign_flip(differences: Iterable[int]) -> float:
    """The two-sided p-value of paired whole-number differences, exact for any sample size.

    If neither of a pair is favoured, every sign of every difference is equally likely: p is the
    share of the 2^m sign patterns whose sum is at least as far from 0 as the one observed. Only
    where that takes more than ``EXACT_STEPS`` additions (a thousand repetitions of a million
    records) p comes from seeded random patterns.
    """
    found = [int(each) for each in differences]
    reach, observed = sum(map(abs, found)), abs(sum(found))
    if reach * len(found) > EXACT_STEPS:
        return _sampled_sign_flip(found)
    chances = np.zeros(2 * reach + 1)
    chances[reach] = 1.0
    for step in (abs(each) for each in found if each):
        moved = np.zeros_like(chances)
        moved[step:] += chances[:-step] / 2
        moved[:-step] += chances[step:] / 2
        chances = moved
    if observed == 0:
        return 1.0
    tail = float(chances[reach + observed :].sum())
    return min(1.0, 2 * tail)


def _sampled_sign_flip(differences: Sequence[int]) -> float:
    sizes, observed = np.abs(np.array(differences, dtype=np.float64)), abs(sum(differences))
    signs = np.random.default_rng(SEED).choice([-1.0, 1.0], size=(FLIPS, len(sizes)))
    beyond = int((np.abs(signs @ sizes) >= observed * (1 - 1e-12)).sum())
    return (1 + beyond) / (1 + FLIPS)


def holm(p_values: Sequence[float]) -> list[float]:
    """p-values adjusted for all comparisons made (Holm 1979): below α with family-wise rate α."""
    adjusted, largest = [1.0] * len(p_values), 0.0
    for rank, place in enumerate(sorted(range(len(p_values)), key=lambda i: p_values[i])):
        largest = max(largest, min(1.0, (len(p_values) - rank) * p_values[place]))
        adjusted[place] = largest
    return adjusted


@dataclass(frozen=True)
class Comparison:
    """The reference attack less another on one cell; ``adjusted`` by Holm over all comparisons."""

    cell: Cell
    other: str
    games: int
    mean: float
    error: float | None
    p: float
    adjusted: float


def comparisons(found: Sequence[Outcomes], reference: str) -> list[Comparison]:
    """The realistic reference against every other attack, on every cell that both played."""
    pairs = _pairs(found, reference)
    p_values = [sign_flip(by_rep.values()) for _, _, by_rep in pairs]
    return [
        Comparison(
            cell,
            other,
            len(by_rep),
            fmean(by_rep.values()),
            _error(list(by_rep.values())),
            p,
            adjusted,
        )
        for (cell, other, by_rep), p, adjusted in zip(pairs, p_values, holm(p_values), strict=True)
    ]


@dataclass(frozen=True)
class BlockTest:
    """The reference less another attack, mean over cells; a repetition is one block."""

    other: str
    cells: int
    blocks: int
    mean: float
    error: float | None
    p: float


def block_tests(
    found: Sequence[Outcomes], reference: str, chosen: Callable[[Cell], bool] = lambda cell: True
) -> list[BlockTest]:
    """One test an attack over the chosen cells, exact by flipping whole repetitions."""
    by_other: dict[str, list[dict[int, int]]] = {}
    for cell, other, by_rep in _pairs(found, reference):
        if chosen(cell):
            by_other.setdefault(other, []).append(by_rep)
    return [_block_test(other, cells) for other, cells in by_other.items()]


def _block_test(other: str, cells: Sequence[dict[int, int]]) -> BlockTest:
    reps = sorted({rep for by_rep in cells for rep in by_rep})
    blocks = [[by_rep[rep] for by_rep in cells if rep in by_rep] for rep in reps]
    return BlockTest(
        other,
        len(cells),
        len(blocks),
        fmean(each for block in blocks for each in block),
        _error([fmean(block) for block in blocks]),
        sign_flip(sum(block) for block in blocks),
    )


def _pairs(found: Sequence[Outcomes], reference: str) -> list[tuple[Cell, str, dict[int, int]]]:
    """Reference less other by repetition, for each cell and other attack with games in common."""
    ours = {Cell.of(each): each for each in realistic(found) if each.attack == reference}
    pairs = []
    for each in realistic(found):
        mine = ours.get(Cell.of(each))
        if mine is None or each.attack == reference:
            continue
        theirs = dict(zip(each.reps, each.successes, strict=True))
        by_rep = {
            rep: got - theirs[rep]
            for rep, got in zip(mine.reps, mine.successes, strict=True)
            if rep in theirs
        }
        if by_rep:
            pairs.append((Cell.of(each), each.attack, by_rep))
    return pairs


@dataclass(frozen=True)
class Calibration:
    """What the best possible attack expected on a cell, and what it got, where it converged.

    ``z`` is Σ d / √Σ d² over the games' differences d of success and expectation, whose spread has
    both errors in it; None for a cell that is too certain or has too few games to be tested.
    """

    cell: Cell
    games: int
    unconverged: int
    expected: float
    expected_error: float
    success: float
    success_error: float | None
    differences: dict[int, float]
    z: float | None


def calibrations(found: Sequence[Outcomes], adversary: str = REALISTIC) -> list[Calibration]:
    return [
        _calibration(each)
        for each in found
        if each.adversary == adversary and each.attack == REFERENCES[adversary] and each.best
    ]


def _calibration(each: Outcomes) -> Calibration:
    trusted = [
        (rep, got, best)
        for rep, got, best in zip(each.reps, each.successes, each.best, strict=True)
        if rep not in each.unconverged
    ]
    games = trusted or list(zip(each.reps, each.successes, each.best, strict=True))
    differences = {rep: got - best for rep, got, best in games}
    spread = sqrt(sum(d * d for d in differences.values()))
    hits = sum(best for _, _, best in trusted)
    fewest = min(hits, each.n * len(trusted) - hits)
    tested = len(trusted) >= LEAST_GAMES and fewest >= LEAST_EXPECTED and spread > 0
    return Calibration(
        cell=Cell.of(each),
        games=len(each.reps),
        unconverged=len(each.unconverged),
        expected=fmean(best for _, _, best in games),
        expected_error=each.best_error or 0.0,
        success=fmean(got for _, got, _ in games),
        success_error=_error([got for _, got, _ in games]),
        differences=differences,
        z=sum(differences.values()) / spread if tested else None,
    )


@dataclass(frozen=True)
class ChiSquare:
    """Σ z² over cells: about their number if every expectation is right."""

    statistic: float
    cells: int
    p: float


def chi_square(found: Sequence[Calibration]) -> ChiSquare:
    """Are all expectations right? p by flipping the signs of whole repetitions, seeded.

    A flip turns the differences of every cell in that repetition, so that what cells of one table
    have in common does not count as evidence. Exact for differences that spread alike to both
    sides; with a skewness of 1, 20 games a cell and 26 cells, 5 % become 8 %.
    """
    tested = [each for each in found if each.z is not None]
    if not tested:
        return ChiSquare(0.0, 0, 1.0)
    reps = sorted({rep for each in tested for rep in each.differences})
    scaled = np.array([[each.differences.get(rep, 0.0) for rep in reps] for each in tested])
    scaled /= np.sqrt((scaled**2).sum(axis=1, keepdims=True))
    signs = np.random.default_rng(SEED).choice([-1.0, 1.0], size=(FLIPS, len(reps)))
    statistic = float((scaled.sum(axis=1) ** 2).sum())
    flipped: Floats = ((signs @ scaled.T) ** 2).sum(axis=1)
    beyond = int((flipped >= statistic * (1 - 1e-12)).sum())
    return ChiSquare(statistic, len(tested), (1 + beyond) / (1 + FLIPS))


@dataclass(frozen=True)
class Split:
    """Expected successes on a cell from the prior up to the published ceiling.

    ``weak`` is the attack that is asked about, ``realistic`` and ``informed`` the best possible
    for each adversary, ``exact`` the prior-exact ceiling on the mean, ``published_50`` and ``_95``
    those of Theorem 3.5. The lead of the reference attack over the weak one is taken game by game,
    and ``weak`` is that much below ``realistic``: the luck of the tables, which both share, is left
    out. ``fallback`` tells that ``realistic`` is the mean success of the reference attack instead,
    since its computation did not converge in all games.
    """

    cell: Cell
    games: int
    prior: float
    weak: float
    realistic: float
    informed: float
    exact: float
    published_50: float
    published_95: float
    fallback: bool
    attack_by_rep: dict[int, float]
    threat_by_rep: dict[int, float]

    @property
    def attack(self) -> float:
        return self.realistic - self.weak

    @property
    def threat(self) -> float:
        return self.informed - self.realistic

    @property
    def bound(self) -> float:
        return self.published_50 - self.informed

    @property
    def slack(self) -> float:
        """The part of ``bound`` that even the prior-exact ceiling leaves."""
        return self.exact - self.informed

    @property
    def avoidable(self) -> float:
        """The part of ``bound`` that the prior-exact ceiling removes."""
        return self.published_50 - self.exact

    @property
    def gap(self) -> float:
        return self.published_50 - self.weak


def splits(found: Sequence[Outcomes], weak: str) -> list[Split]:
    """Every cell on which the weak attack and both references played, over their common games."""
    by_role = {(each.adversary, each.attack, Cell.of(each)): each for each in found}
    parts = []
    for each in realistic(found):
        if each.attack != weak:
            continue
        cell = Cell.of(each)
        ours = by_role.get((REALISTIC, REFERENCES[REALISTIC], cell))
        other = by_role.get((INFORMED, REFERENCES[INFORMED], cell))
        if ours is not None and other is not None and ours.best and other.best:
            parts += _split(each, ours, other)
    return parts


def _split(weak: Outcomes, ours: Outcomes, other: Outcomes) -> list[Split]:
    reps = [rep for rep in weak.reps if rep in ours.reps and rep in other.reps]
    if not reps or weak.published_50 is None or weak.published_95 is None:
        return []
    fallback = any(rep in ours.unconverged for rep in reps)
    theirs = dict(zip(weak.reps, weak.successes, strict=True))
    got = dict(zip(ours.reps, ours.successes, strict=True))
    lead = {rep: float(got[rep] - theirs[rep]) for rep in reps}
    middle = dict(zip(ours.reps, ours.successes if fallback else ours.best, strict=True))
    high = dict(zip(other.reps, other.best, strict=True))
    exact = dict(zip(other.reps, other.exact, strict=True))
    return [
        Split(
            cell=Cell.of(weak),
            games=len(reps),
            prior=weak.prior,
            weak=fmean(middle[rep] - lead[rep] for rep in reps),
            realistic=fmean(middle[rep] for rep in reps),
            informed=fmean(high[rep] for rep in reps),
            exact=fmean(exact[rep] for rep in reps),
            published_50=weak.published_50,
            published_95=weak.published_95,
            fallback=fallback,
            attack_by_rep=lead,
            threat_by_rep={rep: high[rep] - middle[rep] for rep in reps},
        )
    ]


def block_error(by_cell: Sequence[dict[int, float]]) -> float | None:
    """The standard error of a mean over cells and repetitions, a repetition being one block."""
    reps = sorted({rep for each in by_cell for rep in each})
    return _error([fmean(each[rep] for each in by_cell if rep in each) for rep in reps])


@dataclass(frozen=True)
class Tightness:
    """The informed optimum against the prior-exact ceiling on the mean, over the same games."""

    cell: Cell
    games: int
    prior: float
    success: float
    optimum: float
    exact: float
    difference: float
    error: float | None

    @property
    def z(self) -> float | None:
        return self.difference / self.error if self.error else None


def tightness(found: Sequence[Outcomes]) -> list[Tightness]:
    return [
        Tightness(
            cell=Cell.of(each),
            games=len(each.reps),
            prior=each.prior,
            success=fmean(each.successes),
            optimum=fmean(each.best),
            exact=fmean(each.exact),
            difference=fmean(each.best) - fmean(each.exact),
            error=_error([a - b for a, b in zip(each.best, each.exact, strict=True)]),
        )
        for each in found
        if each.adversary == INFORMED and each.attack == REFERENCES[INFORMED] and each.best
    ]


def realistic(found: Sequence[Outcomes]) -> list[Outcomes]:
    return [each for each in found if each.adversary == REALISTIC and each.reps]


def _error(values: Sequence[float]) -> float | None:
    return stdev(values) / sqrt(len(values)) if len(values) > 1 else None
