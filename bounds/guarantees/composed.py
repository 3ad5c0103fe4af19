"""Guarantees of composed releases, through dp-accounting's privacy loss distributions.

Needs the extra `reconbench[accounting]`; nothing else in `reconbench.bounds` does. The losses are
rounded up to a grid ("connect the dots", Doroshenko et al. 2022), so every δ(ε) read from them is
an upper bound, and so is the `PrivacyProfile` built on those pairs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any, Protocol

import numpy as np

from reconbench.bounds import _validate
from reconbench.bounds._validate import FloatArray, positive_integer
from reconbench.bounds.guarantees.polyline import MAX_EPSILON, Polyline
from reconbench.bounds.guarantees.privacy_profile import PrivacyProfile
from reconbench.bounds.guarantees.relation import RECORD, Relation
from reconbench.bounds.guarantees.renyi import RenyiDP
from reconbench.missing_package import needed_by

_PAIRS = 8_000
# Below this the distributions carry rounding of their Fourier transforms, not probabilities.
_SMALLEST_DELTA = 1e-13
# Probability that a curve's extreme losses may have to be left off the grid, on the safe side.
_RARE = 1e-16


class Release(Protocol):
    """One kind of release, made `count` times."""

    @property
    def count(self) -> int: ...

    @property
    def sampling_probability(self) -> float: ...

    def loss_distribution(self, discretisation: float) -> Any:
        """dp-accounting's distribution of the privacy loss of one release."""


@dataclass(frozen=True)
class GaussianRelease:
    """Gaussian noise of standard deviation `noise_multiplier` times the sensitivity.

    With `sampling_probability` < 1, on a Poisson subsample: a step of DP-SGD.
    """

    noise_multiplier: float
    sampling_probability: float = 1.0
    count: int = 1

    def loss_distribution(self, discretisation: float) -> Any:
        return _losses().from_gaussian_mechanism(
            _validate.positive("noise_multiplier", self.noise_multiplier),
            value_discretization_interval=discretisation,
            sampling_prob=self.sampling_probability,
        )


@dataclass(frozen=True)
class LaplaceRelease:
    """Laplace noise of scale `scale` times the sensitivity."""

    scale: float
    sampling_probability: float = 1.0
    count: int = 1

    def loss_distribution(self, discretisation: float) -> Any:
        return _losses().from_laplace_mechanism(
            _validate.positive("scale", self.scale),
            value_discretization_interval=discretisation,
            sampling_prob=self.sampling_probability,
        )


@dataclass(frozen=True)
class DiscreteGaussianRelease:
    """Discrete Gaussian noise N_Z(0, σ²) on integers that change by at most `sensitivity`.

    The noise of the 2020 US Census (Canonne, Kamath and Steinke 2020).
    """

    sigma: float
    sensitivity: int = 1
    sampling_probability: float = 1.0
    count: int = 1

    def loss_distribution(self, discretisation: float) -> Any:
        return _losses().from_discrete_gaussian_mechanism(
            _validate.positive("sigma", self.sigma),
            sensitivity=positive_integer("sensitivity", self.sensitivity),
            value_discretization_interval=discretisation,
            sampling_prob=self.sampling_probability,
        )


@dataclass(frozen=True, eq=False)
class CurveRelease:
    """Whatever has this trade-off curve, seen through the curve alone.

    The segments of a piecewise-linear curve are the answers of two discrete distributions that
    have exactly this curve, so they dominate the mechanism (Dong, Roth and Su 2022, Theorem 2.10).
    """

    line: Polyline
    count: int = 1
    sampling_probability: float = 1.0

    def loss_distribution(self, discretisation: float) -> Any:
        masses, infinite = self._split(discretisation)
        losses = _losses().PrivacyLossDistribution
        return losses.create_from_rounded_probability(masses, infinite, discretisation)

    def segments(self) -> tuple[FloatArray, FloatArray, float]:
        """Losses and probabilities under the alternative, and the probability of loss ∞."""
        null = np.diff(self.line.alphas, prepend=0.0)
        alternative = np.maximum(np.diff(self.line.powers, prepend=0.0), 0.0)
        finite = (null > 0) & (alternative > 0)
        losses = np.log(alternative[finite]) - np.log(null[finite])
        return losses, alternative[finite], float(alternative[null <= 0].sum())

    def _split(self, step: float) -> tuple[dict[int, float], float]:
        """Probabilities on the grid: each loss is split between its two neighbours there.

        Both distributions keep their totals, so the result dominates ("connect the dots").
        """
        losses, mass, infinite = self.segments()
        # Rare large losses count as ∞, and rare small ones as larger: the grid stays short.
        order = np.argsort(losses)
        losses, mass = losses[order], mass[order]
        high = np.cumsum(mass[::-1])[::-1] <= _RARE
        infinite += float(mass[high].sum())
        losses, mass = losses[~high], mass[~high]
        if losses.size:
            low = np.cumsum(mass) <= _RARE
            losses = np.maximum(losses, losses[~low].min(initial=losses[-1]))
        below = np.floor(losses / step)
        up = np.clip(np.expm1(below * step - losses) / math.expm1(-step), 0.0, 1.0)
        found: dict[int, float] = {}
        for place, part in ((below, mass * (1 - up)), (below + 1, mass * up)):
            for key, value in zip(place.astype(int).tolist(), part.tolist(), strict=True):
                found[key] = found.get(key, 0.0) + value
        return found, min(1.0, infinite)


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
    total: Any = None
    for release in releases:
        _check(release, relation)
        part = release.loss_distribution(step).self_compose(release.count)
        total = part if total is None else total.compose(part)
    epsilons, deltas = _pairs(total, step)
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


def dp_sgd_renyi(
    noise_multiplier: float, sampling_probability: float, steps: int, orders: FloatArray
) -> RenyiDP:
    """The Rényi guarantee of the same DP-SGD (Mironov, Talwar and Zhang 2019)."""
    rdp = _import("dp_accounting.rdp.rdp_privacy_accountant")
    event = _import("dp_accounting")
    accountant = rdp.RdpAccountant(list(orders))
    one = event.PoissonSampledDpEvent(sampling_probability, event.GaussianDpEvent(noise_multiplier))
    accountant.compose(one, positive_integer("steps", steps))
    return RenyiDP(np.asarray(orders), np.asarray(accountant.rdp), Relation.ADD_REMOVE)


def _pairs(total: Any, step: float) -> tuple[FloatArray, FloatArray]:
    """(ε, δ) on a grid that ends where δ is down to rounding."""
    # δ never falls below the probability of an infinite loss, which curves may have.
    infinite = float(total.get_delta_for_epsilon(MAX_EPSILON))
    last, floor = math.inf, max(_SMALLEST_DELTA, infinite * (1 + 1e-6))
    while math.isinf(last) and floor < 1:
        last, floor = float(total.get_epsilon_for_delta(floor)), 10 * floor
    if math.isinf(last):
        return np.zeros(1), np.ones(1)
    last = min(last, MAX_EPSILON)
    stride = max(1, math.ceil(last / step / _PAIRS))
    epsilons = np.arange(0, math.ceil(last / step) + stride, stride, dtype=np.float64) * step
    epsilons = epsilons[epsilons <= MAX_EPSILON]
    deltas = np.asarray(total.get_delta_for_epsilon(epsilons), dtype=np.float64)
    # Rounding of the transforms may leave a δ slightly off its non-increasing course.
    deltas = np.maximum.accumulate(np.clip(deltas, 0.0, 1.0)[::-1])[::-1]
    return epsilons, deltas


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


def _losses() -> ModuleType:
    return _import("dp_accounting.pld.privacy_loss_distribution")


def _import(name: str) -> ModuleType:
    from importlib import import_module

    with needed_by("composing releases", "dp_accounting", extra="accounting"):
        return import_module(name)
