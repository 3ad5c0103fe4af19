"""The tables of results on images: from stores to data files, and from these to the pages."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from generate import gradient_images, mcmc_table
from generate.stored_points import StoredPointsError, read_points
from reconbench.benchmarks.computations.computation import Point
from reconbench.benchmarks.game.result import Status
from reconbench.benchmarks.store.store import Store
from reconbench.benchmarks.suites.suite import find_suite
from reconbench.bounds.gradients import GradientError


def made_up_values(point: Point) -> dict[str, float]:
    """Values of a row without the training: errors by the base, and an interval."""
    if point.inputs:
        names = mcmc_table.NUMBERS.values()
        return {name: value / 8 for value, name in enumerate(names)}
    base = float(point.asked["base"])
    return {
        "shared-false-positives": base,
        "shared-false-negatives": base + 1,
        "split-false-positives": base / 2,
        "split-false-negatives": 0.0,
    }


def fill(folder: Path, points: list[Point]) -> None:
    with Store(folder) as store:
        for point in points:
            row = replace(
                point._blank_row(),
                ceilings={name: {"mean": value} for name, value in made_up_values(point).items()},
            )
            store.put(point.key, row)


def test_a_store_becomes_lines(tmp_path: Path) -> None:
    points = find_suite("mcmc-table1").points()
    fill(tmp_path, points)
    assert mcmc_table.main([str(tmp_path), "--out", str(tmp_path / "table.csv")]) == 0
    lines = mcmc_table.FILE.read_csv((tmp_path / "table.csv").read_text())
    assert len(lines) == 6 * 2 * 2
    first, last = lines.iloc[0], lines.iloc[-1]
    assert (first["algorithm"], first["decisions"], first["delta"]) == ("A1", "shared", 0.001)
    assert first["false_positives"] == tuple(range(20)) and first["challenges"] == 100
    assert last["decisions"] == "split" and last["challenges"] == 50
    assert (last["low"], last["median"], last["high"]) == (0.0, 0.125, 0.25)


def test_stores_that_lack_rows_are_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    points = find_suite("mcmc-table1").points()
    fill(tmp_path, points[:-1])
    assert mcmc_table.main([str(tmp_path), "--out", str(tmp_path / "table.csv")]) == 1
    told = capsys.readouterr().err
    assert "1 of 144 points are in none of the stores" in told and "run mcmc-table1" in told
    with Store(tmp_path) as store:
        failed = replace(points[-1]._blank_row(), status=Status.FAILED, error="disk full")
        store.put(points[-1].key, failed)
    with pytest.raises(StoredPointsError, match="failed: disk full"):
        read_points(points, [tmp_path])
    assert not (tmp_path / "table.csv").exists()


def test_errors_on_images_become_lines(tmp_path: Path) -> None:
    points = gradient_images.find_points()
    assert len(points) == 5 * 3 * (2 + 4)
    values = dict.fromkeys(gradient_images.NUMBERS, 0.5)
    lines = gradient_images.make_lines([(point, values) for point in points])
    assert set(lines["images"]) == {"made-up", "mnist", "fashion-mnist"}
    assert not lines.duplicated(["images", "network", "dimension", "sigma"]).any()


def test_the_committed_errors_are_beside_their_law() -> None:
    """The law's quantiles are computed again; the optimal network follows it, whatever the images.

    15 p-values a kind of images and dimension, seeded; the false-alarm rate of the least is 1e-3.
    """
    lines = pd.read_csv(gradient_images.TABLE)
    assert len(lines) == 90
    for line in lines.to_dict("records"):
        law = GradientError.of(line["dimension"], line["sigma"], 1.01)
        assert line["law-50"] == pytest.approx(float(law.mse_quantile(0.5)), rel=1e-4)
    optimal = lines[lines["network"] == "optimal"]
    assert len(optimal) == 30 and optimal["ks"].min() > 1e-3 / 30
    assert (optimal["ratio"] - 1).abs().max() < 0.1
    idle = lines[(lines["network"] == "idle") & (lines["dimension"] == 3072)]
    assert idle["ks"].max() < 1e-6 and idle["ratio"].between(1.005, 1.015).all()
