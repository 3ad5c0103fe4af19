"""How much the posterior owes to what was chosen: the same counts under other priors or δ."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from reconbench.bounds.audit.mcmc.estimate import Estimate, Run
from reconbench.bounds.audit.mcmc.gdp.model import GdpPrior
from reconbench.bounds.audit.mcmc.model import BetaStrength, FixedStrength, Prior, known_delta
from reconbench.bounds.audit.mcmc.sampler import Settings, estimate_run

AnyPrior = Prior | GdpPrior


def other_priors(prior: AnyPrior) -> tuple[AnyPrior, ...]:
    """A tenth and ten times the variance of ε or μ; strong and weak attacks, if s is free."""
    found = [replace(prior, variance=prior.variance * factor) for factor in (0.1, 10.0)]
    if not isinstance(prior.strength, FixedStrength):
        found += [replace(prior, strength=BetaStrength(a, b)) for a, b in ((3.0, 1.0), (1.0, 3.0))]
    return tuple(found)


def prior_sensitivity(
    run: Run, settings: Settings, rng: np.random.Generator, priors: Iterable[AnyPrior] | None = None
) -> list[Estimate]:
    """One estimate a prior, all else the same; `other_priors` unless given."""
    chosen = other_priors(run.prior) if priors is None else priors
    return [estimate_run(replace(run, prior=prior), settings, rng) for prior in chosen]


def estimate_at(
    run: Run, deltas: Iterable[float], settings: Settings, rng: np.random.Generator
) -> list[Estimate]:
    """One estimate a δ: a mechanism has an ε for every δ, smaller for larger ones."""
    checked = [known_delta(delta) for delta in deltas]
    return [estimate_run(replace(run, delta=delta), settings, rng) for delta in checked]
