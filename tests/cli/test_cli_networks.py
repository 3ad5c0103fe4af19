"""BIF files and standard networks on the command line; what is wrong is one line, exit code 2."""

from __future__ import annotations

import gzip
import json
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from reconbench.datasets import standard_networks

Run = Callable[..., Any]

WILD = """network "my net" { property made by = hand; }
variable "Body mass" { type discrete [ 3 ] { <18.5, 18.5-30, >=30 }; }
variable Smoker { type discrete [ 2 ] { yes, no }; }
probability ( Smoker ) { table 0.25, 0.75; }
probability ( "Body mass" | Smoker ) { (yes) 0.2 0.5 0.3; default 0.1 0.9 0.0; }"""


@pytest.mark.parametrize("name", ["wild.bif", "wild.bif.gz"])
def test_any_file_plays(reconbench: Run, tmp_path: Path, name: str) -> None:
    content = WILD.encode()
    (tmp_path / name).write_bytes(gzip.compress(content) if name.endswith("z") else content)
    flags = ("--targets", "Body mass", "--epsilon", "1", "--k", "2", "--n", "10", "--reps", "1")
    done = reconbench("game", "--dataset", name, *flags, "--attack", "rap", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    row = json.loads(done.stdout)
    assert (row["dataset"], row["known"], row["targets"]) == (name, ["Smoker"], ["Body mass"])
    described = json.loads(reconbench("data", "describe", name, "--json").stdout)
    assert described["columns"][0] == {"name": "Body mass", "labels": ["<18.5", "18.5-30", ">=30"]}
    assert (described["card"]["title"], described["card"]["cells"]) == ("my net", 8)
    listed = reconbench("data", "describe", name).stdout
    assert "my net" in listed and "rows sum to 1" in listed
    columns = f"columns:{name}:Body mass"
    assert reconbench("data", "sample", columns, "-n", "3").stdout.count("\n") == 4


def test_suites_take_packed_files_and_columns_of_files(reconbench: Run, tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "wild.bif.gz").write_bytes(gzip.compress(WILD.encode()))
    (tmp_path / "there" / "own.toml").write_text(
        'name = "own"\ndescription = "x"\nrepetitions = 1\nattacks = ["prior"]\n'
        '[[games]]\nepsilon = 1\nk = 2\nn = 5\ndataset = "wild.bif.gz"\ntargets = "each"\n'
        '[[games]]\nepsilon = 1\nk = 2\nn = 5\ndataset = "columns:wild.bif.gz:Smoker"\n'
        'targets = [["Smoker"]]\n'
    )
    done = reconbench("run", "there/own.toml", "--out", "out", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    shown = json.loads(reconbench("suite", "show", "there/own.toml", "--json").stdout)
    assert len(shown["games"]) == 3


BOMB = gzip.compress(b"network x { } " + b" " * (80 << 20), compresslevel=1)
CYCLE = WILD.replace("( Smoker ) { table 0.25, 0.75;", '( Smoker | "Body mass" ) { default 1 0;')


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("x.bif.gz", BOMB, "x.bif.gz unpacks to more than 64 MiB"),
        ("x.bif.gz", b"nothing", "cannot read"),
        ("x.bif", CYCLE.encode(), "x.bif: the network is cyclic: 'Body mass' -> 'Smoker' ->"),
        ("x.bif", WILD.replace("0.25", "-0.25").encode(), "not a probability"),
        ("x.bif", WILD.replace("0.25", "NaN").encode(), "holds something not a number"),
        ("x.bif", WILD.replace("0.25", "0.35").encode(), "off by 0.1, at most 0.01 is allowed"),
        ("x.bif", b"", "declares no variable"),
        ("x.bif", b"\x1f\x8b\x00", "packed by gzip; let its name end in .gz"),
    ],
)
@pytest.mark.parametrize(
    "command",
    [
        ("game", "--dataset", "x", "--targets", "Smoker", "--epsilon", "1"),
        ("data", "describe", "x"),
        ("data", "sample", "x", "-o", "out.csv"),
    ],
    ids=lambda command: " ".join(command[:2]),
)
def test_bad_files_are_one_line(
    reconbench: Run,
    tmp_path: Path,
    command: tuple[str, ...],
    name: str,
    content: bytes,
    message: str,
) -> None:
    (tmp_path / name).write_bytes(content)
    done = reconbench(*(name if part == "x" else part for part in command), cwd=tmp_path)
    assert done.returncode == 2 and done.stdout == ""
    assert done.stderr.startswith("error: ") and done.stderr.count("\n") == 1
    assert message in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_a_file_and_its_codebook_that_disagree(reconbench: Run, tmp_path: Path) -> None:
    (tmp_path / "x.bif").write_text(WILD)
    codebook = {
        "format": "reconbench-prior/1",
        "domain": {"attributes": [{"name": "Smoker", "labels": ["yes", "no"]}]},
        "identifiers": {"Smoker": "Smoker"},
        "visit_order": ["Smoker"],
    }
    (tmp_path / "x.json").write_text(json.dumps(codebook))
    done = reconbench("data", "describe", "x.bif", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "does not match its domain: variable 'Body mass' is in only one" in done.stderr


def test_near_names_of_data_sets_and_columns(reconbench: Run) -> None:
    for name, hint in [("insurance", "bn:insurance"), ("bn:asai", "bn:asia"), ("acd", "acs")]:
        done = reconbench("data", "describe", name)
        assert done.returncode == 2 and f"did you mean '{hint}'?" in done.stderr
    done = reconbench("data", "describe", "bn:munin", "--column", "DIFN_SEV")
    assert done.returncode == 2 and "did you mean 'DIFFN_SEV'?" in done.stderr
    assert "(1041 in all)" in done.stderr and len(done.stderr) < 2_000


def test_data_sets_are_listed_with_their_cards(reconbench: Run) -> None:
    listed = json.loads(reconbench("list", "datasets", "--json").stdout)
    assert (
        listed["bn:insurance"]["columns"] == 27 and "CC BY-SA" in listed["bn:insurance"]["licence"]
    )
    assert listed["acs"]["columns"] == 16 and listed["acs"]["source"]
    assert {"uniform:M", "columns:DATASET:A,B"} <= set(listed)
    shown = reconbench("list", "datasets").stdout
    assert all(name in shown for name in ("dataset", "columns", "licence", "source", "bn:alarm"))


def test_what_describe_suggests_plays(reconbench: Run) -> None:
    shown = reconbench("data", "describe", "bn:pathfinder").stdout
    assert "Heckerman" in shown and "CC BY-SA" in shown
    (line,) = (line for line in shown.splitlines() if line.startswith("play: reconbench "))
    command = shlex.split(line.removeprefix("play: reconbench "))
    done = reconbench(*command, "--n", "10", "--reps", "1", "--attack", "prior", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["dataset"] == "bn:pathfinder"


def test_without_pgmpy(reconbench: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    standard_networks._load.cache_clear()
    monkeypatch.setattr(standard_networks, "find_spec", lambda name: None)
    done = reconbench("data", "describe", "bn:survey")
    assert done.returncode == 2 and done.stderr.count("\n") == 1
    assert "bn:survey is read from the package pgmpy" in done.stderr
    assert "columns" not in json.loads(reconbench("list", "datasets", "--json").stdout)["bn:survey"]
