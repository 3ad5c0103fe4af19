from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from reconbench.datasets import BayNet, DomainError, Table
from reconbench.datasets.network.fit import (
    ChowLiu,
    GreedyMutualInformation,
    HillClimbBIC,
    Independent,
    StructureSearch,
    estimate_network,
    fit,
    score_held_out,
)

SEARCHES = [GreedyMutualInformation(2), HillClimbBIC(2), ChowLiu(), Independent()]


@pytest.fixture
def truth(random_net: Callable[..., BayNet]) -> BayNet:
    return random_net(3, sizes=(2, 3, 2, 4, 3, 2))


@pytest.mark.parametrize("search", SEARCHES, ids=lambda s: type(s).__name__)
def test_fits_are_networks_with_no_zero(truth: BayNet, search: StructureSearch) -> None:
    table = truth.sample(300, np.random.default_rng(0))
    net = fit(table, search)
    assert net.domain == truth.domain
    assert all((cpt > 0).all() for cpt in net.cpts)
    assert all(np.allclose(cpt.sum(axis=-1), 1) for cpt in net.cpts)
    assert fit(table, search).sha256() == net.sha256()


@pytest.mark.parametrize("smoothing", [0.3, 1.0, 5.0])
@pytest.mark.parametrize("search", SEARCHES, ids=lambda s: type(s).__name__)
def test_counted_networks_are_pgmpys_to_the_last_bit(
    truth: BayNet, search: StructureSearch, smoothing: float
) -> None:
    """Fitted priors seed random streams by their hash: another rounding is another game."""
    table = truth.sample(150, np.random.default_rng(5))
    ours, theirs = estimate_network(table, search, smoothing), fit(table, search, smoothing)
    assert ours.sha256() == theirs.sha256()


@pytest.mark.parametrize("search", [GreedyMutualInformation(2), HillClimbBIC(2)])
def test_parents_are_capped(truth: BayNet, search: StructureSearch) -> None:
    net = fit(truth.sample(5_000, np.random.default_rng(0)), search)
    assert max(len(parents) for parents in net.parents) <= 2


def test_tables_are_smoothed_counts(truth: BayNet) -> None:
    """P(v | context) = (count + s·m_v) / (total + s), m the column's smoothed marginal."""
    table = truth.sample(200, np.random.default_rng(1))
    net = fit(table, GreedyMutualInformation(2), smoothing=3.0)
    for i, parents in enumerate(net.parents):
        size = net.domain.sizes[i]
        marginal = np.bincount(table.codes[:, i], minlength=size) + 1 / size
        marginal = marginal / marginal.sum()
        for context in np.ndindex(*(net.domain.sizes[p] for p in parents)):
            here = np.all(table.codes[:, list(parents)] == context, axis=1)
            counts = np.bincount(table.codes[here, i], minlength=size)
            expected = (counts + 3.0 * marginal) / (counts.sum() + 3.0)
            assert np.allclose(net.cpts[i][context], expected, rtol=1e-12)


def test_structure_is_found_and_scores_rank(truth: BayNet) -> None:
    """With plenty of data a searched network comes close to the truth, and rivals rank below."""
    table = truth.sample(20_000, np.random.default_rng(2))
    scores = score_held_out(
        table,
        {"greedy": GreedyMutualInformation(2), "tree": ChowLiu(), "independent": Independent()},
        1.0,
    )
    fresh = truth.sample(20_000, np.random.default_rng(3))
    best = float(truth.log_prob(fresh).mean())
    assert scores["greedy"] >= scores["tree"] - 0.01 > scores["independent"]
    assert abs(scores["greedy"] - best) < 0.05


def test_greedy_order_is_the_visit_order(truth: BayNet) -> None:
    table = truth.sample(2_000, np.random.default_rng(4))
    structure = GreedyMutualInformation(2).search(table)
    net = fit(table, GreedyMutualInformation(2))
    assert net.visit_order == tuple(table.domain.names[i] for i in structure.order)


def test_unobserved_labels_survive(truth: BayNet) -> None:
    codes = truth.sample(100, np.random.default_rng(0)).codes.copy()
    codes[codes[:, 3] == 3, 3] = 0
    net = fit(Table(truth.domain, codes), Independent())
    assert net.cpts[3].size == 4 and net.cpts[3][3] > 0


def test_bad_fits(truth: BayNet) -> None:
    empty = Table(truth.domain, np.empty((0, 6), dtype=np.int64))
    with pytest.raises(DomainError, match="without records"):
        fit(empty, Independent())
    table = truth.sample(5, np.random.default_rng(0))
    with pytest.raises(DomainError, match="smoothing must be a positive number"):
        fit(table, Independent(), smoothing=0.0)
    with pytest.raises(DomainError, match="max_parents must be at least 1"):
        GreedyMutualInformation(0)
    with pytest.raises(DomainError, match="too few to hold"):
        score_held_out(truth.sample(1, np.random.default_rng(0)), {"i": Independent()}, 1.0)
