from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

import numpy as np
import numpy.typing as npt
import pytest
from scipy.stats import chisquare

from reconbench.datasets import BayNet, Domain
from reconbench.mechanisms import MechanismError
from reconbench.mechanisms.marginals import marginal_counts
from reconbench.mechanisms.synthetic.graphical.junction_tree import JunctionTree
from reconbench.mechanisms.synthetic.graphical.kernels import find_marginals, spread
from reconbench.mechanisms.synthetic.graphical.markov_model import MarkovModel

Floats = npt.NDArray[np.float64]
SETS = {
    "tree": ((0, 1), (1, 2), (0, 3)),
    "triples": ((0, 1, 2), (2, 3)),
    "cycle": ((0, 1), (1, 2), (2, 3), (0, 3)),
    "apart": ((0, 1), (3, 4)),
}


def build(domain: Domain, sets: tuple[tuple[int, ...], ...], seed: int = 0) -> MarkovModel:
    """A model of random potentials."""
    rng = np.random.default_rng(seed)
    tree = JunctionTree.of_sets(domain.sizes, sets)
    placed = tree.place_sets(sets)
    logs = spread(tree.flat, placed, rng.normal(0.0, 1.5, placed.cells[-1]))
    return MarkovModel(domain, tree, tree.unflatten(find_marginals(tree.flat, logs)))


@pytest.mark.parametrize("name", SETS)
def test_marginals_of_any_columns_against_enumeration(
    toy_net: BayNet, enumerate_joint: Callable[[MarkovModel], Floats], name: str
) -> None:
    model = build(toy_net.domain, SETS[name])
    joint = enumerate_joint(model)
    assert joint.sum() == pytest.approx(1.0)
    for k in (1, 2, 3):
        expected = [
            joint.sum(axis=tuple(v for v in range(5) if v not in columns)).ravel()
            for columns in combinations(range(5), k)
        ]
        np.testing.assert_allclose(
            model.list_marginals(k), np.concatenate(expected), rtol=1e-10, atol=1e-15
        )


def test_marginals_outside_a_clique_are_refused(toy_net: BayNet) -> None:
    with pytest.raises(MechanismError, match="no clique of the model holds a, e"):
        build(toy_net.domain, SETS["tree"]).marginal((0, 4))


@pytest.mark.parametrize("name", SETS)
def test_rows_are_drawn_from_the_model(
    toy_net: BayNet, enumerate_joint: Callable[[MarkovModel], Floats], name: str
) -> None:
    """χ² over all 144 records, false alarms 1e-6; rows of another model are rejected."""
    model, other = (build(toy_net.domain, SETS[name], seed) for seed in (0, 1))
    drawn = model.sample(40_000, np.random.default_rng(2))
    counts = marginal_counts(drawn, range(5)).ravel()

    def test(joint: Floats) -> float:
        expected = 40_000 * joint.ravel()
        rare = expected < 5
        seen, wanted = (
            np.append(values[~rare], values[rare].sum()) for values in (counts, expected)
        )
        kept = wanted > 0
        return float(chisquare(seen[kept], wanted[kept] / wanted.sum() * seen.sum()).pvalue)

    assert test(enumerate_joint(model)) > 1e-6
    assert test(enumerate_joint(other)) < 1e-6


def test_what_the_model_rules_out_is_never_drawn(toy_net: BayNet) -> None:
    sets = ((0, 1), (1, 2))
    tree = JunctionTree.of_sets(toy_net.domain.sizes, sets)
    placed = tree.place_sets(sets)
    logs = np.zeros(placed.cells[-1])
    logs[[0, 3, 6, 9]] = -np.inf
    cells = find_marginals(tree.flat, spread(tree.flat, placed, logs))
    model = MarkovModel(toy_net.domain, tree, tree.unflatten(cells))
    drawn = model.sample(5_000, np.random.default_rng(0))
    assert (marginal_counts(drawn, (0, 1)).ravel()[[0, 3]] == 0).all()
    assert (marginal_counts(drawn, (1, 2)).ravel()[[0, 3]] == 0).all()
    assert len(drawn) == 5_000


def test_a_draw_depends_on_its_generator_alone(toy_net: BayNet) -> None:
    model = build(toy_net.domain, SETS["tree"])
    first, same, other = (model.sample(50, np.random.default_rng(seed)) for seed in (1, 1, 2))
    assert first == same and first != other
