"""What gets released: mechanisms, their releases and their guarantees.

Read ``base`` first: the contract of a mechanism. The mechanisms:

- ``marginals``: exact, Gaussian and published k-way marginals; ``marginals_csv`` is their file
- ``sums``: noisy sums of one numeric column
- ``local``: GRR, OUE and subset-selection reports; ``channels`` any listed channel of one's own
- ``gradient_steps``: DP-SGD steps on single records, seen by the attacker
- ``ngram_models``: n-gram language models trained by DP-SGD on one secret each
- ``synthetic``: synthetic tables from graphical models and Bayesian networks
- ``training``: small networks trained by SGD or DP-SGD, for audits
"""

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
