"""Errata: every printed statement is contradicted by its case, every corrected one is not."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from generate.errata import ERRATA, main

PAGE = Path(__file__).parents[2] / "docs" / "reproduction.md"
TOO_LOW = (
    "swanberg-4.2",
    "swanberg-3.2",
    "swanberg-3.5",
    "kulynych-D.1",
    "kulynych-B.1",
    "guerra-balboa-5.2",
    "guerra-balboa-5.3",
    "guerra-balboa-4.4",
    "guerra-balboa-4.5",
    "riess-IV.6",
    "riess-A.2",
)


def case_of(name: str) -> Any:
    return ERRATA[name]()


@pytest.mark.parametrize("name", TOO_LOW)
def test_a_printed_upper_bound_is_exceeded_and_the_corrected_one_is_not(name: str) -> None:
    case = case_of(name)
    assert case["printed"] < case["true"] - 1e-3
    assert case.get("corrected", 1.0) >= case["true"] - 1e-12


@pytest.mark.parametrize("name", ["guerra-balboa-eq5", "guerra-balboa-4.7"])
def test_a_printed_equality_is_only_an_upper_bound(name: str) -> None:
    case = case_of(name)
    assert case["printed"] > case["true"] + 1e-3


def test_the_guess_of_theorem_3_5_is_a_distribution_with_the_stated_guarantee() -> None:
    case = case_of("swanberg-3.5")
    none, one, both = case["none_wrong"], case["one_wrong"], case["both_wrong"]
    assert none + 2 * one + both == pytest.approx(1.0)
    # δ(1) = Σ max(0, p − e p') over the four guesses, of tables that differ in one bit
    pairs = ((none, one), (one, none), (one, both), (both, one))
    assert sum(max(0.0, p - math.e * other) for p, other in pairs) == pytest.approx(0.1)
    assert case["true"] > case["doubled"] > case["printed"]


def test_the_other_cases() -> None:
    census = case_of("kulynych-1")
    assert census["corrected"] > 1000 * census["printed"]
    coin = case_of("kulynych-D.1")
    assert coin["coin_printed"] < coin["coin_true"] == pytest.approx(coin["coin_corrected"])
    power = case_of("yildirim-3")
    assert power["printed"] < 1e-3 < power["corrected"]
    hits = case_of("riess-IV-C")
    assert hits["printed"] < 1e-20 and hits["corrected"] == pytest.approx(1.0)
    too_few, needed = case_of("riess-IV.1")
    assert too_few["true"] > 4 > 1.1 > needed["true"]
    assert too_few["true"] == pytest.approx(too_few["law"], rel=0.05)
    known, assumed = case_of("riess-figure-4").values()
    assert known[0] == pytest.approx(known[1], rel=0.05) and assumed[0] > 100 > 2 > assumed[1]


def test_every_case_has_a_name_on_the_page() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert all(f"`{name}`" in page for name in ERRATA)


def test_a_reader_can_run_a_case(capsys: pytest.CaptureFixture[str]) -> None:
    main(["swanberg-4.2"])
    assert '"printed": 0.576' in capsys.readouterr().out
    with pytest.raises(SystemExit, match="no erratum 'swanberg'; NAME is one of"):
        main(["swanberg"])
