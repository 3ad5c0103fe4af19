"""The curves of Guerra-Balboa 2026: figures 1 and 2, and what they refuse."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from reconbench.benchmarks.computations.rad import epsilon_for_rad, epsilon_for_rero
from reconbench.benchmarks.suites.suite import SuiteError, find_suite, read_suite
from reconbench.bounds import LaplaceDP
from reconbench.bounds.rad import GRR, OUE, SubsetSelection, SupportChannel, rad_laplace, rad_ss


def test_figure_1() -> None:
    """Theorem 4.3 without knowledge never passes Theorem 4.2; own total variations, enumerated."""
    rows = [point.row() for point in find_suite("rad-bounds").points()]
    bounds = [row for row in rows if row.metric == "advantage"]
    assert {row.mechanism for row in bounds} == {"grr", "oue", "ss", "laplace", "gaussian"}
    channels: dict[str, Callable[[float, int], SupportChannel]] = {
        "grr": GRR, "oue": OUE, "ss": SubsetSelection,
    }  # fmt: skip
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
