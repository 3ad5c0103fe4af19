"""Noise, risk and corridor of gradient inversion, after Riess 2026, figures 1 and 3.

Simulated errors beside their law (figures 4 and 5) are in ``gradient_errors``, errors by the rows
of the attacker's layer (figure 2) in ``gradient_rows``.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from reconbench.benchmarks.computations.computation import (
    Chance,
    Computation,
    Point,
    Positive,
    Positives,
    Promise,
)
from reconbench.benchmarks.suites.game_block import Whole
from reconbench.bounds import GaussianDP, Relation
from reconbench.bounds.gradients import (
    GradientError,
    identification,
    identification_sigma,
    risk_corridor,
    scratch_sigma,
    zero_guess_error,
)

SCRATCH, PUBLISHED, IDENTIFICATION = "scratch", "scratch-published", "identification"
CORRIDOR, ZERO = "corridor", "zero-guess"
MECHANISM = "gradient"

SCRATCH_MEANING = "Riess 2026, Corollary IV.6 for its estimator: an image from its gradient alone"
ZERO_MEANING = "the error of guessing 0, which needs no release"
IDENTIFICATION_MEANING = (
    "one of a number of candidates, 1 − f(1/candidates): an attacker with a list"
)

Candidates = Annotated[int, Field(ge=2, strict=True)]


class GradientComputation(Computation):
    """What computations on one gradient share: N, ‖X‖ and the δ at which ε is read off."""

    dimension: Whole = 1
    norm: Positive = 1.0
    delta: Chance = 1e-5

    @property
    def _shape(self) -> dict[str, float]:
        return {"dimension": self.dimension, "norm": self.norm}

    def _law(self, sigma: float) -> GradientError:
        return GradientError.of(self.dimension, sigma, self.norm)

    def _promise(self, sigma: float) -> Promise:
        """One step with noise multiplier σ, for adding or removing a record: sensitivity C."""
        guarantee = GaussianDP(1 / sigma, Relation.ADD_REMOVE)
        asked = {"sigma": sigma, "delta": self.delta}
        epsilon = guarantee.epsilon_at(self.delta)
        return Promise(f"sigma {sigma:g}", epsilon, self.delta, guarantee, asked)


class GradientSigma(GradientComputation):
    """The noise multiplier that keeps a reconstruction within ``error`` at a chance of ``gamma``.

    ``scratch`` is that of the from-scratch estimate, left out where guessing 0 is within the error
    and no noise helps; ``scratch-published`` is the same formula everywhere, as in figure 1;
    ``identification`` keeps the right one of ``candidates`` from being picked as often.
    """

    reference = "Riess 2026, figure 1"
    metric = "sigma"
    meanings: ClassVar[Mapping[str, str]] = {
        SCRATCH: SCRATCH_MEANING,
        PUBLISHED: "the same, also where guessing 0 is within the error",
        IDENTIFICATION: IDENTIFICATION_MEANING,
    }

    compute: Literal["gradient-sigma"]
    gamma: Chance
    error: Positives
    candidates: Candidates

    def points(self, suite: str) -> Iterator[Point]:
        promise = self._promise(identification_sigma(self.gamma, self.candidates))
        for error in self.error:
            asked = self._shape | {"gamma": self.gamma, "error": error}
            label, base = f"error {error:g}", 1 / self.candidates
            yield Point(suite, self, MECHANISM, promise, label, base, asked)

    def evaluate(self, point: Point) -> dict[str, float]:
        error, gamma = point.asked["error"], self.gamma
        covered = error < zero_guess_error(self.dimension, self.norm)
        return {
            SCRATCH: scratch_sigma(error, gamma, self.dimension, self.norm)
            if covered
            else math.nan,
            # Corollary IV.6 solved for σ, whatever the error.
            PUBLISHED: math.sqrt(error / float(self._law(1.0).mse_quantile(gamma))),
            IDENTIFICATION: identification_sigma(gamma, self.candidates),
        }


class GradientRisk(GradientComputation):
    """P(MSE ≤ error) of the from-scratch estimate, beside the chance of identification."""

    reference = "Riess 2026, figure 3"
    metric = "success"
    meanings: ClassVar[Mapping[str, str]] = {
        SCRATCH: SCRATCH_MEANING,
        IDENTIFICATION: IDENTIFICATION_MEANING,
    }

    compute: Literal["gradient-risk"]
    sigma: Positives
    error: Positives
    candidates: Candidates

    def points(self, suite: str) -> Iterator[Point]:
        for promise in map(self._promise, self.sigma):
            for error in self.error:
                asked = self._shape | {"error": error}
                label, base = f"error {error:g}", 1 / self.candidates
                yield Point(suite, self, MECHANISM, promise, label, base, asked)

    def evaluate(self, point: Point) -> dict[str, float]:
        law = self._law(point.promise.asked["sigma"])
        return {
            SCRATCH: float(law.mse_at_most(point.asked["error"])),
            IDENTIFICATION: identification(self.candidates, point.promise.guarantee),
        }


class GradientCorridor(GradientComputation):
    """The risk corridor's width: the error at which both attackers are equally successful."""

    reference = "Riess 2026, figure 3"
    metric = "mse"
    meanings: ClassVar[Mapping[str, str]] = {
        CORRIDOR: "Riess 2026: the error at which both attackers succeed equally often",
        ZERO: ZERO_MEANING,
    }

    compute: Literal["gradient-corridor"]
    sigma: Positives
    candidates: Candidates

    def points(self, suite: str) -> Iterator[Point]:
        for promise in map(self._promise, self.sigma):
            base = 1 / self.candidates
            yield Point(suite, self, MECHANISM, promise, promise.label, base, self._shape)

    def evaluate(self, point: Point) -> dict[str, float]:
        sigma = point.promise.asked["sigma"]
        (corridor,) = risk_corridor(sigma, self.dimension, self.candidates, self.norm)
        return {CORRIDOR: corridor.error, ZERO: corridor.free_error}
