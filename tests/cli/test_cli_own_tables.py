"""Own tables on the command line: three commands from a table as it is to a report."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

Run = Callable[..., Any]
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """People as a German spreadsheet writes them: semicolons, Latin-1, decimal commas, gaps."""
    rng = np.random.default_rng(0)
    lines = ["Nr;Alter;Größe;Wohnort;Raucher"]
    for i in range(300):
        age, height = rng.integers(18, 90), f"{rng.normal(1.7, 0.1):.2f}".replace(".", ",")
        town = rng.choice(["Köln", "Mainz", ""], p=[0.6, 0.3, 0.1])
        smoker = rng.choice(["ja", "nein"], p=[0.7, 0.3] if town == "Köln" else [0.1, 0.9])
        lines.append(f"{i + 1};{age};{height};{town};{smoker}")
    (tmp_path / "x.csv").write_bytes("\r\n".join([*lines, ""]).encode("latin-1"))
    return tmp_path


SAID = "x.csv: semicolon-separated, Latin-1, decimal comma"


def edit(path: Path) -> None:
    """What a person does with a draft, at the least."""
    draft = json.loads(path.read_text(encoding="utf-8"))
    del draft["draft"]
    path.write_text(json.dumps(draft), encoding="utf-8")


def test_from_a_spreadsheet_to_a_report_in_three_commands(reconbench: Run, folder: Path) -> None:
    drafted = reconbench("data", "fit", "x.csv", "--suggest-domain", "d.json", cwd=folder)
    assert drafted.returncode == 0 and drafted.stderr == f"{SAID}\n"
    edit(folder / "d.json")
    fitted = reconbench("data", "fit", "x.csv", "--domain", "d.json", "-o", "p.bif", cwd=folder)
    assert fitted.returncode == 0, fitted.stderr
    assert fitted.stderr.startswith(f"{SAID}; missing values read as 'NA': Wohnort (")
    assert "of 6 pairs" in fitted.stdout or "of 6" in fitted.stdout
    assessed = reconbench(
        "assess", "x.csv", "--domain", "d.json", "--targets", "Raucher", "--known",
        "Alter,Wohnort", "--epsilon", "1", "--epsilons", "1", "--reps", "1", cwd=folder,
    )  # fmt: skip
    assert assessed.returncode == 0, assessed.stderr
    assert assessed.stderr.startswith(SAID)
    document = json.loads((folder / "assessment" / "report.json").read_text())
    assert document["source"]["format"] == SAID.removeprefix("x.csv: ")
    assert document["source"]["fit"]["independent"] == []
    assert "written as" in (folder / "assessment" / "report.md").read_text()


def test_fit_says_in_json_and_on_the_card_what_it_did(reconbench: Run, folder: Path) -> None:
    reconbench("data", "fit", "x.csv", "--suggest-domain", "d.json", cwd=folder)
    edit(folder / "d.json")
    options = ("--domain", "d.json", "-o", "p.bif", "--structure", "independent", "--json")
    done = reconbench("data", "fit", "x.csv", *options, cwd=folder)
    assert done.returncode == 0, done.stderr
    summary = json.loads(done.stdout)
    assert summary["read"]["format"] == SAID.removeprefix("x.csv: ")
    assert summary["read"]["missing"].keys() == {"Wohnort"} and summary["records_dropped"] == 0
    card = json.loads((folder / "p.json").read_text())["card"]
    for misfit in (summary["misfit"], card["misfit"]):
        assert misfit["pairs"] == 6 and misfit["missed"] == 1
        (worst,) = misfit["largest"]
        assert worst["columns"] == ["Wohnort", "Raucher"] and worst["bits"] > 0.1
    shown = reconbench("data", "fit", "x.csv", *options[:-1], cwd=folder)
    assert "1 of 6 pairs of columns depart from the network beyond chance" in shown.stdout
    assert "Wohnort and Raucher: 0." in shown.stdout


def test_assess_warns_of_a_prior_that_misses_much(reconbench: Run, folder: Path) -> None:
    reconbench("data", "fit", "x.csv", "--suggest-domain", "d.json", cwd=folder)
    edit(folder / "d.json")
    fit = ("data", "fit", "x.csv", "--domain", "d.json", "-o", "p.bif")
    reconbench(*fit, "--structure", "independent", cwd=folder)
    done = reconbench(
        "assess", "x.csv", "--domain", "d.json", "--prior", "p.bif", "--targets", "Raucher",
        "--epsilon", "1", "--epsilons", "1", "--reps", "1", "--quiet", cwd=folder,
    )  # fmt: skip
    assert done.returncode == 0 and done.stderr == ""
    assert "Take care: the prior holds Raucher independent of all known columns" in done.stdout
    assert "most of all of Wohnort and Raucher" in done.stdout


def test_records_that_are_dropped_are_counted(reconbench: Run, folder: Path) -> None:
    reconbench("data", "fit", "x.csv", "--suggest-domain", "d.json", cwd=folder)
    draft = json.loads((folder / "d.json").read_text(encoding="utf-8"))
    del draft["draft"]
    for attribute in draft["attributes"]:
        if "missing" in attribute:
            attribute["missing"] = {"codes": [""], "drop": True}
    (folder / "d.json").write_text(json.dumps(draft))
    fit = ("data", "fit", "x.csv", "--domain", "d.json", "-o", "p.bif", "--json")
    done = reconbench(*fit, cwd=folder)
    dropped = (folder / "x.csv").read_bytes().count(b";;")
    assert f"{dropped} of 300 records dropped, for missing values: Wohnort" in done.stderr
    summary = json.loads(done.stdout)
    assert (summary["records"], summary["records_dropped"]) == (300 - dropped, dropped)


def test_parquet_and_published_tables_go_through_the_same_reader(
    reconbench: Run, folder: Path
) -> None:
    pd = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    reconbench("data", "fit", "x.csv", "--suggest-domain", "d.json", cwd=folder)
    edit(folder / "d.json")
    frame = pd.read_csv(folder / "x.csv", sep=";", encoding="latin-1", decimal=",")
    frame.to_parquet(folder / "x.parquet")
    fit = ("--domain", "d.json", "--json", "-o")
    csv = json.loads(reconbench("data", "fit", "x.csv", *fit, "a.bif", cwd=folder).stdout)
    found = reconbench("data", "fit", "x.parquet", *fit, "b.bif", cwd=folder)
    assert json.loads(found.stdout)["data_sha256"] == csv["data_sha256"]
    assert found.stderr.startswith("x.parquet: Parquet; missing values")
    for truth in ((), ("--truth", "x.parquet", "--attack", "knn")):
        judged = reconbench(
            "assess", "--synthetic", "x.csv", "--domain", "d.json", "--targets", "Raucher",
            "--known", "Alter,Wohnort", "--out", f"out{len(truth)}", *truth, cwd=folder,
        )  # fmt: skip
        assert judged.returncode == 0, judged.stderr
        assert judged.stderr.startswith("x.csv: semicolon-separated, Latin-1; missing values")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "it is empty"),
        (b"a;b\r\n", "no records"),
        (b"a;b\r\n1;x\r\n", "a draft needs at least 2 records"),
        (b"a;b\r\n1;x\r\n1;x\r\n", "no column is left"),
        (b"a;b\r\n1;x\r\n2\r\n", "line 3 has 1 cells"),
        (b"a;a\r\n1;x\r\n", "duplicate column 'a'"),
        (b"a;b\r\n1;\0x\r\n", "line 2 has a NUL byte"),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\x01", "binary file"),
        (b"PK\x03\x04\x14\0", "workbook or a zip"),
        (b"a;b\r\n" + b"x" * 5000 + b";1\r\n", "cell of 5000 characters"),
        (b"a,b;c\r\n1,2;3\r\n4,5;6\r\n", "comma or semicolon; state the separator (--separator)"),
        (b"a;b\r\n1,5;2.5\r\n2,5;3.5\r\n", "state one style (--decimal)"),
        (b"a;b\r\n1,555;x\r\n2,666;y\r\n", "state the decimal sign (--decimal)"),
        (b"a;b\r\n\xc3\xa4;x\r\n\xe4\xc3\xb6;y\r\n", "state its encoding (--encoding)"),
    ],
)
def test_bad_tables_are_one_line(
    reconbench: Run, tmp_path: Path, content: bytes, message: str
) -> None:
    (tmp_path / "x.csv").write_bytes(content)
    done = reconbench("data", "fit", "x.csv", "--suggest-domain", "d.json", cwd=tmp_path)
    assert done.returncode == 2 and message in done.stderr, done.stderr
    assert done.stderr.startswith("error: ") and done.stderr.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["x.csv"]


def test_what_cannot_be_told_can_be_stated(reconbench: Run, tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_bytes(b"a,b;c\r\n1,222;3\r\n4,555;6\r\n")
    options = ("--separator", "semicolon", "--decimal", "comma", "--encoding", "latin-1")
    draft = ("data", "fit", "x.csv", "--suggest-domain", "d.json")
    done = reconbench(*draft, *options, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stderr == "x.csv: semicolon-separated, latin-1, decimal comma\n"
    for option, value in (("--separator", ":"), ("--decimal", "dot"), ("--encoding", "klingon")):
        done = reconbench(*draft, option, value, cwd=tmp_path)
        assert done.returncode == 2 and f"{option} must" in done.stderr


def test_nothing_of_the_users_is_overwritten(reconbench: Run, folder: Path) -> None:
    """A prior's codebook has the name of its network, as a domain file may have."""
    draft = ("data", "fit", "x.csv", "--suggest-domain")
    for _ in range(2):  # a draft may be drafted again
        assert reconbench(*draft, "x.json", cwd=folder).returncode == 0
    edit(folder / "x.json")
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    for path in ("x.json", "x.csv"):
        done = reconbench(*draft, path, cwd=folder)
        assert done.returncode == 2 and f"{path} exists and is no draft" in done.stderr
    done = reconbench("data", "fit", "x.csv", "--domain", "x.json", "-o", "x.bif", cwd=folder)
    assert done.returncode == 2 and "x.json, which would overwrite x.json" in done.stderr
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_a_table_of_one_record_is_not_fitted(reconbench: Run, tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("a,b\n1,2\n")
    (tmp_path / "d.json").write_text('{"a": 2, "b": 3}')
    done = reconbench("data", "fit", "x.csv", "--domain", "d.json", "-o", "p.bif", cwd=tmp_path)
    assert done.returncode == 2 and "x.csv has 1 record; a network needs at least 2" in done.stderr
    assert not (tmp_path / "p.bif").exists()


def test_a_domain_of_sizes_and_a_constant_column(reconbench: Run, tmp_path: Path) -> None:
    """The format of AIM and MST; a column that never changes is no obstacle."""
    rng = np.random.default_rng(0)
    lines = [f"{a},{a if rng.random() < 0.8 else 0},1" for a in rng.integers(0, 3, 200)]
    (tmp_path / "x.csv").write_text("\n".join(["a,b,c", *lines]) + "\n")
    (tmp_path / "d.json").write_text('{"a": 3, "b": 3, "c": 2}')
    fit = ("data", "fit", "x.csv", "--domain", "d.json", "-o", "p.bif", "--json")
    done = reconbench(*fit, cwd=tmp_path)
    assert done.returncode == 0 and json.loads(done.stdout)["misfit"]["pairs"] == 3


@pytest.mark.parametrize(
    ("arguments", "near"),
    [
        (("--targets", "raucher"), "'Raucher'"),
        (("--targets", "Raucher", "--known", "alter,Wohnort"), "'Alter'"),
        (("--targets", "Raucher", "--known", "Wohnrt"), "'Wohnort'"),
    ],
)
def test_near_names_are_suggested(
    reconbench: Run, folder: Path, arguments: tuple[str, ...], near: str
) -> None:
    reconbench("data", "fit", "x.csv", "--suggest-domain", "d.json", cwd=folder)
    edit(folder / "d.json")
    assess = ("assess", "x.csv", "--domain", "d.json", "--epsilon", "1", "--quiet")
    done = reconbench(*assess, *arguments, cwd=folder)
    assert done.returncode == 2 and f"did you mean {near}?" in done.stderr
    assert done.stderr.count("\n") == 1


def test_the_page_shows_commands_that_run(
    reconbench: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The section of docs/data.md: a table is made, drafted, edited, fitted and assessed."""
    monkeypatch.chdir(tmp_path)
    page = (ROOT / "docs" / "data.md").read_text(encoding="utf-8")
    section = page.partition("## From a spreadsheet to a report")[2].partition("\n## ")[0]
    blocks = re.findall(r"```(python|console)\n(.*?)```", section, flags=re.DOTALL)
    assert [kind for kind, _ in blocks] == ["python", "console", "python", "console"]
    for kind, text in blocks:
        if kind == "python":
            exec(compile(text, "data.md", "exec"), {})
            continue
        for command in re.findall(r"^\$ (.*)", text.replace("\\\n", ""), flags=re.MULTILINE):
            _, *arguments = shlex.split(command)
            done = reconbench(*arguments)
            assert done.returncode == 0, (command, done.stderr)
    assert (tmp_path / "assessment" / "report.html").is_file()
