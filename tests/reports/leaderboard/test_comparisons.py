"""One test per pair of attacks over a suite: blocks are tables, and false alarms are rare."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from reconbench.benchmarks.store.summary import Summary
from reconbench.reports.leaderboard.comparisons import AttackComparison, compare_attacks
from reconbench.reports.leaderboard.ranking import rank_attacks
from reconbench.reports.statistics import flip_blocks


def with_gains(row: Summary, attack: str, gains: list[float], **changes: object) -> Summary:
    scores = {rep: (50 + gain, 50.0) for rep, gain in enumerate(gains)}
    mean = 50 + float(np.mean(gains)) if gains else None
    return replace(row, attack=attack, scores=scores, expected_success=mean, **changes)  # type: ignore[arg-type]


def find(pairs: list[AttackComparison], one: str, other: str) -> AttackComparison:
    (pair,) = [pair for pair in pairs if {pair.attack, pair.other} == {one, other}]
    return pair


def test_flips_are_all_sign_patterns() -> None:
    rng = np.random.default_rng(0)
    for count in (1, 2, 5, 8):
        totals = rng.normal(size=count)
        flipped = [abs(np.dot(signs, totals)) for signs in product((-1, 1), repeat=count)]
        expected = np.mean(np.array(flipped) >= abs(totals.sum()) - 1e-12)
        assert flip_blocks(totals.tolist()) == pytest.approx(expected)
    assert flip_blocks([]) == flip_blocks([0.0, 0.0]) == 1.0
    many = [1.0] * 40
    assert flip_blocks(many) == pytest.approx(1e-4)


def test_games_on_one_table_are_one_block(summary: Summary) -> None:
    """Ten games that differ in their columns, four tables: the smallest p is 2/2⁴."""
    rows = []
    for column in "abcdefghij":
        game = {"targets": (column,)}
        rows.append(with_gains(summary, "one", [3.0, 4.0, 5.0, 4.0], **game))
        rows.append(with_gains(summary, "two", [1.0, 2.0, 1.0, 2.0], **game))
    (pair,) = compare_attacks(rows)
    assert (pair.attack, pair.other, pair.cells, pair.tables) == ("one", "two", 10, 4)
    assert pair.p == pair.adjusted == pytest.approx(2 / 16) and not pair.is_ahead
    assert pair.mean == pytest.approx(100 * 2.5 / summary.n)
    # the mean of four tables, each with ten equal games: Student's t with 3 degrees of freedom
    half = 3.182446 * np.std([2, 2, 4, 2], ddof=1) / 2 * 100 / summary.n
    assert pair.low == pytest.approx(pair.mean - half) and pair.high == pytest.approx(
        pair.mean + half
    )
    other = pair.reverse()
    assert (other.attack, other.mean, other.low) == ("two", -pair.mean, -(pair.high or 0))


def test_ranks_follow_the_comparisons(summary: Summary) -> None:
    rng = np.random.default_rng(1)
    luck = rng.normal(size=12)
    rows = [
        with_gains(summary, "strong", (5 + luck).tolist()),
        with_gains(summary, "twin", (5 + luck + rng.normal(0, 0.1, 12)).tolist()),
        with_gains(summary, "weak", (1 + luck).tolist()),
        with_gains(summary, "failed", []),
    ]
    pairs = compare_attacks(rows)
    assert len(pairs) == 6 and find(pairs, "strong", "weak").is_ahead
    assert not find(pairs, "strong", "twin").is_ahead
    # what did not finish counts as the prior's guess
    assert find(pairs, "strong", "failed").mean == pytest.approx(
        100 * (5 + luck.mean()) / rows[0].n
    )
    bounded = [replace(row, ceilings={"prior-exact": {"mean": 60.0}}) for row in rows]
    ranks = {attack.attack: attack.rank for attack in rank_attacks(bounded, pairs)}
    assert ranks["strong"] == ranks["twin"] == 1 and ranks["weak"] == 3
    assert ranks["failed"] is None


def test_equal_attacks_are_rarely_told_apart(summary: Summary) -> None:
    """Of 400 suites without a difference 5 % may alarm: more than 37 happen once in 1,000."""
    rng = np.random.default_rng(2)
    alarms = 0
    for _ in range(400):
        gains = rng.normal(size=(2, 8))
        rows = [with_gains(summary, str(i), own.tolist()) for i, own in enumerate(gains)]
        alarms += compare_attacks(rows)[0].adjusted <= 0.05
    assert alarms <= 37
    shifted = [with_gains(summary, str(i), (own + 3 * i).tolist()) for i, own in enumerate(gains)]
    assert compare_attacks(shifted)[0].is_ahead
