"""The report on one noisy gradient: the laws it collects, the noise it solves for, and JSON."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest

from reconbench.bounds import GaussianDP, Relation
from reconbench.bounds.gradients import (
    Asked,
    FromScratch,
    GradientError,
    attack_variance,
    gradient_curves,
    gradient_noise,
    gradient_report,
    identification_sigma,
    mse_at_most_in_training,
    ncc_at_least,
    psnr_to_mse,
    risk_corridor,
    scratch_sigma,
    zero_guess_error,
)


def chance(report: dict[str, Any], measure: str) -> float:
    (row,) = [row for row in report["chances"] if row["measure"] == measure]
    return float(row["chance"])


def test_the_report_is_the_law() -> None:
    law = GradientError.of(784, 0.1, 9.0, steps=4)
    asked = Asked(error=0.9, psnr=10, ncc=0.5, span=2.0, spread=0.8, risk=0.01)
    report = gradient_report(FromScratch(784, norm=9.0, steps=4), 0.1, asked, 1e-6)
    assert report["mean_error"] == pytest.approx(law.variance)
    for each in report["luckiest"]:
        assert float(law.mse_at_most(each["error"])) == pytest.approx(each["chance"])
        assert float(law.psnr_at_least(each["psnr"], 2.0)) == pytest.approx(each["chance"])
    assert [each["chance"] for each in report["luckiest"]] == [1e-6, 0.01, 0.05, 0.5, 0.95]
    assert chance(report, "mse") == pytest.approx(float(law.mse_at_most(0.9)))
    assert chance(report, "psnr") == pytest.approx(float(law.psnr_at_least(10, 2.0)))
    assert chance(report, "ncc") == pytest.approx(float(ncc_at_least(0.5, 0.1, 784, 0.8, 4)))
    promised = GaussianDP(20.0, Relation.ADD_REMOVE)
    assert report["guarantee"] == promised.describe() and report["relation"] == "add-or-remove-one"
    assert report["replace_one"] == "40-GDP, replace-one"
    assert report["epsilon"] == pytest.approx(promised.epsilon_at(1e-6))
    references = {row["measure"]: row["reference"] for row in report["chances"]}
    assert references["mse"] == "Riess 2026, Theorem IV.5"


def test_the_comparison_with_guessing_zero() -> None:
    """Corollary IV.6 is for this estimate only, and the answer says so."""
    free = zero_guess_error(784)
    report = gradient_report(FromScratch(784), 0.1, Asked(error=free))
    assert report["zero_guess"]["error"] == free and report["chances"][0]["zero_guess_within"]
    assert report["chances"][0]["chance"] < 1e-200
    assert "holds for this estimate only" in report["statement"]
    assert f"{free:.6g}" in report["statement"]
    below = gradient_report(FromScratch(784), 0.1, Asked(error=free * 0.99))
    assert not below["chances"][0]["zero_guess_within"]


def test_few_rows_and_clipping_cost_variance() -> None:
    """v = σ² max(C²/M, ‖X‖²)/k: simulated as the mean of M rows of a clipped gradient."""
    attack = FromScratch(5, norm=0.5, clip=3.0, rows=4, steps=2)
    report = gradient_report(attack, 0.2)
    assert report["rows"] == 4 and report["rows_needed"] == 36
    assert report["mean_error"] == pytest.approx(attack_variance(0.2, 0.5, 3.0, 4) / 2)
    assert FromScratch(5, 0.5, 3.0).law(0.2).variance == pytest.approx(0.04 * 0.25)
    rng = np.random.default_rng(3)
    record = rng.normal(size=5)
    record *= 0.5 / np.linalg.norm(record)
    # The gradient of 1ᵀWX has M equal rows X, and a norm of √M ‖X‖ = 1 below the clipping norm.
    rows = record + rng.normal(0, 0.2 * 3.0, size=(40_000, 2, 4, 5))
    errors = np.mean((rows.mean(axis=(1, 2)) - record) ** 2, axis=1)
    # 4.5 standard errors: a false alarm in 150,000 seeds.
    spread = errors.std() / math.sqrt(errors.size)
    assert errors.mean() == pytest.approx(report["mean_error"], abs=4.5 * spread)
    wrong = FromScratch(5, norm=0.5, clip=3.0, steps=2).law(0.2).variance
    assert abs(errors.mean() - wrong) > 20 * spread


def test_the_noise_for_a_risk() -> None:
    attack = FromScratch(100, norm=2.0, steps=3)
    found = gradient_noise(attack, Asked(error=0.01, risk=0.05, candidates=10))
    assert found["sigma"] == pytest.approx(scratch_sigma(0.01, 0.05, 100, 2.0, 3))
    assert found["sigma_identification"] is None
    report = gradient_report(attack, found["sigma"], Asked(error=0.01))
    assert chance(report, "mse") == pytest.approx(0.05)
    likelier = gradient_noise(attack, Asked(error=0.01, risk=0.2, candidates=10))
    sigma = likelier["sigma_identification"]
    assert sigma == pytest.approx(identification_sigma(0.2, 10) * math.sqrt(3))
    (corridor,) = attack.corridor([sigma], 10)
    assert corridor.gamma == pytest.approx(0.2)
    decibels = gradient_noise(attack, Asked(psnr=20, span=1.0, risk=0.05))
    assert decibels["error"] == pytest.approx(float(psnr_to_mse(20, 1.0)))
    few = FromScratch(100, norm=2.0, clip=10.0, rows=1, steps=3)
    less = gradient_noise(few, Asked(error=0.01, risk=0.05))
    assert less["sigma"] == pytest.approx(found["sigma"] * 2.0 / 10.0)
    assert float(few.law(less["sigma"]).mse_at_most(0.01)) == pytest.approx(0.05)


def test_the_corridor_and_a_training() -> None:
    attack = FromScratch(4, norm=2.0, steps=2)
    report = gradient_report(
        attack, 3.0, Asked(error=0.5, candidates=10, records=50, iterations=20)
    )
    (expected,) = risk_corridor(3.0, 4, 10, 2.0, 2)
    assert report["corridor"]["identification"] == pytest.approx(expected.gamma)
    assert report["corridor"]["error"] == pytest.approx(expected.error)
    assert report["corridor"]["zero_guess_within"] == expected.trivial
    trained = mse_at_most_in_training(0.5, 4, 3.0, 20, 50, 2.0)
    assert chance(report, "mse in training") == pytest.approx(trained)
    # The corridor is scaled by the variance: one row with C = 10 ‖X‖ has a hundred times as much.
    (wider,) = FromScratch(4, norm=2.0, clip=20.0, rows=1, steps=2).corridor([3.0], 10)
    assert wider.error == pytest.approx(100 * expected.error)
    assert wider.gamma == expected.gamma and wider.free_error == expected.free_error


def test_curves() -> None:
    sigmas = [0.1, 1.0, 10.0]
    curves = gradient_curves(FromScratch(4), sigmas, (0.05, 0.5), 10)
    assert set(curves) == {
        "luckiest 5 %", "median error", "corridor, 10 candidates", "guessing 0",
    }  # fmt: skip
    assert curves["guessing 0"] == [0.25] * 3
    law = GradientError.of(4, 10.0)
    assert curves["median error"][2] == pytest.approx(float(law.mse_quantile(0.5)))
    certain = gradient_curves(FromScratch(4), [0.001], (0.5,), 10)
    assert certain["corridor, 10 candidates"] == [None]


@pytest.mark.parametrize("sigma", [1e-9, 1e-3, 1.0, 1e9])
def test_reports_are_json(sigma: float) -> None:
    asked = Asked(error=0.1, psnr=30, ncc=0.1, span=1.0, candidates=5, records=9, iterations=9)
    for attack in (FromScratch(3), FromScratch(10**6, norm=1e-3, clip=1e3)):
        json.dumps(gradient_report(attack, sigma, asked), allow_nan=False)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: FromScratch(0), "dimension must be an integer >= 1"),
        (lambda: FromScratch(3, norm=0), "norm must be > 0"),
        (lambda: FromScratch(3, norm=1e-60), "norm must be in"),
        (lambda: FromScratch(3, clip=-1), "clip must be > 0"),
        (lambda: FromScratch(3, rows=0), "rows must be an integer >= 1"),
        (lambda: FromScratch(3, steps=0), "steps must be an integer >= 1"),
        (lambda: FromScratch(3).law(0), "sigma must be > 0"),
        (lambda: FromScratch(3).law(1e300), "sigma must be in"),
        (lambda: Asked(error=-1), "error must be >= 0"),
        (lambda: Asked(psnr=10), "psnr needs span"),
        (lambda: Asked(psnr=math.nan, span=1), "psnr must be within"),
        (lambda: Asked(span=0), "span must be > 0"),
        (lambda: Asked(ncc=2), r"ncc must be a correlation in \[-1, 1\]"),
        (lambda: Asked(risk=1), "risk must be strictly between 0 and 1"),
        (lambda: Asked(records=5), "records and iterations must be given together"),
        (lambda: Asked(records=5, iterations=5), "records and iterations need error"),
        (lambda: Asked(error=1, records=5, iterations=10**9), "iterations must be at most"),
        (lambda: gradient_noise(FromScratch(3), Asked(risk=0.1)), "give risk, and error or psnr"),
        (lambda: gradient_noise(FromScratch(3), Asked(error=0.1)), "give risk, and error or psnr"),
        (
            lambda: gradient_noise(FromScratch(3), Asked(error=0.1, psnr=9, span=1, risk=0.1)),
            "error or psnr, not both",
        ),
        (lambda: gradient_noise(FromScratch(3), Asked(error=0, risk=0.1)), "error must be > 0"),
        (lambda: gradient_noise(FromScratch(3), Asked(error=1, risk=0.1)), "guessing 0 has that"),
    ],
)
def test_bad_input(call: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message) as error:
        call()
    assert "\n" not in str(error.value)
