"""One-run audits of ε: closed forms, twins, coverage by simulation, null, limits."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import binom

from reconbench.bounds import Tally
from reconbench.bounds.audit import EpsilonEstimate, Verdict, audit_canaries, audit_membership


def test_one_right_guess_in_closed_form() -> None:
    """P[right] = e^ε/(e^ε + k − 1) at the level τ = 0.8: ε = ln((k − 1) τ/(1 − τ))."""
    assert audit_membership(Tally(1, 1, 1), confidence=0.2).lower == pytest.approx(math.log(4))
    for k in (2, 5, 40):
        found = audit_canaries(Tally(1, 1, 1, k), confidence=0.2).lower
        assert found == pytest.approx(math.log((k - 1) * 4), abs=1e-6)


@pytest.mark.parametrize(("v", "r"), [(30, 40), (75, 100), (600, 1000), (10, 10)])
def test_membership_equals_the_binomial_twin(v: int, r: int) -> None:
    """P[Bin(r, q) ≥ v] = 0.01 at q = 1/(1 + e^−ε): Clopper-Pearson on the right guesses."""
    q = float(brentq(lambda p: binom.sf(v - 1, r, p) - 0.01, 1e-9, 1 - 1e-12, xtol=1e-14))
    twin = max(0.0, math.log(q / (1 - q)))
    assert audit_membership(Tally(v, r, r)).lower == pytest.approx(twin, abs=1e-6)


@pytest.mark.parametrize("m", [1, 2, 5, 20])
@pytest.mark.parametrize("k", [2, 3, 10])
def test_chance_level_guessing_shows_nothing(m: int, k: int) -> None:
    right = np.arange(m + 1)
    chance = binom.pmf(right, m, 1 / k)
    for confidence in (0.5, 0.99):
        lower = np.array(
            [audit_canaries(Tally(int(c), m, m, k), confidence=confidence).lower for c in right]
        )
        assert chance[lower > 0].sum() <= 1 - confidence + 1e-12
        assert np.all(lower[right <= m / k] == 0)  # at chance, below it, and labels reversed
        if k == 2:
            lower = np.array(
                [audit_membership(Tally(int(c), m, m), confidence=confidence).lower for c in right]
            )
            assert chance[lower > 0].sum() <= 1 - confidence + 1e-12
            assert np.all(lower[right <= m / 2] == 0)


def test_chance_level_in_large_samples() -> None:
    for m in (100, 1000, 100_000):
        for delta in (0.0, 1e-5):
            assert audit_membership(Tally(m // 2, m, m), delta).lower == 0
            assert audit_membership(Tally(0, m, m), delta).lower == 0
    assert audit_canaries(Tally(100, 1000, 1000, 10)).lower == 0


def first_alarm(
    audit: Callable[..., EpsilonEstimate], challenges: int, k: int, epsilon: float
) -> int:
    """The fewest right guesses that refute ε: more of them never say less."""

    def refutes(right: int) -> bool:
        return audit(Tally(right, challenges, challenges, k), confidence=0.95).lower > epsilon

    return bisect_left(range(challenges + 1), True, key=refutes)


@pytest.mark.slow
@pytest.mark.parametrize("k", [2, 5])
def test_the_bounds_cover_and_half_the_noise_is_caught(k: int) -> None:
    """GRR on each canary, 20,000 runs of 200; at 5 % more than 1,150 alarms would be 4.9 sd."""
    rng = np.random.default_rng(11)
    m, epsilon, runs = 200, 1.0, 20_000
    audits = [audit_canaries] if k > 2 else [audit_canaries, audit_membership]
    for audit in audits:
        first = first_alarm(audit, m, k, epsilon)

        def alarms(true: float, first: int = first) -> int:
            hit = 1 / (1 + (k - 1) * math.exp(-true))
            right = (rng.random((runs, m)) < hit).sum(axis=1)
            return int((right >= first).sum())

        assert alarms(epsilon) <= 1_150
        assert alarms(2 * epsilon) > 0.9 * runs


def test_limits_and_order() -> None:
    for audit in (audit_membership, audit_canaries):
        lows = [audit(Tally(c, 60, 80)).lower for c in range(0, 61, 5)]
        assert np.all(np.diff(lows) >= 0) and lows[-1] > 2
        assert audit(Tally(50, 60, 80), 1e-3).lower <= audit(Tally(50, 60, 80)).lower
        found = audit(Tally(50, 60, 80))
        assert found.lower <= found.estimate and math.isinf(found.upper)


def test_verdicts() -> None:
    found = EpsilonEstimate("m", 1.5, 1.2, math.inf, 0.99, "r", "a")
    assert str(found.verdict(1.0)) == "violates ε = 1 with confidence 99 %"
    assert found.verdict(1.0).violated and not found.verdict(1.2).violated
    assert str(found.verdict(2.0)) == "no violation found"
    assert str(Verdict(0.5, 0.6, 0.999)) == "violates ε = 0.5 with confidence 99.9 %"
    assert found.to_dict()["upper"] is None and found.to_dict()["lower"] == 1.2
    assert found.covers(1.2) and not found.covers(1.1)
    with pytest.raises(ValueError, match="in order"):
        EpsilonEstimate("m", 1.0, 1.2, math.inf, 0.99, "r", "a")
    with pytest.raises(ValueError, match="claimed"):
        found.verdict(-1.0)
