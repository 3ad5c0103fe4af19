"""Randomised response over any number of values as a guarantee."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from reconbench.bounds import _validate
from reconbench.bounds._validate import FloatArray, positive_integer
from reconbench.bounds.guarantees.polyline import Polyline
from reconbench.bounds.guarantees.relation import RECORD, Relation, represent
from reconbench.bounds.guarantees.tabulated import PiecewiseLinear


@dataclass(frozen=True)
class RandomisedResponse(PiecewiseLinear):
    """One value out of `values`, reported as it is or, e^ε times less likely each, as another.

    Under replace-one neighbours (the reporting person's value changes), the unit being the report.
    """

    values: int
    epsilon: float
    relation: Relation = Relation.REPLACE_ONE
    unit: str = RECORD

    __repr__ = represent

    def __post_init__(self) -> None:
        if positive_integer("values", self.values) < 2:
            raise ValueError(f"values must be at least 2, got {self.values!r}")
        object.__setattr__(self, "epsilon", _validate.positive("epsilon", self.epsilon))

    @property
    def truthful(self) -> float:
        """p = e^ε/(e^ε + m − 1), the probability of reporting the true value."""
        return 1 / (1 + (self.values - 1) * math.exp(-self.epsilon))

    @property
    def each_other(self) -> float:
        """q = 1/(e^ε + m − 1), the probability of each other value."""
        return self.truthful * math.exp(-self.epsilon)

    @cached_property
    def line(self) -> Polyline:
        """Reject on the alternative's own report, then on all but the null's, then always."""
        p, q = self.truthful, self.each_other
        rest = (self.values - 1) * q
        return Polyline(
            np.array([0.0, q, rest, 1.0]),
            np.array([1.0, rest, q, 0.0]),
            np.array([0.0, p, 1 - q, 1.0]),
        )

    def renyi(self, orders: ArrayLike) -> FloatArray:
        """ε(t) = log(p^t q^(1−t) + q^t p^(1−t) + (m − 2) q)/(t − 1)."""
        t = np.asarray(orders, dtype=np.float64)
        if math.isinf(self.epsilon):
            return np.full(t.shape, math.inf)
        log_p = math.log(self.truthful)
        log_q = log_p - self.epsilon
        two = np.logaddexp(t * log_p + (1 - t) * log_q, t * log_q + (1 - t) * log_p)
        with np.errstate(divide="ignore"):
            others = np.log(float(self.values - 2)) + log_q
        return np.asarray(np.logaddexp(two, others) / (t - 1))

    def describe(self) -> str:
        return (
            f"randomised response over {self.values} values, epsilon {self.epsilon:g}, "
            f"{self.relation.value}"
        )
