"""Laplace noise as a guarantee."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from reconbench.bounds import _validate
from reconbench.bounds._validate import FloatArray, positive_integer
from reconbench.bounds.guarantees.relation import RECORD, Relation


@dataclass(frozen=True)
class LaplaceDP:
    """Laplace noise: no easier to test than Lap(0, 1) against Lap(r, 1), r = sensitivity/scale.

    It is r-DP, and more than that: between its kinks the curve lies above that of pure r-DP.
    """

    ratio: float
    relation: Relation = Relation.REPLACE_ONE
    unit: str = RECORD

    def __post_init__(self) -> None:
        object.__setattr__(self, "ratio", _validate.non_negative("ratio", self.ratio))

    def tradeoff(self, alpha: ArrayLike) -> FloatArray:
        level = _validate.probabilities("alpha", alpha)
        if math.isinf(self.ratio):
            return np.zeros_like(level)
        low, factor = level < math.exp(-self.ratio) / 2, math.exp(-self.ratio)
        # Dong, Roth and Su 2022, section 2: f(α) = 1 − e^r α, then e^−r/(4α), then e^−r (1 − α).
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            steep = 1 - np.exp(self.ratio) * level
            middle = factor / (4 * level)
        return np.where(low, steep, np.where(level < 0.5, middle, factor * (1 - level)))

    def power(self, alpha: ArrayLike) -> FloatArray:
        level = _validate.probabilities("alpha", alpha)
        if math.isinf(self.ratio):
            return np.ones_like(level)
        low, factor = level < math.exp(-self.ratio) / 2, math.exp(-self.ratio)
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            steep = np.exp(self.ratio) * level
            middle = 1 - factor / (4 * level)
        return np.where(low, steep, np.where(level < 0.5, middle, 1 - factor * (1 - level)))

    def delta_at(self, epsilon: float) -> float:
        at = _validate.non_negative("epsilon", epsilon)
        if math.isinf(self.ratio):
            return 1.0
        # δ(ε) = max{0, 1 − e^((ε − r)/2)}
        return max(0.0, -math.expm1((at - self.ratio) / 2))

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
