"""Compute the counterexamples of the errata in docs/reproduction.md, or the one that is named.

    python docs/generate errata swanberg-3.5

Each function computes one case: what is ``true`` in it, what the ``printed`` statement claims, and
what the ``corrected`` one does. Where the printed statement holds for what is true, there is no
erratum: tests/docs/test_errata.py checks that each printed value contradicts the true one.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.stats import ncx2

from reconbench.benchmarks.computations.gradient_errors import Scales, images, simulate
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
from reconbench.bounds.gradients import (
    GradientError,
    attack_variance,
    hit_probability,
    ncc_at_least,
    ncc_population,
    rows_needed,
    zero_guess_error,
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
from reconbench.mechanisms.gradient_steps import DeepNetwork, GradientStep, OptimalNetwork

NORM = 1.01
SAMPLES = 500

Case = dict[str, Any]


def swanberg_odds() -> Case:
    """Randomised response of a fair bit at ε = 1 against e^ε/(e^ε + 1/p)."""
    epsilon, p = 1.0, 0.5
    return {
        "true": math.exp(epsilon) / (math.exp(epsilon) + 1),
        "printed": math.exp(epsilon) / (math.exp(epsilon) + 1 / p),
        "corrected": float(beta(p, epsilon)),
    }


def swanberg_published() -> Case:
    """A fair bit that is published with probability δ, given that it was, at ε = 1."""
    return {"true": 1.0, "printed": float(beta(0.5, 1.0))}


def swanberg_failures() -> Case:
    """Two fair bits at (1, 0.1)-DP: P[at least one is right] against Theorem 3.5 at v = 1."""
    delta, e = 0.1, math.e
    both_wrong = (1 - 2 * delta - e * delta) / (1 + e) ** 2
    one_wrong = e * both_wrong + delta
    printed = float(Theorem35(np.full(2, 0.5), ApproxDP(1.0, delta)).tail(1))
    without_delta = 1 - (1 / (1 + e)) ** 2
    return {
        "none_wrong": e * one_wrong,
        "one_wrong": one_wrong,
        "both_wrong": both_wrong,
        "true": 1 - both_wrong,
        "printed": printed,
        "doubled": without_delta + 2 * (printed - without_delta),
        "corrected": without_delta + 2 * delta,
    }


def kulynych_census() -> Case:
    """The census advantage in percentage points at baselines 1e-4 and 7e-9."""
    rho = zcdp_rho(10.6, 1e-10)

    def gain(baseline: float) -> float:
        return 100 * (float(UnifiedBound().success(baseline, ZCDP(rho).gaussian())) - baseline)

    return {"rho": rho, "printed": 0.001, "corrected": gain(1e-4), "at_rarer": gain(7e-9)}


def kulynych_query() -> Case:
    """A query that is always 1, and a constant against a fair coin, both at π = 0.3."""
    pi, ends = 0.3, np.array([0.0, 1.0])
    power_loss = (1 - ends) / 2  # f(α) of the coin, linear: its minima are at the ends
    outputs = np.array([[1 - pi, 0.0], [pi / 2, pi / 2]])  # P[value, output]
    return {
        "true": 1.0,
        "printed": 1 - bayes_error(GaussianDP(1.0), pi),
        "coin_true": float(outputs.max(axis=0).sum()),
        "coin_printed": float(1 - (pi * ends + (1 - pi) * power_loss).min()),
        "coin_corrected": float(1 - ((1 - pi) * ends + pi * power_loss).min()),
    }


def kulynych_baseline() -> Case:
    """A value of prior 0.9 at ρ = 1, guessed without looking."""
    rho, prior = 1.0, 0.9
    return {
        "true": prior,
        "printed": math.exp(-((math.sqrt(-math.log(prior)) - math.sqrt(rho)) ** 2)),
        "corrected": float(ReRoZCDP().success(prior, ZCDP(rho))),
    }


def guerra_balboa_second_term() -> Case:
    """GRR, π = (0.9, 0.1), ε = 5: ((1 − κ)(e^ε − 1) + δ)/e^ε at κ⁺."""
    epsilon, prior = 5.0, np.array([0.9, 0.1])
    return {
        "true": rad_grr(epsilon, prior),
        "printed": float((1 - prior.max()) * -math.expm1(-epsilon)),
        "corrected": rad_approx_no_aux(epsilon, 0.0, 0.1, 0.9, 0.82),
    }


def guerra_balboa_revealed() -> Case:
    """Publish a record of 10 values with probability δ = 0.05: RAD = δ (1 − 1/m)."""
    m, delta = 10, 0.05
    channel = np.vstack([delta * np.eye(m), np.full((1, m), 1 - delta)])
    return {
        "true": rad_finite(channel, m),
        # (m − 1)/m · R/(e^ε + m − 1) with R = e^ε − 1 + 2δ at ε = 0
        "printed": (m - 1) / m * 2 * delta / m,
        "corrected": rad_uniform(0.0, m, delta),
    }


def guerra_balboa_grr() -> Case:
    """GRR of two equally likely values, ε = 1: the printed factor 1 − Σ π_θ is 0."""
    return {"true": rad_grr(1.0, 2), "printed": 0.0}


def guerra_balboa_oue() -> Case:
    """OUE, π = (0.7, 0.2, 0.1), ε = 1, with π in the order given instead of ascending."""
    prior, epsilon = np.array([0.7, 0.2, 0.1]), 1.0
    q = 1 / (math.exp(epsilon) + 1)
    p, m = 1 - q, prior.size
    powers = p ** np.arange(m - 1, -1, -1)
    before = np.cumsum(prior) - prior
    total = powers @ (prior * (1 - prior)) - q * (powers @ (prior * before))
    return {"true": rad_oue(epsilon, prior), "printed": float((p - q) / (2 * p) * total)}


def guerra_balboa_diameter() -> Case:
    """GRR of two values, ε = 1, where every guess succeeds, against TV (1 − κ)."""
    channel, every = GRR(1.0, 2).matrix(), np.ones((2, 2), dtype=bool)
    variation = float(np.abs(channel[:, 0] - channel[:, 1]).sum() / 2)
    return {"true": rad_finite(channel, 2, success=every), "printed": variation * (1 - 1 / 2)}


def guerra_balboa_gaps() -> Case:
    """Laplace noise on the values 0, 0.1 and 1, ε = 1: an upper bound only."""
    exact = rad_uniform_location(LaplaceNoise(1.0), np.array([0.0, 0.1, 1.0]))
    return {"true": exact, "printed": rad_laplace(1.0, 3)}


def yildirim_sign() -> Case:
    """Power at α = 0.1 for losses N(2, 1) without the record and N(3, ¼) with it."""
    mean0, sd0, mean1, sd1, level = 2.0, 1.0, 3.0, 0.5, 0.1
    centre = (mean0 / sd0**2 - mean1 / sd1**2) / (1 / sd0**2 - 1 / sd1**2)

    def power(r: float) -> float:
        """P[(ℓ + r)² ≤ q] with the record, q its quantile without."""
        q = ncx2.ppf(level, 1, (mean0 + r) ** 2 / sd0**2) * sd0**2
        return float(ncx2.cdf(q / sd1**2, 1, (mean1 + r) ** 2 / sd1**2))

    return {"printed": power(centre), "corrected": power(-centre)}


def riess_rows() -> list[Case]:
    """Variance over σ²‖X‖² with the printed and with the needed number of rows, C = 5."""
    clip, sigma, rng = 5.0, 0.3, np.random.default_rng(0)
    records = images(4000, 3, 1.0, rng)
    cases = []
    for rows in (5, rows_needed(1.0, clip)):
        simulated = simulate(records, GradientStep(OptimalNetwork(rows), sigma, clip), rng)
        law = attack_variance(sigma, 1.0, clip, rows) / sigma**2
        cases.append({"rows": rows, "true": simulated.ratio, "law": law})
    return cases


def riess_zero() -> Case:
    """P[MSE ≤ ‖X‖²/N], which guessing 0 reaches for certain, N = 784, σ = 0.1."""
    claimed = GradientError.of(784, 0.1).mse_at_most(zero_guess_error(784))
    return {"true": 1.0, "printed": float(claimed)}


def riess_hits() -> Case:
    """Probabilities of k hits summed over all k, K = 30 steps, D = 12 records."""
    total = float(hit_probability(np.arange(31), 30, 12).sum())
    return {"printed": 2.0**30 / 12.0**30, "corrected": total}


def riess_correlation() -> Case:
    """The share of centred records whose estimate exceeds the bound, N = 784, σ = 0.1."""
    return {"true": float(ncc_at_least(ncc_population(0.1, 784), 0.1, 784)), "printed": 0.0}


def riess_deep() -> Case:
    """Errors of a deep network over the law's at σ = 0.001 and 1, by what is known of scales."""
    ratios: dict[str, list[float]] = {}
    for name, scales in (("known", Scales.KNOWN), ("assumed", Scales.ASSUMED)):
        ratios[name] = []
        for sigma in (1e-3, 1.0):
            rng = np.random.default_rng(0)
            step = GradientStep(DeepNetwork(bias=False, trap=30.0), sigma)
            records = images(SAMPLES, 4, NORM, rng)
            ratios[name].append(simulate(records, step, rng, scales).ratio)
    return ratios


ERRATA: dict[str, Callable[[], Case | list[Case]]] = {
    "swanberg-4.2": swanberg_odds,
    "swanberg-3.2": swanberg_published,
    "swanberg-3.5": swanberg_failures,
    "kulynych-1": kulynych_census,
    "kulynych-D.1": kulynych_query,
    "kulynych-B.1": kulynych_baseline,
    "guerra-balboa-5.2": guerra_balboa_second_term,
    "guerra-balboa-5.3": guerra_balboa_revealed,
    "guerra-balboa-4.4": guerra_balboa_grr,
    "guerra-balboa-4.5": guerra_balboa_oue,
    "guerra-balboa-eq5": guerra_balboa_diameter,
    "guerra-balboa-4.7": guerra_balboa_gaps,
    "yildirim-3": yildirim_sign,
    "riess-IV.1": riess_rows,
    "riess-IV.6": riess_zero,
    "riess-IV-C": riess_hits,
    "riess-A.2": riess_correlation,
    "riess-figure-4": riess_deep,
}


def main(names: list[str]) -> None:
    unknown = [name for name in names if name not in ERRATA]
    if unknown:
        sys.exit(f"error: no erratum {unknown[0]!r}; NAME is one of {', '.join(ERRATA)}")
    for name in names or ERRATA:
        compute = ERRATA[name]
        print(f"{name}: {compute.__doc__}\n  {json.dumps(compute())}")


if __name__ == "__main__":
    main(sys.argv[1:])
