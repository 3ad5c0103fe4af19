from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]


def answer(done: Any) -> dict[str, Any]:
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_ceilings_of_a_budget(reconbench: Run) -> None:
    done = reconbench(
        "ceiling", "--prior", "0.56", "--n", "100", "--epsilon", "1", "--delta", "1e-5", "--json"
    )
    found = answer(done)
    assert found["bounds"]["thm35"]["ceilings"] == {"0.05": 71, "0.5": 78, "0.95": 84}
    assert found["bounds"]["thm35"]["reference"] == "Swanberg 2025, Theorem 3.5"
    assert {"profile", "mean", "prior-exact"} <= set(found["bounds"])
    assert found["n"] == 100 and found["relation"] == "replace-one"


@pytest.mark.parametrize("how", [("--mu", "0.268051"), ("--epsilon", "1", "--gaussian")])
def test_a_gaussian_mechanism_is_bounded_more_tightly(
    reconbench: Run, how: tuple[str, ...]
) -> None:
    found = answer(reconbench("ceiling", "--prior", "0.56", "--n", "100", *how, "--json"))
    ceilings = {name: entry["ceilings"] for name, entry in found["bounds"].items()}
    assert ceilings["thm35"]["0.95"] == 84 and ceilings["profile"]["0.95"] == 77
    assert ceilings["mean"]["mean"] == pytest.approx(66.2, abs=0.05)
    assert ceilings["prior-exact"]["mean"] < ceilings["mean"]["mean"]


def test_a_small_prior(reconbench: Run) -> None:
    found = answer(
        reconbench("ceiling", "--prior", "0.1", "--epsilon", "3", "--gaussian", "--json")
    )
    ceilings = {name: entry["ceilings"] for name, entry in found["bounds"].items()}
    assert ceilings["thm35"]["0.95"] == 77 and ceilings["profile"]["0.95"] == 46


def test_pure_budgets_have_theorem_32(reconbench: Run) -> None:
    found = answer(
        reconbench("ceiling", "--prior", "0.5", "--epsilon", "1", "--delta", "0", "--json")
    )
    assert "thm32" in found["bounds"] and found["guarantee"] == "1-DP, replace-one"


def test_prior_files_bounds_and_confidences(reconbench: Run, tmp_path: Path) -> None:
    (tmp_path / "best.csv").write_text("prior\n0.5\n0.25\n1\n0\n")
    (tmp_path / "whole.csv").write_text("p0,p1,p2\n0.5,0.3,0.2\n1,0,\n0.25,0.25,0.5\n")
    best = answer(
        reconbench(
            "ceiling", "--prior-file", "best.csv", "--epsilon", "inf", "--bound", "thm35",
            "--confidence", "0.99", "--json", cwd=tmp_path,
        )
    )  # fmt: skip
    assert set(best["bounds"]) == {"thm35"} and best["n"] == 4
    assert best["bounds"]["thm35"]["ceilings"] == {"0.99": 3}
    whole = answer(
        reconbench("ceiling", "--prior-file", "whole.csv", "--mu", "0", "--json", cwd=tmp_path)
    )
    assert whole["bounds"]["prior-exact"]["ceilings"]["mean"] == pytest.approx(2.0)


def test_risk(reconbench: Run) -> None:
    found = answer(reconbench("risk", "--baseline", "0.1", "--mu", "1", "--json"))
    assert found["tv"] == pytest.approx(0.382925, abs=1e-6)
    assert found["bounds"]["f-dp"]["success"] == pytest.approx(0.389144, abs=1e-6)
    assert found["advantage"] == pytest.approx(found["success"] - 0.1)
    assert "f-dp" in reconbench("risk", "--baseline", "0.1", "--mu", "1").stdout


def test_calibrate(reconbench: Run) -> None:
    """The ε that protects a uniform 9-digit secret (Swanberg 2025: 17.8)."""
    arguments = ("calibrate", "--risk", "0.05", "--baseline", "1e-9", "--measure", "advantage")
    found = answer(reconbench(*arguments, "--json"))
    assert found["epsilon"] == pytest.approx(17.779, abs=1e-3)
    assert found["risk"]["epsilon"] <= 0.05 and found["sigma"] == pytest.approx(1 / found["mu"])
    assert "17.77" in reconbench(*arguments).stdout


def test_relations(reconbench: Run) -> None:
    """The noise for sensitivity 1 under add-remove is twice that for replace-one, here."""
    arguments = ("calibrate", "--risk", "0.191463", "--baseline", "0.5")
    one = answer(reconbench(*arguments, "--json"))
    other = answer(reconbench(*arguments, "--relation", "add-remove", "--json"))
    assert one["relation"] == "replace-one" and one["sigma"] == pytest.approx(1.0, abs=1e-4)
    assert other["relation"] == "add-or-remove-one"
    assert other["sigma"] == pytest.approx(2.0, abs=1e-4)
    assert other["bound"] == {"epsilon": "prior-exact", "mu": "prior-exact"}
    shared = ("--mu", "1", "--relation", "add-remove", "--json")
    risk = answer(reconbench("risk", "--baseline", "0.5", *shared))
    assert risk["advantage"] == pytest.approx(0.341, abs=5e-4)
    assert risk["relation"] == "add-or-remove-one" and risk["bound"]
    table = answer(reconbench("compare-bounds", *shared))
    assert table["bounds"]["thm35"]["relation"] == "replace-one"
    added = answer(reconbench("ceiling", "--prior", "0.5", "--n", "10", *shared))
    doubled = answer(reconbench("ceiling", "--prior", "0.5", "--n", "10", "--mu", "2", "--json"))
    assert added["bounds"] == doubled["bounds"]
    assert added["relation"] == "add-or-remove-one" and added["replace_one"] == "2-GDP, replace-one"


def test_one_name_is_one_bound(reconbench: Run) -> None:
    found = answer(reconbench("risk", "--baseline", "0.6", "--epsilon", "1", "--json"))["bounds"]
    assert found["thm35"]["success"] == pytest.approx(0.803052, abs=1e-6)
    assert found["profile"]["success"] == pytest.approx(0.784849, abs=1e-6)


def test_calibrating_with_whole_priors_and_in_sentences(reconbench: Run, tmp_path: Path) -> None:
    (tmp_path / "whole.csv").write_text("p0,p1,p2\n0.5,0.3,0.2\n")
    found = answer(
        reconbench(
            "calibrate", "--risk", "0.1", "--prior-file", "whole.csv", "--json", cwd=tmp_path
        )
    )
    assert found["sigma"] == pytest.approx(0.996, abs=5e-4)
    assert found["bound"]["mu"] == "prior-exact"
    free = reconbench("calibrate", "--risk", "0.1", "--baseline", "0.9").stdout
    assert "no noise is needed" in free and "None" not in free
    never = reconbench("calibrate", "--risk", "0.05", "--baseline", "0.1", "--measure", "success")
    assert "unreachable: no mu keeps the risk" in never.stdout


def test_compare_and_draw(reconbench: Run, tmp_path: Path) -> None:
    done = reconbench("compare-bounds", "--epsilon", "1", "--figure", "f.svg", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "f-dp" in done.stdout and (tmp_path / "f.svg").read_text().startswith("<svg")
    found = answer(reconbench("compare-bounds", "--mu", "1", "--baseline", "0.2", "--json"))
    assert found["baselines"] == [0.2]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("ceiling", "--prior", "1.5", "--epsilon", "1"), "must be in [0, 1], got 1.5"),
        (("ceiling", "--prior", "nan", "--epsilon", "1"), "must be in [0, 1], got nan"),
        (("ceiling", "--prior", "0.5", "--epsilon", "0"), "epsilon must be > 0"),
        (("ceiling", "--prior", "0.5", "--epsilon", "1", "--delta", "1"), "delta must be in"),
        (("ceiling", "--prior", "0.5", "--mu", "-1"), "mu must be >= 0"),
        (("ceiling", "--prior", "0.5", "--mu", "1", "--confidence", "1"), "strictly between"),
        (("ceiling", "--prior", "0.5", "--mu", "1", "--bound", "thm9"), "unknown bound 'thm9'"),
        (("ceiling", "--prior", "0.5"), "give either --epsilon (with --delta) or --mu"),
        (("ceiling", "--epsilon", "1"), "give either --prior (with --n) or --prior-file"),
        (("ceiling", "--prior-file", "none.csv", "--mu", "1"), "cannot read none.csv"),
        (("ceiling", "--prior-file", "empty.csv", "--mu", "1"), "has no rows"),
        (("ceiling", "--prior-file", "text.csv", "--mu", "1"), "must be a number"),
        (("ceiling", "--prior-file", "odd.csv", "--mu", "1"), "must have a column `prior`"),
        (("ceiling", "--prior-file", "sum.csv", "--mu", "1"), "must add up to 1"),
        (("risk", "--baseline", "2", "--mu", "1"), "baseline must be in [0, 1]"),
        (("calibrate", "--risk", "2", "--baseline", "0.1"), "threshold must be in [0, 1]"),
        (("risk", "--baseline", "0.1", "--mu", "1", "--relation", "swap"), "relation must be"),
        (("calibrate", "--risk", "0.1"), "give either --baseline or --prior-file"),
        (("calibrate", "--risk", "0.1", "--baseline", "0.1", "--measure", "x"), "one of success"),
        (("risk", "--baseline", "0.1", "--mechanism", "gdp:m=1"), "did you mean 'mu'?"),
        (("risk", "--baseline", "0.1", "--mechanism", "gdp:mu=?"), "must be a number, got '?'"),
        (
            ("risk", "--baseline", "0.1", "--mechanism", "gdp:mu=1", "--mu", "1"),
            "give --mechanism without --epsilon, --mu and --gaussian",
        ),
        (("compare-bounds", "--mechanism", "gdp:mu=1", "--epsilon", "1"), "without --epsilon"),
        (("ceiling", "--prior", "0.5", "--mechanism", "curve:no.csv"), "cannot read the curve"),
        (
            ("risk", "--baseline", "0.1", "--mechanism", "pure:epsilon=1", "--relation", "swap"),
            "relation must be",
        ),
        (
            ("calibrate", "--risk", "0.1", "--baseline", "0.1", "--mechanism", "gdp:mu=1"),
            "exactly one free parameter (?) to calibrate, got none",
        ),
        (
            (
                "calibrate",
                "--risk",
                "0.1",
                "--baseline",
                "0.1",
                "--mechanism",
                "gdp:mu=?",
                "--sensitivity",
                "2",
            ),
            "give sensitivity=... within --mechanism",
        ),
    ],
)
def test_bad_input(
    reconbench: Run, tmp_path: Path, arguments: tuple[str, ...], message: str
) -> None:
    (tmp_path / "empty.csv").write_text("prior\n")
    (tmp_path / "text.csv").write_text("prior\nhigh\n")
    (tmp_path / "odd.csv").write_text("a,b\n1,2\n")
    (tmp_path / "sum.csv").write_text("p0,p1\n0.5,0.6\n")
    done = reconbench(*arguments, cwd=tmp_path)
    assert done.returncode == 2 and done.stdout == ""
    assert done.stderr.startswith("error: ") and done.stderr.count("\n") == 1
    assert message in done.stderr


def test_mechanisms_by_text(reconbench: Run) -> None:
    """The same numbers as the budget that the mechanism stands for, with its relation."""
    for command in (
        ("risk", "--baseline", "0.1"),
        ("ceiling", "--prior", "0.5", "--n", "10"),
        ("compare-bounds", "--baseline", "0.1"),
    ):
        stated = answer(reconbench(*command, "--mu", "0.5", "--json"))
        text = answer(reconbench(*command, "--mechanism", "gaussian:sigma=2.0", "--json"))
        assert text.pop("mechanism") == "gaussian:sigma=2"
        assert text == stated
    sgd = ("--mechanism", "dp-sgd:noise=1,rate=0.01,steps=20")
    found = answer(reconbench("risk", "--baseline", "0.1", *sgd, "--json"))
    assert found["relation"] == "add-or-remove-one" and found["bound"] == "f-dp"
    assert found["bounds"]["prior-exact"]["relation"] == "replace-one"
    assert found["guarantee"] == f"{sgd[1]}, add-or-remove-one"
    other = answer(
        reconbench("risk", "--baseline", "0.1", *sgd, "--relation", "replace-one", "--json")
    )
    assert other["relation"] == "replace-one" and other["tv"] > found["tv"]


def test_calibrating_a_mechanism(reconbench: Run, tmp_path: Path) -> None:
    (tmp_path / "whole.csv").write_text("p0,p1,p2\n0.5,0.3,0.2\n")
    arguments = ("calibrate", "--risk", "0.1", "--prior-file", "whole.csv")
    found = answer(
        reconbench(*arguments, "--mechanism", "gaussian:sigma=?", "--json", cwd=tmp_path)
    )
    assert found["value"] == pytest.approx(0.996, abs=1e-3) and found["parameter"] == "sigma"
    assert found["bound"] == "prior-exact" and found["risk"] <= 0.1
    shown = reconbench(*arguments, "--mechanism", "gaussian:sigma=?", cwd=tmp_path).stdout
    assert found["solved"] in shown and "sigma at least" in shown
    (tmp_path / "many.csv").write_text("prior\n" + "0.5\n" * 100)
    share = answer(
        reconbench("calibrate", "--risk", "0.9", "--prior-file", "many.csv", "--measure",
                   "ceiling", "--mechanism", "pure:epsilon=?", "--json", cwd=tmp_path)
    )  # fmt: skip
    assert share["bound"] == "thm35" and share["risk"] <= 0.9 and share["value"] > 0.1


def test_commands_of_the_documentation(reconbench: Run) -> None:
    """The commands of docs/risk.md give the answers that it prints."""
    text = (Path(__file__).parents[2] / "docs" / "risk.md").read_text(encoding="utf-8")
    commands = [
        shlex.split(line.removeprefix("$ reconbench "))
        for line in text.splitlines()
        if line.startswith("$ reconbench risk")
    ]
    printed = ("0.0151", "0.461", "0.344", "1.483e-3")
    for command, value in zip(commands, printed, strict=True):
        assert value in text
        found = answer(reconbench(*command, "--json"))
        assert found["success"] == pytest.approx(float(value), rel=2e-3)
