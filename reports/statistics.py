"""Tests of paired games: sign flips, Student's interval, and Holm's correction."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import sqrt
from statistics import stdev

import numpy as np
import numpy.typing as npt
from scipy.special import stdtrit

FLIPS, SEED = 9_999, 20_250_701
EXACT_STEPS = 50_000_000
EXACT_BLOCKS = 16


def sign_flip(differences: Iterable[int]) -> float:
    """Test paired whole-number differences: the two-sided p-value, exact for any sample size.

    If neither of a pair is favoured, every sign of every difference is equally likely: p is the
    share of the 2^m sign patterns whose sum is at least as far from 0 as the one observed. Only
    where that takes more than ``EXACT_STEPS`` additions (a thousand repetitions of a million
    records) does p come from seeded random patterns.
    """
    steps = [int(difference) for difference in differences]
    reach, observed = sum(map(abs, steps)), abs(sum(steps))
    if reach * len(steps) > EXACT_STEPS:
        return _sampled_sign_flip(steps)
    chances = np.zeros(2 * reach + 1)
    chances[reach] = 1.0
    for step in (abs(step) for step in steps if step):
        moved = np.zeros_like(chances)
        moved[step:] += chances[:-step] / 2
        moved[:-step] += chances[step:] / 2
        chances = moved
    if observed == 0:
        return 1.0
    tail = float(chances[reach + observed :].sum())
    return min(1.0, 2 * tail)


def _sampled_sign_flip(differences: Sequence[float]) -> float:
    sizes, observed = np.abs(np.array(differences, dtype=np.float64)), abs(sum(differences))
    signs = np.random.default_rng(SEED).choice([-1.0, 1.0], size=(FLIPS, len(sizes)))
    beyond = int((np.abs(signs @ sizes) >= observed * (1 - 1e-12)).sum())
    return (1 + beyond) / (1 + FLIPS)


def flip_blocks(totals: Sequence[float] | npt.NDArray[np.float64]) -> float:
    """Test the totals of independent blocks: the two-sided p-value of the sign-flip test.

    Exact for up to ``EXACT_BLOCKS`` blocks, from seeded random patterns beyond.
    """
    sizes = np.abs(np.array([total for total in totals if total], dtype=np.float64))
    observed = abs(float(sum(totals)))
    if not sizes.size:
        return 1.0
    if sizes.size <= EXACT_BLOCKS:
        sums = np.zeros(1)
        for size in sizes:
            sums = np.concatenate([sums - size, sums + size])
        return float((np.abs(sums) >= observed * (1 - 1e-12)).mean())
    return _sampled_sign_flip(list(totals))


def find_student_half_width(values: Sequence[float], level: float = 0.95) -> float | None:
    """Half the Student interval of a mean; None for fewer than two values."""
    if len(values) < 2:
        return None
    return float(stdtrit(len(values) - 1, (1 + level) / 2)) * stdev(values) / sqrt(len(values))


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjust p-values for all comparisons made (Holm 1979): below α with family-wise rate α."""
    adjusted, largest = [1.0] * len(p_values), 0.0
    for rank, index in enumerate(sorted(range(len(p_values)), key=lambda i: p_values[i])):
        largest = max(largest, min(1.0, (len(p_values) - rank) * p_values[index]))
        adjusted[index] = largest
    return adjusted
