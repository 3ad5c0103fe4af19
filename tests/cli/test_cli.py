from __future__ import annotations

import csv
import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]


def test_the_installed_command() -> None:
    command = Path(sys.executable).with_name("reconbench")
    done = subprocess.run([str(command), "list", "suites"], capture_output=True, text=True)
    assert done.returncode == 0 and "quick" in done.stdout
    done = subprocess.run([str(command), "run", "nope"], capture_output=True, text=True)
    assert done.returncode == 2 and done.stderr.startswith("error: unknown suite 'nope'")


GAME = ("game", "--dataset", "acs", "--targets", "SEX", "--epsilon", "1")


def test_game_prints_one_object_a_repetition(reconbench: Run) -> None:
    done = reconbench(
        *GAME,
        "--delta",
        "1e-5",
        "--k",
        "3",
        "--n",
        "100",
        "--attack",
        "rap",
        "--reps",
        "2",
        "--json",
    )
    assert done.returncode == 0, done.stderr
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert [row["rep"] for row in rows] == [0, 1]
    needed = {
        "dataset", "targets", "n", "mechanism_options", "epsilon", "delta", "facts", "attack",
        "seed",
        "metric", "successes", "baseline_successes", "baseline_expected", "ceilings", "seconds",
    }  # fmt: skip
    for row in rows:
        assert needed <= set(row)
        assert set(row["ceilings"]["cor34"]) == {"0.05", "0.5", "0.95"}
        assert set(row["ceilings"]["prior-exact"]) == {"mean"}


def test_jobs_do_not_change_the_numbers(reconbench: Run) -> None:
    outputs = []
    for jobs in ("1", "2"):
        done = reconbench(*GAME, "--reps", "4", "--json", "--jobs", jobs, "--option", "steps=40")
        rows = [json.loads(line) for line in done.stdout.splitlines()]
        for row in rows:
            del row["seconds"], row["peak_memory_mib"]
        outputs.append(json.dumps(rows))
    assert outputs[0] == outputs[1] and len(json.loads(outputs[0])) == 4


def test_readable_table_and_infinite_epsilon(reconbench: Run) -> None:
    done = reconbench(
        "game", "--dataset", "fire", "--targets", "ALS Unit", "--epsilon", "inf",
        "--attack", "prior", "--attack", "random", "--reps", "1",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "ALS Unit" in done.stdout and "prior" in done.stdout and "100/100/100" in done.stdout


PLUGIN_THAT_BREAKS = "raise OSError('no luck')\n"
PLUGIN_WITH_WRONG_SHAPE = (
    "class Bad:\n"
    "    name = 'bad'\n"
    "    def reconstruct(self, view, rng):\n"
    "        return view.reconstruction([[0, 0]])\n"
)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--targets", "NOPE"), "unknown column 'NOPE'"),
        (("--targets", "SEX,SEX"), "named twice"),
        (("--k", "17"), "k must be between 1 and the 16 columns, got 17"),
        (("--epsilon", "0"), "epsilon must be > 0"),
        (("--epsilon", "-1"), "epsilon must be > 0"),
        (("--delta", "1"), "delta must be in [0, 1)"),
        (("--delta", "-1"), "delta must be in [0, 1)"),
        (("--delta", "0"), "delta must be > 0"),
        (("--n", "0"), "n must be at least 1"),
        (("--known", "SEX"), "both known and a target"),
        (("--targets", "AGEP,SCHL,MAR,RELP,DIS,ESP,CIT,MIG,MIL,ANC,NATIVITY,DEAR,DEYE,DREM,RAC1P"),
         "no known column"),
        (("--dataset", "census"), "unknown dataset 'census'"),
        (("--dataset", "none.bif"), "no file"),
        (("--attack", "magic"), "unknown attack 'magic'"),
        (("--attack", "breaks.py:X"), "does not import: OSError: no luck"),
        (("--attack", "absent.py:X"), "no plugin file"),
        (("--attack", "shape.py:Bad"), "guesses must have shape (100, 1)"),
        (("--option", "steps"), "must be key=value"),
        (("--option", "spam=1"), "its options: steps"),
        (("--metric", "l9"), "unknown metric"),
        (("--mechanism", "magic"), "unknown mechanism"),
        (("--memory-limit", "0.1"), "memory limit must be at least 1 GiB"),
        (("--timeout", "inf"), "timeout must be a positive number of seconds, or 0 for none"),
    ],
)  # fmt: skip
def test_bad_input_is_one_line_and_exit_code_2(
    reconbench: Run, tmp_path: Path, arguments: tuple[str, ...], message: str
) -> None:
    (tmp_path / "breaks.py").write_text(PLUGIN_THAT_BREAKS)
    (tmp_path / "shape.py").write_text(PLUGIN_WITH_WRONG_SHAPE)
    before = sorted(tmp_path.iterdir())
    done = reconbench(*GAME, "--reps", "1", *arguments, cwd=tmp_path)
    assert done.returncode == 2 and done.stdout == ""
    assert done.stderr.startswith("error: ") and done.stderr.count("\n") == 1, done.stderr
    assert message in done.stderr
    assert [p for p in sorted(tmp_path.iterdir()) if p.name != "__pycache__"] == before


def test_bad_suites_write_nothing(reconbench: Run, tmp_path: Path) -> None:
    (tmp_path / "bad.toml").write_text(
        'name = "x"\ndescription = "x"\nattacks = ["prior"]\n'
        '[[games]]\ndataset = "acs"\ntargets = ["SEX", "NOPE"]\nepsilon = 1\n'
    )
    for arguments in (
        ("bad.toml", "--out", "out"),
        ("nope", "--out", "out"),
        ("smoke", "--out", "out", "--attack", "magic"),
    ):
        done = reconbench("run", *arguments, cwd=tmp_path)
        assert done.returncode == 2 and done.stderr.count("\n") == 1, done.stderr
        assert not (tmp_path / "out").exists()


def test_run_writes_the_leaderboard_and_resumes(reconbench: Run, tmp_path: Path) -> None:
    first = reconbench("run", "smoke", "--out", "out", "--reps", "1", cwd=tmp_path)
    assert first.returncode == 0, first.stderr
    assert first.stdout.splitlines()[-2:] == ["out/leaderboard.csv", "out/leaderboard.html"]
    csv_text = (tmp_path / "out" / "leaderboard.csv").read_text()
    rows = list(csv.DictReader(csv_text.splitlines()))
    assert {(row["dataset"], row["attack"]) for row in rows} == {
        (d, a) for d in ("acs", "fire") for a in ("prior", "rap", "posterior")
    }
    html = (tmp_path / "out" / "leaderboard.html").read_text()
    assert "ALS Unit" in html and not re.search(r'(src|href)="http', html)
    again = reconbench("run", "smoke", "--out", "out", "--reps", "1", "--json", cwd=tmp_path)
    assert json.loads(again.stdout)["rows"] == 6
    assert (tmp_path / "out" / "leaderboard.csv").read_text() == csv_text


PLUGIN_THAT_EXITS = (
    "import os\n"
    "class Exits:\n"
    "    name = 'exits'\n"
    "    def reconstruct(self, view, rng):\n"
    "        print('last words')\n"
    "        os._exit(3)\n"
)


def test_failed_attacks_do_not_stop_a_run(reconbench: Run, tmp_path: Path) -> None:
    (tmp_path / "shape.py").write_text(PLUGIN_WITH_WRONG_SHAPE)
    (tmp_path / "exits.py").write_text(PLUGIN_THAT_EXITS)
    command = ("run", "smoke", "--out", "out", "--reps", "1", "--jobs", "1")
    plugins = ("--attack", "exits.py:Exits", "--attack", "shape.py:Bad")
    done = reconbench(*command, *plugins, cwd=tmp_path)
    assert done.returncode == 0
    assert "4 rows failed; the first: attack 'exits' killed its player process (exit code 3)" in (
        done.stderr
    )
    html = (tmp_path / "out" / "leaderboard.html").read_text()
    assert "guesses must have shape" in html and "exit code 3" in html
    rows = list(csv.DictReader((tmp_path / "out" / "leaderboard.csv").read_text().splitlines()))
    ours = [row for row in rows if row["attack"] in ("prior", "rap", "posterior")]
    assert len(rows) == 10 and len(ours) == 6


def test_a_game_whose_attack_dies_is_one_line(reconbench: Run, tmp_path: Path) -> None:
    (tmp_path / "exits.py").write_text(PLUGIN_THAT_EXITS)
    done = reconbench(*GAME, "--reps", "1", "--attack", "exits.py:Exits", cwd=tmp_path)
    assert done.returncode == 2 and done.stdout == ""
    assert done.stderr == "error: attack 'exits' killed its player process (exit code 3)\n"


@pytest.mark.parametrize("what", ["attack", "mechanism", "dataset", "bounds", "metric", "suites"])
def test_lists(reconbench: Run, what: str) -> None:
    done = reconbench("list", what, "--json")
    found = json.loads(done.stdout)
    expected = {
        "attack": {"prior", "random", "rap"},
        "mechanism": {"exact-marginals", "gaussian-marginals"},
        "dataset": {"acs", "fire"},
        "metric": {"exact", "l1"},
        "bounds": {"thm32", "thm35", "cor34", "profile", "mean", "prior-exact", "fdp-recursion"},
        "suites": {"quick", "smoke"},
    }[what]
    assert expected <= set(found) and all(found.values())
    assert all(name in reconbench("list", what).stdout for name in expected)


@pytest.mark.parametrize(
    "command", [(), ("game",), ("run",), ("list",), ("data",), ("data", "fit")]
)
def test_help_teaches(reconbench: Run, command: tuple[str, ...]) -> None:
    done = reconbench(*command, "--help")
    assert done.returncode == 0
    if command not in ((), ("data",)):
        assert "Example" in done.stdout and "reconbench " in done.stdout


CSV = "sex,age,job\n" + "".join(f"{'FM'[i % 2]},{20 + i},{'abc'[i % 3]}\n" for i in range(60))
DOMAIN = {
    "attributes": [
        {"name": "sex", "labels": ["F", "M"]},
        {"name": "age", "edges": [0, 40, 60, 120]},
        {"name": "job", "labels": ["a", "b", "c"]},
    ]
}


def test_bring_your_own_table(reconbench: Run, tmp_path: Path) -> None:
    (tmp_path / "table.csv").write_text(CSV)
    (tmp_path / "domain.json").write_text(json.dumps(DOMAIN))
    fit = ("data", "fit", "table.csv", "--domain", "domain.json", "-o", "prior.bif")
    done = reconbench(*fit, "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["records"] == 60
    shown = reconbench("data", "describe", "prior.bif", cwd=tmp_path)
    assert shown.returncode == 0 and "age" in shown.stdout
    labels = reconbench("data", "describe", "prior.bif", "--column", "age", cwd=tmp_path)
    assert "[60, 120]" in labels.stdout
    played = reconbench(
        "game", "--dataset", "prior.bif", "--targets", "job", "--epsilon", "1", "--k", "2",
        "--n", "20", "--reps", "1", "--attack", "prior", "--json", cwd=tmp_path,
    )  # fmt: skip
    assert json.loads(played.stdout)["n"] == 20
    sample = reconbench("data", "sample", "prior.bif", "-n", "5", cwd=tmp_path)
    assert len(list(csv.DictReader(sample.stdout.splitlines()))) == 5


def test_drafted_domain_must_be_edited(reconbench: Run, tmp_path: Path) -> None:
    (tmp_path / "table.csv").write_text(CSV)
    draft = reconbench("data", "fit", "table.csv", "--suggest-domain", "domain.json", cwd=tmp_path)
    assert draft.returncode == 0 and (tmp_path / "domain.json").is_file()
    done = reconbench(
        "data", "fit", "table.csv", "--domain", "domain.json", "-o", "p.bif", cwd=tmp_path
    )
    assert done.returncode == 2 and "draft" in done.stderr
    assert not (tmp_path / "p.bif").exists()


@pytest.mark.parametrize(
    ("table", "domain", "message"),
    [
        (CSV.replace("F,20,a", "X,20,a"), DOMAIN, "has no label 'X'"),
        (CSV.replace("F,20,a", ",20,a"), DOMAIN, "missing"),
        (CSV.replace("sex,age,job", "sex,age,age"), DOMAIN, "duplicate column 'age'"),
        (CSV.replace("sex,age,job", "sex,age,task"), DOMAIN, "'task'"),
        (CSV, {"attributes": DOMAIN["attributes"][:2]}, "'job'"),
        (CSV, {"attributes": []}, "at least one attribute"),
        ("", DOMAIN, "table.csv"),
    ],
)
def test_bad_tables(
    reconbench: Run, tmp_path: Path, table: str, domain: object, message: str
) -> None:
    (tmp_path / "table.csv").write_text(table)
    (tmp_path / "domain.json").write_text(json.dumps(domain))
    done = reconbench(
        "data", "fit", "table.csv", "--domain", "domain.json", "-o", "prior.bif", cwd=tmp_path
    )
    assert done.returncode == 2 and done.stderr.count("\n") == 1, done.stderr
    assert message in done.stderr
    assert sorted(p.name for p in tmp_path.iterdir()) == ["domain.json", "table.csv"]


def test_fit_needs_a_domain(reconbench: Run, tmp_path: Path) -> None:
    (tmp_path / "table.csv").write_text(CSV)
    done = reconbench("data", "fit", "table.csv", "-o", "prior.bif", cwd=tmp_path)
    assert done.returncode == 2 and "--suggest-domain" in done.stderr


def test_fetch_from_a_file(reconbench: Run, tmp_path: Path) -> None:
    header = "Call Type,Call Final Disposition,City,Zipcode of Incident,Battalion,Station Area"
    header += ",Priority,ALS Unit,Call Type Group,Number of Alarms"
    row = "Alarms,Fire,San Francisco,94102,B02,03,3,true,Alarm,1"
    (tmp_path / "calls.csv").write_text(f"{header}\n{row}\n")
    done = reconbench("data", "fetch", "fire", "--file", "calls.csv", "-o", "f.csv", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "1 records" in done.stdout and (tmp_path / "f.domain.json").is_file()
