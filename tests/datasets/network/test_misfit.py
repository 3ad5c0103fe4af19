"""What a network misses: exact small tables, a null that stays silent, and a missing edge."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from math import inf, lgamma, log

import numpy as np
import pytest
from scipy.stats import binom, chi2

from reconbench.datasets import Attribute, BayNet, Domain, DomainError, Table
from reconbench.datasets.network.fit import (
    GreedyMutualInformation,
    Independent,
    estimate_network,
)
from reconbench.datasets.network.misfit import (
    NOTABLE_BITS,
    adjust_p_values,
    compute_statistic,
    compute_tail,
    find_independent,
    measure_misfit,
)

Make = Callable[..., BayNet]


def enumerate_statistics(n: int, shares: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """G of every table of n records, and its probability."""
    found = []
    for head in product(range(n + 1), repeat=shares.size - 1):
        if sum(head) <= n:
            counts = np.array([*head, n - sum(head)]).reshape(shares.shape)
            chance = lgamma(n + 1) + (counts * np.log(shares)).sum()
            chance -= sum(lgamma(count + 1) for count in counts.ravel())
            found.append((compute_statistic(counts, shares), np.exp(chance)))
    statistics, chances = np.array(found).T
    return statistics, chances


@pytest.mark.parametrize("seed", range(4))
def test_the_tail_is_that_of_all_tables(seed: int) -> None:
    """Exact enumeration: the mean within 3 %, levels of 5 % and 1 % within a half."""
    shares = np.random.default_rng(seed).dirichlet(np.ones(4)).reshape(2, 2)
    statistics, chances = enumerate_statistics(25, shares)
    mean, _ = compute_tail(1.0, 25 * shares)
    assert mean == pytest.approx((statistics * chances).sum(), rel=0.03)
    p_values = np.array([compute_tail(value, 25 * shares)[1] for value in statistics])
    for level in (0.05, 0.01):
        assert chances[p_values <= level].sum() == pytest.approx(level, rel=0.5)


def test_the_tail_of_full_cells_is_chi_squared() -> None:
    expected = np.full((5, 4), 1e5)
    for statistic in (10.0, 40.0, 80.0):
        _, p_value = compute_tail(statistic, expected)
        assert p_value == pytest.approx(chi2.sf(statistic, 19), rel=1e-3)


@pytest.mark.parametrize(("cells", "n"), [(200, 50), (200, 200), (60, 30)])
def test_the_tail_of_sparse_cells(cells: int, n: int) -> None:
    """Most cells are empty, where χ² is far off: its level is 0 or 1. Alarms at most double."""
    rng = np.random.default_rng(0)
    for shares in (np.full(cells, 1 / cells), rng.dirichlet(np.full(cells, 0.2))):
        counts = rng.multinomial(n, shares, 4000)
        statistics = np.array([compute_statistic(each, shares) for each in counts])
        p_values = np.array([compute_tail(value, n * shares)[1] for value in statistics])
        for level in (0.05, 0.01):
            most = binom.ppf(0.999, 4000, 2 * level)
            assert 0.3 * level * 4000 < (p_values <= level).sum() < most
        naive = chi2.sf(statistics, cells - 1)
        assert not 0.02 < (naive <= 0.05).mean() < 0.1


def test_impossible_counts_and_single_cells() -> None:
    shares = np.array([[0.5, 0.5], [0.0, 0.0]])
    assert compute_statistic(np.array([[5, 5], [1, 0]]), shares) == inf
    assert compute_tail(inf, 10 * shares)[1] == 0
    assert compute_statistic(np.array([[10, 0]]), np.array([[1.0, 0.0]])) == 0
    assert compute_tail(0.0, np.array([[10.0, 0.0]])) == (0.0, 1.0)


def test_holm() -> None:
    assert adjust_p_values([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert adjust_p_values([0.5, 0.9]) == [1.0, 1.0] and adjust_p_values([]) == []


SIZES = (2, 9, 3, 2, 12, 4)


def test_tables_of_the_network_raise_no_alarm(random_net: Make) -> None:
    """200 tables, also sparse ones, at a level of 5 %: at most 20 alarms (99.9 %)."""
    rng = np.random.default_rng(0)
    alarms = 0
    for seed in range(20):
        net = random_net(seed, sizes=SIZES)
        for n in (30, 300, 300, 3000, 3000):
            for _ in range(2):
                alarms += bool(measure_misfit(net, net.sample(n, rng), 0.05).missed)
    assert alarms <= binom.ppf(0.999, 200, 0.05)


def test_a_network_fitted_with_the_right_structure_raises_no_alarm(random_net: Make) -> None:
    """It follows the chance of its data, so that alarms are rarer than the level."""

    class Known:
        def __init__(self, net: BayNet) -> None:
            self.net = net

        def search(self, table: Table, weights: object = None) -> object:
            from reconbench.datasets.network.fit import Structure

            order = self.net.domain.positions(self.net.visit_order)
            return Structure(self.net.parents, order)

    rng = np.random.default_rng(1)
    alarms = 0
    for seed in range(100):
        net = random_net(seed, sizes=(2, 3, 2, 4), max_parents=1)
        data = net.sample(2000, rng)
        fitted = estimate_network(data, Known(net))  # type: ignore[arg-type]
        alarms += bool(measure_misfit(fitted, data, 0.05).missed)
    assert alarms <= binom.ppf(0.999, 100, 0.05)


def chain(strength: float) -> BayNet:
    """c depends on a alone, b on nothing; d copies b, mostly."""
    domain = Domain(tuple(Attribute(name, ("0", "1", "2")) for name in "abcd"))
    even = np.full(3, 1 / 3)
    tied = strength * np.eye(3) + (1 - strength) / 3
    return BayNet(domain, ((), (), (0,), (1,)), (even, even, tied, tied), tuple("abcd"))


def test_a_missing_edge_is_found() -> None:
    net, rng = chain(0.5), np.random.default_rng(0)
    data = net.sample(2000, rng)
    without = BayNet(
        net.domain,
        ((), (), (), (1,)),
        (*net.cpts[:2], np.full(3, 1 / 3), net.cpts[3]),
        tuple("abcd"),
    )
    found = measure_misfit(without, data)
    (pair,) = found.missed
    assert pair.columns == ("a", "c") and pair in found.notable and pair.p_value < 1e-10
    joint = net.cpts[2] / 3
    truth = (joint * np.log2(joint * 9)).sum()
    assert pair.bits == pytest.approx(truth, rel=0.1)
    assert pair.data_bits == pytest.approx(truth, rel=0.1) and pair.network_bits == 0
    assert "a and c: 0." in pair.describe()
    assert measure_misfit(net, data).missed == ()


def test_a_weak_edge_is_missed_but_not_notable() -> None:
    data = chain(0.08).sample(50_000, np.random.default_rng(0))
    found = measure_misfit(estimate_network(data, Independent()), data)
    assert {pair.columns for pair in found.missed} == {("a", "c"), ("b", "d")}
    assert found.notable == () and all(0 < pair.bits < NOTABLE_BITS for pair in found.missed)
    described = found.to_json(most=1)
    assert described["missed"] == 2 and len(described["largest"]) == 1
    assert described["largest"][0]["columns"] == list(found.missed[0].columns)


def test_what_a_greedy_network_misses_shrinks_with_its_parents() -> None:
    """The exclusive or of two columns takes two parents; no pair shows it."""
    rng = np.random.default_rng(0)
    a, b, c = rng.integers(0, 2, (3, 3000))
    domain = Domain(tuple(Attribute(name, ("0", "1")) for name in "abcd"))
    data = Table(domain, np.column_stack([a, b, a & b, (a & b) ^ (rng.random(3000) < 0.1) & c]))
    missed = measure_misfit(estimate_network(data, Independent()), data).notable
    assert {pair.columns for pair in missed} >= {("a", "c"), ("b", "c"), ("c", "d")}
    fitted = estimate_network(data, GreedyMutualInformation())
    assert measure_misfit(fitted, data).notable == ()


def test_refusals() -> None:
    net = chain(0.5)
    data = net.sample(10, np.random.default_rng(0))
    with pytest.raises(DomainError, match="different columns"):
        measure_misfit(net, data.project("abc"))
    with pytest.raises(DomainError, match="level must be"):
        measure_misfit(net, data, 0)


@pytest.mark.parametrize("seed", range(15))
def test_independence_is_that_of_the_distribution(random_net: Make, seed: int) -> None:
    net = random_net(seed, max_parents=1)
    joint = np.exp(net.log_prob(Table.of_all_values(net.domain))).reshape(net.domain.sizes)
    names = net.domain.names
    known = [names[0], names[3]]
    for target in (names[1], names[2], names[4]):
        axes = sorted(net.domain.positions([*known, target]))
        others = tuple(i for i in range(5) if i not in axes)
        pair = joint.sum(axis=others)
        t = axes.index(net.domain.position(target))
        pair = np.moveaxis(pair, t, 0).reshape(net.domain[target].size, -1)
        gap = np.abs(pair - pair.sum(1, keepdims=True) * pair.sum(0, keepdims=True)).max()
        assert (find_independent(net, [target], known) == (target,)) == (gap < 1e-12)


def test_bits_are_bits() -> None:
    """Two equal coins share one bit."""
    coin = BayNet(
        Domain((Attribute("a", ("0", "1")), Attribute("b", ("0", "1")))),
        ((), ()),
        (np.array([0.5, 0.5]), np.array([0.5, 0.5])),
        ("a", "b"),
    )
    sides = np.arange(1000) % 2
    (pair,) = measure_misfit(coin, Table(coin.domain, np.column_stack([sides, sides]))).missed
    assert pair.data_bits == pytest.approx(1) and pair.network_bits == pytest.approx(0)
    assert pair.bits == pytest.approx(1 - 3 / 2000 / log(2), abs=1e-4)
