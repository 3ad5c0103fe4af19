"""Bounds on one target: how likely any attacker is to recover a secret, by its baseline.

The threat model is the strong adversary of Kulynych et al. 2025, "Unifying Re-Identification,
Attribute Inference, and Data Reconstruction Risks", section 3.1: everything but the target record
is known, and so is a prior on the target. The *baseline* is the success of the best guess from
the prior alone; the *success* is that of any attack once the release is seen.

Each bound is a small object with a name, its reference and assumptions, and
`success(baseline, guarantee)`, vectorised over baselines. Where a bound does not cover a baseline
the value is nan; where it does not cover a guarantee, `refuses` says why.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import ArrayLike

from reconbench.bounds import _validate
from reconbench.bounds._validate import FloatArray
from reconbench.bounds.ceilings.swanberg import beta
from reconbench.bounds.guarantees.guarantee import ApproxDP, Guarantee
from reconbench.bounds.guarantees.polyline import MAX_EPSILON
from reconbench.bounds.guarantees.relation import require_replace_one, why_not_replace_one
from reconbench.bounds.guarantees.renyi import ZCDP, RenyiDP


class RiskBound(Protocol):
    """A named upper bound on the success against one target."""

    name: ClassVar[str]
    reference: ClassVar[str]
    assumptions: ClassVar[str]

    def refuses(self, guarantee: Guarantee) -> str | None:
        """Why the bound says nothing about this guarantee; None when it applies."""

    def success(self, baseline: ArrayLike, guarantee: Guarantee) -> FloatArray:
        """The bound at each baseline, at most 1; nan where the baseline is not covered."""


@dataclass(frozen=True)
class UnifiedBound:
    """succ ≤ 1 − f(base) (Kulynych 2025, Theorem 3.2; formally Theorem C.2).

    For singling out (SPSO), reconstruction (SRR) and attribute inference (SAI) alike, under
    either neighbouring relation. The baseline is the success of the best guess from the prior.
    """

    name: ClassVar[str] = "f-dp"
    reference: ClassVar[str] = "Kulynych 2025, Theorem 3.2"
    assumptions: ClassVar[str] = "any prior, any success event; all other records known"

    def refuses(self, guarantee: Guarantee) -> str | None:
        return None

    def success(self, baseline: ArrayLike, guarantee: Guarantee) -> FloatArray:
        # succ ≤ 1 − f(base)
        return guarantee.power(_validate.probabilities("baseline", baseline))


@dataclass(frozen=True)
class TotalVariationBound:
    """succ ≤ base + η, η the total variation (Kulynych 2025, Theorem 3.4; formally C.3)."""

    name: ClassVar[str] = "tv"
    reference: ClassVar[str] = "Kulynych 2025, Theorem 3.4"
    assumptions: ClassVar[str] = "any prior, any success event; the advantage needs no baseline"

    def refuses(self, guarantee: Guarantee) -> str | None:
        return None

    def success(self, baseline: ArrayLike, guarantee: Guarantee) -> FloatArray:
        base = _validate.probabilities("baseline", baseline)
        return np.minimum(1.0, base + guarantee.total_variation())


@dataclass(frozen=True)
class OneTargetBound:
    """succ ≤ β + (1 − β)δ (Swanberg 2025, Theorem 3.5 for n = 1), at the best pair (ε, δ).

    β = base/(base + (1 − base) e^−ε). Replace-one neighbours. A guarantee with a whole profile
    satisfies the theorem at each ε, so the smallest value over a grid of ε holds too.
    """

    name: ClassVar[str] = "thm35"
    reference: ClassVar[str] = "Swanberg 2025, Theorem 3.5 with one target"
    assumptions: ClassVar[str] = "any prior, any success event; replace-one neighbours"

    def refuses(self, guarantee: Guarantee) -> str | None:
        return why_not_replace_one(guarantee)

    def success(self, baseline: ArrayLike, guarantee: Guarantee) -> FloatArray:
        require_replace_one(guarantee, self.reference)
        base = _validate.probabilities("baseline", baseline)
        best = np.ones_like(base)
        for epsilon, delta in _pairs(guarantee):
            raised = beta(base, epsilon)
            # P[L ≥ 1] ≤ T(1) + (T(0) − T(1))·δ, T(1) = β, T(0) = 1
            best = np.minimum(best, raised + (1 - raised) * delta)
        return best


@dataclass(frozen=True)
class SharpestBound:
    """The smaller of `UnifiedBound` and `OneTargetBound`: both hold, and neither always wins."""

    name: ClassVar[str] = "sharpest"
    reference: ClassVar[str] = "Kulynych 2025, Theorem 3.2, and Swanberg 2025, Theorem 3.5"
    assumptions: ClassVar[str] = "any prior, any success event; all other records known"

    def refuses(self, guarantee: Guarantee) -> str | None:
        return None

    def success(self, baseline: ArrayLike, guarantee: Guarantee) -> FloatArray:
        unified = UnifiedBound().success(baseline, guarantee)
        if OneTargetBound().refuses(guarantee):
            return unified
        return np.minimum(unified, OneTargetBound().success(baseline, guarantee))


@dataclass(frozen=True)
class BinaryPriorBound:
    """succ ≤ 1 − R_f(π) for a secret of two values (Kulynych 2025, Theorem D.1).

    The prior is (π, 1 − π) and the baseline max(π, 1 − π), so baselines below 1/2 are not covered.
    R_f(π) = min over α of (1 − π) α + π f(α) is the Bayes error.

    Replace-one neighbours. Errata: the paper allows any query q; the proof needs
    q(z₀; θ) + q(z₁; θ) = 1, guessing one of the two (q = 1 breaks the printed form). It also
    swaps π and 1 − π; that matters for a curve that holds in one order of the two tables only.
    """

    name: ClassVar[str] = "binary"
    reference: ClassVar[str] = "Kulynych 2025, Theorem D.1 (corrected)"
    assumptions: ClassVar[str] = "a secret of two values, guessed as one of them; replace-one"

    def refuses(self, guarantee: Guarantee) -> str | None:
        return why_not_replace_one(guarantee)

    def success(self, baseline: ArrayLike, guarantee: Guarantee) -> FloatArray:
        base = _validate.probabilities("baseline", baseline)
        error = [bayes_error(guarantee, float(1 - b)) if b >= 0.5 else math.nan for b in base.flat]
        return 1 - np.array(error).reshape(base.shape)


def bayes_error(guarantee: Guarantee, prior: float) -> float:
    """R_f(π) = min over α of (1 − π) α + π f(α): the error of the best guess of one of two values.

    Kulynych 2025, Definition D.1, for replace-one neighbours. With π ≤ 1/2 the rarer value's
    probability, it is π (1 − δ(ε)) at e^ε = (1 − π)/π.
    """
    require_replace_one(guarantee, BinaryPriorBound.reference)
    pi = float(_validate.probabilities("prior", prior))
    rare = min(pi, 1 - pi)
    if rare == 0:
        return 0.0
    # min_α (1 − π) α + π f(α) = π (1 − max_α [1 − f(α) − ((1 − π)/π) α])
    return rare * (1 - guarantee.delta_at(math.log1p(-rare) - math.log(rare)))


def advantage(success: ArrayLike, baseline: ArrayLike) -> FloatArray:
    """adv = succ − base (Kulynych 2025, Theorem 3.3); negative when the attack is worse."""
    post, base = _validate.probabilities("success", success), _baseline(baseline)
    return post - base


def generalised_advantage(success: ArrayLike, baseline: ArrayLike) -> FloatArray:
    """(post − prior)/(1 − prior) (Swanberg 2025, section 5.3): 0 at the prior, 1 when certain.

    0 where the prior is already certain: nothing is left to gain.
    """
    post, base = _validate.probabilities("success", success), _baseline(baseline)
    post, base = np.broadcast_arrays(post, base)
    return np.divide(post - base, 1 - base, out=np.zeros(base.shape), where=base < 1)


def worst_advantage(bound: RiskBound, guarantee: Guarantee) -> tuple[float, float]:
    """The largest advantage that the bound allows at any baseline, and that baseline.

    Searched on a grid and refined: for reading a bound, not for certifying one. For `UnifiedBound`
    the exact answer is the total variation.
    """
    grid = np.concatenate([np.geomspace(1e-12, 1e-3, 200), np.linspace(1e-3, 1, 2_001)])
    for _ in range(4):
        gain = np.nan_to_num(bound.success(grid, guarantee) - grid, nan=-1.0)
        best = int(np.argmax(gain))
        low, high = grid[max(best - 1, 0)], grid[min(best + 1, grid.size - 1)]
        worst = float(gain[best]), float(grid[best])
        grid = np.linspace(low, high, 101)
    return worst


def _pairs(guarantee: Guarantee) -> list[tuple[float, float]]:
    """(ε, δ) pairs that the guarantee satisfies: its kink, if it has one, and a grid below."""
    if isinstance(guarantee, ApproxDP):
        last, delta = guarantee.epsilon, guarantee.delta
    else:
        last, delta = guarantee.epsilon_at(0.0), 0.0
    kinked = last <= MAX_EPSILON
    # A Rényi curve takes milliseconds a pair, the others microseconds.
    points = 32 if isinstance(guarantee, RenyiDP | ZCDP) else 160
    grid = np.linspace(0, last, 65) if kinked else np.append(0, np.geomspace(1e-2, 100, points))
    pairs = [(float(e), guarantee.delta_at(float(e))) for e in grid]
    return [*pairs[:-1], (last, delta)] if kinked else pairs


def _baseline(baseline: ArrayLike) -> FloatArray:
    return _validate.probabilities("baseline", baseline)
