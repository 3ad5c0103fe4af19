"""Figure 5 of Guerra-Balboa 2026: audits at their true ε, as rows of a suite."""

from __future__ import annotations

import csv
import math
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from reconbench.benchmarks.computations.kinds import Curve
from reconbench.benchmarks.computations.rad.audits import AUDITOR, BLACK_BOX, EXACT
from reconbench.benchmarks.suites.suite import find_suite

CURVES: TypeAdapter[Any] = TypeAdapter(Curve)
SMALL = {"compute": "audit-ldp", "values": 20, "trials": 20_000, "confidence": 1 - 1e-4}
TABLE = Path(__file__).parents[3] / "docs" / "audit-ldp.csv"


@pytest.mark.parametrize("epsilon", [1.0, 3.0])
def test_audits_hold_the_true_epsilon(epsilon: float) -> None:
    """An interval misses with a probability of at most 1e-4; a client of twice the ε is caught."""
    curve = CURVES.validate_python({**SMALL, "mechanism": ["grr", "oue", "ss"], "epsilon": epsilon})
    points = list(curve.points("try"))
    assert [point.mechanism for point in points] == ["grr", "oue", "ss"]
    for point in points:
        found = {name: value["mean"] for name, value in point.row().ceilings.items()}
        assert found[f"{EXACT}-low"] <= epsilon <= found.get(f"{EXACT}-high", math.inf)
        assert found[f"{EXACT}-low"] <= found[EXACT]
        assert max(found[BLACK_BOX], found[AUDITOR]) <= epsilon
        assert found[BLACK_BOX] <= found[f"{EXACT}-low"] + 1e-9
        assert point.row().ceilings == point.row().ceilings
    leaky = CURVES.validate_python({**SMALL, "mechanism": "grr", "epsilon": 2 * epsilon})
    (point,) = leaky.points("try")
    assert point.row().ceilings[BLACK_BOX]["mean"] > epsilon


def test_a_point_of_the_suite_is_a_line_of_the_table() -> None:
    points = find_suite("rad-fig5").points()
    with TABLE.open(newline="") as text:
        lines = list(csv.DictReader(text))
    asked = {(line["mechanism"], float(line["epsilon"])) for line in lines}
    assert {(point.mechanism, point.promise.epsilon) for point in points} == asked
    (point,) = (p for p in points if (p.mechanism, p.promise.epsilon) == ("grr", 16.0))
    found = {name: f"{value['mean']:.6g}" for name, value in point.row().ceilings.items()}
    line = {
        each["method"]: each
        for each in lines
        if (each["mechanism"], each["epsilon"]) == ("grr", "16")
    }
    assert found[EXACT] == line["rad-grr"]["estimate"]
    assert found[f"{EXACT}-high"] == line["rad-grr"]["upper"]
    assert found[f"{EXACT}-low"] == line["rad-grr"]["lower"]
    assert (found[BLACK_BOX], found[AUDITOR]) == (
        line["rad-black-box"]["lower"],
        line["ldp-auditor"]["lower"],
    )


def test_an_end_at_infinity_is_left_out_and_bad_blocks_are_refused() -> None:
    sure = CURVES.validate_python({**SMALL, "mechanism": "grr", "epsilon": 30.0, "trials": 100})
    (point,) = sure.points("try")
    assert point.row().ceilings.keys() == {f"{EXACT}-low", BLACK_BOX, AUDITOR}
    for settings, message in (
        ({"mechanism": "rr", "epsilon": 1.0}, "unknown mechanism 'rr'"),
        ({"mechanism": "grr", "epsilon": 1.0, "trials": 0}, "greater than or equal to 1"),
    ):
        with pytest.raises(ValidationError, match=message):
            CURVES.validate_python({**SMALL, **settings})
