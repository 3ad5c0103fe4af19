from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

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
