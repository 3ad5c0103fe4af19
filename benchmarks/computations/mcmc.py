"""The posterior of ε from counts of errors, after Yildirim 2025.

Figure 2 (one attack, its strength fixed) and figure 3 (several attacks, artificial counts);
attacks on trained models are in ``mcmc_train``. Nothing is promised here, so ε stands at ∞ and the
values are the answer: the 90 % interval of ε, its median, that of the strength, and the largest
lower bound of Clopper and Pearson at 90 %.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import inf
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, model_validator

from reconbench.benchmarks.computations.computation import (
    Computation,
    ComputationError,
    Point,
    Promise,
    Share,
    Shares,
    Wholes,
)
from reconbench.benchmarks.game.random_streams import make_stream
from reconbench.benchmarks.suites.game_block import Whole
from reconbench.bounds import ApproxDP, Relation

if TYPE_CHECKING:
    from reconbench.bounds.audit import mcmc

LOW, MEDIAN, HIGH = "epsilon-low", "epsilon-median", "epsilon-high"
STRENGTH, PROVED = "strength-median", "clopper-pearson"
# Chains that have not converged are run anew, longer, and then given up: a row is to be trusted.
ITERATIONS = (10_000, 100_000)

CountsRow = Annotated[list[Annotated[int, Field(ge=0, strict=True)]], Field(min_length=2)]


MEANINGS: Mapping[str, str] = {
    LOW: "Yildirim 2025: lower end of the 90 % interval of ε, from attacks' errors",
    MEDIAN: "Yildirim 2025: posterior median of ε",
    HIGH: "Yildirim 2025: upper end of the 90 % interval of ε",
    STRENGTH: "Yildirim 2025: posterior median of the attacks' strength, 0 to 1",
    PROVED: "the largest lower bound on ε that the errors prove at 90 %",
}


class McmcComputation(Computation):
    """What the computations share: δ, and the variance of the half-normal prior of ε."""

    metric = "epsilon"
    meanings: ClassVar[Mapping[str, str]] = MEANINGS

    delta: Annotated[float, Field(ge=0, lt=1, strict=True)] = 0.01
    prior_variance: Annotated[float, Field(gt=0, strict=True)] = 10.0
    seed: int = 0

    def _point(self, suite: str, mechanism: str, label: str, asked: dict[str, Any]) -> Point:
        nothing = ApproxDP(inf, self.delta, Relation.ADD_REMOVE)
        common = {"delta": self.delta, "prior_variance": self.prior_variance, "seed": self.seed}
        promise = Promise("none", inf, self.delta, nothing, common)
        return Point(suite, self, mechanism, promise, label, 0.0, asked)

    def _sample(
        self, counts: mcmc.Counts, likelihood: mcmc.Likelihood, asked: Mapping[str, Any]
    ) -> dict[str, float]:
        rng_axes = {**asked, "seed": self.seed}
        return sample_posterior(counts, likelihood, self.delta, self.prior_variance, rng_axes)


def sample_posterior(
    counts: mcmc.Counts,
    likelihood: mcmc.Likelihood,
    delta: float,
    prior_variance: float,
    axes: Mapping[str, Any],
) -> dict[str, float]:
    """The values of a row, from chains that converged; ``axes`` name the random stream."""
    from reconbench.bounds.audit import mcmc

    for iterations in ITERATIONS:
        posterior = mcmc.estimate(
            counts,
            delta,
            rng=make_stream("posterior of epsilon", axes),
            prior=mcmc.Prior(prior_variance),
            likelihood=likelihood,
            settings=mcmc.Settings(iterations=iterations),
        )
        if posterior.converged:
            break
    else:
        raise ComputationError(
            f"no posterior of epsilon after {ITERATIONS[-1]:,} iterations: {posterior.warnings[0]}"
        )
    return {
        LOW: posterior.epsilon.lower,
        MEDIAN: posterior.epsilon.median,
        HIGH: posterior.epsilon.upper,
        STRENGTH: posterior.strength.median,
        PROVED: mcmc.best_lower_bound(counts, delta).lower,
    }


class McmcStrength(McmcComputation):
    """One attack with equal error rates, its strength fixed: figure 2, by integration."""

    reference = "Yildirim 2025, figure 2"

    compute: Literal["mcmc-strength"]
    strength: Shares
    challenges: Wholes
    error: Share = 0.4

    def points(self, suite: str) -> Iterator[Point]:
        for count in self.challenges:
            for strength in self.strength:
                asked = {"challenges": count, "strength": strength, "error": self.error}
                label = f"{count} challenges, strength {strength:g}"
                yield self._point(suite, "counts", label, asked)

    def evaluate(self, point: Point) -> dict[str, float]:
        from reconbench.bounds.audit import mcmc

        challenges, strength = point.asked["challenges"], point.asked["strength"]
        wrong = round(self.error * challenges)
        counts = mcmc.Counts.of([(wrong, challenges, wrong, challenges)])
        prior = mcmc.Prior(self.prior_variance, mcmc.FixedStrength(strength))
        posterior = mcmc.grid_posterior(counts, self.delta, prior)
        low, median, high = map(float, posterior.epsilon_quantile([0.05, 0.5, 0.95]))
        proved = mcmc.best_lower_bound(counts, self.delta).lower
        return {LOW: low, MEDIAN: median, HIGH: high, STRENGTH: strength, PROVED: proved}


class McmcCounts(McmcComputation):
    """Several attacks with given counts out of ``challenges`` each: figure 3."""

    reference = "Yildirim 2025, figure 3"

    compute: Literal["mcmc-counts"]
    scenario: Annotated[str, Field(min_length=1)]
    false_positives: CountsRow
    false_negatives: CountsRow
    challenges: Whole

    @model_validator(mode="after")
    def _check_counts(self) -> Self:
        if len(self.false_positives) != len(self.false_negatives):
            raise ValueError(
                f"{len(self.false_positives)} false_positives and {len(self.false_negatives)} "
                "false_negatives; give one of each per attack"
            )
        most = max(*self.false_positives, *self.false_negatives)
        if most > self.challenges:
            raise ValueError(
                f"{most} errors in {self.challenges} challenges; give at most {self.challenges}"
            )
        return self

    def points(self, suite: str) -> Iterator[Point]:
        names = {"false_positives", "false_negatives", "challenges"}
        yield self._point(suite, "counts", self.scenario, self.model_dump(include=names))

    def evaluate(self, point: Point) -> dict[str, float]:
        from reconbench.bounds.audit import mcmc

        pairs = zip(self.false_positives, self.false_negatives, strict=True)
        rows = [(x, self.challenges, y, self.challenges) for x, y in pairs]
        return self._sample(mcmc.Counts.of(rows), mcmc.IndependentBinomial(), point.asked)
