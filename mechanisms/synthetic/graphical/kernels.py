"""Inference on junction trees and the descent that fits them, compiled.

Cliques lie one after the other in flat arrays. What a cell of a clique contributes to, a separator
or a measured set, is looked up in arrays of indices, so that a step costs a few passes over the
cells and nothing else.
"""

from __future__ import annotations

from math import inf
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from reconbench.compilation import unlocked

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Indices = npt.NDArray[np.int32]
Bools = npt.NDArray[np.bool_]

REMEMBERED = 8
# How far a log potential moves in a step.
LONGEST = 10.0
CHECKED_EVERY = 20


class FlatTree(NamedTuple):
    """A junction tree in arrays; a clique's parent comes before it, and roots have −1.

    ``cells[i]`` to ``cells[i + 1]`` are the cells of clique i, and ``separator`` the cell of its
    separator that each belongs to; the separators begin at ``separators``. ``above`` has, for every
    clique with a parent, the separator's cell of each of the parent's cells, from ``above_start``.
    """

    parents: Ints
    cells: Ints
    separator: Indices
    separators: Ints
    above: Indices
    above_start: Ints


class FlatSets(NamedTuple):
    """Sets of columns within cliques: set i's cells begin at ``cells[i]``.

    ``places`` has the set's cell of each cell of its clique, from ``places_start``.
    """

    cliques: Ints
    cells: Ints
    places: Indices
    places_start: Ints


@unlocked
def triangulate(near: Bools, sizes: Ints) -> tuple[Bools, Bools, float]:
    """Eliminate columns greedily: their cliques, which of these are maximal, and their cells.

    ``near[u, v]`` says that two columns are in one set, and is true for u = v. The column goes next
    that joins the fewest cells with its neighbours; the first of several.
    """
    d = len(sizes)
    near = near.copy()
    left = np.ones(d, dtype=np.bool_)
    cliques = np.zeros((d, d), dtype=np.bool_)
    kept = np.ones(d, dtype=np.bool_)
    total = 0.0
    for step in range(d):
        best, fewest = -1, inf
        for v in range(d):
            if left[v]:
                cells = 1.0
                for u in range(d):
                    if near[v, u]:
                        cells *= sizes[u]
                if cells < fewest:
                    best, fewest = v, cells
        left[best] = False
        cliques[step] = near[best]
        for u in range(d):
            if near[best, u] and u != best:
                near[u] |= near[best]
                near[u, best] = False
        for earlier in range(step):
            if kept[step] and not (cliques[step] & ~cliques[earlier]).any():
                kept[step] = False
        if kept[step]:
            total += fewest
    return cliques, kept, total


@unlocked
def count_cells_with(near: Bools, members: Bools, sizes: Ints) -> Floats:
    """The cells of the cliques with one more set, for each of several sets.

    ``members[i, v]`` says that set i holds column v.
    """
    found = np.empty(len(members))
    for i in range(len(members)):
        joined = near.copy()
        for v in range(len(sizes)):
            if members[i, v]:
                joined[v] |= members[i]
        found[i] = triangulate(joined, sizes)[2]
    return found


@unlocked
def add_strides(shape: Ints, strides: Ints) -> Indices:
    """For every cell of an array, in order, the sum of its codes times the strides."""
    found = np.zeros(shape.prod(), dtype=np.int32)
    repeat = 1
    for axis in range(len(shape) - 1, -1, -1):
        if strides[axis] > 0:
            for x in range(len(found)):
                found[x] += strides[axis] * (x // repeat % shape[axis])
        repeat *= shape[axis]
    return found


@unlocked
def spread(tree: FlatTree, sets: FlatSets, values: Floats) -> Floats:
    """Functions of the sets as functions of their cliques, added up."""
    found = np.zeros(tree.cells[-1])
    for s in range(len(sets.cliques)):
        first = tree.cells[sets.cliques[s]]
        size = tree.cells[sets.cliques[s] + 1] - first
        start, place = sets.cells[s], sets.places_start[s]
        for x in range(size):
            found[first + x] += values[start + sets.places[place + x]]
    return found


@unlocked
def add_cells(tree: FlatTree, sets: FlatSets, s: int, beliefs: Floats, found: Floats) -> None:
    """Add up a clique's cells over each cell of one set."""
    first, place = tree.cells[sets.cliques[s]], sets.places_start[s]
    for x in range(tree.cells[sets.cliques[s] + 1] - first):
        found[sets.places[place + x]] += beliefs[first + x]


@unlocked
def collect(tree: FlatTree, sets: FlatSets, beliefs: Floats) -> Floats:
    """Sums of the cliques' cells over each cell of the sets."""
    found = np.zeros(sets.cells[-1])
    for s in range(len(sets.cliques)):
        add_cells(tree, sets, s, beliefs, found[sets.cells[s] : sets.cells[s + 1]])
    return found


@unlocked
def find_marginals(tree: FlatTree, log_potentials: Floats) -> Floats:
    """The distribution of every clique under the product of all potentials.

    Sums towards the roots are taken of logarithms, so that no potential is too small; on the way
    back a clique is its conditional distribution times what its parent says of the separator.
    """
    beliefs = log_potentials.copy()
    top = np.empty(tree.separators[-1])
    total = np.empty(tree.separators[-1])
    for i in range(len(tree.parents) - 1, -1, -1):
        first, last = tree.cells[i], tree.cells[i + 1]
        start, stop = tree.separators[i], tree.separators[i + 1]
        top[start:stop] = -inf
        total[start:stop] = 0.0
        for x in range(first, last):
            cell = start + tree.separator[x]
            top[cell] = max(top[cell], beliefs[x])
        for cell in range(start, stop):
            if top[cell] == -inf:
                top[cell] = 0.0
        for x in range(first, last):
            cell = start + tree.separator[x]
            beliefs[x] = np.exp(beliefs[x] - top[cell])
            total[cell] += beliefs[x]
        for x in range(first, last):
            cell = start + tree.separator[x]
            if total[cell] > 0:
                beliefs[x] /= total[cell]
        parent = tree.parents[i]
        if parent >= 0:
            for cell in range(start, stop):
                top[cell] = top[cell] + np.log(total[cell]) if total[cell] > 0 else -inf
            above, begin = tree.above_start[i], tree.cells[parent]
            for y in range(tree.cells[parent + 1] - begin):
                beliefs[begin + y] += top[start + tree.above[above + y]]
    shared = total
    for i in range(len(tree.parents)):
        parent = tree.parents[i]
        if parent >= 0:
            start, stop = tree.separators[i], tree.separators[i + 1]
            shared[start:stop] = 0.0
            above, begin = tree.above_start[i], tree.cells[parent]
            for y in range(tree.cells[parent + 1] - begin):
                shared[start + tree.above[above + y]] += beliefs[begin + y]
            for x in range(tree.cells[i], tree.cells[i + 1]):
                beliefs[x] *= shared[start + tree.separator[x]]
    return beliefs


@unlocked
def find_maximum(tree: FlatTree, values: Floats) -> float:
    """The largest sum of one value a clique that some record has."""
    beliefs = values.copy()
    best = np.empty(tree.separators[-1])
    found = 0.0
    for i in range(len(tree.parents) - 1, -1, -1):
        start, stop = tree.separators[i], tree.separators[i + 1]
        best[start:stop] = -inf
        for x in range(tree.cells[i], tree.cells[i + 1]):
            cell = start + tree.separator[x]
            best[cell] = max(best[cell], beliefs[x])
        parent = tree.parents[i]
        if parent < 0:
            found += best[start]
            continue
        above, begin = tree.above_start[i], tree.cells[parent]
        for y in range(tree.cells[parent + 1] - begin):
            beliefs[begin + y] += best[start + tree.above[above + y]]
    return found


@unlocked
def find_gap(
    tree: FlatTree, sets: FlatSets, frequencies: Floats, weights: Floats, cliques: Floats
) -> float:
    """The Frank-Wolfe gap of a fit: the loss exceeds the least one by no more."""
    fitted = collect(tree, sets, cliques)
    slope = weights * (fitted - frequencies)
    gap: float = (slope * fitted).sum() + find_maximum(tree, spread(tree, sets, -slope))
    return gap


@unlocked
def sum_first(sets: FlatSets, values: Floats) -> float:
    """The sum over sets of the value of their first cell."""
    found = 0.0
    for s in range(len(sets.cliques)):
        found += values[sets.cells[s]]
    return found


@unlocked
def descend(
    tree: FlatTree,
    sets: FlatSets,
    frequencies: Floats,
    weights: Floats,
    enough: float,
    most_steps: int,
) -> tuple[Floats, float]:
    """Descend until the Frank-Wolfe gap is ``enough``: cliques, and the gap.

    ``weights`` and ``frequencies`` have a number for each cell of the sets. Steps are Barzilai and
    Borwein's; one is halved until the loss is below the largest of the last few.
    """
    theta = np.zeros(len(frequencies))
    cliques = find_marginals(tree, spread(tree, sets, theta))
    fitted = collect(tree, sets, cliques)
    # Below this step the loss falls, by Pinsker's inequality: no step need be shorter.
    shortest = 1.0 / sum_first(sets, weights)
    step = shortest
    past = np.full(REMEMBERED, -inf)
    gap = inf
    for count in range(most_steps):
        slope = weights * (fitted - frequencies)
        loss = 0.5 * (slope * (fitted - frequencies)).sum()
        past[count % REMEMBERED] = loss
        if count % CHECKED_EVERY == 0:
            gap = find_gap(tree, sets, frequencies, weights, cliques)
            if gap <= enough:
                return cliques, gap
        step = max(shortest, min(step, LONGEST / max(np.abs(slope).max(), 1e-300)))
        while True:
            moved = theta - step * slope
            cliques = find_marginals(tree, spread(tree, sets, moved))
            after = collect(tree, sets, cliques)
            change = after - fitted
            lost = -(slope * change).sum()
            bend = (weights * change * change).sum()
            # The loss is quadratic in the marginals: afterwards it is loss − lost + bend/2.
            if step <= shortest or bend / 2 - lost + loss <= past.max() - 1e-4 * lost:
                break
            step = max(shortest, step / 2)
        theta = moved
        fitted = after
        if bend > 0:
            step *= lost / bend
    return cliques, gap


@unlocked
def scale(
    tree: FlatTree,
    sets: FlatSets,
    frequencies: Floats,
    enough: float,
    most_rounds: int,
) -> tuple[Floats, float]:
    """Iterative proportional fitting: cliques, and the sum of squared misses.

    For frequencies of one table, which agree with each other: set after set is scaled to its own.
    """
    theta = np.zeros(len(frequencies))
    cliques = find_marginals(tree, spread(tree, sets, theta))
    miss = inf
    for _ in range(most_rounds):
        miss = ((collect(tree, sets, cliques) - frequencies) ** 2).sum()
        if miss <= enough:
            return cliques, miss
        for s in range(len(sets.cliques)):
            start, stop = sets.cells[s], sets.cells[s + 1]
            fitted = np.zeros(stop - start)
            add_cells(tree, sets, s, cliques, fitted)
            for x in range(start, stop):
                if frequencies[x] <= 0:
                    theta[x] = -inf
                elif fitted[x - start] > 0:
                    theta[x] += np.log(frequencies[x] / fitted[x - start])
            cliques = find_marginals(tree, spread(tree, sets, theta))
    return cliques, miss
