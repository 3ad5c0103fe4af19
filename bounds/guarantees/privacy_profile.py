"""Whole privacy profiles δ(ε): as given, of any guarantee, and of equal releases composed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from reconbench.bounds import _validate
from reconbench.bounds._validate import FloatArray
from reconbench.bounds.guarantees.guarantee import ApproxDP, Guarantee, PureDP
from reconbench.bounds.guarantees.polyline import MAX_EPSILON, Polyline
from reconbench.bounds.guarantees.relation import RECORD, Relation, represent, require_same
from reconbench.bounds.guarantees.tabulated import PiecewiseLinear

# Where any curve is worth a pair: fine enough up to 20 to lose about 1e-5 of δ, then sparser.
DEFAULT_EPSILONS = np.concatenate(
    [[0], np.geomspace(1e-4, 0.2, 800), np.linspace(0.21, 20, 1_980), np.geomspace(20.1, 200, 150)]
)


@dataclass(frozen=True, eq=False)
class PrivacyProfile(PiecewiseLinear):
    """(ε_i, δ_i)-DP for every i at once: the best curve that all the pairs together give.

    f(α) = max over i of max{0, 1 − δ_i − e^ε_i α, e^−ε_i (1 − δ_i − α)}. Every pair that holds
    bounds the curve from below, so a profile read on a grid is valid as it stands, and δ(ε)
    between the grid's points is the chord in e^ε, above the true, convex profile.
    """

    epsilons: FloatArray
    deltas: FloatArray
    relation: Relation = Relation.REPLACE_ONE
    unit: str = RECORD
    label: str = "a privacy profile"

    __repr__ = represent

    def __post_init__(self) -> None:
        epsilons = np.array(self.epsilons, dtype=np.float64)
        deltas = _validate.probability_vector("deltas", self.deltas)
        if epsilons.shape != deltas.shape:
            raise ValueError(
                "epsilons and deltas must be 1-D arrays of the same length, got shapes "
                f"{epsilons.shape} and {deltas.shape}"
            )
        if not np.all(epsilons >= 0):
            bad = epsilons[~(epsilons >= 0)][0]
            raise ValueError(f"epsilons must be >= 0 (inf allowed), got {bad}")
        epsilons.setflags(write=False)
        object.__setattr__(self, "epsilons", epsilons)
        object.__setattr__(self, "deltas", deltas)

    @cached_property
    def line(self) -> Polyline:
        """The vertices of f."""
        return Polyline.from_pairs(self.epsilons, self.deltas)

    def describe(self) -> str:
        return f"{self.label}, {self.relation.value}"


def profile_of(guarantee: Guarantee, epsilons: ArrayLike = DEFAULT_EPSILONS) -> PrivacyProfile:
    """Any guarantee as a privacy profile on a grid of ε: valid, close where the grid is fine."""
    grid = np.asarray(epsilons, dtype=np.float64)
    deltas = np.array([guarantee.delta_at(float(epsilon)) for epsilon in grid])
    return PrivacyProfile(grid, deltas, guarantee.relation, guarantee.unit, guarantee.describe())


def compose_with_pair(
    pair: PureDP | ApproxDP, other: Guarantee, epsilons: ArrayLike = DEFAULT_EPSILONS
) -> PrivacyProfile:
    """An (ε₀, δ₀)-DP release together with any other one, such as pure DP with Gaussian DP.

    (ε₀, δ₀)-DP is no easier to test than a reveal with probability δ₀ and else an answer whose
    loss is ±ε₀ (Kairouz, Oh and Viswanath 2015). With p = e^ε₀/(1 + e^ε₀) and δ(·) the other's
    profile, extended by δ(−x) = 1 − e^−x (1 − δ(x)),

        δ_both(ε) = δ₀ + (1 − δ₀) (p δ(ε − ε₀) + (1 − p) δ(ε + ε₀)),

    the best that holds for every such pair. Adaptive; both under the same neighbouring relation.
    """
    require_same(pair, other)
    delta = pair.delta if isinstance(pair, ApproxDP) else 0.0
    shift = pair.epsilon
    label = f"{pair.describe()} with {other.describe()}"
    if math.isinf(shift):
        return PrivacyProfile(np.zeros(1), np.ones(1), pair.relation, pair.unit, label)

    def profile(epsilon: float) -> float:
        if epsilon >= 0:
            return other.delta_at(epsilon)
        return 1 - math.exp(epsilon) * (1 - other.delta_at(-epsilon))

    # The other's pairs, moved by ε₀ either way, keep the corners of both.
    grid = np.asarray(epsilons, dtype=np.float64)
    grid = np.unique(np.concatenate([grid, grid + shift, np.abs(grid - shift)]))
    p = 1 / (1 + math.exp(-shift))
    mixed = np.array([p * profile(e - shift) + (1 - p) * profile(e + shift) for e in grid.tolist()])
    deltas = np.minimum(1.0, delta + (1 - delta) * mixed)
    return PrivacyProfile(grid, deltas, pair.relation, pair.unit, label)


def optimal_composition(parts: Sequence[PureDP | ApproxDP]) -> PrivacyProfile:
    """The tight profile of k equal (ε, δ)-DP releases (Kairouz, Oh and Viswanath 2015).

    Theorem 3.3: ((k − 2i)ε, 1 − (1 − δ)^k (1 − δ_i)) for i = 0, …, ⌊k/2⌋.
    """
    if not parts or any(part != parts[0] for part in parts):
        raise ValueError("parts must be one or more equal guarantees, got different ones or none")
    first, k = parts[0], len(parts)
    epsilon, delta = first.epsilon, first.delta if isinstance(first, ApproxDP) else 0.0
    if k * epsilon > MAX_EPSILON:
        raise ValueError(f"k·epsilon must be at most {MAX_EPSILON:g}, got {k * epsilon:g}")
    # Of k binary answers, l say "the other table": probability weight C(k, l) e^((k−l)ε).
    index = np.arange(k + 1)
    log_choose = np.array(
        [math.lgamma(k + 1) - math.lgamma(j + 1) - math.lgamma(k - j + 1) for j in index]
    )
    log_total = k * np.logaddexp(0.0, epsilon)
    epsilons = np.arange(k, -1, -2, dtype=np.float64) * epsilon
    excess = [
        # δ_i = Σ_{l<i} C(k, l)(e^((k−l)ε) − e^((k−2i+l)ε)) / (1 + e^ε)^k
        sum(
            math.exp(log_choose[j] + (k - j) * epsilon - log_total)
            * -math.expm1(2 * (j - i) * epsilon)
            for j in range(i)
        )
        for i in range(k // 2 + 1)
    ]
    kept = math.exp(k * math.log1p(-delta))
    deltas = -np.expm1(k * math.log1p(-delta)) + kept * np.array(excess)
    label = f"{k} releases, each {first.describe()}"
    return PrivacyProfile(epsilons, deltas, first.relation, first.unit, label)
