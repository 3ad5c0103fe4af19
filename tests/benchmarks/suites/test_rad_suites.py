"""The suites of Guerra-Balboa 2026: small versions of their games, and their computations."""

from __future__ import annotations

import csv
import io
import math
import re
from pathlib import Path

import numpy as np
import pytest

from reconbench.attacks.rad_optimal import joint_prior
from reconbench.benchmarks.computations.rad.bounds import epsilon_for_rad, epsilon_for_rero
from reconbench.benchmarks.game.play import Game, Round
from reconbench.benchmarks.run.cost_estimates import estimate
from reconbench.benchmarks.run.runner import run
from reconbench.benchmarks.store.store import Store
from reconbench.benchmarks.store.summary import summarise
from reconbench.benchmarks.suites.suite import SuiteError, find_suite, read_suite
from reconbench.bounds import LaplaceDP
from reconbench.bounds.rad import GRR, OUE, SubsetSelection, rad_laplace, rad_ss
from reconbench.reports import leaderboard_csv

FIRE = "columns:fire:Station Area,Zipcode of Incident"
SMALL = """
name = "small"
description = "local reports, a noisy sum and marginals"
repetitions = 3
attacks = ["optimal", "prior"]

[[games]]
dataset = "uniform:20"
targets = ["value"]
n = 200
delta = 0.0
mechanism = ["grr", "oue", "ss"]
epsilon = 4
advantage = 200

[[games]]
dataset = "hours:peaked"
targets = ["hours"]
n = 5
delta = 0.0
mechanism = "truncated-laplace-sum"
metric = "l1:40"
adversary = "informed"
epsilon = 4
advantage = 2

[[games]]
dataset = "acs"
targets = ["SEX"]
n = 30
epsilon = 4
"""


def test_a_suite_goes_through_the_store_to_the_leaderboard(tmp_path: Path) -> None:
    path = tmp_path / "small.toml"
    path.write_text(SMALL, encoding="utf-8")
    units = read_suite(path).units()
    with Store(tmp_path / "out") as store:
        found = run(units, store)
        again = run(units, store)
    assert found == again and len(found) == 5 * 3 * 2
    board = list(csv.DictReader(io.StringIO(leaderboard_csv(summarise(found)))))
    local = [row for row in board if row["dataset"] == "uniform:20"]
    for row in local:
        assert row["advantage"] == "200" and row["rad_theorem"] == "Theorem 4.3"
        # 600 records: an sd of at most 1/√600 in each world, 5 deviations
        limit = float(row["ceiling_rad"]) if row["attack"] == "optimal" else 0.0
        assert abs(float(row["rad"]) - limit) <= 5 * math.sqrt(2 / 600)
        assert float(row["rad_low"]) <= float(row["rad"]) <= float(row["rad_high"])
    assert {row["mechanism"] for row in local} == {"grr", "oue", "ss"}
    (blind,) = [row for row in board if row["dataset"] == "acs" and row["attack"] == "prior"]
    assert blind["advantage"] == "0" and blind["rad"] == blind["ceiling_rad"] == ""
    plain = leaderboard_csv(summarise([row for row in found if not row.advantage]))
    assert "rad_low" not in plain.splitlines()[0]


def test_estimates_count_the_other_worlds(tmp_path: Path) -> None:
    path = tmp_path / "small.toml"
    path.write_text(SMALL, encoding="utf-8")
    path_without = tmp_path / "plain.toml"
    lines = [line for line in SMALL.splitlines() if not line.startswith("advantage")]
    path_without.write_text("\n".join(lines), encoding="utf-8")
    with_worlds, without = (estimate(read_suite(each).units()) for each in (path, path_without))
    ratios = [a.seconds / b.seconds for a, b in zip(with_worlds.games, without.games, strict=True)]
    assert all(1 < ratio < 2 for ratio in ratios[:4]) and ratios[4] == 1
    path.write_text(SMALL.replace("advantage = 200", "advantage = 201"), encoding="utf-8")
    with pytest.raises(SuiteError, match=r"advantage must be between 0 .* 200 records, got 201"):
        read_suite(path).units()
    path.write_text(SMALL.replace("advantage = 200", "advantage = true"), encoding="utf-8")
    with pytest.raises(SuiteError, match="advantage"):
        read_suite(path)


def test_shipped_suites() -> None:
    suite = find_suite("rad")
    assert {part.name for part in suite.parts} == {
        "rad", "rad-ldp", "rad-laplace", "rad-imputation", "rad-bounds", "rad-fig3", "rad-fig5",
    }  # fmt: skip
    games = {unit.game.repeat(0) for unit in suite.units(repetitions=1)}
    assert all(game.advantage for game in games)
    local = [game for game in games if game.mechanism in ("grr", "oue", "ss")]
    assert {game.epsilon for game in local} >= {0.25, 16.0}
    hours = {game.metric for game in games if game.dataset.startswith("hours")}
    assert hours == {"l1:0", "l1:40", "l1:80", "l1:100"}


def test_figure_1() -> None:
    """Theorem 4.3 without knowledge never passes Theorem 4.2; own total variations, enumerated."""
    rows = [point.row() for point in find_suite("rad-bounds").points()]
    bounds = [row for row in rows if row.metric == "advantage"]
    assert {row.mechanism for row in bounds} == {"grr", "oue", "ss", "laplace", "gaussian"}
    channels: dict[str, type[GRR | OUE | SubsetSelection]] = {
        "grr": GRR,
        "oue": OUE,
        "ss": SubsetSelection,
    }
    for row in bounds:
        any_aux, none = (row.ceilings[name]["mean"] for name in ("rad-thm42", "rad-thm43"))
        assert 0 < none <= any_aux + 1e-12 < 1
        if row.mechanism in channels:
            matrix = channels[row.mechanism](row.epsilon, 11).matrix()
            variation = np.abs(matrix[:, 0] - matrix[:, 1]).sum() / 2
            assert any_aux == pytest.approx(variation * 10 / 11, rel=1e-9)
    ss = {row.epsilon: row for row in bounds if row.mechanism == "ss"}
    assert ss[2.0].ceilings["rad-thm43"]["mean"] == pytest.approx(rad_ss(2.0, 11), rel=1e-12)
    grr = [row.ceilings for row in bounds if row.mechanism == "grr"]
    assert all(c["rad-thm42"]["mean"] == pytest.approx(c["rad-thm43"]["mean"]) for c in grr)


def test_figure_2() -> None:
    """RAD needs less noise for the same number; both calibrations hit the risk exactly."""
    rows = [
        row for row in (p.row() for p in find_suite("rad-bounds").points()) if row.metric == "error"
    ]
    for row in rows:
        risk = float(row.targets[0].removeprefix("risk "))
        epsilon = epsilon_for_rad(risk, 10)
        assert row.epsilon == epsilon and rad_laplace(epsilon, 10) == pytest.approx(risk)
        error = row.ceilings["rad-thm43"]["mean"]
        assert math.exp(-error * epsilon) == pytest.approx(0.05)
        assert ("rero" in row.ceilings) == (risk > 0.1)
        if "rero" in row.ceilings:
            assert error < row.ceilings["rero"]["mean"]
            power = LaplaceDP(epsilon_for_rero(risk, 10)).power(0.1)
            assert float(power) == pytest.approx(risk, rel=1e-9)
    assert epsilon_for_rad(0.95, 10) == math.inf and math.isnan(epsilon_for_rero(0.1, 10))


def test_bad_curves(tmp_path: Path) -> None:
    path = tmp_path / "bad.toml"
    for text, message in (
        ('compute = "rad"\nmechanism = "rr"\nvalues = 3\nepsilon = 1', "unknown mechanism 'rr'"),
        ('compute = "rad-error"\nvalues = 1\nrisk = 0.1', "greater than or equal to 2"),
        ('compute = "rad-error"\nvalues = 3\nrisk = 1.5', "less than 1"),
    ):
        path.write_text(f'name = "x"\ndescription = ""\n[[curves]]\n{text}\n', encoding="utf-8")
        with pytest.raises(SuiteError, match=message):
            read_suite(path)


def test_the_page_prints_theorem_4_3() -> None:
    """Brackets of the table of figure 6; what was measured, on 5,000 reports, is within 5 sd."""
    page = (Path(__file__).resolve().parents[3] / "docs" / "rad.md").read_text(encoding="utf-8")
    _, _, table = page.partition("| ε | GRR, uniform |")
    rows = re.findall(r"^\| (\d+) \|(.*)\|$", table.partition("\n\n")[0], re.MULTILINE)
    assert [int(row[0]) for row in rows] == [1, 4, 8, 12, 16]
    places = Game(FIRE, ("Station Area", "Zipcode of Incident"), 1.0, n=1)
    net = Round.draw(places).prior
    fire = joint_prior(net, ("Station Area", "Zipcode of Incident"))
    for epsilon, cells in rows:
        printed = re.findall(r"([\d.]+) \(([\d.]+)\)", cells)
        exact = [
            kind(float(epsilon), prior.size).rad(prior)
            for prior in (np.full(3052, 1 / 3052), fire)
            for kind in (GRR, SubsetSelection, OUE)
        ]
        assert [bound for _, bound in printed] == [f"{each:.3f}" for each in exact]
        measured = np.array([float(rad) for rad, _ in printed])
        assert (np.abs(measured - exact) <= 5 / math.sqrt(5000)).all()
