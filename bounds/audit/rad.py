"""RAD audits: the measured reconstruction advantage, inverted through a ceiling on it.

Guerra-Balboa 2026, section 6. RAD (Definition 4.1) is the success of an attack on the record that
was released from, minus the success of the same attack when the release is from another record
drawn from the prior. The paper inverts the measured value as it is. Here it gets an interval first:

1. The success in the real world is in [a, b] and the one in the replaced world in [c, d], each end
   failing with a share of 1 − confidence; by the union bound RAD is in [a − d, b − c] at
   `confidence`, in samples of any size, whether or not the worlds share their trials.
2. A world that is known exactly (a uniform prior: 1/m) takes no share.
3. B is the ceiling on RAD at ε. An attack on a mechanism of privacy ε has RAD ≤ B(ε), so ε is at
   least the smallest ε with B ≥ a − d. An attack that reaches B has RAD = B(ε), so ε is at most the
   largest with B ≤ b − c. Neither needs B to be monotone.

Relation: replace-one, the target's record; attacks without auxiliary knowledge, exact match.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

from numpy.typing import ArrayLike
from scipy.optimize import brentq

from reconbench.bounds import _validate
from reconbench.bounds._validate import FloatArray
from reconbench.bounds.audit.proportions import Proportion
from reconbench.bounds.audit.verdict import EpsilonEstimate
from reconbench.bounds.rad import epsilon_exact, epsilon_grr, epsilon_oue, epsilon_ss, rad_ss
from reconbench.bounds.rad._inputs import as_prior
from reconbench.bounds.rad.ldp import LARGEST_EPSILON

EXACT = "Guerra-Balboa 2026, Theorem 4.3"
# Relative, far above that of the sums behind B and far below what 10^9 trials can tell.
_ROUNDING = 1e-13
BLACK_BOX = "reconbench, exact black-box RAD; Guerra-Balboa 2026, Corollary 5.4 if uniform"


@dataclass(frozen=True)
class MeasuredRad:
    """An attack's success in the two worlds, and their difference with an interval."""

    real: Proportion
    replaced: Proportion

    @property
    def estimate(self) -> float:
        return self.real.estimate - self.replaced.estimate

    def interval(self, confidence: float) -> tuple[float, float]:
        """[a − d, b − c]: either end fails with probability at most (1 − confidence)/2."""
        side = (1 - _validate.strictly_between_zero_and_one("confidence", confidence)) / 2
        uncertain = (not self.real.certain) + (not self.replaced.certain)
        share = side / max(uncertain, 1)
        return (
            self.real.lower(share) - self.replaced.upper(share),
            self.real.upper(share) - self.replaced.lower(share),
        )


@dataclass(frozen=True)
class RadAudit:
    """ε by reading a ceiling B on RAD backwards.

    `smallest(γ)` is the smallest ε with B(ε) ≥ γ, `largest(γ)` the largest with B(ε) ≤ γ; inf where
    there is no finite one. `largest` is None where an attack need not reach B: then the advantage
    does not bound ε from above.
    """

    method: str
    smallest: Callable[[float], float]
    largest: Callable[[float], float] | None
    reference: str
    assumes: str

    def audit(self, measured: MeasuredRad, confidence: float = 0.99) -> EpsilonEstimate:
        low, high = measured.interval(confidence)
        lower = self.smallest(low)
        upper = math.inf if self.largest is None else max(lower, self.largest(_rounded_up(high)))
        return EpsilonEstimate(
            self.method,
            min(max(self.smallest(_rounded_up(measured.estimate)), lower), upper),
            lower,
            upper,
            confidence,
            self.reference,
            self.assumes,
        )


def audit_grr(prior: ArrayLike | int) -> RadAudit:
    """Generalised randomised response: B of Example 4.4, which rises with ε."""
    weights = _prior(prior)
    inverse = partial(epsilon_grr, prior=weights)
    return _known_mechanism("grr", inverse, inverse)


def audit_oue(prior: ArrayLike | int) -> RadAudit:
    """Optimised unary encoding: B of Example 4.5, which rises with ε."""
    weights = _prior(prior)
    inverse = partial(epsilon_oue, prior=weights)
    return _known_mechanism("oue", inverse, inverse)


def audit_ss(prior: ArrayLike | int, subset: int = 0) -> RadAudit:
    """Subset selection: B of Example 4.6, for any prior.

    ``subset`` is the number of values in a report, which anyone can count: B then rises with ε.
    0 stands for the size of Example 4.6 at every ε; other clients round it otherwise. Where that
    drops, B jumps: up under a uniform prior, often down under a skewed one. One advantage may then
    belong to several ε, and the interval holds them all.
    """
    weights = _prior(prior)
    smallest = partial(epsilon_ss, prior=weights, subset=subset)
    if subset:
        smallest(0.0)
        return _known_mechanism("ss", smallest, smallest)
    uniform = weights.min() == weights.max()
    largest = smallest if uniform else partial(_largest_ss, prior=weights)
    return _known_mechanism("ss", smallest, largest)


def audit_black_box(prior: ArrayLike | int, delta: float = 0.0) -> RadAudit:
    """Any (ε, δ)-DP mechanism; a lower bound on ε only, whatever the mechanism and the attack."""
    weights, slack = _prior(prior), _validate.below_one("delta", delta)
    return RadAudit(
        "rad-black-box",
        partial(epsilon_exact, prior=weights, delta=slack),
        None,
        BLACK_BOX,
        "targets drawn from the prior; nothing of the mechanism or of the attack",
    )


AUDITS: Mapping[str, Callable[[ArrayLike | int], RadAudit]] = {
    "grr": audit_grr,
    "oue": audit_oue,
    "ss": audit_ss,
}


def _known_mechanism(
    name: str, smallest: Callable[[float], float], largest: Callable[[float], float]
) -> RadAudit:
    return RadAudit(
        f"rad-{name}",
        smallest,
        largest,
        EXACT,
        f"the client is {name} at some ε and targets are drawn from the prior; "
        "the upper end: the attack is optimal",
    )


def _largest_ss(gamma: float, prior: FloatArray) -> float:
    """The largest ε at which the optimal attack on SS has an advantage of at most γ.

    Subsets of ω values belong to ε from ln(m/(ω + 1) − 1) to ln(m/ω − 1), on which the advantage
    rises: the first ω from 1 on that starts at γ or below holds the answer.
    """
    m = prior.size
    for w in range(1, max(m // 2, 1) + 1):
        left = math.log(max(m / (w + 1) - 1, 1.0))
        right = math.inf if w == 1 else math.log(m / w - 1)
        if rad_ss(left, prior, subset=w) > gamma:
            continue
        if rad_ss(right, prior, subset=w) <= gamma:
            return right

        def gap(epsilon: float, w: int = w) -> float:
            return rad_ss(epsilon, prior, subset=w) - gamma

        return float(brentq(gap, left, min(right, LARGEST_EPSILON), xtol=1e-13))
    return 0.0


def _rounded_up(gamma: float) -> float:
    """γ past the rounding of B: an attack that never fails must not look like a finite ε."""
    return min(1.0, gamma * (1 + _ROUNDING)) if gamma > 0 else gamma


def _prior(prior: ArrayLike | int) -> FloatArray:
    weights = as_prior(prior)
    if weights.size < 2:
        raise ValueError(f"prior must be over at least 2 values, got {weights.size}")
    return weights
