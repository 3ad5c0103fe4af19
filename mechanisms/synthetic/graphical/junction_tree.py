"""Junction trees: exact inference on products of functions of a few columns each.

Column sets are triangulated greedily: the column whose elimination joins the fewest cells goes
first. Axes are in ascending order of the columns everywhere, so that a function of fewer columns is
summed from a larger one without moving an axis, and broadcasts against it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import accumulate
from math import prod

import numpy as np

from reconbench.mechanisms.synthetic.graphical.kernels import (
    Bools,
    FlatSets,
    FlatTree,
    Floats,
    Indices,
    Ints,
    add_strides,
    triangulate,
)

Columns = tuple[int, ...]


@dataclass(frozen=True)
class JunctionTree:
    """Cliques of columns as a forest in which every column's cliques are connected.

    ``parents[i]`` comes before clique ``i``, or is −1 where a component begins.
    """

    sizes: tuple[int, ...]
    cliques: tuple[Columns, ...]
    parents: tuple[int, ...]

    @classmethod
    def of_sets(cls, sizes: Sequence[int], sets: Iterable[Columns]) -> JunctionTree:
        """Find a tree in which every set lies within a clique. Columns without a set are alone."""
        near = find_neighbours(len(sizes), sets)
        return _find_tree(tuple(sizes), near.tobytes())

    @cached_property
    def cells(self) -> int:
        """The numbers that the cliques hold."""
        return sum(prod(self.shape(clique)) for clique in self.cliques)

    @cached_property
    def widest(self) -> Columns:
        """The clique of most cells."""
        return max(self.cliques, key=lambda clique: prod(self.shape(clique)))

    @cached_property
    def separators(self) -> tuple[Columns, ...]:
        """The columns that each clique shares with its parent."""
        return tuple(
            tuple(v for v in clique if parent >= 0 and v in self.cliques[parent])
            for clique, parent in zip(self.cliques, self.parents, strict=True)
        )

    def shape(self, columns: Columns) -> tuple[int, ...]:
        return tuple(self.sizes[v] for v in columns)

    def find_clique(self, columns: Columns) -> int:
        """The smallest clique that holds these columns; −1 if none does."""
        if columns not in self._homes:
            holding = [i for i, clique in enumerate(self.cliques) if {*columns} <= {*clique}]
            self._homes[columns] = min(
                holding, key=lambda i: (prod(self.shape(self.cliques[i])), i), default=-1
            )
        return self._homes[columns]

    @cached_property
    def _homes(self) -> dict[Columns, int]:
        """What `find_clique` has found."""
        return {}

    @cached_property
    def flat(self) -> FlatTree:
        """The tree in arrays, for the compiled kernels."""
        above = [
            index_cells(self.sizes, self.cliques[parent], separator)
            if parent >= 0
            else np.empty(0, dtype=np.int32)
            for separator, parent in zip(self.separators, self.parents, strict=True)
        ]
        own = [
            index_cells(self.sizes, clique, separator)
            for clique, separator in zip(self.cliques, self.separators, strict=True)
        ]
        return FlatTree(
            np.array(self.parents, dtype=np.int64),
            find_starts(prod(self.shape(clique)) for clique in self.cliques),
            np.concatenate(own),
            find_starts(prod(self.shape(separator)) for separator in self.separators),
            np.concatenate(above),
            find_starts(map(len, above)),
        )

    def place_sets(self, sets: Sequence[Columns]) -> FlatSets:
        """Where sets that lie within cliques have their cells, for the compiled kernels."""
        homes = [self.find_clique(columns) for columns in sets]
        index = [
            index_cells(self.sizes, self.cliques[home], columns)
            for home, columns in zip(homes, sets, strict=True)
        ]
        return FlatSets(
            np.array(homes, dtype=np.int64),
            find_starts(prod(self.shape(columns)) for columns in sets),
            np.concatenate(index),
            find_starts(map(len, index)),
        )

    @cached_property
    def columns(self) -> FlatSets:
        """Where each column lies, for the compiled kernels."""
        return self.place_sets([(v,) for v in range(len(self.sizes))])

    def unflatten(self, cells: Floats) -> tuple[Floats, ...]:
        """The cells of all cliques as one array a clique."""
        bounds = self.flat.cells
        return tuple(
            cells[first:last].reshape(self.shape(clique))
            for clique, first, last in zip(self.cliques, bounds[:-1], bounds[1:], strict=True)
        )


@lru_cache(maxsize=32)
def _find_tree(sizes: tuple[int, ...], neighbours: bytes) -> JunctionTree:
    """The tree of a graph, kept with its arrays: games play one structure again and again."""
    near = np.frombuffer(neighbours, dtype=np.bool_).reshape(len(sizes), len(sizes))
    cliques, kept, _ = triangulate(near, np.array(sizes, dtype=np.int64))
    maximal = sorted(tuple(np.flatnonzero(clique).tolist()) for clique in cliques[kept])
    return JunctionTree(sizes, *_join(maximal))


def find_neighbours(columns: int, sets: Iterable[Columns]) -> Bools:
    """Which columns are in one set; every column is its own neighbour."""
    near = np.eye(columns, dtype=np.bool_)
    for each in sets:
        for u in each:
            for v in each:
                near[u, v] = True
    return near


def find_starts(lengths: Iterable[int]) -> Ints:
    """Where parts of these lengths begin if they lie one after the other, and where the last ends.

    >>> find_starts([2, 3]).tolist()
    [0, 2, 5]
    """
    return np.array(list(accumulate(lengths, initial=0)), dtype=np.int64)


def index_cells(sizes: Sequence[int], columns: Columns, kept: Columns) -> Indices:
    """For every cell of ``columns`` the cell of ``kept``, some of them, that it belongs to."""
    stride, strides = 1, dict.fromkeys(columns, 0)
    for v in reversed(kept):
        strides[v] = stride
        stride *= sizes[v]
    steps = np.array([strides[v] for v in columns], dtype=np.int64)
    return add_strides(np.array([sizes[v] for v in columns], dtype=np.int64), steps)


def find_axes_outside(columns: Columns, kept: Columns) -> tuple[int, ...]:
    """The axes to sum out of a function of ``columns`` so that ``kept`` is left."""
    return tuple(axis for axis, v in enumerate(columns) if v not in kept)


def _join(cliques: list[Columns]) -> tuple[tuple[Columns, ...], tuple[int, ...]]:
    """A maximum spanning forest by the number of shared columns (Prim), roots first.

    For the cliques of a triangulated graph any such forest keeps every column's cliques connected.
    """
    order: list[int] = []
    parents: list[int] = []
    left = list(range(len(cliques)))
    best = dict.fromkeys(left, (0, -1))
    while left:
        i = max(left, key=lambda i: (best[i][0], -i))
        left.remove(i)
        parents.append(best[i][1])
        order.append(i)
        for j in left:
            shared = len(set(cliques[i]) & set(cliques[j]))
            if shared > best[j][0]:
                best[j] = (shared, len(order) - 1)
    return tuple(cliques[i] for i in order), tuple(parents)
