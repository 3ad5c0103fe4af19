"""What gets released: mechanisms, their releases and their guarantees."""

if __name__ != "reconbench.mechanisms":
    raise ImportError("import this package as reconbench.mechanisms, not as mechanisms")

from reconbench.mechanisms.base import Mechanism, MechanismError, Release
from reconbench.mechanisms.marginals import (
    ExactMarginals,
    GaussianMarginals,
    MarginalsRelease,
    Workload,
)

__all__ = [
    "ExactMarginals",
    "GaussianMarginals",
    "MarginalsRelease",
    "Mechanism",
    "MechanismError",
    "Release",
    "Workload",
]
