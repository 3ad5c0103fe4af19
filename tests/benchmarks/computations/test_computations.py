from __future__ import annotations

import csv
import io
import json
import math
import tomllib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from reconbench.benchmarks.computations.computation import ComputationError, Point
from reconbench.benchmarks.computations.kinds import KINDS, VALUE_MEANINGS
from reconbench.benchmarks.computations.risk import BOUNDS, UniformGuess
from reconbench.benchmarks.game.result import Result, Status
from reconbench.benchmarks.run.runner import Replay, execute, plan, run
from reconbench.benchmarks.store.export_import import (
    DifferenceKind,
    diff,
    find_prunable,
    group_cells,
    merge,
    prune,
    read,
)
from reconbench.benchmarks.store.provenance import (
    NO_ATTACK,
    code_version,
    computation_versions,
    find_computation,
)
from reconbench.benchmarks.store.store import Entry, Freshness, Origin, Store
from reconbench.benchmarks.store.summary import summarise
from reconbench.benchmarks.suites.suite import Suite, SuiteError, find_suite, read_suite
from reconbench.bounds import ApproxDP, GaussianDP, PureDP, Relation, beta
from reconbench.reports import leaderboard_csv
from reconbench.reports.leaderboard.columns.dictionary import DICTIONARY


def values(suite: str) -> list[Result]:
    return [point.row() for point in find_suite(suite).points()]


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
        # The paper's bound at the stated (ε, δ), not the smallest over a profile.
        raised = float(beta(row.baseline_expected, row.epsilon))
        assert ours == pytest.approx(raised + (1 - raised) * row.delta, abs=1e-12)
        if "mmc" in row.ceilings:  # "closely aligns with the MMC bound for uniform priors"
            assert row.ceilings["mmc"]["mean"] == pytest.approx(ours, abs=2e-5)
        if "rero-pure" in row.ceilings:
            assert ours <= row.ceilings["rero-pure"]["mean"] + 1e-12


def test_kulynych_census_levels() -> None:
    """The state level is the printed one: >99, 73 and 52 percentage points."""
    rows = {row.targets[0]: row for row in values("kulynych-fig4")}
    assert len(rows) == 8
    state = {name: level["mean"] for name, level in rows["2 state"].ceilings.items()}
    assert rows["2 state"].epsilon == pytest.approx(10.6, abs=0.005)
    assert state["approx"] > 0.99
    assert (round(100 * state["rero-zcdp"]), round(100 * state["f-dp"])) == (73, 52)
    saved = [
        1 - row.ceilings["f-dp"]["mean"] / row.ceilings["rero-zcdp"]["mean"]
        for row in rows.values()
    ]
    assert min(saved) > 0.28 and 0.33 <= max(saved) < 0.35  # "up to 33 %"
    assert [name.partition(" ")[2] for name in sorted(rows)][3:6] == [
        "PEPG",
        "tract subset group",
        "tract subset",
    ]
    assert {row.mechanism for row in rows.values()} == {"discrete-gaussian"}


def test_kulynych_bounds_compare_as_printed() -> None:
    for row in values("kulynych-fig3"):
        ours = row.ceilings["f-dp"]["mean"]
        assert all(ours <= other["mean"] + 1e-12 for other in row.ceilings.values())
    for row in values("kulynych-fig5"):
        best = row.ceilings["binary"]["mean"]
        assert all(best <= other["mean"] + 1e-12 for other in row.ceilings.values())
        assert row.ceilings["fano-mi"]["mean"] < row.ceilings["f-dp"]["mean"]
    strong = [row.ceilings["spso"]["mean"] for row in values("kulynych-fig2")]
    assert min(strong) >= 0 and max(strong) <= 1


def test_the_third_baseline_of_figures_3_and_6_is_the_worst_case() -> None:
    rows = values("kulynych-fig3")
    assert {row.metric for row in rows} == {"advantage", "worst-case advantage"}
    assert {row.baseline_expected for row in rows if row.metric == "advantage"} == {0.01, 0.1}
    for row in rows:
        if row.metric == "worst-case advantage":
            others = [other for other in rows if other.epsilon == row.epsilon]
            for name in ("f-dp", "rero-zcdp", "rero-rdp-2"):
                most = max(other.ceilings[name]["mean"] for other in others)
                assert row.ceilings[name]["mean"] == pytest.approx(most, abs=1e-9)
    points = find_suite("kulynych-fig6").points()
    assert {point.risk for point in points} == {0.05, 0.1, 0.15, 0.2, 0.25, 0.3}
    worst = [point for point in points if point.baseline not in (0.01, 0.1)]
    assert {point.options["baseline"] for point in worst} == {"worst-case"}
    assert [point.asked["baseline"] for point in worst] == ["worst-case"] * 6
    found = worst[3].row().ceilings
    assert (found["f-dp"]["mean"], found["pure"]["mean"]) == (6, 2)
    # Two pure queries of ε = 0.2 each: tanh(ε/2) = 0.197 in all; three would have 0.291.
    assert math.tanh(0.2) <= 0.2 < math.tanh(0.3)


def test_figure_2_of_rad_is_against_the_risk() -> None:
    points = [p for p in find_suite("rad-bounds").points() if p.kind == "rad-error"]
    assert [point.risk for point in points] == [point.promise.asked["risk"] for point in points]
    assert "figure 5" not in find_suite("rad-ldp").description


def test_rows_go_to_the_store_and_back(tmp_path: Path) -> None:
    entries = [Entry(point.key, point.row()) for point in find_suite("kulynych-fig4").points()]
    for _ in range(2):
        with Store(tmp_path) as store:
            store.add(entries)
    with Store.read_only(tmp_path) as store:
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
    (point,) = read_suite(path).points()
    row = point.row()
    assert row.ceilings["f-dp"]["mean"] == pytest.approx(float(ApproxDP(1.0, 1e-5).power(0.1)))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('["f-dp"]', '["x"]', "curves.0.bounds: unknown bound 'x'; use some of f-dp"),
        ("[0.1]", "[2]", "curves.0.baseline.0: .*less than or equal to 1"),
        ("baseline", "baselin", "curves.0.baselin: Extra inputs .*; did you mean 'baseline'?"),
        ("baseline", "zzz", "curves.0.zzz: Extra inputs .*; known keys: compute, guarantee"),
        ('"success"', '"magic"', "curves.0: .*'success'.*'queries'"),
        ("guarantee.approx", "guarantee.appro", "guarantee.appro: Extra .* mean 'approx'?"),
        ("guarantee.approx = { epsilon = 1 }", "guarantee = {}", "curves.0.guarantee: name one"),
    ],
)
def test_bad_curves(tmp_path: Path, old: str, new: str, message: str) -> None:
    path = tmp_path / "bad.toml"
    path.write_text(CURVES.replace(old, new))
    with pytest.raises(SuiteError, match=message) as caught:
        read_suite(path)
    assert "\n" not in str(caught.value)


def test_a_stored_point_is_not_computed_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    points = find_suite("kulynych-fig4").points()
    with Store(tmp_path) as store:
        told: list[int] = []
        first = run([], store, points=points, progress=lambda done, row: told.append(done))
        assert told == list(range(1, 9)) and len(first) == 8
        with monkeypatch.context() as patch:
            patch.setattr(Point, "row", lambda self: pytest.fail("computed again"))
            assert run([], store, points=points) == first
        changed: list[str] = []
        todo = plan([], store, Replay.ALL, points)
        assert len(todo.points) == 8 and todo.held == 0
        execute(todo, store, differs=lambda old, new: changed.append(old.describe()))
        assert changed == []
        assert [each.row for each in store.entries()] == first


def test_a_point_is_known_by_what_is_asked_not_by_what_comes_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    first, second = find_suite("kulynych-fig3").points()[:2]
    kind = type(first.computation)
    monkeypatch.setattr(kind, "evaluate", lambda self, point: pytest.fail("computed for a key"))
    assert first.key != second.key and first.key.config != second.key.config
    renamed = replace(first, suite="mine")
    assert renamed.key.config != first.key.config
    fewer = replace(first, asked={**first.asked, "bounds": ["f-dp"]})
    for other in (fewer, replace(first, mechanism="x")):
        assert other.key.config != first.key.config


@pytest.mark.parametrize(
    ("module", "stale"),
    [
        ("benchmarks.computations.computation", {"success", "queries", "gradient-errors", "rad"}),
        ("benchmarks.computations.guarantees", {"success"}),
        ("benchmarks.computations.risk", {"success"}),
        ("benchmarks.computations.budgets", {"queries"}),
        ("benchmarks.computations.rad.bounds", {"rad"}),
        ("bounds.risk.one_target", {"success", "queries"}),
        ("bounds.guarantees.composed", {"success", "queries"}),
        ("mechanisms.gradient_steps", {"gradient-errors"}),
        ("benchmarks.game.random_streams", {"gradient-errors"}),
        ("attacks.baselines", set()),
        ("benchmarks.game.play", set()),
        ("benchmarks.suites.game_block", set()),
        ("mechanisms.marginals", set()),
    ],
)
def test_a_point_is_stale_if_its_own_code_changed(
    module: str, stale: set[str], change_module: Callable[[str], None]
) -> None:
    origins = {
        kind: Origin(NO_ATTACK, kind, code_version(NO_ATTACK, kind))
        for kind in ("success", "queries", "gradient-errors", "gradient-risk", "rad")
    }
    assert {origin.freshness for origin in origins.values()} == {Freshness.CURRENT}
    change_module(f"reconbench.{module}")
    found = {kind for kind, origin in origins.items() if origin.freshness is Freshness.STALE}
    assert found - {"gradient-risk"} == stale
    assert ("gradient-risk" in found) == module.endswith("computation")


@pytest.mark.parametrize("kind", KINDS)
def test_kinds_declare_what_they_compute(kind: str) -> None:
    """Every kind goes by its name, cites, and documents its values in one way with the others."""
    declared = KINDS[kind]
    assert declared.reference and declared.metric and declared.meanings and declared.__doc__
    assert all(VALUE_MEANINGS[name] == text for name, text in declared.meanings.items())
    assert all(f"value_{name}" in DICTIONARY for name in declared.meanings)
    home = declared.__module__
    assert home in {name for name, _ in find_computation(kind)}


def test_libraries_count_by_version_where_they_are_used() -> None:
    used = {kind: computation_versions(kind).keys() for kind in KINDS}
    assert all({"reconbench", "numpy"} <= names for names in used.values())
    renyi = {"training-risk", "training-noise"}
    assert {kind for kind in KINDS if "dp-accounting" in used[kind]} == renyi
    # Audits load clients and priors as plugins, which torch and numba are behind.
    loading = {"audit-ldp", "mcmc-train", "mcmc-images", "rad-training"}
    stepping = {"gradient-errors", "gradient-rows"}
    assert {kind for kind in KINDS if "torch" in used[kind]} == loading | stepping
    estimated = {"mcmc-strength", "mcmc-counts"}
    assert {kind for kind in KINDS if "numba" in used[kind]} == loading | estimated


def test_changed_code_computes_beside_the_stale_rows(
    tmp_path: Path, change_module: Callable[[str], None]
) -> None:
    suite = find_suite("kulynych-fig4")
    with Store(tmp_path / "old") as store:
        run([], store, points=suite.points())
    merge(tmp_path / "new", [tmp_path / "old"])
    change_module("reconbench.bounds.risk.one_target")
    with Store(tmp_path / "new") as store:
        run([], store, points=suite.points())
        assert len(store.entries()) == 16 and store.stale() == 8
    entries = read(tmp_path / "new")
    assert len(find_prunable(entries, stale=True, failed=False)) == 8
    prune(tmp_path / "new", find_prunable(entries, stale=True, failed=False))
    found = diff(tmp_path / "old", tmp_path / "new")
    assert [each.kind for each in found] == [DifferenceKind.CODE] * 8
    assert all(not each.fields for each in found)
    shown = group_cells(read(tmp_path / "new"))
    assert [each.ok for each in shown] == [1] * 8
    assert all(each.success is None and each.values.keys() >= {"f-dp"} for each in shown)


def test_rows_of_before_are_stale() -> None:
    assert Origin("none", "gaussian", "computation").freshness is Freshness.STALE


def test_one_label_a_neighbouring_relation() -> None:
    """Two rows of one cell would be taken for repetitions."""
    text = CURVES.replace("approx = { epsilon = 1 }", "gaussian = { sigma = 1 }")
    more = text[text.index("[[curves]]") :].replace("1 }", '1, relation = "add-or-remove-one" }')
    curves = Suite.model_validate(tomllib.loads(text + more)).points()
    assert len({point.label for point in curves}) == 2


def test_mechanisms_by_text(tmp_path: Path) -> None:
    """The same values as the families that they stand for; the text is the label."""

    def read(guarantee: str) -> list[Point]:
        text = CURVES.replace("approx = { epsilon = 1 }", guarantee)
        (tmp_path / "mine.toml").write_text(text)
        return list(read_suite(tmp_path / "mine.toml").points())

    stated = read('mechanism = { text = ["gaussian:sigma=2.0", "laplace:scale=2"] }')
    assert [point.promise.label for point in stated] == ["gaussian:sigma=2", "laplace:scale=2"]
    families = (*read("gaussian = { sigma = 2 }"), *read("laplace = { scale = 2 }"))
    for first, second in zip(stated, families, strict=True):
        assert first.row().ceilings == second.row().ceilings


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("gausian:sigma=2", "did you mean 'gaussian'"),
        ("gaussian:sigma=?", "needs every number"),
        ("curve:points.csv", "cannot read a file"),
    ],
)
def test_bad_mechanisms_in_a_suite(tmp_path: Path, text: str, message: str) -> None:
    stated = f'mechanism = {{ text = ["{text}"] }}'
    (tmp_path / "mine.toml").write_text(CURVES.replace("approx = { epsilon = 1 }", stated))
    with pytest.raises(ValueError, match=message):
        read_suite(tmp_path / "mine.toml")


def test_no_bound_that_covers_a_point_is_told(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(CURVES.replace('["f-dp"]', '["mmc"]').replace("[0.1]", "[0.3]"))
    (point,) = read_suite(path).points()
    with pytest.raises(ComputationError, match="suite mine: none of"):
        point.row()


def test_a_point_that_cannot_be_computed_is_a_row_that_says_so(tmp_path: Path) -> None:
    """The points after it are computed, it is reported, and tried again when asked for."""
    text = CURVES.replace('["f-dp"]', '["mmc"]').replace("[0.1]", "[0.3, 0.5]")
    (tmp_path / "mine.toml").write_text(text)
    points = read_suite(tmp_path / "mine.toml").points()
    with Store(tmp_path) as store:
        rows = run([], store, points=points)
        assert [row.status for row in rows] == [Status.FAILED, Status.OK]
        assert (rows[0].error or "").startswith("suite mine: none of the bounds mmc covers")
        assert rows[0].cell != rows[1].cell and rows[0].ceilings == {}
        assert run([], store, points=points) == rows
        again = plan([], store, Replay.FAILED, points)
        assert [point.key for point in again.points] == [points[0].key]
    lost, done = list(csv.DictReader(leaderboard_csv(summarise(rows)).splitlines()))
    assert lost["failures"] == "1" and "none of the bounds" in lost["error"]
    assert done["failures"] == "0" and float(done["value_mmc"]) > 0.5


def test_summaries_and_columns_of_every_bound() -> None:
    suites = ("swanberg-fig1", *(f"kulynych-fig{i}" for i in range(2, 6)), "rad-bounds")
    rows = [row for suite in suites for row in values(suite)]
    summaries = summarise(rows)
    assert len(summaries) == len(rows)
    for summary, row in zip(summaries, rows, strict=True):
        assert summary.computed and summary.success is None and summary.repetitions == 1
        assert summary.ceilings == row.ceilings
        assert summary.baseline_expected == row.baseline_expected
    lines = list(csv.DictReader(io.StringIO(leaderboard_csv(summaries), newline="")))
    assert len(lines) == len(rows)
    for line in lines:
        assert line["success"] == line["baseline_expected"] == line["rank"] == ""
        assert not any(name.startswith("ceiling_") for name in line)
    by_point = {(line["dataset"], line["targets"]): line for line in lines}
    state = by_point["kulynych-fig4", "2 state"]
    assert float(state["value_rero-zcdp"]) == pytest.approx(0.73, abs=0.005)
    assert state["metric"] == "worst-case advantage" and state["value_baseline"] == "0.0"
    assert {f"value_{name}" for name in BOUNDS} <= DICTIONARY.keys()
    written = {name for row in rows for name in row.ceilings}
    assert written <= VALUE_MEANINGS.keys()
