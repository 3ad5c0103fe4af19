"""Singling out and Narcissus resiliency: risks of the average table.

Kulynych et al. 2025, appendices B and F, for replace-one neighbours. Every record is drawn from
the data distribution, none is known.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from reconbench.bounds import _validate
from reconbench.bounds._validate import FloatArray, positive_integer
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
        return np.where(weight <= 1 / self.records, bound, math.nan)


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


def _weights(weight: ArrayLike, largest: float) -> FloatArray:
    w = _validate.probabilities("weight", weight)
    if np.any(w > largest):
        raise ValueError(f"weight must be at most {largest:g}, got {float(w.max())}")
    return w
