"""A Bayesian network fitted to the synthetic table, asked for the hidden columns given the known.

The structure is grown by mutual information, at most ``parents`` parents a column; the tables are
smoothed as those of our priors are. One network answers for every column, and for several together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from reconbench.attacks.base import AttackError
from reconbench.attacks.synthetic.learners.base import Fitted
from reconbench.datasets import BayNet, Table

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class FittedNetwork:
    """A network, and the column that it is asked for."""

    network: BayNet
    column: str

    def answer(self, known: Table) -> Floats:
        return self.network.conditional(known, [self.column])


@dataclass(frozen=True)
class BayesNet:
    """A Bayesian network over all columns of the table."""

    name: ClassVar[str] = "bayes-net"

    parents: int = 2
    smoothing: float = 1.0

    def __post_init__(self) -> None:
        if self.parents < 1:
            raise AttackError(f"bayes-net: parents must be at least 1, got {self.parents}")
        if not 0 < self.smoothing < float("inf"):
            raise AttackError(f"bayes-net: smoothing must be positive, got {self.smoothing}")

    def fit(
        self, table: Table, column: str, known: Sequence[str], rng: np.random.Generator
    ) -> Fitted:
        seen = table.project([n for n in table.domain.names if n in (*known, column)])
        return FittedNetwork(self.fit_network(seen), column)

    def fit_network(self, table: Table) -> BayNet:
        from reconbench.datasets.network.fit import GreedyMutualInformation, fit

        return fit(table, GreedyMutualInformation(self.parents), self.smoothing)
