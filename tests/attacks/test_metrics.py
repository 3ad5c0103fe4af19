from __future__ import annotations

import numpy as np
import pytest

from reconbench.attacks import ExactMatch, MetricError, WithinL1
from reconbench.datasets import BayNet


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
