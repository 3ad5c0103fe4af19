"""MST: a tree of pairs chosen by the exponential mechanism, the winner of a NIST contest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import sqrt
from typing import ClassVar, Self

import numpy as np

from reconbench.datasets import Domain, Table
from reconbench.mechanisms.marginals import marginal_counts
from reconbench.mechanisms.measurements import Measurements, join_measurements, measure
from reconbench.mechanisms.synthetic.graphical.fitting import fit_model
from reconbench.mechanisms.synthetic.graphical.markov_model import MarkovModel
from reconbench.mechanisms.synthetic.row_count import RowCount
from reconbench.mechanisms.synthetic.selection import find_selection_epsilon, select
from reconbench.mechanisms.synthetic.structure import Components, Pair, list_columns
from reconbench.mechanisms.synthetic.synthesizer import Synthesizer

# By how much replacing a record changes |counts − expected counts|₁: two counts by one each.
SENSITIVITY = 2.0


@dataclass(frozen=True)
class MST(Synthesizer):
    """A maximum spanning tree of pairs, grown under the budget, and Private-PGM on it.

    All d columns are measured alone. Then d − 1 pairs are chosen one by one, as Kruskal does, each
    by the exponential mechanism among the pairs that join two parts of the forest; the score is how
    far the pair is from independence, |counts − n p_i p_j|₁ with p fitted to the measured columns.
    These pairs are measured, and a model is fitted to all. Each of the three steps has a third of
    μ²: columns and pairs have noise √(2d)/μ′ and √(2(d − 1))/μ′ with μ′ = μ/√3, and a choice costs
    μ′/√(d − 1) (`selection`).

    McKenna, Miklau and Sheldon 2021, "Winning the NIST contest: a scalable and general approach to
    differentially private synthetic data". Published for adding or removing a record, with
    thirds of a zCDP budget and an estimated number of records. Here neighbours replace a record
    (so the score's sensitivity is 2 and not 1), the number of records is public, and rare labels
    are not merged into one.
    """

    name: ClassVar[str] = "mst"

    @classmethod
    def for_budget(
        cls,
        domain: Domain,
        hidden: Sequence[str],
        epsilon: float,
        delta: float,
        *,
        rows: str | int = "n",
    ) -> Self:
        """``rows`` is a number, or a multiple of the records such as ``50n``."""
        return cls(domain, tuple(hidden), epsilon, delta, RowCount.parse(rows))

    def learn(self, table: Table, rng: np.random.Generator) -> tuple[Measurements, MarkovModel]:
        step = self.guarantee.mu / sqrt(3)
        columns = list_columns(self.domain)
        alone = measure(table, columns, [sqrt(2 * len(columns)) / step] * len(columns), rng)
        pairs = self._choose_pairs(table, fit_model(alone), step, rng)
        together = measure(table, pairs, [sqrt(2 * len(pairs)) / step] * len(pairs), rng)
        measured = replace(join_measurements(alone, together), adaptive=True)
        return measured, fit_model(measured)

    def _choose_pairs(
        self, table: Table, apart: MarkovModel, mu: float, rng: np.random.Generator
    ) -> tuple[Pair, ...]:
        """A spanning tree of pairs, by d − 1 choices that cost ``mu`` together."""
        d = len(self.domain)
        scores = {pair: score_pair(table, apart, pair) for pair in combinations(range(d), 2)}
        epsilon = find_selection_epsilon(mu / sqrt(max(d - 1, 1)))
        joined = Components(d)
        chosen: list[Pair] = []
        while len(chosen) < d - 1:
            open_pairs = [pair for pair in scores if joined.are_apart(*pair)]
            best = select([scores[pair] for pair in open_pairs], SENSITIVITY, epsilon, rng)
            joined.join(*open_pairs[best])
            chosen.append(open_pairs[best])
        return tuple(sorted(chosen))


def score_pair(table: Table, apart: MarkovModel, pair: Pair) -> float:
    """|counts − n p_i p_j|₁: how far two columns are from independence under a model of each."""
    first, second = (apart.marginal((column,)) for column in pair)
    expected = len(table) * np.outer(first, second)
    return float(np.abs(marginal_counts(table, pair) - expected).sum())
