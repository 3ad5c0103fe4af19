"""Other notions of risk: singling out, Narcissus resiliency, memorisation, leaked bits.

All from Kulynych et al. 2025, appendices B and F, for replace-one neighbours, except for the bits,
which are Swanberg et al. 2025, section 3.2. Singling out (PSO) and Narcissus resiliency are about
the *average* table: every record is drawn from the data distribution, none is known.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit

from reconbench.bounds import _validate
from reconbench.bounds._counts import positive_integer
from reconbench.bounds._validate import FloatArray
from reconbench.bounds.guarantees.guarantee import ApproxDP, Guarantee, PureDP
from reconbench.bounds.guarantees.relation import require_replace_one, why_not_replace_one


@dataclass(frozen=True)
class Narcissus:
    """succ ≤ 1 − f^(n)(base) for a property of all n records (Kulynych 2025, Theorem F.1).

    The baseline is the attack's own: its success against a fresh table of n records. The attacker
    knows the data distribution only. Vacuous quickly: f^(n) is group privacy for the whole table.
    """

    records: int

    name: ClassVar[str] = "narcissus"
    reference: ClassVar[str] = "Kulynych 2025, Theorem F.1"
    assumptions: ClassVar[str] = "baseline on a fresh table; records drawn independently"

    def __post_init__(self) -> None:
        positive_integer("records", self.records)

    def refuses(self, guarantee: Guarantee) -> str | None:
        return why_not_replace_one(guarantee)

    def success(self, baseline: ArrayLike, guarantee: Guarantee) -> FloatArray:
        require_replace_one(guarantee, self.reference)
        # succ ≤ 1 − f^(n)(base)
        return guarantee.group(self.records).power(baseline)


@dataclass(frozen=True)
class SinglingOut:
    """succ ≤ n (1 − f(w)) for a predicate of weight w ≤ 1/n (Kulynych 2025, Theorem F.2).

    `success` takes the weight; the success of the best guess is `singling_out_baseline`. For
    (ε, δ)-DP it is Cohen and Nissim's n (e^ε w + δ) (Theorem B.1) wherever that is below n/2.
    Weights above 1/n are not covered.
    """

    records: int

    name: ClassVar[str] = "pso"
    reference: ClassVar[str] = "Kulynych 2025, Theorem F.2"
    assumptions: ClassVar[str] = "baseline is the predicate's weight; records drawn independently"

    def __post_init__(self) -> None:
        positive_integer("records", self.records)

    def refuses(self, guarantee: Guarantee) -> str | None:
        return why_not_replace_one(guarantee)

    def success(self, baseline: ArrayLike, guarantee: Guarantee) -> FloatArray:
        require_replace_one(guarantee, self.reference)
        weight = _validate.probabilities("baseline", baseline)
        # succ ≤ n (1 − f(w))
        bound = np.minimum(1.0, self.records * guarantee.power(weight))
        return np.where(weight * self.records <= 1, bound, math.nan)


def singling_out_approx(
    weight: ArrayLike, guarantee: ApproxDP | PureDP, records: int
) -> FloatArray:
    """succ ≤ n (e^ε w + δ), at most 1 (Cohen and Nissim 2020; Kulynych 2025, Theorem B.1)."""
    require_replace_one(guarantee, "Kulynych 2025, Theorem B.1")
    w, n = _weights(weight, 1 / positive_integer("records", records)), records
    delta = guarantee.delta if isinstance(guarantee, ApproxDP) else 0.0
    with np.errstate(over="ignore", invalid="ignore"):
        raised = np.where(w > 0, np.exp(guarantee.epsilon) * w, 0.0)
    return np.minimum(1.0, n * (raised + delta))


def singling_out_baseline(weight: ArrayLike, records: int) -> FloatArray:
    """n w (1 − w)^(n−1): the success of a predicate of weight w ≤ 1/n chosen beforehand."""
    w, n = _weights(weight, 1 / positive_integer("records", records)), records
    with np.errstate(divide="ignore", invalid="ignore"):
        missed = np.exp((n - 1) * np.log1p(-w)) if n > 1 else np.ones_like(w)
    return n * w * missed


def strong_singling_out(weight: ArrayLike, guarantee: Guarantee, candidates: int) -> FloatArray:
    """succ ≤ 1 − f(w): singling out one unknown record among candidates (SPSO).

    Kulynych 2025, Theorem C.2, either neighbouring relation: all other records are known, the
    predicate's weight w under the prior on the candidates is at most 1/candidates.
    """
    return guarantee.power(_weights(weight, 1 / positive_integer("candidates", candidates)))


def unbiased_reconstruction(attack_baseline: ArrayLike, guarantee: Guarantee) -> FloatArray:
    """succ ≤ 1 − f(base), base the attack's own success on an independent draw of the target.

    Kulynych 2025, Proposition F.2, replace-one: tighter than the best guess's baseline wherever
    the attack does not play for it.
    """
    require_replace_one(guarantee, "Kulynych 2025, Proposition F.2")
    return guarantee.power(_validate.probabilities("attack_baseline", attack_baseline))


def memorisation(guarantee: Guarantee, out_of_sample: ArrayLike | None = None) -> FloatArray:
    """The largest counterfactual memorisation E[ℓ | record in] − E[ℓ | record replaced].

    At most the total variation (Kulynych 2025, Proposition F.1, replace-one); given the mean of ℓ
    without the record, at most 1 − f(mean) − mean, by the same proof. ℓ is in [0, 1].
    """
    require_replace_one(guarantee, "Kulynych 2025, Proposition F.1")
    if out_of_sample is None:
        return np.asarray(guarantee.total_variation())
    mean = _validate.probabilities("out_of_sample", out_of_sample)
    return guarantee.power(mean) - mean


def leak_probability(bits: float, epsilon: float) -> float:
    """e^ε/(e^ε − 1 + 2^d): how likely ε-DP is to give away d uniform bits (Swanberg 2025, 3.2)."""
    d, budget = _validate.non_negative("bits", bits), _validate.non_negative("epsilon", epsilon)
    if d == 0 or math.isinf(budget):
        return 1.0
    # odds e^ε/(2^d − 1), with 2^d − 1 in logarithms: d may be in the thousands
    return float(expit(budget - d * math.log(2) - math.log1p(-(2.0**-d))))


def bits_leaked(probability: float, epsilon: float) -> float:
    """log₂(e^ε (1/α − 1) + 1): the bits that ε-DP leaks with probability at most α.

    Swanberg 2025, section 3.2: pure ε-DP, replace-one, one target with a uniform prior on 2^d
    values, one guess. The inverse of `leak_probability`.
    """
    alpha = _validate.strictly_between_zero_and_one("probability", probability)
    budget = _validate.non_negative("epsilon", epsilon)
    odds = math.log1p(-alpha) - math.log(alpha)
    return float(np.logaddexp(budget + odds, 0.0)) / math.log(2)


def _weights(weight: ArrayLike, largest: float) -> FloatArray:
    w = _validate.probabilities("weight", weight)
    if np.any(w > largest):
        raise ValueError(f"weight must be at most {largest:g}, got {float(w.max())}")
    return w
