"""Auditing from one run: how unlikely a count of right guesses is under a guarantee.

Each of `canaries` independent targets takes one of `values` equally likely values (two for
membership). The attacker sees the output of one run, guesses on `guesses` of them and is right on
`correct`. A bound on P[right guesses ≥ correct] under a guarantee is a p-value against it; the
largest parameter it refutes is a lower bound on the privacy loss. The relation is replace-one: a
canary's value changes. For membership that is including or leaving out one record.

- Steinke, Nasr and Jagielski 2023, "Privacy Auditing with One (1) Training Run", Theorem 5.2:
  membership under (ε, δ)-DP.
- Mahloujifar, Melis and Chaudhuri 2024, "Auditing f-Differential Privacy in One Run",
  Theorem 3.2 and Algorithm 3: any f-DP, any number of values.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np
from scipy.special import bdtr, bdtrc, expit

from reconbench.bounds import _validate
from reconbench.bounds._validate import positive_integer
from reconbench.bounds.audit.verdict import EpsilonEstimate
from reconbench.bounds.guarantees._conjugate import neighbour_floor
from reconbench.bounds.guarantees.guarantee import ApproxDP, Guarantee, PureDP
from reconbench.bounds.guarantees.relation import require_replace_one

_HALVINGS = 60
_LOWEST = 1e-300
_LARGEST = 1e3


@dataclass(frozen=True)
class Tally:
    """What one run gave: `correct` right guesses of `guesses` made on `canaries` targets."""

    correct: int
    guesses: int
    canaries: int
    values: int = 2

    def __post_init__(self) -> None:
        positive_integer("canaries", self.canaries)
        positive_integer("guesses", self.guesses)
        if positive_integer("values", self.values) < 2:
            raise ValueError(f"values must be at least 2 to guess from, got {self.values!r}")
        if self.guesses > self.canaries:
            raise ValueError(
                f"guesses must be at most canaries = {self.canaries}, got {self.guesses!r}"
            )
        if not 0 <= self.correct <= self.guesses or self.correct != int(self.correct):
            raise ValueError(
                f"correct must be an integer from 0 to guesses = {self.guesses}, "
                f"got {self.correct!r}"
            )


class OneRunTest(Protocol):
    """A p-value against a guarantee, from one run."""

    reference: ClassVar[str]

    def p_value(self, tally: Tally) -> float:
        """An upper bound on P[at least `tally.correct` right guesses] under the guarantee."""

    def refutes(self, tally: Tally, level: float) -> bool:
        """Whether the p-value is at most `level`."""


@dataclass(frozen=True)
class Membership:
    """Steinke et al. 2023, Theorem 5.2: two values, (ε, δ)-DP, replace-one on the value.

    With r guesses on m canaries and q = 1/(1 + e^−ε): p = P[Bin(r, q) ≥ v] + 2mδ·α, where
    α = max over i = 1, …, v of P[v − i ≤ Bin(r, q) < v]/i. The guesses may be chosen by any rule.
    With δ > 0 some mechanisms pass it, so far only where p exceeds one half (docs/profile.md).
    """

    guarantee: ApproxDP | PureDP

    reference: ClassVar[str] = "Steinke et al. 2023, Theorem 5.2"

    def __post_init__(self) -> None:
        if not isinstance(self.guarantee, ApproxDP | PureDP):
            raise ValueError(
                f"guarantee must be ApproxDP or PureDP for {self.reference}, got "
                f"{self.guarantee!r}: use UniformCanaries for a whole trade-off curve"
            )
        require_replace_one(self.guarantee, self.reference)

    def p_value(self, tally: Tally) -> float:
        if tally.values != 2:
            raise ValueError(
                f"values must be 2 for {self.reference}, got {tally.values!r}: "
                "use UniformCanaries for more"
            )
        v, r = tally.correct, tally.guesses
        if v == 0:
            return 1.0
        q = float(expit(self.guarantee.epsilon))
        tail = float(bdtrc(v - 1, r, q))
        delta = self.guarantee.delta if isinstance(self.guarantee, ApproxDP) else 0.0
        # P[v − i ≤ Bin < v] = P[Bin ≤ v − 1] − P[Bin ≤ v − i − 1]
        i = np.arange(1, v + 1)
        below = np.where(i < v, bdtr(np.maximum(v - i - 1, 0), r, q), 0.0)
        alpha = float(np.max((bdtr(v - 1, r, q) - below) / i))
        return min(1.0, tail + 2 * tally.canaries * delta * alpha)

    def refutes(self, tally: Tally, level: float) -> bool:
        return self.p_value(tally) <= level


@dataclass(frozen=True)
class UniformCanaries:
    """Mahloujifar et al. 2024, Algorithm 3: any f-DP guarantee, uniform canaries of k values.

    Let r_i and h_i be the expected shares of canaries guessed right and wrong in runs with at
    least i right guesses. Replacing one canary's value turns a right guess into a wrong one, so
    h_i ≥ (k − 1)·g(r_{i+1}) with g = (1 − f)⁻¹; from P[≥ c right] = τ these force a total that
    must not exceed guesses/canaries. The p-value is the largest τ that they allow. For one
    canary it is the fixed point p = 1 − f((1 − p)/(k − 1)).
    """

    guarantee: Guarantee

    reference: ClassVar[str] = "Mahloujifar et al. 2024, Algorithm 3"

    def __post_init__(self) -> None:
        require_replace_one(self.guarantee, self.reference)

    def p_value(self, tally: Tally) -> float:
        if not self.refutes(tally, 1.0):
            return 1.0
        low, high = math.log(_LOWEST), 0.0
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            refuted = self.refutes(tally, math.exp(middle))
            low, high = (low, middle) if refuted else (middle, high)
        return math.exp(high)

    def refutes(self, tally: Tally, level: float) -> bool:
        c, guesses, m = tally.correct, tally.guesses, tally.canaries
        # P[at least c right] = τ, were it possible, puts all of τ at c in the best case.
        right, wrong = level * c / m, level * (guesses - c) / m
        total = guesses / m
        for i in range(c - 1, -1, -1):
            if right + wrong > total:
                break
            # h_i = max(h_{i+1}, (k − 1)·g(r_{i+1})), r_i = r_{i+1} + i/(c′ − i)·(h_i − h_{i+1})
            floor = (tally.values - 1) * float(neighbour_floor(self.guarantee, min(right, 1.0)))
            more = max(0.0, floor - wrong)
            right, wrong = right + i / (guesses - i) * more, wrong + more
        return right + wrong > total


def one_run_ceiling(
    test: OneRunTest, guesses: int, canaries: int, values: int = 2, confidence: float = 0.95
) -> int:
    """The smallest v with P[right guesses > v] ≤ 1 − confidence under the test's guarantee."""
    failure = 1 - _validate.strictly_between_zero_and_one("confidence", confidence)
    Tally(0, guesses, canaries, values)

    def passed(v: int) -> bool:
        return test.refutes(Tally(v + 1, guesses, canaries, values), failure)

    return bisect_left(range(guesses), True, key=passed)


def one_run_lower_bound(
    tally: Tally, test: Callable[[float], OneRunTest], confidence: float = 0.95
) -> float:
    """The largest parameter that the run refutes: a lower bound on ε or μ, at `confidence`.

    `test` makes the test of a parameter, as in `lambda mu: UniformCanaries(GaussianDP(mu))` or
    `lambda epsilon: Membership(ApproxDP(epsilon, 1e-5))`. 0 where nothing is refuted. Under the
    true parameter the result is larger than it with probability at most 1 − confidence.
    """
    failure = 1 - _validate.strictly_between_zero_and_one("confidence", confidence)

    def refuted(parameter: float) -> bool:
        return test(parameter).refutes(tally, failure)

    low, high = 0.0, 1.0
    while refuted(high):
        low, high = high, 2 * high
        if high > _LARGEST:
            return low
    # A parameter within 1e-12 of 0 counts as 0.
    while high - low > 1e-12 + 1e-9 * low:
        middle = (low + high) / 2
        low, high = (middle, high) if refuted(middle) else (low, middle)
    return low


def _budget(epsilon: float, delta: float) -> ApproxDP | PureDP:
    return ApproxDP(epsilon, delta) if delta else PureDP(epsilon)


def audit_membership(tally: Tally, delta: float = 0.0, confidence: float = 0.99) -> EpsilonEstimate:
    """Two values a canary: Steinke et al. 2023, Theorem 5.2, at δ.

    The estimate is the bound at confidence 1/2, the ε at which as many right guesses or more are
    as likely as not.
    """

    def test(epsilon: float) -> OneRunTest:
        return Membership(_budget(epsilon, delta))

    return _inverted("steinke", tally, test, confidence, Membership.reference)


def audit_canaries(tally: Tally, delta: float = 0.0, confidence: float = 0.99) -> EpsilonEstimate:
    """k values a canary: Mahloujifar et al. 2024, Algorithm 3, with the trade-off of (ε, δ)-DP."""

    def test(epsilon: float) -> OneRunTest:
        return UniformCanaries(_budget(epsilon, delta))

    return _inverted("mahloujifar", tally, test, confidence, UniformCanaries.reference)


def _inverted(
    method: str,
    tally: Tally,
    test: Callable[[float], OneRunTest],
    confidence: float,
    reference: str,
) -> EpsilonEstimate:
    lower = one_run_lower_bound(tally, test, confidence)
    return EpsilonEstimate(
        method,
        max(lower, one_run_lower_bound(tally, test, 0.5)),
        lower,
        math.inf,
        confidence,
        reference,
        "canaries drawn independently and uniformly, one run, any attack",
    )
