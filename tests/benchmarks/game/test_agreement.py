"""Rows agree across processors: what decides is equal, floats drift within their tolerance."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from reconbench.benchmarks.game.options import Options
from reconbench.benchmarks.game.play import AttackSpec, Game, Round, play
from reconbench.benchmarks.game.reliability import count_reliability
from reconbench.benchmarks.game.result import FIELDS, TOLERANCES, VOLATILE, Result
from reconbench.benchmarks.game.row_schema.agreement import Drift, Tolerance, find_drift
from reconbench.benchmarks.store.export_import import compare_stores, merge, read

GAME = Game("acs", ("SEX",), 3.0, n=10, mechanism_options=Options({"k": 2}))
ROOT = Path(__file__).resolve().parents[3]
COMMAND = Path(sys.executable).parent / "reconbench"


@pytest.fixture(scope="module")
def row() -> Result:
    return play(Round.draw(GAME), AttackSpec("rap"))


def nudge(value: Any, by: float) -> Any:
    """Change every float that is not whole by a relative amount."""
    if isinstance(value, dict):
        return {key: nudge(item, by) for key, item in value.items()}
    if isinstance(value, list):
        return [nudge(item, by) for item in value]
    if isinstance(value, float) and not value.is_integer():
        return value * (1 - by)
    return value


@pytest.mark.parametrize("name", ["baseline_expected", "expected_from_prior", "ceilings", "info"])
def test_last_digits_do_not_make_rows_differ(row: Result, name: str) -> None:
    near = replace(row, **{name: nudge(getattr(row, name), TOLERANCES[name].relative / 2)})
    far = replace(row, **{name: nudge(getattr(row, name), TOLERANCES[name].relative * 4)})
    assert getattr(near, name) != getattr(row, name)
    compared = row.compare(near)
    assert compared.different == () and 0 < compared.drift[name] < TOLERANCES[name].relative
    assert row.differences(far) == [name]


def test_what_decides_must_be_equal(row: Result) -> None:
    ceilings = {**row.ceilings, "thm35": {**row.ceilings["thm35"], "0.95": 11}}
    changes: dict[str, Any] = {
        "successes": (row.successes or 0) + 1,
        "baseline_successes": row.baseline_successes + 1,
        "guess_hash": "0" * 64,
        "table_hash": "0" * 64,
        "ceilings": ceilings,
        "error": "x",
        "epsilon": row.epsilon * (1 + 1e-15),
    }
    for name, value in changes.items():
        assert row.differences(replace(row, **{name: value})) == [name]


def test_whole_numbers_are_never_drift(row: Result) -> None:
    """A ceiling of 10^9 records is not that of one record more."""
    a, b = ({"thm35": {"0.95": 10**9 + i}} for i in range(2))
    assert find_drift("ceilings", Tolerance(1e-6), a, b) is None
    assert find_drift("ceilings", Tolerance(1e-6), {"x": {"mean": 1.0}}, {"x": {}}) is None
    assert find_drift("info", Tolerance(1e-6), {"x": 1.0}, {"x": 1 - 1e-9}) == pytest.approx(1e-9)


def test_kernels_timings_and_old_rows_do_not_differ(row: Result) -> None:
    assert row.guess_hash and row.kernels["blas"] and row.kernels["torch"]
    assert set(VOLATILE) == {"seconds", "peak_memory_mib", "kernels", "printed", "seal"}
    other = replace(row, kernels={"blas": "other"}, seconds=9.0, peak_memory_mib=None)
    assert row.differences(other) == []
    old = row.to_json()
    del old["guess_hash"], old["kernels"]
    assert row.differences(Result.from_json(old)) == [] == Result.from_json(old).differences(row)


def test_a_score_at_the_edge_of_a_tenth_may_fall_on_either_side() -> None:
    hits = np.array([True, False, True])
    below = count_reliability([np.array([0.25, 0.3 - 1e-8, 0.9])], hits)
    above = count_reliability([np.array([0.25, 0.3 + 1e-8, 0.9])], hits)
    elsewhere = count_reliability([np.array([0.25, 0.35, 0.9])], hits)
    tolerance = TOLERANCES["calibration"]
    assert below.keys() != above.keys()
    assert find_drift("calibration", tolerance, below, above) is not None
    assert find_drift("calibration", tolerance, below, elsewhere) is None
    assert find_drift("calibration", tolerance, below, {}) is None


def test_the_cut_of_a_tail_may_move() -> None:
    tail: dict[str, Any] = {"n": 4, "start": 1, "values": [1 - 1.0000001e-9, 0.5, 0.25, 0.125]}
    moved = {"n": 4, "start": 2, "values": [0.5, 0.25, 0.125]}
    tolerance = TOLERANCES["run_tail"]
    assert find_drift("run_tail", tolerance, tail, moved) is not None
    assert find_drift("run_tail", tolerance, tail, {**moved, "values": [0.5, 0.2, 0.1]}) is None
    assert find_drift("run_tail", tolerance, tail, {**moved, "n": 5}) is None


def test_drift_is_summed_up(row: Result) -> None:
    drift = Drift()
    near = replace(row, baseline_expected=row.baseline_expected * (1 + 1e-12))
    for other in (row, near, replace(near, successes=None)):
        drift.add(row.compare(other))
    assert drift.rows == 1 and list(drift.fields) == ["baseline_expected"]
    assert drift.describe().startswith("1 rows agree only up to numerical drift: baseline_expected")
    assert Drift().describe() == ""


def test_kernels_are_read_without_loading_torch() -> None:
    code = (
        "import sys\nfrom reconbench.benchmarks.kernels import read_kernels\n"
        "kernels = read_kernels()\n"
        "sys.exit('torch' in sys.modules or 'torch' in kernels or not kernels['blas'])"
    )
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


KERNELS: tuple[dict[str, str], ...] = (
    {},
    {"OPENBLAS_CORETYPE": "Haswell", "ATEN_CPU_CAPABILITY": "avx2"},
    {"OPENBLAS_CORETYPE": "Prescott", "ATEN_CPU_CAPABILITY": "default"},
)


@pytest.mark.slow
def test_stores_of_different_processors_merge(tmp_path: Path) -> None:
    """The same rows by three kinds of kernels, in fresh processes: the settings hold from start."""
    names = ("OPENBLAS_CORETYPE", "ATEN_CPU_CAPABILITY")
    clean = {key: value for key, value in os.environ.items() if key not in names}
    folders = [tmp_path / str(index) for index in range(len(KERNELS))]
    for folder, kernels in zip(folders, KERNELS, strict=True):
        done = subprocess.run(
            [str(COMMAND), "run", "smoke", "--reps=1", "--jobs=1", "--quiet", f"--out={folder}"],
            env=clean | kernels,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
    used = [{str(entry.row.kernels) for entry in read(folder)} for folder in folders]
    assert all(len(kernels) == 1 for kernels in used)
    merged = merge(tmp_path / "all", folders)
    rows = len(read(folders[0]))
    assert (merged.added, merged.same) == (rows, rows * (len(KERNELS) - 1))
    differences, drift = compare_stores(folders[0], folders[2])
    assert differences == [] and drift.largest < 1e-5


def test_the_data_dictionary_states_every_field_and_its_tolerance() -> None:
    text = (ROOT / "docs" / "results-store.md").read_text(encoding="utf-8")
    section = text.partition("## Data dictionary")[2].partition("\n## ")[0]
    lines = [line.split("|")[1:3] for line in section.splitlines() if line.startswith("| `")]
    stated = {name.strip(" `"): agreement.strip() for name, agreement in lines}
    assert set(stated) == set(FIELDS)
    for name in FIELDS:
        tolerance = TOLERANCES.get(name)
        expected = "not compared" if name in VOLATILE else str(tolerance or "equal")
        assert stated[name] == expected, name
