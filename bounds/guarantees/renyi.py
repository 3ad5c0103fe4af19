"""Rényi and zero-concentrated differential privacy as trade-off curves.

Order t bounds the Rényi divergence D_t between the outputs of two neighbours, in either order of
the two. Testing is post-processing, so a test with false-positive rate α and power s obeys
d_t(s‖α) ≤ ε(t) and d_t(α‖s) ≤ ε(t), d_t being the divergence of two coins. All such (α, s) form a
convex set; its edge is the curve, and several orders together give the lowest edge: `renyi_power`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

from reconbench.bounds import _validate
from reconbench.bounds._validate import FloatArray, positive_integer
from reconbench.bounds.guarantees.guarantee import GaussianDP
from reconbench.bounds.guarantees.polyline import MAX_EPSILON, Polyline
from reconbench.bounds.guarantees.relation import (
    RECORD,
    Relation,
    represent,
    require_kind,
    require_same,
)
from reconbench.bounds.guarantees.renyi_power import (
    LARGEST_LOGIT,
    Limits,
    find_edge,
    largest_power,
    log_terms,
)
from reconbench.bounds.guarantees.tabulated import TabulatedCurve

# Any finite set of orders gives a valid bound; these are close enough together to lose little.
ORDERS = 1 + np.geomspace(1e-2, 1e4, 161)
_STEPS = 64
# Where tangents are taken: logits of α, from that of f(α) = α.
_OFFSETS = np.concatenate([-np.geomspace(200.0, 0.01, 48), [0.0], np.geomspace(0.01, 20.0, 16)])


@runtime_checkable
class RenyiBounded(Protocol):
    """A guarantee that also bounds every Rényi divergence between neighbours."""

    def renyi(self, orders: ArrayLike) -> FloatArray:
        """ε(t): a bound on the Rényi divergence of order t > 1."""


@dataclass(frozen=True, eq=False)
class RenyiDP:
    """(orders[i], epsilons[i])-Rényi DP for every i (Mironov 2017), orders > 1."""

    orders: FloatArray
    epsilons: FloatArray
    relation: Relation = Relation.REPLACE_ONE
    unit: str = RECORD

    __repr__ = represent

    def __post_init__(self) -> None:
        orders = np.array(self.orders, dtype=np.float64, ndmin=1)
        epsilons = np.array(self.epsilons, dtype=np.float64, ndmin=1)
        if orders.ndim != 1 or orders.size == 0 or orders.shape != epsilons.shape:
            raise ValueError(
                "orders and epsilons must be non-empty 1-D arrays of the same length, got shapes "
                f"{orders.shape} and {epsilons.shape}"
            )
        if not np.all((orders > 1) & np.isfinite(orders)):
            raise ValueError(f"orders must be > 1 and finite, got {orders}: use PureDP for inf")
        if not np.all(epsilons >= 0):
            raise ValueError(f"epsilons must be >= 0 (inf allowed), got {epsilons}")
        by_order = np.argsort(orders)
        for name, values in (("orders", orders[by_order]), ("epsilons", epsilons[by_order])):
            values.setflags(write=False)
            object.__setattr__(self, name, values)

    def tradeoff(self, alpha: ArrayLike) -> FloatArray:
        return self._edge(alpha)[1]

    def power(self, alpha: ArrayLike) -> FloatArray:
        return self._edge(alpha)[0]

    def delta_at(self, epsilon: float) -> float:
        at = _validate.non_negative("epsilon", epsilon)
        textbook = math.exp(min(0.0, float(self._textbook_log_delta(at).min())))
        return min(self._total_variation, textbook, self._profile.delta(at))

    def epsilon_at(self, delta: float) -> float:
        target = _validate.below_one("delta", delta)
        if target >= self._total_variation:
            return 0.0
        return min(self._textbook_epsilon(target), self._profile.epsilon(target))

    def total_variation(self) -> float:
        return self.delta_at(0.0)

    def renyi(self, orders: ArrayLike) -> FloatArray:
        """ε(t) at any t: that of the next order up, since D_t grows with t; inf beyond the last."""
        t = np.asarray(orders, dtype=np.float64)
        # The best of all orders at or above t.
        best = np.minimum.accumulate(self.epsilons[::-1])[::-1]
        position = np.searchsorted(self.orders, t)
        return np.append(best, math.inf)[position]

    def group(self, size: int) -> TabulatedCurve:
        """f^(n), n = size, from the textbook (ε, δ) pairs and the total variation."""
        n = positive_integer("size", size)
        largest = min(max(1.0, self._textbook_epsilon(1e-15)), MAX_EPSILON)
        grid = np.linspace(0.0, largest, 2_001)[1:]
        deltas = [math.exp(min(0.0, float(self._textbook_log_delta(e).min()))) for e in grid]
        line = Polyline.from_pairs(np.append(grid, 0.0), np.append(deltas, self._total_variation))
        return TabulatedCurve.of(line.group(n), self.relation, self.unit)

    def compose(self, other: RenyiDP) -> RenyiDP:
        """Both releases together: ε₁(t) + ε₂(t) (Mironov 2017, Proposition 1)."""
        require_kind(self, other)
        require_same(self, other)
        orders = np.union1d(self.orders, other.orders)
        total = self.renyi(orders) + other.renyi(orders)
        kept = np.isfinite(total)
        if not kept.any():
            orders, total, kept = orders[:1], np.array([math.inf]), np.array([True])
        return RenyiDP(orders[kept], total[kept], self.relation, self.unit)

    def describe(self) -> str:
        return f"Rényi DP at {self.orders.size} orders, {self.relation.value}"

    def _edge(self, alpha: ArrayLike) -> tuple[FloatArray, FloatArray]:
        level = _validate.probabilities("alpha", alpha)
        return largest_power(level, self.orders, self.epsilons, both=True)

    @cached_property
    def _total_variation(self) -> float:
        return math.tanh(float(self._middle.min()) / 2)

    @cached_property
    def _middle(self) -> FloatArray:
        """logit(1 − α) at f(α) = α, for each order alone."""
        # On f(α) = α the test has power 1 − α: d_t(1 − α‖α) = ε(t), one root for each order, and
        # the total variation is 1 − 2α = tanh(logit(1 − α)/2).
        low, high = np.zeros(self.orders.size), np.full(self.orders.size, LARGEST_LOGIT)
        with np.errstate(over="ignore"):
            budget = (self.orders - 1) * self.epsilons
        for _ in range(_STEPS):
            u = (low + high) / 2
            fits = np.logaddexp(*log_terms(u, -u, self.orders)) <= budget
            low, high = np.where(fits, u, low), np.where(fits, high, u)
        return high

    @cached_property
    def _profile(self) -> Polyline:
        """The best curve of many exact pairs: the tangents of each order's convex set of tests.

        The set d_t(s‖α) ≤ ε(t) lies below the tangent s = δ + e^ε α at any point of its edge, so
        that (ε, δ)-DP holds. Pairs come from points on or just outside the edge: never too small.
        """
        finite = np.isfinite(self.epsilons)
        if not finite.any():
            return Polyline.from_pairs(np.zeros(1), np.ones(1))
        t = self.orders[finite][:, None]
        with np.errstate(over="ignore"):
            budget = (t - 1) * self.epsilons[finite][:, None]
        v = np.clip(-self._middle[finite][:, None] + _OFFSETS, -LARGEST_LOGIT, LARGEST_LOGIT)
        u = find_edge(v, Limits(t, budget))
        # ρ = s/α > 1 > q = (1 − s)/(1 − α); slope e^ε = (1 − 1/t)(ρ^t − q^t)/(ρ^(t−1) − q^(t−1))
        log_s, log_alpha = -np.logaddexp(0.0, -u), -np.logaddexp(0.0, -v)
        log_miss, log_rest = log_s - u, log_alpha - v
        ratio = np.minimum((log_miss - log_rest) - (log_s - log_alpha), 0.0)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            slope = (
                np.log1p(-1 / t)
                + (log_s - log_alpha)
                + np.log(-np.expm1(t * ratio))
                - np.log(-np.expm1((t - 1) * ratio))
            )
            # δ = s − e^ε α; a slope below 1 is mirrored: (−ε, 1 − (1 − δ)/e^ε)
            lift = -np.expm1(slope + log_alpha - log_s)
            delta = np.exp(log_s) * lift
            beta = np.exp(log_miss) + np.exp(slope + log_alpha)
            mirrored = 1 - beta * np.exp(-slope)
        deltas = np.where(slope >= 0, delta, mirrored)
        outside = np.logaddexp(*log_terms(u, v, t)) >= budget
        kept = outside & np.isfinite(slope) & (deltas > 0) & (deltas < 1)
        # Rounding of s and of δ, far below both, is added.
        pairs = deltas[kept] * (1 + 1e-12) + 1e-15 * np.exp(log_s[kept])
        epsilons = np.append(np.abs(slope[kept]), 0.0)
        return Polyline.from_pairs(
            epsilons, np.minimum(1.0, np.append(pairs, self._total_variation))
        )

    def _textbook_log_delta(self, epsilon: float) -> FloatArray:
        """log δ by order: Canonne, Kamath and Steinke 2020, Proposition 12."""
        t = self.orders
        # δ = e^((t−1)(ε(t) − ε)) / (t − 1) · (1 − 1/t)^t
        if math.isinf(epsilon):
            return np.where(np.isinf(self.epsilons), math.inf, -math.inf)
        with np.errstate(over="ignore"):
            gap = (t - 1) * (self.epsilons - epsilon)
        return np.asarray(gap - np.log(t - 1) + t * np.log1p(-1 / t))

    def _textbook_epsilon(self, delta: float) -> float:
        if delta == 0:
            return math.inf
        t = self.orders
        solved = self.epsilons + (t * np.log1p(-1 / t) - np.log(t - 1) - math.log(delta)) / (t - 1)
        return max(0.0, float(solved.min()))


@dataclass(frozen=True)
class ZCDP:
    """ρ-zero-concentrated DP: (t, ρt)-Rényi DP for every t > 1 (Bun and Steinke 2016).

    The Gaussian mechanism of ρ-zCDP is √(2ρ)-GDP; an arbitrary ρ-zCDP mechanism is not, and gets
    the weaker curve that Rényi DP gives.
    """

    rho: float
    relation: Relation = Relation.REPLACE_ONE
    unit: str = RECORD

    __repr__ = represent

    def __post_init__(self) -> None:
        object.__setattr__(self, "rho", _validate.non_negative("rho", self.rho))

    @cached_property
    def _renyi(self) -> RenyiDP:
        return RenyiDP(ORDERS, self.rho * ORDERS, self.relation, self.unit)

    def tradeoff(self, alpha: ArrayLike) -> FloatArray:
        return self._renyi.tradeoff(alpha)

    def power(self, alpha: ArrayLike) -> FloatArray:
        return self._renyi.power(alpha)

    def delta_at(self, epsilon: float) -> float:
        return self._renyi.delta_at(epsilon)

    def epsilon_at(self, delta: float) -> float:
        return self._renyi.epsilon_at(delta)

    def total_variation(self) -> float:
        return self.delta_at(0.0)

    def renyi(self, orders: ArrayLike) -> FloatArray:
        """ε(t) = ρt."""
        return self.rho * np.asarray(orders, dtype=np.float64)

    def gaussian(self) -> GaussianDP:
        """The Gaussian mechanism that is exactly ρ-zCDP: √(2ρ)-GDP. For Gaussian noise only."""
        return GaussianDP(math.sqrt(2 * self.rho), self.relation, self.unit)

    def group(self, size: int) -> ZCDP:
        """n²ρ-zCDP (Bun and Steinke 2016, Proposition 1.9)."""
        return ZCDP(positive_integer("size", size) ** 2 * self.rho, self.relation, self.unit)

    def compose(self, other: ZCDP) -> ZCDP:
        """Both releases together: (ρ₁ + ρ₂)-zCDP (Bun and Steinke 2016, Lemma 1.7)."""
        require_kind(self, other)
        require_same(self, other)
        return ZCDP(self.rho + other.rho, self.relation, self.unit)

    def describe(self) -> str:
        return f"{self.rho:g}-zCDP, {self.relation.value}"


def zcdp_rho(epsilon: float, delta: float) -> float:
    """The ρ whose simple conversion ε = ρ + 2√(ρ log(1/δ)) gives (ε, δ).

    Bun and Steinke 2016, Proposition 1.3, solved for ρ: it recovers the ρ behind a budget stated
    through that conversion, and is no statement about an arbitrary (ε, δ)-DP mechanism.
    """
    budget = _validate.positive("epsilon", epsilon)
    log_term = -math.log(_validate.strictly_between_zero_and_one("delta", delta))
    # √ρ = √(L + ε) − √L, L = log(1/δ), without the cancellation
    return (budget / (math.sqrt(log_term + budget) + math.sqrt(log_term))) ** 2
