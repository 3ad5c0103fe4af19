"""ε and attack strength from counts of membership attacks (Yildirim 2025, MCMC-DP-Est).

The chains load numba when they first run.
"""

from reconbench.bounds.audit.mcmc.check import PredictiveCheck, check_model
from reconbench.bounds.audit.mcmc.compare import best_lower_bound, clopper_pearson, joint_beta
from reconbench.bounds.audit.mcmc.counts import Counts, CountsError, read_counts
from reconbench.bounds.audit.mcmc.estimate import Estimate, Run, Summary
from reconbench.bounds.audit.mcmc.gdp.model import GdpPrior, attack_mu, gdp_epsilon
from reconbench.bounds.audit.mcmc.grid import ErrorPosterior, GridPosterior, grid_posterior
from reconbench.bounds.audit.mcmc.model import (
    BetaStrength,
    CorrelatedNormal,
    FixedStrength,
    IndependentBinomial,
    Likelihood,
    Prior,
    epsilon_level,
    hypotheses,
    in_region,
    in_strip,
    known_delta,
    region_area,
    strip_area,
)
from reconbench.bounds.audit.mcmc.sampler import Settings, estimate, estimate_run
from reconbench.bounds.audit.mcmc.sensitivity import estimate_at, other_priors, prior_sensitivity

__all__ = [
    "BetaStrength",
    "CorrelatedNormal",
    "Counts",
    "CountsError",
    "ErrorPosterior",
    "Estimate",
    "FixedStrength",
    "GdpPrior",
    "GridPosterior",
    "IndependentBinomial",
    "Likelihood",
    "PredictiveCheck",
    "Prior",
    "Run",
    "Settings",
    "Summary",
    "attack_mu",
    "best_lower_bound",
    "check_model",
    "clopper_pearson",
    "epsilon_level",
    "estimate",
    "estimate_at",
    "estimate_run",
    "gdp_epsilon",
    "grid_posterior",
    "hypotheses",
    "in_region",
    "in_strip",
    "joint_beta",
    "known_delta",
    "other_priors",
    "prior_sensitivity",
    "read_counts",
    "region_area",
    "strip_area",
]
