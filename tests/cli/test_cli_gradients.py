"""`reconbench gradients`: the law of the estimate, the noise for a risk, figures, errors."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from reconbench.bounds.gradients import GradientError, risk_corridor, scratch_sigma

Run = Callable[..., Any]


def answer(done: Any) -> dict[str, Any]:
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_the_law_at_a_noise_multiplier(reconbench: Run) -> None:
    asked = ("gradients", "--sigma", "0.01", "--dimension", "3072", "--psnr", "40", "--span", "1")
    found = answer(reconbench(*asked, "--json"))
    law = GradientError.of(3072, 0.01)
    assert found["chances"][0]["chance"] == pytest.approx(float(law.psnr_at_least(40, 1.0)))
    assert found["mean_error"] == pytest.approx(1e-4) and found["relation"] == "add-or-remove-one"
    shown = reconbench(*asked).stdout
    assert "chance 0.503393, Riess 2026, Proposition IV.8" in shown
    assert "holds for this estimate only" in shown and "guessing 0" in shown


def test_the_noise_for_a_risk(reconbench: Run) -> None:
    asked = ("gradients", "--risk", "0.001", "--error", "1e-4", "--dimension", "3072")
    found = answer(reconbench(*asked, "--candidates", "10", "--json"))
    assert found["solved"]["sigma"] == pytest.approx(scratch_sigma(1e-4, 1e-3, 3072))
    assert found["sigma"] == found["solved"]["sigma"]
    assert found["solved"]["sigma_identification"] is None
    shown = reconbench(*asked, "--candidates", "10").stdout
    assert "sigma at least 0.0104087" in shown and "against candidates" in shown


def test_the_corridor(reconbench: Run) -> None:
    asked = ("gradients", "--sigma", "2", "--dimension", "1", "--candidates", "10")
    found = answer(reconbench(*asked, "--json"))["corridor"]
    (expected,) = risk_corridor(2.0, 1, 10)
    assert found["error"] == pytest.approx(expected.error) and not found["zero_guess_within"]
    assert "risk corridor" in reconbench(*asked).stdout
    certain = reconbench("gradients", "--sigma", "1e-9", "--dimension", "1", "--candidates", "10")
    assert "0 to any error; guessing 0 is within it" in certain.stdout


def test_everything_at_once(reconbench: Run) -> None:
    found = answer(
        reconbench(
            "gradients", "--sigma", "0.2", "--dimension", "784", "--norm", "9.2", "--clip", "30",
            "--rows", "2", "--steps", "10", "--error", "0.5", "--ncc", "0.5", "--risk", "0.01",
            "--records", "100", "--iterations", "50", "--delta", "1e-6", "--json",
        )
    )  # fmt: skip
    assert found["rows"] == 2 and found["rows_needed"] == 11 and found["steps"] == 10
    assert found["mean_error"] == pytest.approx(0.04 * max(900 / 2, 9.2**2) / 10)
    assert [row["measure"] for row in found["chances"]] == ["mse", "ncc", "mse in training"]
    assert 0.01 in [row["chance"] for row in found["luckiest"]]


def test_a_figure(reconbench: Run, tmp_path: Path) -> None:
    done = reconbench(
        "gradients", "--sigma", "2", "--dimension", "4", "--candidates", "10", "--figure", "f.svg",
        cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0 and done.stdout.rstrip().endswith("f.svg"), done.stderr
    root = ET.fromstring((tmp_path / "f.svg").read_text(encoding="utf-8"))
    texts = {each.text for each in root.iter("{http://www.w3.org/2000/svg}text")}
    assert {"guessing 0", "median error", "corridor, 10 candidates", "sigma = 2"} <= texts


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("", "give --sigma, or --risk with --error or --psnr"),
        ("--risk 0.1", "give --sigma, or --risk with --error or --psnr"),
        ("--sigma 0", "sigma must be > 0"),
        ("--sigma nan", "sigma must be a number, got nan"),
        ("--sigma inf", "sigma must be in [1e-50, 1e+50], got inf"),
        ("--sigma 1 --norm 0", "norm must be > 0"),
        ("--sigma 1 --clip -1", "clip must be > 0"),
        ("--sigma 1 --error -1", "error must be >= 0"),
        ("--sigma 1 --psnr 10", "psnr needs span"),
        ("--sigma 1 --psnr nan --span 1", "psnr must be within"),
        ("--sigma 1 --psnr 1 --span 0", "span must be > 0"),
        ("--sigma 1 --ncc 2", "ncc must be a correlation in [-1, 1], got 2.0"),
        ("--sigma 1 --ncc 0.5 --spread 2", "spread must be in (0, 1]"),
        ("--sigma 1 --risk 1", "risk must be strictly between 0 and 1, got 1.0"),
        ("--sigma 1 --records 5", "records and iterations must be given together"),
        ("--sigma 1 --records 5 --iterations 5", "records and iterations need error"),
        ("--sigma 1 --delta 1", "delta must be in [0, 1)"),
        ("--risk 0.1 --error 0", "error must be > 0 to solve for sigma"),
        ("--risk 0.1 --error 1", "guessing 0 has that error without any release"),
        ("--risk 0.1 --error 0.01 --psnr 9 --span 1", "give error or psnr, not both"),
        ("--sigma 1 --figure .", "cannot write .: it is a folder"),
    ],
)
def test_bad_input(reconbench: Run, tmp_path: Path, arguments: str, message: str) -> None:
    done = reconbench("gradients", "--dimension", "10", *arguments.split(), cwd=tmp_path)
    assert done.returncode == 2 and done.stdout == ""
    assert done.stderr.startswith("error: ") and done.stderr.count("\n") == 1
    assert message in done.stderr
