"""The joint model of ε, attack strength s, error probabilities and counts (Yildirim 2025, 2.1).

    ε ~ half-normal, s ~ Beta, (α_j, β_j) | ε, s ~ uniform on R_s(ε, δ), (X_j, Y_j) | α_j, β_j ~ g.

An attack j is a test of "the record is in": α_j its false-positive, β_j its false-negative
probability. δ is given. The region R(ε, δ) of what (ε, δ)-DP allows is the same for both
neighbouring relations; what differs is the pair of tables the attack was challenged with
(`hypotheses`).
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betaln, expit, xlog1py, xlogy

from reconbench.bounds import _validate
from reconbench.bounds.guarantees.relation import Relation

Floats = NDArray[np.float64]


def known_delta(delta: float) -> float:
    """δ is not estimated: it is given, in [0, 1)."""
    return _validate.below_one("delta", delta)


def hypotheses(relation: Relation) -> tuple[str, str]:
    """What the mechanism ran on in the N₀ and in the N₁ challenges (Yildirim 2025, section 5)."""
    if relation is Relation.ADD_REMOVE:
        return "D", "D with the record z added"
    return "D with another record z′", "D with the record z in its place"


def folded(alpha: ArrayLike, beta: ArrayLike) -> tuple[Floats, Floats]:
    """(smaller, larger) error, after turning a test around that is wrong more often than right.

    R is symmetric about α = β and about the centre (½, ½), so that membership takes one line.
    """
    x, y = np.asarray(alpha, dtype=np.float64), np.asarray(beta, dtype=np.float64)
    turned = x + y > 1
    x, y = np.where(turned, 1 - x, x), np.where(turned, 1 - y, y)
    return np.minimum(x, y), np.maximum(x, y)


def in_region(alpha: ArrayLike, beta: ArrayLike, epsilon: float, delta: float) -> NDArray[np.bool_]:
    """Whether (ε, δ)-DP allows errors (α, β): Kairouz et al. 2017, Theorem 2.1.

    R = {x + e^ε y ≥ 1 − δ, y + e^ε x ≥ 1 − δ, and the same for (1 − x, 1 − y)}.
    """
    low, high = folded(alpha, beta)
    # Of the four lines the one with e^ε at the smaller folded error binds.
    return np.asarray(high + np.exp(epsilon) * low >= 1 - delta)


def in_strip(
    alpha: ArrayLike, beta: ArrayLike, epsilon: float, delta: float, strength: float
) -> NDArray[np.bool_]:
    """Whether (α, β) is in R_s(ε, δ) = R(ε, δ) \\ R(sε, sδ) (Yildirim 2025, Equation 2)."""
    inner = in_region(alpha, beta, strength * epsilon, strength * delta)
    return in_region(alpha, beta, epsilon, delta) & ~inner


def region_area(epsilon: ArrayLike, delta: ArrayLike) -> Floats:
    """|R(ε, δ)| = 1 − 2 (1 − δ)²/(1 + e^ε)."""
    e, d = np.asarray(epsilon, dtype=np.float64), np.asarray(delta, dtype=np.float64)
    return 1 - 2 * (1 - d) ** 2 * expit(-e)


def strip_area(epsilon: ArrayLike, delta: ArrayLike, strength: ArrayLike) -> Floats:
    """|R_s(ε, δ)|, Yildirim 2025, below Equation 3, without its cancellation near s = 1.

    2 [(1 − sδ)²/(1 + e^{sε}) − (1 − δ)²/(1 + e^ε)], with the difference taken factor by factor.
    """
    e, d = np.asarray(epsilon, dtype=np.float64), np.asarray(delta, dtype=np.float64)
    s = np.asarray(strength, dtype=np.float64)
    # ((1 − sδ)² − (1 − δ)²)/(1 + e^{sε})
    by_delta = (1 - s) * d * (2 - (1 + s) * d) * expit(-s * e)
    # (1 − δ)² (1/(1 + e^{sε}) − 1/(1 + e^ε))
    by_epsilon = (1 - d) ** 2 * -np.expm1(-(1 - s) * e) * expit(-s * e) * expit(e)
    return 2 * (by_delta + by_epsilon)


def epsilon_level(alpha: ArrayLike, beta: ArrayLike, delta: float) -> Floats:
    """The smallest ε with (α, β) in R(ε, δ): what the errors alone say; inf if none allows them."""
    low, high = folded(alpha, beta)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        # high + e^ε low ≥ 1 − δ
        level = np.log((1 - delta - high) / low)
    return np.where(high + low >= 1 - delta, 0.0, np.maximum(level, 0.0))


def strength_level(alpha: ArrayLike, beta: ArrayLike, epsilon: float, delta: float) -> Floats:
    """The largest t in [0, 1] with (α, β) outside R(tε, tδ), where it is in R(ε, δ)."""
    low, high = folded(alpha, beta)
    below, above = np.zeros(low.shape), np.ones(low.shape)
    # high + e^{tε} low − (1 − tδ) grows with t; 60 halvings leave less than one rounding.
    for _ in range(60):
        middle = (below + above) / 2
        inside = high + np.exp(middle * epsilon) * low >= 1 - middle * delta
        below, above = np.where(inside, below, middle), np.where(inside, middle, above)
    return below


@dataclass(frozen=True)
class BetaStrength:
    """s ~ Beta(a, b): the average strength of the attacks, estimated along with ε."""

    a: float = 1.0
    b: float = 1.0

    def __post_init__(self) -> None:
        for name in ("a", "b"):
            if np.isinf(_validate.positive(f"strength prior {name}", getattr(self, name))):
                raise ValueError(f"strength prior {name} must be finite, got inf")

    @property
    def exponents(self) -> tuple[float, float]:
        return float(self.a), float(self.b)

    def log_density(self, s: ArrayLike) -> Floats:
        given = np.asarray(s, dtype=np.float64)
        found = xlogy(self.a - 1, given) + xlog1py(self.b - 1, -given) - betaln(self.a, self.b)
        return np.asarray(found, dtype=np.float64)

    def describe(self) -> str:
        return f"s ~ Beta({self.a:g}, {self.b:g})"


@dataclass(frozen=True)
class FixedStrength:
    """A strength taken as known. s = 0 spreads (α, β) over all of R(ε, δ); s must be below 1."""

    value: float

    def __post_init__(self) -> None:
        _validate.below_one("strength", self.value)

    @property
    def exponents(self) -> tuple[float, float]:
        """Those of a flat density: nothing is added to the prior."""
        return 1.0, 1.0

    def describe(self) -> str:
        return f"s = {self.value:g}, fixed"


Strength = BetaStrength | FixedStrength


@dataclass(frozen=True)
class Prior:
    """ε ~ N(0, `variance`) on [0, ∞), and a strength.

    `variance` is σ²_ε, not the standard deviation: the paper's N(0, 10) reads as variance 10.
    """

    variance: float = 10.0
    strength: Strength = field(default_factory=BetaStrength)

    def __post_init__(self) -> None:
        if np.isinf(_validate.positive("variance", self.variance)):
            raise ValueError("variance must be finite, got inf: the half-normal must be a prior")

    def log_epsilon(self, epsilon: ArrayLike) -> Floats:
        """log of 2 N(ε; 0, variance)."""
        e = np.asarray(epsilon, dtype=np.float64)
        found = np.log(2 / np.sqrt(2 * np.pi * self.variance)) - e**2 / (2 * self.variance)
        return np.asarray(found, dtype=np.float64)

    def describe(self) -> str:
        return f"ε ~ half-normal of variance {self.variance:g}, {self.strength.describe()}"


@dataclass(frozen=True)
class IndependentBinomial:
    """X_j ~ Bin(N₀, α_j) and Y_j ~ Bin(N₁, β_j), independent (Yildirim 2025, Equation 1)."""

    def describe(self) -> str:
        return "independent binomial counts"


@dataclass(frozen=True)
class CorrelatedNormal:
    """The bivariate normal of Yildirim 2025, Equation 7, for decisions that share shadow models.

    var X = α(1 − α)(N₀ + N₀(N₀ − 1)τ), var Y likewise, cov = N₀N₁ρ √(α(1 − α)β(1 − β)).
    τ is in [0, 1] and ρ in [−1, 1], both restricted to covariances that are positive definite for
    every attack: |ρ| < r(τ) = √((1 + (N₀ − 1)τ)(1 + (N₁ − 1)τ)/(N₀N₁)). (τ, ρ) is uniform there.
    With a finite ``tau_sd``, τ is half-normal with that sd and ρ uniform on (−r(τ), r(τ)), as in
    the code that Yildirim 2025 publishes, where it is 0.01.
    """

    tau_sd: float = np.inf

    def __post_init__(self) -> None:
        _validate.positive("tau_sd", self.tau_sd)

    def describe(self) -> str:
        prior = "" if np.isinf(self.tau_sd) else f", τ half-normal of sd {self.tau_sd:g}"
        return f"correlated counts (bivariate normal with τ and ρ estimated{prior})"


Likelihood = IndependentBinomial | CorrelatedNormal


def log_binomial(x: ArrayLike, n: ArrayLike, p: ArrayLike) -> Floats:
    """log Bin(x | n, p)."""
    k, m = np.asarray(x, dtype=np.float64), np.asarray(n, dtype=np.float64)
    q = np.asarray(p, dtype=np.float64)
    choose = -betaln(m - k + 1, k + 1) - np.log1p(m)
    return np.asarray(choose + xlogy(k, q) + xlog1py(m - k, -q), dtype=np.float64)


def log_correlated(
    x: float,
    n0: float,
    y: float,
    n1: float,
    alpha: ArrayLike,
    beta: ArrayLike,
    tau: float,
    rho: float,
) -> Floats:
    """log density of Equation 7 at (x, y); −inf where it is no distribution."""
    a, b = np.asarray(alpha, dtype=np.float64), np.asarray(beta, dtype=np.float64)
    v0, v1 = n0 + n0 * (n0 - 1) * tau, n1 + n1 * (n1 - 1) * tau
    r = n0 * n1 * rho / np.sqrt(v0 * v1)
    if abs(r) >= 1:
        return np.full(np.broadcast_shapes(a.shape, b.shape), -np.inf)
    sd_x, sd_y = np.sqrt(a * (1 - a) * v0), np.sqrt(b * (1 - b) * v1)
    z, w = (x - n0 * a) / sd_x, (y - n1 * b) / sd_y
    quadratic = (z**2 - 2 * r * z * w + w**2) / (1 - r**2)
    return np.asarray(
        -quadratic / 2 - np.log(2 * np.pi * sd_x * sd_y) - np.log1p(-(r**2)) / 2, dtype=np.float64
    )
