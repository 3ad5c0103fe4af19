"""`run` and `suite show` with axes of the suite replaced."""

from __future__ import annotations

import csv
import json
import os
import shlex
import shutil
import subprocess
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from reconbench.benchmarks.suites.axis_values import REPLACEABLE
from reconbench.datasets import save_prior
from reconbench.datasets.shipped import acs

Run = Callable[..., Any]
ROOT = Path(__file__).parents[2]

# A prior of a class of its own, so that processes that meet it must import its file.
TOY = '''
import numpy as np
from reconbench.datasets import Attribute, BayNet, Domain
class Toy(BayNet):
    """Two coins and a die."""
def toy():
    """Two coins and a die."""
    names, sizes = ("coin", "other", "die"), (2, 2, 6)
    domain = Domain(tuple(
        Attribute(name, tuple(map(str, range(size)))) for name, size in zip(names, sizes)
    ))
    return Toy(domain, ((), (), ()), tuple(np.full(size, 1 / size) for size in sizes), names)
'''
PEEK = '''
class Peek:
    """The likeliest value of a prior that must be the toy's own."""
    name = "peek"
    def reconstruct(self, view, rng):
        assert type(view.prior).__name__ == "Toy", type(view.prior)
        return view.reconstruction(view.prior.conditional(view.known, view.targets).argmax(axis=1))
'''


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "toy.py").write_text(TOY)
    (tmp_path / "peek.py").write_text(PEEK)
    return tmp_path


def read_csv(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


def test_a_prior_in_a_file_meets_workers_and_players(reconbench: Run, folder: Path) -> None:
    """The attack in a file plays in a player, which sees the prior that another file defines."""
    done = reconbench(
        *("run", "smoke", "--dataset", "toy.py:toy", "--targets", "each", "--epsilon", "1,inf"),
        *("--attack", "peek.py:Peek", "--reps", "1", "--jobs", "2", "--json"),
    )
    assert done.returncode == 0, done.stderr
    end = json.loads(done.stdout)
    assert (end["rows"], end["failures"]) == (3 * 2 * 4, 0)
    assert end["replaced"].startswith("replaced: data set toy.py:toy; targets each; epsilon 1, inf")
    out = folder / "results" / "smoke-on-toy.py-toy-targets-each-epsilon-1-inf"
    rows = read_csv(out / "leaderboard.csv")
    assert {row["dataset"] for row in rows} == {"toy.py:toy"}
    assert {row["attack"] for row in rows} == {"prior", "rap", "posterior", "peek"}
    assert "with data set toy.py:toy; targets each; epsilon 1, inf" in (
        out / "leaderboard.html"
    ).read_text(encoding="utf-8")
    assert [path.name for path in (folder / "results").iterdir()] == [out.name]


def test_own_results_and_those_on_other_data_do_not_mix(reconbench: Run, folder: Path) -> None:
    save_prior(acs(), folder / "mine.bif")
    for more in ((), ("--dataset", "mine.bif")):
        done = reconbench("run", "smoke", "--reps", "1", "--jobs", "1", "--quiet", *more)
        assert done.returncode == 0, done.stderr
    assert "replaced: data set mine.bif; 1 game remains; left out: 1 block" in done.stderr
    own, other = (
        read_csv(folder / "results" / name / "leaderboard.csv")
        for name in ("smoke", "smoke-on-mine")
    )
    assert {row["dataset"] for row in own} == {"acs", "fire"}
    assert {row["dataset"] for row in other} == {"mine.bif"}
    shown = json.loads(
        reconbench(
            "suite", "show", "smoke", "--dataset", "mine.bif", "--reps", "1", "--json"
        ).stdout
    )
    assert (shown["name"], shown["rows"], shown["stored"]) == ("smoke-on-mine", 3, 3)


def test_show_says_what_run_says(reconbench: Run, folder: Path) -> None:
    asked = ("--dataset", "acs,fire", "--targets", "top-entropy:1", "--epsilon", "2")
    text = reconbench("suite", "show", "quick", *asked).stdout
    line = "replaced: data set acs, fire; targets top-entropy:1; epsilon 2; 2 games remain"
    assert line in text.splitlines() and "SCHL" in text and "Station Area" in text


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (("quick", "--dataset", "nope"), "--dataset: unknown dataset 'nope'; available: acs"),
        (("quick", "--dataset", "none.bif"), "--dataset: no file"),
        (("quick", "--dataset", "toy.py:none"), "has no class or function 'none'"),
        (("swanberg-fig5", "--dataset", "toy.py:toy"), "toy.py:toy has no column 'SCHL'"),
        (("quick", "--targets", "SXE"), "--targets: acs has no column 'SXE'"),
        (("quick", "--dataset", "acs", "--targets", "ALS Unit"), "acs has no column 'ALS Unit'"),
        (("smoke", "--dataset", "acs", "--known", "SEX"), "'SEX' is both known and a target"),
        (("quick", "--epsilon", "much"), "--epsilon must be numbers (inf is allowed)"),
        (("quick", "--n", "many"), "--n must be whole numbers"),
        (("kulynych", "--dataset", "acs"), "kulynych has computations only"),
    ],
)
def test_errors_are_one_line_and_write_nothing(
    reconbench: Run, folder: Path, asked: tuple[str, ...], message: str
) -> None:
    before = sorted(path.name for path in folder.iterdir())
    for command in (("run", *asked), ("suite", "show", *asked)):
        done = reconbench(*command)
        assert done.returncode == 2 and message in done.stderr
        assert done.stderr.startswith("error: ") and done.stderr.count("\n") == 1
    left = sorted(path.name for path in folder.iterdir() if path.name != "__pycache__")
    assert left == before


def test_every_axis_has_an_option(reconbench: Run) -> None:
    for command in (("run",), ("suite", "show")):
        text = reconbench(*command, "--help").stdout
        assert all(f"--{name.replace('_', '-')} " in text for name in REPLACEABLE)


def test_a_computation_alone_is_left_out(reconbench: Run, folder: Path) -> None:
    (folder / "both.toml").write_text(
        'name = "both"\ndescription = ""\ninclude = ["kulynych-fig4", "smoke"]\n'
    )
    done = reconbench("suite", "show", "both.toml", "--n", "30", "--json")
    shown = json.loads(done.stdout)
    assert shown["computations"] == [] and shown["rows"] == 12
    assert shown["replaced"].endswith("left out: 1 computation, which has no data set")


def test_make_passes_the_axes_on() -> None:
    if shutil.which("make") is None:
        pytest.skip("no make")
    asked = ["SUITE=swanberg", "DATASET=a.bif", "TARGETS=ALS Unit,City", "KNOWN=last:3"]
    command = ["make", "-n", "bench", *asked, "EPSILON=1,inf", "N=50"]
    # As if typed: under `make test` another make would be told to talk of folders.
    plain = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    done = subprocess.run(command, cwd=ROOT, env=plain, capture_output=True, text=True, check=True)
    shown = done.stdout
    words = shlex.split(shown.strip().splitlines()[-1])
    assert words[1:3] == ["run", "swanberg"] and "--out" not in words
    pairs = dict(pairwise(words))
    assert pairs["--dataset"] == "a.bif" and pairs["--targets"] == "ALS Unit,City"
    assert (pairs["--known"], pairs["--epsilon"], pairs["--n"]) == ("last:3", "1,inf", "50")
