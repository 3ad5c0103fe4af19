"""`reconbench calibrate`: measures by name, whole priors, and that answers name their theorem."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from reconbench.bounds import GaussianDP, PriorExact
from reconbench.bounds.rad import epsilon_uniform, rad_exact_aux, rad_profile

Run = Callable[..., Any]


def answer(done: Any) -> dict[str, Any]:
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_the_reconstruction_advantage(reconbench: Run, tmp_path: Path) -> None:
    asked = ("calibrate", "--risk", "0.1", "--measure", "rad", "--delta", "0")
    uniform = answer(reconbench(*asked, "--values", "10", "--json"))
    assert uniform["epsilon"] == pytest.approx(epsilon_uniform(0.1, 10))
    (tmp_path / "groups.csv").write_text("group\na\na\nb\n")
    groups = answer(
        reconbench(*asked, "--prior", "0.5,0.3,0.2", "--knowledge", "groups.csv", "--json",
                   cwd=tmp_path)
    )  # fmt: skip
    exact = rad_exact_aux(groups["epsilon"], [0.5, 0.3, 0.2], [0, 0, 1])
    assert exact == pytest.approx(0.1) and groups["bound"]["epsilon"] == "exact-aux"
    shown = reconbench(*asked, "--values", "10", "--knowledge", "any").stdout
    assert "replace-one neighbours, by" in shown and "docs/rad-exact.md" in shown
    near = answer(reconbench(*asked, "--values", "10", "--within", "1", "--json"))
    assert near["mu"] < uniform["mu"]


def test_the_reconstruction_advantage_of_a_mechanism(reconbench: Run) -> None:
    asked = ("calibrate", "--risk", "0.1", "--measure", "rad", "--values", "10")
    found = answer(reconbench(*asked, "--mechanism", "gaussian:sigma=?", "--json"))
    assert found["bound"] == "exact-profile" and found["risk"] <= 0.1
    assert rad_profile(GaussianDP(1 / found["value"]), 10) == pytest.approx(found["risk"])
    added = answer(
        reconbench(*asked, "--mechanism", "gaussian:sigma=?", "--relation", "add-remove", "--json")
    )
    assert added["relation"] == "add-or-remove-one"
    assert added["value"] == pytest.approx(2 * found["value"], rel=1e-3)
    assert "exact black-box advantage over the profile" in added["answer"]


def test_singling_out(reconbench: Run) -> None:
    asked = ("calibrate", "--risk", "0.05", "--measure", "singling-out", "--delta", "0")
    anyone = answer(reconbench(*asked, "--baseline", "1e-6", "--records", "10000", "--json"))
    assert anyone["epsilon"] == pytest.approx(math.log(5))
    assert anyone["reference"]["epsilon"] == "Kulynych 2025, Theorem F.2"
    one = answer(reconbench(*asked, "--baseline", "0.001", "--candidates", "100", "--json"))
    assert one["bound"]["epsilon"] == "profile-recursion" and one["epsilon"] > anyone["epsilon"]
    mechanism = answer(
        reconbench(*asked, "--baseline", "1e-6", "--records", "10000", "--mechanism",
                   "pure:epsilon=?", "--json")
    )  # fmt: skip
    assert mechanism["value"] == pytest.approx(math.log(5), rel=1e-3)


def test_a_whole_prior_in_the_command(reconbench: Run) -> None:
    """The success at the answer is that of `PriorExact` for the whole prior."""
    for measure, limit, base in (("success", "0.6", 0.0), ("advantage", "0.1", 0.5)):
        asked = ("calibrate", "--risk", limit, "--prior", "0.5,0.3,0.2", "--measure", measure)
        found = answer(reconbench(*asked, "--json"))
        assert found["bound"]["mu"] == "prior-exact"
        success = PriorExact(np.array([[0.5, 0.3, 0.2]]), GaussianDP(found["mu"])).per_target[0]
        assert success - base == pytest.approx(float(limit))
    by_values = answer(reconbench("calibrate", "--risk", "0.1", "--values", "4", "--json"))
    by_prior = answer(
        reconbench("calibrate", "--risk", "0.1", "--prior", "0.25,0.25,0.25,0.25", "--json")
    )
    assert by_values["mu"] == pytest.approx(by_prior["mu"])
    risk = answer(reconbench("risk", "--prior", "0.5,0.3,0.2", "--mu", "1", "--json"))
    whole = PriorExact(np.array([[0.5, 0.3, 0.2]]), GaussianDP(1.0)).per_target[0]
    assert risk["success"] == pytest.approx(whole) and "binary" not in risk["bounds"]
    equal = answer(reconbench("risk", "--values", "4", "--mu", "1", "--json"))
    assert equal["baseline"] == 0.25


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("--baseline 0.1 --measure rda", "did you mean 'rad'?"),
        ("--baseline 0.1 --values 10", "give either --baseline or --prior-file, or else --values"),
        ("--values 0", "--values must be in [2, 1,000,000], got 0"),
        ("--values 100000000", "--values must be in [2, 1,000,000]"),
        ("--prior 0.5,0.6", "priors must add up to 1"),
        ("--prior 0.5,0.6 --measure rad", "prior must sum to 1"),
        ("--prior a,b", "--prior must be probabilities separated by commas"),
        ("--baseline 0.1 --measure rad", "measure rad needs the whole prior"),
        ("--prior-file best.csv --measure rad", "measure rad needs the whole prior"),
        ("--values 10 --knowledge any", "knowledge is for measure rad, got measure advantage"),
        ("--baseline 0.1 --knowledge none.csv", "knowledge is for measure rad"),
        ("--baseline 0.1 --knowledge any --measure rad", "measure rad needs the whole prior"),
        ("--values 10 --measure rad --knowledge short.csv", "each of the 10 values, got 2"),
        ("--values 10 --measure rad --within -1", "within must be >= 0"),
        ("--values 10 --measure rad --any-event", "any_event has no part in measure rad"),
        ("--values 10 --within 1", "within is for measure rad"),
        ("--baseline 0.1 --measure singling-out", "either records"),
        ("--values 10 --measure singling-out --records 9", "needs --baseline, the weight"),
        ("--baseline 0.1 --measure singling-out --records 99", "at most 1/records"),
        ("--baseline 0.1 --records 99", "records is for measure singling-out"),
        ("--baseline 0.1 --sensitivity inf", "sensitivity must be finite, got inf"),
        ("--baseline 0.1 --mechanism gaussian:sigma=?,sensitivity=?", "exactly one free parameter"),
        ("--baseline 0.1 --mechanism gausian:sigma=?", "did you mean 'gaussian'?"),
        ("--baseline 0.1 --mechanism gaussian:sgma=?", "did you mean 'sigma'?"),
        ("--baseline 0.1 --mechanism laplace:scale=", "must be name=value"),
        ("--baseline 0.1 --mechanism curve:points.csv", "exactly one free parameter"),
        (
            "--baseline 0.1 --mechanism randomized-response:epsilon=? --relation add-remove",
            "no conversion to add-or-remove-one",
        ),
    ],
)
def test_bad_input(reconbench: Run, tmp_path: Path, arguments: str, message: str) -> None:
    (tmp_path / "best.csv").write_text("prior\n0.5\n0.4\n")
    (tmp_path / "short.csv").write_text("group\na\nb\n")
    done = reconbench("calibrate", "--risk", "0.1", *arguments.split(), cwd=tmp_path)
    assert done.returncode == 2 and done.stdout == ""
    assert done.stderr.startswith("error: ") and done.stderr.count("\n") == 1
    assert message in done.stderr


COMMANDS = {
    "risk": ("risk", "--baseline", "0.1"),
    "ceiling": ("ceiling", "--prior", "0.5"),
    "compare-bounds": ("compare-bounds",),
    "calibrate": ("calibrate", "--risk", "0.1", "--baseline", "0.1"),
    "rad": ("rad", "--values", "4"),
}


@pytest.mark.parametrize("command", list(COMMANDS))
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("gausian:sigma=1", "unknown kind 'gausian' in mechanism; did you mean 'gaussian'?"),
        ("laplace:scael=1", "unknown parameter 'scael' of laplace; did you mean 'scale'?"),
        ("laplace", "laplace needs scale"),
        ("laplace:scale=", "must be name=value"),
        ("laplace:scale=-1", "scale of laplace must be in"),
        ("gaussian:sigma=?,sensitivity=?", "?"),
        ("curve:bent.csv,queries=?", "bent.csv: a trade-off curve must be convex"),
        ("curve:above.csv,queries=?", "above.csv: a trade-off curve must not exceed 1 − alpha"),
        ("randomized-response:epsilon=1,relation=add-remove", "no conversion"),
        ("gaussian:sigma=1+dp-sgd:noise=1,rate=0.1,steps=2", "share a neighbouring relation"),
    ],
)
def test_bad_mechanisms_in_every_command(
    reconbench: Run, tmp_path: Path, command: str, text: str, message: str
) -> None:
    """One line, exit 2: curves are read where a number stands in place of the `?`."""
    (tmp_path / "bent.csv").write_text("alpha,beta\n0,0.9\n0.4,0.59\n0.5,0.1\n1,0\n")
    (tmp_path / "above.csv").write_text("alpha,beta\n0,1\n0.5,0.7\n1,0\n")
    if command != "calibrate":
        text = text.replace(",queries=?", "")
    elif "?" not in text and ("+" in text or "epsilon=1" in text):
        text = text.replace("sigma=1", "sigma=?").replace("epsilon=1", "epsilon=?")
    done = reconbench(*COMMANDS[command], "--mechanism", text, cwd=tmp_path)
    assert done.returncode == 2 and done.stdout == ""
    assert done.stderr.startswith("error: ") and done.stderr.count("\n") == 1
    assert message in done.stderr
