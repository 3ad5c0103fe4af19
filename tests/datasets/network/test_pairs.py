"""Marginals of pairs against full enumeration."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from time import perf_counter

import numpy as np
import pytest

from reconbench.datasets import Attribute, BayNet, Domain, DomainError, Table
from reconbench.datasets.network import pairs
from reconbench.datasets.network.pairs import list_pair_marginals

Make = Callable[..., BayNet]


def enumerate_joint(net: BayNet) -> np.ndarray:
    """P of every joint value, as an array with one axis per column."""
    whole = Table.of_all_values(net.domain)
    return np.exp(net.log_prob(whole)).reshape(net.domain.sizes)


@pytest.mark.parametrize("seed", range(12))
def test_pairs_are_those_of_the_joint_distribution(random_net: Make, seed: int) -> None:
    net = random_net(seed, sizes=(2, 3, 1, 4, 2, 3), max_parents=seed % 4)
    joint = enumerate_joint(net)
    found = {(i, j): pair for i, j, pair in list_pair_marginals(net)}
    assert list(found) == list(combinations(range(6), 2))
    for (i, j), pair in found.items():
        others = tuple(v for v in range(6) if v not in (i, j))
        np.testing.assert_allclose(pair, joint.sum(axis=others), atol=1e-14)


def test_values_are_taken_in_parts(random_net: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    net = random_net(3)
    whole = [pair for *_, pair in list_pair_marginals(net)]
    monkeypatch.setattr(pairs, "CHUNK_CELLS", 1)
    for one, other in zip(whole, list_pair_marginals(net), strict=True):
        np.testing.assert_allclose(one, other[2], atol=1e-15)
    monkeypatch.setattr(pairs, "MAX_CLIQUE_CELLS", 10)
    with pytest.raises(DomainError, match="would need"):
        list(list_pair_marginals(net))


def test_impossible_values() -> None:
    domain = Domain(tuple(Attribute(name, ("0", "1")) for name in "abc"))
    sure, copy = np.array([1.0, 0.0]), np.eye(2)
    net = BayNet(domain, ((), (0,), (1,)), (sure, copy, copy), ("a", "b", "c"))
    for *_, pair in list_pair_marginals(net):
        assert pair.tolist() == [[1, 0], [0, 0]]


def test_one_column_has_no_pairs() -> None:
    net = BayNet(Domain((Attribute("a", ("0", "1")),)), ((),), (np.array([0.5, 0.5]),), ("a",))
    assert list(list_pair_marginals(net)) == []


def test_wide_networks_take_two_passes_per_column(random_net: Make) -> None:
    """Sixty columns, 1770 pairs: quicker than one pass per pair by far."""
    net = random_net(0, sizes=(3,) * 60, max_parents=2)
    start = perf_counter()
    assert sum(1 for _ in list_pair_marginals(net)) == 1770
    all_pairs = perf_counter() - start
    known = net.sample(1, np.random.default_rng(0)).project([net.domain.names[0]])
    start = perf_counter()
    for name in net.domain.names[1:31]:
        net.conditional(known, [name])
    assert all_pairs < 1770 / 30 * (perf_counter() - start)
