"""A small population of three columns: a known age, a known home, and a sickness to guess."""

from __future__ import annotations

import numpy as np
import pytest

from reconbench.datasets import Attribute, BayNet, Domain, Table, save_prior

DOMAIN = Domain(
    (
        Attribute("age", tuple("abcdef")),
        Attribute("home", tuple("uvwx")),
        Attribute("sick", ("no", "yes")),
    )
)


def make_population() -> BayNet:
    """Home depends on age, sickness on home."""
    homes = np.full((6, 4), 0.1)
    homes[np.arange(6), np.arange(6) % 4] = 0.7
    sick = np.array([[0.8, 0.2], [0.65, 0.35], [0.5, 0.5], [0.4, 0.6]])
    return BayNet(DOMAIN, ((), (0,), (1,)), (np.full(6, 1 / 6), homes, sick), DOMAIN.names)


@pytest.fixture(scope="session")
def population() -> BayNet:
    return make_population()


@pytest.fixture(scope="session")
def prior_file(tmp_path_factory: pytest.TempPathFactory, population: BayNet) -> str:
    path = tmp_path_factory.mktemp("prior") / "population.bif"
    save_prior(population, path)
    return str(path)


@pytest.fixture(scope="session")
def people(population: BayNet) -> Table:
    return population.sample(60, np.random.default_rng(1))


@pytest.fixture(scope="session")
def strangers(population: BayNet) -> Table:
    """Of the same kind, and another number of them than of the people."""
    return population.sample(80, np.random.default_rng(2))
