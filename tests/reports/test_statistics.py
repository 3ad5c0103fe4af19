"""Statistics of paired games: known answers, false-alarm rates as stated, and negative controls."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import numpy as np
import pytest

from reconbench.benchmarks.store.summary import Outcomes
from reconbench.reports.statistics import (
    Cell,
    block_error,
    block_tests,
    calibrations,
    chi_square,
    comparisons,
    holm,
    sign_flip,
    splits,
    tightness,
)

Make = Callable[..., Outcomes]
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


def test_comparisons_are_paired_by_repetition(make: Make) -> None:
    ours = make("posterior", (50, 60, 70), reps=(0, 1, 2))
    other = make("rap", (69, 48), reps=(2, 0))
    apart = make("rap", (10,), epsilon=3.0)
    informed = make("informed", (90, 90, 90), adversary="informed")
    (found,) = comparisons([ours, other, apart, informed], "posterior")
    assert (found.cell, found.other, found.games) == (Cell.of(ours), "rap", 2)
    assert found.mean == 1.5
    assert found.error == pytest.approx(0.5)
    assert found.p == found.adjusted == 0.5


def test_holm_spans_all_comparisons(make: Make) -> None:
    rows = [make("posterior", (51,) * 10)]
    rows += [make(attack, (50,) * 10) for attack in ("a", "b", "c")]
    assert {each.adjusted for each in comparisons(rows, "posterior")} == {3 * 2 * 0.5**10}


def test_family_wise_false_alarms_and_a_control(make: Make) -> None:
    # 300 suites of 12 comparisons without any difference: at most 5 % of the suites may alarm;
    # 5 % + 4 standard errors is 10 %.
    rng = np.random.default_rng(2)

    def alarms(lead: int) -> bool:
        rows = []
        for column in map(str, range(4)):
            counts = rng.binomial(100, 0.5, (4, GAMES)).tolist()
            rows.append(make("posterior", tuple(c + lead for c in counts[0]), column=column))
            rows += [
                make(name, tuple(each), column=column)
                for name, each in zip("abc", counts[1:], strict=True)
            ]
        return any(each.adjusted < 0.05 for each in comparisons(rows, "posterior"))

    assert np.mean([alarms(0) for _ in range(300)]) < 0.10
    assert all(alarms(8) for _ in range(20))


def test_a_repetition_is_one_block(make: Make) -> None:
    lead = (3, 1, 2, -1, 2, 4, 1, 3)
    rows = []
    for column in map(str, range(6)):
        rows.append(make("posterior", tuple(50 + each for each in lead), column=column))
        rows.append(make("rap", (50,) * 8, column=column))
    (found,) = block_tests(rows, "posterior")
    (single,) = block_tests(rows, "posterior", lambda cell: cell.column == "0")
    # Six copies of one cell are no more evidence than that cell.
    assert (found.p, found.mean, found.error) == (single.p, single.mean, single.error)
    assert (found.cells, found.blocks, single.cells) == (6, 8, 1)
    assert single.p == pytest.approx(sign_flip(lead))


def played(make: Make, rng: np.random.Generator, shift: float, **more: object) -> Outcomes:
    chances = rng.uniform(0.4, 0.8, GAMES)
    got = tuple(int(each) for each in rng.binomial(100, chances))
    return make("posterior", got, best=tuple(100 * chances + shift), best_error=0.1, **more)


def test_calibration_of_known_games(make: Make) -> None:
    row = make(
        "posterior",
        (52, 48, 50, 53, 47, 99),
        best=(50.0, 50.0, 50.0, 51.0, 49.0, 0.0),
        unconverged=(5,),
        best_error=0.25,
    )
    (found,) = calibrations([row])
    assert (found.expected, found.success, found.expected_error) == (50.0, 50.0, 0.25)
    assert (found.games, found.unconverged) == (6, 1)
    assert found.z == 0.0
    (moved,) = calibrations([make("posterior", (51,) * 9, best=(50.0,) * 9)])
    assert moved.z == pytest.approx(3.0)


def test_too_certain_too_few_and_other_attacks_are_not_tested(make: Make) -> None:
    certain = make("posterior", (100,) * 20, best=(99.9,) * 20)
    few = make("posterior", (50,) * 4, best=(51.0,) * 4)
    unsure = make("posterior", (50,) * 9, best=(51.0,) * 9, unconverged=tuple(range(9)))
    for row in (certain, few, unsure):
        (found,) = calibrations([row])
        assert found.z is None
    assert calibrations([make("mine", (1,), best=(2.0,))]) == []
    assert chi_square(calibrations([certain])).cells == 0


def test_chi_square_alarms_as_stated_and_sees_a_wrong_expectation(make: Make) -> None:
    # 200 suites of 5 calibrated cells: 5 % + 4 standard errors is 11 %.
    rng = np.random.default_rng(3)

    def p(shift: float) -> float:
        rows = [played(make, rng, shift, column=str(each)) for each in range(5)]
        return chi_square(calibrations(rows)).p

    null = np.array([p(0.0) for _ in range(200)])
    assert 0.01 < np.mean(null <= 0.05) < 0.11
    assert np.mean([p(4.0) <= 0.05 for _ in range(20)]) > 0.9


def test_chi_square_of_skewed_differences_alarms_little_more(make: Make) -> None:
    # Skewness −1, as when shared noise fools many guesses at once: 8 % of 150 suites instead of
    # 5 %; 8 % + 4 standard errors is 17 %.
    rng = np.random.default_rng(5)

    def p() -> float:
        moved = np.rint(60 - 3 * (rng.gamma(4.0, 1.0, (6, GAMES)) - 4.0)).astype(int)
        rows = [
            make("posterior", tuple(each), best=(60.0,) * GAMES, column=str(place))
            for place, each in enumerate(moved.tolist())
        ]
        return chi_square(calibrations(rows)).p

    assert np.mean([p() <= 0.05 for _ in range(150)]) < 0.17


def test_copies_of_a_cell_add_no_evidence_of_miscalibration(make: Make) -> None:
    row = played(make, np.random.default_rng(4), 2.0)
    one, many = (chi_square(calibrations([row] * copies)) for copies in (1, 9))
    assert many.statistic == pytest.approx(9 * one.statistic)
    assert many.p == one.p


def test_the_gap_is_split_without_a_rest(make: Make) -> None:
    # The reference got 49 where it expected 48: the games were lucky by one record, for rap too.
    rows = [
        make("rap", (42, 44), prior=45.0),
        make("posterior", (49, 49), best=(46.0, 50.0), exact=(60.0, 62.0)),
        make(
            "informed",
            (50, 58, 99),
            adversary="informed",
            best=(53.0, 55.0, 99.0),
            exact=(60.0, 62.0, 100.0),
        ),
    ]
    (found,) = splits(rows, "rap")
    assert (found.prior, found.weak, found.realistic, found.informed) == (45, 42, 48, 54)
    assert (found.exact, found.published_50, found.published_95) == (61, 80, 86)
    assert (found.attack, found.threat, found.bound) == (6, 6, 26)
    assert (found.slack, found.avoidable) == (7, 19)
    assert found.attack + found.threat + found.bound == found.gap == 38
    assert found.slack + found.avoidable == found.bound
    assert (found.attack_by_rep, found.threat_by_rep) == ({0: 7, 1: 5}, {0: 7, 1: 5})
    assert not found.fallback and found.games == 2
    assert block_error([{0: 2.0, 1: 2.0}]) == 0
    assert block_error([{0: 2.0}]) is None
    assert block_error([found.threat_by_rep] * 3) == pytest.approx(1.0)
    assert splits(rows[:2], "rap") == splits(rows, "linear") == []


def test_success_stands_in_for_an_optimum_that_did_not_converge(make: Make) -> None:
    rows = [
        make("rap", (40, 44)),
        make("posterior", (47, 47), best=(46.0, 99.0), exact=(60.0, 62.0), unconverged=(1,)),
        make("informed", (50, 58), adversary="informed", best=(53.0, 55.0), exact=(60.0, 62.0)),
    ]
    (found,) = splits(rows, "rap")
    assert (found.weak, found.realistic, found.fallback) == (42, 47, True)


def test_tightness_is_over_all_informed_games(make: Make) -> None:
    row = make("informed", (50, 54), adversary="informed", best=(51.0, 55.0), exact=(52.0, 54.0))
    (found,) = tightness([row, make("posterior", (1,), best=(1.0,), exact=(1.0,))])
    assert (found.optimum, found.exact, found.success) == (53, 53, 52)
    assert found.difference == found.z == 0
    assert found.error == pytest.approx(1.0)
    assert found.cell.binary
