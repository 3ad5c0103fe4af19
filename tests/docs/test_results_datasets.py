"""The part of the results page on many data sets follows from its data."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from generate.results_data import COLUMNS, FILE
from generate.results_datasets import describe_datasets
from generate.results_page import Results, main, render_page

Line = dict[str, Any]
Make = Callable[..., Line]
WOBBLE = (2, -2, 1, -1, 3, -3, 0, 1)


def cell(make: Make, rap: int, posterior: int, informed: float, **more: Any) -> list[Line]:
    """Eight games; the optimum is what posterior gets, the prior-exact ceiling 60."""
    best = {"best_error": 0.05, "exact": (60.0,) * 8}
    return [
        make("prior", tuple(38 + w for w in WOBBLE), **more),
        make("rap", tuple(rap + w for w in WOBBLE), **more),
        make(
            "posterior",
            tuple(posterior + w for w in WOBBLE),
            best=(float(posterior),) * 8,
            **best,
            **more,
        ),
        make(
            "informed",
            tuple(50 + w for w in WOBBLE),
            best=(informed,) * 8,
            **best,
            **{**more, "adversary": "informed"},
        ),
    ]


def results_of(lines: list[Line]) -> Results:
    return Results(pd.DataFrame(lines, columns=COLUMNS))


@pytest.fixture
def lines(make: Make) -> list[Line]:
    """A weak attack on one data set with two columns; a loose bound on two others."""
    return [
        *cell(make, 5, 45, 50.0, dataset="weak", column="A|B"),
        *cell(make, 5, 45, 50.0, dataset="weak", column="C"),
        *cell(make, 40, 42, 45.0, dataset="bn:loose"),
        *cell(make, 42, 42, 45.0, dataset="same"),
    ]


def page_of(lines: list[Line]) -> str:
    return " ".join(render_page(results_of(lines), results_of(lines)).split())


def test_every_data_set_counts_alike(lines: list[Line]) -> None:
    found = describe_datasets(results_of(lines), "posterior", "rap")
    by_name = {line["dataset"]: line for line in found["lines"]}
    assert by_name["weak"]["attack"] == 40 and by_name["bn:loose"]["attack"] == 2
    # (40 + 2 + 0) / 3: two columns of one data set are no two data sets
    assert found["overall"]["attack"] == pytest.approx(14)
    assert found["overall"]["gap"] == pytest.approx((75 + 40 + 38) / 3)
    assert found["largest"] == {"attack": 1, "threat": 0, "bound": 2}
    assert by_name["weak"]["columns"] == ["A|B", "C"]


def test_the_lead_is_tested_on_every_data_set(lines: list[Line]) -> None:
    found = describe_datasets(results_of(lines), "posterior", "rap")
    assert {line["dataset"] for line in found["ahead"]} == {"weak", "bn:loose"}
    assert found["behind"] == []
    worse = [
        line | {"successes": tuple(60 + w for w in WOBBLE)}
        if (line["attack"], line["dataset"]) == ("rap", "same")
        else line
        for line in lines
    ]
    found = describe_datasets(results_of(worse), "posterior", "rap")
    assert [line["dataset"] for line in found["behind"]] == ["same"]


def test_expected_scores_are_used_where_all_rows_have_them(lines: list[Line]) -> None:
    """The same means without the luck of the draws: a lead of half a record is no chance then."""
    scored = [
        line
        | {"expected": tuple(40 + 0.5 * (line["attack"] == "posterior") + 0.1 * w for w in WOBBLE)}
        for line in lines
    ]
    frame = pd.DataFrame(scored, columns=COLUMNS)
    found = describe_datasets(Results(frame, expected=True), "posterior", "rap")
    assert len(found["ahead"]) == 3
    assert {round(line["lead"], 6) for line in found["lines"]} == {0.5}
    drawn = describe_datasets(Results(frame), "posterior", "rap")
    assert len(drawn["ahead"]) == 2
    partly = pd.DataFrame([scored[0] | {"expected": ()}, *scored[1:]], columns=COLUMNS)
    half = describe_datasets(Results(partly, expected=True), "posterior", "rap")
    assert half["overall"] == drawn["overall"]


def test_the_page_states_it(lines: list[Line]) -> None:
    text = page_of(lines)
    assert "## Other data sets" in text and "of 3 data sets" in text
    assert "the bound on 2 of the 3 data sets, the attack on 1 of the 3 data sets" in text
    assert "ahead of RAP by more than chance explains on 2 of the 3 data sets" in text
    assert "behind on none of the 3 data sets" in text
    row = re.search(r"\| weak \|(.*?)\| attack \|", text)
    assert row and "&#124;" in row[1] and "| 40.0 ± 0.00 | 5.0 ± 0.00 | 30.0" in row[1]
    assert "## Other data sets" not in " ".join(render_page(results_of(lines)).split())


def test_games_without_an_optimum_are_named(lines: list[Line], make: Make) -> None:
    text = page_of([*lines, *cell(make, 40, 42, 45.0, dataset="half")[:3]])
    assert "Without both optima, and left out: half." in text
    assert "Without both optima" not in page_of(lines)


def test_the_script_takes_both_files(lines: list[Line], tmp_path: Path) -> None:
    data = tmp_path / "data.csv"
    data.write_text(FILE.to_csv(pd.DataFrame(lines, columns=COLUMNS)))
    out = tmp_path / "docs"
    assert main([str(data), "--datasets", str(data), "--out", str(out)]) == 0
    assert "## Other data sets" in (out / "results.md").read_text(encoding="utf-8")
    assert main([str(data), "--datasets", str(tmp_path / "none.csv"), "--out", str(out)]) == 1
