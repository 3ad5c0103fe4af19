"""Classifiers of scikit-learn on the codes of the known columns.

They are small, so that an attack can train them on many tables, and otherwise as scikit-learn has
them: tests hold every one to the plain estimator. scikit-learn is imported when it is used.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from reconbench.attacks.base import AttackError
from reconbench.attacks.synthetic.learners.base import Fitted
from reconbench.datasets import Table
from reconbench.missing_package import needed_by

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class FittedClassifier:
    """A scikit-learn classifier, and how many values its column has: it may know of fewer."""

    model: Any
    known: tuple[str, ...]
    size: int

    def answer(self, known: Table) -> Floats:
        answer = np.zeros((len(known), self.size))
        features = known.project(self.known).codes
        answer[:, self.model.classes_] = self.model.predict_proba(features)
        return answer


def _train(model: Any, table: Table, column: str, known: Sequence[str]) -> Fitted:
    names = tuple(known)
    model.fit(table.project(names).codes, table.column(column))
    return FittedClassifier(model, names, table.domain[column].size)


def _draw_seed(rng: np.random.Generator) -> int:
    return int(rng.integers(1 << 31))


def _check(name: str, **options: float) -> None:
    for option, value in options.items():
        if not value > 0:
            raise AttackError(f"{name}: {option} must be positive, got {value}")


@dataclass(frozen=True)
class NaiveBayes:
    """Known columns independent given the hidden one, with ``smoothing`` added to every count."""

    name: ClassVar[str] = "naive-bayes"

    smoothing: float = 1.0

    def __post_init__(self) -> None:
        _check(self.name, smoothing=self.smoothing)

    def fit(
        self, table: Table, column: str, known: Sequence[str], rng: np.random.Generator
    ) -> Fitted:
        with needed_by(self.name, "sklearn"):
            from sklearn.naive_bayes import CategoricalNB

        sizes = [table.domain[name].size for name in known]
        model = CategoricalNB(alpha=self.smoothing, min_categories=sizes)
        return _train(model, table, column, known)


@dataclass(frozen=True)
class RandomForest:
    """Trees on bootstrap samples, of at most ``leaves`` leaves each."""

    name: ClassVar[str] = "random-forest"

    trees: int = 50
    leaves: int = 512

    def __post_init__(self) -> None:
        _check(self.name, trees=self.trees, leaves=self.leaves - 1)

    def fit(
        self, table: Table, column: str, known: Sequence[str], rng: np.random.Generator
    ) -> Fitted:
        with needed_by(self.name, "sklearn"):
            from sklearn.ensemble import RandomForestClassifier

        model = RandomForestClassifier(
            n_estimators=self.trees, max_leaf_nodes=self.leaves, random_state=_draw_seed(rng)
        )
        return _train(model, table, column, known)


@dataclass(frozen=True)
class GradientBoosting:
    """``rounds`` of one small tree for each value, on binned codes."""

    name: ClassVar[str] = "gradient-boosting"

    rounds: int = 20
    leaves: int = 8
    learning_rate: float = 0.1

    def __post_init__(self) -> None:
        _check(
            self.name, rounds=self.rounds, leaves=self.leaves - 1, learning_rate=self.learning_rate
        )

    def fit(
        self, table: Table, column: str, known: Sequence[str], rng: np.random.Generator
    ) -> Fitted:
        with needed_by(self.name, "sklearn"):
            from sklearn.ensemble import HistGradientBoostingClassifier

        model = HistGradientBoostingClassifier(
            max_iter=self.rounds,
            max_leaf_nodes=self.leaves,
            learning_rate=self.learning_rate,
            early_stopping=False,
            random_state=_draw_seed(rng),
        )
        return _train(model, table, column, known)


@dataclass(frozen=True)
class NearestNeighbours:
    """Votes of the ``neighbours`` rows that differ from a record in the fewest known columns."""

    name: ClassVar[str] = "knn"

    neighbours: int = 10

    def __post_init__(self) -> None:
        _check(self.name, neighbours=self.neighbours)

    def fit(
        self, table: Table, column: str, known: Sequence[str], rng: np.random.Generator
    ) -> Fitted:
        with needed_by(self.name, "sklearn"):
            from sklearn.neighbors import KNeighborsClassifier

        model = KNeighborsClassifier(
            min(self.neighbours, len(table)), metric="hamming", algorithm="brute"
        )
        return _train(model, table, column, known)
