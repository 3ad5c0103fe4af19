"""One-run audits as lower bounds on ε: the tests of `bounds.audit.one_run_tests`, inverted."""

from __future__ import annotations

import math
from collections.abc import Callable

from reconbench.bounds.audit.one_run_tests import (
    Membership,
    OneRunTest,
    Tally,
    UniformCanaries,
    one_run_lower_bound,
)
from reconbench.bounds.audit.verdict import EpsilonEstimate
from reconbench.bounds.guarantees.guarantee import ApproxDP, PureDP


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
