"""A number plus noise: the reconstruction advantage against Laplace and Gaussian sums.

The informed adversary subtracts the other records, so what is left of a noisy sum is the target's
own number v_z plus noise. Closed forms hold for a uniform prior (Guerra-Balboa 2026, Examples 4.7
and 4.8); for any prior, auxiliary knowledge and success sets, Theorem 4.3 is an integral over one
real output that is enclosed between two numbers with certainty (up to rounding).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr

from reconbench.bounds import _validate
from reconbench.bounds._validate import FloatArray, positive_integer
from reconbench.bounds.rad._inputs import Labels, as_labels, as_prior
from reconbench.bounds.rad.channel import as_success


class Noise(Protocol):
    """Noise with a density that is symmetric about 0 and falls with |x|."""

    def density(self, x: FloatArray) -> FloatArray: ...

    def below(self, x: FloatArray) -> FloatArray:
        """P[noise ≤ x]."""

    def reach(self) -> float:
        """An x that the noise passes with a probability below 1e-17."""


@dataclass(frozen=True)
class LaplaceNoise:
    """Density e^(−|x|/b)/(2b), with b = sensitivity/ε for ε-DP."""

    scale: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "scale", _positive_finite("scale", self.scale))

    def density(self, x: FloatArray) -> FloatArray:
        return np.asarray(np.exp(-np.abs(x) / self.scale) / (2 * self.scale))

    def below(self, x: FloatArray) -> FloatArray:
        tail = 0.5 * np.exp(-np.abs(x) / self.scale)
        return np.where(x <= 0, tail, 1 - tail)

    def reach(self) -> float:
        return 40 * self.scale


@dataclass(frozen=True)
class GaussianNoise:
    """N(0, sd²)."""

    sd: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "sd", _positive_finite("sd", self.sd))

    def density(self, x: FloatArray) -> FloatArray:
        scaled = np.asarray(x) / self.sd
        return np.asarray(np.exp(-scaled * scaled / 2) / (self.sd * math.sqrt(2 * math.pi)))

    def below(self, x: FloatArray) -> FloatArray:
        return np.asarray(ndtr(np.asarray(x) / self.sd), dtype=np.float64)

    def reach(self) -> float:
        return 9 * self.sd


def rad_uniform_location(noise: Noise, values: ArrayLike) -> float:
    """(1/m) Σ_i (2F(d_i/2) − 1), d_i the gaps between neighbours: η = 0, aux = ∅, uniform prior.

    Examples 4.7 and 4.8 print the case of gaps 1/(m − 1) for every set of values with sensitivity
    1. That is exact for equally spaced values only, and an upper bound for the others, because F
    is concave on x ≥ 0: the likeliest value is the nearest one, so ∫ max_z p_z = 1 + Σ (2F(d_i/2)
    − 1). Values that coincide count as different records and add nothing.

    Args:
        noise: its density and distribution function.
        values: one number per value, all equally likely.
    """
    points = np.sort(_locations(values))
    near = noise.below(np.diff(points) / 2)
    return float((2 * near - 1).sum() / points.size)


def rad_laplace(epsilon: float, m: int) -> float:
    """(m − 1)/m (1 − e^(−ε/(2(m − 1)))): Example 4.7, m equally spaced values, sensitivity 1."""
    budget, count = _validate.non_negative("epsilon", epsilon), positive_integer("m", m)
    if count == 1:
        return 0.0
    return (count - 1) / count * -math.expm1(-budget / (2 * (count - 1)))


def rad_gaussian(sd: float, m: int) -> float:
    """(m − 1)/m (2Φ(1/(2σ(m − 1))) − 1): Example 4.8, m equally spaced values, sensitivity 1."""
    width, count = _validate.positive("sd", sd), positive_integer("m", m)
    if count == 1:
        return 0.0
    return (count - 1) / count * math.erf(1 / (2 * math.sqrt(2) * width * (count - 1)))


@dataclass(frozen=True)
class Enclosure:
    """low ≤ RAD ≤ high."""

    low: float
    high: float

    @property
    def width(self) -> float:
        return self.high - self.low


def rad_location(
    noise: Noise,
    values: ArrayLike,
    prior: ArrayLike | int,
    aux: ArrayLike | None = None,
    success: ArrayLike | None = None,
    *,
    clamp: tuple[float, float] | None = None,
    tolerance: float = 1e-8,
    max_cells: int = 200_000,
) -> Enclosure:
    """Theorem 4.3 for the output v_z + noise, cut off to the interval ``clamp`` if there is one.

    The line is cut into cells. On a cell, the guess with the largest integral gives a lower bound;
    the densities between their least and largest value there bound what any other guess could add.
    Cells on which that is not 0 are halved until the sum is below ``tolerance`` or there are
    ``max_cells``. Only cells around the points where the best guess changes are ever small.

    Args:
        noise: its density and distribution function.
        values: v_z, one number per value.
        prior: the probability of each value, or how many equally likely values there are.
        aux: a(z), one label per value; None for no knowledge.
        success: which guess counts for which value; None for the exact value.
        clamp: the interval that outputs are cut off to, if any.
        tolerance: the width of the enclosure to reach.
        max_cells: when to stop before that.
    """
    points = _locations(values)
    masses = as_prior(prior)
    if masses.size != points.size:
        raise ValueError(f"prior must have {points.size} values, got {masses.size}")
    labels = as_labels(aux, points.size)
    gains = _gains(points, masses, labels, as_success(success, points.size))
    line = _Line(noise, np.unique(points), gains)
    edges, low, high = line.start(clamp)
    cells = np.column_stack([edges[:-1], edges[1:]])
    value, slack = line.enclose(cells)
    low, high = low + float(value.sum()), high + float(value.sum())
    count = len(cells)
    while slack.sum() > tolerance and count < max_cells:
        # Halving the largest slacks that make up all but half the tolerance.
        order = np.argsort(slack)
        halve = order[np.cumsum(slack[order]) > tolerance / 2]
        low, high = low - float(value[halve].sum()), high - float(value[halve].sum())
        chosen = cells[halve]
        middle = chosen.mean(axis=1)
        fresh = np.concatenate(
            [np.column_stack([chosen[:, 0], middle]), np.column_stack([middle, chosen[:, 1]])]
        )
        new_value, new_slack = line.enclose(fresh)
        low, high = low + float(new_value.sum()), high + float(new_value.sum())
        keep = np.setdiff1d(np.flatnonzero(slack > 0), halve)
        cells = np.concatenate([cells[keep], fresh])
        value = np.concatenate([value[keep], new_value])
        slack = np.concatenate([slack[keep], new_slack])
        count += len(halve)
    # A guess that is always the same has no advantage, so the best has at least none.
    return Enclosure(max(low, 0.0), max(high + float(slack.sum()), 0.0))


@dataclass(frozen=True, eq=False)
class _Line:
    """Gains Σ_v C[g, v] p_v(θ) of every guess (rows), one table a label."""

    noise: Noise
    points: FloatArray
    gains: tuple[FloatArray, ...]

    def start(self, clamp: tuple[float, float] | None) -> tuple[FloatArray, float, float]:
        """The first cells, and what the outputs outside them add at least and at most."""
        reach = self.noise.reach()
        left, right = float(self.points[0]) - reach, float(self.points[-1]) + reach
        outside = np.array([[-math.inf, left], [right, math.inf]])
        rounding = 1e-16
        if clamp is not None:
            left, right = clamp
            if not left < right:
                raise ValueError(f"clamp must be an interval (low, high), got {clamp!r}")
            # All of the outputs beyond an end become one output, the end itself: nothing to bound.
            outside, rounding = np.array([[-math.inf, left], [right, math.inf]]), 0.0
        sure = float(self._values(self._chances(outside)).sum())
        middles = (self.points[1:] + self.points[:-1]) / 2
        grid = np.linspace(left, right, 129)
        inside = np.concatenate([self.points, middles, grid])
        edges = np.unique(inside[(inside >= left) & (inside <= right)])
        return edges, sure, sure + rounding

    def enclose(self, cells: FloatArray) -> tuple[FloatArray, FloatArray]:
        """For every cell: the integral of the best single guess, and how much more is possible."""
        width = cells[:, 1] - cells[:, 0]
        ends = [self.noise.density(cells[:, [i]] - self.points) for i in (0, 1)]
        inside = (cells[:, [0]] <= self.points) & (self.points <= cells[:, [1]])
        least = np.minimum(*ends)
        most = np.where(inside, self.noise.density(np.zeros(1)), np.maximum(*ends))
        middle, half = (most + least) / 2, (most - least) / 2
        chances = self._chances(cells)
        value, slack = np.zeros(len(cells)), np.zeros(len(cells))
        for table in self.gains:
            integrals = chances @ table.T
            best = integrals.argmax(axis=1)
            value += integrals.max(axis=1)
            for guess in np.unique(best):
                here = best == guess
                # sup of (h_g − h_best) ≤ D·middle + |D|·half with D = C_g − C_best
                rise = table - table[guess]
                above = middle[here] @ rise.T + half[here] @ np.abs(rise).T
                slack[here] += width[here] * np.maximum(above.max(axis=1), 0.0)
        return value, slack

    def _chances(self, cells: FloatArray) -> FloatArray:
        """P(cell | v), from the tail on the side where the cell lies."""
        left, right = cells[:, [0]] - self.points, cells[:, [1]] - self.points
        flip = left > 0
        low, high = np.where(flip, -right, left), np.where(flip, -left, right)
        return self.noise.below(high) - self.noise.below(low)

    def _values(self, chances: FloatArray) -> FloatArray:
        best = [(chances @ table.T).max(axis=1) for table in self.gains]
        return np.asarray(np.sum(best, axis=0), dtype=np.float64)


def _gains(
    points: FloatArray, prior: FloatArray, labels: Labels, success: FloatArray | None
) -> tuple[FloatArray, ...]:
    """C[g, v] = π(z in reach of g with v_z = v) − π(z in reach of g) π(v), one table a label."""
    unique, place = np.unique(points, return_inverse=True)
    onto = np.zeros((points.size, unique.size))
    onto[np.arange(points.size), place] = 1.0
    marginal = prior @ onto
    hits = np.eye(points.size) if success is None else success
    tables = []
    for label in range(int(labels.max()) + 1):
        mine = np.unique(hits * (labels == label), axis=0) * prior
        tables.append(mine @ onto - np.outer(mine.sum(axis=1), marginal))
    return tuple(tables)


def _locations(values: ArrayLike) -> FloatArray:
    points = np.asarray(values, dtype=np.float64)
    if points.ndim != 1 or points.size == 0 or not np.isfinite(points).all():
        raise ValueError(f"values must be finite numbers, one a record value, got {values!r}")
    return points


def _positive_finite(name: str, value: float) -> float:
    number = _validate.positive(name, value)
    if math.isinf(number):
        raise ValueError(f"{name} must be finite, got {value!r}")
    return number
