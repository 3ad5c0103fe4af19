from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from reconbench.benchmarks.computations import UniformGuess, computed
from reconbench.benchmarks.results import Result
from reconbench.benchmarks.store import Store
from reconbench.benchmarks.suite import SuiteError, find_suite, read_suite
from reconbench.bounds import ApproxDP, GaussianDP, PureDP, Relation, beta


def values(suite: str) -> list[Result]:
    return [
        entry.row
        for name, curve in find_suite(suite).computations()
        for entry in computed(name, curve)
    ]


def test_one_target_of_a_uniform_prior() -> None:
    """Pure DP: the odds rise by e^ε at most, which the fixed point attains."""
    found = UniformGuess().success([0.5, 0.25, 0.01, 0.3], PureDP(1.0))
    assert found[:3] == pytest.approx([float(beta(p, 1.0)) for p in (0.5, 0.25, 0.01)], abs=1e-9)
    assert math.isnan(found[3])
    guarantee = GaussianDP(1.3)
    (p,) = UniformGuess().success([0.1], guarantee)
    assert p == pytest.approx(float(guarantee.power((1 - p) / 9)), abs=1e-9)
    assert UniformGuess().refuses(GaussianDP(1.0, Relation.ADD_REMOVE))


def test_swanberg_figure_1() -> None:
    rows = values("swanberg-fig1")
    assert {row.epsilon for row in rows} == {1.0, 2.0, 4.0}
    for row in rows:
        ours = row.ceilings["thm35"]["mean"]
        assert row.baseline_expected < ours <= 1
        if "mmc" in row.ceilings:  # "closely aligns with the MMC bound for uniform priors"
            assert row.ceilings["mmc"]["mean"] == pytest.approx(ours, abs=2e-5)
        if "rero-pure" in row.ceilings:
            assert ours <= row.ceilings["rero-pure"]["mean"] + 1e-12


def test_kulynych_census_levels() -> None:
    """The state level is the printed one: >99, 73 and 52 percentage points."""
    rows = {row.targets[0]: row for row in values("kulynych-fig4")}
    assert len(rows) == 8
    state = {name: level["mean"] for name, level in rows["state"].ceilings.items()}
    assert rows["state"].epsilon == pytest.approx(10.6, abs=0.005)
    assert state["approx"] > 0.99
    assert (round(100 * state["rero-zcdp"]), round(100 * state["f-dp"])) == (73, 52)
    saved = [
        1 - row.ceilings["f-dp"]["mean"] / row.ceilings["rero-zcdp"]["mean"]
        for row in rows.values()
    ]
    assert min(saved) > 0.28 and 0.33 <= max(saved) < 0.35  # "up to 33 %"


def test_kulynych_bounds_compare_as_printed() -> None:
    for row in values("kulynych-fig3"):
        ours = row.ceilings["f-dp"]["mean"]
        assert all(ours <= other["mean"] + 1e-12 for other in row.ceilings.values())
    for row in values("kulynych-fig5"):
        best = row.ceilings["binary"]["mean"]
        assert all(best <= other["mean"] + 1e-12 for other in row.ceilings.values())
    strong = [row.ceilings["spso"]["mean"] for row in values("kulynych-fig2")]
    assert min(strong) >= 0 and max(strong) <= 1


def test_rows_go_to_the_store_and_back(tmp_path: Path) -> None:
    ((name, curve),) = find_suite("kulynych-fig4").computations()
    entries = computed(name, curve)
    for _ in range(2):
        with Store(tmp_path) as store:
            store.add(entries)
    with Store.reading(tmp_path) as store:
        assert [each.row for each in store.entries()] == [each.row for each in entries]
    row = entries[0].row
    assert row.attack == row.adversary == "none" and row.successes is None
    assert Result.from_json(json.loads(json.dumps(row.to_json()))) == row


CURVES = """
name = "mine"
description = ""
[[curves]]
compute = "success"
baseline = [0.1]
bounds = ["f-dp"]
guarantee.approx = { epsilon = 1 }
"""


def test_a_curve_of_ones_own(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(CURVES)
    ((name, curve),) = read_suite(path).computations()
    ((row,),) = [[each.row for each in computed(name, curve)]]
    assert row.ceilings["f-dp"]["mean"] == pytest.approx(float(ApproxDP(1.0, 1e-5).power(0.1)))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('["f-dp"]', '["x"]', "curves.0.bounds: unknown bound 'x'; use some of f-dp"),
        ("[0.1]", "[2]", "curves.0.baseline.0: .*less than or equal to 1"),
        ("baseline", "base", "curves.0.base: Extra inputs"),
        ('"success"', '"magic"', "curves.0: .*'success'.*'queries'"),
        ("guarantee.approx", "guarantee.appro", "curves.0.guarantee.appro: Extra inputs"),
        ("guarantee.approx = { epsilon = 1 }", "guarantee = {}", "curves.0.guarantee: name one"),
    ],
)
def test_bad_curves(tmp_path: Path, old: str, new: str, message: str) -> None:
    path = tmp_path / "bad.toml"
    path.write_text(CURVES.replace(old, new))
    with pytest.raises(SuiteError, match=message) as caught:
        read_suite(path)
    assert "\n" not in str(caught.value)
