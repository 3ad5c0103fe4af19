"""Two relatives of `rap` that need no stopping rule: one ignores the noise, one weighs it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from reconbench.attacks.base import AttackerView, Reconstruction
from reconbench.attacks.rap.descent import Objective
from reconbench.attacks.rap.rap import cannot_attack, check_options, check_views, descend


class RapConverged:
    """The naive setting of Swanberg 2025, section 6.1: a fixed number of steps, to convergence.

    Minimises ‖Q(P) − answers‖² from the conditional prior. The prior enters through the start
    alone; with noise on the answers the noise is fitted too.
    """

    name: ClassVar[str] = "rap-converged"

    def __init__(self, steps: int = 1_000, learning_rate: float = 0.05, restarts: int = 1) -> None:
        check_options(self.name, steps, learning_rate, restarts)
        self.steps = steps
        self.learning_rate = learning_rate
        self.restarts = restarts

    def skip(self, view: AttackerView) -> str | None:
        return cannot_attack(self.name, view)

    def reconstruct(self, view: AttackerView, rng: np.random.Generator) -> Reconstruction:
        return self.reconstruct_many([view], [rng])[0]

    def reconstruct_many(
        self, views: Sequence[AttackerView], rngs: Sequence[np.random.Generator]
    ) -> list[Reconstruction]:
        """Repetitions of one game at once; each result is what `reconstruct` returns alone."""
        check_views(self.name, views, rngs)
        return descend(views, rngs, Objective(), self.steps, self.learning_rate, self.restarts)


class RapMap:
    """The prior in the loss, with the weight that the noise gives it.

    Minimises, with π_ic the conditional prior of hidden column c of record i,

        ‖Q(P) − answers‖² / (2 noise_sd²) − Σ_ic ⟨P_ic, log π_ic⟩ + Σ_ic ⟨P_ic, log P_ic⟩,

    that is, the negative log-likelihood of the mean table plus Σ_ic KL(P_ic ‖ π_ic). It is the
    mean-field variational free energy but for the variance of Q(X) under P, a sum of
    p(1 − p)-terms of single records. With one hidden column the loss is convex, so its minimum does
    not depend on the start. ``entropy=False`` leaves the last term out. Several hidden columns each
    have their own prior given the known ones: what they tell about each other enters through the
    marginals alone.

    Without noise the squared error alone is minimised.
    """

    name: ClassVar[str] = "rap-map"

    def __init__(
        self,
        steps: int = 1_000,
        learning_rate: float = 0.05,
        restarts: int = 1,
        entropy: bool = True,
    ) -> None:
        check_options(self.name, steps, learning_rate, restarts)
        self.steps = steps
        self.learning_rate = learning_rate
        self.restarts = restarts
        self.entropy = entropy

    def skip(self, view: AttackerView) -> str | None:
        return cannot_attack(self.name, view)

    def reconstruct(self, view: AttackerView, rng: np.random.Generator) -> Reconstruction:
        return self.reconstruct_many([view], [rng])[0]

    def reconstruct_many(
        self, views: Sequence[AttackerView], rngs: Sequence[np.random.Generator]
    ) -> list[Reconstruction]:
        """Repetitions of one game at once; each result is what `reconstruct` returns alone."""
        (noise_sd,) = check_views(self.name, views, rngs)
        objective = weighed(noise_sd, self.entropy)
        return descend(views, rngs, objective, self.steps, self.learning_rate, self.restarts)


def weighed(noise_sd: float, entropy: bool) -> Objective:
    """The squared error against the prior, as the noise has it."""
    if noise_sd == 0:
        return Objective()
    return Objective(1 / (2 * noise_sd**2), 1.0, 1.0 if entropy else 0.0)
