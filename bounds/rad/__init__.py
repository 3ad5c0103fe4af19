"""Reconstruction advantage: what an attack gains because its target took part.

After Guerra-Balboa 2026, "Understanding Disclosure Risk in Differential Privacy", with the printed
statements that do not hold corrected. Needs numpy and scipy only.

- `report`: every bound that holds for a mechanism, a prior and a knowledge. Start here.
- `secret`: what is guessed: prior, what the attacker knows, the error within which a guess counts.
- `black_box`, `exact`, `exact_aux`: what follows from a guarantee, as functions; `guarantee_bounds`
  has them as objects that say where they hold.
- `channel`, `ldp`, `location`, `monte_carlo`: exact values of known mechanisms; `known_mechanism`
  has them with their guarantees.
"""

from reconbench.bounds.rad._inputs import as_prior
from reconbench.bounds.rad.black_box import (
    dp_sgd_rad,
    dp_sgd_sigma,
    epsilon_any,
    epsilon_uniform,
    rad_any,
    rad_any_aux,
    rad_approx_no_aux,
    rad_composed,
    rad_no_aux,
    rad_perfect,
    rad_uniform,
    total_variation_approx,
)
from reconbench.bounds.rad.channel import (
    FiniteChannel,
    chance_range,
    optimal_attack,
    rad_finite,
    rad_given,
    rad_grr_within,
    rad_membership,
    success_within,
)
from reconbench.bounds.rad.exact import (
    epsilon_exact,
    rad_exact,
    rad_profile,
    rad_profile_aux,
    rad_pure_aux,
)
from reconbench.bounds.rad.exact_aux import rad_exact_aux
from reconbench.bounds.rad.known_mechanism import KnownMechanism, LocalReports, LocationNoise
from reconbench.bounds.rad.ldp import (
    GRR,
    OUE,
    SubsetSelection,
    SupportChannel,
    epsilon_grr,
    epsilon_oue,
    epsilon_ss,
    rad_grr,
    rad_oue,
    rad_ss,
)
from reconbench.bounds.rad.location import (
    Enclosure,
    GaussianNoise,
    LaplaceNoise,
    Noise,
    rad_gaussian,
    rad_laplace,
    rad_location,
    rad_uniform_location,
)
from reconbench.bounds.rad.monte_carlo import (
    Continuous,
    Interval,
    Likelihoods,
    SampledAttack,
    optimal_sampled,
    rad_nested,
    rad_sampled,
)
from reconbench.bounds.rad.report import rad_curves, rad_report
from reconbench.bounds.rad.secret import Knowledge, Secret

__all__ = [
    "GRR",
    "OUE",
    "Continuous",
    "Enclosure",
    "FiniteChannel",
    "GaussianNoise",
    "Interval",
    "Knowledge",
    "KnownMechanism",
    "LaplaceNoise",
    "Likelihoods",
    "LocalReports",
    "LocationNoise",
    "Noise",
    "SampledAttack",
    "Secret",
    "SubsetSelection",
    "SupportChannel",
    "as_prior",
    "chance_range",
    "dp_sgd_rad",
    "dp_sgd_sigma",
    "epsilon_any",
    "epsilon_exact",
    "epsilon_grr",
    "epsilon_oue",
    "epsilon_ss",
    "epsilon_uniform",
    "optimal_attack",
    "optimal_sampled",
    "rad_any",
    "rad_any_aux",
    "rad_approx_no_aux",
    "rad_composed",
    "rad_curves",
    "rad_exact",
    "rad_exact_aux",
    "rad_finite",
    "rad_gaussian",
    "rad_given",
    "rad_grr",
    "rad_grr_within",
    "rad_laplace",
    "rad_location",
    "rad_membership",
    "rad_nested",
    "rad_no_aux",
    "rad_oue",
    "rad_perfect",
    "rad_profile",
    "rad_profile_aux",
    "rad_pure_aux",
    "rad_report",
    "rad_sampled",
    "rad_ss",
    "rad_uniform",
    "rad_uniform_location",
    "success_within",
    "total_variation_approx",
]
