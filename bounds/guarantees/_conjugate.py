"""The best response to a price on being guessed wrongly: the convex conjugate of a guarantee.

Let an event have probability a under one record. Under any replace-one neighbour it has at least
g(a) = f(1 − a), by the trade-off curve f applied to its complement. g is convex, g(0) = 0 and
g(a) ≤ a. The ceilings price both sides and need max over a of s·a − g(a), for 0 ≤ s ≤ 1:

    K(s) = s·δ(ln 1/s),    since max_a [a − g(a)/s] = max_α [1 − f(α) − e^ε α] at ε = ln 1/s,

so the privacy profile δ(ε) is all there is to know. Where the maximum is at a, g(a) = s·a − K(s).
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr, ndtri

from reconbench.bounds._validate import FloatArray
from reconbench.bounds.guarantees.guarantee import ApproxDP, GaussianDP, Guarantee, PureDP

# A sampled profile: chords over this many values of ε, up to where δ(ε) is negligible.
_SAMPLES = 513
_NEGLIGIBLE = 1e-15
_LARGEST = 60.0


class Response(Protocol):
    """The maximiser of s·a − g(a) for given slopes s in [0, 1]."""

    def __call__(self, log_slope: FloatArray) -> tuple[FloatArray, FloatArray]:
        """a and g(a) at slopes e^log_slope ≤ 1, of any shape; −inf (slope 0) is allowed."""


def best_response(guarantee: Guarantee) -> Response:
    """Exact for Gaussian and (ε, δ) guarantees; for others from samples of δ(ε), on the safe side.

    Chords over the convex K lie above it, so a ceiling computed from them can only be higher.
    """
    match guarantee:
        case GaussianDP(mu=mu):
            return _Gaussian(mu)
        case ApproxDP(epsilon=epsilon, delta=delta):
            return _Vertices(epsilon, delta)
        case PureDP(epsilon=epsilon):
            return _Vertices(epsilon, 0.0)
    # A plugin's guarantee may not be hashable.
    return _cached_chords(guarantee) if isinstance(guarantee, Hashable) else _Chords.of(guarantee)


def neighbour_floor(guarantee: Guarantee, a: ArrayLike) -> FloatArray:
    """g(a): the least probability, under any neighbour, of an event of probability a."""
    level = np.asarray(a, dtype=np.float64)
    if isinstance(guarantee, GaussianDP) and math.isfinite(guarantee.mu):
        # Keeps the digits of a small a, which f(1 − a) would lose.
        return np.asarray(ndtr(ndtri(level) - guarantee.mu), dtype=np.float64)
    return guarantee.tradeoff(1 - level)


def largest_epsilon(guarantee: Guarantee, negligible: float = _NEGLIGIBLE) -> float:
    """The last corner of the profile, or else where δ(ε) comes this close to its limit."""
    if isinstance(guarantee, ApproxDP | PureDP):
        return guarantee.epsilon
    floor = guarantee.delta_at(math.inf) + negligible
    found = guarantee.epsilon_at(floor) if floor < 1 else math.inf
    return max(found, negligible) if math.isfinite(found) else _LARGEST


def hockey_stick(respond: Response, up: FloatArray, down: FloatArray) -> FloatArray:
    """H(u, w) = max over a in [0, 1] of u·a − w·g(a), for u, w ≥ 0 of one shape.

    Homogeneous, and with δ the profile: H(u, w) = (u − w)₊ + min(u, w)·δ(|ln u/w|).
    """
    low, high = np.minimum(up, down), np.maximum(up, down)
    with np.errstate(divide="ignore", invalid="ignore"):
        a, g = respond(np.where(high > 0, np.log(low) - np.log(high), 0.0))
    return np.maximum(up - down, 0.0) + np.maximum(low * a - high * g, 0.0)


@dataclass(frozen=True)
class _Gaussian:
    """g(a) = Φ(Φ⁻¹(a) − μ), with slope exp(μt − μ²/2) at a = Φ(t)."""

    mu: float

    def __call__(self, log_slope: FloatArray) -> tuple[FloatArray, FloatArray]:
        if self.mu == 0:
            return np.zeros_like(log_slope), np.zeros_like(log_slope)
        if math.isinf(self.mu):
            return np.ones_like(log_slope), np.zeros_like(log_slope)
        with np.errstate(over="ignore"):
            centre = log_slope / self.mu
        # s = exp(μt − μ²/2) at t = ln(s)/μ + μ/2
        return np.asarray(ndtr(centre + self.mu / 2)), np.asarray(ndtr(centre - self.mu / 2))


@dataclass(frozen=True)
class _Vertices:
    """g(a) = max{0, e^−ε (a − δ), 1 − δ − e^ε (1 − a)}: slopes 0, e^−ε and e^ε."""

    epsilon: float
    delta: float

    def __call__(self, log_slope: FloatArray) -> tuple[FloatArray, FloatArray]:
        if math.isinf(self.epsilon):
            return np.ones_like(log_slope), np.zeros_like(log_slope)
        # Below slope e^−ε the vertex is (δ, 0), above it (a, e^−ε (a − δ)) at the second kink.
        steep = log_slope > -self.epsilon
        g = np.where(steep, (1 - self.delta) * _logistic(-self.epsilon), 0.0)
        a = self.delta + np.where(steep, (1 - self.delta) * _logistic(self.epsilon), 0.0)
        return a, g


@dataclass(frozen=True, eq=False)
class _Chords:
    """K by its chords between the given slopes, increasing from 0 to 1."""

    slopes: FloatArray
    a: FloatArray
    g: FloatArray

    @classmethod
    def of(cls, guarantee: Guarantee) -> _Chords:
        largest = min(largest_epsilon(guarantee), _LARGEST)
        epsilons = largest * np.linspace(1.0, 0.0, _SAMPLES) ** 1.5
        slopes = np.exp(-epsilons)
        values = slopes * np.array([guarantee.delta_at(float(epsilon)) for epsilon in epsilons])
        slopes, kept = np.unique(np.concatenate(([0.0], slopes)), return_index=True)
        values = np.concatenate(([0.0], values))[kept]
        a = np.diff(values) / np.diff(slopes)
        return cls(slopes, a, slopes[:-1] * a - values[:-1])

    def __call__(self, log_slope: FloatArray) -> tuple[FloatArray, FloatArray]:
        chord = np.searchsorted(self.slopes[1:-1], np.exp(log_slope))
        return self.a[chord], self.g[chord]


# One table per guarantee: those with a curve of their own take tens of milliseconds.
_cached_chords = lru_cache(maxsize=64)(_Chords.of)


def _logistic(x: float) -> float:
    return 1 / (1 + math.exp(-x)) if x >= 0 else math.exp(x) / (1 + math.exp(x))
