"""The priors that ship: what their cards claim, and that they are good."""

from __future__ import annotations

import numpy as np
import pytest

from reconbench.datasets import BayNet, Domain
from reconbench.datasets.shipped import DATA, acs, card, codebooks, fire


@pytest.mark.parametrize(
    ("net", "domain"), [(acs(), codebooks.ACS), (fire(), codebooks.FIRE)], ids=["acs", "fire"]
)
def test_domains_are_the_public_codebooks(net: BayNet, domain: Domain) -> None:
    assert net.domain == domain


def test_sizes() -> None:
    assert acs().domain.sizes == (10, 25, 5, 18, 2, 9, 5, 4, 5, 5, 2, 2, 2, 3, 2, 9)
    assert fire().domain.sizes == (32, 15, 9, 28, 11, 46, 8, 2, 5, 5)
    for path in DATA.iterdir():
        assert path.stat().st_size < 1_000_000, path


@pytest.mark.parametrize("name", ["acs", "fire"])
def test_cards(name: str) -> None:
    found = card(name)
    for key in ("title", "source", "licence", "extract", "difference", "data_sha256", "fitting"):
        assert found[key], key
    scores = found["held_out"]["mean_log_likelihood_nats"]
    assert scores["shipped"] > scores["chow_liu"] > scores["independent"]
    assert scores["shipped"] > scores["hill_climb_bic"]


@pytest.mark.parametrize("net", [acs(), fire()], ids=["acs", "fire"])
def test_no_reachable_cell_is_zero(net: BayNet) -> None:
    assert all((cpt > 0).all() for cpt in net.cpts)


def test_prior_success_on_the_columns_of_the_paper() -> None:
    """Montana's SEX is a little easier from the rest than California's 56 of 100."""
    net = acs()
    table = net.sample(5_000, np.random.default_rng(0))
    others = [name for name in net.domain.names if name != "SEX"]
    best = net.conditional(table.project(others), ["SEX"]).max(axis=1).mean()
    assert 0.58 < best < 0.66
