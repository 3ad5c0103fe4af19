"""Guarantees of composed releases, through distributions of the privacy loss.

The losses are rounded to a grid on the safe side (`loss_distribution`), so every δ(ε) read from
them is an upper bound, and so is the `PrivacyProfile` built on those pairs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.special import ndtr

from reconbench.bounds import _validate
from reconbench.bounds._validate import FloatArray, positive_integer
from reconbench.bounds.guarantees.loss_distribution import Cells, compose
from reconbench.bounds.guarantees.polyline import Polyline
from reconbench.bounds.guarantees.privacy_profile import PrivacyProfile
from reconbench.bounds.guarantees.relation import RECORD, Relation

_PAIRS = 8_000
# Below this δ carries rounding of Fourier transforms, not probabilities.
_SMALLEST_DELTA = 1e-13
# Probability that a curve's extreme losses may have to be left off the grid, on the safe side.
_RARE = 1e-16
# Standard deviations of Gaussian noise that losses are computed for: 1e-23 is beyond.
_DEVIATIONS = 10


class Release(Protocol):
    """One kind of release, made `count` times."""

    @property
    def count(self) -> int: ...

    @property
    def sampling_probability(self) -> float: ...

    def cells(self, step: float) -> Cells:
        """The privacy losses of one release, in cells of a grid."""


@dataclass(frozen=True)
class GaussianRelease:
    """Gaussian noise of standard deviation `noise_multiplier` times the sensitivity.

    With `sampling_probability` < 1, on a Poisson subsample: a step of DP-SGD.
    """

    noise_multiplier: float
    sampling_probability: float = 1.0
    count: int = 1

    def cells(self, step: float) -> Cells:
        mu = 1 / _validate.positive("noise_multiplier", self.noise_multiplier)

        def masses(losses: FloatArray) -> tuple[FloatArray, FloatArray]:
            # The loss is N(μ²/2, μ²) under P and N(−μ²/2, μ²) under Q.
            return _normal_masses(losses / mu - mu / 2), _normal_masses(losses / mu + mu / 2)

        reach = mu * (mu / 2 + _DEVIATIONS)
        return Cells.of_subsample(step, self.sampling_probability, reach, masses)


@dataclass(frozen=True)
class LaplaceRelease:
    """Laplace noise of scale `scale` times the sensitivity."""

    scale: float
    sampling_probability: float = 1.0
    count: int = 1

    def cells(self, step: float) -> Cells:
        ratio = 1 / _validate.positive("scale", self.scale)

        def masses(losses: FloatArray) -> tuple[FloatArray, FloatArray]:
            # For −r ≤ l < r: P[L ≤ l] = e^((l − r)/2)/2 and Q[L > l] = e^(−(l + r)/2)/2.
            half = np.clip(losses, -ratio, ratio) / 2
            below = np.where(losses < -ratio, 0.0, np.exp(half - ratio / 2) / 2)
            above = np.where(losses < ratio, np.exp(-half - ratio / 2) / 2, 0.0)
            below[losses >= ratio], above[losses < -ratio] = 1.0, 1.0
            return np.diff(below), -np.diff(above)

        return Cells.of_subsample(step, self.sampling_probability, ratio, masses)


@dataclass(frozen=True)
class DiscreteGaussianRelease:
    """Discrete Gaussian noise N_Z(0, σ²) on integers that change by at most `sensitivity`.

    The noise of the 2020 US Census (Canonne, Kamath and Steinke 2020).
    """

    sigma: float
    sensitivity: int = 1
    sampling_probability: float = 1.0
    count: int = 1

    def cells(self, step: float) -> Cells:
        sigma = _validate.positive("sigma", self.sigma)
        shift = positive_integer("sensitivity", self.sensitivity)
        share = self.sampling_probability
        width = math.ceil(_DEVIATIONS * sigma)
        x = np.arange(-width, width + shift + 1)
        p, q = np.exp(-0.5 * (x / sigma) ** 2), np.exp(-0.5 * ((x - shift) / sigma) ** 2)
        p, q = p / p.sum(), q / q.sum()
        with np.errstate(divide="ignore"):
            # log(1 − share + share e^L), L = Δ (Δ − 2x)/(2σ²)
            bare = shift * (shift - 2 * x) / (2 * sigma**2)
            losses = np.logaddexp(np.log1p(-share), np.log(share) + bare)
        return Cells.of_atoms(step, losses, (1 - share) * q + share * p, q, 0.0)


@dataclass(frozen=True, eq=False)
class CurveRelease:
    """Whatever has this trade-off curve, seen through the curve alone.

    The segments of a piecewise-linear curve are the answers of two discrete distributions that
    have exactly this curve, so they dominate the mechanism (Dong, Roth and Su 2022, Theorem 2.10).
    """

    line: Polyline
    count: int = 1
    sampling_probability: float = 1.0

    def cells(self, step: float) -> Cells:
        losses, p, infinite = self.segments()
        # Rare large losses count as ∞, and rare small ones as larger: the grid stays short.
        order = np.argsort(losses)
        losses, p = losses[order], p[order]
        q = p * np.exp(-losses)
        high = np.cumsum(p[::-1])[::-1] <= _RARE
        infinite += float(p[high].sum())
        losses, p, q = losses[~high], p[~high], q[~high]
        if losses.size:
            low = np.cumsum(p) <= _RARE
            losses = np.maximum(losses, losses[~low].min(initial=losses[-1]))
            q = np.minimum(q, p * np.exp(-losses))
        return Cells.of_atoms(step, losses, p, q, infinite)

    def segments(self) -> tuple[FloatArray, FloatArray, float]:
        """Losses and probabilities under the alternative, and the probability of loss ∞."""
        null = np.diff(self.line.alphas, prepend=0.0)
        alternative = np.maximum(np.diff(self.line.powers, prepend=0.0), 0.0)
        finite = (null > 0) & (alternative > 0)
        losses = np.log(alternative[finite]) - np.log(null[finite])
        return losses, alternative[finite], float(alternative[null <= 0].sum())


def composed(
    releases: Sequence[Release],
    relation: Relation,
    *,
    unit: str = RECORD,
    discretisation: float = 1e-4,
    label: str = "",
) -> PrivacyProfile:
    """The guarantee of all the releases together, each made `count` times, adaptively.

    `relation` is the one under which the sensitivities are stated. Subsampled releases are
    analysed under add-or-remove-one neighbours only. `label` is how the result describes itself,
    by default by the kinds of releases.
    """
    if not releases:
        raise ValueError("releases must hold at least one release, got none")
    step = _validate.positive("discretisation", discretisation)
    for release in releases:
        _check(release, relation)
    cells = [release.cells(step) for release in releases]
    deltas = _deltas(cells, releases)
    if any(release.sampling_probability < 1 for release in releases):
        # A subsampled pair is not symmetric: adding a record is not removing one.
        pairs = zip(cells, releases, strict=True)
        other = [c.reverse() if r.sampling_probability < 1 else c for c, r in pairs]
        deltas = _larger(deltas, _deltas(other, releases))
    epsilons, deltas = _thin(deltas, step)
    return PrivacyProfile(epsilons, deltas, relation, unit, label or _label(releases))


def dp_sgd(
    noise_multiplier: float,
    sampling_probability: float,
    steps: int,
    *,
    discretisation: float = 1e-4,
) -> PrivacyProfile:
    """DP-SGD with Poisson subsampling, under add-or-remove-one neighbours."""
    step = GaussianRelease(noise_multiplier, sampling_probability, steps)
    return composed([step], Relation.ADD_REMOVE, discretisation=discretisation)


def _deltas(cells: Sequence[Cells], releases: Sequence[Release]) -> FloatArray:
    pairs = zip(cells, releases, strict=True)
    return compose([(one.split(), release.count) for one, release in pairs]).deltas()


def _larger(first: FloatArray, second: FloatArray) -> FloatArray:
    """The larger δ(ε) of two, each constant after its last."""
    size = max(first.size, second.size)
    wide = [np.pad(deltas, (0, size - deltas.size), "edge") for deltas in (first, second)]
    return np.maximum(*wide)


def _thin(deltas: FloatArray, step: float) -> tuple[FloatArray, FloatArray]:
    """(ε, δ) of not too many places of the grid, up to where δ is down to rounding."""
    floor = max(_SMALLEST_DELTA, deltas[-1] * (1 + 1e-6))
    last = int(np.argmax(deltas <= floor))
    stride = max(1, math.ceil(last / _PAIRS))
    places = np.append(np.arange(0, last, stride), last)
    # Rounding may leave a δ slightly off its non-increasing course.
    monotone = np.maximum.accumulate(deltas[places][::-1])[::-1]
    return places * step, monotone


def _check(release: Release, relation: Relation) -> None:
    positive_integer("count", release.count)
    share = release.sampling_probability
    if not 0 < share <= 1:
        raise ValueError(f"sampling_probability must be in (0, 1], got {share!r}")
    if share < 1 and relation is not Relation.ADD_REMOVE:
        raise ValueError(
            f"relation must be {Relation.ADD_REMOVE.value} for a subsampled release, got "
            f"{relation.value}: compose under that relation, then use as_replace_one(guarantee)"
        )


def _label(releases: Sequence[Release]) -> str:
    return "composition of " + ", ".join(
        f"{release.count} {type(release).__name__}" for release in releases
    )


def _normal_masses(edges: FloatArray) -> FloatArray:
    """What N(0, 1) has between edges, from the nearer tail: small numbers keep their digits."""
    below, above = ndtr(edges), ndtr(-edges)
    return np.where(edges[1:] > 0, above[:-1] - above[1:], below[1:] - below[:-1])
