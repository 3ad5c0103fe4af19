"""Counts read off a synthetic table, and the posterior that they give."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise, product
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from reconbench.attacks import AttackerView
from reconbench.attacks.posterior.gibbs import normalise, pick
from reconbench.attacks.synthetic.cliques.cell_chain import MeasuredCounts
from reconbench.attacks.synthetic.cliques.counts import CellSet, Errors, find_sets
from reconbench.attacks.synthetic.cliques.source import CliqueReader
from reconbench.attacks.synthetic.imagined import ImaginedTables
from reconbench.attacks.synthetic.pooled import Cliques
from reconbench.datasets import BayNet, Domain, Table
from reconbench.mechanisms import Mechanism

MakeView = Callable[..., tuple[AttackerView, Table]]
Codes = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


def make_counts(
    seed: int, n: int = 5, size: int = 3, sets: int = 2
) -> tuple[MeasuredCounts, Floats]:
    """Measurements of a few records, two of which share their known values, and a prior."""
    rng, n, size, sets = np.random.default_rng(seed), 5, 3, 2
    rows = rng.integers(0, 2, (n, sets))
    rows[1] = rows[0]
    cells = 2 * size * sets
    share = rng.uniform(0, 1, (sets, 2, size))
    measured = MeasuredCounts(
        rows,
        np.arange(sets + 1) * 2 * size,
        rng.normal(0.5, 1.0, cells),
        rng.uniform(0.3, 1.5, cells),
        (share / share.sum(axis=1, keepdims=True)).ravel(),
        rng.normal(n / size, 1.0, size),
        rng.uniform(0.2, 1.0, size),
    )
    return measured, np.log(rng.dirichlet(np.ones(size), n))


def log_likelihood(measured: MeasuredCounts, x: Codes) -> float:
    """The formula of the module, every count counted anew."""
    size = len(measured.totals)
    total = np.bincount(x, minlength=size)
    log = -(measured.totals_precision * (measured.totals - total) ** 2).sum() / 2
    for k, (start, end) in enumerate(pairwise(measured.starts)):
        counts = np.zeros((2, size))
        np.add.at(counts, (measured.rows[:, k], x), 1.0)
        residual, precision, share = (
            each[start:end].reshape(2, size)
            for each in (measured.residual, measured.precision, measured.share)
        )
        log -= (precision * (residual - counts + share * total) ** 2).sum() / 2
    return float(log)


def enumerate_posterior(measured: MeasuredCounts, log_prior: Floats) -> Floats:
    n, size = log_prior.shape
    chances = np.zeros((n, size))
    for x in product(range(size), repeat=n):
        log = log_likelihood(measured, np.array(x)) + log_prior[np.arange(n), x].sum()
        chances[np.arange(n), x] += np.exp(log)
    return np.asarray(chances / chances.sum(axis=1, keepdims=True))


@pytest.mark.parametrize("seed", [0, 1])
def test_the_chain_samples_the_posterior(seed: int) -> None:
    """Against all 243 tables; 40,000 sweeps of 5 records have an error of some 0.003. Control: the
    posterior of other measurements is far outside."""
    measured, log_prior = make_counts(seed)
    uniforms = np.random.default_rng(seed).random((40_200, 5))
    sampled = measured.sample(log_prior, uniforms, 200)
    assert np.abs(sampled - enumerate_posterior(measured, log_prior)).max() < 0.015
    other = replace(measured, residual=measured.residual + np.tile([0.5, -0.5, 0.5], 4))
    assert np.abs(sampled - enumerate_posterior(other, log_prior)).max() > 0.03


def test_a_sweep_is_its_plain_twin() -> None:
    """Every likelihood computed anew, every random number used in the same place."""
    measured, log_prior = make_counts(3)
    uniforms = np.random.default_rng(5).random((30, 5))
    x, kept = log_prior.argmax(axis=1), np.zeros_like(log_prior)
    for t in range(30):
        for i in range(5):
            moved = [np.where(np.arange(5) == i, v, x) for v in range(3)]
            likelihood = np.array([log_likelihood(measured, each) for each in moved])
            chances = log_prior[i] + min(1.0, t / 10) * likelihood
            normalise(chances)
            x[i] = pick(chances, uniforms[t, i])
            kept[i] += chances if t >= 10 else 0.0
    assert measured.sample(log_prior, uniforms, 10) == pytest.approx(kept / 20, rel=1e-9)


def test_deviations_are_counted_by_hand(toy_net: BayNet) -> None:
    """d(x, t) = count(x, t) − count(x) P(t | x), with P by summing the network's joint."""
    table = toy_net.sample(50, np.random.default_rng(0))
    cells = CellSet.build(toy_net, ("a", "d"), "c")
    deviations = cells.deviate(table, 2.0)
    for a, d in product(range(3), range(2)):
        rows = table.codes[(table.column("a") == a) & (table.column("d") == d)]
        known = Table(toy_net.domain.project(("a", "d")), np.array([[a, d]]))
        chances = toy_net.conditional(known, ["c"])[0]
        for c in range(4):
            count = int((rows[:, 2] == c).sum())
            expected = 2.0 * (count - len(rows) * chances[c])
            assert deviations[2 * a + d, c] == pytest.approx(expected, abs=1e-9)
    assert cells.expect(table).sum() == pytest.approx(50)
    assert CellSet.build(toy_net, (), "c").deviate(table, 1.0).sum() == pytest.approx(0, abs=1e-9)


def imagine(net: BayNet, released: list[Table], truths: list[Table]) -> ImaginedTables:
    known = ("a", "b", "d", "e")
    mechanism: Mechanism = SimpleNamespace(domain=net.domain)  # type: ignore[assignment]
    return ImaginedTables(net, mechanism, known, tuple(truths), tuple(released))


def learn(net: BayNet, released: list[Table], truths: list[Table]) -> Errors | None:
    """The errors of the counts of one pair, read one by one."""
    sets = (CellSet.build(net, ("b",), "c"),)
    reader = CliqueReader.learn(sets, imagine(net, released, truths), once=False)
    return None if reader is None else reader.sets[0][1]


def test_errors_are_learnt(toy_net: BayNet) -> None:
    """Rows drawn at random from the table itself have slope 1 and, of m rows for n records, error
    variance count × n/m, more or less; a table of other records has no slope."""
    rng = np.random.default_rng(1)
    truths = [toy_net.sample(100, rng) for _ in range(40)]
    drawn = [Table(t.domain, t.codes[rng.integers(0, 100, 200)]) for t in truths]
    errors = learn(toy_net, drawn, truths)
    assert errors is not None
    assert errors.slope == pytest.approx(1.0, abs=0.1)
    mean = np.full(1, 100 / 8)
    assert errors.variance(mean)[0] == pytest.approx(0.5 * mean[0], rel=0.35)
    exact = learn(toy_net, truths, truths)
    assert exact is not None and exact.slope == pytest.approx(1.0, abs=1e-9)
    others = [toy_net.sample(100, rng) for _ in range(40)]
    unrelated = learn(toy_net, others, truths)
    assert unrelated is None or unrelated.slope < 0.15


@pytest.mark.parametrize("once", [True, False])
def test_exact_counts_are_measured_exactly(toy_net: BayNet, once: bool) -> None:
    """What is measured of a table that repeats the records is what it is a measurement of."""
    truths = [toy_net.sample(50, np.random.default_rng(seed)) for seed in range(6)]
    sets = tuple(CellSet.build(toy_net, (name,), "c") for name in ("b", "d"))
    reader = CliqueReader.learn(sets, imagine(toy_net, truths, truths), once)
    assert reader is not None
    table = toy_net.sample(50, np.random.default_rng(99))
    known = table.project(("a", "b", "d", "e"))
    measured = reader._measure(table, known, 4)
    total = np.bincount(table.column("c"), minlength=4)
    for (cells, _), start in zip(reader.sets, measured.starts, strict=False):
        part = slice(start, start + cells.conditional.size)
        counts = np.zeros_like(cells.conditional)
        np.add.at(counts, (cells.rows(table), table.column("c")), 1.0)
        share = measured.share[part].reshape(counts.shape)
        residual = measured.residual[part].reshape(counts.shape)
        assert residual == pytest.approx(counts - share * total, abs=1e-9)
        assert share.sum(axis=0) == pytest.approx(np.ones(4) * once)
    assert measured.totals == pytest.approx(total * once, abs=1e-9)
    assert (measured.totals_precision > 0).all() == once


def test_records_that_agree_share_a_posterior(toy_net: BayNet) -> None:
    table = toy_net.sample(60, np.random.default_rng(2))
    known = table.project(("a", "b", "d", "e"))
    errors = Errors(slope=1.0, constant=0.5, drawn=0.1)
    sets = tuple((CellSet.build(toy_net, (name,), "c"), errors) for name in ("b", "d"))
    chances = toy_net.conditional(known, ["c"])
    evidence = CliqueReader(tuple(cells for cells, _ in sets), sets).read(table, known, chances)
    _, row = known.distinct()
    for number in range(row.max() + 1):
        assert np.ptp(evidence[row == number], axis=0) == pytest.approx(0, abs=1e-12)


def test_sets_are_public_or_all_pairs(toy_net: BayNet) -> None:
    def measuring(*sets: tuple[int, ...]) -> object:
        domain: Domain = toy_net.domain
        return SimpleNamespace(sets=sets, domain=domain)

    known = ("a", "b", "e")  # d is hidden too
    public = measuring((0, 1), (1, 2), (2,), (0, 2, 3), (3, 4), (0, 2))
    assert find_sets(public, toy_net, known, "c") == [("a",), ("b",)]
    assert find_sets(measuring((0, 1)), toy_net, known, "c") == []
    assert find_sets(object(), toy_net, known, "c") == [("a",), ("b",), ("e",)]


@pytest.mark.parametrize("targets", [("c",), ("c", "a")])
def test_exact_counts_are_exploited(
    make_synthetic: MakeView, copies: Mechanism, targets: tuple[str, ...]
) -> None:
    """With the table itself as synthetic table, more is reconstructed than from the prior: over six
    tables at least one record in twenty."""
    gained = 0
    for seed in range(6):
        view, truth = make_synthetic(targets, mechanism=copies, seed=seed)
        found = Cliques().reconstruct(view, np.random.default_rng(0))
        prior, _ = view.metric.best_guess(view.prior, view.known, view.targets)
        gained += int(view.metric.score(truth, found.guess).sum())
        gained -= int(view.metric.score(truth, prior).sum())
    assert gained >= 12


def test_measured_columns_without_the_hidden_one_tell_nothing(
    make_synthetic: MakeView, toy_net: BayNet
) -> None:
    view, _ = make_synthetic()
    silent: Any = SimpleNamespace(
        sets=((0, 1),),
        domain=toy_net.domain,
        name="silent",
        budget=view.mechanism.budget,
        facts=view.mechanism.facts,
        release=view.mechanism.release,
    )
    blind = replace(view, mechanism=silent)
    found = Cliques().reconstruct(blind, np.random.default_rng(0))
    prior, success = view.metric.best_guess(view.prior, view.known, view.targets)
    assert found.guess == prior and found.info == {"weight_cliques": 0.0}
    assert found.scores == pytest.approx(success)
