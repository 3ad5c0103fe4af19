"""Rényi and zero-concentrated differential privacy as trade-off curves.

Order t bounds the Rényi divergence D_t between the outputs of two neighbours, in either order of
the two. Testing is post-processing, so a test with false-positive rate α and power s obeys
d_t(s‖α) ≤ ε(t) and d_t(α‖s) ≤ ε(t), d_t being the divergence of two coins. All such (α, s) form a
convex set; its edge is the curve, and several orders together give the lowest edge.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit

from reconbench.bounds import _validate
from reconbench.bounds._validate import FloatArray, positive_integer
from reconbench.bounds.guarantees.guarantee import GaussianDP
from reconbench.bounds.guarantees.polyline import Polyline
from reconbench.bounds.guarantees.relation import RECORD, Relation, require_same
from reconbench.bounds.guarantees.tabulated import TabulatedCurve

# Any finite set of orders gives a valid bound; these are close enough together to lose little.
ORDERS = 1 + np.geomspace(1e-2, 1e4, 161)
_STEPS = 64
_LOGIT = 690.0


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
        if at == 0:
            return self._total_variation
        return min(self._total_variation, self._conjugate(at))

    def epsilon_at(self, delta: float) -> float:
        target = _validate.below_one("delta", delta)
        if target >= self._total_variation:
            return 0.0
        upper = self._textbook_epsilon(target)
        if math.isinf(upper):
            return math.inf
        lower = 0.0
        while upper - lower > 1e-9 * upper:
            middle = (lower + upper) / 2
            lower, upper = (lower, middle) if self.delta_at(middle) <= target else (middle, upper)
        return upper

    def total_variation(self) -> float:
        return self._total_variation

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
        grid = np.linspace(0.0, max(1.0, self._textbook_epsilon(1e-15)), 2_001)[1:]
        deltas = [math.exp(min(0.0, float(self._textbook_log_delta(e).min()))) for e in grid]
        line = Polyline.from_pairs(np.append(grid, 0.0), np.append(deltas, self._total_variation))
        return TabulatedCurve.of(line.group(n), self.relation, self.unit)

    def compose(self, other: RenyiDP) -> RenyiDP:
        """Both releases together: ε₁(t) + ε₂(t) (Mironov 2017, Proposition 1)."""
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
        low, high = np.zeros(self.orders.size), np.full(self.orders.size, _LOGIT)
        for _ in range(_STEPS):
            u = (low + high) / 2
            fits = _log_moment(u, -u, self.orders) <= (self.orders - 1) * self.epsilons
            low, high = np.where(fits, u, low), np.where(fits, high, u)
        return high

    def _conjugate(self, epsilon: float) -> float:
        """max over α of 1 − f(α) − e^ε α from above, for the few orders that matter at this ε."""
        textbook = self._textbook_log_delta(epsilon)
        # The best order for small δ is the textbook's, for large ones that of f(α) = α.
        first, last = sorted((int(textbook.argmin()), int(self._middle.argmin())))
        spread = np.linspace(first, last, 8).astype(int)
        around = int(textbook.argmin()) + np.arange(-2, 3)
        near = np.unique(np.clip(np.append(spread, around), 0, self.orders.size - 1))
        orders, epsilons = self.orders[near], self.epsilons[near]
        if not np.isfinite(epsilons).any():
            return 1.0
        low, high = -_LOGIT, 0.0
        for _ in range(6):
            log_alpha = np.linspace(low, high, 33)
            alpha = np.exp(log_alpha)
            power = largest_power(alpha, orders, epsilons, both=True)[0]
            gain = power - np.exp(epsilon + log_alpha)
            best = int(np.argmax(gain))
            low = float(log_alpha[max(best - 1, 0)])
            high = float(log_alpha[min(best + 1, 32)])
        textbook_delta = min(1.0, math.exp(min(0.0, float(textbook.min()))))
        if not 0 < best < 32:
            return textbook_delta
        # The gain is concave in α: beyond its best point it stays below the chord before it.
        ahead, behind = alpha[best + 1] - alpha[best], alpha[best] - alpha[best - 1]
        rise, fall = gain[best] - gain[best - 1], gain[best] - gain[best + 1]
        slack = float(max(rise * ahead / behind, fall * behind / ahead))
        return min(float(gain[best]) + slack, textbook_delta)

    def _textbook_log_delta(self, epsilon: float) -> FloatArray:
        """log δ by order: Canonne, Kamath and Steinke 2020, Proposition 12."""
        t = self.orders
        # δ = e^((t−1)(ε(t) − ε)) / (t − 1) · (1 − 1/t)^t
        return np.asarray(
            (t - 1) * (self.epsilons - epsilon) - np.log(t - 1) + t * np.log1p(-1 / t)
        )

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
        return self._renyi.total_variation()

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


def largest_power(
    alpha: ArrayLike, orders: FloatArray, epsilons: FloatArray, *, both: bool
) -> tuple[FloatArray, FloatArray]:
    """The largest s with d_t(s‖α) ≤ ε(t) for every order, and 1 − s; d_t(α‖s) too if `both`."""
    level = np.asarray(alpha, dtype=np.float64)
    finite = np.isfinite(epsilons)
    if not finite.any():
        return np.ones_like(level), np.zeros_like(level)
    t, budget = orders[finite], (orders[finite] - 1) * epsilons[finite]
    with np.errstate(divide="ignore"):
        start = np.clip(np.log(level) - np.log1p(-level), -_LOGIT, _LOGIT)
    low, high = start.copy(), np.full_like(start, _LOGIT)
    for _ in range(_STEPS):
        u = (low + high) / 2
        moment = _log_moment(u[..., None], start[..., None], t)
        fits = np.all(moment <= budget, axis=-1)
        if both:
            back = _log_moment(start[..., None], u[..., None], t)
            fits &= np.all(back <= budget, axis=-1)
        low, high = np.where(fits, u, low), np.where(fits, high, u)
    power, beta = expit(high), expit(-high)
    power, beta = np.where(level > 0, power, 0.0), np.where(level > 0, beta, 1.0)
    return np.where(level < 1, power, 1.0), np.where(level < 1, beta, 0.0)


def _log_moment(u: FloatArray, v: FloatArray, t: FloatArray) -> FloatArray:
    """(t − 1) d_t(p‖q) for coins of logit u and v: log(p^t q^(1−t) + (1 − p)^t (1 − q)^(1−t))."""
    heads = -t * np.logaddexp(0.0, -u) - (1 - t) * np.logaddexp(0.0, -v)
    tails = -t * np.logaddexp(0.0, u) - (1 - t) * np.logaddexp(0.0, v)
    return np.asarray(np.logaddexp(heads, tails))
