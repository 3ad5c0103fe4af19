"""A trade-off curve given by its vertices."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from reconbench.bounds import _validate
from reconbench.bounds._validate import FloatArray, positive_integer
from reconbench.bounds.guarantees.polyline import Polyline
from reconbench.bounds.guarantees.relation import RECORD, Relation, represent

# Rounding in a computed curve stays far below; a real violation is far above.
_TOLERANCE = 1e-12


class PiecewiseLinear(ABC):
    """What all guarantees with a piecewise-linear curve share."""

    relation: Relation
    unit: str

    @property
    @abstractmethod
    def line(self) -> Polyline:
        """The vertices of f."""

    def tradeoff(self, alpha: ArrayLike) -> FloatArray:
        return self.line.tradeoff(alpha)

    def power(self, alpha: ArrayLike) -> FloatArray:
        return self.line.power(alpha)

    def delta_at(self, epsilon: float) -> float:
        return self.line.delta(_validate.non_negative("epsilon", epsilon))

    def epsilon_at(self, delta: float) -> float:
        return self.line.epsilon(_validate.below_one("delta", delta))

    def total_variation(self) -> float:
        return self.delta_at(0.0)

    def group(self, size: int) -> TabulatedCurve:
        """f^(n), n = size (Dong, Roth and Su 2022, Theorem 2.14)."""
        n = positive_integer("size", size)
        return TabulatedCurve.of(self.line.group(n), self.relation, self.unit)


@dataclass(frozen=True, eq=False)
class TabulatedCurve(PiecewiseLinear):
    """The piecewise-linear trade-off curve through (alphas[k], betas[k]), from α = 0 to α = 1.

    The curve itself is the guarantee: between the points it is the straight line. Points read off
    a smooth convex curve promise too much in between; state such a curve as a `PrivacyProfile`,
    whose pairs lie below it everywhere.

    A curve must be convex, never increase and stay at or below 1 − α (Dong, Roth and Su 2022,
    Proposition 2.2). `powers` is 1 − betas, for betas too close to 1 to carry it. `label` is
    how the curve describes itself.
    """

    alphas: FloatArray
    betas: FloatArray
    relation: Relation = Relation.REPLACE_ONE
    unit: str = RECORD
    powers: FloatArray | None = None
    label: str = ""

    __repr__ = represent

    def __post_init__(self) -> None:
        alphas = _validate.probability_vector("alphas", self.alphas)
        betas = _validate.probability_vector("betas", self.betas)
        if alphas.size != betas.size:
            raise ValueError(
                f"alphas and betas must have the same length, got {alphas.size} and {betas.size}"
            )
        _check_tradeoff(alphas, betas)
        powers = 1 - betas if self.powers is None else self.powers
        powers = _validate.probability_vector("powers", powers)
        if powers.size != betas.size or not np.allclose(powers, 1 - betas, rtol=0, atol=1e-9):
            raise ValueError("powers must be 1 − betas, value by value, got something else")
        object.__setattr__(self, "alphas", alphas)
        object.__setattr__(self, "betas", betas)
        object.__setattr__(self, "powers", powers)

    @classmethod
    def of(cls, line: Polyline, relation: Relation, unit: str) -> TabulatedCurve:
        """The guarantee that a computed polyline stands for."""
        return cls(line.alphas, line.betas, relation, unit, line.powers)

    @cached_property
    def line(self) -> Polyline:
        """The vertices as a `Polyline`."""
        assert self.powers is not None
        return Polyline(self.alphas, self.betas, self.powers)

    def describe(self) -> str:
        label = self.label or f"a curve of {self.alphas.size} points"
        return f"{label}, {self.relation.value}"


def _check_tradeoff(alphas: FloatArray, betas: FloatArray) -> None:
    """Refuse what is not a trade-off curve on [0, 1], naming the first point that is at fault."""
    if alphas[0] != 0 or alphas[-1] != 1:
        raise ValueError(
            f"alphas must run from 0 to 1, got {alphas[0]} to {alphas[-1]}: add the end points "
            "(the last one with beta 0)"
        )
    if np.any(np.diff(alphas) < 0):
        k = int(np.argmax(np.diff(alphas) < 0))
        raise ValueError(f"alphas must not decrease, got {alphas[k + 1]} after {alphas[k]}")
    above = betas > 1 - alphas + _TOLERANCE
    if above.any():
        k = int(np.argmax(above))
        raise ValueError(
            f"a trade-off curve must not exceed 1 − alpha, got beta {betas[k]} at alpha "
            f"{alphas[k]}: guessing at random does better than that"
        )
    rises = np.diff(betas) > _TOLERANCE
    if rises.any():
        k = int(np.argmax(rises))
        raise ValueError(
            f"betas must not increase with alpha, got {betas[k + 1]} after {betas[k]} "
            f"at alpha {alphas[k + 1]}"
        )
    run, rise = np.diff(alphas), np.diff(betas)
    # Slopes must not decrease; multiplied out, so that vertical steps need no division.
    bends = rise[1:] * run[:-1] < rise[:-1] * run[1:] - _TOLERANCE
    if bends.any():
        k = int(np.argmax(bends)) + 1
        raise ValueError(
            f"a trade-off curve must be convex, got a bend the other way at alpha {alphas[k]}, "
            f"beta {betas[k]}: take its lower convex envelope"
        )
