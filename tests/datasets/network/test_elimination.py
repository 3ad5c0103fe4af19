"""Elimination orders against a slow twin that looks at all scopes at every step."""

from __future__ import annotations

from math import prod

import numpy as np
import pytest

from reconbench.datasets.network.elimination import (
    elimination_order,
    largest_clique,
    remaining_scopes,
)


def slow_order(scopes: list[set[int]], left: set[int], sizes: list[int]) -> list[int]:
    order = []
    while left:
        cliques = {v: set[int]().union(*(s for s in scopes if v in s)) for v in left}
        best = min(left, key=lambda v: (prod(sizes[u] for u in cliques[v]), v))
        scopes = [s for s in scopes if best not in s] + [cliques[best] - {best}]
        left = left - {best}
        order.append(best)
    return order


@pytest.mark.parametrize("seed", range(40))
def test_orders_and_sizes(seed: int) -> None:
    rng = np.random.default_rng(seed)
    count = int(rng.integers(1, 15))
    sizes = rng.integers(1, 6, count).tolist()
    scopes = [
        set(rng.choice(count, rng.integers(0, min(count, 4) + 1), replace=False).tolist())
        for _ in range(rng.integers(0, 15))
    ]
    chosen = set(rng.choice(count, rng.integers(0, count + 1), replace=False).tolist())
    order = elimination_order(scopes, chosen, sizes)
    assert order == slow_order(scopes, chosen, sizes)
    live, largest = list(scopes), sizes[0]
    for v in order:
        clique = {v}.union(*(s for s in live if v in s))
        largest = max(largest, prod(sizes[u] for u in clique))
        live = [s for s in live if v not in s] + [clique - {v}]
    assert largest_clique(scopes, order, sizes, [0]) == largest
    assert sorted(map(sorted, remaining_scopes(scopes, order))) == sorted(map(sorted, live))


def test_a_thousand_columns_in_a_chain() -> None:
    """The slow twin looks at a billion scopes here."""
    scopes = [{i, i + 1} for i in range(2_000)]
    assert len(elimination_order(scopes, range(2_001), [2] * 2_001)) == 2_001
