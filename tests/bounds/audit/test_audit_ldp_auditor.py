"""LDP-Auditor: closed forms, a twin, exact coverage, its cap, null and limits."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import beta, binom

from reconbench.bounds.audit import Counted, LdpAuditor

MILLION = 10**6


def test_the_cap_in_closed_form() -> None:
    """No false positive in n: ln(TPR_low/FPR_up) with TPR_low = aⁿ⁻¹ and FPR_up = 1 − a^(1/n)."""
    for n, confidence in ((10, 0.9), (1000, 0.99), (MILLION, 0.99)):
        root = math.log((1 - confidence) / 2) / n
        cap = root - math.log(-math.expm1(root))
        assert LdpAuditor().cap(n, confidence) == pytest.approx(cap, rel=1e-9)
    # The published figure shows about 12.25 for 10^6 trials; the exact value hangs on the level.
    assert LdpAuditor().cap(MILLION, 0.99) == pytest.approx(12.148, abs=5e-4)
    assert LdpAuditor().cap(MILLION, 0.98) == pytest.approx(12.288, abs=5e-4)


@pytest.mark.parametrize("delta", [0.0, 1e-5, 0.1])
def test_it_equals_the_twin(delta: float) -> None:
    for tp, fp, n in ((90, 5, 100), (700, 650, 1000), (3, 0, 4), (0, 3, 4)):
        low = beta.ppf(0.005, tp, n - tp + 1) if tp else 0.0
        high = beta.ppf(0.995, fp + 1, n - fp)
        twin = max(0.0, math.log((low - delta) / high)) if low > delta else 0.0
        found = LdpAuditor(delta).audit(Counted(tp, n), Counted(fp, n), 0.99)
        assert found.lower == pytest.approx(twin, rel=1e-7, abs=1e-12)
        assert math.isinf(found.upper)


@pytest.mark.parametrize("n", [1, 5, 60])
def test_it_covers_exactly(n: int) -> None:
    """GRR of m values, by enumeration: true and false positives are independent binomials."""
    x = np.arange(n + 1)
    for confidence in (0.5, 0.95):
        lower = np.array(
            [
                [
                    LdpAuditor().audit(Counted(int(a), n), Counted(int(b), n), confidence).lower
                    for b in x
                ]
                for a in x
            ]
        )
        for m in (2, 10):
            for epsilon in (0.0, 0.5, 2.0, 5.0):
                p = 1 / (1 + (m - 1) * math.exp(-epsilon))
                q = math.exp(-epsilon) * p
                chance = np.outer(binom.pmf(x, n, p), binom.pmf(x, n, q))
                assert chance[lower > epsilon].sum() <= 1 - confidence + 1e-12


def test_chance_level_and_reversed_labels_show_nothing() -> None:
    for n in (1, 4, 100, MILLION):
        for tp, fp in ((n // 2, n // 2), (0, 0), (n, n), (0, n), (n // 4, n // 2)):
            assert LdpAuditor().audit(Counted(tp, n), Counted(fp, n)).lower == 0


def test_limits_and_order() -> None:
    lows = [LdpAuditor().audit(Counted(k, 500), Counted(10, 500)).lower for k in range(501)]
    assert np.all(np.diff(lows) >= 0) and lows[-1] > 2
    caps = [LdpAuditor().cap(n) for n in (10, 1000, MILLION, 10**9)]
    assert np.all(np.diff(caps) > 0)
    assert math.isinf(LdpAuditor().audit(Counted(5, 10), Counted(0, 10)).estimate)
    with pytest.raises(ValueError, match="delta"):
        LdpAuditor(-0.1)
    with pytest.raises(ValueError, match="confidence"):
        LdpAuditor().audit(Counted(5, 10), Counted(0, 10), 0.0)
