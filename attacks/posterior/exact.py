"""The posterior without noise, from all tables that fit the release."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from reconbench.attacks.base import AttackerView, BestPossible
from reconbench.attacks.candidates.solution import ExactTables
from reconbench.attacks.posterior.posteriors import ColumnPosteriors, JointPosteriors, Posteriors
from reconbench.bounds import CompactTail
from reconbench.datasets import Table

Codes = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ExactPosterior:
    """All tables that fit a release, with their probabilities; the optimum is certified."""

    view: AttackerView
    tables: ExactTables

    @property
    def info(self) -> dict[str, float]:
        return {"certified": 1.0, "tables": self.tables.count}

    @property
    def posteriors(self) -> Posteriors:
        """The share of each value among the records of a known row, as one chain that is exact."""
        listed, counts = self.tables.candidates, self.tables.expected_counts()
        chances = counts / listed.sizes[listed.owners]
        if len(self.view.targets) == 1:
            size = self.view.target_domain.sizes[0]
            table = np.zeros((1, len(listed.sizes), size))
            table[0, listed.owners, listed.codes[:, 0]] = chances
            return ColumnPosteriors(self.view, listed.group, table)
        zeros = np.zeros(len(chances), dtype=np.int64)
        draws = [(zeros, listed.owners, listed.codes, chances)]
        return JointPosteriors(listed.group, self.view.target_domain.sizes, draws, view=self.view)

    def find_best_possible(self, records: int | None = None) -> BestPossible:
        """What the best guesses are worth on the first ``records``; all by default."""
        posteriors = self.posteriors
        guess = posteriors.guess([0])
        expected = float(posteriors.success(0, guess[:records]).sum())
        # tables do not say which records of a known row are among the first
        whole = records is None or records == self.view.n
        return BestPossible(expected, successes=self._count_successes(guess) if whole else None)

    def _count_successes(self, guess: Codes) -> CompactTail:
        """The distribution of the number of records that a guess, one for a known row, gets right.

        Given a table it is a sum of counts; parts of the tables are independent.
        """
        listed = self.tables.candidates
        _, member = np.unique(listed.group, return_index=True)
        domain = self.view.target_domain
        own = Table(domain, guess[member][listed.owners])
        right = np.asarray(self.view.metric.score(Table(domain, listed.codes), own), dtype=np.int64)
        fixed = self.tables.low.copy()
        chances = np.ones(1)
        for part in self.tables.parts:
            fixed[part.variables] = 0
            hits = part.solutions @ right[part.variables]
            chances = np.convolve(chances, np.bincount(hits, part.chances))
        start = int(fixed @ right)
        every = np.zeros(self.view.n + 1)
        every[start : start + len(chances)] = chances[: len(every) - start]
        return CompactTail.of_chances(every)
