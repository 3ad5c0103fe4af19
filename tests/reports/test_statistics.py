"""Tests of paired games: known answers, false-alarm rates as stated, and negative controls."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from reconbench.reports.statistics import holm, sign_flip

GAMES = 20


def enumerated(differences: list[int]) -> float:
    """The slow twin: every pattern of signs."""
    sums = [
        abs(sum(s * d for s, d in zip(signs, differences, strict=True)))
        for signs in product((-1, 1), repeat=len(differences))
    ]
    return sum(each >= abs(sum(differences)) for each in sums) / len(sums)


def test_sign_flip_is_the_share_of_sign_patterns() -> None:
    rng = np.random.default_rng(0)
    for size in (1, 2, 5, 9):
        for _ in range(10):
            differences = rng.integers(-4, 5, size).tolist()
            assert sign_flip(differences) == pytest.approx(enumerated(differences), abs=1e-12)


def test_sign_flip_of_known_differences() -> None:
    assert sign_flip([]) == sign_flip([0, 0]) == sign_flip([3, -3]) == 1.0
    assert sign_flip([1] * GAMES) == pytest.approx(2 * 0.5**GAMES, rel=1e-12)
    assert sign_flip([-7] * GAMES) == pytest.approx(2 * 0.5**GAMES, rel=1e-12)
    assert sign_flip([1, 1, 1, 1, -1]) == pytest.approx(12 / 32)
    assert sign_flip([2, 0, 0, 2]) == 0.5


def test_sign_flip_alarms_as_often_as_it_says_and_no_more() -> None:
    # 2,000 samples without a difference: the share below 5 % exceeds 5 % + 4 standard errors (7 %)
    # by chance less than once in 30,000 seeds.
    rng = np.random.default_rng(1)
    null = rng.binomial(100, 0.5, (2_000, GAMES)) - rng.binomial(100, 0.5, (2_000, GAMES))
    alarms = np.mean([sign_flip(each) <= 0.05 for each in null.tolist()])
    assert 0.03 < alarms < 0.07
    # Negative control: an attack five records better is seen.
    assert np.mean([sign_flip(each) <= 0.05 for each in (null[:200] + 5).tolist()]) > 0.8


def test_holm_by_hand() -> None:
    assert holm([]) == []
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([0.9, 0.001]) == pytest.approx([0.9, 0.002])
    assert holm([0.5, 0.6]) == [1.0, 1.0]
