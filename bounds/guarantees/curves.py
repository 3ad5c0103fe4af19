"""More guarantees: a whole privacy profile, Laplace noise, randomised response; conversions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import cast

import numpy as np
from numpy.typing import ArrayLike

from reconbench.bounds import _validate
from reconbench.bounds._counts import positive_integer
from reconbench.bounds._validate import FloatArray
from reconbench.bounds.guarantees.guarantee import ApproxDP, GaussianDP, Guarantee, PureDP
from reconbench.bounds.guarantees.polyline import MAX_EPSILON, Polyline
from reconbench.bounds.guarantees.relation import RECORD, Relation
from reconbench.bounds.guarantees.renyi import ZCDP, RenyiDP
from reconbench.bounds.guarantees.tabulated import PiecewiseLinear, TabulatedCurve

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


@dataclass(frozen=True)
class RandomisedResponse(PiecewiseLinear):
    """One value out of `values`, reported as it is or, e^ε times less likely each, as another.

    Under replace-one neighbours (the reporting person's value changes), the unit being the report.
    """

    values: int
    epsilon: float
    relation: Relation = Relation.REPLACE_ONE
    unit: str = RECORD

    def __post_init__(self) -> None:
        if positive_integer("values", self.values) < 2:
            raise ValueError(f"values must be at least 2, got {self.values!r}")
        object.__setattr__(self, "epsilon", _validate.positive("epsilon", self.epsilon))

    @property
    def truthful(self) -> float:
        """p = e^ε/(e^ε + m − 1), the probability of reporting the true value."""
        return 1 / (1 + (self.values - 1) * math.exp(-self.epsilon))

    @property
    def each_other(self) -> float:
        """q = 1/(e^ε + m − 1), the probability of each other value."""
        return self.truthful * math.exp(-self.epsilon)

    @cached_property
    def line(self) -> Polyline:
        """Reject on the alternative's own report, then on all but the null's, then always."""
        p, q = self.truthful, self.each_other
        rest = (self.values - 1) * q
        return Polyline(
            np.array([0.0, q, rest, 1.0]),
            np.array([1.0, rest, q, 0.0]),
            np.array([0.0, p, 1 - q, 1.0]),
        )

    def renyi(self, orders: ArrayLike) -> FloatArray:
        """ε(t) = log(p^t q^(1−t) + q^t p^(1−t) + (m − 2) q)/(t − 1)."""
        t = np.asarray(orders, dtype=np.float64)
        if math.isinf(self.epsilon):
            return np.full(t.shape, math.inf)
        log_p, log_q = math.log(self.truthful), math.log(self.each_other)
        two = np.logaddexp(t * log_p + (1 - t) * log_q, t * log_q + (1 - t) * log_p)
        with np.errstate(divide="ignore"):
            others = np.log(float(self.values - 2)) + log_q
        return np.asarray(np.logaddexp(two, others) / (t - 1))

    def describe(self) -> str:
        return (
            f"randomised response over {self.values} values, epsilon {self.epsilon:g}, "
            f"{self.relation.value}"
        )


def profile_of(guarantee: Guarantee, epsilons: ArrayLike = DEFAULT_EPSILONS) -> PrivacyProfile:
    """Any guarantee as a privacy profile on a grid of ε: valid, close where the grid is fine."""
    grid = np.asarray(epsilons, dtype=np.float64)
    deltas = np.array([guarantee.delta_at(float(epsilon)) for epsilon in grid])
    return PrivacyProfile(grid, deltas, guarantee.relation, guarantee.unit, guarantee.describe())


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


def as_replace_one(guarantee: Guarantee) -> Guarantee:
    """The replace-one guarantee that an add-or-remove-one guarantee implies.

    Replacing a record is removing one and adding one: two steps, so f becomes f^(2). For
    (ε, δ)-DP that is no looser than (2ε, (1 + e^ε)δ). A replace-one guarantee comes back as it is.
    """
    if guarantee.relation is Relation.REPLACE_ONE:
        return guarantee
    two = cast("_Concrete", guarantee.group(2))
    return replace(two, relation=Relation.REPLACE_ONE)


_Concrete = (
    ApproxDP
    | GaussianDP
    | LaplaceDP
    | PrivacyProfile
    | PureDP
    | RandomisedResponse
    | RenyiDP
    | TabulatedCurve
    | ZCDP
)
