"""`reconbench rad`: priors, knowledge and mechanisms as text, bounds that hold, figures, errors."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from reconbench.bounds import GaussianDP, LaplaceDP, PureDP, parse_guarantee
from reconbench.bounds.rad import (
    GRR,
    LocationNoise,
    Secret,
    rad_any_aux,
    rad_exact,
    rad_exact_aux,
    rad_gaussian,
    rad_laplace,
    rad_oue,
    rad_profile,
    rad_report,
)

Run = Callable[..., Any]
PRIOR = [0.4, 0.1, 0.3, 0.05, 0.15]
JOBS = (
    "value,probability,group\nnurse,0.4,hospital\ndoctor,0.1,hospital\nteacher,0.3,school\n"
    "head,0.05,school\nclerk,0.15,office\n"
)


def answer(done: Any) -> dict[str, Any]:
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_a_budget_and_equally_likely_values(reconbench: Run) -> None:
    found = answer(reconbench("rad", "--values", "10", "--epsilon", "1", "--delta", "0", "--json"))
    assert found["advantage"] == pytest.approx(rad_exact(1.0, 10))
    assert found["attained"] and found["relation"] == "replace-one"
    assert found["reference"] == "Guerra-Balboa 2026, Theorem 5.3 (corrected)"
    assert found["bounds"]["cor54"]["advantage"] == pytest.approx(found["advantage"])
    assert found["bounds"]["thm42"]["advantage"] == pytest.approx(rad_any_aux(PureDP(1.0), 10))
    assert "mechanism itself" in found["not_applicable"]["thm43"]
    assert found["attack"] is None and found["most"] == pytest.approx(0.9)
    shown = reconbench("rad", "--values", "10", "--epsilon", "1").stdout
    assert "advantage at most 0.131977 of 0.9 possible" in shown
    assert "replace-one neighbours; attained" in shown and "exact-aux" in shown


def test_priors_from_texts_and_files(reconbench: Run, tmp_path: Path) -> None:
    (tmp_path / "jobs.csv").write_text(JOBS)
    (tmp_path / "row.csv").write_text("p0,p1,p2,p3,p4\n0.4,0.1,0.3,0.05,0.15\n")
    text = ",".join(map(str, PRIOR))
    found = [
        answer(reconbench("rad", *how, "--mu", "1", "--json", cwd=tmp_path))
        for how in (("--prior", text), ("--prior-file", "jobs.csv"), ("--prior-file", "row.csv"))
    ]
    assert found[0] == found[1] == found[2]
    assert found[0]["advantage"] == pytest.approx(rad_profile(GaussianDP(1.0), PRIOR))
    assert found[0]["bound"] == "exact-profile" and found[0]["baseline"] == 0.4


def test_knowledge(reconbench: Run, tmp_path: Path) -> None:
    (tmp_path / "jobs.csv").write_text(JOBS)
    asked = ("rad", "--prior-file", "jobs.csv", "--epsilon", "1", "--delta", "0", "--json")
    groups = answer(reconbench(*asked, "--knowledge", "jobs.csv", cwd=tmp_path))
    assert groups["bound"] == "exact-aux" and groups["knowledge"] == "groups"
    assert groups["advantage"] == pytest.approx(rad_exact_aux(1.0, PRIOR, [0, 0, 1, 1, 2]))
    assert groups["baseline"] == pytest.approx(0.85) and "3 groups" in groups["known"]
    unknown = answer(reconbench(*asked, "--knowledge", "any", cwd=tmp_path))
    whole = answer(reconbench(*asked, "--knowledge", "all", cwd=tmp_path))
    nothing = answer(reconbench(*asked, "--knowledge", "none", cwd=tmp_path))
    assert unknown["advantage"] == whole["advantage"] >= groups["advantage"]
    assert nothing == answer(reconbench(*asked, cwd=tmp_path))
    assert "unknown" in unknown["known"] and "took part" in whole["known"]
    assert set(unknown["bounds"]) == {"thm42", "profile-aux", "exact-aux"}


def test_mechanisms_in_their_own_units(reconbench: Run) -> None:
    text = "laplace:scale=5,queries=2"
    found = answer(reconbench("rad", "--values", "8", "--mechanism", text, "--json"))
    assert found["mechanism"] == text
    assert found["advantage"] == pytest.approx(rad_profile(parse_guarantee(text), 8))
    added = ("--mechanism", "gaussian:sigma=2", "--relation", "add-remove")
    found = answer(reconbench("rad", "--values", "8", *added, "--json"))
    assert found["relation"] == "add-or-remove-one" and found["replace_one"] == "1-GDP, replace-one"
    assert found["advantage"] == pytest.approx(rad_profile(GaussianDP(1.0), 8))
    assert "used as" in reconbench("rad", "--values", "8", *added).stdout


def test_mechanisms_that_are_known_in_full(reconbench: Run, tmp_path: Path) -> None:
    (tmp_path / "jobs.csv").write_text(JOBS)
    file = ("--prior-file", "jobs.csv")
    oue = answer(
        reconbench("rad", "--channel", "oue", "--epsilon", "2", *file, "--json", cwd=tmp_path)
    )
    assert oue["bound"] == "thm43" and oue["attained"] and oue["channel"] == "oue"
    assert oue["advantage"] == pytest.approx(rad_oue(2.0, PRIOR))
    assert oue["reference"] == "Guerra-Balboa 2026, Theorem 4.3"
    assert all(row["advantage"] >= oue["advantage"] for row in oue["bounds"].values())
    grr = ("rad", "--channel", "grr", "--epsilon", "4", "--values", "100")
    found = answer(reconbench(*grr, "--json"))
    assert found["attack"]["success"] == pytest.approx(GRR(4.0, 100).truthful)
    shown = reconbench(*grr).stdout
    assert "optimal attack" in shown and "if the target did not take part" in shown
    within = answer(
        reconbench("rad", "--channel", "ss", "--epsilon", "1", *file, "--knowledge", "jobs.csv",
                   "--within", "1", "--json", cwd=tmp_path)
    )  # fmt: skip
    assert within["bound"] == "thm43" and within["within"] == 1.0


def test_noise_in_the_unit_of_the_numbers(reconbench: Run) -> None:
    laplace = ("rad", "--channel", "laplace", "--values", "11")
    by_budget = answer(reconbench(*laplace, "--epsilon", "2", "--json"))
    assert by_budget["advantage"] == pytest.approx(rad_laplace(2.0, 11))
    by_noise = answer(reconbench(*laplace, "--noise", "50", "--gap", "10", "--json"))
    assert by_noise["advantage"] == pytest.approx(by_budget["advantage"])
    assert by_noise["guarantee"] == LaplaceDP(2.0).describe()
    gaussian = ("rad", "--channel", "gaussian", "--values", "11")
    by_mu = answer(reconbench(*gaussian, "--mu", "2", "--json"))
    assert by_mu["advantage"] == pytest.approx(rad_gaussian(0.5, 11))
    by_pair = answer(reconbench(*gaussian, "--epsilon", "1", "--delta", "1e-5", "--json"))
    assert by_pair["guarantee"] == "0.268-GDP, replace-one"
    near = ("--noise", "50", "--within", "2")
    shown = reconbench("rad", "--channel", "laplace", "--values", "21", *near)
    assert "the exact value is at least" in shown.stdout
    found = answer(reconbench("rad", "--channel", "laplace", "--values", "21", *near, "--json"))
    expected = rad_report(LocationNoise("laplace", 50.0, 21), Secret.of(21, "none", 2.0))
    assert found["advantage"] == pytest.approx(expected["advantage"])


@pytest.mark.parametrize(
    "how",
    [
        ("--epsilon", "1"),
        ("--mu", "1"),
        ("--mechanism", "laplace:scale=5+pure:epsilon=0.1"),
        ("--channel", "ss", "--epsilon", "2"),
        ("--channel", "gaussian", "--noise", "3"),
    ],
)
def test_figures(reconbench: Run, tmp_path: Path, how: tuple[str, ...]) -> None:
    done = reconbench("rad", "--values", "6", *how, "--figure", "rad.svg", cwd=tmp_path)
    assert done.returncode == 0 and done.stdout.rstrip().endswith("rad.svg"), done.stderr
    root = ET.fromstring((tmp_path / "rad.svg").read_text(encoding="utf-8"))
    texts = {each.text for each in root.iter("{http://www.w3.org/2000/svg}text")}
    assert {"thm42", "profile-aux", "exact"} <= texts
    assert any(
        str(text).startswith(("epsilon = ", "mu = ", "scale = ", "noise = ")) for text in texts
    )
    assert ("thm43" in texts) == ("--channel" in how)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("--values 10", "give either --epsilon (with --delta) or --mu, or --mechanism"),
        ("--epsilon 1", "give one of --values, --prior and --prior-file"),
        ("--epsilon 1 --values 10 --prior 0.5,0.5", "give one of --values, --prior"),
        ("--epsilon 1 --values 1", "--values must be in [2, 1,000,000], got 1"),
        ("--epsilon 1 --values 10000000", "--values must be in [2, 1,000,000]"),
        ("--epsilon 1 --prior 0.5,0.6", "prior must sum to 1 within 1e-06, got 1.1"),
        ("--epsilon 1 --prior 0.5,half", "--prior must be probabilities separated by commas"),
        ("--epsilon 1 --prior 1.5,-0.5", "prior must be in [0, 1], got 1.5"),
        ("--epsilon 1 --prior nan,1", "prior must be in [0, 1], got nan"),
        ("--epsilon 1 --prior-file sum.csv", "prior must sum to 1"),
        ("--epsilon 1 --prior-file text.csv", "text.csv: every value must be a number, got 'x'"),
        ("--epsilon 1 --prior-file two.csv", "two.csv must have one prior: a column `probability`"),
        ("--epsilon 1 --prior-file empty.csv", "empty.csv has no rows"),
        ("--epsilon 1 --prior-file none.csv", "cannot read none.csv"),
        (
            "--epsilon 1 --values 10 --knowledge short.csv",
            "one row for each of the 10 values, got 2",
        ),
        ("--epsilon 1 --values 10 --knowledge nobody", "must be none, any, all or a CSV file"),
        ("--epsilon 1 --values 2 --knowledge two.csv", "two.csv must have a column `group`"),
        ("--epsilon 1 --values 10 --within -1", "within must be >= 0"),
        ("--epsilon 1 --values 10 --within 9", "within must be below 9"),
        ("--epsilon 1 --values 10 --within nan", "within must be a number"),
        ("--epsilon 1 --values 10 --gap 0", "gap must be > 0"),
        ("--epsilon 0 --values 10", "epsilon must be > 0"),
        ("--epsilon 1 --values 10 --delta 1", "delta must be in [0, 1)"),
        ("--values 10 --mechanism gausian:sigma=1", "did you mean 'gaussian'?"),
        ("--values 10 --mechanism gaussian:sgma=1", "did you mean 'sigma'?"),
        ("--values 10 --mechanism gaussian:sigma=?", "sigma of gaussian must be a number, got '?'"),
        ("--values 10 --mechanism gdp:mu=1 --mu 1", "give --mechanism without --epsilon"),
        (
            "--values 10 --mechanism randomized-response:epsilon=1 --relation add-remove",
            "no conversion to add-or-remove-one",
        ),
        ("--values 10 --epsilon 1 --noise 2", "--noise is for --channel laplace or gaussian"),
        ("--values 10 --channel grrr --epsilon 1", "got 'grrr': did you mean 'grr'?"),
        ("--values 10 --channel grr", "--channel grr needs --epsilon"),
        ("--values 10 --channel oue --epsilon 1 --mu 1", "and no --mu or --noise"),
        ("--values 10 --channel laplace --noise 0", "scale must be > 0"),
        ("--values 10 --channel laplace --mu 1", "--channel laplace needs --noise or --epsilon"),
        ("--values 10 --channel gaussian --epsilon 1 --noise 1", "one of them"),
        ("--values 10 --channel laplace --epsilon inf", "epsilon must be finite with noise"),
        ("--values 10 --channel grr --epsilon 1 --gaussian", "give --channel without --mechanism"),
        ("--values 10 --epsilon inf --figure f.svg", "--figure needs a finite epsilon"),
        ("--values 10 --mechanism rdp:order=2,epsilon=1 --figure f.svg", "has none"),
        ("--values 10 --epsilon 1 --figure .", "cannot write .: it is a folder"),
        ("--values 10 --epsilon 1 --figure no/f.svg", "cannot write no/f.svg"),
    ],
)
def test_bad_input(reconbench: Run, tmp_path: Path, arguments: str, message: str) -> None:
    (tmp_path / "sum.csv").write_text("probability\n0.5\n0.6\n")
    (tmp_path / "text.csv").write_text("probability\n0.5\nx\n")
    (tmp_path / "two.csv").write_text("p0,p1\n0.5,0.5\n0.4,0.6\n")
    (tmp_path / "empty.csv").write_text("probability\n")
    (tmp_path / "short.csv").write_text("group\na\nb\n")
    done = reconbench("rad", *arguments.split(), cwd=tmp_path)
    assert done.returncode == 2 and done.stdout == ""
    assert done.stderr.startswith("error: ") and done.stderr.count("\n") == 1
    assert message in done.stderr
