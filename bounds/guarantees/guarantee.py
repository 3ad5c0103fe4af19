"""Privacy guarantees as trade-off curves.

A guarantee bounds the trade-off curve f of the mechanism from below: a test between the outputs
of two neighbouring tables with false-positive rate α has false-negative rate at least f(α)
(Dong, Roth and Su 2022, "Gaussian Differential Privacy"). From f follow the privacy profile
δ(ε) = max over α of 1 − f(α) − e^ε α, its inverse ε(δ), and the total variation δ(0).

The neighbouring relation is symmetric, so f bounds the test in either order of the two tables.
Composition is offered where the result is again a guarantee of the same kind; other compositions
go through privacy loss distributions (`reconbench.bounds.guarantees.composed`).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import erfcx, ndtr, ndtri

from reconbench.bounds import _validate
from reconbench.bounds._validate import FloatArray, positive_integer
from reconbench.bounds.guarantees.polyline import Polyline
from reconbench.bounds.guarantees.relation import (
    RECORD,
    Relation,
    represent,
    require_kind,
    require_same,
)
from reconbench.bounds.guarantees.tabulated import TabulatedCurve

__all__ = [
    "ApproxDP",
    "GaussianDP",
    "Guarantee",
    "PureDP",
    "Relation",
    "as_replace_one",
    "gaussian_mu",
    "stated_pair",
]

_LEAST_EPSILON = 1e-12
_ROOT_RTOL = 4 * float(np.finfo(np.float64).eps)


class Guarantee(Protocol):
    """What a mechanism promises, with the neighbouring relation and the unit it protects.

    `parse_guarantee` makes one from a text such as `laplace:scale=5,queries=15`.

    Example:
        >>> import reconbench as rb
        >>> guarantee: rb.Guarantee = rb.GaussianDP(0.5)
        >>> guarantee.describe()
        '0.5-GDP, replace-one'
        >>> round(guarantee.epsilon_at(1e-5), 3)
        1.993
    """

    @property
    def relation(self) -> Relation: ...

    @property
    def unit(self) -> str: ...

    def tradeoff(self, alpha: ArrayLike) -> FloatArray:
        """f(α): the smallest false-negative rate at false-positive rate α."""

    def power(self, alpha: ArrayLike) -> FloatArray:
        """1 − f(α), the largest true-positive rate, with all its digits where it is small."""

    def delta_at(self, epsilon: float) -> float:
        """δ(ε): the smallest δ for which (ε, δ)-DP holds; ε = 0 is allowed."""

    def epsilon_at(self, delta: float) -> float:
        """ε(δ): the smallest ε ≥ 0 for which (ε, δ)-DP holds; inf when there is none."""

    def total_variation(self) -> float:
        """The largest total variation distance between two neighbours' outputs, δ(0)."""

    def group(self, size: int) -> Guarantee:
        """f^(n): the guarantee for tables that are n = size neighbouring steps apart.

        f^(n) = 1 − (1 − f)^∘n (Dong, Roth and Su 2022, Theorem 2.14).
        """

    def describe(self) -> str:
        """The guarantee in one phrase, neighbouring relation included."""


@dataclass(frozen=True)
class ApproxDP:
    """(ε, δ)-differential privacy; ε = inf is allowed and promises nothing.

    Args:
        epsilon: The budget ε.
        delta: The δ of the budget.
        relation: The neighbouring relation, replace-one by default.
        unit: What is protected.

    Example:
        >>> import reconbench as rb
        >>> rb.ApproxDP(1.0, 1e-5)
        <ApproxDP: (1, 1e-05)-DP, replace-one>
    """

    epsilon: float
    delta: float
    relation: Relation = Relation.REPLACE_ONE
    unit: str = RECORD

    __repr__ = represent

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", _validate.positive("epsilon", self.epsilon))
        object.__setattr__(self, "delta", _validate.below_one("delta", self.delta))

    def tradeoff(self, alpha: ArrayLike) -> FloatArray:
        return _approx_tradeoff(alpha, self.epsilon, self.delta)

    def power(self, alpha: ArrayLike) -> FloatArray:
        return _approx_power(alpha, self.epsilon, self.delta)

    def delta_at(self, epsilon: float) -> float:
        return _approx_delta_at(epsilon, self.epsilon, self.delta)

    def epsilon_at(self, delta: float) -> float:
        return _approx_epsilon_at(delta, self.epsilon, self.delta)

    def total_variation(self) -> float:
        return self.delta_at(0.0)

    def group(self, size: int) -> TabulatedCurve:
        """f^(n) itself: no looser than (nε, δ (e^nε − 1)/(e^ε − 1))-DP."""
        n = positive_integer("size", size)
        line = Polyline.from_pairs(np.array([self.epsilon]), np.array([self.delta]))
        return TabulatedCurve.of(line.group(n), self.relation, self.unit)

    def compose(self, other: ApproxDP) -> ApproxDP:
        """Both releases together: (ε₁ + ε₂, 1 − (1 − δ₁)(1 − δ₂)).

        One pair of the optimal composition (Kairouz, Oh and Viswanath 2015, Theorem 3.3).
        """
        require_kind(self, other)
        require_same(self, other)
        delta = self.delta + other.delta * (1 - self.delta)
        return ApproxDP(self.epsilon + other.epsilon, delta, self.relation, self.unit)

    def describe(self) -> str:
        return f"({self.epsilon:g}, {self.delta:g})-DP, {self.relation.value}"


@dataclass(frozen=True)
class PureDP:
    """ε-differential privacy; ε = inf is allowed and promises nothing.

    Args:
        epsilon: The budget ε.
        relation: The neighbouring relation, replace-one by default.
        unit: What is protected.

    Example:
        >>> import reconbench as rb
        >>> rb.PureDP(1.0).group(2)
        <PureDP: 2-DP, replace-one>
    """

    epsilon: float
    relation: Relation = Relation.REPLACE_ONE
    unit: str = RECORD

    __repr__ = represent

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", _validate.positive("epsilon", self.epsilon))

    def tradeoff(self, alpha: ArrayLike) -> FloatArray:
        return _approx_tradeoff(alpha, self.epsilon, 0.0)

    def power(self, alpha: ArrayLike) -> FloatArray:
        return _approx_power(alpha, self.epsilon, 0.0)

    def delta_at(self, epsilon: float) -> float:
        return _approx_delta_at(epsilon, self.epsilon, 0.0)

    def epsilon_at(self, delta: float) -> float:
        return _approx_epsilon_at(delta, self.epsilon, 0.0)

    def total_variation(self) -> float:
        return self.delta_at(0.0)

    def renyi(self, orders: ArrayLike) -> FloatArray:
        """ε(t) of the two-valued randomised response, the worst ε-DP mechanism at every order."""
        t = np.asarray(orders, dtype=np.float64)
        if math.isinf(self.epsilon):
            return np.full(t.shape, math.inf)
        # (t − 1) ε(t) = log((e^tε + e^(1−t)ε)/(1 + e^ε))
        moment = np.logaddexp(t * self.epsilon, (1 - t) * self.epsilon)
        return np.asarray((moment - np.logaddexp(0.0, self.epsilon)) / (t - 1))

    def group(self, size: int) -> PureDP:
        """nε-DP, which keeps the guarantee pure; the curve f^(n) itself is a little higher."""
        epsilon = positive_integer("size", size) * self.epsilon
        return PureDP(epsilon, self.relation, self.unit)

    def compose(self, other: PureDP) -> PureDP:
        """Both releases together: ε₁ + ε₂, the smallest pure ε; the whole curve is better."""
        require_kind(self, other)
        require_same(self, other)
        return PureDP(self.epsilon + other.epsilon, self.relation, self.unit)

    def describe(self) -> str:
        return f"{self.epsilon:g}-DP, {self.relation.value}"


@dataclass(frozen=True)
class GaussianDP:
    """μ-Gaussian differential privacy: no easier to test than N(0, 1) against N(μ, 1).

    μ = 0 is perfect privacy, μ = inf promises nothing.

    Args:
        mu: The parameter μ.
        relation: The neighbouring relation, replace-one by default.
        unit: What is protected.

    Example:
        >>> import reconbench as rb
        >>> round(rb.GaussianDP(1.0).total_variation(), 4)
        0.3829
    """

    mu: float
    relation: Relation = Relation.REPLACE_ONE
    unit: str = RECORD

    __repr__ = represent

    def __post_init__(self) -> None:
        object.__setattr__(self, "mu", _validate.non_negative("mu", self.mu))

    def tradeoff(self, alpha: ArrayLike) -> FloatArray:
        level = _validate.probabilities("alpha", alpha)
        if math.isinf(self.mu):
            return np.zeros_like(level)
        # f(α) = Φ(Φ⁻¹(1 − α) − μ), with Φ⁻¹(1 − α) = −Φ⁻¹(α).
        return np.asarray(ndtr(-ndtri(level) - self.mu), dtype=np.float64)

    def power(self, alpha: ArrayLike) -> FloatArray:
        level = _validate.probabilities("alpha", alpha)
        if math.isinf(self.mu):
            return np.ones_like(level)
        # 1 − f(α) = Φ(Φ⁻¹(α) + μ)
        return np.asarray(ndtr(ndtri(level) + self.mu), dtype=np.float64)

    def delta_at(self, epsilon: float) -> float:
        return _gaussian_delta(_validate.non_negative("epsilon", epsilon), self.mu)

    def epsilon_at(self, delta: float) -> float:
        target = _validate.below_one("delta", delta)
        if target >= self.delta_at(0.0):
            return 0.0
        if target == 0 or math.isinf(self.mu):
            return math.inf
        # δ(ε) ≤ Φ(−ε/μ + μ/2), so the root lies below the ε where the right side equals δ.
        upper = self.mu * (self.mu / 2 - float(ndtri(target)))
        # For large μ the difference ε/μ − μ/2 is all rounding: keep the end that is safe.
        if math.isinf(upper) or self.delta_at(upper) >= target:
            return upper * (1 + _ROOT_RTOL)
        return _log_root(lambda epsilon: _gaussian_delta(epsilon, self.mu), target, 0.0, upper)

    def total_variation(self) -> float:
        return self.delta_at(0.0)

    def to_approx(self, delta: float) -> ApproxDP:
        """The (ε(δ), δ)-DP that this guarantee implies; needs ε(δ) > 0."""
        epsilon = self.epsilon_at(delta)
        if epsilon == 0:
            raise ValueError(
                f"delta must be below the total variation {self.total_variation():g} of "
                f"{self.describe()}, got {delta!r}: at that delta epsilon would be 0"
            )
        return ApproxDP(epsilon, delta, self.relation, self.unit)

    def renyi(self, orders: ArrayLike) -> FloatArray:
        """ε(t) = t μ²/2: that of N(0, 1) against N(μ, 1) (Mironov 2017, Proposition 7).

        Whatever is no easier to test is a post-processing of that pair (Blackwell), so it holds
        for every μ-GDP mechanism.
        """
        with np.errstate(over="ignore"):
            return np.asarray(orders, dtype=np.float64) * self.mu * (self.mu / 2)

    def group(self, size: int) -> GaussianDP:
        """nμ-GDP (Dong, Roth and Su 2022, section 2.4)."""
        return GaussianDP(positive_integer("size", size) * self.mu, self.relation, self.unit)

    def compose(self, other: GaussianDP) -> GaussianDP:
        """Both releases together: √(μ₁² + μ₂²)-GDP (Dong, Roth and Su 2022, Corollary 3.3)."""
        require_kind(self, other)
        require_same(self, other)
        return GaussianDP(math.hypot(self.mu, other.mu), self.relation, self.unit)

    def describe(self) -> str:
        return f"{self.mu:.3g}-GDP, {self.relation.value}"


def gaussian_mu(epsilon: float, delta: float) -> float:
    """The largest μ for which μ-GDP implies (ε, δ)-DP; the Gaussian mechanism is tight for it.

    Balle and Wang 2018, "Improving the Gaussian Mechanism", Theorem 8, solved for the ratio
    μ of sensitivity to noise.

    Args:
        epsilon: ε > 0; inf gives inf.
        delta: δ in (0, 1).

    Returns:
        μ, for the neighbouring relation that (ε, δ) is for.
    """
    budget = _validate.positive("epsilon", epsilon)
    target = _validate.below_one("delta", delta)
    if target == 0:
        raise ValueError(
            "delta must be > 0 for a Gaussian mechanism, got 0: it is never pure DP; "
            "pass a delta such as 1e-5, or use a pure-DP mechanism"
        )
    if math.isinf(budget):
        return math.inf
    # δ_μ(ε) ≤ Φ(−ε/μ + μ/2) gives a lower end: the positive root of μ²/2 + Aμ − ε = 0 with
    # A = −Φ⁻¹(δ), in the form that does not cancel for either sign of A.
    a = -float(ndtri(target))
    spread = math.hypot(a, math.sqrt(2 * budget))
    lower = 2 * budget / (a + spread) if a > 0 else spread - a
    upper = 2 * lower
    while _gaussian_delta(budget, upper) <= target:
        lower, upper = upper, 2 * upper
    return _log_root(lambda mu: _gaussian_delta(budget, mu), target, lower, upper)


def as_replace_one(guarantee: Guarantee) -> Guarantee:
    """The replace-one guarantee that an add-or-remove-one guarantee implies.

    Replacing a record is removing one and adding one: two steps, so f becomes f^(2). For
    (ε, δ)-DP that is no looser than (2ε, (1 + e^ε)δ).

    Args:
        guarantee: of either neighbouring relation.

    Returns:
        The guarantee for replace-one neighbours; one that is for them already comes back as it is.
    """
    if guarantee.relation is Relation.REPLACE_ONE:
        return guarantee
    two: Any = guarantee.group(2)
    converted: Guarantee = replace(two, relation=Relation.REPLACE_ONE)
    if isinstance(converted, TabulatedCurve):
        return replace(converted, label=f"({guarantee.describe()}) twice")
    return converted


def stated_pair(guarantee: Guarantee, delta: float) -> ApproxDP | PureDP:
    """The replace-one (ε, δ) of a guarantee of either relation, for bounds stated at one pair.

    Args:
        guarantee: of either neighbouring relation. An add-or-remove-one pair becomes
            (2ε, (1 + e^ε)δ); any other guarantee is converted by `as_replace_one`.
        delta: where a guarantee is read that is not stated as a pair.

    Returns:
        The pair; ε = inf says nothing, as where that (1 + e^ε)δ reaches 1.
    """
    if not isinstance(guarantee, ApproxDP | PureDP):
        replaced = as_replace_one(guarantee)
        epsilon = max(replaced.epsilon_at(delta), _LEAST_EPSILON)
        return ApproxDP(epsilon, delta, replaced.relation, replaced.unit)
    if guarantee.relation is Relation.REPLACE_ONE:
        return guarantee
    doubled, unit = 2 * guarantee.epsilon, guarantee.unit
    if isinstance(guarantee, PureDP):
        return PureDP(doubled, Relation.REPLACE_ONE, unit)
    with np.errstate(divide="ignore"):
        log_delta = float(np.logaddexp(0.0, guarantee.epsilon) + np.log(guarantee.delta))
    if not log_delta < 0:
        return ApproxDP(math.inf, guarantee.delta, Relation.REPLACE_ONE, unit)
    return ApproxDP(doubled, math.exp(log_delta), Relation.REPLACE_ONE, unit)


def _approx_tradeoff(alpha: ArrayLike, epsilon: float, delta: float) -> FloatArray:
    level = _validate.probabilities("alpha", alpha)
    if math.isinf(epsilon):
        return np.zeros_like(level)
    # f(α) = max{0, 1 − δ − e^ε α, e^−ε (1 − δ − α)}.
    with np.errstate(over="ignore", invalid="ignore"):
        steep = np.where(level > 0, 1 - delta - np.exp(epsilon) * level, 1 - delta)
    shallow = math.exp(-epsilon) * (1 - delta - level)
    return np.maximum(0.0, np.maximum(steep, shallow))


def _approx_power(alpha: ArrayLike, epsilon: float, delta: float) -> FloatArray:
    level = _validate.probabilities("alpha", alpha)
    if math.isinf(epsilon):
        return np.ones_like(level)
    # 1 − f(α) = min{1, δ + e^ε α, 1 − e^−ε (1 − δ − α)}.
    with np.errstate(over="ignore", invalid="ignore"):
        steep = np.where(level > 0, delta + np.exp(epsilon) * level, delta)
    shallow = 1 - math.exp(-epsilon) * (1 - delta - level)
    return np.minimum(1.0, np.minimum(steep, shallow))


def _approx_delta_at(at: float, epsilon: float, delta: float) -> float:
    at = _validate.non_negative("epsilon", at)
    if math.isinf(epsilon):
        return 1.0
    if at >= epsilon:
        return delta
    # The maximum of 1 − f(α) − e^ε′ α is at the kink α = (1 − δ)/(1 + e^ε):
    # δ(ε′) = δ + (1 − δ)(e^ε − e^ε′)/(e^ε + 1).
    return delta + (1 - delta) * -math.expm1(at - epsilon) / (1 + math.exp(-epsilon))


def _approx_epsilon_at(at: float, epsilon: float, delta: float) -> float:
    at = _validate.below_one("delta", at)
    if at < delta or math.isinf(epsilon):
        return math.inf
    # The inverse of δ(ε′) above: e^(ε′ − ε) = 1 − (δ′ − δ)(1 + e^−ε)/(1 − δ).
    drop = (at - delta) * (1 + math.exp(-epsilon)) / (1 - delta)
    return max(0.0, epsilon + math.log1p(-drop)) if drop < 1 else 0.0


# Nodes of the quadrature over [a, a + μ] below: far beyond double precision for μ < 0.1.
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(8)
_NARROW = 0.1


def _gaussian_delta(epsilon: float, mu: float) -> float:
    """δ(ε) of μ-GDP, accurate in relative terms down to the smallest doubles.

    δ(ε) = Φ(−a) − e^ε Φ(−b) with a = ε/μ − μ/2 and b = a + μ (Dong, Roth and Su 2022, Corollary
    2.13). Since e^ε φ(b) = φ(a), it equals φ(a)(R(a) − R(b)) with the Mills ratio R = Φ(−·)/φ.
    """
    if mu == 0 or math.isinf(epsilon):
        return 0.0
    if math.isinf(mu):
        return 1.0
    a = epsilon / mu - mu / 2
    density = math.exp(-a * a / 2) / math.sqrt(2 * math.pi)
    if mu < _NARROW:
        # R(a) − R(b) would cancel; R′(x) = xR(x) − 1, so integrate 1 − xR(x) over [a, b].
        x = a + mu * (_NODES + 1) / 2
        return density * mu / 2 * float(_WEIGHTS @ (1 - x * _mills(x)))
    if a < 0:
        return float(ndtr(-a)) - density * float(_mills(a + mu))
    return density * float(_mills(a) - _mills(a + mu))


def _mills(x: ArrayLike) -> FloatArray:
    """R(x) = Φ(−x)/φ(x)."""
    return np.asarray(
        math.sqrt(math.pi / 2) * erfcx(np.asarray(x) / math.sqrt(2)), dtype=np.float64
    )


def _log_root(curve: Callable[[float], float], target: float, lower: float, upper: float) -> float:
    """The x in [lower, upper] where the monotone, positive curve(x) equals target."""
    # Imported on first use: it would double the time that importing this package takes.
    from scipy.optimize import brentq

    def gap(x: float) -> float:
        value = curve(x)
        return math.log(value / target) if value > 0 else -math.inf

    return float(brentq(gap, lower, upper, xtol=1e-300, rtol=_ROOT_RTOL))
