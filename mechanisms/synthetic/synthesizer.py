"""What all synthesizers have in common: measure and fit under a budget, then draw rows.

Only what is measured touches the table, so the guarantee is that of the measurements, whatever is
drawn from the model: fewer rows are no more private, since the generator can be run again.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Protocol

import numpy as np

from reconbench.bounds import GaussianDP
from reconbench.datasets import Table
from reconbench.mechanisms.base import BudgetedMechanism, gaussian_guarantee
from reconbench.mechanisms.measurements import Measurements
from reconbench.mechanisms.synthetic.release import SyntheticRelease
from reconbench.mechanisms.synthetic.row_count import RowCount


class Model(Protocol):
    """A distribution of records."""

    def sample(self, n: int, rng: np.random.Generator) -> Table: ...


@dataclass(frozen=True)
class Synthesizer(BudgetedMechanism):
    """A mechanism that draws ``row_count`` independent rows from a model of the table."""

    measures: ClassVar[bool] = True

    row_count: RowCount

    @cached_property
    def guarantee(self) -> GaussianDP:
        """μ-GDP with the largest μ that the budget allows; all that is spent composes to it."""
        return gaussian_guarantee(self.budget)

    @abstractmethod
    def learn(self, table: Table, rng: np.random.Generator) -> tuple[Measurements, Model]:
        """Measure the table, spending the budget, and fit a model to what was measured."""

    def release(self, table: Table, rng: np.random.Generator) -> SyntheticRelease:
        self.check_table(table)
        rows = self.row_count.count(len(table))
        measured, model = self.learn(table, rng)
        return SyntheticRelease(self.domain, model.sample(rows, rng), len(table), measured)

    def facts(self) -> dict[str, float]:
        return {"mu": self.guarantee.mu}
