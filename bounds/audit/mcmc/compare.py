"""Two other readings of the same counts, both of which take the attack to be the strongest.

An attack says nothing of ε directly: (α, β) in R(ε, δ) bounds ε from below. Reading an *upper*
bound on ε off the errors of one attack assumes that no attack does better (s = 1; Yildirim 2025,
Remark 2). Lower bounds need no such assumption.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.optimize import brentq

from reconbench.bounds import _validate
from reconbench.bounds.audit.mcmc.counts import Counts
from reconbench.bounds.audit.mcmc.grid import ErrorPosterior
from reconbench.bounds.audit.mcmc.model import epsilon_level
from reconbench.bounds.audit.proportions import Counted
from reconbench.bounds.audit.verdict import EpsilonEstimate

JEFFREYS = 0.5
_STRONGEST = "independent challenges; the upper end: no attack is stronger (s = 1)"
_LARGEST = 700.0


def joint_beta(
    counts: Counts, delta: float, confidence: float = 0.9, pseudo: float = JEFFREYS
) -> list[EpsilonEstimate]:
    """Credible intervals of Zanella-Beguelin et al. 2023, one an attack, with the median.

    P(ε ≤ e) = P[(α, β) in R(e, δ)] under independent Beta posteriors of α and β, from priors
    Beta(pseudo, pseudo): Jeffreys' by default. This is the case s = 1.
    """
    delta = _validate.below_one("delta", delta)
    tail = (1 - _validate.strictly_between_zero_and_one("confidence", confidence)) / 2
    _validate.positive("pseudo", pseudo)
    found = []
    for j in range(len(counts)):
        errors = ErrorPosterior.of(counts, j, pseudo)
        lower, median, upper = (_quantile(errors, delta, p) for p in (tail, 0.5, 1 - tail))
        found.append(
            EpsilonEstimate(
                "joint-beta",
                median,
                lower,
                upper,
                confidence,
                "Zanella-Beguelin et al. 2023",
                _STRONGEST,
            )
        )
    return found


def _quantile(errors: ErrorPosterior, delta: float, p: float) -> float:
    """The e with P[(α, β) not in R(e, δ)] = 1 − p; 0 if R(0, δ) has p already."""

    def excess(e: float) -> float:
        return float(errors.outside(e, delta)) - (1 - p)

    if excess(0.0) <= 0:
        return 0.0
    high = 1.0
    while excess(high) > 0:
        high *= 2
        if high > _LARGEST:
            return math.inf
    return float(brentq(excess, 0.0, high, xtol=1e-10))


def clopper_pearson(counts: Counts, delta: float, confidence: float = 0.9) -> list[EpsilonEstimate]:
    """Intervals from Clopper-Pearson bounds on α and β, one an attack.

    Four bounds, each failing with probability at most (1 − confidence)/4, hold together: then
    (α, β) is in a box, and the interval is the range over it of the smallest ε that allows a
    pair. For several attacks take `confidence` = 1 − (1 − c)/n, and all hold together at c.
    """
    delta = _validate.below_one("delta", delta)
    failure = (1 - _validate.strictly_between_zero_and_one("confidence", confidence)) / 4
    found = []
    for x, n0, y, n1 in counts.columns.tolist():
        alpha, beta = Counted(x, n0), Counted(y, n1)
        least = alpha.lower(failure), beta.lower(failure)
        most = alpha.upper(failure), beta.upper(failure)
        # The level falls in α and β up to the band R(0, δ) about α + β = 1, and grows beyond it.
        ends = [float(epsilon_level(*pair, delta)) for pair in (least, most)]
        crosses = sum(least) <= 1 <= sum(most)
        found.append(
            EpsilonEstimate(
                "clopper-pearson",
                float(np.clip(epsilon_level(x / n0, y / n1, delta), 0, max(ends))),
                0.0 if crosses else min(ends),
                max(ends),
                confidence,
                "Clopper and Pearson 1934; Jagielski et al. 2020",
                _STRONGEST,
            )
        )
    return found


def best_lower_bound(counts: Counts, delta: float, confidence: float = 0.9) -> EpsilonEstimate:
    """Clopper-Pearson over all attacks at once, with the attack of the largest lower bound.

    The failure probability is shared out among the attacks, so that picking the best is allowed.
    """
    _validate.strictly_between_zero_and_one("confidence", confidence)
    each = clopper_pearson(counts, delta, 1 - (1 - confidence) / len(counts))
    best = max(each, key=lambda one: (one.lower, one.estimate))
    upper = max(one.upper for one in each)
    return EpsilonEstimate(
        "clopper-pearson", best.estimate, best.lower, upper, confidence, best.reference, _STRONGEST
    )
