"""Ceilings on reconstruction: how many targets any attacker recovers, with what probability.

Swanberg et al. 2025, "Beyond the Worst Case", section 3. The game: n target records are drawn
independently from known priors, the mechanism runs on them (together with any fixed, known
records), the attacker sees the output and makes guesses, and the success is a decomposable metric
L(x, z) = Σ_i ℓ_i(x_i, z) with ℓ_i in {0, 1}: the number of targets recovered. Each bound says
that P[L ≥ v] ≤ tail(v); the ceiling at confidence c is the smallest v with P[L > v] ≤ 1 − c.

The neighbouring relation is replace-one: a target's value changes, the number of records does not.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import rel_entr

from reconbench.bounds import _validate
from reconbench.bounds._validate import FloatArray
from reconbench.bounds.ceilings.base import (
    CONFIDENCES,
    BestGuessBound,
    HighProbabilityBound,
    NotApplicable,
    Scope,
    Targets,
    failure_rate,
    smallest,
)
from reconbench.bounds.ceilings.compact_tail import CompactTail
from reconbench.bounds.guarantees.guarantee import ApproxDP, Guarantee, PureDP, Relation
from reconbench.bounds.poisson_binomial import PoissonBinomial


def beta(prior_success: ArrayLike, epsilon: float) -> FloatArray:
    """β: the most that ε-DP can raise a prior success probability p to (Swanberg 2025, section 3).

    Holds for one target whatever else is known, under replace-one neighbours. 0 stays 0, 1 stays
    1, and ε = inf raises every p > 0 to 1.
    """
    p = _validate.probabilities("prior_success", prior_success)
    # β = e^ε / (e^ε − 1 + 1/p) = p / (p + (1 − p) e^−ε)
    miss = (1 - p) * math.exp(-_validate.non_negative("epsilon", epsilon))
    return np.divide(p, p + miss, out=np.zeros_like(p), where=p > 0)


@dataclass(frozen=True, eq=False)
class Theorem32(HighProbabilityBound):
    """Swanberg 2025, Theorem 3.2: for pure ε-DP, L given the output is at most Σ Bernoulli(β_i).

    The dominance holds for every mechanism output a and the guesses z = A(a) made from it:
    `prior_success[i]` is P[ℓ_i(X_i, z) = 1] for a fresh X_i from target i's prior.

    Assumes independent targets given the prior, a decomposable metric and replace-one neighbours.
    Erratum: the paper states it for (ε, δ)-DP; its proof, and the result, are for δ = 0 only.
    """

    prior_success: FloatArray
    guarantee: PureDP

    name: ClassVar[str] = "thm32"
    reference: ClassVar[str] = "Swanberg 2025, Theorem 3.2"
    statement: ClassVar[str] = (
        "Pure DP, any metric: from the prior success of the guesses made, given the output."
    )
    scope: ClassVar[Scope] = Scope.GUESSES
    proved: ClassVar[bool] = True

    def __post_init__(self) -> None:
        checked = _validate.probability_vector("prior_success", self.prior_success)
        object.__setattr__(self, "prior_success", checked)
        if not isinstance(self.guarantee, PureDP):
            raise ValueError(
                f"guarantee must be PureDP for {self.reference}, got {self.guarantee!r}: "
                "use Theorem35 or Corollary34 for (epsilon, delta)-DP"
            )
        _check_replace_one(self.guarantee)

    @property
    def n(self) -> int:
        return self.prior_success.size

    @classmethod
    def apply(cls, targets: Targets, guarantee: Guarantee) -> Self:
        if not isinstance(guarantee, PureDP):
            raise NotApplicable(f"{cls.reference} is for pure DP, got {guarantee.describe()}")
        return cls(targets.own_guess_success, guarantee)

    def _tail_at(self, v: int) -> float:
        # P[L ≥ v | M(X) = a] ≤ P[Σ S_i ≥ v], S_i ~ Bernoulli(β_i)
        return float(self._sum.tails[v])

    @cached_property
    def _sum(self) -> PoissonBinomial:
        return PoissonBinomial(beta(self.prior_success, self.guarantee.epsilon))


def add_failures(
    tails: FloatArray, n_delta: FloatArray, v: int, sure: int = 0, first: int = 1
) -> FloatArray:
    """The bound of Theorem 3.5 at 0 < v ≤ n, from tails T of the sum and n·δ: one row per ε.

    P[L ≥ v] ≤ T(v) + α(v)·n·δ, α(v) = max over 1 ≤ j ≤ n of (T(v − j) − T(v))/j.

    T(v − j) = 1 for all j ≥ v − sure, where the smallest such j gives the maximum.
    """
    here = tails[:, v]
    j = np.arange(first, max(first, v - sure) + 1)
    alpha: FloatArray = np.max((tails[:, np.maximum(v - j, 0)] - here[:, None]) / j, axis=1)
    bound: FloatArray = np.minimum(here + alpha * n_delta, 1.0)
    return bound


@dataclass(frozen=True, eq=False)
class Theorem35(BestGuessBound):
    """Swanberg 2025, Theorem 3.5: for (ε, δ)-DP, from one run and whatever the attack.

    Assumes independent targets given the prior, a decomposable metric and replace-one neighbours.
    The probability is over the table and the mechanism's coins. Weakens as n·δ grows.
    Erratum: its proof takes the failures of ε-DP to be independent of the sum. Some mechanisms
    pass it, by less than n·δ: for exact match so far only where the bound exceeds one half, and
    where a guess is right for several values even with one target (docs/profile.md).
    """

    guarantee: ApproxDP | PureDP

    name: ClassVar[str] = "thm35"
    reference: ClassVar[str] = "Swanberg 2025, Theorem 3.5"
    statement: ClassVar[str] = "(ε, δ)-DP, any metric: from the best guesses from the prior alone."
    proved: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_epsilon_delta(self.guarantee, self.reference)
        super().__post_init__()

    @classmethod
    def apply(cls, targets: Targets, guarantee: Guarantee) -> Self:
        return cls(targets.best_prior_success, targets.budget)

    def ceiling(self, confidence: float) -> int:
        failure = failure_rate(confidence)
        # For j ≥ n·δ the bound's j-th term, (1 − n·δ/j) T(v) + (n·δ/j) T(v − j), cannot increase
        # in v, so bisection on those terms is exact; the others matter only when n·δ > 1.
        first = max(1, math.ceil(self._n_delta))
        v = smallest(lambda w: self._tail_at(w, first), self.n, failure)
        while v < self.n and self._tail_at(v + 1) > failure:
            v += 1
        return v

    def _tail_at(self, v: int, first: int = 1) -> float:
        """The bound at an integer v, with the maximum taken over j ≥ first."""
        if v <= 0:
            return 1.0
        if v > self.n:
            return 0.0
        tails = self._sum.tails[None]
        return float(add_failures(tails, np.array([self._n_delta]), v, self._sure, first)[0])

    @cached_property
    def _sure(self) -> int:
        """The largest v with T(v) = 1: the sum is never smaller, as far as doubles tell."""
        return int(np.searchsorted(-self._sum.tails, -1.0, side="right")) - 1

    @property
    def _n_delta(self) -> float:
        return self.n * _delta(self.guarantee)

    @cached_property
    def _sum(self) -> PoissonBinomial:
        return PoissonBinomial(beta(self.best_prior_success, self.guarantee.epsilon))


@dataclass(frozen=True, eq=False)
class Corollary34(HighProbabilityBound):
    """Swanberg 2025, Corollary 3.4: for (ε, δ)-DP and one attack, averaged over runs.

    Each run draws a fresh table, runs the mechanism and the attack, and contributes the tail of
    Σ Bernoulli(β_i) for the guesses it made: `runs` are those tails, computed at the guarantee's
    ε. The corollary bounds P[L ≥ v] by the expected tail plus n·δ. The mean over runs estimates
    that expectation: `tail` and `ceiling` are the bound up to the sampling error of the runs,
    which `standard_error` gives; `upper_tail` and `safe_ceiling` allow for it.

    Assumes independent targets given the prior, a decomposable metric and replace-one neighbours.
    Vacuous at confidence c when n·δ > 1 − c.
    """

    runs: Sequence[CompactTail]
    guarantee: ApproxDP | PureDP

    name: ClassVar[str] = "cor34"
    reference: ClassVar[str] = "Swanberg 2025, Corollary 3.4"
    statement: ClassVar[str] = (
        "(ε, δ)-DP, any metric: an estimate from the guesses of all repetitions."
    )
    scope: ClassVar[Scope] = Scope.REPETITIONS
    proved: ClassVar[bool] = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "runs", tuple(self.runs))
        check_epsilon_delta(self.guarantee, self.reference)
        if not self.runs:
            raise ValueError("runs must hold at least one run, got none")
        sizes = sorted({run.n for run in self.runs})
        if len(sizes) > 1:
            raise ValueError(f"runs must all have the same number of targets, got {sizes}")

    @property
    def n(self) -> int:
        return self.runs[0].n

    @classmethod
    def apply(cls, targets: Targets, guarantee: Guarantee) -> Self:
        return cls(targets.runs, targets.budget)

    def _tail_at(self, v: int) -> float:
        # P[L ≥ v] ≤ E[P[Σ S_i ≥ v]] + n·δ, S_i ~ Bernoulli(β_i(A(a), ε))
        failed = self.n * _delta(self.guarantee)
        return min(1.0, float(self._mean[v]) + failed) if v <= self.n else 0.0

    @cached_property
    def _mean(self) -> FloatArray:
        """The mean over runs of P[Σ S_i ≥ v], for v = 0, …, n + 1."""
        every = np.arange(self.n + 2)
        total = sum((run.tail(every) for run in self.runs), np.zeros(len(every)))
        return np.asarray(total / len(self.runs))

    def standard_error(self, v: ArrayLike) -> FloatArray:
        """The standard error of the mean over runs in `tail(v)`; inf for a single run."""
        at = _validate.thresholds("v", v, self.n)
        if len(self.runs) == 1:
            return np.full(at.shape, np.inf)
        spread = np.std([run.tail(at) for run in self.runs], axis=0, ddof=1)
        return np.asarray(spread / math.sqrt(len(self.runs)))

    def upper_tail(self, v: ArrayLike, error: float = 0.01) -> FloatArray:
        """A bound on P[L ≥ v] that is too low with probability at most `error` over the runs.

        By the Chernoff-Hoeffding bound for means of variables in [0, 1], at each v by itself:
        the largest p with R·KL(mean over R runs ‖ p) ≤ ln(1/error), plus n·δ.
        """
        at = _validate.thresholds("v", v, self.n)
        allowed = -math.log(_validate.strictly_between_zero_and_one("error", error))
        upper = _upper_mean(np.minimum(self._mean[at], 1.0), allowed / len(self.runs))
        bound = np.minimum(1.0, upper + self.n * _delta(self.guarantee))
        return np.where(at > self.n, 0.0, bound)

    def safe_ceiling(self, confidence: float, error: float = 0.01) -> int:
        """A ceiling that is below the corollary's with probability at most `error` over the runs.

        The smallest v from which on P[L > v] ≤ 1 − confidence by `upper_tail`: it can be too low
        only if `upper_tail` fails at the one v where the true bound last exceeds 1 − confidence.
        """
        above = self.upper_tail(np.arange(1, self.n + 1), error) > failure_rate(confidence)
        return int(np.max(np.flatnonzero(above), initial=-1)) + 1


def run_tail(prior_success: ArrayLike, guarantee: ApproxDP | PureDP) -> CompactTail:
    """One run's share of Corollary 3.4, small enough to store, at the guarantee's ε."""
    check_epsilon_delta(guarantee, Corollary34.reference)
    p = _validate.probability_vector("prior_success", prior_success)
    return CompactTail.of(PoissonBinomial(beta(p, guarantee.epsilon)))


def theorem_3_2(
    prior_success: ArrayLike, guarantee: PureDP, confidences: Sequence[float] = CONFIDENCES
) -> dict[float, int]:
    """The ceilings of `Theorem32`, by confidence.

    Args:
        prior_success: For each target, the success of the best guess from the prior.
        guarantee: A pure budget.
        confidences: With each of these probabilities no more targets are recovered.

    Returns:
        The largest number of targets, by confidence.

    Example:
        >>> import reconbench as rb
        >>> rb.theorem_3_2([0.5] * 100, rb.PureDP(0.5))[0.95]
        70
    """
    return Theorem32(np.asarray(prior_success), guarantee).by_confidence(confidences)


def theorem_3_5(
    best_prior_success: ArrayLike,
    guarantee: ApproxDP | PureDP,
    confidences: Sequence[float] = CONFIDENCES,
) -> dict[float, int]:
    """The ceilings of `Theorem35`, by confidence.

    Args:
        best_prior_success: For each target, the success of the best guess from the prior.
        guarantee: A budget, pure or approximate.
        confidences: With each of these probabilities no more targets are recovered.

    Returns:
        The largest number of targets, by confidence.

    Example:
        >>> import reconbench as rb
        >>> rb.theorem_3_5([0.56] * 100, rb.ApproxDP(1.0, 1e-5))[0.95]
        84
    """
    return Theorem35(np.asarray(best_prior_success), guarantee).by_confidence(confidences)


def corollary_3_4(
    runs: Sequence[CompactTail | ArrayLike],
    guarantee: ApproxDP | PureDP,
    confidences: Sequence[float] = CONFIDENCES,
) -> dict[float, int]:
    """The ceilings of `Corollary34`, by confidence, from tails or prior success arrays.

    Args:
        runs: For each run, its prior success or what `run_tail` kept of it.
        guarantee: A budget, pure or approximate.
        confidences: With each of these probabilities no more targets are recovered.

    Returns:
        The largest number of targets, by confidence.

    Example:
        >>> import reconbench as rb
        >>> rb.corollary_3_4([[0.5] * 100] * 2, rb.ApproxDP(1.0, 1e-5))[0.95]
        80
    """
    tails = [run if isinstance(run, CompactTail) else run_tail(run, guarantee) for run in runs]
    return Corollary34(tails, guarantee).by_confidence(confidences)


def _upper_mean(mean: FloatArray, allowed: float) -> FloatArray:
    """The largest p with KL(mean ‖ p) ≤ allowed, rounded up, for Bernoulli divergence KL."""
    low, high = mean, np.ones_like(mean)
    for _ in range(60):
        p = (low + high) / 2
        near = rel_entr(mean, p) + rel_entr(1 - mean, 1 - p) <= allowed
        low, high = np.where(near, p, low), np.where(near, high, p)
    return high


def _delta(guarantee: ApproxDP | PureDP) -> float:
    return guarantee.delta if isinstance(guarantee, ApproxDP) else 0.0


def check_epsilon_delta(guarantee: ApproxDP | PureDP, reference: str) -> None:
    """Refuse what is not (ε, δ)-DP under replace-one, with the conversion."""
    if not isinstance(guarantee, ApproxDP | PureDP):
        raise ValueError(
            f"guarantee must be ApproxDP or PureDP for {reference}, got {guarantee!r}: "
            "convert a GaussianDP with to_approx(delta)"
        )
    _check_replace_one(guarantee)


def _check_replace_one(guarantee: ApproxDP | PureDP) -> None:
    if guarantee.relation is not Relation.REPLACE_ONE:
        raise ValueError(
            f"guarantee must be for {Relation.REPLACE_ONE.value} neighbours, got "
            f"{guarantee.describe()}: replacing is removing and adding, so (epsilon, delta) "
            "becomes (2·epsilon, (1 + e^epsilon)·delta) under replace-one; pass that instead"
        )
