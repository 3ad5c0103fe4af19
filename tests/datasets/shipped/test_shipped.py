"""The priors that ship: what their cards claim, and that they are good."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest

from reconbench.benchmarks import plugins
from reconbench.datasets import BayNet, Domain, Table
from reconbench.datasets.cards import read_card
from reconbench.datasets.shipped import DATA, acs, codebooks, fire
from reconbench.datasets.shipped.recipes import CC_BY, RECIPES, Recipe

DOMAINS: dict[str, Domain] = {
    "acs": codebooks.ACS,
    "fire": codebooks.FIRE,
    "nist": codebooks.NIST,
    "adult": codebooks.ADULT,
    "german": codebooks.GERMAN,
    "contraceptive": codebooks.CONTRACEPTIVE,
    "credit": codebooks.CREDIT,
    "nhanes": codebooks.NHANES,
    "fars": codebooks.FARS,
}
COUNTED = [recipe.name for recipe in RECIPES if recipe.with_counts]

# Results are stored under these networks: their files must never change.
FIRST_FILES = {
    "acs": "5ce7fbea9680635f990457e6792554721bfe9573d5935a08fd8a8b45025fbae7",
    "fire": "a281a6914418c2f3ffc80708d92fcc84494f0407d4272cd4252288d1d0c0d58e",
}


def load(name: str) -> BayNet:
    net = plugins.load_prior(name)
    assert isinstance(net, BayNet)
    return net


def test_every_file_has_a_recipe_and_is_registered() -> None:
    files = {path.name for path in DATA.iterdir()}
    assert files == {f"{name}.{kind}" for name in DOMAINS for kind in ("bif", "json")}
    assert [recipe.name for recipe in RECIPES] == list(DOMAINS)
    assert set(DOMAINS) <= set(plugins.get_entries("dataset"))


@pytest.mark.parametrize("name", DOMAINS)
def test_domains_are_the_public_codebooks(name: str) -> None:
    assert load(name).domain == DOMAINS[name]


def test_sizes() -> None:
    assert acs().domain.sizes == (10, 25, 5, 18, 2, 9, 5, 4, 5, 5, 2, 2, 2, 3, 2, 9)
    assert fire().domain.sizes == (32, 15, 9, 28, 11, 46, 8, 2, 5, 5)
    for path in DATA.iterdir():
        assert path.stat().st_size < 1_000_000, path


@pytest.mark.parametrize("name", FIRST_FILES)
def test_the_first_networks_never_change(name: str) -> None:
    content = (DATA / f"{name}.bif").read_bytes()
    assert hashlib.sha256(content).hexdigest() == FIRST_FILES[name]


@pytest.mark.parametrize("name", DOMAINS)
def test_cards(name: str) -> None:
    found = read_card(name)
    for key in ("title", "source", "licence", "extract", "data_sha256", "fitting"):
        assert found[key], key
    assert len(found["data_sha256"]) == 64 and found["records"] >= 1_000
    scores = found["held_out"]["mean_log_likelihood_nats"]
    assert scores["shipped"] > scores["chow_liu"] > scores["independent"]
    assert scores["shipped"] > scores["hill_climb_bic"]


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda recipe: recipe.name)
def test_cards_are_what_the_recipes_say(recipe: Recipe) -> None:
    found = read_card(recipe.name)
    assert {key: found[key] for key in recipe.provenance} == recipe.provenance
    assert found["fitting"]["structure"] == repr(recipe.search)


@pytest.mark.parametrize("name", COUNTED)
def test_cards_say_where_the_raw_file_came_from(name: str) -> None:
    found = read_card(name)
    for key in ("raw_file", "binned", "note", "attribution"):
        assert found[key], key
    if found["licence"] == CC_BY:  # the licence asks for authors, title, source and changes
        assert "doi.org" in found["attribution"] and "Changed:" in found["attribution"]


@pytest.mark.parametrize("name", COUNTED)
def test_counts_add_up(name: str) -> None:
    found = read_card(name)
    assert list(found["counts"]) == list(DOMAINS[name].names)
    for attribute in DOMAINS[name]:
        counts = found["counts"][attribute.name]
        assert len(counts) == attribute.size and sum(counts) == found["records"]


# Facts that the publishers print, to hold the counts against.
PUBLISHED = {
    ("adult", "income", ">50K"): 7_841 + 3_846,
    ("adult", "sex", "Female"): 10_771 + 5_421,
    ("german", "credit_risk", "bad"): 300,
    ("contraceptive", "contraceptive_method", "Long-term"): 333,
    ("contraceptive", "contraceptive_method", "No use"): 629,
    ("credit", "default", "Yes"): 6_636,
    ("credit", "SEX", "Female"): 18_112,
    ("fars", "INJURY_SEVERITY", "Fatal Injury"): 42_116,
}


@pytest.mark.parametrize(("name", "column", "label"), PUBLISHED)
def test_counts_are_the_published_ones(name: str, column: str, label: str) -> None:
    code = DOMAINS[name][column].code(label)
    assert read_card(name)["counts"][column][code] == PUBLISHED[name, column, label]


@pytest.mark.parametrize("name", COUNTED)
def test_marginals_are_close_to_the_extract(name: str) -> None:
    """Total variation of every column is at most what the card says, which is little."""
    net, counts, furthest = (
        load(name),
        read_card(name)["counts"],
        read_card(name)["furthest_column"],
    )
    gaps = {}
    for column in net.domain.names:
        found = np.array(counts[column]) / sum(counts[column])
        model = np.exp(net.log_evidence(Table.of_all_values(net.domain.project([column]))))
        assert np.isclose(model.sum(), 1.0)
        gaps[column] = np.abs(model - found).sum() / 2
    assert max(gaps.values()) < 0.04
    assert max(gaps, key=gaps.__getitem__) == furthest["column"]
    assert abs(max(gaps.values()) - furthest["total_variation"]) < 1e-4


def test_a_card_of_another_extract_is_found() -> None:
    """The comparison of marginals can fail: counts of a column against another's shares."""
    net, counts = load("nist"), read_card("nist")["counts"]
    model = np.exp(net.log_evidence(Table.of_all_values(net.domain.project(["DEAR"]))))
    other = np.array(counts["SEX"]) / sum(counts["SEX"])
    assert np.abs(model - other).sum() / 2 > 0.3


@pytest.mark.parametrize("name", COUNTED)
def test_pairs_are_close_to_the_extract(name: str) -> None:
    """What the card calls the furthest pair is a pair of columns, and not far."""
    furthest = read_card(name)["furthest_pair"]
    first, second = furthest["columns"]
    assert first in DOMAINS[name] and second in DOMAINS[name] and first != second
    assert 0 < furthest["divergence_nats"] < 0.15


@pytest.mark.parametrize("name", DOMAINS)
def test_no_reachable_cell_is_zero(name: str) -> None:
    assert all((cpt > 0).all() for cpt in load(name).cpts)


def test_prior_success_on_the_columns_of_the_paper() -> None:
    """Montana's SEX is a little easier from the rest than California's 56 of 100."""
    net = acs()
    table = net.sample(5_000, np.random.default_rng(0))
    others = [name for name in net.domain.names if name != "SEX"]
    best = net.conditional(table.project(others), ["SEX"]).max(axis=1).mean()
    assert 0.58 < best < 0.66
