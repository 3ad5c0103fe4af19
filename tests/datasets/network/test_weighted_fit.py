"""Networks fitted to weighted records."""

from __future__ import annotations

import numpy as np
import pytest

from reconbench.datasets import BayNet, DomainError, Table
from reconbench.datasets.network.fit import (
    ChowLiu,
    GreedyMutualInformation,
    HillClimbBIC,
    Independent,
    estimate_network,
)


def close(one: BayNet, other: BayNet, error: float = 1e-9) -> bool:
    pairs = zip(one.cpts, other.cpts, strict=True)
    return one.parents == other.parents and all(
        np.allclose(a, b, rtol=0, atol=error) for a, b in pairs
    )


@pytest.mark.parametrize("search", [GreedyMutualInformation(), Independent()])
def test_equal_weights_are_none(toy_net: BayNet, search: GreedyMutualInformation) -> None:
    table = toy_net.sample(300, np.random.default_rng(0))
    plain = estimate_network(table, search)
    assert close(estimate_network(table, search, weights=np.full(300, 5.0)), plain)


def test_records_without_weight_do_not_count(toy_net: BayNet) -> None:
    """Half of the records with next to no weight: the network of the other half, noise included."""
    table = toy_net.sample(400, np.random.default_rng(1))
    search = GreedyMutualInformation()
    weights = np.where(np.arange(400) < 200, 1.0, 1e-12)
    half = Table(table.domain, table.codes[:200])
    assert close(estimate_network(table, search, weights=weights), estimate_network(half, search))


def test_weights_undo_a_biased_sample(toy_net: BayNet) -> None:
    """Of 20,000 draws those with a = 0 are kept with chance 0.2, and weigh five times as much.

    The share of a = 0 comes out within 5 standard errors (false alarm below 1e-6); without weights
    it does not.
    """
    rng = np.random.default_rng(2)
    table = toy_net.sample(20_000, rng)
    rare = table.column("a") == 0
    kept = ~rare | (rng.random(len(table)) < 0.2)
    sample, weights = Table(table.domain, table.codes[kept]), np.where(rare, 5.0, 1.0)[kept]
    share = float(toy_net.cpts[0][0])
    error = 5 * np.sqrt(share * (1 - share) * weights.max() / len(sample))
    weighted = estimate_network(sample, Independent(), weights=weights)
    plain = estimate_network(sample, Independent())
    assert abs(weighted.cpts[0][0] - share) < error < abs(plain.cpts[0][0] - share)


def test_searches_that_count_records_take_no_weights(toy_net: BayNet) -> None:
    table = toy_net.sample(30, np.random.default_rng(3))
    for search in (HillClimbBIC(), ChowLiu()):
        with pytest.raises(DomainError, match="use the structure greedy or independent"):
            estimate_network(table, search, weights=np.ones(30))
