from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from reconbench.attacks import ExactMatch, Metric, MetricError, WithinL1
from reconbench.datasets import BayNet, Table


def brute_success(net: BayNet, metric: Metric, known: Table, guess: Table) -> np.ndarray:
    """Sum the conditional prior over the truths on which the guess succeeds."""
    targets = guess.domain.names
    chances = net.conditional(known, targets)
    total = np.zeros(len(known))
    for cell in product(*(range(size) for size in guess.domain.sizes)):
        truth = Table(guess.domain, np.tile(cell, (len(known), 1)))
        total += metric.score(truth, guess) * chances[(slice(None), *cell)]
    return total


@pytest.mark.parametrize(
    ("metric", "targets"),
    [
        (ExactMatch(), ("c",)),
        (ExactMatch(), ("a", "c")),
        (ExactMatch(), ("d", "a", "b")),
        (WithinL1(0), ("c",)),
        (WithinL1(1), ("c",)),
        (WithinL1(3), ("c",)),
    ],
)
def test_prior_success_and_best_guess(
    toy_net: BayNet, metric: Metric, targets: tuple[str, ...]
) -> None:
    table = toy_net.sample(25, np.random.default_rng(0))
    known = table.project([name for name in toy_net.domain.names if name not in targets])
    domain = toy_net.domain.project(targets)
    metric.check(toy_net.domain, targets)
    best, success = metric.best_guess(toy_net, known, targets)
    assert np.allclose(brute_success(toy_net, metric, known, best), success, rtol=1e-10)
    for cell in product(*(range(size) for size in domain.sizes)):
        guess = Table(domain, np.tile(cell, (len(known), 1)))
        ours = metric.prior_success(toy_net, known, guess)
        assert np.allclose(ours, brute_success(toy_net, metric, known, guess), rtol=1e-10)
        assert (ours <= success + 1e-12).all()


def test_l1_of_zero_is_exact_match(toy_net: BayNet) -> None:
    table = toy_net.sample(50, np.random.default_rng(0)).project(["c"])
    other = toy_net.sample(50, np.random.default_rng(1)).project(["c"])
    assert np.array_equal(WithinL1(0).score(table, other), ExactMatch().score(table, other))
    assert WithinL1(3).score(table, other).all()


def test_decide() -> None:
    weights = np.array([[0.4, 0.0, 0.3, 0.3], [0.1, 0.2, 0.3, 0.4]])
    assert ExactMatch().decide([weights]).tolist() == [[0], [3]]
    assert WithinL1(1).decide([weights]).tolist() == [[1], [2]]
    two = ExactMatch().decide([weights, weights[:, ::-1]])
    assert two.tolist() == [[0, 3], [3, 0]]
    batch = WithinL1(1).decide([np.stack([weights, weights])])
    assert batch.shape == (2, 2, 1)


def test_checks(toy_net: BayNet) -> None:
    with pytest.raises(MetricError, match=r"'a' is not ordinal.*ordinal columns: c"):
        WithinL1(1).check(toy_net.domain, ["a"])
    with pytest.raises(MetricError, match="one target column, got 2"):
        WithinL1(1).check(toy_net.domain, ["c", "a"])
    with pytest.raises(MetricError, match="0 or more"):
        WithinL1(-1)
    with pytest.raises(ValueError, match="unknown column"):
        ExactMatch().check(toy_net.domain, ["z"])
