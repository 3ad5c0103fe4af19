"""Sources of evidence pooled with the prior, as far as they can be trusted.

The literature's learners are believed as they are. Here the answer of a learner is evidence to be
pooled with the prior, with a weight learnt from imagined tables: the attacker plays the mechanism
himself, trains the learner on what it releases, and sees how far its answers can be trusted. A
learner that says nothing gets weight zero, and the attack is the prior's guess.

Where the mechanism cannot be run, weights come from the known columns, see ``strategies``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from reconbench.attacks.base import AttackerView, Reconstruction, require_playable
from reconbench.attacks.synthetic.cliques import CliqueSource
from reconbench.attacks.synthetic.imagined import can_imagine, check_tables
from reconbench.attacks.synthetic.learners import (
    BayesNet,
    GradientBoosting,
    Learner,
    NaiveBayes,
    NearestNeighbours,
    RandomForest,
)
from reconbench.attacks.synthetic.pool import guess_from_pool
from reconbench.attacks.synthetic.sources import LearnerSource, Source
from reconbench.attacks.synthetic.strategies import FromImaginedTables, FromKnownColumns, Strategy
from reconbench.attacks.synthetic.table_access import skip_unless_table
from reconbench.mechanisms.synthetic.release import SyntheticRelease


class Pooled:
    """Sources of evidence pooled with the prior; ``tables`` imagined tables, by n if None.

    ``info`` has the weight of every source, its mean over the hidden columns.
    """

    name: ClassVar[str]

    def __init__(self, sources: Sequence[Source], tables: int | None = None) -> None:
        check_tables(self.name, tables)
        self.sources = tuple(sources)
        self.tables = tables

    def skip(self, view: AttackerView) -> str | None:
        reason = skip_unless_table(self.name, view)
        if reason is not None:
            return reason
        unweighed = self.choose_strategy(view).why_not(view, self.sources)
        return None if unweighed is None else f"{self.name} {unweighed}"

    def reconstruct(self, view: AttackerView, rng: np.random.Generator) -> Reconstruction:
        table = require_playable(self, view, SyntheticRelease).table
        strategy = self.choose_strategy(view)
        sources = strategy.select(self.sources)
        evidence, weights = [], []
        for target in view.targets:
            weighed = strategy.weigh(view, sources, target)
            chances = view.prior.conditional(view.known, [target])
            evidence.append(weighed.read(table, view.known, chances))
            weights.append(weighed.weights)
        named = zip(sources, np.mean(weights, axis=0), strict=True)
        info = {f"weight_{source.name.replace('-', '_')}": float(w) for source, w in named}
        return guess_from_pool(view, evidence, info)

    def choose_strategy(self, view: AttackerView) -> Strategy:
        """Where weights come from."""
        return FromImaginedTables(self.tables) if can_imagine(view) else FromKnownColumns()


class NaiveBayesPooled(Pooled):
    """`naive-bayes` pooled with the prior, with a weight learnt from imagined tables."""

    name: ClassVar[str] = "naive-bayes-pooled"
    requires: ClassVar[tuple[str, ...]] = ("sklearn",)

    def __init__(self, smoothing: float = NaiveBayes.smoothing, tables: int | None = None) -> None:
        super().__init__([LearnerSource(NaiveBayes(smoothing))], tables)


class RandomForestPooled(Pooled):
    """`random-forest` pooled with the prior, with a weight learnt from imagined tables."""

    name: ClassVar[str] = "random-forest-pooled"
    requires: ClassVar[tuple[str, ...]] = ("sklearn",)

    def __init__(
        self,
        trees: int = RandomForest.trees,
        leaves: int = RandomForest.leaves,
        tables: int | None = None,
    ) -> None:
        super().__init__([LearnerSource(RandomForest(trees, leaves))], tables)


class GradientBoostingPooled(Pooled):
    """`gradient-boosting` pooled with the prior, with a weight learnt from imagined tables."""

    name: ClassVar[str] = "gradient-boosting-pooled"
    requires: ClassVar[tuple[str, ...]] = ("sklearn",)

    def __init__(
        self,
        rounds: int = GradientBoosting.rounds,
        leaves: int = GradientBoosting.leaves,
        learning_rate: float = GradientBoosting.learning_rate,
        tables: int | None = None,
    ) -> None:
        super().__init__([LearnerSource(GradientBoosting(rounds, leaves, learning_rate))], tables)


class NearestNeighboursPooled(Pooled):
    """`knn` pooled with the prior, with a weight learnt from imagined tables."""

    name: ClassVar[str] = "knn-pooled"
    requires: ClassVar[tuple[str, ...]] = ("sklearn",)

    def __init__(
        self, neighbours: int = NearestNeighbours.neighbours, tables: int | None = None
    ) -> None:
        super().__init__([LearnerSource(NearestNeighbours(neighbours))], tables)


class BayesNetPooled(Pooled):
    """`bayes-net` pooled with the prior, with a weight learnt from imagined tables."""

    name: ClassVar[str] = "bayes-net-pooled"

    def __init__(
        self,
        parents: int = BayesNet.parents,
        smoothing: float = BayesNet.smoothing,
        tables: int | None = None,
    ) -> None:
        super().__init__([LearnerSource(BayesNet(parents, smoothing))], tables)


class Cliques(Pooled):
    """The posterior on the counts that the generator measured, read off the synthetic table."""

    name: ClassVar[str] = "cliques"

    def __init__(self, tables: int | None = None) -> None:
        super().__init__([CliqueSource()], tables)


class Stack(Pooled):
    """Every learner and the measured counts, pooled with the prior by weights learnt together."""

    name: ClassVar[str] = "stack"
    requires: ClassVar[tuple[str, ...]] = ("sklearn",)

    def __init__(self, tables: int | None = None) -> None:
        learners: tuple[Learner, ...] = (
            NaiveBayes(),
            BayesNet(),
            NearestNeighbours(),
            RandomForest(),
            GradientBoosting(),
        )
        super().__init__([CliqueSource(), *map(LearnerSource, learners)], tables)
