"""What counts as a success, record by record.

``base`` holds the contract; ``exact``, ``columns`` and ``l1`` are the shipped metrics, the last two
by a distance (``within_distance``), and ``any_guess`` lets any guess count for any record;
``enumerated`` is a base class for metrics of your own, which
need no more than a score. A metric also knows what the prior alone achieves on it: the chance that
a given guess succeeds on a fresh record, and the best guess. Baselines and ceilings are read off
these, so they move with the metric.
"""

from reconbench.attacks.metrics.any_guess import AnyGuess
from reconbench.attacks.metrics.base import (
    Metric,
    MetricError,
    bound_success,
    scores_by_record,
)
from reconbench.attacks.metrics.columns import ColumnsRight
from reconbench.attacks.metrics.enumerated import EnumeratedMetric
from reconbench.attacks.metrics.exact import ExactMatch
from reconbench.attacks.metrics.l1 import WithinL1

__all__ = [
    "AnyGuess",
    "ColumnsRight",
    "EnumeratedMetric",
    "ExactMatch",
    "Metric",
    "MetricError",
    "WithinL1",
    "bound_success",
    "scores_by_record",
]
