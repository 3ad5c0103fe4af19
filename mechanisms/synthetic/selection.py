"""The exponential mechanism, and what one choice costs as Gaussian DP.

**Bounded range.** The exponential mechanism picks candidate r with probability ∝ exp(η q_r). If
neighbours change every score by at most Δ, the log ratio of the two output distributions differs
between candidates by at most η (max Δq − min Δq) ≤ 2ηΔ =: ε. This is ε-bounded range (Dong, Durfee
and Rogers 2020, "Optimal differential privacy composition for exponential mechanisms"), which is
stronger than ε-DP: the ratio lies in [e^(t−ε), e^t] for some t that depends on the pair of tables.

**Its cost.** An ε-bounded-range mechanism is μ-GDP with

    μ = 2Φ⁻¹(σ(ε/2)),  σ(x) = e^x/(1 + e^x),

and no smaller μ will do for all of them. Proof.

1. Likelihood ratios within [e^(t−ε), e^t] have mean 1 under one of the two distributions. Among all
   such variables the one on the two ends is the largest in convex order, and the trade-off curve is
   decided by expectations of convex functions of the ratio. So the lowest curve for this t is that
   of two coins with p/q = e^t and (1 − p)/(1 − q) = e^(t−ε). Dividing, logit p − logit q = ε; as t
   runs over [0, ε] all such pairs occur.
2. That curve is linear between (0, 1), (q, 1 − p) and (1, 0). The curve of μ-GDP is convex and
   passes through both ends, so it lies below if and only if it does at (q, 1 − p):
   Φ⁻¹(p) − Φ⁻¹(q) ≤ μ.
3. With h = Φ⁻¹∘σ the left side is h(a + ε/2) − h(a − ε/2), the integral of h′ over a window of
   length ε around some a. h is odd, so h′ is even; if h′ falls on [0, ∞), the window around a = 0
   has the largest integral, 2h(ε/2). There p = σ(ε/2) = 1 − q, and step 2 is an equality.
4. h′ falls: with z = h(s), h′ = ΦΦ⁻/φ where Φ⁻(z) = Φ(−z), and its logarithm has the derivative
   φ/Φ − φ/Φ⁻ + z in z. That is at most 0 where G(z) = 4φu − z(1 − u²) ≥ 0, u = 2Φ(z) − 1, because
   4ΦΦ⁻ = 1 − u². Now G(0) = G(∞) = 0, G′ = 8φ² − 1 + u² and G″ = 4φ(u − 4zφ). The bracket is 0 at
   0, falls until z = 1/√2 and rises to 1 after that, so G′ first falls, then rises; it begins with
   4/π − 1 > 0 and ends at 0, so it is positive first and negative then. G rises and falls between
   its zeros at both ends, so it is nowhere negative. ∎

**Composition.** μ-GDP composes to √Σμ², also if each μ is chosen by what came before, as long as
Σμ² stays within a limit set beforehand (Smith and Thakurta 2022, "Fully adaptive composition for
Gaussian differential privacy"). In short: a μ-GDP step is a post-processing of Brownian motion with
drift 0 or 1 watched for a time μ², and a path watched piece by piece tells no more than the path up
to the limit.
"""

from __future__ import annotations

from math import inf, isinf

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import log_ndtr, ndtri_exp


def select(scores: ArrayLike, sensitivity: float, epsilon: float, rng: np.random.Generator) -> int:
    """Pick a candidate with probability ∝ exp(ε q/(2Δ)): the exponential mechanism.

    ``sensitivity`` bounds by how much a neighbour changes any score. ε = inf picks the largest
    score, the first of several. The choice is ε-bounded-range.
    """
    values = np.asarray(scores, dtype=np.float64)
    if isinf(epsilon):
        return int(values.argmax())
    # The largest of scores with Gumbel noise has just these probabilities.
    return int((values * (epsilon / (2 * sensitivity)) + rng.gumbel(size=values.shape)).argmax())


def find_selection_mu(epsilon: float) -> float:
    """μ of an ε-bounded-range choice: 2Φ⁻¹(e^(ε/2)/(1 + e^(ε/2)))."""
    if isinf(epsilon):
        return inf
    # −Φ⁻¹(1 − p) with log(1 − p) = −log(1 + e^(ε/2)), which keeps its digits for large ε.
    return -2 * float(ndtri_exp(-np.logaddexp(0.0, epsilon / 2)))


def find_selection_epsilon(mu: float) -> float:
    """ε of the choice that costs μ: 2 logit Φ(μ/2)."""
    if isinf(mu):
        return inf
    return 2 * float(log_ndtr(mu / 2) - log_ndtr(-mu / 2))
