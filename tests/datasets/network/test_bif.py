from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from reconbench.datasets import Attribute, BayNet, Domain, DomainError, load_prior, save_prior
from reconbench.datasets.network.bif import load_codebook
from reconbench.datasets.network.pgmpy_bridge import quiet_pgmpy

Make = Callable[..., BayNet]


@pytest.fixture
def saved(random_net: Make, tmp_path: Path) -> Path:
    path = tmp_path / "net.bif"
    save_prior(random_net(2), path, {"title": "a test"})
    return path


@pytest.mark.parametrize("seed", range(4))
def test_round_trip_is_exact(random_net: Make, tmp_path: Path, seed: int) -> None:
    net = random_net(seed)
    save_prior(net, tmp_path / "net.bif", {"title": "x"})
    back = load_prior(tmp_path / "net.bif")
    assert back.sha256() == net.sha256() and back.visit_order == net.visit_order
    assert load_codebook(tmp_path / "net.bif")["card"] == {"title": "x"}


def test_pgmpy_reads_what_we_write(saved: Path, random_net: Make) -> None:
    with quiet_pgmpy():
        from pgmpy.readwrite import BIFReader

        model = BIFReader(str(saved)).get_model()
    net = random_net(2)
    identifiers = load_codebook(saved)["identifiers"]
    for i, name in enumerate(net.domain.names):
        cpd = model.get_cpds(identifiers[name])
        parents = [identifiers[net.domain.names[p]] for p in net.parents[i]]
        assert sorted(cpd.variables[1:]) == sorted(parents)
        axes = [cpd.variables.index(p) for p in parents] + [0]
        assert np.allclose(cpd.values.transpose(axes), net.cpts[i], atol=1e-7)


def test_we_read_what_pgmpy_writes(saved: Path, random_net: Make) -> None:
    with quiet_pgmpy():
        from pgmpy.readwrite import BIFReader, BIFWriter

        BIFWriter(BIFReader(str(saved)).get_model()).write(str(saved))
    back, net = load_prior(saved), random_net(2)
    table = net.sample(50, np.random.default_rng(0))
    assert np.allclose(back.log_prob(table), net.log_prob(table), rtol=1e-5)


def test_names_of_every_kind(tmp_path: Path) -> None:
    names = ("ALS Unit", "ALS-Unit", "42", "<script>", "ünï", "{ } ; | ,")
    domain = Domain(tuple(Attribute(name, ('"', "}")) for name in names))
    parents = ((), *((0,) for _ in names[1:]))
    cpts = (np.array([0.5, 0.5]), *(np.eye(2) * 0.8 + 0.1 for _ in names[1:]))
    net = BayNet(domain, parents, cpts, names)
    save_prior(net, tmp_path / "odd.bif")
    assert load_prior(tmp_path / "odd.bif").sha256() == net.sha256()


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("table ", "table 0.5, ", "needs . numbers|does not sum"),
        ("network reconbench {", "network reconbench", "cannot read|not a BIF"),
        ("type discrete [ 2 ]", "type discrete [ 3 ]", "does not list its states"),
        ("type discrete", "type continuous", "not of type discrete"),
        ("variable col_0 {", "variable other {", "does not match its domain"),
        ("(s0", "(s9", "unknown state"),
        ("probability ( col_0", "probability ( col_9", "undeclared|has no probability"),
        ("}\nvariable", "variable", "cannot read|ends within|not match|not a BIF"),
    ],
)
def test_broken_networks(saved: Path, old: str, new: str, message: str) -> None:
    text = saved.read_text()
    assert old in text
    saved.write_text(text.replace(old, new, 1))
    with pytest.raises(DomainError, match=message):
        load_prior(saved)


def test_cpt_that_does_not_sum_to_one(saved: Path) -> None:
    lines = saved.read_text().splitlines()
    at = next(i for i, line in enumerate(lines) if line.startswith("  table"))
    count = lines[at].count(",") + 1
    lines[at] = "  table " + ", ".join(["0.9"] * count) + ";"
    saved.write_text("\n".join(lines))
    with pytest.raises(DomainError, match="does not sum to 1"):
        load_prior(saved)


def test_missing_rows_and_defaults(tmp_path: Path) -> None:
    domain = Domain((Attribute("a", ("x", "y")), Attribute("b", ("x", "y"))))
    net = BayNet(domain, ((), (0,)), (np.array([0.5, 0.5]), np.eye(2)), ("a", "b"))
    path = tmp_path / "net.bif"
    save_prior(net, path)
    row = next(line for line in path.read_text().splitlines() if line.startswith("  (s1)"))
    whole = path.read_text()
    path.write_text(whole.replace(row + "\n", ""))
    with pytest.raises(DomainError, match="leaves out a combination"):
        load_prior(path)
    path.write_text(whole.replace(row, "  default 0.0, 1.0; // the rest"))
    assert load_prior(path).sha256() == net.sha256()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": "other"}, "not a codebook"),
        ({"identifiers": {}}, "must name every column"),
        ({"visit_order": "abc"}, "must be a list"),
        ({"domain": {"attributes": []}}, "at least one attribute"),
    ],
)
def test_broken_codebooks(saved: Path, change: dict[str, object], message: str) -> None:
    beside = saved.with_suffix(".json")
    beside.write_text(json.dumps({**json.loads(beside.read_text()), **change}))
    with pytest.raises(DomainError, match=message):
        load_prior(saved)


def test_label_count_must_match(saved: Path) -> None:
    beside = saved.with_suffix(".json")
    codebook = json.loads(beside.read_text())
    codebook["domain"]["attributes"][0]["labels"].append("one too many")
    beside.write_text(json.dumps(codebook))
    with pytest.raises(DomainError, match="does not match its domain: 'col 0' has 2 states"):
        load_prior(saved)


def test_missing_files(tmp_path: Path) -> None:
    with pytest.raises(DomainError, match="no file"):
        load_prior(tmp_path / "none.bif")
    with pytest.raises(DomainError, match=r"must end in \.bif"):
        load_prior(tmp_path / "none.txt")
    (tmp_path / "half.bif").write_bytes(b"\xff\xfe")
    (tmp_path / "half.json").write_text("{")
    with pytest.raises(DomainError, match="not valid JSON"):
        load_prior(tmp_path / "half.bif")


def test_failed_write_leaves_nothing(random_net: Make, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="cannot write"):
        save_prior(random_net(0), tmp_path / "nowhere" / "net.bif")
    with pytest.raises(ValueError):
        save_prior(random_net(0), tmp_path / "net.bif", {"bad": float("nan")})
    assert list(tmp_path.iterdir()) == []
