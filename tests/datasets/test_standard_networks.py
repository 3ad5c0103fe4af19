"""The standard networks: what pgmpy carries, as pgmpy reads it."""

from __future__ import annotations

import gzip
import importlib.util
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from reconbench.datasets import BayNet, DomainError, standard_networks
from reconbench.datasets.network.pgmpy_bridge import from_pgmpy, quiet_pgmpy
from reconbench.datasets.standard_networks import (
    MOST_COLUMNS,
    NETWORKS,
    find_blanket,
    find_file,
    load_standard,
    read_card,
)

SMALL = (
    "alarm", "asia", "cancer", "child", "earthquake", "insurance", "sachs", "survey", "win95pts",
)  # fmt: skip
FOLDER = find_file("asia").parent


@cache
def as_pgmpy_reads(name: str) -> Any:
    path = FOLDER / f"{name}.bif.gz"
    with quiet_pgmpy():
        from pgmpy.readwrite import BIFReader

        return BIFReader(string=gzip.decompress(path.read_bytes()).decode()).get_model()


def test_every_network_that_pgmpy_ships_has_a_name() -> None:
    files = FOLDER.glob("*.bif.gz")
    assert {path.name.removesuffix(".bif.gz") for path in files} == set(NETWORKS)


@pytest.mark.parametrize("name", SMALL)
def test_small_ones_are_as_pgmpy_reads_them(name: str) -> None:
    ours, theirs = load_standard(name), from_pgmpy(as_pgmpy_reads(name))
    assert ours.domain == theirs.domain and ours.parents == theirs.parents
    assert all(np.array_equal(a, b) for a, b in zip(ours.cpts, theirs.cpts, strict=True))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["hailfinder", "hepar2", "munin1", "water"])
def test_larger_ones_are_as_pgmpy_reads_them(name: str) -> None:
    test_small_ones_are_as_pgmpy_reads_them(name)


@pytest.mark.parametrize("name", NETWORKS)
def test_cards(name: str) -> None:
    net, card = load_standard(name), read_card(name)
    assert card["columns"] == len(net.domain) == standard_networks.describe_briefly(name)["columns"]
    assert card["labels"] == sum(net.domain.sizes)
    assert card["cells"] == sum(cpt.size for cpt in net.cpts)
    assert card["zeros"] == sum(int((cpt == 0).sum()) for cpt in net.cpts)
    (target,) = card["game"]["targets"]
    assert net.domain[target].size > 1
    assert all(card[key] for key in ("title", "source", "citation", "licence", "licence_note"))
    assert ("known" in card["game"]) == (len(net.domain) > MOST_COLUMNS)


@pytest.mark.parametrize("name", NETWORKS)
def test_targets_are_uncertain_and_inference_is_exact(name: str) -> None:
    """The suggested target is a secret, also to whoever knows all that the game lets him know."""
    net, card = load_standard(name), read_card(name)
    targets = card["game"]["targets"]
    known = card["game"].get("known") or [x for x in net.domain.names if x not in targets]
    table = net.sample(60, np.random.default_rng(0))
    chances = net.conditional(table.project(known), targets)
    assert chances.sum(axis=1) == pytest.approx(1)
    assert chances.max(axis=1).mean() < 0.985
    given = net.log_evidence(table.project(known))
    joint = net.log_evidence(table.project([*known, *targets]))
    assert np.isfinite(given).all() and (joint <= given + 1e-9).all()


def test_given_its_blanket_a_column_depends_on_nothing_else() -> None:
    net = load_standard("insurance")
    table = net.sample(50, np.random.default_rng(1))
    others = [name for name in net.domain.names if name != "CarValue"]
    blanket = find_blanket(net, "CarValue")
    assert 0 < len(blanket) < len(others)
    near = net.conditional(table.project(blanket), ["CarValue"])
    assert near == pytest.approx(net.conditional(table.project(others), ["CarValue"]), abs=1e-12)
    fewer = net.conditional(table.project(blanket[1:]), ["CarValue"])
    assert np.abs(fewer - near).max() > 1e-3


def test_unknown_and_near_names() -> None:
    with pytest.raises(DomainError, match=r"unknown network 'bn:alrm'; .*did you mean 'bn:alarm'"):
        load_standard("alrm")
    with pytest.raises(DomainError, match=r"unknown network 'bn:\.\./\.\./x'; known: bn:alarm"):
        load_standard("../../x")


def test_without_pgmpy(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    standard_networks._load.cache_clear()
    monkeypatch.setattr(standard_networks, "find_spec", lambda name: None)
    with pytest.raises(DomainError, match=r"bn:asia is read from the package pgmpy: pgmpy .*inst"):
        load_standard("asia")
    brief = standard_networks.describe_briefly("asia")
    assert "columns" not in brief and brief["title"]

    def elsewhere(name: str) -> Any:
        spec = importlib.util.spec_from_loader(name, None, is_package=True)
        assert spec is not None and spec.submodule_search_locations is not None
        spec.submodule_search_locations.append(str(tmp_path))
        return spec

    monkeypatch.setattr(standard_networks, "find_spec", elsewhere)
    folder = tmp_path / "utils" / "example_models"
    folder.mkdir(parents=True)
    with pytest.raises(DomainError, match="does not have it"):
        load_standard("asia")
    (folder / "asia.bif.gz").write_bytes(gzip.compress(b"network x { }"))
    with pytest.raises(DomainError, match=r"asia.bif.gz: it declares no variable"):
        load_standard("asia")


def test_reading_one_does_not_import_pgmpy() -> None:
    code = (
        "import sys; from reconbench.datasets.standard_networks import load_standard; "
        "load_standard('alarm'); sys.exit('pgmpy' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_a_network_is_a_prior() -> None:
    assert isinstance(load_standard("asia"), BayNet)
