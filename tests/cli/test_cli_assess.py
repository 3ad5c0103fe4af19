"""`reconbench assess`."""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from reconbench.benchmarks import plugins
from reconbench.datasets import Attribute, Domain, Table
from reconbench.datasets.atomic_files import write_json_atomic
from reconbench.mechanisms import GaussianMarginals
from reconbench.mechanisms.marginals_csv import read_release, write_release

Run = Callable[..., Any]
ROOT = Path(__file__).resolve().parents[2]
SCRIPT = "<script>alert(1)</script>"
DOMAIN = Domain(
    (
        Attribute("age", ("young", "old", SCRIPT)),
        Attribute("sex", ("f", "m")),
        Attribute("income", ("low", "=cmd()", "high")),
        Attribute("flat", ("one", "two")),
    )
)
FAST = ("--k", "2", "--reps", "2", "--epsilons", "1,5", "--quiet")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rng = np.random.default_rng(5)
    age, sex = rng.integers(0, 3, 40), rng.integers(0, 2, 40)
    income = (age + rng.integers(0, 2, 40)) % 3
    table = Table(DOMAIN, np.column_stack([age, sex, income, np.zeros(40, dtype=np.int64)]))
    table.to_pandas().to_csv(tmp_path / "people.csv", index=False)
    write_json_atomic(tmp_path / "domain.json", DOMAIN.to_json())
    played = table.project(["age", "sex", "income"])
    mechanism = GaussianMarginals.for_budget(played.domain, ["income"], 2.0, 1e-5, k=2)
    write_release(mechanism.release(played, rng), tmp_path / "marginals.csv")
    return tmp_path


ASSESS = ("assess", "people.csv", "--domain", "domain.json", "--epsilon", "1", *FAST)
TARGETS = ("--targets", "income", "--known", "age,sex")


def test_a_report(reconbench: Run, folder: Path) -> None:
    done = reconbench(*ASSESS, *TARGETS, "--max-risk", "0.1", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "Without any release, an attacker who knows age and sex" in done.stdout
    assert done.stdout.splitlines()[-3:] == [
        f"assessment/report.{kind}" for kind in ("json", "md", "html")
    ]
    out = folder / "assessment"
    found = json.loads((out / "report.json").read_text())
    assert [each["epsilon"] for each in found["budgets"]] == [1.0, 5.0]
    assert found["source"]["left_out"] == ["flat"] and (out / "prior.bif").is_file()
    assert SCRIPT not in (out / "report.html").read_text()
    assert "<script" not in (out / "report.md").read_text()
    again = reconbench(
        *ASSESS,
        *TARGETS,
        "--max-risk",
        "0.1",
        "--prior",
        "assessment/prior.bif",
        "--json",
        "--out",
        "again",
        cwd=folder,
    )
    assert again.returncode == 0, again.stderr
    assert json.loads(again.stdout)["budgets"] == found["budgets"]


def test_it_is_the_game(reconbench: Run, folder: Path) -> None:
    reconbench(*ASSESS, *TARGETS, cwd=folder)
    found = json.loads((folder / "assessment" / "report.json").read_text())
    rows = reconbench(
        "game", "--dataset", "assessment/prior.bif", *TARGETS, "--epsilon", "5", "--n", "40",
        "--k", "2", "--reps", "2", "--attack", "posterior", "--json", cwd=folder,
    ).stdout.splitlines()  # fmt: skip
    share = np.mean([json.loads(row)["successes"] for row in rows]) / 40
    at = next(each for each in found["budgets"][1]["attacks"] if each["attack"] == "posterior")
    assert at["fresh"]["value"] == pytest.approx(share)


def test_records_with_weights_in_households(reconbench: Run, folder: Path) -> None:
    """Columns beside the table, a budget in rho, a prior of others, and the risk of each record."""
    lines = (folder / "people.csv").read_text().splitlines()
    extra = [f"{line},{1 + i % 3},h{i // 4}" for i, line in enumerate(lines[1:])]
    (folder / "people.csv").write_text("\n".join([f"{lines[0]},w,home", *extra]) + "\n")
    command = (
        "assess", "people.csv", "--domain", "domain.json", *TARGETS, "--k", "2", "--reps", "1",
        "--rho", "0.5", "--rhos", "0.1,0.5", "--weight-column", "w", "--group-column", "home",
        "--prior-split", "0.5", "--per-record", "records.csv",
    )  # fmt: skip
    done = reconbench(*command, "--json", cwd=folder)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert [budget["rho"] for budget in found["budgets"]] == pytest.approx([0.1, 0.5])
    assert found["groups"] == {"column": "home", "groups": 10, "largest": 4}
    assert found["source"]["prior_records"] == 20 and found["source"]["weights"] == "w"
    assert found["budgets"][0]["ceiling"]["high"] is None
    assert "records.csv: confidential" in done.stderr
    assert (folder / "records.csv").stat().st_mode & 0o777 == 0o600
    assert len((folder / "records.csv").read_text().splitlines()) == 1 + 20
    page = " ".join((folder / "assessment" / "report.md").read_text().split())
    assert "| ε | ρ | guessed without a release, % |" in page and "no release | –" in page
    assert "Every record stands for as many people as its w says" in page
    assert "20 other records (a random 50 % of people.csv)" in page
    assert "belong together, 4 at most" in page
    again = reconbench(*command, "--json", cwd=folder)
    assert "4 of 4" not in again.stderr and json.loads(again.stdout)["budgets"] == found["budgets"]


PUBLISHED = ("assess", "--release", "marginals.csv", "--domain", "domain.json", "--quiet")


def test_a_published_release(reconbench: Run, folder: Path) -> None:
    truth = ("--truth", "people.csv", *TARGETS)
    done = reconbench(*PUBLISHED, *truth, "--epsilon", "2", "--json", cwd=folder)
    assert done.returncode == 0, done.stderr
    (row,) = json.loads(done.stdout)["budgets"]
    assert row["ceiling"]["mean"] < 1 and row["epsilon"] == 2.0
    done = reconbench(
        *PUBLISHED, *truth, "--noise-sd", str(row["noise_sd"]), "--json", "-o", "sd", cwd=folder
    )
    (other,) = json.loads(done.stdout)["budgets"]
    assert other["ceiling"] is None and other["epsilon"] is None
    assert other["prior_real"] == row["prior_real"]
    assert "there is no ceiling" in (folder / "sd" / "report.html").read_text()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("assess", *TARGETS, "--epsilon", "1"), "needs a table"),
        (("assess", "people.csv", *TARGETS, "--domain", "domain.json"), "needs --epsilon"),
        (("assess", "people.csv", *TARGETS, "--epsilon", "1"), "needs --domain"),
        (("assess", "none.csv", *ASSESS[2:], *TARGETS), "cannot read none.csv"),
        ((*ASSESS, "--targets", "wealth"), "unknown column 'wealth'"),
        ((*ASSESS, "--targets", "income", "--known", "income,age"), "both known and a target"),
        (ASSESS, "at least one target"),
        ((*ASSESS, "--targets", "flat"), "single value 'one'"),
        ((*ASSESS, *TARGETS, "--epsilon", "-1"), "epsilon must be > 0"),
        ((*ASSESS, *TARGETS, "--epsilons", "1,x"), "takes comma-separated numbers"),
        ((*ASSESS, *TARGETS, "--max-risk", "2"), "max-risk"),
        ((*ASSESS, *TARGETS, "--measure", "fear"), "--measure must be"),
        ((*ASSESS, *TARGETS, "--metric", "l1:1"), "not ordinal"),
        ((*ASSESS, *TARGETS, "--attack", "magic"), "unknown attack 'magic'"),
        ((*ASSESS, *TARGETS, "--prior", "people.csv"), ".bif file"),
        ((*ASSESS, *TARGETS, "--truth", "people.csv"), "needs --release"),
        ((*ASSESS, *TARGETS, "--out", "people.csv"), "cannot make the folder"),
        ((*ASSESS, *TARGETS, "--rho", "1"), "needs --epsilon, the budget you have in mind, or"),
        ((*ASSESS, *TARGETS, "--rhos", "1"), "--rhos goes with --rho"),
        ((*ASSESS, *TARGETS, "--weight-column", "w"), "has no column 'w'"),
        ((*ASSESS, *TARGETS, "--weight-column", "age"), "--weight-column 'age' is about records"),
        ((*ASSESS, *TARGETS, "--group-column", "home"), "has no column 'home'"),
        ((*ASSESS, *TARGETS, "--prior-from", "none.csv"), "cannot read none.csv"),
        ((*ASSESS, *TARGETS, "--prior-split", "2"), "leaves nothing to fit"),
        ((*ASSESS, *TARGETS, "--prior-split", "0.5", "--prior", "x.bif"), "at most one of --prior"),
        ((*ASSESS, *TARGETS, "--per-record", "people.csv/r.csv"), "cannot make the folder"),
        ((*PUBLISHED, *TARGETS, "--epsilon", "1"), "needs --truth"),
        ((*PUBLISHED, *TARGETS, "--truth", "people.csv"), "--epsilon"),
        ((*PUBLISHED, "--targets", "income", "--truth", "people.csv", "--epsilon", "1"), "missing"),
        (
            (*PUBLISHED, *TARGETS, "--truth", "people.csv", "--epsilon", "1", "--max-risk", "0.1"),
            "do not combine it with --release",
        ),
    ],
)
def test_bad_input_is_one_line(
    reconbench: Run, folder: Path, arguments: tuple[str, ...], message: str
) -> None:
    done = reconbench(*arguments, cwd=folder)
    assert done.returncode == 2 and message in done.stderr, done.stderr
    assert done.stderr.startswith("error: ") and done.stderr.count("\n") == 1
    assert not (folder / "assessment").exists()


PLAYED = ("assess", "people.csv", "--domain", "domain.json", *TARGETS, "--epsilon", "9", "--quiet")
PGM = ("--mechanism", "pgm", "--mechanism-option", "structure=star")


def test_a_synthetic_table_that_is_planned(reconbench: Run, folder: Path) -> None:
    done = reconbench(
        *PLAYED, *PGM, "--epsilons", "9", "--reps", "1", "--held-out", "people.csv", cwd=folder
    )
    assert done.returncode == 0, done.stderr
    assert "With a synthetic table of 40 rows by pgm at ε = 9" in done.stdout
    assert "no attack on this release can expect to gain more" in done.stdout
    assert "off by" in done.stdout and "not in the table" in done.stdout
    document = json.loads((folder / "assessment" / "report.json").read_text())
    assert document["mechanism"]["name"] == "pgm"
    assert document["source"]["held_out"] == "people.csv"
    (budget,) = document["budgets"]
    assert budget["best"]["gain"]["value"] > 0 and budget["memorisation"]["records"] == 40


JUDGED = ("assess", "--synthetic", "people.csv", "--domain", "domain.json", "--quiet")


def test_a_synthetic_table_that_is_out(reconbench: Run, folder: Path) -> None:
    """The people themselves, published as if somebody had made them up."""
    truth = ("--truth", "people.csv", "--attack", "knn")
    stated = ("--epsilon", "1", "--delta", "1e-6", "--relation", "add-remove")
    done = reconbench(*JUDGED, *TARGETS, *truth, *stated, "--json", cwd=folder)
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    (budget,) = document["budgets"]
    assert document["mechanism"]["relation"] == "add-or-remove-one" and budget["ceiling"]
    assert document["question"]["attacks"] == ["prior", "picked", "stack", "knn"]
    assert (folder / "assessment" / "prior.bif").is_file()
    prior = ("--prior", "assessment/prior.bif")
    done = reconbench(*JUDGED, *TARGETS, *truth, *prior, "--out", "silent", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "No guarantee was stated, so there is no ceiling" in done.stdout
    assert not (folder / "silent" / "prior.bif").exists()
    page = (folder / "silent" / "report.html").read_text()
    assert SCRIPT not in page and "Few rows are no protection" in page


def test_a_synthetic_table_without_its_truth(reconbench: Run, folder: Path) -> None:
    lines = (folder / "people.csv").read_text().splitlines()
    (folder / "out.csv").write_text("\n".join([*lines, *lines[1:]]) + "\n")
    judged = ("assess", "--synthetic", "out.csv", "--domain", "domain.json", "--quiet")
    done = reconbench(*judged, *TARGETS, "--epsilon", "1", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "cannot be said without them" in done.stdout and "46.2 percentage points" in done.stdout
    document = json.loads((folder / "assessment" / "report.json").read_text())
    assert document["measured_success"] is None and document["source"]["fitted"]
    assert not (folder / "assessment" / "prior.bif").exists()
    page = (folder / "assessment" / "report.html").read_text()
    assert "No success was measured" in page and SCRIPT not in page


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((*PLAYED, "--mechanism", "magic"), "unknown mechanism 'magic'"),
        ((*PLAYED, "--mechanism-option", "rows=5"), "has no option 'rows'"),
        ((*PLAYED, *PGM, "--k", "2"), "has no option 'k'"),
        ((*PLAYED, *PGM, "--mechanism-option", "rows"), "must be key=value"),
        ((*PLAYED, *PGM, "--mechanism-option", "rows=0"), "rows is 0"),
        ((*PLAYED, "--mechanism", "pgm", "--mechanism-option", "structure=a+b"), "unknown column"),
        ((*PLAYED, "--access", "measurements"), "needs a mechanism that fits a synthetic table"),
        ((*PLAYED, "--access", "all"), "--access must be table or measurements"),
        ((*PLAYED, *PGM, "--attack", "rap"), "attack 'rap' cannot play"),
        ((*PLAYED, *PGM, "--held-out", "none.csv"), "cannot read none.csv"),
        ((*PLAYED, "--relation", "add-remove"), "needs --synthetic and --epsilon"),
        ((*PUBLISHED, *TARGETS, "--mechanism", "pgm"), "do not combine it with --release"),
        ((*JUDGED, *TARGETS, *PGM), "do not combine it with --synthetic"),
        ((*JUDGED, *TARGETS, "--reps", "3"), "do not combine it with --synthetic"),
        ((*JUDGED, *TARGETS, "--noise-sd", "3"), "is about marginals: do not combine"),
        ((*JUDGED, *TARGETS, "--release", "marginals.csv"), "is about marginals: do not combine"),
        ((*JUDGED[:1], "people.csv", *JUDGED[1:], *TARGETS), "is named by --truth"),
        ((*JUDGED, *TARGETS, "--delta", "0.1"), "it needs --epsilon"),
        ((*JUDGED, *TARGETS, "--relation", "add-remove"), "it needs --epsilon"),
        ((*JUDGED, *TARGETS, "--epsilon", "1", "--relation", "next"), "relation must be"),
        ((*JUDGED, *TARGETS, "--epsilon", "0"), "epsilon must be"),
        ((*JUDGED, *TARGETS, "--held-out", "people.csv"), "needs --truth"),
        ((*JUDGED, *TARGETS, "--prior-from", "people.csv"), "needs --truth"),
        ((*JUDGED, *TARGETS, "--rho", "1"), "do not combine it with --synthetic"),
        ((*JUDGED, *TARGETS), "40 rows, fewer than 50"),
        ((*JUDGED, "--targets", "income,age,sex,flat"), "at least one column known"),
        ((*JUDGED, *TARGETS, "--truth", "marginals.csv"), "'marginal' is not in the domain"),
        ((*JUDGED[:2], "marginals.csv", *JUDGED[3:], *TARGETS), "lacks 3 of the known and target"),
        ((*JUDGED[:3], *TARGETS), "--synthetic needs --domain"),
    ],
)
def test_bad_input_about_synthetic_tables(
    reconbench: Run, folder: Path, arguments: tuple[str, ...], message: str
) -> None:
    done = reconbench(*arguments, cwd=folder)
    assert done.returncode == 2 and message in done.stderr, done.stderr
    errors = [line for line in done.stderr.splitlines() if not line.startswith("assess:")]
    assert len(errors) == 1 and errors[0].startswith("error: ")
    assert not (folder / "assessment").exists()


def test_labels_of_a_synthetic_table_that_nobody_declared(reconbench: Run, folder: Path) -> None:
    lines = (folder / "people.csv").read_text().splitlines()
    strange = [line.replace("young", "youngish") for line in lines]
    (folder / "people.csv").write_text("\n".join(strange) + "\n")
    done = reconbench(*JUDGED, *TARGETS, cwd=folder)
    count = sum("youngish" in line for line in strange)
    assert done.returncode == 2
    assert f"'age' has 1 label in {count} of 40 rows ('youngish')" in done.stderr
    assert not (folder / "assessment").exists()


def test_too_few_records_and_bad_labels(reconbench: Run, folder: Path) -> None:
    lines = (folder / "people.csv").read_text().splitlines()
    (folder / "people.csv").write_text("\n".join(lines[:6]) + "\n")
    done = reconbench(*ASSESS, *TARGETS, cwd=folder)
    assert done.returncode == 2 and "5 records, fewer than 10" in done.stderr
    (folder / "people.csv").write_text("\n".join([*lines, "x" * 10_000 + ",f,low,one"]) + "\n")
    done = reconbench(*ASSESS, *TARGETS, cwd=folder)
    assert done.returncode == 2 and len(done.stderr) < 500


def test_help_teaches(reconbench: Run) -> None:
    text = " ".join(reconbench("assess", "--help").stdout.split())
    for words in (
        "domain file",
        "--max-risk",
        "confidential",
        "Examples:",
        "--release",
        "--synthetic released.csv",
        "--mechanism pgm",
        "without any release",
    ):
        assert words in text


def test_a_release_for_publication(reconbench: Run, tmp_path: Path) -> None:
    """OpenDP's noise is whole numbers, and the file can be read and assessed."""
    if find_spec("opendp") is None and not os.environ.get("CI"):
        pytest.skip("needs the extra reconbench[release]")
    prior = plugins.load_prior("acs")
    domain = prior.domain.project(["AGEP", "MAR", "SEX"])
    table = prior.sample(50, np.random.default_rng(0)).project(domain.names)
    table.to_pandas().to_csv(tmp_path / "t.csv", index=False)
    (tmp_path / "d.json").write_text(json.dumps(domain.to_json()))
    command = ("data", "release", "t.csv", "--domain", "d.json", "-o", "m.csv", "-k", "2")
    budget = ("--epsilon", "2", "--delta", "1e-6")
    done = reconbench(*command, *budget, "--targets", "SEX", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    stated = json.loads(done.stdout)
    assert stated["marginals"] == 2 and stated["relation"] == "replace-one"
    assert stated["rho"] == pytest.approx(2 / stated["scale"] ** 2)
    file = read_release(tmp_path / "m.csv", domain)
    assert all((answer == answer.round()).all() for answer in file.answers.values())
    assert "zCDP" in reconbench(*command, *budget).stdout
    (tmp_path / "m.csv").unlink()
    bad = reconbench(*command, "--epsilon", "2", "--delta", "0")
    assert bad.returncode == 2 and "delta must be" in bad.stderr
    assert not (tmp_path / "m.csv").exists()


def test_a_published_table_is_judged_as_the_page_shows(
    reconbench: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The section of docs/synthetic.md, from its files to its two reports."""
    monkeypatch.chdir(tmp_path)
    page = (ROOT / "docs" / "synthetic.md").read_text(encoding="utf-8")
    section = page.partition("## Judge a table that is out")[2]
    code, *commands = re.findall(r"```(?:python|console)\n(.*?)```", section, flags=re.DOTALL)
    exec(compile(code, "synthetic.md", "exec"), {})
    for command in commands[:2]:
        _, *arguments = shlex.split(command.replace("\\\n", "").removeprefix("$ "))
        done = reconbench(*arguments)
        assert done.returncode == 0, (command, done.stderr)
    assert "What an attacker learns" in (tmp_path / "assessment" / "report.md").read_text()
    assert "No success was measured" in (tmp_path / "outside" / "report.md").read_text()


def test_pages_say_that_releases_are_not_for_publishing() -> None:
    for name in ("README.md", "docs/assess.md", "mechanisms/marginals_csv.py"):
        text = " ".join((ROOT / name).read_text(encoding="utf-8").split())
        assert "floating point" in text and "Mironov 2012" in text, name
