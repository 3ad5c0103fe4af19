"""What an attacker wants, sees, does and returns.

Read ``base`` first: the contract of an attack, what it sees (AttackerView) and what it returns
(Reconstruction). ``metrics`` says what counts as a success. The attacks:

- ``baselines``, ``imputation``: never look at the release
- ``marginals``, ``rap``, ``posterior``: on noisy marginals
- ``synthetic``: on synthetic tables
- ``rad_optimal``: on local reports and noisy sums, of largest reconstruction advantage
- ``gradient_inversion``: on noisy gradients
- ``extraction``: on n-gram language models
- ``membership``: on trained models; it infers membership, for audits, and plays no game

``judges`` says what any guess is worth given the release: the score without the luck of the draw.
"""

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
    AnyGuess,
    ColumnsRight,
    EnumeratedMetric,
    ExactMatch,
    Metric,
    MetricError,
    WithinL1,
)

__all__ = [
    "AnyGuess",
    "Attack",
    "AttackError",
    "AttackerView",
    "BestPossible",
    "ColumnsRight",
    "EnumeratedMetric",
    "ExactMatch",
    "Metric",
    "MetricError",
    "Reconstruction",
    "WithinL1",
    "check_reconstruction",
    "skip_reason",
]
