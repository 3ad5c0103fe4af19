"""The page on synthetic tables: what it says follows from its data, and the committed one does."""

from __future__ import annotations

from math import inf
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from generate.outcome_lists import OutcomesError
from generate.synthetic_data import COLUMNS, FILE, SyntheticDataError
from generate.synthetic_page import (
    INFORMED,
    Outcomes,
    compare_learners,
    compare_with_best,
    main,
    render_page,
    tabulate_gap,
    tabulate_plateau,
)

DOCS = Path(__file__).parents[2] / "docs"
RUN = "run `make synthetic`"
REPS = tuple(range(6))
WOBBLE = (1.0, -1.0, 0.5, -0.5, 0.25, -0.25)
BEST = {"pgm star": (2.0, 10.0, 30.0), "pgm tree": (1.0, 1.0, 1.0)}
EPSILONS = (1.0, 10.0, 100.0)
Line = dict[str, Any]


def line(generator: str, epsilon: float, attack: str, gain: float, **more: object) -> Line:
    best = dict(zip((*EPSILONS, inf), (*BEST.get(generator, ()), 40.0), strict=False)).get(epsilon)
    gains = tuple(gain + w for w in WOBBLE)
    return {
        "dataset": "acs",
        "column": "SEX",
        "generator": generator,
        "rows": 1.0,
        "epsilon": epsilon,
        "access": "table",
        "adversary": "realistic",
        "attack": attack,
        "n": 100,
        "delta": 1e-5,
        "seed": 0,
        "failures": 0,
        "skipped": 0,
        "touching": 15.0 if generator == "pgm star" else 1.0,
        "prior": 56.0,
        "most": 40.0,
        "scored_by": "posterior",
        "reps": REPS,
        "gains": gains,
        "best": () if generator == "mst" else (float(best or 0.0),) * len(REPS),
        "outside": tuple(w / 10 for w in WOBBLE),
        **more,
    }


@pytest.fixture
def lines() -> list[Line]:
    found = []
    for dataset in ("acs", "fire"):
        for generator in (*BEST, "mst"):
            for epsilon in EPSILONS:
                for rows in (1.0, 50.0):
                    more = {"dataset": dataset, "rows": rows}
                    found += [
                        line(generator, epsilon, "prior", 0.0, **more),
                        line(generator, epsilon, "naive-bayes", -20.0, **more),
                        line(generator, epsilon, "naive-bayes-pooled", 3.0, **more),
                        line(generator, epsilon, "stack", 4.0 - 5.0 / rows, **more),
                    ]
                more = {"dataset": dataset, "access": "measurements", "adversary": INFORMED}
                best = (35.0,) * len(REPS)
                found.append(line(generator, epsilon, "informed", 35.0, **more | {"best": best}))
    return found


def outcomes_of(lines: list[Line]) -> Outcomes:
    return Outcomes(pd.DataFrame(lines, columns=COLUMNS))


def test_data_survive_their_file(lines: list[Line]) -> None:
    frame = pd.DataFrame(lines, columns=COLUMNS)
    again = FILE.read_csv(FILE.to_csv(frame))
    assert render_page(again) == render_page(frame)
    with pytest.raises(OutcomesError, match="a file of outcomes has the columns dataset"):
        FILE.read_csv("a,b\n1,2\n")


def test_a_block_is_a_repetition_on_a_data_set(lines: list[Line]) -> None:
    outcomes = outcomes_of(lines)
    gains = outcomes.gains(outcomes.seen, attack="naive-bayes", generator="mst")
    assert set(gains) == {(dataset, rep) for dataset in ("acs", "fire") for rep in REPS}
    assert gains["fire", 1] == pytest.approx(-21.0)
    missing = [one | {"best": ()} if one["epsilon"] == 1 else one for one in lines]
    assert outcomes_of(missing).gains(outcomes_of(missing).seen, "best", attack="prior") == {}


def test_what_rises_is_marked_and_what_does_not_is_not(lines: list[Line]) -> None:
    found = {
        (each["dataset"], each["generator"]): each for each in tabulate_plateau(outcomes_of(lines))
    }
    assert found["acs", "pgm star"]["rises"] and found["fire", "pgm star"]["rises"]
    assert found["acs", "pgm star"]["rise"].mean == pytest.approx(28.0)
    assert not found["acs", "pgm tree"]["rises"]
    assert found["acs", "mst"]["known"] is False and not found["acs", "mst"]["rises"]


def test_learners_are_tested_in_pairs(lines: list[Line]) -> None:
    tests = compare_learners(outcomes_of(lines))
    assert {len(each) for each in tests.values()} == {3}
    assert all(test["significant"] and test["mean"] < 0 for test in tests["raw"])
    assert all(test["significant"] and test["mean"] > 0 for test in tests["against raw"])
    assert all(test["significant"] and test["mean"] > 0 for test in tests["against prior"])
    same = [one | {"gains": WOBBLE} if "naive" in one["attack"] else one for one in lines]
    assert not any(
        test["significant"]
        for each in compare_learners(outcomes_of(same)).values()
        for test in each
    )


def test_an_attack_ahead_of_the_best_possible_is_named(lines: list[Line]) -> None:
    behind = [one | {"gains": tuple(g - 5 for g in one["gains"])} for one in lines]
    compared = compare_with_best(outcomes_of(behind))
    assert {each["generator"] for each in compared} == set(BEST)
    assert not any(each["significant"] for each in compared)
    assert "No attack on a table is ahead" in render_page(pd.DataFrame(behind, columns=COLUMNS))
    cheat = [
        one | {"gains": tuple(b + 1 + w / 2 for b, w in zip(one["best"], WOBBLE, strict=True))}
        if one["attack"] == "stack" and one["best"]
        else one
        for one in behind
    ]
    ahead = [each for each in compare_with_best(outcomes_of(cheat)) if each["significant"]]
    assert {each["attack"] for each in ahead} == {"stack"} and len(ahead) == 4
    page = render_page(pd.DataFrame(cheat, columns=COLUMNS))
    heading = "**Ahead of the best possible** of their game beyond chance"
    assert f"{heading}: stack with pgm star (1 n rows)" in page


def test_parts_of_the_gap_add_up(lines: list[Line]) -> None:
    gaps = tabulate_gap(outcomes_of(lines))
    assert {gap["generator"] for gap in gaps} == set(BEST)
    for gap in gaps:
        parts = [gap[part] for part in ("rows", "attack", "threat", "bound")]
        assert sum(parts) == pytest.approx(gap["gap"])
        assert gap["rows"] == pytest.approx(4.9) and gap["bound"] == pytest.approx(5.0)


def test_data_that_do_not_fit_the_page_are_refused(lines: list[Line]) -> None:
    with pytest.raises(SyntheticDataError, match="one n, δ and seed, got 2"):
        outcomes_of([*lines, line("mst", 1.0, "prior", 0.0, n=50)])
    few = pd.DataFrame([one for one in lines if one["epsilon"] != 10], columns=COLUMNS)
    with pytest.raises(SyntheticDataError, match="games at ε = 10"):
        render_page(few)


def test_the_command_writes_the_page(
    tmp_path: Path, lines: list[Line], capsys: pytest.CaptureFixture[str]
) -> None:
    data, page = tmp_path / "synthetic.csv", tmp_path / "page.md"
    data.write_text(FILE.to_csv(pd.DataFrame(lines, columns=COLUMNS)), encoding="utf-8")
    assert main([str(data), "--out", str(page)]) == 0
    assert page.read_text(encoding="utf-8").startswith("# Synthetic tables: results")
    assert main([str(tmp_path / "none.csv"), "--out", str(page)]) == 1
    assert capsys.readouterr().err.startswith("error: ")


def test_the_committed_page_is_what_its_data_say() -> None:
    data = DOCS / "synthetic.csv"
    assert data.is_file(), f"docs/synthetic.csv is missing: {RUN}"
    page = render_page(FILE.read_csv(data.read_text(encoding="utf-8")))
    assert (DOCS / "synthetic-results.md").read_text(encoding="utf-8") == page, RUN
