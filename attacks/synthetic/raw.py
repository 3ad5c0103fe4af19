"""Learners as the literature plays them: trained on the synthetic table, believed as they are.

Each hidden column is learnt from the known ones, and the guess is what the metric likes best under
the answer: for an exact match its mode. There is no prior, so what the table says about the
population by chance is believed as well, and what the learner does not know is made up: on small
tables these attacks do worse than guessing from the prior. Several hidden columns are guessed one
by one; the Bayesian network finds their joint mode.

The study with most of them side by side: SoK: Reconstruction Attacks on Synthetic Tabular Data,
2026 (arXiv:2606.08372). Stadler et al. 2022 (Synthetic Data: Anonymisation Groundhog Day) train
classifiers on synthetic tables to infer attributes. Hyperparameters are the options of each attack.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from reconbench.attacks.base import AttackerView, Reconstruction, require_playable
from reconbench.attacks.metrics import ExactMatch
from reconbench.attacks.synthetic.learners import (
    BayesNet,
    GradientBoosting,
    Learner,
    NaiveBayes,
    NearestNeighbours,
    RandomForest,
    fit_released,
)
from reconbench.attacks.synthetic.table_access import skip_unless_table
from reconbench.mechanisms.synthetic.release import SyntheticRelease


class LearnerAttack:
    """The best guess under a learner's own answer; the score is the probability it gives."""

    name: ClassVar[str]
    reference: ClassVar[str]

    def __init__(self, learner: Learner) -> None:
        self.learner = learner

    def skip(self, view: AttackerView) -> str | None:
        return skip_unless_table(self.name, view)

    def reconstruct(self, view: AttackerView, rng: np.random.Generator) -> Reconstruction:
        table = require_playable(self, view, SyntheticRelease).table
        known = view.known.domain.names
        answers = [
            fit_released(self.learner, table, target, known).answer(view.known)
            for target in view.targets
        ]
        scores = np.prod([answer.max(axis=1) for answer in answers], axis=0)
        return view.reconstruction(view.metric.decide(answers), scores)


class NaiveBayesAttack(LearnerAttack):
    """Naive Bayes trained on the synthetic table, without a prior."""

    name: ClassVar[str] = "naive-bayes"
    requires: ClassVar[tuple[str, ...]] = ("sklearn",)
    reference: ClassVar[str] = "arXiv:2606.08372"

    def __init__(self, smoothing: float = NaiveBayes.smoothing) -> None:
        super().__init__(NaiveBayes(smoothing))


class RandomForestAttack(LearnerAttack):
    """A random forest trained on the synthetic table, without a prior."""

    name: ClassVar[str] = "random-forest"
    requires: ClassVar[tuple[str, ...]] = ("sklearn",)
    reference: ClassVar[str] = "Stadler et al. 2022; arXiv:2606.08372"

    def __init__(self, trees: int = RandomForest.trees, leaves: int = RandomForest.leaves) -> None:
        super().__init__(RandomForest(trees, leaves))


class GradientBoostingAttack(LearnerAttack):
    """Gradient boosting trained on the synthetic table, without a prior."""

    name: ClassVar[str] = "gradient-boosting"
    requires: ClassVar[tuple[str, ...]] = ("sklearn",)
    reference: ClassVar[str] = "arXiv:2606.08372"

    def __init__(
        self,
        rounds: int = GradientBoosting.rounds,
        leaves: int = GradientBoosting.leaves,
        learning_rate: float = GradientBoosting.learning_rate,
    ) -> None:
        super().__init__(GradientBoosting(rounds, leaves, learning_rate))


class NearestNeighboursAttack(LearnerAttack):
    """The vote of the nearest rows of the synthetic table, without a prior."""

    name: ClassVar[str] = "knn"
    requires: ClassVar[tuple[str, ...]] = ("sklearn",)
    reference: ClassVar[str] = "arXiv:2606.08372"

    def __init__(self, neighbours: int = NearestNeighbours.neighbours) -> None:
        super().__init__(NearestNeighbours(neighbours))


class BayesNetAttack(LearnerAttack):
    """The joint mode under a Bayesian network fitted to the synthetic table, without a prior.

    Metrics other than an exact match are guessed column by column.
    """

    name: ClassVar[str] = "bayes-net"
    reference: ClassVar[str] = "arXiv:2606.08372"

    def __init__(
        self, parents: int = BayesNet.parents, smoothing: float = BayesNet.smoothing
    ) -> None:
        self._network = BayesNet(parents, smoothing)
        super().__init__(self._network)

    def reconstruct(self, view: AttackerView, rng: np.random.Generator) -> Reconstruction:
        if len(view.targets) == 1 or not isinstance(view.metric, ExactMatch):
            return super().reconstruct(view, rng)
        table = require_playable(self, view, SyntheticRelease).table
        guess, chance = self._network.fit_network(table).map(view.known, view.targets)
        return view.reconstruction(guess.codes, chance)
