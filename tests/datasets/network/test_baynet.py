"""The inference core against brute-force enumeration and against pgmpy."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any, cast

import numpy as np
import pytest
from scipy.stats import chisquare

from reconbench.datasets import Attribute, BayNet, Domain, DomainError, Prior, Table, draw_targets
from reconbench.datasets.network import elimination
from reconbench.datasets.network.elimination import find_quantiles
from reconbench.datasets.network.pgmpy_bridge import quiet_pgmpy, to_pgmpy

Make = Callable[..., BayNet]


def joint(net: BayNet) -> np.ndarray:
    """Every cell of the joint distribution, one axis a column."""
    table = np.empty(net.domain.sizes)
    for cell in product(*(range(size) for size in net.domain.sizes)):
        table[cell] = np.prod(
            [net.cpts[i][(*(cell[p] for p in net.parents[i]), cell[i])] for i in range(len(cell))]
        )
    return table


def splits(names: tuple[str, ...]) -> list[tuple[list[str], list[str]]]:
    """Known and target columns: one hidden, several hidden, some in neither."""
    return [
        (list(names[1:]), [names[0]]),
        (list(names[:-1]), [names[-1]]),
        ([names[2], names[0]], [names[3], names[1]]),
        ([names[4]], [names[1], names[0], names[2]]),
        ([names[1]], [names[3]]),
    ]


def brute_conditional(net: BayNet, known: Table, targets: list[str]) -> np.ndarray:
    full = joint(net)
    keep = net.domain.positions([*known.domain.names, *targets])
    drop = tuple(i for i in range(full.ndim) if i not in keep)
    reduced = full.sum(axis=drop)
    left = [i for i in range(full.ndim) if i in keep]
    ordered = reduced.transpose([left.index(i) for i in keep])
    rows = ordered[tuple(known.codes.T)]
    return np.asarray(rows / rows.sum(axis=tuple(range(1, rows.ndim)), keepdims=True))


@pytest.mark.parametrize("seed", range(12))
def test_conditional_evidence_and_map_match_enumeration(random_net: Make, seed: int) -> None:
    net = random_net(seed)
    table = net.sample(40, np.random.default_rng(seed))
    full = joint(net)
    assert np.allclose(np.exp(net.log_prob(table)), full[tuple(table.codes.T)], rtol=1e-12)
    for known_names, targets in splits(net.domain.names):
        known = table.project(known_names)
        expected = brute_conditional(net, known, targets)
        assert np.allclose(net.conditional(known, targets), expected, rtol=1e-10, atol=1e-15)
        guess, probability = net.map(known, targets)
        flat = expected.reshape(len(known), -1)
        assert np.allclose(probability, flat.max(axis=1), rtol=1e-10)
        chosen = expected[(np.arange(len(known)), *guess.codes.T)]
        assert np.allclose(chosen, flat.max(axis=1), rtol=1e-10)
        drop = tuple(i for i, name in enumerate(net.domain.names) if name not in known_names)
        kept = [name for name in net.domain.names if name in known_names]
        evidence = full.sum(axis=drop)[tuple(known.project(kept).codes.T)]
        assert np.allclose(np.exp(net.log_evidence(known)), evidence, rtol=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_matches_pgmpy_variable_elimination(random_net: Make, seed: int) -> None:
    with quiet_pgmpy():
        from pgmpy.inference import VariableElimination
    net = random_net(seed, sizes=(3, 2, 4, 2, 3, 2), max_parents=3)
    solver = VariableElimination(to_pgmpy(net))
    table = net.sample(8, np.random.default_rng(seed))
    for known_names, targets in splits(net.domain.names):
        known = table.project(known_names)
        ours = net.conditional(known, targets)
        guess, _ = net.map(known, targets)
        for row in range(len(table)):
            evidence = {name: int(known.column(name)[row]) for name in known_names}
            query = solver.query(targets, evidence=evidence, show_progress=False)
            axes = [query.variables.index(name) for name in targets]
            assert np.allclose(query.values.transpose(axes), ours[row], rtol=1e-9, atol=1e-12)
            best = solver.map_query(targets, evidence=evidence, show_progress=False)
            theirs = ours[(row, *(best[name] for name in targets))]
            assert np.isclose(ours[(row, *guess.codes[row])], theirs, rtol=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_sampler_draws_the_joint(random_net: Make, seed: int) -> None:
    """χ² of 200,000 draws against all cells; p < 1e-6 would be a false alarm of that rate."""
    net = random_net(seed)
    full = joint(net).ravel()
    table = net.sample(200_000, np.random.default_rng(seed))
    cell = np.ravel_multi_index(tuple(table.codes.T), net.domain.sizes)
    observed = np.bincount(cell, minlength=full.size)
    rare = full * len(table) < 10
    grouped_observed = np.append(observed[~rare], observed[rare].sum())
    grouped_expected = np.append(full[~rare], full[rare].sum()) * len(table)
    keep = grouped_expected > 0
    statistic = chisquare(grouped_observed[keep], grouped_expected[keep])
    assert statistic.pvalue > 1e-6
    # negative control: the same draws against a neighbouring distribution are rejected
    wrong = np.roll(grouped_expected[keep], 1)
    assert chisquare(grouped_observed[keep], wrong).pvalue < 1e-6


def test_chunks_do_not_change_results(random_net: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    net = random_net(5)
    table = net.sample(101, np.random.default_rng(0))
    known, targets = table.project(["col 0", "col 3"]), ["col 1", "col 4"]
    whole = net.conditional(known, targets), *net.map(known, targets), net.log_evidence(known)
    drawn = net.sample(50, np.random.default_rng(3))
    monkeypatch.setattr("reconbench.datasets.network.baynet.CHUNK_CELLS", 7)
    parts = net.conditional(known, targets), *net.map(known, targets), net.log_evidence(known)
    assert np.array_equal(whole[0], parts[0]) and whole[1] == parts[1]
    assert np.array_equal(whole[2], parts[2]) and np.array_equal(whole[3], parts[3])
    assert net.sample(50, np.random.default_rng(3)) == drawn


@pytest.mark.parametrize("seed", range(4))
def test_records_that_agree_are_worked_out_once_and_put_back(random_net: Make, seed: int) -> None:
    net = random_net(seed)
    names = list(net.domain.names)
    table = net.sample(60, np.random.default_rng(seed))
    for cut in (1, 2):
        known, targets = table.project(names[:cut]), names[cut:]
        assert len(np.unique(known.codes, axis=0)) < len(known)
        alone = [Table(known.domain, row[None]) for row in known.codes]
        for hidden in (targets, targets[-1:]):
            np.testing.assert_allclose(
                net.conditional(known, hidden),
                np.concatenate([net.conditional(each, hidden) for each in alone]),
                rtol=1e-13,
            )
        guess, success = net.map(known, targets)
        apart = [net.map(each, targets) for each in alone]
        np.testing.assert_array_equal(guess.codes, np.concatenate([g.codes for g, _ in apart]))
        np.testing.assert_allclose(success, np.concatenate([p for _, p in apart]), rtol=1e-13)
        np.testing.assert_allclose(
            net.log_evidence(known),
            np.concatenate([net.log_evidence(each) for each in alone]),
            rtol=1e-12,
            atol=1e-12,
        )


def test_records_that_agree_have_draws_of_their_own(random_net: Make) -> None:
    net = random_net(3)
    first, *targets = net.domain.names
    known = Table(net.domain.project([first]), np.zeros((50, 1), dtype=np.int64))
    drawn = net.draw(known, targets, 40, np.random.default_rng(5))
    assert len(np.unique(drawn.transpose(1, 0, 2).reshape(50, -1), axis=0)) == 50


@pytest.mark.parametrize("values", [1, 2, 3, 4, 7, 8, 9, 31])
def test_quantiles_by_bisection_are_those_by_comparing_all(values: int) -> None:
    """Values of chance 0 too, at quantiles that hit cumulative chances exactly."""
    rng = np.random.default_rng(values)
    weights = rng.integers(0, 3, (5, 4, values)) + np.eye(values, dtype=int)[-1]
    below = weights.cumsum(axis=2) / weights.sum(axis=2, keepdims=True)
    rows = rng.integers(0, 20, (50, 30))
    uniforms = rng.random((50, 30))
    uniforms[:, :10] = below.reshape(20, -1)[rows[:, :10], 0] % 1
    chances = below.reshape(20, -1)[rows]
    expected = (chances[..., :-1] <= uniforms[..., None]).sum(axis=2)
    np.testing.assert_array_equal(find_quantiles(below, rows, uniforms), expected)


def test_long_products_do_not_underflow() -> None:
    """400 columns of probability 1e-3 each: the joint is 1e-1200, its conditional is not 0/0."""
    d = 400
    domain = Domain(tuple(Attribute(f"c{i}", ("a", "b")) for i in range(d)))
    rare = np.array([1e-3, 1 - 1e-3])
    parents = ((), *((0,) for _ in range(d - 1)))
    cpts = (np.array([0.3, 0.7]), *(np.stack([rare, rare]) for _ in range(d - 1)))
    net = BayNet(domain, parents, cpts, domain.names)
    known = Table(domain.project(domain.names[1:]), np.zeros((2, d - 1), dtype=np.int64))
    assert np.allclose(net.conditional(known, ["c0"]), [0.3, 0.7], rtol=1e-9)
    assert np.allclose(net.log_evidence(known), (d - 1) * np.log(1e-3), rtol=1e-12)
    _, probability = net.map(known, ["c0"])
    assert np.allclose(probability, 0.7, rtol=1e-9)


def test_one_column_and_no_known_column() -> None:
    domain = Domain((Attribute("only", ("a", "b")),))
    net = BayNet(domain, ((),), (np.array([0.25, 0.75]),), ("only",))
    none = Table(Domain((Attribute("x", ("y",)),)), np.zeros((2, 1), dtype=np.int64))
    with pytest.raises(DomainError, match="unknown column 'x'"):
        net.conditional(none, ["only"])
    assert np.exp(net.log_prob(Table(domain, np.array([[1]]))))[0] == pytest.approx(0.75)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"cpts": (np.array([0.5, 0.4]), np.eye(2))}, "'a' does not sum to 1"),
        ({"cpts": (np.array([1.5, -0.5]), np.eye(2))}, "not a probability"),
        ({"cpts": (np.array([np.nan, 1.0]), np.eye(2))}, "not a probability"),
        ({"cpts": (np.array([0.5, 0.5]), np.ones((1, 2)) / 2)}, "has shape"),
        ({"parents": ((1,), (0,)), "cpts": (np.eye(2), np.eye(2))}, "or the network is cyclic"),
        ({"visit_order": ("b", "a")}, "comes before its parent"),
        ({"visit_order": ("a", "a")}, "must name every column"),
    ],
)
def test_bad_networks(change: dict[str, Any], message: str) -> None:
    domain = Domain((Attribute("a", ("0", "1")), Attribute("b", ("0", "1"))))
    good: dict[str, Any] = {
        "domain": domain,
        "parents": ((), (0,)),
        "cpts": (np.array([0.5, 0.5]), np.eye(2)),
        "visit_order": ("a", "b"),
    }
    BayNet(**good)
    with pytest.raises(DomainError, match=message):
        BayNet(**{**good, **change})


def test_impossible_records_are_named() -> None:
    domain = Domain((Attribute("a", ("0", "1")), Attribute("b", ("0", "1"))))
    net = BayNet(domain, ((), (0,)), (np.array([1.0, 0.0]), np.eye(2)), ("a", "b"))
    known = Table(domain.project(["b"]), np.array([[0], [0], [0], [1], [1]]))
    with pytest.raises(DomainError, match="record 3 has probability 0"):
        net.conditional(known, ["a"])
    with pytest.raises(DomainError, match="record 3 has probability 0"):
        net.map(known, ["a"])


def test_too_large_cliques_are_refused(random_net: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    net = random_net(1)
    known = net.sample(2, np.random.default_rng(0)).project(["col 0"])
    monkeypatch.setattr("reconbench.datasets.network.baynet.MAX_CLIQUE_CELLS", 3)
    with pytest.raises(DomainError, match="hide fewer columns"):
        net.conditional(known, ["col 1", "col 2"])


def test_known_column_that_is_a_target(random_net: Make) -> None:
    net = random_net(1)
    known = net.sample(2, np.random.default_rng(0)).project(["col 0"])
    with pytest.raises(DomainError, match="both known and a target"):
        net.conditional(known, ["col 0"])


def test_elimination_order_is_deterministic_and_complete() -> None:
    scopes = [(0, 1), (1, 2), (2, 3), (3, 0)]
    order = elimination.elimination_order(scopes, [1, 3, 2], (2, 2, 2, 2))
    assert sorted(order) == [1, 2, 3]
    assert order == elimination.elimination_order(scopes, [2, 3, 1], (2, 2, 2, 2))


class WithoutDraw:
    """A prior that has no way of its own to draw targets."""

    def __init__(self, net: BayNet) -> None:
        self.domain = net.domain
        self.conditional = net.conditional


@pytest.mark.parametrize("own", [True, False], ids=["own method", "column by column"])
@pytest.mark.parametrize(
    ("known", "targets"), [(("d", "e"), ("c", "a")), (("b",), ("d",)), (("d",), ("b", "c", "a"))]
)
def test_draws_follow_the_conditional(
    toy_net: BayNet, known: tuple[str, ...], targets: tuple[str, ...], own: bool
) -> None:
    """20,000 draws a record, left-out columns included: every frequency within five standard
    errors, so that fewer than one run in ten thousand raises a false alarm."""
    rng = np.random.default_rng(3)
    table = toy_net.sample(6, rng).project(known)
    prior = cast("Prior", toy_net if own else WithoutDraw(toy_net))
    count = 20_000
    drawn = draw_targets(prior, table, targets, count, rng)
    assert drawn.shape == (count, 6, len(targets))
    expected = toy_net.conditional(table, targets).reshape(6, -1)
    sizes = toy_net.domain.project(targets).sizes
    flat = np.ravel_multi_index(tuple(np.moveaxis(drawn, 2, 0)), sizes)
    found = np.stack([np.bincount(column, minlength=expected.shape[1]) for column in flat.T])
    errors = np.sqrt(expected * (1 - expected) / count)
    assert (np.abs(found / count - expected) <= 5 * errors + 1e-9).all()
