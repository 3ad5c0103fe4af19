"""Where a printed formula or number does not hold: what does, why, and a counterexample."""

from __future__ import annotations

import math

import numpy as np
from scipy.stats import ncx2

from reconbench.bounds import (
    ZCDP,
    ApproxDP,
    GaussianDP,
    ReRoZCDP,
    Theorem35,
    UnifiedBound,
    bayes_error,
    beta,
    zcdp_rho,
)
from reconbench.bounds.rad import (
    GRR,
    LaplaceNoise,
    rad_approx_no_aux,
    rad_finite,
    rad_grr,
    rad_laplace,
    rad_oue,
    rad_uniform,
    rad_uniform_location,
)


def errata() -> list[str]:
    """Markdown lines."""
    return [
        *_swanberg_42(),
        *_swanberg_32(),
        *_swanberg_35(),
        *_rare(),
        *_bernoulli(),
        *_zcdp(),
        *_guerra_balboa(),
        *_lira(),
    ]


def _swanberg_42() -> list[str]:
    epsilon, p = 1.0, 0.5
    printed = math.exp(epsilon) / (math.exp(epsilon) + 1 / p)
    truth = math.exp(epsilon) / (math.exp(epsilon) + 1)
    return [
        "### Swanberg 2025, section 4.2: e^ε/(e^ε + 1/p)",
        "",
        "Holds: e^ε/(e^ε − 1 + 1/p), the β of Theorem 3.2. The posterior odds of a guess are at",
        "most e^ε times its prior odds p/(1 − p); solve β/(1 − β) = e^ε p/(1 − p) for β.",
        "Counterexample: two-valued randomised response with a uniform prior at ε = 1 is guessed",
        f"right with probability {truth:.4f}; the printed form allows {printed:.4f}, the corrected",
        f"one {float(beta(p, epsilon)):.4f}.",
        "",
    ]


def _swanberg_32() -> list[str]:
    return [
        "### Swanberg 2025, Theorem 3.2: stated for (ε, δ)-DP",
        "",
        "Holds: for pure ε-DP, as its proof assumes. The statement is conditional on the output.",
        "Counterexample: publish the record with probability δ, nothing otherwise. Given that it",
        "was published the success is 1, whatever the prior; the printed bound is β < 1.",
        "",
    ]


def _swanberg_35() -> list[str]:
    delta, e = 0.1, math.e
    q2 = (1 - 2 * delta - e * delta) / (1 + e) ** 2
    q1 = e * q2 + delta
    q0 = e * q1
    bound = Theorem35(np.full(2, 0.5), ApproxDP(1.0, delta))
    printed = float(bound.tail(1))
    base = 1 - (1 / (1 + e)) ** 2
    doubled = base + 2 * (printed - base)
    return [
        "### Swanberg 2025, Theorem 3.5: P[L ≥ v] ≤ T(v) + α(v)·n·δ",
        "",
        "Holds: P[L ≥ v] ≤ T(v) + n·δ at every v. The proof (and that of Steinke et al. 2023,",
        "Theorem 5.2, with 2n·δ) takes the number of targets for which ε-DP fails to be",
        "independent of the Bernoulli sum; a mechanism can place its failures where the sum falls",
        "short. Counterexample: two uniform bits, ε = 1, δ = 0.1, and a guess whose probability",
        f"depends on its number of wrong bits: {q0:.4f}, {q1:.4f}, {q2:.4f} for 0, 1, 2. It is",
        f"(1, 0.1)-DP and gets a bit right with probability {1 - q2:.4f}; the printed bound is",
        f"{printed:.4f}, and with 2n·δ it would be {doubled:.4f}.",
        "",
        "It was seen to fail only where the bound exceeds one half, so that ceilings at",
        "confidences below one half are concerned, and by less than n·δ: at n = 100 and",
        "δ = 1e-5 by less than 0.001. `ProfileRecursion` and `FdpRecursion` are proved at every v,",
        "and at 95 % they are usually lower.",
        "[High-probability ceilings](profile.md) has the proofs.",
        "",
    ]


def _rare() -> list[str]:
    gaussian = ZCDP(zcdp_rho(10.6, 1e-10)).gaussian()

    def gain(base: float) -> float:
        return 100 * (float(UnifiedBound().success(base, gaussian)) - base)

    return [
        "### Kulynych 2025, section 1: census advantage below 0.001 pp at prevalence 1 in 10,000",
        "",
        "Holds: about 1 pp. By the paper's own Theorem 3.3 and μ = √(2ρ), ρ = "
        f"{zcdp_rho(10.6, 1e-10):.4f} (which",
        "reproduce its 73 and 52 pp), the advantage is Φ(Φ⁻¹(b) + μ) − b:",
        f"{gain(1e-4):.2f} pp at b = 1e-4. It is {gain(7e-9):.4f} pp at b = 7e-9.",
        "",
    ]


def _bernoulli() -> list[str]:
    error = bayes_error(GaussianDP(1.0), 0.3)
    return [
        "### Kulynych 2025, Theorem D.1: any query q, and π",
        "",
        "Holds: for queries with q(z₀; θ) + q(z₁; θ) = 1, such as guessing one of the two values.",
        "The proof sets 1 − E[q(z₀; θ)] = E[q(z₁; θ)] under M(z₀), which is that condition.",
        "Counterexample: q ≡ 1 has expectation 1; the printed bound at π = 0.3 for 1-GDP is",
        f"{1 - error:.4f}.",
        "",
        "The proof ends at 1 − [(1 − π) α + π f(α)], the Bayes error of Definition D.1 at 1 − π,",
        "not at π. For f-DP this is harmless: neighbours come in both orders, so both forms hold,",
        "and they agree when f is symmetric. For a curve that bounds one order only it matters.",
        "With M(z₀) always 0 and M(z₁) a fair coin, T(M(z₀), M(z₁))(α) = (1 − α)/2; for π = 0.3",
        "the best guess is right with probability 0.85: printed 0.70, corrected 0.85.",
        "",
    ]


def _zcdp() -> list[str]:
    rho = 1.0
    inside = math.exp(-((math.sqrt(-math.log(0.9)) - math.sqrt(rho)) ** 2))
    return [
        "### Kulynych 2025, Corollary B.1: any baseline",
        "",
        "Holds: for base < e^−ρ. The bound is Theorem B.2 at its best order t = √(log(1/base)/ρ),",
        "which must exceed 1; for larger baselines the infimum over t > 1 is 1. Counterexample:",
        "ρ = 1 and a value of prior 0.9. Guessing it is right with probability 0.9; the printed",
        f"bound is {inside:.4f}, the corrected one {float(ReRoZCDP().success(0.9, ZCDP(rho))):g}.",
    ]


def _guerra_balboa() -> list[str]:
    return [
        "",
        "### Guerra-Balboa 2026: six statements",
        "",
        "The derivations are in [Reconstruction advantage](rad.md), the corrected forms in",
        "`reconbench.bounds.rad`.",
        "",
        "| statement | printed | holds | a case |",
        "|---|---|---|---|",
        f"| Proposition 5.2, second term | κ⁺ | κ⁻ | {_second_term()} |",
        f"| Theorem 5.3, R | 2δ | δm, as in Eq. 11 | {_revealed()} |",
        "| Example 4.4, aux = ∅ | (p − q)(1 − Σ π_θ) inf … | (p − q)(1 − Σ π_θ inf …) | "
        f"{_grr()} |",
        f"| Example 4.5 | π in any order | ascending | {_oue()} |",
        f"| Eq. 5 | any η | a guess must be able to fail on every z | {_all_succeed()} |",
        f"| Examples 4.7, 4.8 | any values | equal gaps; else an upper bound | {_uneven()} |",
    ]


def _second_term() -> str:
    # ((1 − κ)(e^ε − 1) + δ)/e^ε at κ⁺, the largest chance of a blind guess
    epsilon, prior = 5.0, np.array([0.9, 0.1])
    printed = (1 - prior.max()) * -math.expm1(-epsilon)
    return (
        f"GRR, π = (0.9, 0.1), ε = 5: true {rad_grr(epsilon, prior):.4f}, printed {printed:.4f}, "
        f"corrected {rad_approx_no_aux(epsilon, 0.0, 0.1, 0.9, 0.82):.4f}"
    )


def _revealed() -> str:
    m, delta = 10, 0.05
    # Publish the record with probability δ, nothing otherwise: RAD = δ (1 − 1/m).
    channel = np.vstack([delta * np.eye(m), np.full((1, m), 1 - delta)])
    # (m − 1)/m · R/(e^ε + m − 1) with R = e^ε − 1 + 2δ at ε = 0
    printed = (m - 1) / m * 2 * delta / m
    return (
        f"reveal with probability δ = {delta}, m = {m}: true {rad_finite(channel, m):.3f}, printed "
        f"{printed:.3f}, corrected {rad_uniform(0.0, m, delta):.3f}"
    )


def _grr() -> str:
    return f"GRR, m = 2, ε = 1, uniform, η = 0: true {rad_grr(1.0, 2):.4f}, printed 0 as Σ π_θ = 1"


def _oue() -> str:
    prior, epsilon = np.array([0.7, 0.2, 0.1]), 1.0
    q = 1 / (math.exp(epsilon) + 1)
    p, m = 1 - q, prior.size
    powers = p ** np.arange(m - 1, -1, -1)
    before = np.cumsum(prior) - prior
    total = powers @ (prior * (1 - prior)) - q * (powers @ (prior * before))
    printed = (p - q) / (2 * p) * total
    return (
        f"π = (0.7, 0.2, 0.1), ε = 1: true {rad_oue(epsilon, prior):.4f}, printed in this order "
        f"{printed:.4f}"
    )


def _all_succeed() -> str:
    every = np.ones((2, 2), dtype=bool)
    found = rad_finite(GRR(1.0, 2).matrix(), 2, success=every)
    return f"η = the diameter, every guess succeeds: true {found:.4f}, TV (1 − κ) is positive"


def _uneven() -> str:
    values = np.array([0.0, 0.1, 1.0])
    exact = rad_uniform_location(LaplaceNoise(1.0), values)
    return f"values 0, 0.1, 1, ε = 1: true {exact:.4f}, printed {rad_laplace(1.0, 3):.4f}"


def _lira() -> list[str]:
    """Losses N(2, 1) without the record and N(3, ¼) with it, at a level of 10 %."""
    mean0, sd0, mean1, sd1, level = 2.0, 1.0, 3.0, 0.5, 0.1
    centre = (mean0 / sd0**2 - mean1 / sd1**2) / (1 / sd0**2 - 1 / sd1**2)

    def power(r: float) -> float:
        """P[(ℓ + r)² ≤ q] with the record, q its quantile without."""
        q = ncx2.ppf(level, 1, (mean0 + r) ** 2 / sd0**2) * sd0**2
        return float(ncx2.cdf(q / sd1**2, 1, (mean1 + r) ** 2 / sd1**2))

    return [
        "",
        "### Yıldırım 2025, Algorithm 3: the sign of R",
        "",
        "Holds: R = −(μ₀/σ₀² − μ₁/σ₁²)/(1/σ₀² − 1/σ₁²). The likelihood ratio of two normals falls",
        "with (ℓ − c)², c the fraction; (ℓ + R)² with R = +c looks on the other side of zero. The",
        "test keeps its size, as its quantile is taken at the same place, and loses its power.",
        "Losses N(2, 1) without the record and N(3, ¼) with it, at α = 0.1: power",
        f"{power(centre):.4f} as printed,",
        f"{power(-centre):.4f} with the sign turned.",
    ]
