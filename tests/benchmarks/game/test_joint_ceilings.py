"""Hiding one more column never raises a ceiling: all columns right means every subset right."""

from __future__ import annotations

from itertools import pairwise
from math import prod

import numpy as np
import pytest

from reconbench.attacks import ExactMatch
from reconbench.attacks.metrics import exact
from reconbench.benchmarks.game.game import Game
from reconbench.benchmarks.game.row_ceilings import Ceilings, compute_row_bounds
from reconbench.benchmarks.plugins import load_prior
from reconbench.benchmarks.plugins.bounds import find_bounds
from reconbench.benchmarks.suites.suite import find_suite
from reconbench.bounds import ApproxDP, FdpRecursion, GaussianDP, PriorExact, Scope, Targets
from reconbench.bounds import gaussian_mu as mu
from reconbench.datasets import Prior, Table

DELTA = 1e-5
METRIC = ExactMatch()


def games(dataset: str) -> list[Game]:
    """The games of figure 6 on one data set, fewest hidden columns first."""
    found = {unit.game.repeat(0) for unit in find_suite("swanberg-fig6").units()}
    return sorted((g for g in found if g.dataset == dataset), key=lambda g: len(g.targets))


def draw_known(prior: Prior, game: Game, n: int = 100) -> Table:
    assert game.known is not None
    return prior.sample(n, np.random.default_rng(6)).project(game.known)


def compute_ceilings(prior: Prior, known: Table, game: Game) -> Ceilings:
    """The ceilings of every registered bound that holds for the game or for its best guesses."""
    best = METRIC.best_guess(prior, known, game.targets)[1]
    whole = METRIC.whole_priors(prior, known, game.targets)
    targets = Targets(
        best,
        ApproxDP(game.epsilon, DELTA),
        guess_success=best,
        read_whole_priors=lambda: whole,
        read_misfit_success=lambda: best,
    )
    guarantee = GaussianDP(mu(game.epsilon, DELTA))
    scopes = (Scope.ANY_ATTACK, Scope.GUESSES)
    rows = [
        compute_row_bounds(find_bounds(), scope, game, METRIC, targets, guarantee)
        for scope in scopes
    ]
    return rows[0].ceilings | rows[1].ceilings


@pytest.mark.parametrize(("dataset", "most"), [("acs", 13), ("fire", 7)])
def test_another_hidden_column_never_raises_a_ceiling(dataset: str, most: int) -> None:
    prior = load_prior(dataset)
    figure = games(dataset)
    assert [len(game.targets) for game in figure] == list(range(1, most + 1))
    known = draw_known(prior, figure[0])
    fewer: Ceilings = {}
    for game in figure:
        ceilings = compute_ceilings(prior, known, game)
        assert {"prior-exact", "fdp-recursion", "thm35", "profile-recursion"} <= ceilings.keys()
        for name, levels in fewer.items():
            for level, value in levels.items():
                assert ceilings[name][level] <= value + 1e-9, (name, level, len(game.targets))
        fewer = ceilings


@pytest.mark.parametrize(("dataset", "columns"), [("acs", 3), ("fire", 3)])
def test_joint_ceilings_are_those_of_the_full_list(dataset: str, columns: int) -> None:
    prior = load_prior(dataset)
    game = games(dataset)[columns - 1]
    known = draw_known(prior, game, 30)
    assert prod(prior.domain.project(game.targets).sizes) > 1024
    whole = METRIC.whole_priors(prior, known, game.targets)
    assert whole.priors.shape[1] == 1024
    full = prior.conditional(known, game.targets).reshape(len(known), -1)
    for strength in (0.1, 0.7, 3.0):
        guarantee = GaussianDP(strength)
        ours = PriorExact(whole.priors, guarantee, whole.tail_mass, whole.tail_runs).per_target
        exact = PriorExact(full, guarantee).per_target
        assert (ours >= exact - 1e-12).all()
        np.testing.assert_allclose(ours, exact, rtol=1e-3)
    guarantee = GaussianDP(0.7)
    listed = FdpRecursion(whole.priors, guarantee, whole.tail_mass, whole.tail_runs)
    recursion = FdpRecursion(full, guarantee)
    assert listed.by_confidence((0.5, 0.95)) == recursion.by_confidence((0.5, 0.95))


class NotANetwork:
    """A prior that offers the contract alone, so that long joint priors list their mode only."""

    def __init__(self, net: Prior) -> None:
        self.domain, self.visit_order = net.domain, net.visit_order
        self.sha256, self.sample = net.sha256, net.sample
        self.conditional, self.log_evidence, self.map = net.conditional, net.log_evidence, net.map


def test_subsets_hold_the_ceilings_of_other_priors_down() -> None:
    prior = load_prior("fire")
    figure = games("fire")
    known = draw_known(prior, figure[0])
    guarantee = GaussianDP(mu(3.0, DELTA))
    means = []
    for game in figure:
        whole = METRIC.whole_priors(NotANetwork(prior), known, game.targets)
        bound = PriorExact(whole.priors, guarantee, whole.tail_mass, whole.tail_runs)
        means.append(bound.mean)
    # The lists of subsets are read at some places only.
    assert all(after <= before * 1.001 for before, after in pairwise(means))


def test_large_tables_list_few_values() -> None:
    prior = load_prior("fire")
    known = prior.sample(20_000, np.random.default_rng(0)).project(prior.visit_order[-3:])
    whole = METRIC.whole_priors(prior, known, prior.visit_order[:3])
    assert whole.priors.shape == (20_000, exact.MAX_VALUES)
    assert np.prod(prior.domain.project(prior.visit_order[:3]).sizes) > exact.MAX_VALUES
    bound = PriorExact(whole.priors, GaussianDP(0.7), whole.tail_mass, whole.tail_runs)
    full = prior.conditional(known.project(known.domain.names), prior.visit_order[:1])
    assert bound.mean <= PriorExact(full, GaussianDP(0.7)).mean


def test_long_tables_of_few_rows_have_whole_priors() -> None:
    """The limit on listed numbers is one on distinct known rows."""
    prior = load_prior("acs")
    known = draw_known(prior, games("acs")[0], 100_000)
    whole = METRIC.whole_priors(prior, known, ["AGEP"])
    assert whole.priors.shape == (100_000, 10) and not np.any(whole.tail_mass)
    assert np.allclose(whole.priors[:50], prior.conditional(known, ["AGEP"])[:50])
