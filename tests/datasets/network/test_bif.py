from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from reconbench.datasets import Attribute, BayNet, Domain, DomainError, load_prior, save_prior
from reconbench.datasets.network.bif import load_card, load_codebook
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
        ("variable col_0 {", "variable other {", "undeclared variable, 'col_0'"),
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


INSURANCE = """network unknown {
}
variable Damage {
  type discrete [ 3 ] { None, Mild, Severe };
}
variable Age {
  type discrete [ 2 ] { <25, >=25 };
}
probability ( Age ) { table 0.333, 0.666; }
probability ( Damage | Age ) { (<25) 0.5, 0.25, 0.25; (>=25) 1.0, 0.0, 0.0; }"""


@pytest.mark.parametrize("name", ["wild.bif", "wild.bif.gz"])
def test_a_file_alone_gives_its_own_domain(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    content = INSURANCE.replace("\n", "\r\n").encode()
    path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    net = load_prior(path)
    assert net.domain == Domain(
        (Attribute("Damage", ("None", "Mild", "Severe")), Attribute("Age", ("<25", ">=25")))
    )
    assert net.visit_order == ("Age", "Damage") and net.parents == ((1,), ())
    assert net.cpts[1] == pytest.approx([1 / 3, 2 / 3], abs=1e-15)
    assert net.cpts[0].tolist() == [[0.5, 0.25, 0.25], [1, 0, 0]]
    card = load_card(path)
    assert (card["title"], card["columns"], card["labels"], card["cells"]) == ("unknown", 2, 5, 8)
    assert card["rounding"] == "rows sum to 1 within 0.001; they were divided by their sums"


def test_a_codebook_beside_any_file_says_what_the_file_cannot(tmp_path: Path) -> None:
    path = tmp_path / "wild.bif"
    path.write_text(INSURANCE.replace("0.333, 0.666", "0.25, 0.75"))
    damage = Attribute("Damage", ("none", "mild", "severe"), ordinal=True)
    domain = Domain((Attribute("Age", ("<25", ">=25")), damage))
    codebook = {
        "format": "reconbench-prior/1",
        "domain": domain.to_json(),
        "identifiers": {"Age": "Age", "Damage": "Damage"},
        "visit_order": ["Age", "Damage"],
        "card": {"title": "mine"},
    }
    (tmp_path / "wild.json").write_text(json.dumps(codebook))
    assert load_prior(path).domain == domain and load_card(path) == {"title": "mine"}
    path.rename(tmp_path / "packed")
    (tmp_path / "wild.bif.gz").write_bytes(gzip.compress((tmp_path / "packed").read_bytes()))
    assert load_prior(tmp_path / "wild.bif.gz").domain == domain

    other = Attribute("Damage", ("Mild", "None", "Severe"))
    codebook["domain"] = Domain((domain["Age"], other)).to_json()
    (tmp_path / "wild.json").write_text(json.dumps(codebook))
    with pytest.raises(DomainError, match=r"labels of 'Damage' in wild\.json are the"):
        load_prior(tmp_path / "wild.bif.gz")


def test_with_a_codebook_rows_must_be_exact(saved: Path) -> None:
    text = saved.read_text()
    row = next(line for line in text.splitlines() if line.startswith("  table"))
    first, *others = row.removeprefix("  table ").removesuffix(";").split(", ")
    changed = f"  table {', '.join([repr(float(first) + 1e-4), *others])};"
    saved.write_text(text.replace(row, changed))
    with pytest.raises(DomainError, match="at most 1e-06 is allowed"):
        load_prior(saved)


def test_a_prior_of_ours_needs_its_codebook(saved: Path) -> None:
    saved.with_suffix(".json").unlink()
    with pytest.raises(
        DomainError, match=r"written with a codebook, net\.json, which is not beside"
    ):
        load_prior(saved)


def test_a_json_file_that_is_no_codebook(tmp_path: Path) -> None:
    (tmp_path / "wild.bif").write_text(INSURANCE)
    (tmp_path / "wild.json").write_text("[]")
    with pytest.raises(DomainError, match=r"is not a codebook of format .*; move it elsewhere"):
        load_prior(tmp_path / "wild.bif")
    codebook = {"format": "reconbench-prior/1", "card": "mine"}
    (tmp_path / "wild.json").write_text(json.dumps(codebook))
    with pytest.raises(DomainError, match="'card' must be an object"):
        load_card(tmp_path / "wild.bif")


def test_labels_named_like_states_come_back_in_any_order(tmp_path: Path) -> None:
    domain = Domain((Attribute("a", ("s1", "s0")),))
    net = BayNet(domain, ((),), (np.array([0.25, 0.75]),), ("a",))
    save_prior(net, tmp_path / "net.bif")
    assert load_prior(tmp_path / "net.bif").sha256() == net.sha256()


def test_priors_are_not_written_packed(random_net: Make, tmp_path: Path) -> None:
    with pytest.raises(DomainError, match=r"ends in \.bif, got 'net.bif.gz'"):
        save_prior(random_net(0), tmp_path / "net.bif.gz")
    assert list(tmp_path.iterdir()) == []
