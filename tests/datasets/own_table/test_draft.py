"""Drafts of a domain file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from reconbench.datasets.atomic_files import write_json_atomic
from reconbench.datasets.domain import Attribute, Domain, DomainError, binned
from reconbench.datasets.own_table import read_domain, read_table, suggest_domain
from reconbench.datasets.own_table.draft_bins import find_roundest

Save = Callable[..., Path]
Refused = Callable[..., None]
Draft = Callable[..., dict[str, Any]]

PETS = Domain((Attribute("pet", ("cat", "dog", "=1+1")), binned("age", [0, 5, 10])))


@pytest.fixture
def draft_of(saved: Save) -> Draft:
    def draft(columns: dict[str, list[object]], max_labels: int = 100) -> dict[str, Any]:
        rows = zip(*columns.values(), strict=True)
        lines = [",".join(columns), *(",".join(map(str, row)) for row in rows)]
        return suggest_domain(saved("\n".join(lines) + "\n"), max_labels)

    return draft


def test_draft(draft_of: Draft) -> None:
    n = 200
    draft = draft_of(
        {
            "id": list(range(1000, 1000 + n)),
            "email": [f"user{i}@example.org" for i in range(n)],
            "sex": ["F", "M"] * (n // 2),
            "stars": [10, 2, 1, 3] * (n // 4),
            "age": [18 + i % 70 for i in range(n)],
            "score": [i / 7 for i in range(n)],
            "zip": [f"0{i % 30}" for i in range(n)],
            "gap": ["", "x"] * (n // 2),
            "void": [""] * n,
            "word": [f"w{i % 120}" for i in range(n)],
        },
    )
    by_name = {a["name"]: a for a in draft["attributes"]}
    assert draft["draft"] is True
    assert list(by_name) == ["sex", "stars", "age", "score", "zip", "gap"]
    assert draft["leave_out"] == ["id", "email", "void", "word"]
    assert by_name["sex"]["labels"] == ["F", "M"]
    assert by_name["stars"]["labels"] == ["1", "2", "3", "10"]
    assert by_name["age"]["edges"] == [10, 20, 30, 40, 50, 60, 70, 80, 90]
    assert by_name["score"]["edges"] == [0, 5, 10, 15, 20, 25, 30]
    assert len(by_name["zip"]["labels"]) == 30
    assert by_name["gap"]["labels"] == ["x"]
    assert by_name["gap"]["missing"] == {"codes": [""], "label": "NA"}
    notes = "\n".join(draft["notes"])
    for said in ["id: left out", "email: left out", "void: left out", "word: left out: it has 120"]:
        assert said in notes
    assert (
        "gap: 100 cells look like missing values (empty)" in notes and "reveal" in draft["notes"][0]
    )


def test_draft_is_refused_until_edited(tmp_path: Path, saved: Save, refused: Refused) -> None:
    table = saved("pet,age\n" + "".join(f"cat,{i % 40}\ndog,3\n" for i in range(200)))
    path = tmp_path / "d.json"
    draft = suggest_domain(table)
    write_json_atomic(path, draft)
    refused(path, "this is a draft", lambda: read_domain(path))
    del draft["draft"]
    write_json_atomic(path, draft)
    assert len(read_table(table, read_domain(path))) == 400


def test_draft_max_labels(draft_of: Draft) -> None:
    columns: dict[str, list[object]] = {"w": ["a", "b", "c"]}
    (attribute,) = draft_of(columns, max_labels=2)["attributes"]
    assert attribute == {"name": "w", "labels": ["a", "b", "other"], "other": "other"}
    with pytest.raises(DomainError, match="max_labels must be at least 1"):
        draft_of(columns, max_labels=0)


@pytest.mark.parametrize(
    "numbers",
    [
        [1e15 + i for i in range(50)],
        [i * 1e-300 for i in range(50)],
        [(-1) ** i * 1.7e308 / (1 + i) for i in range(50)],
        [0.1 + i * 1e-17 for i in range(50)] + [0.3],
        [-(10.0**i) for i in range(-25, 25)],
    ],
)
def test_drafted_edges_cover_the_numbers(draft_of: Draft, numbers: list[float]) -> None:
    columns: dict[str, list[object]] = {"x": [repr(x) for x in numbers * 3]}
    for attribute in draft_of(columns)["attributes"]:
        if edges := attribute.get("edges"):
            assert edges == sorted(set(edges))
            assert edges[0] <= min(numbers) and max(numbers) <= edges[-1]


def find(draft: dict[str, Any], name: str) -> dict[str, Any]:
    return next(each for each in draft["attributes"] if each["name"] == name)


def remarks(draft: dict[str, Any], name: str) -> str:
    return " ".join(note for note in draft["notes"] if note.startswith(f"{name}: "))


def test_bins_follow_quantiles_where_data_are_skewed(draft_of: Draft) -> None:
    """As in Adult: nine in ten have no gain, and one bin of equal width would hold nearly all."""
    rng = np.random.default_rng(0)
    gain = np.where(rng.random(5000) < 0.9, 0, rng.lognormal(8.5, 1.0, 5000).round())
    pay = rng.lognormal(7, 1, 5000).round(2)
    draft = draft_of({"gain": list(gain.astype(int)), "pay": list(pay), "age": [*range(100)] * 50})
    for name, numbers, most in (("gain", gain, 0.95), ("pay", pay, 0.2)):
        edges = find(draft, name)["edges"]
        share = np.histogram(numbers, edges)[0] / len(numbers)
        assert share.max() < most and share.min() > 0 and share.sum() == 1
        assert all(len(f"{edge:g}".strip("0").replace(".", "")) <= 3 for edge in edges)
        assert "quantiles of the data" in remarks(draft, name)
    assert np.histogram(gain, find(draft, "gain")["edges"])[0][0] == (gain == 0).sum()
    assert len(find(draft, "pay")["edges"]) >= 9
    assert find(draft, "age")["edges"] == [*range(0, 101, 10)]
    assert "quantiles" not in remarks(draft, "age")


def test_a_roundest_number_has_few_digits() -> None:
    assert find_roundest(0, 114) == 100 and find_roundest(2885, 3103) == 3000
    assert find_roundest(0.21, 0.34) == 0.3 and find_roundest(-3, 40) == 0
    assert find_roundest(-120, -90) == -100 and find_roundest(4500, 4900) == 4800
    for low, high in np.random.default_rng(1).normal(0, 1e3, (500, 2)):
        low, high = sorted((low, high))
        assert low < find_roundest(low, high) <= high


def test_rare_labels_are_grouped(draft_of: Draft, saved: Save, tmp_path: Path) -> None:
    town = ["Bonn"] * 300 + ["Mainz"] * 200 + [f"town {i % 150}" for i in range(450)]
    columns: dict[str, list[object]] = {"town": [*town], "x": ["a", "b"] * 475}
    draft = draft_of(columns)
    labels = find(draft, "town")["labels"]
    assert {"Bonn", "Mainz", "other"} <= set(labels) and len(labels) == 21
    assert "152 values" in remarks(draft, "town") and "groups" in remarks(draft, "town")
    del draft["draft"]
    write_json_atomic(tmp_path / "d.json", draft)
    table = read_table(tmp_path / "t.csv", read_domain(tmp_path / "d.json"))
    assert (table.column("town") == labels.index("other")).sum() == 450 - 18 * 3


def test_weights_and_identifiers_are_left_out_with_a_word_why(draft_of: Draft) -> None:
    n = 400
    rng = np.random.default_rng(0)
    draft = draft_of(
        {
            "fnlwgt": list(rng.integers(10_000, 900_000, n)),
            "sample_weight": [round(x, 3) for x in rng.random(n)],
            "weight": [round(x, 1) for x in rng.normal(70, 10, n)],
            "household_id": [i // 3 for i in range(n)],
            "CaseID": list(rng.permutation(n) * 7919),
            "row": list(range(n)),
            "name": [f"person {i}" for i in range(n)],
            "income": list(rng.permutation(np.arange(n) * 97 + rng.integers(0, 90, n))),
            "smokes": ["no", "yes"] * (n // 2),
            "always": ["DE"] * n,
        }
    )
    assert [a["name"] for a in draft["attributes"]] == ["weight", "income", "smokes"]
    assert len(draft["leave_out"]) == 7
    for name, why in {
        "fnlwgt": "survey weight",
        "sample_weight": "survey weight",
        "household_id": "by its name an identifier",
        "CaseID": "by its name an identifier",
        "row": "identifier",
        "name": "nearly unique",
        "always": "same value",
    }.items():
        assert why in remarks(draft, name), name


def test_codes_of_missing_values_are_suggested(draft_of: Draft) -> None:
    n = 300
    draft = draft_of(
        {
            "hours": ["N" if i % 9 == 0 else i % 60 for i in range(n)],
            "drinks": [(-9, -99, 0, 1, 2)[i % 5] for i in range(n)],
            "change": [i % 41 - 20 for i in range(n)],
            "answer": [("?", "yes", "no", "N/A")[i % 4] for i in range(n)],
            "gain": [99999 if i % 50 == 0 else i % 70 for i in range(n)],
            "code": [("-", "A", "B")[i % 3] for i in range(n)],
            "rooms": [("N", "10", "9", "2")[i % 4] for i in range(n)],
        }
    )
    assert find(draft, "hours")["missing"] == {"codes": ["N"], "label": "NA"}
    assert find(draft, "drinks")["missing"]["codes"] == ["-99", "-9"]
    assert find(draft, "drinks")["labels"] == ["0", "1", "2"]
    assert "missing" not in find(draft, "change") and min(find(draft, "change")["edges"]) == -20
    assert find(draft, "answer")["missing"]["codes"] == ["?", "N/A"]
    assert find(draft, "answer")["labels"] == ["no", "yes"]
    assert "missing" not in find(draft, "gain")
    assert "99999 may stand for a missing value" in remarks(draft, "gain")
    assert find(draft, "code")["missing"]["codes"] == ["-"]
    assert find(draft, "rooms")["labels"] == ["2", "9", "10", "N"]
    assert "'N' is listed as a label" in remarks(draft, "rooms")


def test_a_draft_says_how_the_table_is_written(saved: Save) -> None:
    lines = "".join(f"{i % 30},5;{'äö'[i % 2]}\n" for i in range(100))
    draft = suggest_domain(saved(("größe;ort\n" + lines).encode("latin-1")))
    assert draft["notes"][1] == "Read as: semicolon-separated, Latin-1, decimal comma."
    assert find(draft, "größe")["edges"][0] == 0 and find(draft, "ort")["labels"] == ["ä", "ö"]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("", "it is empty"),
        ("a,b\n", "no records"),
        ("a,b\n1,2\n", "a draft needs at least 2 records"),
        ("a,b\n1,2\n1,2\n", "no column is left"),
        ("a,b\n1,2\n1\n", "line 3 has 1 cells"),
        ("a;b\n1,234;x\n5,678;y\n", "thousands; state the decimal sign"),
        ("a;b\n1,5;1.5\n2,5;3.5\n", "'b' has decimal points and column 'a' decimal commas"),
    ],
)
def test_no_draft_of_a_bad_table(saved: Save, refused: Refused, content: str, reason: str) -> None:
    path = saved(content)
    refused(path, reason, lambda: suggest_domain(path))
