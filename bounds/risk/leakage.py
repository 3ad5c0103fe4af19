"""Other measures of leakage: unbiased reconstruction, memorisation, bits of a secret.

Kulynych et al. 2025, appendices B and F, for replace-one neighbours, except for the bits, which
are Swanberg et al. 2025, section 3.2.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit

from reconbench.bounds import _validate
from reconbench.bounds._validate import FloatArray
from reconbench.bounds.guarantees.guarantee import Guarantee
from reconbench.bounds.guarantees.relation import require_replace_one


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
