"""Privacy guarantees as trade-off curves, and the ceilings on reconstruction that follow.

Needs numpy and scipy only.
"""

if __name__ != "reconbench.bounds":
    raise ImportError("import this package as reconbench.bounds, not as bounds")

from .ceilings import (
    BOUNDS,
    CONFIDENCES,
    BoundInfo,
    Corollary34,
    HighProbabilityBound,
    Theorem32,
    Theorem35,
    beta,
    corollary_3_4,
    run_tail,
    theorem_3_2,
    theorem_3_5,
)
from .compact_tail import CompactTail
from .guarantees import ApproxDP, GaussianDP, Guarantee, PureDP, Relation, gaussian_mu
from .poisson_binomial import PoissonBinomial

__all__ = [
    "BOUNDS",
    "CONFIDENCES",
    "ApproxDP",
    "BoundInfo",
    "CompactTail",
    "Corollary34",
    "GaussianDP",
    "Guarantee",
    "HighProbabilityBound",
    "PoissonBinomial",
    "PureDP",
    "Relation",
    "Theorem32",
    "Theorem35",
    "beta",
    "corollary_3_4",
    "gaussian_mu",
    "run_tail",
    "theorem_3_2",
    "theorem_3_5",
]
