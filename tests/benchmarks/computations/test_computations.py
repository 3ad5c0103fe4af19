from __future__ import annotations

import csv
import io
import json
import math
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import get_args

import pytest

from reconbench.benchmarks.computations.risk import (
    BOUNDS,
    ComputationError,
    Curve,
    Point,
    UniformGuess,
    _laplace_queries,
    computed,
)
from reconbench.benchmarks.game.result import Result, Status
from reconbench.benchmarks.run.runner import Replay, carry_out, plan, run
from reconbench.benchmarks.store import provenance
from reconbench.benchmarks.store.export_import import (
    Kind,
    cells,
    diff,
    merge,
    prunable,
    prune,
    read,
)
from reconbench.benchmarks.store.store import Origin, Standing, Store
from reconbench.benchmarks.store.summary import summarise
from reconbench.benchmarks.suites.suite import Suite, SuiteError, find_suite, read_suite
from reconbench.bounds import ApproxDP, GaussianDP, PureDP, Relation, beta
from reconbench.reports import leaderboard_csv
from reconbench.reports.leaderboard.columns import COMPUTED


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
        carry_out(todo, store, differs=lambda old, new: changed.append(old.describe()))
        assert changed == []
        assert [each.row for each in store.entries()] == first


def test_a_point_is_known_by_what_is_asked_not_by_what_comes_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    first, second = find_suite("kulynych-fig3").points()[:2]
    assert first.key != second.key and first.key.config != second.key.config
    renamed = replace(first, suite="mine")
    assert renamed.key.config != first.key.config
    assert replace(first, values=lambda: {"f-dp": 0.0}).key == first.key
    for name, value in (("asked", {**first.asked, "bounds": ["f-dp"]}), ("mechanism", "x")):
        assert replace(first, **{name: value}).key.config != first.key.config


@pytest.fixture
def changed(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], None]]:
    """Act as if a module's source were another."""
    source = provenance._source

    def change(name: str) -> None:
        path = Path(str(import_module(name).__file__))
        monkeypatch.setattr(provenance, "_source", lambda of: "other" if of == path else source(of))
        provenance._computation.cache_clear()

    yield change
    monkeypatch.undo()
    provenance._computation.cache_clear()


@pytest.mark.parametrize(
    ("module", "stale"),
    [
        ("reconbench.bounds.risk.one_target", {"success", "queries"}),
        ("reconbench.benchmarks.computations.risk", {"success", "queries"}),
        ("reconbench.bounds.guarantees.composed", {"success", "queries"}),
        ("reconbench.attacks.baselines", set()),
        ("reconbench.benchmarks.game.play", set()),
        ("reconbench.benchmarks.suites.game_block", set()),
        ("reconbench.mechanisms.marginals", set()),
    ],
)
def test_a_point_is_stale_if_its_own_code_changed(
    module: str, stale: set[str], changed: Callable[[str], None]
) -> None:
    origins = {
        kind: Origin(provenance.NO_ATTACK, kind, provenance.code_version("none", kind))
        for kind in ("success", "queries")
    }
    assert {each.standing for each in origins.values()} == {Standing.CURRENT}
    changed(module)
    found = {kind for kind, each in origins.items() if each.standing is Standing.STALE}
    assert found == stale


def test_every_kind_is_found_by_its_class() -> None:
    """Its module, and what it says it plays, which is a module."""
    for each in get_args(get_args(Curve)[0]):
        (kind,) = get_args(each.model_fields["compute"].annotation)
        found = provenance._kind(kind)
        assert found.home == each.__module__
        assert list(found.plays) == ([each.plays] if hasattr(each, "plays") else [])
        assert all(import_module(name) for name in found.plays)
        assert ("torch" in provenance.computation_versions(kind)) == bool(found.plays)


def test_simulated_errors_are_stale_if_what_they_play_changed(
    changed: Callable[[str], None],
) -> None:
    kinds = ("gradient-errors", "gradient-risk", "success")
    before = {kind: provenance.code_version("none", kind) for kind in kinds}
    changed("reconbench.mechanisms.gradient_steps")
    now = {kind: provenance.code_version("none", kind) for kind in kinds}
    assert {kind for kind in kinds if now[kind] != before[kind]} == {"gradient-errors"}


def test_libraries_count_by_version_where_they_are_used() -> None:
    usual = provenance.computation_versions("success")
    assert {"numpy", "scipy"} < usual.keys() and "torch" not in usual
    assert provenance.computation_versions("queries").keys() - usual.keys() == {"dp-accounting"}


def test_changed_code_computes_beside_the_stale_rows(
    tmp_path: Path, changed: Callable[[str], None]
) -> None:
    suite = find_suite("kulynych-fig4")
    with Store(tmp_path / "old") as store:
        run([], store, points=suite.points())
    merge(tmp_path / "new", [tmp_path / "old"])
    changed("reconbench.bounds.risk.one_target")
    with Store(tmp_path / "new") as store:
        run([], store, points=suite.points())
        assert len(store.entries()) == 16 and store.stale() == 8
    entries = read(tmp_path / "new")
    assert len(prunable(entries, stale=True, failed=False)) == 8
    prune(tmp_path / "new", prunable(entries, stale=True, failed=False))
    found = diff(tmp_path / "old", tmp_path / "new")
    assert [each.kind for each in found] == [Kind.CODE] * 8
    assert all(not each.fields for each in found)
    shown = cells(read(tmp_path / "new"))
    assert [each.ok for each in shown] == [1] * 8
    assert all(each.success is None and each.values.keys() >= {"f-dp"} for each in shown)


def test_rows_of_before_are_stale() -> None:
    assert Origin("none", "gaussian", "computation").standing is Standing.STALE


def test_one_label_a_neighbouring_relation() -> None:
    """Two rows of one cell would be taken for repetitions."""
    text = CURVES.replace("approx = { epsilon = 1 }", "gaussian = { sigma = 1 }")
    more = text[text.index("[[curves]]") :].replace("1 }", '1, relation = "add-or-remove-one" }')
    curves = Suite.model_validate(tomllib.loads(text + more)).points()
    assert len({point.label for point in curves}) == 2


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


def test_what_is_missing_to_compose_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(*arguments: object) -> None:
        raise ImportError("install it with: pip install 'reconbench[accounting]'")

    monkeypatch.setattr("reconbench.bounds.guarantees.composed.composed", missing)
    _laplace_queries.cache_clear()
    with pytest.raises(ComputationError, match="pip install"):
        find_suite("kulynych-fig6").points()[0].row()


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
    state = by_point["kulynych-fig4", "state"]
    assert float(state["value_rero-zcdp"]) == pytest.approx(0.73, abs=0.005)
    assert state["metric"] == "advantage" and state["value_baseline"] == "0.0"
    others = {"approx", "pure", "pso", "pso-f-dp", "spso", "rad-thm42", "rad-thm43", "rero"}
    others |= {"protect", "scratch", "scratch-published", "identification", "corridor"}
    others |= {f"epsilon-{each}" for each in ("low", "median", "high")}
    others |= {"strength-median", "clopper-pearson", "zero-guess", "ks", "ks-smaller", "ratio"}
    others |= {f"{kind}-{q}" for kind in ("seen", "law") for q in ("05", "25", "50", "75", "95")}
    assert BOUNDS.keys() | others == COMPUTED.keys()
