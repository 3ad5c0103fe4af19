"""Small random networks, small enough to enumerate."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from reconbench.datasets import Attribute, BayNet, Domain


@pytest.fixture
def random_net() -> Callable[..., BayNet]:
    def make(seed: int, sizes: tuple[int, ...] = (2, 3, 2, 4, 3), max_parents: int = 2) -> BayNet:
        rng = np.random.default_rng(seed)
        names = [f"col {i}" for i in range(len(sizes))]
        domain = Domain(
            tuple(
                Attribute(name, tuple(f"{name} = {v}" for v in range(size)), ordinal=True)
                for name, size in zip(names, sizes, strict=True)
            )
        )
        order = rng.permutation(len(sizes))
        parents: list[tuple[int, ...]] = [()] * len(sizes)
        for place, column in enumerate(order):
            count = int(rng.integers(0, min(place, max_parents) + 1))
            parents[column] = tuple(
                int(p) for p in rng.choice(order[:place], size=count, replace=False)
            )
        cpts = tuple(
            rng.dirichlet(np.full(size, 0.5), size=[sizes[p] for p in parents[i]]) + 1e-3
            for i, size in enumerate(sizes)
        )
        cpts = tuple(cpt / cpt.sum(axis=-1, keepdims=True) for cpt in cpts)
        return BayNet(domain, tuple(parents), cpts, tuple(names[i] for i in order))

    return make
