"""Laplace noise as a guarantee."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from reconbench.bounds import _validate
from reconbench.bounds._validate import FloatArray, positive_integer
from reconbench.bounds.guarantees.relation import RECORD, Relation, represent


@dataclass(frozen=True)
class LaplaceDP:
    """Laplace noise: no easier to test than Lap(0, 1) against Lap(r, 1), r = sensitivity/scale.

    It is r-DP, and more than that: between its kinks the curve lies above that of pure r-DP.
    """

    ratio: float
    relation: Relation = Relation.REPLACE_ONE
    unit: str = RECORD

    __repr__ = represent

    def __post_init__(self) -> None:
        object.__setattr__(self, "ratio", _validate.non_negative("ratio", self.ratio))

    def tradeoff(self, alpha: ArrayLike) -> FloatArray:
        level = _validate.probabilities("alpha", alpha)
        if math.isinf(self.ratio):
            return np.zeros_like(level)
        return self._edge(level)[1]

    def power(self, alpha: ArrayLike) -> FloatArray:
        level = _validate.probabilities("alpha", alpha)
        if math.isinf(self.ratio):
            return np.ones_like(level)
        return self._edge(level)[0]

    def _edge(self, level: FloatArray) -> tuple[FloatArray, FloatArray]:
        """1 − f(α) and f(α), in logarithms: e^r and e^−r leave the doubles long before r does."""
        with np.errstate(divide="ignore"):
            log_level = np.log(level)
        low, middle = log_level < -self.ratio - math.log(2), level < 0.5
        # Dong, Roth and Su 2022, section 2: f(α) = 1 − e^r α, then e^−r/(4α), then e^−r (1 − α).
        steep = np.exp(np.where(low, self.ratio + log_level, -math.inf))
        inner = np.exp(np.where(~low & middle, -self.ratio - math.log(4) - log_level, -math.inf))
        beta = np.where(middle, inner, math.exp(-self.ratio) * (1 - level))
        return np.where(low, steep, 1 - beta), np.where(low, 1 - steep, beta)

    def delta_at(self, epsilon: float) -> float:
        at = _validate.non_negative("epsilon", epsilon)
        if math.isinf(self.ratio):
            return 1.0
        # δ(ε) = max{0, 1 − e^((ε − r)/2)}
        return -math.expm1((at - self.ratio) / 2) if at < self.ratio else 0.0

    def epsilon_at(self, delta: float) -> float:
        return max(0.0, self.ratio + 2 * math.log1p(-_validate.below_one("delta", delta)))

    def total_variation(self) -> float:
        return self.delta_at(0.0)

    def renyi(self, orders: ArrayLike) -> FloatArray:
        """ε(t) (Mironov 2017, Proposition 6)."""
        t = np.asarray(orders, dtype=np.float64)
        if math.isinf(self.ratio):
            return np.full(t.shape, math.inf)
        # (t − 1) ε(t) = log(t e^((t−1) r) + (t − 1) e^−tr) − log(2t − 1)
        moment = np.logaddexp(np.log(t) + (t - 1) * self.ratio, np.log(t - 1) - t * self.ratio)
        return np.asarray((moment - np.log(2 * t - 1)) / (t - 1))

    def group(self, size: int) -> LaplaceDP:
        """n times the ratio: shifting Laplace noise n times is one shift, n times as far."""
        ratio = positive_integer("size", size) * self.ratio
        return LaplaceDP(ratio, self.relation, self.unit)

    def describe(self) -> str:
        return f"Laplace noise of scale 1/{self.ratio:g} of the sensitivity, {self.relation.value}"
