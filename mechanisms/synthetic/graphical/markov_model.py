"""The distribution that a synthesizer draws records from: cliques of a junction tree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import prod

import numpy as np

from reconbench.datasets import Domain, Table
from reconbench.datasets.network.elimination import find_quantiles
from reconbench.mechanisms.base import MechanismError
from reconbench.mechanisms.synthetic.graphical.joint_kernels import pair_all, triple_with
from reconbench.mechanisms.synthetic.graphical.junction_tree import (
    Columns,
    JunctionTree,
    find_axes_outside,
)
from reconbench.mechanisms.synthetic.graphical.kernels import Floats, collect


@dataclass(frozen=True, eq=False)
class MarkovModel:
    """A distribution over a domain: one record is drawn clique by clique.

    ``marginals`` are the distributions of the cliques of ``tree``, which agree on shared columns.
    """

    domain: Domain
    tree: JunctionTree
    marginals: Sequence[Floats]

    def marginal(self, columns: Columns) -> Floats:
        """The distribution of some columns that lie within a clique, ascending."""
        clique = self.tree.find_clique(columns)
        if clique < 0:
            names = ", ".join(self.domain.names[v] for v in columns)
            raise MechanismError(f"no clique of the model holds {names}")
        outside = find_axes_outside(self.tree.cliques[clique], columns)
        return np.asarray(self.marginals[clique].sum(axis=outside))

    def list_marginals(self, k: int) -> Floats:
        """The cells of all k-way marginals one after the other, for k of at most 3.

        Sets of columns are in lexicographic order.
        """
        tree, sizes = self.tree, self.domain.sizes
        flat = np.concatenate([marginal.ravel() for marginal in self.marginals])
        if k == 1:
            return collect(tree.flat, tree.columns, flat)
        found = np.zeros(sum(map(prod, combinations(sizes, k))))
        if k == 2:
            pair_all(tree.flat, tree.columns, flat, 0, found)
            return found
        start = 0
        for column in range(len(sizes) - 2):
            later = combinations(sizes[column + 1 :], 2)
            stop = start + sizes[column] * sum(map(prod, later))
            triple_with(tree.flat, tree.columns, flat, column, found[start:stop])
            start = stop
        return found

    def sample(self, rows: int, rng: np.random.Generator) -> Table:
        """Independent records."""
        codes = np.empty((rows, len(self.domain)), dtype=np.int64)
        for clique, separator, joint in zip(
            self.tree.cliques, self.tree.separators, self.marginals, strict=True
        ):
            left = tuple(v for v in clique if v not in separator)
            given = self.tree.shape(separator)
            below = _cumulate(joint, clique, separator, left)
            row = np.zeros(rows, dtype=np.int64)
            if separator:
                row = np.ravel_multi_index([codes[:, v] for v in separator], given)
            drawn = find_quantiles(below, row, rng.random(rows))
            for v, code in zip(left, np.unravel_index(drawn, self.tree.shape(left)), strict=True):
                codes[:, v] = code
        return Table(self.domain, codes)


def _cumulate(joint: Floats, clique: Columns, separator: Columns, left: Columns) -> Floats:
    """The cumulative chances of the columns that are left, a row for each value of the others."""
    order = [clique.index(v) for v in (*separator, *left)]
    cells = prod(joint.shape[clique.index(v)] for v in left)
    below = joint.transpose(order).reshape(-1, cells).cumsum(axis=1)
    total = below[:, -1:]
    uniform = np.arange(1, cells + 1) / cells
    return np.where(total > 0, below / np.where(total > 0, total, 1.0), uniform)
