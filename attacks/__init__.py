"""What an attacker wants, sees, does and returns."""

if __name__ != "reconbench.attacks":
    raise ImportError("import this package as reconbench.attacks, not as attacks")

from reconbench.attacks.base import (
    Attack,
    AttackError,
    AttackerView,
    BestPossible,
    Reconstruction,
    check_reconstruction,
    skip_reason,
)
from reconbench.attacks.metrics import (
    EnumeratedMetric,
    ExactMatch,
    Metric,
    MetricError,
    WithinL1,
)

__all__ = [
    "Attack",
    "AttackError",
    "AttackerView",
    "BestPossible",
    "EnumeratedMetric",
    "ExactMatch",
    "Metric",
    "MetricError",
    "Reconstruction",
    "WithinL1",
    "check_reconstruction",
    "skip_reason",
]
