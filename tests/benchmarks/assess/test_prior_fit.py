"""Whether a prior describes the table that it is played with."""

from __future__ import annotations

import numpy as np

from reconbench.benchmarks.assess.prior_fit import check_prior_fit
from reconbench.datasets import BayNet, Table
from reconbench.datasets.network.fit import Independent, fit

TARGETS, KNOWN = ("sick",), ("age", "home")


def test_the_right_prior_raises_no_alarm(population: BayNet) -> None:
    table = population.sample(2000, np.random.default_rng(0))
    fit = check_prior_fit(population, table, TARGETS, KNOWN)
    assert fit is not None and fit.independent == () and fit.pairs == 3
    assert fit.missed == 0 and fit.notable == ()


def test_a_prior_without_edges_misses_them(population: BayNet) -> None:
    table = population.sample(2000, np.random.default_rng(0))
    prior = fit(table, Independent())
    checked = check_prior_fit(prior, table, TARGETS, KNOWN)
    assert checked is not None and checked.independent == TARGETS
    assert [pair.columns for pair in checked.notable] == [("age", "home"), ("home", "sick")]
    assert checked.missed >= 2
    less = check_prior_fit(prior, table, TARGETS, ("age",))
    assert less is not None and less.pairs == 1 and less.notable == ()


def test_other_priors_are_not_held_against_it(population: BayNet, people: Table) -> None:
    assert check_prior_fit(population, people.project(["age", "sick"]), TARGETS, KNOWN) is None
