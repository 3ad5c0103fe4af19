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
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import ArrayLike

from reconbench.bounds import _validate
from reconbench.bounds._validate import FloatArray
from reconbench.bounds.ceilings.prior_exact import PriorExact, check_totals, prior_rows
from reconbench.bounds.ceilings.swanberg import beta
from reconbench.bounds.guarantees.guarantee import ApproxDP, Guarantee, PureDP, as_replace_one
from reconbench.bounds.guarantees.polyline import MAX_EPSILON
from reconbench.bounds.guarantees.relation import require_replace_one, why_not_replace_one

# Rounding at a million million million values: far below any baseline worth a bound.
_LEAST_BASELINE = 1e-18


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
    either neighbouring relation, each by its own comparison. Replace-one: with the release of a
    table where a fresh draw of the prior stands in the target's place. Add-or-remove-one: with
    the release of the other records alone. Either release is independent of the target, so a
    guess from it succeeds with probability at most the baseline, that of the best guess from the
    prior; the curve of either relation bounds how far the target's own release lifts it.
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
    """succ ≤ β + (1 − β)δ (Swanberg 2025, Theorem 3.5 for n = 1), at one stated pair (ε, δ).

    β = base/(base + (1 − base) e^−ε), ε and δ those of the guarantee; one with a whole profile
    enters through its pair at `delta`, as in `reconbench ceiling`. Replace-one neighbours.

    Proved for n = 1 where each guess is right for one value (docs/risk.md). Erratum: where a guess
    is right for several values the printed form fails even with one target. Four equally likely
    values, guesses of two of them, ε = 1, δ = 0.1: true 0.7714, printed 0.7579.
    `ProfileRecursionBound` holds for every success event.
    """

    delta: float = 1e-5

    name: ClassVar[str] = "thm35"
    reference: ClassVar[str] = "Swanberg 2025, Theorem 3.5 with one target"
    assumptions: ClassVar[str] = "any prior; a guess is right for one value; replace-one neighbours"

    def __post_init__(self) -> None:
        _validate.below_one("delta", self.delta)

    def refuses(self, guarantee: Guarantee) -> str | None:
        return why_not_replace_one(guarantee)

    def success(self, baseline: ArrayLike, guarantee: Guarantee) -> FloatArray:
        require_replace_one(guarantee, self.reference)
        base = _validate.probabilities("baseline", baseline)
        return _printed(base, *self._pair(guarantee))

    def _pair(self, guarantee: Guarantee) -> tuple[float, float]:
        if isinstance(guarantee, ApproxDP):
            return guarantee.epsilon, guarantee.delta
        if isinstance(guarantee, PureDP):
            return guarantee.epsilon, 0.0
        return guarantee.epsilon_at(self.delta), self.delta


@dataclass(frozen=True)
class ProfileBound:
    """`OneTargetBound` at the best pair of the privacy profile: the ceiling `profile`, n = 1.

    A guarantee satisfies the theorem at each ε of its profile, so the smallest value over a grid
    of ε holds too. Assumptions are those of `OneTargetBound`.
    """

    name: ClassVar[str] = "profile"
    reference: ClassVar[str] = "Swanberg 2025, Theorem 3.5 with one target, over the profile"
    assumptions: ClassVar[str] = OneTargetBound.assumptions

    def refuses(self, guarantee: Guarantee) -> str | None:
        return why_not_replace_one(guarantee)

    def success(self, baseline: ArrayLike, guarantee: Guarantee) -> FloatArray:
        require_replace_one(guarantee, self.reference)
        base = _validate.probabilities("baseline", baseline)
        return _smallest([_printed(base, *pair) for pair in _pairs(guarantee)])


@dataclass(frozen=True)
class ProfileRecursionBound:
    """succ ≤ min over ε of (e^ε base + δ(ε))/(1 + (e^ε − 1) base), for every success event.

    Proof. Let A be the values for which the guess made from output θ is right, π(A) ≤ base, and
    E(z, w) the outputs with z in A and w not. (ε, δ)-DP gives P_z(E) ≤ e^ε P_w(E) + δ. Averaged
    over independent z and w from π, that is succ·(1 − base) ≤ e^ε (1 − succ)·base + δ.
    Replace-one neighbours: z takes the place of w.

    It is β + (1 − β)δ/(1 − base), the ceiling `profile-recursion` with one target: Theorem 3.5
    corrected by a factor. No larger than `UnifiedBound` at any pair, and randomised response
    attains it for δ = 0.
    """

    name: ClassVar[str] = "profile-recursion"
    reference: ClassVar[str] = "reconbench, recursion over the privacy profile, with one target"
    assumptions: ClassVar[str] = "any prior, any success event; replace-one neighbours"

    def refuses(self, guarantee: Guarantee) -> str | None:
        return why_not_replace_one(guarantee)

    def success(self, baseline: ArrayLike, guarantee: Guarantee) -> FloatArray:
        require_replace_one(guarantee, self.reference)
        base = _validate.probabilities("baseline", baseline)
        bounds, ones = [], np.ones_like(base)
        for epsilon, delta in _pairs(guarantee):
            # β + δ e^−ε/(base + (1 − base) e^−ε)
            shrink = math.exp(-epsilon)
            scale = base + (1 - base) * shrink
            extra = np.divide(delta * shrink, scale, out=np.full_like(base, delta), where=scale > 0)
            bounds.append(np.minimum(1.0, beta(base, epsilon) + extra) if delta < 1 else ones)
        return _smallest(bounds)


@dataclass(frozen=True, eq=False)
class PriorExactBound:
    """succ ≤ C_f(π): the most that f-DP allows on a secret with prior π (docs/prior-exact.md).

    For exact match, replace-one neighbours. `priors` has one row per baseline; without it, each
    prior is the worst with that baseline: as many values of it as fit, and one of what is left.
    Never above `ProfileBound`.
    """

    priors: FloatArray | None = None

    name: ClassVar[str] = "prior-exact"
    reference: ClassVar[str] = PriorExact.reference
    assumptions: ClassVar[str] = "a guess is right for one value; replace-one neighbours"

    def __post_init__(self) -> None:
        if self.priors is not None:
            rows = prior_rows(self.priors)
            check_totals(rows.sum(axis=1), "give each value's probability")
            object.__setattr__(self, "priors", rows)

    def refuses(self, guarantee: Guarantee) -> str | None:
        return why_not_replace_one(guarantee)

    def success(self, baseline: ArrayLike, guarantee: Guarantee) -> FloatArray:
        base = _validate.probabilities("baseline", baseline)
        if self.priors is None:
            # A baseline of 0 has no largest value to fill up with: its limit is 1 − f(0).
            known = np.maximum(base, _LEAST_BASELINE).reshape(-1, 1)
            found = PriorExact(known, guarantee, 1 - known[:, 0]).per_target.reshape(base.shape)
            return np.maximum(base, np.where(base > 0, found, guarantee.power(0.0)))
        largest = self.priors.max(axis=1)
        if base.shape != largest.shape or not np.allclose(base, largest, rtol=0, atol=1e-6):
            raise ValueError(
                "baseline must be the largest probability of each row of priors, got "
                f"{base.tolist()} for {largest.tolist()}"
            )
        return PriorExact(self.priors, guarantee).per_target


@dataclass(frozen=True, eq=False)
class SharpestBound:
    """The smallest proved bound on one target, for a guarantee of either neighbouring relation.

    For exact match `PriorExactBound` (with `priors`, that of the whole prior); with
    `any_event=True`, for every success event, `ProfileRecursionBound`. Both need replace-one
    neighbours: an add-or-remove-one guarantee is converted for them (`as_replace_one`), and used as
    it is by `UnifiedBound`, which holds for both and is the smaller one at small baselines.
    """

    priors: FloatArray | None = None
    any_event: bool = False

    name: ClassVar[str] = "sharpest"
    reference: ClassVar[str] = "the smallest of f-dp and prior-exact or profile-recursion"
    assumptions: ClassVar[str] = "any prior; a guess is right for one value unless any_event"

    def refuses(self, guarantee: Guarantee) -> str | None:
        return None

    def success(self, baseline: ArrayLike, guarantee: Guarantee) -> FloatArray:
        return _smallest([values for _, values in self._each(baseline, guarantee)])

    def binding(self, baseline: ArrayLike, guarantee: Guarantee) -> RiskBound:
        """The bound that gives the value, of the target with the largest gain."""
        base = np.atleast_1d(_validate.probabilities("baseline", baseline))
        each = [(bound, np.atleast_1d(values)) for bound, values in self._each(base, guarantee)]
        worst = int(np.argmax(_smallest([values for _, values in each]) - base))
        return min(each, key=lambda entry: float(entry[1][worst]))[0]

    def _each(
        self, baseline: ArrayLike, guarantee: Guarantee
    ) -> list[tuple[RiskBound, FloatArray]]:
        sharp: RiskBound = (
            ProfileRecursionBound() if self.any_event else PriorExactBound(self.priors)
        )
        unified = UnifiedBound()
        return [
            (sharp, sharp.success(baseline, as_replace_one(guarantee))),
            (unified, unified.success(baseline, guarantee)),
        ]


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


def _printed(base: FloatArray, epsilon: float, delta: float) -> FloatArray:
    """P[L ≥ 1] ≤ T(1) + (T(0) − T(1))·δ with T(1) = β and T(0) = 1."""
    raised = beta(base, epsilon)
    return raised + (1 - raised) * delta


def _smallest(bounds: Sequence[FloatArray]) -> FloatArray:
    return np.asarray(np.minimum.reduce([np.ones_like(bounds[0]), *bounds]))


def _pairs(guarantee: Guarantee) -> list[tuple[float, float]]:
    """(ε, δ) pairs that the guarantee satisfies: its kink, if it has one, and a grid below."""
    if isinstance(guarantee, ApproxDP):
        last, delta = guarantee.epsilon, guarantee.delta
    else:
        last, delta = guarantee.epsilon_at(0.0), 0.0
    kinked = last <= MAX_EPSILON
    grid = np.linspace(0, last, 65) if kinked else np.append(0, np.geomspace(1e-2, 100, 160))
    pairs = [(float(e), guarantee.delta_at(float(e))) for e in grid]
    return [*pairs[:-1], (last, delta)] if kinked else pairs


def _baseline(baseline: ArrayLike) -> FloatArray:
    return _validate.probabilities("baseline", baseline)
