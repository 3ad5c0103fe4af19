"""What a learner is: trained on a table, it answers for one column of records of which others are
known.

Its randomness is seeded by the table and the column. A learner is thus a function of the table:
attacks that share one share its fit, and results do not depend on which attack came first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np
import numpy.typing as npt

from reconbench.attacks.synthetic.recent import Recent
from reconbench.datasets import Table

Floats = npt.NDArray[np.float64]


class Fitted(Protocol):
    """A learner that was trained."""

    def answer(self, known: Table) -> Floats:
        """A distribution over the column's values for every record, (n, V)."""
        ...


class Learner(Protocol):
    """Hyperparameters are the fields of a frozen dataclass: equal learners give equal answers."""

    name: ClassVar[str]

    def __hash__(self) -> int: ...

    def fit(
        self, table: Table, column: str, known: Sequence[str], rng: np.random.Generator
    ) -> Fitted:
        """Learn to answer for ``column`` from the columns ``known``."""
        ...


def fit_learner(learner: Learner, table: Table, column: str, known: Sequence[str]) -> Fitted:
    """Train a learner with the randomness that belongs to the table and the column."""
    values = np.unique(table.column(column))
    if len(values) == 1:
        return Constant(int(values[0]), table.domain[column].size)
    digest = bytes.fromhex(table.sha256()) + column.encode()
    seed = np.random.SeedSequence(list(digest))
    return learner.fit(table, column, known, np.random.default_rng(seed))


# Learners trained on released tables, which raw and pooled attacks share.
_released: Recent[Fitted] = Recent(32)


def fit_released(learner: Learner, table: Table, column: str, known: tuple[str, ...]) -> Fitted:
    """Train a learner on a table that was released, once for all attacks."""
    key = (learner, table.sha256(), column, known)
    return _released.get(key, lambda: fit_learner(learner, table, column, known))


@dataclass(frozen=True)
class Constant:
    """The answer where a table has a single value in the column."""

    value: int
    size: int

    def answer(self, known: Table) -> Floats:
        answer = np.zeros((len(known), self.size))
        answer[:, self.value] = 1.0
        return answer
