"""What the chains found: posterior summaries, and whether to trust them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reconbench.bounds import _validate
from reconbench.bounds.audit.mcmc.counts import COLUMNS, Counts
from reconbench.bounds.audit.mcmc.diagnostics import (
    autocorrelation,
    bulk_size,
    by_arviz,
    rank_rhat,
    tail_size,
)
from reconbench.bounds.audit.mcmc.gdp.model import GdpPrior
from reconbench.bounds.audit.mcmc.model import CorrelatedNormal, FixedStrength, Likelihood, Prior
from reconbench.bounds.guarantees.relation import Relation

Floats = NDArray[np.float64]

REGION, GDP = "region", "gdp"
REFERENCES = {
    REGION: "Yildirim 2025, Algorithm 1",
    GDP: "errors between the curve of μ-GDP (Dong, Roth and Su 2022) and chance",
}
LARGEST_RHAT = 1.01
LEAST_SIZE = 400
LEAST_ACCEPTANCE = 0.05


@dataclass(frozen=True)
class Run:
    """What was estimated from what."""

    counts: Counts
    delta: float
    relation: Relation
    prior: Prior | GdpPrior
    likelihood: Likelihood

    @property
    def model(self) -> str:
        """`region`, errors spread over R(ε, δ), or `gdp`, those of a Gaussian mechanism."""
        return GDP if isinstance(self.prior, GdpPrior) else REGION


@dataclass(frozen=True)
class Summary:
    """One parameter: posterior median, central interval at `level`, and how well it is known.

    `rhat` is nan and nothing is to be learnt where the parameter is fixed.
    """

    median: float
    lower: float
    upper: float
    mean: float
    level: float
    rhat: float
    bulk: float
    tail: float

    @classmethod
    def of(cls, trace: Floats, level: float) -> Summary:
        """From a (chains, iterations) trace."""
        tail = (1 - level) / 2
        lower, median, upper = (float(q) for q in np.quantile(trace, [tail, 0.5, 1 - tail]))
        sizes = rank_rhat(trace), bulk_size(trace), tail_size(trace)
        return cls(median, lower, upper, float(trace.mean()), level, *sizes)

    def to_json(self) -> dict[str, float | None]:
        values = {
            "median": self.median,
            "lower": self.lower,
            "upper": self.upper,
            "mean": self.mean,
            "level": self.level,
            "r_hat": self.rhat,
            "ess_bulk": self.bulk,
            "ess_tail": self.tail,
        }
        return {name: value if math.isfinite(value) else None for name, value in values.items()}


@dataclass(frozen=True, eq=False)
class Estimate:
    """Draws (chains, iterations, parameters) of ε, s and, for correlated counts, τ and ρ.

    Under the gdp model they are of ε, s and μ; ε is that of μ at δ.
    """

    run: Run
    draws: Floats
    acceptance: Floats
    level: float = 0.9

    def __post_init__(self) -> None:
        _validate.strictly_between_zero_and_one("level", self.level)

    @property
    def names(self) -> tuple[str, ...]:
        if self.run.model == GDP:
            return ("epsilon", "strength", "mu")
        correlated = isinstance(self.run.likelihood, CorrelatedNormal)
        return ("epsilon", "strength", "tau", "rho") if correlated else ("epsilon", "strength")

    def trace(self, name: str) -> Floats:
        """The (chains, iterations) draws of a parameter, by its name."""
        if name not in self.names:
            raise ValueError(f"name must be one of {', '.join(self.names)}, got {name!r}")
        return np.asarray(self.draws[:, :, self.names.index(name)], dtype=np.float64)

    @cached_property
    def summaries(self) -> dict[str, Summary]:
        return {name: Summary.of(self.trace(name), self.level) for name in self.names}

    @property
    def epsilon(self) -> Summary:
        return self.summaries["epsilon"]

    @property
    def strength(self) -> Summary:
        return self.summaries["strength"]

    def autocorrelation(self, name: str = "epsilon", lags: int = 100) -> Floats:
        return autocorrelation(self.trace(name), lags)

    def arviz(self) -> dict[str, dict[str, float]]:
        """What ArviZ says of each parameter, Monte Carlo errors included (extra ``arviz``)."""
        return {name: by_arviz(self.trace(name)) for name in self.names}

    def probability_above(self, epsilon: float) -> float:
        """The posterior probability that ε is larger."""
        return float((self.trace("epsilon") > epsilon).mean())

    @cached_property
    def warnings(self) -> tuple[str, ...]:
        """Why not to trust the draws, if anything; each with what to do."""
        found = []
        fixed = isinstance(self.run.prior.strength, FixedStrength)
        for name, each in self.summaries.items():
            # ε of the gdp model is a function of μ, and constant where it is 0.
            derived = name == "epsilon" and self.run.model == GDP
            if derived or (name == "strength" and fixed):
                continue
            # Written so that nan, a chain that never moved, counts.
            if not each.rhat <= LARGEST_RHAT:
                found.append(
                    f"R-hat of {name} is {each.rhat:.3f}, above {LARGEST_RHAT}: "
                    "the chains disagree; ask for more iterations"
                )
            size = min(each.bulk, each.tail)
            if size < LEAST_SIZE:
                found.append(
                    f"{name} has {size:.0f} effective draws, fewer than {LEAST_SIZE}: "
                    "ask for more iterations or a larger K"
                )
        if self.acceptance.min() < LEAST_ACCEPTANCE:
            found.append(
                f"only {100 * self.acceptance.min():.1f} % of the proposals were accepted in a "
                "chain: ask for a larger K"
            )
        return tuple(found)

    @property
    def converged(self) -> bool:
        return not self.warnings

    def to_json(self) -> dict[str, Any]:
        """Plain values for `json.dumps`; None stands for what is not a number."""
        counts = self.run.counts
        return {
            "method": "MCMC-DP-Est",
            "model": self.run.model,
            "reference": REFERENCES[self.run.model],
            "relation": self.run.relation.value,
            "delta": self.run.delta,
            "prior": self.run.prior.describe(),
            "prior_variance": self.run.prior.variance,
            "likelihood": self.run.likelihood.describe(),
            "attacks": len(counts),
            "bases": counts.base_count,
            "counts": dict(zip(COLUMNS, counts.columns.T.tolist(), strict=True)),
            "chains": self.draws.shape[0],
            "iterations": self.draws.shape[1],
            **{name: summary.to_json() for name, summary in self.summaries.items()},
            "acceptance": self.acceptance.tolist(),
            "converged": self.converged,
            "warnings": list(self.warnings),
        }
