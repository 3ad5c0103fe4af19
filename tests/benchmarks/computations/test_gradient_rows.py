"""Figure 2 of Riess 2026: the error by the rows of the attacker's layer."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from pydantic import TypeAdapter, ValidationError

from reconbench.benchmarks.computations import gradient_rows
from reconbench.benchmarks.computations.gradient_errors import images
from reconbench.benchmarks.computations.gradient_rows import (
    CHANCE,
    LAW,
    LAW_PSNR,
    PUBLISHED,
    SEEN,
    SEEN_PSNR,
    reconstruct,
)
from reconbench.benchmarks.computations.kinds import Curve
from reconbench.benchmarks.suites.suite import find_suite
from reconbench.bounds.gradients import GradientError, attack_variance, rows_needed
from reconbench.mechanisms.gradient_steps import GradientStep, OptimalNetwork

# Of every seeded statistical check here.
FALSE_ALARM = 1e-4
SIGMA, CLIP, NORM, DIMENSION = 0.01, 20.0, 2.0, 3000
CURVES: TypeAdapter[Any] = TypeAdapter(Curve)


def p_value(mse: float, variance: float) -> float:
    law = GradientError(DIMENSION, variance)
    return 2 * min(float(law.mse_at_most(mse)), float(law.mse_above(mse)))


@pytest.mark.parametrize("rows", [1, 7, 10, 99, 100, 400])
def test_the_variance_is_the_corrected_one(rows: int) -> None:
    """σ² max(C²/M, ‖X‖²) with (C/‖X‖)² = 100, by the χ² law of the error. What is printed, half the
    noise and a slip of 10 % in σ are told from it."""
    rng = np.random.default_rng(rows)
    (x,) = images(1, DIMENSION, NORM, rng)
    seen = reconstruct(x, GradientStep(OptimalNetwork(rows), SIGMA, CLIP), rng) - x
    mse, law = float(np.square(seen).mean()), attack_variance(SIGMA, NORM, CLIP, rows)
    assert law == pytest.approx(SIGMA**2 * max(CLIP**2 / rows, NORM**2))
    assert p_value(mse, law) > FALSE_ALARM
    for wrong in (law / 4, law * 0.81, law * 1.21):
        assert p_value(mse, wrong) < FALSE_ALARM
    # Printed: 10 = C/‖X‖ rows are enough.
    assert (p_value(mse, (SIGMA * NORM) ** 2) > FALSE_ALARM) is (rows >= 99)
    assert (rows >= rows_needed(NORM, CLIP)) is (rows >= 100)


def test_one_row_and_very_many() -> None:
    """M = 1 shows noise of sd σC, unclipped as long as C ≥ ‖X‖; M → ∞ shows σ‖X‖, whatever C is."""
    assert attack_variance(SIGMA, NORM, CLIP, 1) == pytest.approx((SIGMA * CLIP) ** 2)
    assert attack_variance(SIGMA, NORM, 0.5 * NORM, 1) == pytest.approx((SIGMA * NORM) ** 2)
    for clip in (CLIP, 100 * CLIP):
        assert attack_variance(SIGMA, NORM, clip, 10**12) == pytest.approx((SIGMA * NORM) ** 2)


def test_blocks_of_coordinates_are_one_estimate(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without noise it is the record; with noise errors of all coordinates are alike."""
    rng = np.random.default_rng(0)
    (x,) = images(1, 103, NORM, rng)
    monkeypatch.setattr(gradient_rows, "_BLOCK", 40)
    exact = reconstruct(x, GradientStep(OptimalNetwork(4), 0.0, 1.0), rng)
    assert exact == pytest.approx(x)
    step = GradientStep(OptimalNetwork(4), SIGMA, CLIP, steps=2)
    errors = np.array([reconstruct(x, step, rng) - x for _ in range(400)])
    expected = attack_variance(SIGMA, NORM, CLIP, 4) / 2
    # Sums of squares over coordinates 400 deep: sd √(2/400) = 7 %, 6 sd for 103 of them.
    assert np.abs(np.square(errors).mean(axis=0) / expected - 1).max() < 0.43
    assert np.abs(np.corrcoef(errors[:, ::10].T) - np.eye(11)).max() < 0.3


def rows_of(**settings: Any) -> dict[str, dict[str, float]]:
    block = {
        "compute": "gradient-rows",
        "dimension": DIMENSION,
        "norm": NORM,
        "sigma": SIGMA,
        "clip": CLIP,
        **settings,
    }
    points = list(CURVES.validate_python(block).points("try"))
    assert len({point.key for point in points}) == len(points)
    return {
        point.label: {name: value["mean"] for name, value in point.row().ceilings.items()}
        for point in points
    }


def test_rows_of_the_computation() -> None:
    found = rows_of(rows=[1, 9, 10, 100, 200], samples=3)
    assert list(found) == [f"{rows} rows, sigma 0.01" for rows in (1, 9, 10, 100, 200)]
    for values in found.values():
        assert values[CHANCE] > FALSE_ALARM
        assert values[SEEN] == pytest.approx(values[LAW], rel=0.2)
        assert values[SEEN_PSNR] == pytest.approx(values[LAW_PSNR], abs=1)
    one, nine, ten, hundred, more = found.values()
    # The theorem's rows, C/‖X‖, are ten times too few.
    assert PUBLISHED not in nine and ten[LAW] == pytest.approx(10 * ten[PUBLISHED])
    assert hundred[LAW] == pytest.approx(hundred[PUBLISHED]) == pytest.approx(more[LAW])
    assert one[LAW_PSNR] + 20 == pytest.approx(hundred[LAW_PSNR], abs=0.2)
    assert rows_of(rows=5) == rows_of(rows=[5]) != rows_of(rows=5, seed=1)


def test_the_suite_has_both_ends_of_the_figure() -> None:
    """Every other value of M follows from the same law; the middle ones show the erratum."""
    points = {point.asked["rows"]: point for point in find_suite("riess-fig2").points()}
    asked = points[1].asked
    assert {1, math.ceil(5e3 / asked["norm"]), rows_needed(asked["norm"], 5e3), 1000} <= set(points)
    found = {name: value["mean"] for name, value in points[1].row().ceilings.items()}
    assert found[LAW] == 6.25 and found[CHANCE] > FALSE_ALARM and found[SEEN_PSNR] < 0
    assert {"riess-fig2"} < {part.name for part in find_suite("riess").parts}


def test_bad_blocks_are_refused() -> None:
    for settings, message in (
        ({"rows": 0}, "greater than or equal to 1"),
        ({"rows": []}, "at least 1 item"),
        ({"rows": 1, "clip": 0.0}, "greater than 0"),
        ({"rows": 1, "sigma": [0.1, 0.2]}, "valid number"),
    ):
        with pytest.raises(ValidationError, match=message):
            rows_of(**settings)
