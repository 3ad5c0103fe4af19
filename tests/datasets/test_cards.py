"""Every data set has a card."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from reconbench.datasets import DomainError
from reconbench.datasets.cards import describe_rules, read_brief_card, read_card
from reconbench.datasets.named import list_names, load_named, suggest_dataset
from reconbench.datasets.secrets.priors import SECRETS
from reconbench.datasets.shipped import list_shipped, load_shipped

BIF = (
    "network mine { }\nvariable a { type discrete [2] { x, y }; }\nprobability(a) {table 0.3 0.7;}"
)


@pytest.mark.parametrize("name", list_names())
def test_every_named_data_set(name: str) -> None:
    brief = read_brief_card(name)
    assert all(brief[key] for key in ("title", "columns", "source", "licence"))
    assert brief.items() <= read_card(name).items()


@pytest.mark.parametrize("name", [*list_shipped(), *SECRETS, "uniform:7", "hours:peaked"])
def test_columns_are_those_of_the_prior(name: str) -> None:
    assert read_card(name)["columns"] == len(load_named(name).domain)


def test_shipped_priors_are_loaded_once() -> None:
    assert {"acs", "fire"} <= set(list_shipped()) and load_shipped("acs") is load_shipped("acs")


def test_columns_of_a_data_set_keep_its_source_and_licence() -> None:
    part, whole = read_card("columns:bn:asia:tub,smoke"), read_card("bn:asia")
    assert part["title"] == f"Columns tub, smoke of {whole['title']}" and part["columns"] == 3
    assert all(part[key] == whole[key] for key in ("source", "citation", "licence"))


def test_a_bif_file_without_a_codebook(tmp_path: Path) -> None:
    (tmp_path / "own.bif.gz").write_bytes(gzip.compress(BIF.encode()))
    found = read_card(str(tmp_path / "own.bif.gz"))
    assert (found["title"], found["columns"], found["rounding"]) == ("mine", 1, "rows sum to 1")
    assert load_named(str(tmp_path / "own.bif.gz")).domain.names == ("a",)
    assert "licence" not in found


def test_rules_are_listed_with_their_parameter() -> None:
    rules = describe_rules()
    assert {"uniform:M", "hours:SHAPE", "columns:DATASET:A,B"} == set(rules)
    assert all(rule["title"] and rule["licence"] for rule in rules.values())


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("alarm", "; did you mean 'bn:alarm'?"),
        ("bn:insurence", "; did you mean 'bn:insurance'?"),
        ("acss", "; did you mean 'acs'?"),
        ("secret-name", "; did you mean 'secret-names'?"),
        ("qqqqqqq", ""),
    ],
)
def test_near_names_are_suggested(name: str, hint: str) -> None:
    assert suggest_dataset(name, list_names()) == hint
    with pytest.raises(DomainError) as caught:
        read_card(name)
    assert str(caught.value).endswith(hint)
    with pytest.raises(DomainError, match="unknown"):
        load_named(name)
