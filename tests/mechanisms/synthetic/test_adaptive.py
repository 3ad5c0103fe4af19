"""mst, aim and privbayes: sensitivities by enumeration, budgets to the last digit, and choices."""

from __future__ import annotations

from itertools import combinations, combinations_with_replacement
from math import hypot, inf, sqrt
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from reconbench.bounds import GaussianDP
from reconbench.datasets import Attribute, BayNet, Domain, Table
from reconbench.datasets.shipped import acs
from reconbench.mechanisms import MechanismError
from reconbench.mechanisms.marginals import marginal_counts
from reconbench.mechanisms.measurements import measure
from reconbench.mechanisms.synthetic import aim, mst, privbayes
from reconbench.mechanisms.synthetic.aim import AIM, Spending
from reconbench.mechanisms.synthetic.graphical.fitting import fit_model
from reconbench.mechanisms.synthetic.graphical.junction_tree import JunctionTree
from reconbench.mechanisms.synthetic.mst import MST, score_pair
from reconbench.mechanisms.synthetic.privbayes import (
    PrivBayes,
    bound_sensitivity,
    estimate_conditional,
    score_family,
)
from reconbench.mechanisms.synthetic.selection import find_selection_mu, select

Floats = npt.NDArray[np.float64]
ALL = (MST, AIM, PrivBayes)


def list_tables(sizes: tuple[int, ...], records: int) -> list[Table]:
    """Every table of so many records, up to their order."""
    domain = Domain(
        tuple(Attribute(f"x{i}", tuple(map(str, range(size)))) for i, size in enumerate(sizes))
    )
    everyone = Table.of_all_values(domain).codes
    return [
        Table(domain, everyone[list(chosen)])
        for chosen in combinations_with_replacement(range(len(everyone)), records)
    ]


def are_neighbours(first: Table, second: Table) -> bool:
    """Whether one replaced record makes one table of the other, whatever their order."""
    ones, others = (sorted(map(tuple, each.codes.tolist())) for each in (first, second))
    left = list(others)
    for record in ones:
        if record in left:
            left.remove(record)
    return len(left) == 1


def find_largest_change(tables: list[Table], scores: Floats) -> tuple[float, float]:
    """The largest change of a score between neighbours, and of a difference of two scores."""
    change, spread = 0.0, 0.0
    for (i, first), (j, second) in combinations(enumerate(tables), 2):
        if are_neighbours(first, second):
            moved = scores[i] - scores[j]
            change = max(change, float(np.abs(moved).max()))
            spread = max(spread, float(np.ptp(moved)))
    return change, spread


@pytest.mark.parametrize("records", [2, 3])
def test_sensitivity_of_the_scores_of_mst_and_aim(records: int) -> None:
    """|counts − expected|₁ changes by at most 2 and differences by 4; both happen."""
    tables = list_tables((2, 2, 2), records)
    rng = np.random.default_rng(0)
    change, spread = 0.0, 0.0
    for _ in range(4):
        fitted = fit_model(measure(tables[0], ((0,), (1,), (2,)), [2.0] * 3, rng))
        scores = np.array(
            [[score_pair(each, fitted, pair) for pair in ((0, 1), (1, 2))] for each in tables]
        )
        found = find_largest_change(tables, scores)
        change, spread = max(change, found[0]), max(spread, found[1])
    assert change <= mst.SENSITIVITY + 1e-12 and spread <= 2 * mst.SENSITIVITY + 1e-12
    assert change > 0.9 * mst.SENSITIVITY and mst.SENSITIVITY == aim.SENSITIVITY


@pytest.mark.parametrize("records", [2, 3, 4])
def test_sensitivity_of_the_score_of_privbayes(records: int) -> None:
    """½|counts − expected|₁ changes by at most 3 + 2/n, and by more than half of that."""
    tables = list_tables((2, 3), records) if records < 4 else list_tables((2, 2), records)
    scores = np.array([[score_family(each, 0, (1,))] for each in tables])
    change, _ = find_largest_change(tables, scores)
    assert change <= bound_sensitivity(records)
    assert change > 0.2 * bound_sensitivity(records)
    three = list_tables((2, 2, 2), 2)
    scores = np.array(
        [[score_family(each, 1, (0, 2)), score_family(each, 2, ())] for each in three]
    )
    assert find_largest_change(three, scores)[0] <= bound_sensitivity(2)


class Ledger:
    """What a release spends: the μ² of every choice and of every noisy set."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.choices: list[float] = []
        self.counts: list[float] = []
        self.scores: list[tuple[Floats, float]] = []

        def choose(
            scores: npt.ArrayLike, sensitivity: float, epsilon: float, rng: np.random.Generator
        ) -> int:
            self.choices.append(find_selection_mu(epsilon) ** 2)
            self.scores.append((np.asarray(scores, dtype=np.float64), sensitivity))
            return select(scores, sensitivity, epsilon, rng)

        def count(table: Table, sets: Any, noise_sds: Any, rng: np.random.Generator) -> Any:
            self.counts += [2 / sd**2 for sd in noise_sds]
            return measure(table, sets, noise_sds, rng)

        for module in (aim, mst, privbayes):
            monkeypatch.setattr(module, "select", choose)
            monkeypatch.setattr(module, "measure", count)


@pytest.mark.parametrize("epsilon", [0.1, 3.0, 100.0])
@pytest.mark.parametrize("mechanism", ALL)
def test_all_that_is_spent_is_the_budget(
    toy_net: BayNet, monkeypatch: pytest.MonkeyPatch, mechanism: Any, epsilon: float
) -> None:
    """√Σμ² over noisy sets of sensitivity √2 and choices is the μ of (ε, δ)."""
    ledger = Ledger(monkeypatch)
    built = mechanism.for_budget(toy_net.domain, ("c",), epsilon, 1e-5)
    table = toy_net.sample(60, np.random.default_rng(0))
    release = built.release(table, np.random.default_rng(1))
    spent = sqrt(sum(ledger.choices) + sum(ledger.counts))
    assert spent == pytest.approx(built.guarantee.mu, rel=1e-9)
    assert built.guarantee.delta_at(epsilon) == pytest.approx(1e-5, rel=1e-6)
    assert release.measurements is not None and release.measurements.adaptive
    assert sum(2 / sd**2 for sd in release.measurements.noise_sds) == pytest.approx(
        sum(ledger.counts)
    )
    assert all(sensitivity > 0 for _, sensitivity in ledger.scores)


@pytest.mark.parametrize("mechanism", ALL)
def test_measurements_are_of_the_table(toy_net: BayNet, mechanism: Any) -> None:
    """At a very large budget the answers are the counts, and rows follow them."""
    table = toy_net.sample(400, np.random.default_rng(0))
    built = mechanism.for_budget(toy_net.domain, ("c",), 1e7, 1e-5, rows="100n")
    release = built.release(table, np.random.default_rng(1))
    assert release.measurements is not None
    measured = release.measurements
    for columns, answer, sd in zip(
        measured.sets, measured.answers, measured.noise_sds, strict=True
    ):
        np.testing.assert_allclose(answer, marginal_counts(table, columns), atol=8 * sd)
        rows = marginal_counts(release.table, columns) / len(release.table)
        assert np.abs(rows - marginal_counts(table, columns) / 400).sum() / 2 < 0.02


@pytest.mark.parametrize("mechanism", ALL)
def test_without_noise_nothing_is_promised(toy_net: BayNet, mechanism: Any) -> None:
    built = mechanism.for_budget(toy_net.domain, ("c",), inf, 1e-5)
    assert built.guarantee == GaussianDP(inf)
    table = toy_net.sample(50, np.random.default_rng(0))
    first, same = (built.release(table, np.random.default_rng(1)) for _ in range(2))
    assert first.table == same.table and first.measurements is not None
    assert set(first.measurements.noise_sds) == {0.0}


def test_mst_grows_the_best_tree_without_noise(toy_net: BayNet) -> None:
    """Kruskal on the scores: of all 125 spanning trees none has a larger sum."""
    table = toy_net.sample(300, np.random.default_rng(3))
    release = MST.for_budget(toy_net.domain, ("c",), inf, 1e-5).release(
        table, np.random.default_rng(0)
    )
    assert release.measurements is not None
    pairs = [each for each in release.measurements.sets if len(each) == 2]
    alone = fit_model(
        measure(table, tuple((i,) for i in range(5)), [0.0] * 5, np.random.default_rng())
    )
    scores = {pair: score_pair(table, alone, pair) for pair in combinations(range(5), 2)}
    trees = [
        each
        for each in combinations(scores, 4)
        if len(JunctionTree.of_sets((2,) * 5, each).cliques) == 4
        and {v for pair in each for v in pair} == set(range(5))
    ]
    assert len(trees) == 125
    best = max(sum(scores[pair] for pair in tree) for tree in trees)
    assert sum(scores[pair] for pair in pairs) == pytest.approx(best)


def test_aim_spends_by_halving_and_never_too_much() -> None:
    """Any sequence of halved noise ends on the whole budget."""
    rng = np.random.default_rng(0)
    for mu in (0.1, 2.0, 10.0):
        for _ in range(50):
            spending = Spending.plan(mu, 5)
            spent = 5 * 2 / spending.noise_sd**2
            assert spent == pytest.approx(spending.spent)
            while not spending.last:
                spending = spending.begin_round()
                spent += hypot(sqrt(2) / spending.noise_sd, spending.choice_mu) ** 2
                assert spent == pytest.approx(spending.spent) and 0 < spending.share <= 1
                if rng.random() < 0.5:
                    spending = spending.halve_noise()
            assert spent == pytest.approx(mu**2)


def test_aim_keeps_its_model_small() -> None:
    net = acs()
    table = net.sample(300, np.random.default_rng(0))
    sizes = []
    for cells in (200, 1_000, 5_000):
        built = AIM.for_budget(net.domain, ("SEX",), 1_000.0, 1e-5, cells=cells)
        measured, model = built.learn(table, np.random.default_rng(1))
        assert model.tree.cells <= cells
        sizes.append(len(set(measured.sets)))
    assert sizes[0] < sizes[1] < sizes[2]


@pytest.mark.parametrize("degree", [1, 2, 3])
def test_aim_measures_no_more_columns_than_asked(toy_net: BayNet, degree: int) -> None:
    built = AIM.for_budget(toy_net.domain, ("c",), 100.0, 1e-5, degree=degree)
    table = toy_net.sample(300, np.random.default_rng(0))
    measured, _ = built.learn(table, np.random.default_rng(1))
    assert max(map(len, measured.sets)) == degree


def test_aim_takes_a_workload(toy_net: BayNet) -> None:
    """A marginal weighs as many columns as it shares with those of the workload."""
    everything = AIM.for_budget(toy_net.domain, ("c",), 1.0, 1e-5)
    touching = AIM.for_budget(toy_net.domain, ("c",), 1.0, 1e-5, workload="touching")
    weight = dict(zip(everything.candidates, everything.weights, strict=True))
    assert weight[(0,)] == 4 and weight[0, 1] == 8
    weight = dict(zip(touching.candidates, touching.weights, strict=True))
    assert weight[(0,)] == 1 and weight[(2,)] == 4 and weight[0, 2] == 5 and weight[0, 1] == 0
    measured, _ = touching.learn(
        toy_net.sample(50, np.random.default_rng(0)), np.random.default_rng(1)
    )
    assert all(2 in columns for columns in measured.sets if len(columns) == 2)


def test_privbayes_estimates_conditionals() -> None:
    answer = np.array([[3.0, 1.0], [-5.0, -1.0], [-2.0, 4.0]])
    np.testing.assert_allclose(
        estimate_conditional(answer, (2, 4), 4), [[0.75, 0.25], [0.5, 0.5], [0.0, 1.0]]
    )
    np.testing.assert_allclose(
        estimate_conditional(answer, (2, 4), 2), [[1.0, 0.0, 0.0], [0.2, 0.0, 0.8]]
    )


def test_privbayes_takes_parents_as_the_noise_allows(toy_net: BayNet) -> None:
    """No table has an average count below four times the noise, unless it is a column alone."""
    widest = []
    for epsilon, n in ((1.0, 50), (3.0, 100), (1_000.0, 300)):
        built = PrivBayes.for_budget(toy_net.domain, ("c",), epsilon, 1e-5, degree=3)
        table = toy_net.sample(n, np.random.default_rng(0))
        measured, network = built.learn(table, np.random.default_rng(1))
        assert isinstance(network, BayNet)
        for answer in measured.answers:
            average = n / answer.size
            assert answer.ndim == 1 or average >= 4 * built.noise_sd * sqrt(2 / np.pi)
        widest.append(max(map(len, measured.sets)))
    assert widest[0] == 1 < widest[1] < widest[2] == 4


@pytest.mark.parametrize(
    ("mechanism", "options", "message"),
    [
        (AIM, {"degree": 4}, "degree must be 1, 2 or 3, got 4"),
        (AIM, {"cells": 0}, "cells must be between 1 and"),
        (AIM, {"workload": "some"}, "workload must be 'touching' or 'all', got 'some'"),
        (PrivBayes, {"degree": -1}, "degree must be a whole number of 0 or more parents, got -1"),
        (PrivBayes, {"usefulness": -1.0}, "usefulness must be 0 or more, got -1"),
        (MST, {"rows": 0}, "rows is 0"),
    ],
)
def test_bad_options(
    toy_net: BayNet, mechanism: Any, options: dict[str, float], message: str
) -> None:
    with pytest.raises(MechanismError, match=message):
        mechanism.for_budget(toy_net.domain, ("c",), 1.0, 1e-5, **options)


@pytest.mark.parametrize("mechanism", ALL)
def test_one_column_is_enough(toy_net: BayNet, mechanism: Any) -> None:
    domain = toy_net.domain.project(["c"])
    table = toy_net.sample(20, np.random.default_rng(0)).project(["c"])
    for epsilon in (1.0, inf):
        built = mechanism.for_budget(domain, ("c",), epsilon, 1e-5)
        assert len(built.release(table, np.random.default_rng(0)).table) == 20
