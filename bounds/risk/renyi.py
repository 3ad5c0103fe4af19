"""Bounds on one target from pure DP and from Rényi divergences: ReRo and Fano.

Reconstruction robustness (ReRo) is Balle, Cherubin and Hayes 2022, "Reconstructing Training Data
with Informed Adversaries"; the Fano bounds are Guo, Sablayrolles and Sanjabi 2023, "A Lesson from
Fano". Both assume that all other records are known, and take either neighbouring relation.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from reconbench.bounds import _validate
from reconbench.bounds._validate import FloatArray
from reconbench.bounds.guarantees.guarantee import GaussianDP, Guarantee, PureDP
from reconbench.bounds.guarantees.relation import why_not_replace_one
from reconbench.bounds.guarantees.renyi import ORDERS, ZCDP, RenyiBounded, RenyiDP
from reconbench.bounds.guarantees.renyi_power import largest_power

_NO_RENYI = "it needs Rényi divergences; state the guarantee as RenyiDP, ZCDP or GaussianDP"


@dataclass(frozen=True)
class ReRoPure:
    """succ ≤ e^ε base for pure ε-DP (Balle et al. 2022, Corollary 3)."""

    name: ClassVar[str] = "rero-pure"
    reference: ClassVar[str] = "Balle et al. 2022, Corollary 3"
    assumptions: ClassVar[str] = "pure DP; any prior, any success event"

    def refuses(self, guarantee: Guarantee) -> str | None:
        if guarantee.epsilon_at(0.0) < math.inf or isinstance(guarantee, PureDP):
            return None
        return "it needs pure DP, and this guarantee has no finite pure epsilon"

    def success(self, baseline: ArrayLike, guarantee: Guarantee) -> FloatArray:
        base = _validate.probabilities("baseline", baseline)
        _refuse(self.refuses(guarantee), self.reference)
        epsilon = guarantee.epsilon_at(0.0)
        # e^ε base, capped in logarithms so that neither factor overflows
        with np.errstate(divide="ignore", invalid="ignore"):
            capped = np.exp(np.minimum(0.0, epsilon + np.log(base)))
        return np.where(base > 0, capped, float(math.isinf(epsilon)))


@dataclass(frozen=True)
class ReRoRenyi:
    """succ ≤ (base e^ε(t))^((t−1)/t) for Rényi DP (Balle et al. 2022; Kulynych 2025, Theorem B.2).

    At one order, or at the best of many (Kulynych 2025, Corollary B.2): any set of orders is valid.
    """

    order: float | None = None

    name: ClassVar[str] = "rero-rdp"
    reference: ClassVar[str] = "Balle et al. 2022 (Kulynych 2025, Theorem B.2, Corollary B.2)"
    assumptions: ClassVar[str] = "Rényi DP; any prior, any success event"

    def refuses(self, guarantee: Guarantee) -> str | None:
        return None if isinstance(guarantee, RenyiBounded) else _NO_RENYI

    def success(self, baseline: ArrayLike, guarantee: Guarantee) -> FloatArray:
        base = _validate.probabilities("baseline", baseline)
        orders, epsilons = _orders(self.order, guarantee, self.reference)
        with np.errstate(divide="ignore"):
            log_base = np.log(base)[..., None]
        # log succ ≤ (1 − 1/t)(log base + ε(t)), the smallest over t
        with np.errstate(invalid="ignore"):
            log_bound = np.nan_to_num((1 - 1 / orders) * (log_base + epsilons), nan=0.0)
        bound = np.exp(np.minimum(0.0, log_bound.min(axis=-1)))
        return np.where(base > 0, bound, float(np.isinf(epsilons).all()))


@dataclass(frozen=True)
class ReRoZCDP:
    """succ ≤ exp(−(√log(1/base) − √ρ)²) for ρ-zCDP (Balle et al. 2022; Kulynych 2025, Cor. B.1).

    It is the best order t = √(log(1/base)/ρ) of the Rényi bound, which must exceed 1. For
    base ≥ e^−ρ there is no such order and the bound is 1: the printed formula would fall below
    the baseline there, down to e^−ρ for an attack that is certain to succeed.
    """

    name: ClassVar[str] = "rero-zcdp"
    reference: ClassVar[str] = "Balle et al. 2022 (Kulynych 2025, Corollary B.1, for base < e^-rho)"
    assumptions: ClassVar[str] = "zero-concentrated DP; any prior, any success event"

    def refuses(self, guarantee: Guarantee) -> str | None:
        if isinstance(guarantee, ZCDP | GaussianDP | PureDP):
            return None
        return "it needs zero-concentrated DP; state the guarantee as ZCDP or GaussianDP"

    def success(self, baseline: ArrayLike, guarantee: Guarantee) -> FloatArray:
        base = _validate.probabilities("baseline", baseline)
        _refuse(self.refuses(guarantee), self.reference)
        rho = _rho(guarantee)
        with np.errstate(divide="ignore"):
            surprise = -np.log(base)
        with np.errstate(invalid="ignore"):
            bound = np.exp(-((np.sqrt(surprise) - math.sqrt(rho)) ** 2))
        return np.where((surprise > rho) & math.isfinite(rho), bound, 1.0)


@dataclass(frozen=True)
class FanoRenyi:
    """The largest s with d_t(s‖base) ≤ ε(t) for Rényi DP (Guo et al. 2023).

    d_t is the Rényi divergence of two coins. Guessing right is an event: it has probability succ
    when release and secret belong together and at most base when they are independent, and
    telling the two apart is post-processing. At the best of many orders. It is never above
    `ReRoRenyi`, which keeps one of the two terms of d_t. Order t → 1 is Fano's inequality.
    """

    order: float | None = None

    name: ClassVar[str] = "fano"
    reference: ClassVar[str] = "Guo et al. 2023, Rényi form of Fano's inequality"
    assumptions: ClassVar[str] = "Rényi DP; any prior, any success event"

    def refuses(self, guarantee: Guarantee) -> str | None:
        return None if isinstance(guarantee, RenyiBounded) else _NO_RENYI

    def success(self, baseline: ArrayLike, guarantee: Guarantee) -> FloatArray:
        base = _validate.probabilities("baseline", baseline)
        orders, epsilons = _orders(self.order, guarantee, self.reference)
        return largest_power(base, orders, epsilons, both=False)[0]


@dataclass(frozen=True)
class FanoInformation:
    """Fano's inequality with the mutual information of μ-GDP on a secret of two values.

    Guo et al. 2023; Kulynych 2025, figure 5. The secret has the prior (base, 1 − base), base ≥ 1/2.
    Any two outputs' distributions that are μ-GDP are post-processings of N(0, 1) and N(μ, 1) (Dong,
    Roth and Su 2022, Theorem 2.10), so their information is at most that of these. Replace-one
    neighbours. nan for base < 1/2, which no secret of two values has.
    """

    name: ClassVar[str] = "fano-mi"
    reference: ClassVar[str] = "Guo et al. 2023, Fano's inequality with the exact information"
    assumptions: ClassVar[str] = "Gaussian DP; a secret of two values; replace-one neighbours"

    def refuses(self, guarantee: Guarantee) -> str | None:
        if not isinstance(guarantee, GaussianDP):
            return "it needs Gaussian DP, whose mutual information it computes"
        return why_not_replace_one(guarantee)

    def success(self, baseline: ArrayLike, guarantee: Guarantee) -> FloatArray:
        base = _validate.probabilities("baseline", baseline)
        _refuse(self.refuses(guarantee), self.reference)
        assert isinstance(guarantee, GaussianDP)
        found = [self._one(float(b), guarantee.mu) for b in np.ravel(base)]
        return np.array(found).reshape(np.shape(base))

    def _one(self, base: float, mu: float) -> float:
        if base < 0.5:
            return math.nan
        return fano_information([base, 1 - base], gaussian_information(mu, 1 - base))


def gaussian_information(mu: float, prior: float) -> float:
    """The mutual information in nats of a bit b ~ Bern(prior) and N(μb, 1), by quadrature.

    E over z ~ N(0, 1) of −(1 − π) log(1 − π + π e^m) − π log(π + (1 − π) e^m) with
    m = μz − μ²/2, by the trapezoidal rule, which converges exponentially for such integrands.
    """
    size = _validate.non_negative("mu", mu)
    pi = float(_validate.probabilities("prior", prior))
    if pi in (0.0, 1.0) or size == 0:
        return 0.0
    entropy = -pi * math.log(pi) - (1 - pi) * math.log1p(-pi)
    # Beyond, the two normals overlap by less than 1e-300.
    if size > 80:
        return entropy
    z = np.linspace(-38.0, 38.0, 40_001)
    weight = np.exp(-(z**2) / 2)
    m = size * z - size**2 / 2
    yes, no = math.log(pi), math.log1p(-pi)
    terms = -(1 - pi) * np.logaddexp(no, yes + m) - pi * np.logaddexp(yes, no + m)
    found = float(weight @ terms) / float(weight.sum())
    return min(max(found, 0.0), entropy)


def fano_information(prior: ArrayLike, information: float) -> float:
    """The largest exact-match success that a mutual information of I nats allows.

    Fano's inequality (Guo et al. 2023): H(π) − I ≤ h(s) + (1 − s) log(m − 1), for a secret with
    prior π over m values. No neighbouring relation: any release with that mutual information. For
    (t, ε)-Rényi DP, I ≤ ε at every t > 1.
    """
    pi = _validate.probability_vector("prior", prior)
    if not math.isclose(float(pi.sum()), 1.0, rel_tol=0, abs_tol=1e-9):
        raise ValueError(f"prior must sum to 1, got {float(pi.sum())!r}")
    nats = _validate.non_negative("information", information)
    positive = pi[pi > 0]
    left = -float(positive @ np.log(positive)) - nats
    low, high = float(pi.max()), 1.0
    if left <= 0 or positive.size == 1:
        return 1.0
    log_others = math.log(pi.size - 1)

    def right(s: float) -> float:
        return -s * math.log(s) + (1 - s) * (log_others - math.log1p(-s)) if s < 1 else 0.0

    if right(low) < left:
        return low
    # The right side falls from s = 1/m on, and max π ≥ 1/m.
    while high - low > 1e-15:
        middle = (low + high) / 2
        if not low < middle < high:
            break
        low, high = (middle, high) if right(middle) >= left else (low, middle)
    return high


def _orders(
    order: float | None, guarantee: Guarantee, reference: str
) -> tuple[FloatArray, FloatArray]:
    if not isinstance(guarantee, RenyiBounded):
        raise ValueError(f"guarantee does not fit {reference}: {_NO_RENYI}")
    if order is not None:
        if not (1 < order < math.inf):
            raise ValueError(f"order must be > 1 and finite, got {order!r}")
        orders = np.array([float(order)])
    else:
        orders = guarantee.orders if isinstance(guarantee, RenyiDP) else ORDERS
    return orders, guarantee.renyi(orders)


def _rho(guarantee: Guarantee) -> float:
    if isinstance(guarantee, ZCDP):
        return guarantee.rho
    if isinstance(guarantee, GaussianDP):
        return guarantee.mu**2 / 2
    # ε-DP is ε²/2-zCDP (Bun and Steinke 2016, Proposition 1.4).
    return guarantee.epsilon_at(0.0) ** 2 / 2


def _refuse(reason: str | None, reference: str) -> None:
    if reason is not None:
        raise ValueError(f"guarantee does not fit {reference}: {reason}")
