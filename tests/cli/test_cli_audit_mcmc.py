from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.special import ndtr, ndtri

Run = Callable[..., Any]

QUICK = ("--chains", "2", "--iterations", "300", "--warmup", "200", "-K", "20")


@pytest.fixture
def counts(tmp_path: Path) -> str:
    path = tmp_path / "counts.csv"
    path.write_text("X,N0,Y,N1\n40,1000,250,1000\n100,1000,120,1000\n200,1000,60,1000\n")
    return str(path)


def test_json_has_the_posterior_and_the_other_readings(reconbench: Run, counts: str) -> None:
    command = ("audit", "mcmc", counts, "--delta", "1e-2", "--json", "--deltas", "0,0.1", *QUICK)
    done = reconbench(*command)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["attacks"] == 3 and found["relation"] == "add-or-remove-one"
    assert 2 < found["epsilon"]["lower"] < found["epsilon"]["median"] < found["epsilon"]["upper"]
    assert 0 < found["strength"]["median"] < 1
    assert found["converged"] is False and found["warnings"]
    assert [each["delta"] for each in found["other_deltas"]] == [0, 0.1]
    assert found["compare"]["clopper_pearson"]["lower"] > 2
    assert reconbench(*command).stdout == done.stdout


def test_the_terminal_gets_a_table_and_a_sentence(reconbench: Run, counts: str) -> None:
    done = reconbench("audit", "mcmc", counts, "--delta", "0", "--strength", "0.5", *QUICK)
    assert done.returncode == 0, done.stderr
    assert "with probability 90 %" in done.stdout and "fixed at 0.5" in done.stdout
    assert "warning:" in done.stderr


@pytest.mark.parametrize("likelihood", ["binomial", "correlated"])
def test_the_report_is_self_contained(
    reconbench: Run, counts: str, tmp_path: Path, likelihood: str
) -> None:
    out = tmp_path / "report"
    choices = ("--likelihood", likelihood, "--relation", "replace-one", "--out", str(out))
    done = reconbench("audit", "mcmc", counts, "--delta", "1e-2", *choices, *QUICK)
    assert done.returncode == 0, done.stderr
    page = (out / "audit.html").read_text()
    assert page.count("<svg") == 4 and "<script" not in page
    assert 'src="' not in page and "<link" not in page
    assert "replace-one" in page and "Warning" in page
    text = (out / "audit.md").read_text()
    assert "## Under other priors" in text and ("| τ |" in text) == (likelihood == "correlated")
    assert json.loads((out / "audit.json").read_text())["attacks"] == 3


@pytest.fixture
def one_level(tmp_path: Path) -> str:
    """20 bases on a Gaussian mechanism of epsilon 4.02, all at false-positive level 0.1."""
    rng = np.random.default_rng(4)
    x, y = rng.binomial(100, 0.1, 20), rng.binomial(100, ndtr(-ndtri(0.1) - 1.5), 20)
    path = tmp_path / "one_level.csv"
    rows = (f"{a},100,{b},100\n" for a, b in zip(x, y, strict=True))
    path.write_text("X,N0,Y,N1\n" + "".join(rows))
    return str(path)


def test_both_models_are_compared(reconbench: Run, one_level: str, tmp_path: Path) -> None:
    out = tmp_path / "report"
    command = ("audit", "mcmc", one_level, "--delta", "1e-2", "--model", "both", *QUICK)
    done = reconbench(*command, "--out", str(out))
    assert done.returncode == 0, done.stderr
    assert "model region" in done.stdout and "FAILS its predictive check" in done.stdout
    assert "far too low" in done.stderr and "--model gdp" in done.stderr
    found = json.loads((out / "audit.json").read_text())
    assert found["model"] == "region" and found["check"]["failed"]
    region, gdp = found["models"]
    assert region["epsilon"]["upper"] < 3.2 < 4.02 < gdp["epsilon"]["upper"]
    assert "Only the gdp model" in found["believe"]
    assert "far too" in (out / "audit.html").read_text()


def test_the_gdp_model_gives_mu(reconbench: Run, one_level: str, tmp_path: Path) -> None:
    out = tmp_path / "report"
    command = ("audit", "mcmc", one_level, "--delta", "1e-2", "--model", "gdp", "--json", *QUICK)
    done = reconbench(*command, "--out", str(out))
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["model"] == "gdp" and found["mu"]["lower"] < 1.5 < found["mu"]["upper"]
    assert "μ-GDP" in (out / "audit.md").read_text()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("X,N0,Y,N1\n5,4,1,4\n", "X must be at most N0"),
        ("X,N0,Y,N1\n-1,4,1,4\n", "got -1"),
        ("X,N0,Y,N1\n", "has no rows"),
        ("X,N0,Y,N1\n0,0,1,4\n", "N0 must be at least 1"),
        ("X,N0,Y,N1\na,2,1,4\n", "X must be a whole number"),
        ("X,N0,Y\n1,2,1\n", "has no column 'N1'"),
        ("X,N0,Y,N1\n" + "1,2,1,2\n" * 200_000, "larger than"),
    ],
)
def test_bad_counts_are_one_line(reconbench: Run, tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "counts.csv").write_text(text)
    done = reconbench("audit", "mcmc", str(tmp_path / "counts.csv"), "--delta", "0")
    assert done.returncode == 2 and message in done.stderr
    assert done.stderr.count("\n") == 1 and done.stdout == ""


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--delta", "1"), "delta must be in [0, 1)"),
        (("--delta", "0", "--chains", "0"), "chains must be an integer >= 1"),
        (("--delta", "0", "--strength", "1"), "strength must be in [0, 1)"),
        (("--delta", "0", "--strength-prior", "1"), "--strength-prior must be two numbers"),
        (("--delta", "0", "--deltas", "0,x"), "--deltas must be numbers"),
        (("--delta", "0", "--prior-variance", "0"), "variance must be > 0"),
        (("--delta", "0", "--model", "gdp"), "delta must be > 0 for the gdp model"),
        (
            ("--delta", "0.1", "--model", "gdp", "--likelihood", "correlated"),
            "--model must be region for correlated counts",
        ),
        (
            ("--delta", "0.1", "--model", "both", "--prior-variance", "1"),
            "--prior-variance must be left out",
        ),
    ],
)
def test_bad_options_are_one_line(
    reconbench: Run, counts: str, options: tuple[str, ...], message: str
) -> None:
    done = reconbench("audit", "mcmc", counts, *options)
    assert done.returncode == 2 and message in done.stderr and done.stderr.count("\n") == 1


def test_a_folder_that_cannot_be_made(reconbench: Run, counts: str) -> None:
    done = reconbench("audit", "mcmc", counts, "--delta", "0", "--out", f"{counts}/x", *QUICK)
    assert done.returncode == 2 and "cannot make the folder" in done.stderr
