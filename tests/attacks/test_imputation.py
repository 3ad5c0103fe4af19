from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import inf

import numpy as np
import pytest

from reconbench.attacks import AttackError, AttackerView, WithinL1
from reconbench.attacks.imputation import Imputation, logistic_regression, one_hot, softmax
from reconbench.benchmarks.game.play import Game, Round
from reconbench.datasets import BayNet, Table

MakeView = Callable[..., tuple[AttackerView, Table]]


@pytest.mark.parametrize("targets", [("c",), ("c", "a")])
def test_guesses_do_not_depend_on_the_release(
    make_view: MakeView, targets: tuple[str, ...]
) -> None:
    view, _ = make_view(targets, epsilon=inf, n=30)
    other, _ = make_view(targets, epsilon=0.1, n=30, k=2, seed=9)
    blank = replace(view, release=other.release)
    found = [Imputation(500).reconstruct(v, np.random.default_rng(3)) for v in (view, blank)]
    assert found[0].guess == found[1].guess
    first, second = (each.scores for each in found)
    assert first is not None and second is not None and np.array_equal(first, second)


def test_success_is_that_on_fresh_targets() -> None:
    """The null: over 60 games, success minus its expectation on records redrawn given what is
    known of them is 0 within 4 standard errors, so a correct attack fails with probability
    below 1e-4. Negative control: guessing half of the truth is far outside."""
    gaps, cheat = [], []
    for rep in range(60):
        round_ = Round.draw(Game("acs", ("SEX",), inf, n=100, rep=rep))
        guess = Imputation(500).reconstruct(round_.view, np.random.default_rng(rep)).guess
        expected = round_.expected_from_prior(guess).sum()
        gaps.append(round_.successes(guess) - expected)
        half = np.where(np.arange(100)[:, None] % 2, guess.codes, round_.truth.codes)
        peeked = Table(guess.domain, half)
        cheat.append(round_.successes(peeked) - round_.expected_from_prior(peeked).sum())
    error = np.std(gaps, ddof=1) / np.sqrt(len(gaps))
    assert abs(np.mean(gaps)) <= 4 * error
    assert np.mean(cheat) > 4 * error


def test_regression_is_at_the_minimum(toy_net: BayNet) -> None:
    """The gradient, written out record by record, vanishes there."""
    table = toy_net.sample(400, np.random.default_rng(0))
    names, labels, l2 = ["a", "b", "d"], table.column("c"), 1e-2
    features = one_hot(table, names)
    weights = logistic_regression(features, labels, 4, l2, 1_000)
    dense = features.toarray()
    assert (dense.sum(axis=1) == 4).all() and dense.shape == (400, 1 + 3 + 2 + 2)
    gradient = l2 * weights
    for x, y in zip(dense, labels, strict=True):
        gradient = gradient + np.outer(x, softmax((x @ weights)[None])[0] - np.eye(4)[y]) / 400
    assert np.abs(gradient).max() < 1e-4


def test_many_public_records_come_near_the_prior(make_view: MakeView) -> None:
    """No guess beats the prior's best one, and the classifier is within 5 points of it."""
    view, _ = make_view(("c",), n=200)
    guess = Imputation(20_000).reconstruct(view, np.random.default_rng(0)).guess
    best = view.metric.best_guess(view.prior, view.known, view.targets)[1].mean()
    mine = view.metric.prior_success(view.prior, view.known, guess).mean()
    assert best - 0.05 <= mine <= best + 1e-12


def test_l1_metric_and_refusals(make_view: MakeView) -> None:
    view, _ = make_view(("c",), metric=WithinL1(1))
    found = Imputation(300).reconstruct(view, np.random.default_rng(0))
    assert set(np.unique(found.guess.codes)) <= {1, 2}
    with pytest.raises(AttackError, match="records must be at least 1"):
        Imputation(records=0)
    with pytest.raises(AttackError, match="iterations must be at least 1"):
        Imputation(iterations=0)
    with pytest.raises(AttackError, match="l2 must be a positive number"):
        Imputation(l2=0.0)
