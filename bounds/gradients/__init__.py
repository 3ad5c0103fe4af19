"""Records from noisy gradients, after Riess 2026.

- `laws`: the error laws of the from-scratch estimate, identification, and the risk corridor.
- `report`: all of them for one step of DP-SGD, and the noise for a risk, ready for JSON.
"""

from reconbench.bounds.gradients.laws import (
    Corridor,
    GradientError,
    attack_variance,
    hit_probability,
    identification,
    identification_sigma,
    mse_at_most_in_training,
    mse_to_psnr,
    ncc_at_least,
    ncc_population,
    psnr_to_mse,
    risk_corridor,
    rows_needed,
    scratch_sigma,
    zero_guess_error,
)
from reconbench.bounds.gradients.report import (
    Asked,
    FromScratch,
    gradient_curves,
    gradient_noise,
    gradient_report,
)

__all__ = [
    "Asked",
    "Corridor",
    "FromScratch",
    "GradientError",
    "attack_variance",
    "gradient_curves",
    "gradient_noise",
    "gradient_report",
    "hit_probability",
    "identification",
    "identification_sigma",
    "mse_at_most_in_training",
    "mse_to_psnr",
    "ncc_at_least",
    "ncc_population",
    "psnr_to_mse",
    "risk_corridor",
    "rows_needed",
    "scratch_sigma",
    "zero_guess_error",
]
