"""Statistics of the results page: known answers, false-alarm rates as stated, negative controls."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

from generate.results_data import COLUMNS, split_games
from generate.results_statistics import (
    calibrate,
    chi_square,
    compare_by_cell,
    compare_over_cells,
    compute_leads,
    compute_levels,
    estimate_block_error,
    measure_tightness,
    split_gap,
)
from reconbench.reports.statistics import sign_flip

Line = dict[str, Any]
Make = Callable[..., Line]
GAMES = 20


def games_of(*lines: Line) -> pd.DataFrame:
    return split_games(pd.DataFrame(lines, columns=COLUMNS))


def leads_of(*lines: Line) -> pd.Series[float]:
    return compute_leads(games_of(*lines), "posterior")


def only(frame: pd.DataFrame) -> Any:
    """The single row of a frame."""
    assert len(frame) == 1
    return frame.iloc[0]


def test_comparisons_are_paired_by_repetition(make: Make) -> None:
    ours = make("posterior", (50, 60, 70), reps=(0, 1, 2))
    other = make("rap", (69, 48), reps=(2, 0))
    apart = make("rap", (10,), epsilon=3.0)
    informed = make("informed", (90, 90, 90), adversary="informed")
    compared = compare_by_cell(leads_of(ours, other, apart, informed))
    row = only(compared)
    assert (compared.index[0], row["games"], row["mean"]) == ((0, "rap"), 2, 1.5)
    assert row["error"] == pytest.approx(0.5)
    assert row["p"] == row["adjusted"] == 0.5


def test_holm_spans_all_comparisons(make: Make) -> None:
    rows = [make("posterior", (51,) * 10)]
    rows += [make(attack, (50,) * 10) for attack in ("a", "b", "c")]
    assert set(compare_by_cell(leads_of(*rows))["adjusted"]) == {3 * 2 * 0.5**10}


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
        return bool((compare_by_cell(leads_of(*rows))["adjusted"] < 0.05).any())

    assert np.mean([alarms(0) for _ in range(300)]) < 0.10
    assert all(alarms(8) for _ in range(20))


def test_a_repetition_is_one_block(make: Make) -> None:
    lead = (3, 1, 2, -1, 2, 4, 1, 3)
    rows = []
    for column in map(str, range(6)):
        rows.append(make("posterior", tuple(50 + each for each in lead), column=column))
        rows.append(make("rap", (50,) * 8, column=column))
    leads = leads_of(*rows)
    every, single = only(compare_over_cells(leads)), only(compare_over_cells(leads.loc[[0]]))
    # Six copies of one cell are no more evidence than that cell.
    assert every.to_dict() == single.to_dict()
    assert len(leads) == 6 * 8
    assert single["p"] == pytest.approx(sign_flip(lead))


def played(make: Make, rng: np.random.Generator, shift: float, **more: object) -> Line:
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
    found = only(calibrate(games_of(row)))
    assert (found.expected, found.success, found.expected_error) == (50.0, 50.0, 0.25)
    assert (found.games, found.unconverged) == (6, 1)
    assert found.z == 0.0
    moved = only(calibrate(games_of(make("posterior", (51,) * 9, best=(50.0,) * 9))))
    assert moved.z == pytest.approx(3.0)


def test_too_certain_too_few_and_other_attacks_are_not_tested(make: Make) -> None:
    certain = make("posterior", (100,) * 20, best=(99.9,) * 20)
    few = make("posterior", (50,) * 4, best=(51.0,) * 4)
    unsure = make("posterior", (50,) * 9, best=(51.0,) * 9, unconverged=tuple(range(9)))
    assert calibrate(games_of(unsure)).empty
    for row in (certain, few):
        found = only(calibrate(games_of(row)))
        assert np.isnan(found.z)
    assert calibrate(games_of(make("mine", (1,), best=(2.0,)))).empty
    assert chi_square(calibrate(games_of(certain))).cells == 0


def test_chi_square_alarms_as_stated_and_sees_a_wrong_expectation(make: Make) -> None:
    # 200 suites of 5 calibrated cells: 5 % + 4 standard errors is 11 %.
    rng = np.random.default_rng(3)

    def p(shift: float) -> float:
        rows = [played(make, rng, shift, column=str(each)) for each in range(5)]
        return chi_square(calibrate(games_of(*rows))).p

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
        return chi_square(calibrate(games_of(*rows))).p

    assert np.mean([p() <= 0.05 for _ in range(150)]) < 0.17


def test_copies_of_a_cell_add_no_evidence_of_miscalibration(make: Make) -> None:
    row = played(make, np.random.default_rng(4), 2.0)
    one, many = (
        chi_square(calibrate(games_of(*({**row, "column": str(i)} for i in range(copies)))))
        for copies in (1, 9)
    )
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
    levels = compute_levels(games_of(*rows), "rap")
    found = only(split_gap(levels))
    assert (found.prior, found.weak, found.realistic, found.informed) == (45, 42, 48, 54)
    assert (found.exact, found.published_50, found.published_95) == (61, 80, 86)
    assert (found.attack, found.threat, found.bound) == (6, 6, 26)
    assert (found.slack, found.avoidable) == (7, 19)
    assert found.attack + found.threat + found.bound == found.gap == 38
    assert found.slack + found.avoidable == found.bound
    assert levels["attack"].tolist() == levels["threat"].tolist() == [7, 5]
    assert not found.fallback
    assert estimate_block_error(levels["threat"] * 0) == 0
    assert np.isnan(estimate_block_error(levels["threat"].iloc[:1]))
    assert estimate_block_error(levels["threat"]) == pytest.approx(1.0)
    copies = pd.concat(
        {cell: levels["threat"].droplevel("cell") for cell in range(3)}, names=["cell"]
    )
    assert estimate_block_error(copies) == pytest.approx(1.0)
    assert compute_levels(games_of(*rows[:2]), "rap").empty
    assert compute_levels(games_of(*rows), "linear").empty


def test_success_stands_in_for_an_optimum_that_did_not_converge(make: Make) -> None:
    rows = [
        make("rap", (40, 44)),
        make("posterior", (47, 47), best=(46.0, 99.0), exact=(60.0, 62.0), unconverged=(1,)),
        make("informed", (50, 58), adversary="informed", best=(53.0, 55.0), exact=(60.0, 62.0)),
    ]
    found = only(split_gap(compute_levels(games_of(*rows), "rap")))
    assert (found.weak, found.realistic, found.fallback) == (42, 47, True)


def test_tightness_is_over_all_informed_games(make: Make) -> None:
    row = make("informed", (50, 54), adversary="informed", best=(51.0, 55.0), exact=(52.0, 54.0))
    found = only(
        measure_tightness(games_of(row, make("posterior", (1,), best=(1.0,), exact=(1.0,))))
    )
    assert (found.best, found.exact, found.success) == (53, 53, 52)
    assert found.difference == found.z == 0
    assert found.error == pytest.approx(1.0)
