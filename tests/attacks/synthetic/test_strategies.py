"""Weights learnt from known columns, where the mechanism cannot be run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from reconbench.attacks import AttackerView
from reconbench.attacks.baselines import PriorGuess
from reconbench.attacks.synthetic.learners import NaiveBayes
from reconbench.attacks.synthetic.pooled import Cliques, NaiveBayesPooled, RandomForestPooled, Stack
from reconbench.attacks.synthetic.raw import NaiveBayesAttack
from reconbench.attacks.synthetic.sources import LearnerSource
from reconbench.attacks.synthetic.strategies import FromImaginedTables, FromKnownColumns
from reconbench.attacks.synthetic.table_rap import TableRap
from reconbench.bounds import ApproxDP
from reconbench.datasets import BayNet, Table
from reconbench.datasets.shipped import acs
from reconbench.mechanisms import Mechanism, MechanismError
from reconbench.mechanisms.published_table import PublishedTable

MakeView = Callable[..., tuple[AttackerView, Table]]


def publish(view: AttackerView) -> AttackerView:
    """The same table in a file, whoever made it."""
    return replace(view, mechanism=PublishedTable(view.release.domain, view.targets))


def test_a_published_table_promises_what_is_stated(toy_net: BayNet) -> None:
    unstated = PublishedTable(toy_net.domain, ("c",))
    assert unstated.budget.epsilon == np.inf and unstated.budget == unstated.guarantee
    stated = PublishedTable.for_budget(toy_net.domain, ("c",), 2.0, 1e-6)
    assert isinstance(stated.guarantee, ApproxDP) and stated.guarantee.epsilon == 2.0
    with pytest.raises(MechanismError, match="cannot be run"):
        stated.release(toy_net.sample(3, np.random.default_rng(0)), np.random.default_rng(0))


def test_the_strategy_goes_by_the_mechanism(make_synthetic: MakeView) -> None:
    view, _ = make_synthetic()
    assert NaiveBayesPooled(tables=3).choose_strategy(view) == FromImaginedTables(3)
    assert NaiveBayesPooled().choose_strategy(publish(view)) == FromKnownColumns()


def test_known_columns_are_practised_on(make_synthetic: MakeView, copies: Mechanism) -> None:
    """A table that repeats the records is trusted, and its hidden column is guessed better."""
    gained = 0
    for seed in range(4):
        view, truth = make_synthetic(n=80, mechanism=copies, seed=seed)
        prior = PriorGuess().reconstruct(view, np.random.default_rng(0))
        found = RandomForestPooled(trees=10).reconstruct(publish(view), np.random.default_rng(0))
        assert found.info["weight_random_forest"] > 0
        gained += int(view.metric.score(truth, found.guess).sum())
        gained -= int(view.metric.score(truth, prior.guess).sum())
    assert gained >= 8


def test_unrelated_tables_are_rarely_trusted(unrelated_to: Callable[..., AttackerView]) -> None:
    """A gain that exceeds its standard error over eight columns is chance once in six times; four
    of six tables have a chance of 9e-3. What is believed then is little."""
    weights = []
    for seed in range(6):
        view = publish(unrelated_to(acs(), ("AGEP",), 100, seed))
        found = NaiveBayesPooled().reconstruct(view, np.random.default_rng(0))
        weights.append(found.info["weight_naive_bayes"])
    assert np.count_nonzero(weights) < 4 and max(weights) < 0.2


def test_weights_do_not_depend_on_the_hidden_column(make_synthetic: MakeView) -> None:
    """They are learnt without it: the same for every truth, and the same again."""
    view, _ = make_synthetic(n=60, rows="5n")
    sources = (LearnerSource(NaiveBayes()),)
    first = FromKnownColumns().weigh(publish(view), sources, "c").weights
    again = FromKnownColumns().weigh(publish(view), sources, "c").weights
    assert np.array_equal(first, again)


def test_what_cannot_be_played_is_told(make_synthetic: MakeView) -> None:
    view, _ = make_synthetic()
    published = publish(view)
    assert Cliques().skip(published) == (
        "cliques imagines tables, and the mechanism of this release cannot be run"
    )
    assert "weight_cliques" not in Stack().reconstruct(published, np.random.default_rng(0)).info
    one = replace(published, known=view.known.project(["a"]))
    assert str(Stack().skip(one)).endswith("cannot be run, and needs two or more of them")
    assert NaiveBayesAttack().skip(published) is None
    assert TableRap(steps=5).reconstruct(published, np.random.default_rng(0)).info["steps"] == 5
