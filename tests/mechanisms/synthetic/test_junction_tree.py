from __future__ import annotations

from itertools import combinations
from math import prod

import numpy as np
import numpy.typing as npt
import pytest
from scipy.special import logsumexp

from reconbench.mechanisms.synthetic.graphical.junction_tree import JunctionTree, index_cells
from reconbench.mechanisms.synthetic.graphical.kernels import (
    find_marginals,
    find_maximum,
    spread,
)

Floats = npt.NDArray[np.float64]
SIZES = (3, 2, 4, 2, 3, 2)
STRUCTURES = {
    "nothing": (),
    "one column": ((2,),),
    "chain": ((0, 1), (1, 2), (2, 3), (3, 4), (4, 5)),
    "star": ((0, 2), (1, 2), (2, 3), (2, 4), (2, 5)),
    "two parts": ((0, 1), (1, 2), (3, 4)),
    "cycle": ((0, 1), (1, 2), (2, 3), (3, 4), (0, 4)),
    "triples": ((0, 1, 2), (2, 3, 4), (4, 5)),
    "everything": tuple(combinations(range(6), 2)),
}


def draw_potentials(sets: tuple[tuple[int, ...], ...], seed: int) -> list[Floats]:
    rng = np.random.default_rng(seed)
    return [rng.normal(0.0, 2.0, [SIZES[v] for v in columns]) for columns in sets]


def lay_out(value: Floats, columns: tuple[int, ...]) -> Floats:
    """A function of some columns, ready to be added to one of all."""
    return value.reshape([SIZES[v] if v in columns else 1 for v in range(len(SIZES))])


def sum_to(joint: Floats, columns: tuple[int, ...]) -> Floats:
    return np.asarray(joint.sum(axis=tuple(v for v in range(len(SIZES)) if v not in columns)))


@pytest.mark.parametrize("name", STRUCTURES)
def test_cliques_hold_the_sets_and_are_connected(name: str) -> None:
    tree = JunctionTree.of_sets(SIZES, STRUCTURES[name])
    assert {v for clique in tree.cliques for v in clique} == set(range(len(SIZES)))
    for columns in STRUCTURES[name]:
        assert set(columns) <= set(tree.cliques[tree.find_clique(columns)])
    assert not any(set(a) < set(b) for a in tree.cliques for b in tree.cliques)
    for i, parent in enumerate(tree.parents):
        assert parent < i
    for v in range(len(SIZES)):
        # The cliques with v are a tree of their own: one of them has no parent with v.
        heads = [
            i
            for i, clique in enumerate(tree.cliques)
            if v in clique and (tree.parents[i] < 0 or v not in tree.cliques[tree.parents[i]])
        ]
        assert len(heads) == 1
    assert tree.cells == sum(prod(tree.shape(clique)) for clique in tree.cliques)


def test_known_triangulations() -> None:
    assert JunctionTree.of_sets((2, 2, 2), ()).cliques == ((0,), (1,), (2,))
    assert JunctionTree.of_sets((2, 2, 2, 2), ((0, 1), (1, 2), (2, 3), (0, 3))).cells == 16
    assert JunctionTree.of_sets(SIZES, STRUCTURES["everything"]).cliques == (tuple(range(6)),)
    assert JunctionTree.of_sets((2, 3), ((0,), (0, 1))).find_clique((1,)) == 0
    assert JunctionTree.of_sets((2, 3), ()).find_clique((0, 1)) == -1


def test_cells_are_indexed_row_by_row() -> None:
    index = index_cells(SIZES, (0, 2, 4), (0, 4)).reshape(3, 4, 3)
    for a, b, c in np.ndindex(3, 4, 3):
        assert index[a, b, c] == 3 * a + c
    assert index_cells(SIZES, (1, 2), ()).tolist() == [0] * 8


@pytest.mark.parametrize("name", [name for name in STRUCTURES if STRUCTURES[name]])
def test_inference_against_enumeration(name: str) -> None:
    """Marginals of every clique, and the largest sum, from the table of all 288 records."""
    sets = STRUCTURES[name]
    tree = JunctionTree.of_sets(SIZES, sets)
    for seed in range(3):
        potentials = draw_potentials(sets, seed)
        logs = np.zeros(SIZES)
        for columns, potential in zip(sets, potentials, strict=True):
            logs = logs + lay_out(potential, columns)
        joint = np.exp(logs - logsumexp(logs))
        flat = np.concatenate([potential.ravel() for potential in potentials])
        laid = spread(tree.flat, tree.place_sets(sets), flat)
        marginals = tree.unflatten(find_marginals(tree.flat, laid))
        for clique, marginal in zip(tree.cliques, marginals, strict=True):
            np.testing.assert_allclose(marginal, sum_to(joint, clique), rtol=1e-10, atol=1e-14)
        assert find_maximum(tree.flat, laid) == pytest.approx(logs.max(), rel=1e-12)


def test_extreme_potentials_do_not_underflow() -> None:
    """Cells of e^±5000 that cancel: sums are taken of logarithms."""
    sets = ((0, 1), (1, 2), (2, 3))
    tree = JunctionTree.of_sets((2, 2, 2, 2), sets)
    first = np.array([[5000.0, -5000.0], [5000.0, -5000.0]])
    flat = np.concatenate([first.ravel(), -first.T.ravel(), np.zeros(4)])
    laid = spread(tree.flat, tree.place_sets(sets), flat)
    for marginal in tree.unflatten(find_marginals(tree.flat, laid)):
        np.testing.assert_allclose(marginal, 0.25)


def test_impossible_cells_stay_impossible() -> None:
    sets = ((0, 1), (1, 2))
    tree = JunctionTree.of_sets((2, 2, 2), sets)
    flat = np.array([-np.inf, 0.0, -np.inf, 0.0, 0.0, 0.0, 0.0, -np.inf])
    laid = spread(tree.flat, tree.place_sets(sets), flat)
    first, second = tree.unflatten(find_marginals(tree.flat, laid))
    np.testing.assert_allclose(first, [[0.0, 0.5], [0.0, 0.5]])
    np.testing.assert_allclose(second, [[0.0, 0.0], [1.0, 0.0]])
