"""Several releases together: in closed form where there is one, else by loss distributions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce

import numpy as np

from reconbench.bounds.guarantees.composed import (
    CurveRelease,
    DiscreteGaussianRelease,
    GaussianRelease,
    LaplaceRelease,
    Release,
    composed,
)
from reconbench.bounds.guarantees.guarantee import (
    ApproxDP,
    GaussianDP,
    Guarantee,
    PureDP,
    as_replace_one,
)
from reconbench.bounds.guarantees.polyline import Polyline
from reconbench.bounds.guarantees.privacy_profile import PrivacyProfile, profile_of
from reconbench.bounds.guarantees.relation import Relation
from reconbench.bounds.guarantees.renyi import ZCDP, RenyiDP
from reconbench.bounds.guarantees.tabulated import PiecewiseLinear, TabulatedCurve

# The grid of the losses: as fine as DP-SGD needs, coarser where the losses would not fit.
FINE, COARSE = 1e-4, 1e-3
_MOST_STEPS = 400_000
_COARSEST = 0.1
# A curve whose loss is infinite but for this probability promises nothing.
_RARE = 1e-12


@dataclass(frozen=True)
class Item:
    """Equal releases: the guarantee of one where it has a closed form, or how to compose them."""

    count: int
    guarantee: Guarantee | None = None
    release: Release | None = None

    def as_release(self) -> Release:
        """The release that loss distributions compose: of a guarantee, that of its curve."""
        if self.release is not None:
            return self.release
        assert self.guarantee is not None
        return CurveRelease(_line(self.guarantee), self.count)


def compose_items(items: Sequence[Item], relation: Relation, label: str, step: float) -> Guarantee:
    """The guarantee of all the releases together, adaptively, all for one relation."""
    closed = _compose_closed(items)
    if closed is not None:
        return closed
    releases = [item.as_release() for item in items]
    grid = max(step, sum(map(_span, releases)) / _MOST_STEPS)
    if grid > _COARSEST:
        # Losses in the thousands: no privacy that doubles could show.
        return PrivacyProfile(np.zeros(1), np.ones(1), relation, label=label)
    return composed(releases, relation, discretisation=grid, label=label)


def convert(guarantee: Guarantee, label: str) -> Guarantee:
    """An add-or-remove-one guarantee for replace-one neighbours, named by its text."""
    converted = as_replace_one(guarantee)
    if isinstance(converted, TabulatedCurve):
        return replace(converted, label=f"{label} ({Relation.ADD_REMOVE.value}) twice")
    return converted


def _compose_closed(items: Sequence[Item]) -> Guarantee | None:
    """The sum of one kind of guarantee; None where there is no such kind."""
    if len(items) == 1 and items[0].count == 1:
        return items[0].guarantee
    many: list[Guarantee] = []
    for item in items:
        one, k = item.guarantee, item.count
        if isinstance(one, GaussianDP):
            many.append(replace(one, mu=one.mu * math.sqrt(k)))
        elif isinstance(one, ZCDP):
            many.append(replace(one, rho=one.rho * k))
        elif isinstance(one, RenyiDP):
            many.append(replace(one, epsilons=one.epsilons * k))
        else:
            return None
    if len({type(one) for one in many}) > 1:
        return None
    return reduce(lambda first, second: first.compose(second), many)  # type: ignore[attr-defined]


def _line(guarantee: Guarantee) -> Polyline:
    """A piecewise-linear curve that the guarantee is above, the curve itself where it is one."""
    if isinstance(guarantee, PureDP | ApproxDP):
        delta = guarantee.delta if isinstance(guarantee, ApproxDP) else 0.0
        return Polyline.from_pairs(np.array([guarantee.epsilon]), np.array([delta]))
    if isinstance(guarantee, PiecewiseLinear):
        return guarantee.line
    return profile_of(guarantee).line


def _span(release: Release) -> float:
    """About how far the composed losses reach: one release's reach, and the sum's spread."""
    reach, square = _reach(release)
    total = release.count * square
    if math.isinf(reach):
        return reach
    return min(release.count * reach, total / 2 + 10 * math.sqrt(total) + reach)


def _reach(release: Release) -> tuple[float, float]:
    """The largest loss of one release, rare ones aside, and about its mean square."""
    if isinstance(release, GaussianRelease | DiscreteGaussianRelease):
        if isinstance(release, GaussianRelease):
            ratio = 1 / release.noise_multiplier
        else:
            ratio = release.sensitivity / release.sigma
        share = release.sampling_probability
        # The χ² divergence of a subsampled step is q²(e^(1/σ²) − 1).
        square = min(ratio**2, share**2 * math.expm1(min(ratio**2, 50.0)))
        return ratio**2 / 2 + 8 * ratio, square
    if isinstance(release, LaplaceRelease):
        return 1 / release.scale, release.scale**-2
    assert isinstance(release, CurveRelease)
    losses, mass, _ = release.segments()
    if mass.sum() < _RARE:
        return math.inf, math.inf
    usual = np.abs(losses[mass > np.finfo(np.float64).eps])
    return float(usual.max(initial=0.0)), float(np.sum(mass * np.minimum(losses**2, 1e6)))
