"""PrivBayes: a Bayesian network grown by the exponential mechanism, with noisy tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import inf, pi, prod, sqrt
from typing import ClassVar, Self

import numpy as np

from reconbench.datasets import BayNet, Domain, Table
from reconbench.mechanisms.base import MechanismError
from reconbench.mechanisms.marginals import Floats, marginal_counts
from reconbench.mechanisms.measurements import Measurements, measure
from reconbench.mechanisms.synthetic.row_count import RowCount
from reconbench.mechanisms.synthetic.selection import find_selection_epsilon, select
from reconbench.mechanisms.synthetic.synthesizer import Synthesizer

# The share of μ² that choosing the network has; the paper's β of ε.
SHARE_OF_CHOICE = 0.3
# However little noise there is, a table has no more cells.
MOST_CELLS = 1 << 20

Parents = tuple[int, ...]


@dataclass(frozen=True)
class PrivBayes(Synthesizer):
    """A Bayesian network: each column given at most ``degree`` others, chosen under the budget.

    The first column is drawn at random. Then, d − 1 times, the exponential mechanism picks a new
    column and its parents among the columns that are in; the score is ½|counts − expected|₁ with
    the counts expected if the column were independent of its parents (R in the paper, times n).
    The d columns are then measured with their parents, negative counts become 0, and each column is
    drawn given its parents; a combination of parents without counts gets a uniform column. The
    choices have 0.3 of μ², each μ√(0.3/(d − 1)) (`selection`), the counts the rest: √(2d/0.7)/μ.
    Tables are kept so small that the average count is at least ``usefulness`` times the average
    size of the noise, and parents that could have another column beside them are left out.

    Zhang, Cormode, Procopiuc, Srivastava and Xiao 2017, "PrivBayes: private data release via
    Bayesian networks". Published with Laplace noise for pure ε-DP, neighbours that replace a
    record as here, and 0.3 of ε for the choices. The sensitivity of the score is the paper's,
    3 + 2/n; see `bound_sensitivity`.
    """

    name: ClassVar[str] = "privbayes"

    degree: int
    usefulness: float

    def __post_init__(self) -> None:
        if not (isinstance(self.degree, int) and self.degree >= 0):
            raise MechanismError(
                f"degree must be a whole number of 0 or more parents, got {self.degree!r}"
            )
        if not 0 <= self.usefulness < inf:
            raise MechanismError(f"usefulness must be 0 or more, got {self.usefulness:g}")
        _ = self.guarantee

    @classmethod
    def for_budget(
        cls,
        domain: Domain,
        hidden: Sequence[str],
        epsilon: float,
        delta: float,
        *,
        degree: int = 2,
        usefulness: float = 4.0,
        rows: str | int = "n",
    ) -> Self:
        """``degree`` is the most parents of a column, ``usefulness`` how far counts exceed noise.

        ``rows`` is a number, or a multiple of the records such as ``50n``.
        """
        count = RowCount.parse(rows)
        return cls(domain, tuple(hidden), epsilon, delta, count, degree, usefulness)

    @property
    def noise_sd(self) -> float:
        """The standard deviation of the noise on every count."""
        return sqrt(2 * len(self.domain) / (1 - SHARE_OF_CHOICE)) / self.guarantee.mu

    def learn(self, table: Table, rng: np.random.Generator) -> tuple[Measurements, BayNet]:
        parents, order = self._choose_network(table, rng)
        families = tuple(tuple(sorted((column, *parents[column]))) for column in order)
        measured = measure(table, families, [self.noise_sd] * len(families), rng)
        cpts = {
            column: estimate_conditional(answer, family, column)
            for column, family, answer in zip(order, families, measured.answers, strict=True)
        }
        columns = range(len(self.domain))
        visit = tuple(self.domain.names[column] for column in order)
        network = BayNet(
            self.domain,
            tuple(parents[column] for column in columns),
            tuple(cpts[column] for column in columns),
            visit,
        )
        return replace(measured, adaptive=True), network

    def _choose_network(
        self, table: Table, rng: np.random.Generator
    ) -> tuple[dict[int, Parents], list[int]]:
        """The parents of every column, ascending, and the order in which columns are drawn."""
        d, n = len(self.domain), len(table)
        order = [int(rng.integers(d))]
        parents: dict[int, Parents] = {order[0]: ()}
        epsilon = find_selection_epsilon(self.guarantee.mu * sqrt(SHARE_OF_CHOICE / max(d - 1, 1)))
        most = self._limit_cells(n)
        known: dict[tuple[int, Parents], float] = {}
        while len(order) < d:
            candidates = [
                (column, chosen)
                for column in range(d)
                if column not in parents
                for chosen in self._list_parents(column, order, most)
            ]
            for candidate in candidates:
                if candidate not in known:
                    known[candidate] = score_family(table, *candidate)
            scores = [known[candidate] for candidate in candidates]
            column, chosen = candidates[select(scores, bound_sensitivity(n), epsilon, rng)]
            parents[column] = chosen
            order.append(column)
        return parents, order

    def _limit_cells(self, records: int) -> float:
        """The most cells for which the average count is ``usefulness`` times the average noise."""
        noise = self.noise_sd * sqrt(2 / pi)
        return min(
            records / (self.usefulness * noise) if self.usefulness * noise else inf, MOST_CELLS
        )

    def _list_parents(self, column: int, order: Sequence[int], most: float) -> Iterator[Parents]:
        """The sets of parents for a column to which no other column could be added."""
        sizes = self.domain.sizes
        inside = sorted(order)

        def fits(chosen: Parents) -> bool:
            cells = sizes[column] * prod(sizes[v] for v in chosen)
            return len(chosen) <= self.degree and (cells <= most or not chosen)

        for count in range(self.degree + 1):
            for chosen in combinations(inside, count):
                others = (v for v in inside if v not in chosen)
                if fits(chosen) and not any(fits((*chosen, v)) for v in others):
                    yield chosen


def score_family(table: Table, column: int, parents: Parents) -> float:
    """½|counts − expected|₁ of a column with its parents: n times R of the paper."""
    if not parents:
        return 0.0
    family = tuple(sorted((column, *parents)))
    counts = np.moveaxis(marginal_counts(table, family), family.index(column), 0)
    counts = counts.reshape(len(counts), -1)
    expected = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / len(table)
    return float(np.abs(counts - expected).sum()) / 2


def bound_sensitivity(records: int) -> float:
    """By how much replacing one of n records changes a score: 3 + 2/n.

    Write D for the change of the counts, one down and one up, so |D|₁ = 2, and R and C for the
    changes of row and column sums, of norm 2 too. The expected counts change by (R c + r C + R C)/n
    with the sums r, c of total n, of norm 2 + 2 + 4/n. Half of 2 + 4 + 4/n is 3 + 2/n.
    """
    return 3 + 2 / records


def estimate_conditional(answer: Floats, family: Parents, column: int) -> Floats:
    """The distribution of a column given the rest of its family; the column's axis is last."""
    counts = np.moveaxis(np.maximum(answer, 0.0), family.index(column), -1)
    totals = counts.sum(axis=-1, keepdims=True)
    uniform = np.full_like(counts, 1 / counts.shape[-1])
    return np.where(totals > 0, counts / np.where(totals > 0, totals, 1.0), uniform)
