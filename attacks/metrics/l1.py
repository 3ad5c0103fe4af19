"""Within an L1 error: the guess is close on ordinal columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from reconbench.attacks.metrics.base import Codes, Floats, MetricError
from reconbench.attacks.metrics.within_distance import WithinDistance
from reconbench.datasets import Domain


@dataclass(frozen=True)
class WithinL1(WithinDistance):
    """The codes of ordinal columns are off by at most ``error`` in sum (Swanberg 2025, 6.4).

    Args:
        error: The largest sum of differences that is a success.

    Example:
        >>> import reconbench as rb
        >>> rb.WithinL1(1).name
        'l1:1'
    """

    error: int

    def __post_init__(self) -> None:
        if self.error < 0:
            raise MetricError(f"the L1 error must be 0 or more, got {self.error}")

    @classmethod
    def parse(cls, parameter: str) -> Self:
        """``E`` of ``l1:E``, a whole number."""
        if not parameter.isdecimal():
            raise MetricError(
                f"metric l1 needs a whole number after the colon, such as l1:2, got {parameter!r}"
            )
        return cls(int(parameter))

    @property
    def name(self) -> str:
        return f"l1:{self.error}"

    def check(self, domain: Domain, targets: Sequence[str]) -> None:
        super().check(domain, targets)
        for target in targets:
            attribute = domain[target]
            if attribute.edges is not None and attribute.missing_label is not None:
                raise MetricError(
                    f"column {target!r} has the label {attribute.missing_label!r} for missing "
                    "values, and an L1 error to it means nothing; drop these records instead, or "
                    "use another metric"
                )
            if not attribute.ordinal:
                ordinal = ", ".join(each.name for each in domain if each.ordinal)
                raise MetricError(
                    f"column {target!r} is not ordinal, so an L1 error means nothing on it; "
                    f"ordinal columns: {ordinal or 'none'}"
                )

    def get_limit(self, columns: int) -> int:
        return self.error

    def measure(self, truth: Codes, guess: Codes) -> Codes:
        return np.asarray(np.abs(truth - guess))

    def _mass_within(self, joint: Floats, limit: int) -> Floats:
        if joint.ndim > 2:
            return super()._mass_within(joint, limit)
        # One column: a difference of running sums, however large the error.
        size = joint.shape[1]
        total = np.concatenate([np.zeros((len(joint), 1)), joint.cumsum(axis=1)], axis=1)
        codes = np.arange(size)
        high, low = np.minimum(codes + limit + 1, size), np.maximum(codes - limit, 0)
        mass: Floats = np.maximum(total[:, high] - total[:, low], 0.0)
        return mass
