"""AIM: marginals chosen round by round where the model is worst."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from math import isinf, pi, sqrt
from typing import ClassVar, Self

import numpy as np
import numpy.typing as npt

from reconbench.datasets import Domain, Table
from reconbench.mechanisms.base import MechanismError
from reconbench.mechanisms.marginals import (
    Floats,
    MarginalSets,
    Workload,
    marginal_counts,
    workload,
)
from reconbench.mechanisms.measurements import Measurements, join_measurements, measure
from reconbench.mechanisms.synthetic.graphical.fitting import MOST_CELLS, fit_model, try_to_fit
from reconbench.mechanisms.synthetic.graphical.junction_tree import Columns, find_neighbours
from reconbench.mechanisms.synthetic.graphical.kernels import Bools, count_cells_with, triangulate
from reconbench.mechanisms.synthetic.graphical.markov_model import MarkovModel
from reconbench.mechanisms.synthetic.row_count import RowCount
from reconbench.mechanisms.synthetic.selection import find_selection_epsilon, select
from reconbench.mechanisms.synthetic.structure import list_columns
from reconbench.mechanisms.synthetic.synthesizer import Synthesizer

# The paper's α: the share of each round that the measurement has, the choice having the rest.
SHARE_OF_COUNTS = 0.9
ROUNDS_PER_COLUMN = 16
MOST_DEGREE = 3
# Between rounds the fit stops at this distance (`fitting`), or after so many steps; the last one
# converges. The guarantee depends on neither, nor does the noise.
ROUGHLY = 0.2
STEPS_BETWEEN = 1_000
# Without noise, a marginal of which so small a share of the records is off is reproduced.
EXACTLY = 0.01
# By how much replacing a record changes |counts − expected|₁: two counts by one each.
SENSITIVITY = 2.0


@dataclass(frozen=True)
class AIM(Synthesizer):
    """Round by round, measure the marginal that the model gets most wrong, for its noise.

    Candidates are the marginals of at most ``degree`` columns. First all columns are measured
    alone. Then each round picks, by the exponential mechanism, the candidate r of the largest
    w_r (|counts − expected|₁ − √(2/π) σ n_r): the model's error less the error that noise σ on its
    n_r cells would have, weighted by the workload w_r = Σ over workload sets s of |r ∩ s|; measures
    it with noise σ, and fits again. A round that changes the marginal by less than its noise halves
    σ and doubles the μ of the choice for the rounds to come. Candidates may not make the model
    larger than ``cells`` times the share of the budget that is spent.

    Of the μ² of a round the counts have 0.9: σ begins as √(2·16d/0.9)/μ, 16d rounds being planned,
    and a choice as μ√(0.1/16d) (`selection`). What one round costs depends on the rounds before it,
    and the sum of all μ² never exceeds that of the budget; the last round spends what is left.

    McKenna, Mullins, Sheldon and Miklau 2022, "AIM: an adaptive and iterative mechanism for
    differentially private synthetic data". Published for adding or removing a record, with a
    zCDP budget, ε doubled for the choices, an estimated number of records and models of 80 MB. Here
    neighbours replace a record (scores then have sensitivity 2 max w and not max w), the number of
    records is public, and models are smaller. Without noise, ε = inf, rounds go on until the model
    reproduces every candidate that fits in.
    """

    name: ClassVar[str] = "aim"

    degree: int
    kind: Workload
    cells: int

    def __post_init__(self) -> None:
        if self.degree not in range(1, MOST_DEGREE + 1):
            raise MechanismError(f"degree must be 1, 2 or {MOST_DEGREE}, got {self.degree!r}")
        if not 1 <= self.cells <= MOST_CELLS:
            raise MechanismError(f"cells must be between 1 and {MOST_CELLS:,}, got {self.cells}")
        _ = self.guarantee, self.weights

    @classmethod
    def for_budget(
        cls,
        domain: Domain,
        hidden: Sequence[str],
        epsilon: float,
        delta: float,
        *,
        degree: int = 2,
        workload: str = Workload.ALL,
        cells: int = 20_000,
        rows: str | int = "n",
    ) -> Self:
        """``degree`` is the most columns of a marginal, ``cells`` the most numbers of the model.

        ``workload`` is ``all`` marginals of ``degree`` columns, or those ``touching`` a hidden one.
        ``rows`` is a number, or a multiple of the records such as ``50n``.
        """
        if workload not in list(Workload):
            allowed = " or ".join(map(repr, map(str, Workload)))
            raise MechanismError(f"workload must be {allowed}, got {workload!r}")
        count, kind = RowCount.parse(rows), Workload(workload)
        return cls(domain, tuple(hidden), epsilon, delta, count, degree, kind, cells)

    @cached_property
    def candidates(self) -> MarginalSets:
        """All sets of up to ``degree`` columns, by length and then in lexicographic order."""
        columns = range(len(self.domain))
        most = min(self.degree, len(self.domain))
        return tuple(each for k in range(1, most + 1) for each in combinations(columns, k))

    @cached_property
    def weights(self) -> Floats:
        """The weight of each candidate; 0 for what lies within no set of the workload."""
        degree = min(self.degree, len(self.domain))
        wanted = [set(each) for each in workload(self.domain, self.hidden, degree, self.kind)]
        return np.array(
            [
                sum(len(each & set(candidate)) for each in wanted)
                if any(each >= set(candidate) for each in wanted)
                else 0.0
                for candidate in self.candidates
            ]
        )

    def learn(self, table: Table, rng: np.random.Generator) -> tuple[Measurements, MarkovModel]:
        n, exact = len(table), isinf(self.guarantee.mu)
        alone = list_columns(self.domain)
        spending = Spending.plan(self.guarantee.mu, len(alone))
        counts = _Counts.of(table, self.candidates)
        measured = measure(table, alone, [spending.noise_sd] * len(alone), rng)
        expected = counts.expect(_fit_roughly(measured))
        while not spending.last:
            spending = spending.begin_round()
            open_ = self._find_open(measured.sets, spending.share)
            if exact:
                open_ = [i for i in open_ if not _holds(measured.sets, self.candidates[i])]
            off = counts.sum_each(np.abs(counts.values - expected))[open_]
            if exact and not (off > EXACTLY * n).any():
                break
            noise = counts.cells[open_] * spending.noise_sd * sqrt(2 / pi)
            weights = self.weights[open_]
            best = open_[
                select(
                    weights * (off - noise),
                    SENSITIVITY * float(weights.max()),
                    find_selection_epsilon(spending.choice_mu),
                    rng,
                )
            ]
            part = measure(table, (self.candidates[best],), [spending.noise_sd], rng)
            measured = join_measurements(measured, part)
            before, expected = expected, counts.expect(_fit_roughly(measured))
            moved = counts.sum_each(np.abs(expected - before))[best]
            if moved <= counts.cells[best] * spending.noise_sd * sqrt(2 / pi):
                spending = spending.halve_noise()
        return replace(measured, adaptive=True), fit_model(measured)

    def _find_open(self, sets: MarginalSets, share: float) -> list[int]:
        """The candidates of the workload with which the model is small enough, or no larger."""
        sizes = np.array(self.domain.sizes, dtype=np.int64)
        near = find_neighbours(len(sizes), sets)
        most = max(self.cells * share, triangulate(near, sizes)[2])
        small = count_cells_with(near, self._members, sizes) <= most
        return np.flatnonzero(small & (self.weights > 0)).tolist()

    @cached_property
    def _members(self) -> Bools:
        """Which columns each candidate holds."""
        held = np.zeros((len(self.candidates), len(self.domain)), dtype=np.bool_)
        for i, columns in enumerate(self.candidates):
            held[i, list(columns)] = True
        return held


@dataclass(frozen=True)
class Spending:
    """A budget of μ² that is spent in rounds, and what the next round costs.

    Each round spends 2/σ² on a measurement and ``choice_mu``² on a choice.
    """

    total: float
    spent: float
    noise_sd: float
    choice_mu: float
    last: bool = False

    @classmethod
    def plan(cls, mu: float, columns: int) -> Self:
        """Noise and choices for 16 rounds a column, after measuring every column alone."""
        rounds = ROUNDS_PER_COLUMN * columns
        noise_sd = sqrt(2 * rounds / SHARE_OF_COUNTS) / mu
        spent = SHARE_OF_COUNTS / ROUNDS_PER_COLUMN * mu**2
        return cls(mu**2, spent, noise_sd, mu * sqrt((1 - SHARE_OF_COUNTS) / rounds))

    @property
    def share(self) -> float:
        """The share of the budget that is spent."""
        return 1.0 if isinf(self.total) else self.spent / self.total

    def begin_round(self) -> Self:
        """Spend a round; if what is left then is not enough for another, spend that as well."""
        if isinf(self.total):
            return self
        cost = 2 / self.noise_sd**2 + self.choice_mu**2
        left = self.total - self.spent
        if left >= 2 * cost:
            return replace(self, spent=self.spent + cost)
        return replace(
            self,
            spent=self.total,
            noise_sd=sqrt(2 / (SHARE_OF_COUNTS * left)),
            choice_mu=sqrt((1 - SHARE_OF_COUNTS) * left),
            last=True,
        )

    def halve_noise(self) -> Self:
        """Half the noise from the next round on, and choices to match."""
        return replace(self, noise_sd=self.noise_sd / 2, choice_mu=self.choice_mu * 2)


@dataclass(frozen=True, eq=False)
class _Counts:
    """The true counts of all candidates, one after the other."""

    records: int
    degree: int
    values: Floats
    cells: npt.NDArray[np.int64]

    @classmethod
    def of(cls, table: Table, candidates: MarginalSets) -> Self:
        parts = [marginal_counts(table, columns).ravel() for columns in candidates]
        sizes = np.array([len(part) for part in parts])
        return cls(len(table), max(map(len, candidates)), np.concatenate(parts), sizes)

    def expect(self, model: MarkovModel) -> Floats:
        """The same counts under a model."""
        parts = [model.list_marginals(k) for k in range(1, self.degree + 1)]
        return self.records * np.concatenate(parts)

    def sum_each(self, values: Floats) -> Floats:
        """A sum for every candidate."""
        return np.add.reduceat(values, np.cumsum(self.cells) - self.cells)


def _fit_roughly(measured: Measurements) -> MarkovModel:
    return try_to_fit(measured, ROUGHLY, STEPS_BETWEEN)[0]


def _holds(sets: MarginalSets, columns: Columns) -> bool:
    return any(set(columns) <= set(each) for each in sets)
