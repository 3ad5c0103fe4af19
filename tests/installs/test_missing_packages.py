"""Environments without one of the large packages: what works, and what the rest says."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from reconbench.datasets import shipped
from reconbench.missing_package import MissingPackage, find_missing, needed_by

from .conftest import MakeEnvironment

LARGE = ("torch", "pgmpy", "numba", "scikit-learn", "pandas")
WORK = (
    "--help",
    "list attack --json",
    "list dataset",
    "ceiling --prior 0.5 --n 10 --epsilon 1",
    "risk --baseline 0.5 --epsilon 1",
    "check metric l1:2",
    "data sample acs -n 3",
    "suite show quick",
)
SKIPPED = {
    "torch": {"confidence-ranked", "rap", "rap-converged", "rap-map", "table-rap"},
    "scikit-learn": {
        *("naive-bayes", "random-forest", "gradient-boosting", "knn", "stack"),
        *("naive-bayes-pooled", "random-forest-pooled", "gradient-boosting-pooled", "knn-pooled"),
    },
}
SUITE = """
name = "mine"
description = "the prior, the posterior and rap"
repetitions = 2
attacks = ["prior", "posterior", "rap"]

[[games]]
dataset = "acs"
targets = ["SEX"]
n = 100
epsilon = 1
"""


TELL = """
import json, sys

for code in json.loads(sys.argv[1]):
    try:
        exec(code, {})
    except ValueError as error:
        print(error)
"""
# What needs a package, as code that is to raise, and what it says.
FITTING = (
    "from reconbench.datasets import shipped\n"
    "from reconbench.datasets.network.fit import ChowLiu, fit\n"
    "import numpy as np\n"
    "table = shipped.fire().sample(20, np.random.default_rng(0))\n"
    "fit(table, ChowLiu())"
)
LEARNING = (
    "from reconbench.attacks.synthetic.learners import NaiveBayes\n"
    "from reconbench.datasets import shipped\n"
    "import numpy as np\n"
    "table = shipped.acs().sample(20, np.random.default_rng(0))\n"
    "NaiveBayes().fit(table, 'SEX', ['AGEP'], np.random.default_rng(0))"
)
NEEDS = {
    "torch": [
        (
            "from reconbench.attacks.rap.descent import Objective, batches\n"
            "list(batches([], Objective(), 0.1))",
            "descent on marginals needs torch: pip install torch",
        ),
        (
            "from reconbench.mechanisms.gradient_steps import DeepNetwork\n"
            "import numpy as np\n"
            "DeepNetwork().backward(np.ones((2, 3)))",
            "network deep needs torch: pip install torch",
        ),
    ],
    "pgmpy": [
        (FITTING, "a Chow-Liu tree needs pgmpy: pip install 'pgmpy>=1.1.2,<1.2'"),
        (
            "from reconbench.datasets import shipped\n"
            "from reconbench.datasets.network.pgmpy_bridge import to_pgmpy\n"
            "to_pgmpy(shipped.fire())",
            "a pgmpy model needs pgmpy: pip install 'pgmpy>=1.1.2,<1.2'",
        ),
        (
            "from reconbench.datasets.named import load_named\nload_named('bn:asia')",
            "bn:asia is read from the package pgmpy: pgmpy is not installed; install pgmpy 1.1.2 "
            "(pip install 'pgmpy>=1.1.2,<1.2'), or give a .bif file of your own",
        ),
    ],
    "numba": [
        (
            "from reconbench.attacks.posterior.gibbs import normalise\nnormalise(None)",
            "compiled code needs numba: pip install numba",
        ),
    ],
    "scikit-learn": [
        (FITTING, "a Chow-Liu tree needs scikit-learn: pip install scikit-learn"),
        (LEARNING, "naive-bayes needs scikit-learn: pip install scikit-learn"),
    ],
    "pandas": [
        (FITTING, "a Chow-Liu tree needs pandas: pip install pandas"),
        (
            "from reconbench.datasets import shipped\n"
            "import numpy as np\n"
            "shipped.acs().sample(1, np.random.default_rng(0)).to_pandas()",
            "a DataFrame needs pandas: pip install pandas",
        ),
    ],
}


@pytest.mark.parametrize("package", LARGE)
def test_what_works_without(package: str, make_environment: MakeEnvironment) -> None:
    environment = make_environment(without=(package,))
    done = dict(zip(WORK, environment.call(*WORK), strict=True))
    assert {command: answer for command, answer in done.items() if answer.code} == {}
    assert len(done["data sample acs -n 3"].out.splitlines()) == 4
    needed = f"It needs {package}: pip install {package}"
    listed = json.loads(done["list attack --json"].out)
    assert {name for name, line in listed.items() if needed in line} == SKIPPED.get(package, set())


@pytest.mark.parametrize("package", LARGE)
def test_what_does_not_names_the_package(package: str, make_environment: MakeEnvironment) -> None:
    tried = json.dumps([code for code, _ in NEEDS[package]])
    told = make_environment(without=(package,)).run("-c", TELL, tried).splitlines()
    assert told == [message for _, message in NEEDS[package]]


def test_other_mistakes_are_not_taken_for_a_missing_package() -> None:
    with pytest.raises(ImportError, match="nothing_here"), needed_by("this", "numpy"):
        from reconbench import nothing_here  # noqa: F401
    with pytest.raises(MissingPackage) as broken, needed_by("this", "numba"):
        raise ImportError("it needs numpy 1", name="numba")
    assert str(broken.value) == "this needs numba: pip install numba (it needs numpy 1)"
    assert find_missing(("numpy", "nowhere_to_be_found", "scipy")) == "nowhere_to_be_found"
    assert find_missing(("numpy", "scipy")) is None


def test_fitting_a_prior_says_what_it_needs(make_environment: MakeEnvironment) -> None:
    environment = make_environment(without=("pgmpy",))
    table, domain = environment.folder / "people.csv", environment.folder / "domain.json"
    people = shipped.acs().sample(200, np.random.default_rng(0)).project(["SEX", "MAR"])
    table.write_text(people.to_csv())
    domain.write_text(json.dumps(people.domain.to_json()))
    (done,) = environment.call("data fit people.csv --domain domain.json -o people.bif")
    assert done.code == 2 and not (environment.folder / "people.bif").exists()
    assert "fitting a network needs pgmpy: pip install 'pgmpy>=1.1.2,<1.2'" in done.err


def test_without_torch_a_run_goes_on(make_environment: MakeEnvironment) -> None:
    """The rows of rap say why they were not played, are kept, and are played with torch."""
    light = make_environment(without=("torch",))
    (light.folder / "mine.toml").write_text(SUITE)
    out = light.folder / "mine"
    run = f"run {light.folder}/mine.toml --out {out} --jobs 1 --quiet"
    first, again = light.call(run, f"{run} --json")
    assert first.code == again.code == 0
    assert "rap skipped 2 rows: rap needs torch: pip install torch" in first.err
    assert json.loads(again.out)["played"] == json.loads(again.out)["failures"] == 0
    assert count_skipped(out) == {"prior": "0", "posterior": "0", "rap": "2"}
    (full,) = make_environment().call(f"{run} --json")
    assert full.code == 0 and json.loads(full.out)["played"] == 6
    assert count_skipped(out) == {"prior": "0", "posterior": "0", "rap": "0"}


def count_skipped(folder: Path) -> dict[str, str]:
    with (folder / "leaderboard.csv").open(encoding="utf-8") as lines:
        return {row["attack"]: row["skipped"] for row in csv.DictReader(lines)}
