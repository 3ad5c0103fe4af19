"""What holds given the mechanism's very output: Theorem 3.3 with a given F, and a lower bound.

Both are for the guesses made from that output, under replace-one neighbours and independent
targets; see `ceilings` for the game.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from reconbench.bounds import _validate
from reconbench.bounds._validate import FloatArray
from reconbench.bounds.ceilings.base import HighProbabilityBound, NotApplicable, Scope, Targets
from reconbench.bounds.ceilings.swanberg import beta, check_epsilon_delta
from reconbench.bounds.guarantees.guarantee import ApproxDP, Guarantee, PureDP
from reconbench.bounds.guarantees.relation import require_replace_one
from reconbench.bounds.poisson_binomial import PoissonBinomial

_TOTAL = 1e-9


@dataclass(frozen=True, eq=False)
class Theorem33(HighProbabilityBound):
    """Swanberg 2025, Theorem 3.3: for (ε, δ)-DP, L is at most F + Σ Bernoulli(β_i).

    F counts the targets for which ε-DP fails; its mean, over outputs, is at most n·δ. The theorem
    leaves F's distribution open: `failures[j]` is P[F = j] for j = 0, …, n, as known of the
    mechanism or assumed. Theorem 3.5 is what remains when the worst F is taken for each v.
    `prior_success[i]` is P[ℓ_i(X_i, z) = 1] for the guesses z made.

    Assumes independent targets given the prior, a decomposable metric and replace-one neighbours,
    and that F is independent of the sum: the paper states it, its proof does not show it
    (docs/profile.md), and it holds where records fail independently of each other's success.

    No game states F, so this bound is not registered and on no row.
    """

    prior_success: FloatArray
    guarantee: ApproxDP | PureDP
    failures: FloatArray

    name: ClassVar[str] = "thm33"
    reference: ClassVar[str] = "Swanberg 2025, Theorem 3.3"
    statement: ClassVar[str] = "(ε, δ)-DP, any metric: given the output and the distribution of F."
    scope: ClassVar[Scope] = Scope.GUESSES
    proved: ClassVar[bool] = False

    def __post_init__(self) -> None:
        checked = _validate.probability_vector("prior_success", self.prior_success)
        object.__setattr__(self, "prior_success", checked)
        check_epsilon_delta(self.guarantee, self.reference)
        failures = _validate.probability_vector("failures", self.failures)
        object.__setattr__(self, "failures", failures)
        if failures.size != self.n + 1 or abs(failures.sum() - 1) > _TOTAL:
            raise ValueError(
                f"failures must be P[F = j] for j = 0, ..., n = {self.n} and add up to 1, "
                f"got {failures.size} values that add up to {failures.sum():.9g}"
            )
        allowed = self.n * self.guarantee.delta_at(self.guarantee.epsilon)
        expected = float(failures @ np.arange(self.n + 1))
        if expected > allowed + _TOTAL * self.n:
            raise ValueError(
                f"failures must have a mean of at most n·delta = {allowed:g}, got {expected:g}: "
                "pass the delta that the mechanism has, or fewer failures"
            )

    @property
    def n(self) -> int:
        return self.prior_success.size

    @classmethod
    def apply(cls, targets: Targets, guarantee: Guarantee) -> Self:
        raise NotApplicable(f"{cls.reference} needs the distribution of F")

    def _tail_at(self, v: int) -> float:
        return float(self._tails[v])

    @cached_property
    def _tails(self) -> FloatArray:
        """P[F + S ≥ v] = Σ_j P[F = j]·P[S ≥ v − j] for v = 0, …, n; 0 at n + 1, since L ≤ n."""
        sums = PoissonBinomial(beta(self.prior_success, self.guarantee.epsilon)).tails
        tails = np.zeros(self.n + 2)
        for j in np.flatnonzero(self.failures):
            tails[:j] += self.failures[j]
            tails[j:-1] += self.failures[j] * sums[: self.n + 1 - j]
        tails[0] = 1.0
        return np.minimum(tails, 1.0)


@dataclass(frozen=True, eq=False)
class Floor32:
    """Swanberg 2025, Theorem 3.2 from below: L given the output is at least Σ Bernoulli(β_i(−ε)).

    The proof of Theorem 3.2 bounds each posterior success from both sides, below by
    β_i(−ε) = p_i / (p_i + (1 − p_i) e^ε). However the attacker guesses, privacy also keeps the
    output from misleading: guesses of prior success p_i cannot fall below this.

    Pure ε-DP only, independent targets given the prior, a decomposable metric, replace-one.
    """

    prior_success: FloatArray
    guarantee: PureDP

    reference: ClassVar[str] = "Swanberg 2025, proof of Theorem 3.2 (lower side)"

    def __post_init__(self) -> None:
        checked = _validate.probability_vector("prior_success", self.prior_success)
        object.__setattr__(self, "prior_success", checked)
        if not isinstance(self.guarantee, PureDP):
            raise ValueError(
                f"guarantee must be PureDP for {self.reference}, got {self.guarantee!r}: "
                "with delta > 0 an output may mislead about every target"
            )
        require_replace_one(self.guarantee, self.reference)

    @property
    def n(self) -> int:
        return self.prior_success.size

    def tail(self, v: ArrayLike) -> FloatArray:
        """A lower bound on P[L ≥ v | output]; 1 for v ≤ 0, 0 for v > n."""
        return self._sum.tail(v)

    def floor(self, confidence: float) -> int:
        """The largest integer v with P[L ≥ v] ≥ confidence by this bound."""
        level = _validate.strictly_between_zero_and_one("confidence", confidence)
        tails = self._sum.tails
        return bisect_left(range(self.n), True, key=lambda v: bool(tails[v + 1] < level))

    @cached_property
    def _sum(self) -> PoissonBinomial:
        return PoissonBinomial(beta_floor(self.prior_success, self.guarantee.epsilon))


def beta_floor(prior_success: ArrayLike, epsilon: float) -> FloatArray:
    """β(−ε) = p / (p + (1 − p) e^ε): the least that ε-DP can lower a prior success p to."""
    p = _validate.probabilities("prior_success", prior_success)
    kept = p * np.exp(-_validate.non_negative("epsilon", epsilon))
    floor: FloatArray = np.divide(kept, kept + (1 - p), out=np.ones_like(p), where=p < 1)
    return floor
