"""The likeliest joint values against full enumeration."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from reconbench.datasets import BayNet, DomainError, Table, list_likeliest_values, prior
from reconbench.datasets.shipped import fire

Make = Callable[..., BayNet]


class NotANetwork:
    """A prior that offers the contract alone."""

    def __init__(self, net: BayNet) -> None:
        self.domain, self.visit_order = net.domain, net.visit_order
        self.sha256, self.sample = net.sha256, net.sample
        self.conditional, self.log_evidence, self.map = net.conditional, net.log_evidence, net.map


def enumerate_likeliest(net: BayNet, known: Table, targets: list[str], count: int) -> np.ndarray:
    joint = net.conditional(known, targets).reshape(len(known), -1)
    return -np.sort(-joint, axis=1)[:, :count]


@pytest.mark.parametrize("count", [1, 2, 7, 23, 24, 100])
@pytest.mark.parametrize("seed", range(6))
def test_the_list_is_the_top_of_the_enumeration(random_net: Make, seed: int, count: int) -> None:
    net = random_net(seed)
    table = net.sample(30, np.random.default_rng(seed))
    names = net.domain.names
    for known_names, targets in [
        ([names[4]], [names[1], names[0], names[3]]),
        ([names[0], names[2]], [names[4]]),
        ([names[1]], [names[0], names[2], names[3], names[4]]),
    ]:
        known = table.project(known_names)
        listed = net.likeliest(known, targets, count)
        np.testing.assert_allclose(
            listed, enumerate_likeliest(net, known, targets, count), rtol=1e-11, atol=1e-15
        )
        other = list_likeliest_values(NotANetwork(net), known, targets, count)
        np.testing.assert_allclose(listed, other, rtol=1e-11, atol=1e-15)


def test_zeros_and_ties(toy_net: BayNet) -> None:
    # A column that its parent determines, and one that is uniform: zeros and ties everywhere.
    cpts = list(toy_net.cpts)
    cpts[1] = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    cpts[4] = np.full(3, 1 / 3)
    net = replace(toy_net, cpts=tuple(cpts))
    known = net.sample(20, np.random.default_rng(0)).project(["d"])
    for count in (1, 4, 10, 72):
        listed = net.likeliest(known, ["a", "b", "c", "e"], count)
        expected = enumerate_likeliest(net, known, ["a", "b", "c", "e"], count)
        np.testing.assert_allclose(listed, expected, rtol=1e-12, atol=1e-16)


def test_on_a_shipped_prior() -> None:
    net = fire()
    targets = net.visit_order[:3]
    known = net.sample(20, np.random.default_rng(5)).project(net.visit_order[-3:])
    listed = net.likeliest(known, targets, 500)
    expected = enumerate_likeliest(net, known, list(targets), 500)
    np.testing.assert_allclose(listed, expected, rtol=1e-11)
    everything = net.likeliest(known, net.visit_order[:7], 50)
    np.testing.assert_allclose(everything[:, 0], net.map(known, net.visit_order[:7])[1], rtol=1e-12)


def test_priors_too_long_to_enumerate_list_their_mode(
    toy_net: BayNet, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(prior, "MAX_ENUMERATED", 20)
    known = toy_net.sample(10, np.random.default_rng(0)).project(["d"])
    listed = list_likeliest_values(NotANetwork(toy_net), known, ["a", "c"], 5)
    np.testing.assert_array_equal(listed, toy_net.map(known, ["a", "c"])[1][:, None])


def test_bad_input(toy_net: BayNet) -> None:
    known = toy_net.sample(3, np.random.default_rng(0)).project(["d"])
    with pytest.raises(DomainError, match="count must be at least 1, got 0"):
        toy_net.likeliest(known, ["a"], 0)
    with pytest.raises(DomainError, match="both known and a target"):
        toy_net.likeliest(known, ["d"], 3)
