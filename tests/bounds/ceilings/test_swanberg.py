"""The three bounds: closed forms, an obvious twin in mpmath, limits, monotonicity, bad input."""

from __future__ import annotations

import math
from collections.abc import Sequence

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import binom

from reconbench.bounds import (
    ApproxDP,
    CompactTail,
    Corollary34,
    GaussianDP,
    HighProbabilityBound,
    PoissonBinomial,
    PureDP,
    Theorem32,
    Theorem35,
    beta,
    corollary_3_4,
    run_tail,
    theorem_3_2,
    theorem_3_5,
)

FloatArray = NDArray[np.float64]
PRIORS = np.random.default_rng(7).uniform(0.02, 0.9, size=60)


def exact_beta(p: float, epsilon: float) -> mpmath.mpf:
    """β = e^ε / (e^ε − 1 + 1/p), as printed."""
    e = mpmath.exp(mpmath.mpf(epsilon))
    return e / (e - 1 + 1 / mpmath.mpf(p))


def exact_tails(probabilities: Sequence[mpmath.mpf]) -> list[mpmath.mpf]:
    pmf = [mpmath.mpf(1)]
    for q in probabilities:
        pmf = [
            (pmf[k] * (1 - q) if k < len(pmf) else 0) + (pmf[k - 1] * q if k else 0)
            for k in range(len(pmf) + 1)
        ]
    return [mpmath.fsum(pmf[v:]) for v in range(len(pmf) + 1)]


def exact_theorem_35(p: FloatArray, epsilon: float, delta: float) -> list[mpmath.mpf]:
    """Theorem 3.5 at v = 1..n word for word, the maximum over every j in 1..n."""
    n = p.size
    tails = exact_tails([exact_beta(float(x), epsilon) for x in p])

    def tail(v: int) -> mpmath.mpf:
        return mpmath.mpf(1) if v <= 0 else tails[v]

    bounds = []
    for v in range(1, n + 1):
        alpha = max((tail(v - j) - tail(v)) / j for j in range(1, n + 1))
        bounds.append(min(mpmath.mpf(1), tail(v) + alpha * n * mpmath.mpf(delta)))
    return bounds


def first_below(tails: Sequence[float | mpmath.mpf], failure: float) -> int:
    """The smallest v with P[L ≥ v + 1] ≤ failure, by scanning; tails[0] is for v = 1."""
    return next((v for v, tail in enumerate(tails) if tail <= failure), len(tails))


def bounds_for(p: FloatArray, epsilon: float, delta: float) -> list[HighProbabilityBound]:
    guarantee = ApproxDP(epsilon, delta)
    return [
        Theorem32(p, PureDP(epsilon)),
        Theorem35(p, guarantee),
        Corollary34([run_tail(p, guarantee)], guarantee),
    ]


def test_beta_closed_forms() -> None:
    assert float(beta(0.5, 1.0)) == pytest.approx(math.e / (1 + math.e), rel=1e-15)
    # Nine uniform digits at ε = 17, and the ε that raises 1e-9 by 0.05 (δ = 1e-5 is negligible).
    assert float(beta(1e-9, 17.0)) == pytest.approx(0.0236, abs=5e-5)
    assert float(beta(1e-9, 17.779)) - 1e-9 == pytest.approx(0.05, abs=1e-4)
    assert beta([0.0, 0.3, 1.0], math.inf).tolist() == [0.0, 1.0, 1.0]
    assert beta([0.0, 1.0], 3.0).tolist() == [0.0, 1.0]
    np.testing.assert_allclose(beta(PRIORS, 0.0), PRIORS, rtol=1e-15)
    assert beta(np.full((2, 3), 0.5), 1.0).shape == (2, 3)


@settings(max_examples=100, deadline=None)
@given(st.floats(1e-300, 1), st.floats(0, 900))
def test_beta_equals_the_printed_form(p: float, epsilon: float) -> None:
    with mpmath.workdps(450):
        assert abs(mpmath.mpf(float(beta(p, epsilon))) / exact_beta(p, epsilon) - 1) < 1e-12


def test_golden_hundred_targets() -> None:
    priors = np.full(100, 0.56)
    expected = {0.05: 71, 0.5: 78, 0.95: 84}
    assert theorem_3_5(priors, ApproxDP(1.0, 1e-5)) == expected
    assert theorem_3_2(priors, PureDP(1.0)) == expected


def test_theorem_32_with_equal_priors_is_binomial() -> None:
    bound = Theorem32(np.full(50, 0.3), PureDP(2.0))
    v = np.arange(51)
    q = float(beta(0.3, 2.0))
    np.testing.assert_allclose(bound.tail(v), binom.sf(v - 1, 50, q), rtol=1e-10)
    for confidence in (0.05, 0.5, 0.95, 0.999):
        assert bound.ceiling(confidence) == int(binom.ppf(confidence, 50, q))


def test_theorem_32_equals_the_twin() -> None:
    exact = exact_tails([exact_beta(float(p), 1.5) for p in PRIORS])
    bound = Theorem32(PRIORS, PureDP(1.5))
    np.testing.assert_allclose(
        bound.tail(np.arange(61)), [float(t) for t in exact[:61]], rtol=1e-12
    )
    for confidence in (0.01, 0.5, 0.99, 1 - 1e-12):
        assert bound.ceiling(confidence) == first_below(exact[1:61], 1 - confidence)


@pytest.mark.parametrize("delta", [0.0, 1e-12, 1e-6, 1e-3, 0.015, 0.05, 0.3])
def test_theorem_35_equals_the_twin(delta: float) -> None:
    exact = exact_theorem_35(PRIORS, 1.0, delta)
    bound = Theorem35(PRIORS, ApproxDP(1.0, delta))
    np.testing.assert_allclose(bound.tail(np.arange(1, 61)), [float(t) for t in exact], rtol=1e-11)
    for confidence in (0.01, 0.3, 0.5, 0.9, 0.99, 1 - 1e-6, 1 - 1e-12):
        assert bound.ceiling(confidence) == first_below(exact, 1 - confidence)


def test_theorem_35_for_one_target() -> None:
    # n = 1: β + (1 − β)·δ
    bound = Theorem35(np.array([0.2]), ApproxDP(1.0, 0.1))
    b = float(beta(0.2, 1.0))
    assert float(bound.tail(1)) == pytest.approx(b + (1 - b) * 0.1, rel=1e-14)


def test_corollary_34_equals_the_twin() -> None:
    rng = np.random.default_rng(8)
    runs = [rng.uniform(0.05, 0.6, size=30) for _ in range(5)]
    guarantee = ApproxDP(0.7, 1e-4)
    exact = [exact_tails([exact_beta(float(p), 0.7) for p in run]) for run in runs]
    bound = Corollary34([run_tail(run, guarantee) for run in runs], guarantee)
    expected = [min(1.0, float(sum(t[v] for t in exact) / 5) + 30e-4) for v in range(1, 31)]
    # Stored tails are cut at 1e-9, upwards.
    np.testing.assert_allclose(bound.tail(np.arange(1, 31)), expected, atol=1e-9)
    assert np.all(bound.tail(np.arange(1, 31)) >= np.array(expected) - 1e-15)
    for confidence in (0.05, 0.5, 0.95):
        assert bound.ceiling(confidence) == first_below(expected, 1 - confidence)
    assert corollary_3_4(runs, guarantee) == corollary_3_4(bound.runs, guarantee)
    assert corollary_3_4(runs, guarantee, [0.5]) == {0.5: bound.ceiling(0.5)}


def test_without_delta_the_three_bounds_agree() -> None:
    pure = PureDP(1.2)
    ceilings = theorem_3_2(PRIORS, pure)
    assert theorem_3_5(PRIORS, pure) == ceilings
    assert corollary_3_4([PRIORS, PRIORS], pure) == ceilings
    assert theorem_3_5(PRIORS, ApproxDP(1.2, 0.0)) == ceilings


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.floats(0, 1), min_size=1, max_size=25),
    st.floats(0.01, 5),
    st.floats(0, 0.5),
    st.floats(0.01, 0.99),
)
def test_ceilings_grow_with_epsilon_delta_prior_and_confidence(
    priors: list[float], epsilon: float, delta: float, confidence: float
) -> None:
    p = np.array(priors)
    wider = [
        bounds_for(p, epsilon + 0.5, delta),
        bounds_for(p, epsilon, delta + 0.1),
        bounds_for(p + (1 - p) / 4, epsilon, delta),
    ]
    for i, bound in enumerate(bounds_for(p, epsilon, delta)):
        ceiling = bound.ceiling(confidence)
        assert 0 <= ceiling <= bound.n
        assert all(bounds[i].ceiling(confidence) >= ceiling for bounds in wider)
        assert bound.ceiling(confidence + 0.009) >= ceiling
        # The definition of a ceiling, from the tail itself.
        failure = 1 - confidence
        assert bound.tail(ceiling + 1) <= failure
        assert all(bound.tail(v + 1) > failure for v in range(ceiling))


def test_without_a_budget_the_tails_are_those_of_the_prior() -> None:
    # ε → 0 leaves what the prior alone gives.
    for bound in bounds_for(PRIORS, 1e-12, 0.0):
        np.testing.assert_allclose(
            bound.tail(np.arange(61)), PoissonBinomial(PRIORS).tail(np.arange(61)), atol=2e-9
        )


def test_delta_reveals_impossible_targets() -> None:
    """With δ > 0 even prior 0 can be recovered: one of ten, with probability up to n·δ."""
    revealed = Theorem35(np.zeros(10), ApproxDP(3.0, 0.01))
    assert float(revealed.tail(1)) == pytest.approx(0.1)
    assert float(revealed.tail(10)) == pytest.approx(0.01)
    assert [revealed.ceiling(c) for c in (0.5, 0.91, 0.96, 0.995)] == [0, 1, 2, 10]


def test_vacuous_where_n_delta_is_large() -> None:
    guarantee = ApproxDP(1.0, 0.01)
    assert corollary_3_4([np.full(100, 0.1)], guarantee)[0.5] == 100
    assert Theorem35(np.full(100, 0.1), ApproxDP(1.0, 0.9)).ceiling(0.5) == 100


def test_a_large_ceiling_with_a_tiny_failure_probability() -> None:
    n = 10**6
    p = np.random.default_rng(9).uniform(0.1, 0.6, size=n)
    q = beta(p, 1.0)
    deviation = math.sqrt(float(np.sum(q * (1 - q))))
    confidence = 1 - 1e-12
    excess = (Theorem32(p, PureDP(1.0)).ceiling(confidence) - float(q.sum())) / deviation
    # Φ(−7.0345) = 1e-12; the sum is slightly skewed.
    assert excess == pytest.approx(7.0345, abs=0.02)
    # n·δ = 10: far from vacuous, and not a case for plain bisection.
    loose = Theorem35(p, ApproxDP(1.0, 1e-5))
    v = loose.ceiling(0.95)
    assert loose.tail(v + 1) <= 0.05 < loose.tail(v)


def test_theorem_32_refuses_delta_and_names_the_alternative() -> None:
    with pytest.raises(ValueError, match=r"must be PureDP.*use Theorem35 or Corollary34"):
        Theorem32(PRIORS, ApproxDP(1.0, 1e-5))  # type: ignore[arg-type]


def test_gaussian_guarantee_is_refused_with_the_conversion() -> None:
    with pytest.raises(ValueError, match=r"to_approx\(delta\)"):
        Theorem35(PRIORS, GaussianDP(1.0))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"to_approx\(delta\)"):
        corollary_3_4([PRIORS], GaussianDP(1.0))  # type: ignore[arg-type]


def test_other_bad_input_is_refused() -> None:
    guarantee = PureDP(1.0)
    with pytest.raises(ValueError, match="confidence must be"):
        theorem_3_5(PRIORS, guarantee, [0])
    with pytest.raises(ValueError, match=r"prior_success must be in \[0, 1\], got 1.5"):
        theorem_3_2([1.5], guarantee)
    with pytest.raises(ValueError, match="runs must hold at least one run"):
        corollary_3_4([], guarantee)
    with pytest.raises(ValueError, match=r"same number of targets, got \[3, 4\]"):
        corollary_3_4([np.full(3, 0.5), np.full(4, 0.5)], guarantee)
    with pytest.raises(ValueError, match="same number of targets"):
        Corollary34([CompactTail(1, 1, (0.5,)), CompactTail(2, 1, (0.5,))], guarantee)
    with pytest.raises(ValueError, match="epsilon must be"):
        beta(0.5, -1.0)


def test_tails_far_below_the_sum_do_not_matter() -> None:
    """α(v) is the same maximum if every j is looked at."""
    rng = np.random.default_rng(0)
    bound = Theorem35(rng.uniform(0.4, 0.6, 300), ApproxDP(1.0, 1e-4))
    tails = bound._sum.tails
    for v in range(1, 301):
        j = np.arange(1, v + 1)
        alpha = np.max((tails[v - j] - tails[v]) / j)
        assert bound._tail_at(v) == min(1.0, tails[v] + alpha * (300 * 1e-4))
