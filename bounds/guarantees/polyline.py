"""Piecewise-linear trade-off curves, in exact arithmetic on their vertices.

A curve f is held by its vertices (α_k, f(α_k)), together with the powers 1 − f(α_k): near α = 0
these are small and would lose their digits in the subtraction.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from reconbench.bounds import _validate
from reconbench.bounds._validate import FloatArray

# e^ε stays a double up to here; a pair with a larger ε says nothing that doubles can hold.
MAX_EPSILON = 700.0
_MAX_VERTICES = 40_000
# So many passes over all points at once; where they leave some, point after point.
_PASSES = 12


@dataclass(frozen=True, eq=False)
class Polyline:
    """The convex curve through (alphas, betas), with powers = 1 − betas kept to full precision.

    `alphas` never decrease; where two are equal the lower point counts.
    """

    alphas: FloatArray
    betas: FloatArray
    powers: FloatArray

    @classmethod
    def from_pairs(cls, epsilons: FloatArray, deltas: FloatArray) -> Polyline:
        """f(α) = max over the pairs of max{0, 1 − δ − e^ε α, e^−ε (1 − δ − α)}.

        Dong, Roth and Su 2022, Proposition 2.12: every pair bounds the curve from below, so any
        finite set of them gives a valid one. It is symmetric: f(f(α)) = α where f > 0.
        """
        kept = epsilons <= MAX_EPSILON
        slopes, offsets = _lower_hull(np.exp(epsilons[kept]), deltas[kept])
        if slopes.size == 0:
            return cls(np.array([0.0, 1.0]), np.zeros(2), np.ones(2))
        # The lines 1 − f = δ + e^ε α from the steepest to the flattest, and where they cross.
        slopes, offsets = slopes[::-1], offsets[::-1]
        crossings = np.diff(offsets) / -np.diff(slopes)
        alphas = np.concatenate([[0.0], crossings])
        powers = offsets + slopes * alphas
        # f(α) = α at α = (1 − δ)/(1 + e^ε); beyond, f is its own mirror image.
        middle = float(np.max((1 - offsets) / (1 + slopes)))
        inside = alphas < middle
        alphas, powers = alphas[inside], np.minimum(powers[inside], 1.0)
        betas = 1 - powers
        return cls(
            np.concatenate([alphas, [middle], betas[::-1], [1.0]]),
            np.concatenate([betas, [middle], alphas[::-1], [0.0]]),
            np.concatenate([powers, [1 - middle], 1 - alphas[::-1], [1.0]]),
        )

    def tradeoff(self, alpha: ArrayLike) -> FloatArray:
        """f(α)."""
        return self._interpolate(alpha, self.betas)

    def power(self, alpha: ArrayLike) -> FloatArray:
        """1 − f(α)."""
        return self._interpolate(alpha, self.powers)

    def delta(self, epsilon: float) -> float:
        """δ(ε) = max over α of 1 − f(α) − e^ε α; for a convex polyline a vertex attains it."""
        if epsilon > MAX_EPSILON:
            return float(self.powers[self.alphas == 0].max())
        return max(0.0, float(np.max(self.powers - math.exp(epsilon) * self.alphas)))

    def deltas(self, epsilons: FloatArray) -> FloatArray:
        """δ(ε) at many ε: where the power rises by less than e^ε, it has reached that vertex."""
        alphas, powers = self._hull
        slopes = np.diff(powers) / np.diff(alphas)
        # The slopes of a concave curve fall: count those that are steeper.
        vertex = np.searchsorted(-slopes, -np.exp(np.minimum(epsilons, MAX_EPSILON)))
        with np.errstate(over="ignore", invalid="ignore"):
            reached = powers[vertex] - np.exp(epsilons) * alphas[vertex]
        return np.where(epsilons > MAX_EPSILON, powers[0], np.maximum(reached, 0.0))

    def epsilon(self, delta: float) -> float:
        """The smallest ε ≥ 0 with δ(ε) ≤ δ: e^ε ≥ (1 − f(α_k) − δ)/α_k for every vertex."""
        if self.powers[self.alphas == 0].max() > delta:
            return math.inf
        off = self.alphas > 0
        with np.errstate(divide="ignore"):
            logs = np.log(np.maximum(self.powers[off] - delta, 0.0)) - np.log(self.alphas[off])
        return max(0.0, float(logs.max()))

    def then(self, inner: Polyline) -> Polyline:
        """The curve whose power is this one's power of the inner one's: a chain of neighbours."""
        # A vertex of a composition is a vertex of the inner curve, or maps to one of the outer.
        lifted = np.interp(self.alphas, inner.powers, inner.alphas)
        alphas = np.unique(np.concatenate([inner.alphas, lifted]))
        middle = inner.power(alphas)
        curve = Polyline(alphas, self.tradeoff(middle), self.power(middle))
        return curve.thinned() if alphas.size > _MAX_VERTICES else curve

    def group(self, size: int) -> Polyline:
        """f^(n) = 1 − (1 − f)^∘n (Dong, Roth and Su 2022, Theorem 2.14), n = size."""
        curve = self
        for bit in bin(size)[3:]:
            curve = curve.then(curve)
            curve = self.then(curve) if bit == "1" else curve
        return curve

    def thinned(self) -> Polyline:
        """A curve below this one, from a subset of the (ε, δ) pairs that touch it."""
        rises, runs = np.diff(self.powers), np.diff(self.alphas)
        steep = (runs > 0) & (rises >= runs) & (rises <= runs * math.exp(MAX_EPSILON))
        epsilons = np.log(rises[steep] / runs[steep])
        chosen = np.unique(np.linspace(0, epsilons.size - 1, _MAX_VERTICES // 10).astype(int))
        grid = np.append(epsilons[chosen], 0.0)
        return Polyline.from_pairs(grid, self.deltas(grid))

    @cached_property
    def _hull(self) -> tuple[FloatArray, FloatArray]:
        """The vertices of the least concave curve above the power, up to where it is 1."""
        alphas, misses = _lower_hull(self.alphas, -self.powers)
        return alphas, -misses

    def _interpolate(self, alpha: ArrayLike, values: FloatArray) -> FloatArray:
        level = _validate.probabilities("alpha", alpha)
        # Of several vertices at the same α, np.interp takes the last, which is the lowest.
        return np.asarray(np.interp(level, self.alphas, values), dtype=np.float64)


def _lower_hull(x: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The vertices of the lower convex hull of the points, left to right, while y falls."""
    order = np.lexsort((y, x))
    x, y = x[order], y[order]
    falls = y < np.concatenate([[math.inf], np.minimum.accumulate(y)[:-1]])
    x, y = x[falls], y[falls]
    # A point that lies on or above the chord of its neighbours is no vertex, whatever they are.
    for _ in range(_PASSES):
        slopes = np.diff(y) / np.diff(x)
        convex = np.concatenate([[True], slopes[1:] > slopes[:-1], [True]])[: x.size]
        if convex.all():
            return x, y
        x, y = x[convex], y[convex]
    hull: list[tuple[float, float]] = []
    for px, py in zip(x.tolist(), y.tolist(), strict=True):
        while len(hull) > 1 and _above_chord(hull[-2], hull[-1], (px, py)):
            hull.pop()
        hull.append((px, py))
    points = np.array(hull).reshape(-1, 2)
    return points[:, 0], points[:, 1]


def _above_chord(a: tuple[float, float], b: tuple[float, float], c: tuple[float, float]) -> bool:
    """Whether b lies on or above the chord from a to c; by slopes, which cannot overflow."""
    return (b[1] - a[1]) / (b[0] - a[0]) >= (c[1] - a[1]) / (c[0] - a[0])
