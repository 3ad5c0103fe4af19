"""The joint distributions of columns that share no clique of a junction tree, compiled.

``columns`` are the sets of one column each. All pairs of d columns cost one pass over the tree's
cells for each value of each column, and all triples one for each pair of values of two columns.
"""

from __future__ import annotations

import numpy as np

from reconbench.compilation import unlocked
from reconbench.mechanisms.synthetic.graphical.kernels import FlatSets, FlatTree, Floats


@unlocked
def join_with(tree: FlatTree, columns: FlatSets, beliefs: Floats, column: int) -> Floats:
    """The joint distribution of every clique with one column: cells × values of the column.

    From the column's own clique it goes up to the root, and from there down to all others: through
    a separator, P(column, clique) = P(column, separator) P(clique)/P(separator).
    """
    size = columns.cells[column + 1] - columns.cells[column]
    joint = np.zeros((tree.cells[-1], size))
    done = np.zeros(len(tree.parents), dtype=np.bool_)
    home = columns.cliques[column]
    alone = np.zeros(size)
    first, codes = tree.cells[home], columns.places_start[column]
    for x in range(tree.cells[home + 1] - first):
        value = columns.places[codes + x]
        joint[first + x, value] = beliefs[first + x]
        alone[value] += beliefs[first + x]
    total = alone.sum()
    if total > 0:
        alone /= total
    done[home] = True
    below = home
    while tree.parents[below] >= 0:
        _carry(tree, beliefs, joint, below, True)
        below = tree.parents[below]
        done[below] = True
    for i in range(len(tree.parents)):
        if done[i]:
            continue
        done[i] = True
        if tree.parents[i] >= 0:
            _carry(tree, beliefs, joint, i, False)
        else:
            for x in range(tree.cells[i], tree.cells[i + 1]):
                for value in range(size):
                    joint[x, value] = beliefs[x] * alone[value]
    return joint


@unlocked
def _carry(tree: FlatTree, beliefs: Floats, joint: Floats, clique: int, upwards: bool) -> None:
    """Fill the joint of a clique's parent from the clique's, or the other way round."""
    first, above = tree.cells[clique], tree.above_start[clique]
    begin = tree.cells[tree.parents[clique]]
    inside = tree.cells[clique + 1] - first
    outside = tree.cells[tree.parents[clique] + 1] - begin
    shared = np.zeros((tree.separators[clique + 1] - tree.separators[clique], joint.shape[1]))
    total = np.zeros(len(shared))
    for x in range(inside):
        cell = tree.separator[first + x]
        total[cell] += beliefs[first + x]
        if upwards:
            shared[cell] += joint[first + x]
    if not upwards:
        for y in range(outside):
            shared[tree.above[above + y]] += joint[begin + y]
    for cell in range(len(shared)):
        if total[cell] > 0:
            shared[cell] /= total[cell]
    if upwards:
        for y in range(outside):
            joint[begin + y] = beliefs[begin + y] * shared[tree.above[above + y]]
    else:
        for x in range(inside):
            joint[first + x] = beliefs[first + x] * shared[tree.separator[first + x]]


@unlocked
def pair_with(
    tree: FlatTree,
    columns: FlatSets,
    beliefs: Floats,
    column: int,
    found: Floats,
) -> None:
    """The joint distribution of one column with each later one, one after the other in ``found``.

    The column's own values are the slower axis of each.
    """
    joint = join_with(tree, columns, beliefs, column)
    size, start = (columns.cells[column + 1] - columns.cells[column]), 0
    for other in range(column + 1, len(columns.cliques)):
        first = tree.cells[columns.cliques[other]]
        codes, others = (
            columns.places_start[other],
            (columns.cells[other + 1] - columns.cells[other]),
        )
        for x in range(columns.places_start[other + 1] - codes):
            cell = start + columns.places[codes + x]
            for value in range(size):
                found[cell + value * others] += joint[first + x, value]
        start += size * others


@unlocked
def pair_all(tree: FlatTree, columns: FlatSets, beliefs: Floats, first: int, found: Floats) -> None:
    """The joint distributions of every two columns from ``first`` on, in lexicographic order."""
    start = 0
    for column in range(first, len(columns.cliques) - 1):
        size = (columns.cells[column + 1] - columns.cells[column]) * (
            columns.cells[-1] - columns.cells[column + 1]
        )
        pair_with(tree, columns, beliefs, column, found[start : start + size])
        start += size


@unlocked
def triple_with(
    tree: FlatTree, columns: FlatSets, beliefs: Floats, column: int, found: Floats
) -> None:
    """The joint distributions of one column and any two later ones, in lexicographic order.

    For every value of the column the cliques given it are a model of their own, which has pairs.
    """
    joint = join_with(tree, columns, beliefs, column)
    pairs = np.zeros(found.shape[0] // (columns.cells[column + 1] - columns.cells[column]))
    for value in range(columns.cells[column + 1] - columns.cells[column]):
        pairs[:] = 0.0
        pair_all(tree, columns, joint[:, value].copy(), column + 1, pairs)
        start, cell = 0, 0
        for second in range(column + 1, len(columns.cliques) - 1):
            for third in range(second + 1, len(columns.cliques)):
                cells = (columns.cells[second + 1] - columns.cells[second]) * (
                    columns.cells[third + 1] - columns.cells[third]
                )
                begin = start + value * cells
                found[begin : begin + cells] = pairs[cell : cell + cells]
                start += cells * (columns.cells[column + 1] - columns.cells[column])
                cell += cells
