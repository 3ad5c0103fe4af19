"""Columns right: at least so many target columns of the record are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from reconbench.attacks.metrics.base import Codes, Floats, MetricError
from reconbench.attacks.metrics.within_distance import WithinDistance
from reconbench.datasets import Domain


@dataclass(frozen=True)
class ColumnsRight(WithinDistance):
    """At least ``least`` of the d target columns are right: a Hamming distance of d − least.

    The share of columns that are right is the mean of this metric over least = 1, …, d.

    Args:
        least: How many columns must be right.

    Example:
        >>> import reconbench as rb
        >>> rb.ColumnsRight(2).name
        'columns:2'
    """

    least: int

    def __post_init__(self) -> None:
        if self.least < 1:
            raise MetricError(f"metric columns needs at least 1 column right, got {self.least}")

    @classmethod
    def parse(cls, parameter: str) -> Self:
        """``M`` of ``columns:M``, a whole number."""
        if not parameter.isdecimal():
            raise MetricError(
                "metric columns needs a whole number after the colon, such as columns:2, got "
                f"{parameter!r}"
            )
        return cls(int(parameter))

    @property
    def name(self) -> str:
        return f"columns:{self.least}"

    def check(self, domain: Domain, targets: Sequence[str]) -> None:
        super().check(domain, targets)
        if self.least > len(targets):
            raise MetricError(
                f"metric {self.name} needs at least {self.least} target columns, got "
                f"{len(targets)}: {', '.join(targets)}"
            )

    def get_limit(self, columns: int) -> int:
        return max(columns - self.least, 0)

    def measure(self, truth: Codes, guess: Codes) -> Codes:
        return np.not_equal(truth, guess).astype(np.int64)

    def decide(self, columns: Sequence[Floats]) -> Codes:
        """Of independent columns each is right most often at its mode, whatever the others are."""
        return np.stack([weights.argmax(axis=-1) for weights in columns], axis=-1)
