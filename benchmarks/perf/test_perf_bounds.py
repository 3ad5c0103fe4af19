"""How the cost of the bounds grows, as ratios measured side by side in one run.

Absolute seconds depend on the machine and its load and are never asserted. Each figure is the
smallest of several repetitions, taken in turn so that a busy moment hits both sides.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from fast_poibin import PoiBin
from numpy.typing import NDArray
from pytest_benchmark.fixture import BenchmarkFixture

from reconbench.bounds import ApproxDP, PoissonBinomial, theorem_3_5

FloatArray = NDArray[np.float64]


def probabilities(n: int) -> FloatArray:
    return np.random.default_rng(n).uniform(0.2, 0.8, size=n)


def naive_tails(p: FloatArray) -> FloatArray:
    """P[S ≥ v] by the textbook dynamic program, one variable at a time: O(n²)."""
    pmf = np.zeros(p.size + 1, dtype=p.dtype)
    pmf[0] = 1.0
    for i, q in enumerate(p):
        pmf[1 : i + 2] = pmf[1 : i + 2] * (1 - q) + pmf[: i + 1] * q
        pmf[0] *= 1 - q
    return np.cumsum(pmf[::-1])[::-1]


Fastest = Callable[..., list[float]]


def test_poisson_binomial_against_the_naive_twin(
    benchmark: BenchmarkFixture, fastest: Fastest
) -> None:
    p = probabilities(20_000)
    ours = benchmark(lambda: PoissonBinomial(p).tails)
    np.testing.assert_allclose(ours[: p.size + 1], naive_tails(p), rtol=1e-11, atol=1e-60)
    fast, naive = fastest(5, lambda: PoissonBinomial(p).tails, lambda: naive_tails(p))
    benchmark.extra_info["times faster than the naive twin, n = 20,000"] = naive / fast
    assert naive / fast > 4


@pytest.mark.parametrize("n", [10**4, 10**5])
def test_poisson_binomial_against_a_public_peer(
    benchmark: BenchmarkFixture, fastest: Fastest, n: int
) -> None:
    """fast-poibin, the quickest package we know of, is compiled and works by FFT."""
    p = probabilities(n)
    PoiBin(p[:10])
    benchmark(lambda: PoissonBinomial(p).tails)
    turns = max(10, 400_000 // n)
    ours, theirs = fastest(turns, lambda: PoissonBinomial(p).tails, lambda: PoiBin(p))
    benchmark.extra_info[f"times faster than fast-poibin, n = {n:,}"] = theirs / ours
    assert theirs / ours > 1


def test_the_tail_that_an_fft_loses(benchmark: BenchmarkFixture) -> None:
    """Around 1e-30 our tail has all its digits, by a dynamic program in extended precision."""
    p = probabilities(10**4)
    tails = benchmark(lambda: PoissonBinomial(p).tails)
    exact = naive_tails(p.astype(np.longdouble))
    deep = int(np.argmax(tails < 1e-30))
    assert abs(tails[deep] / exact[deep] - 1) < 1e-9
    peer = float(np.sum(PoiBin(p).pmf[deep:]))
    error = float(abs(peer / exact[deep] - 1))
    benchmark.extra_info["relative error of fast-poibin at a tail of 1e-30"] = error
    assert error > 1e-9


@pytest.mark.parametrize(("small", "large", "limit"), [(10**4, 10**5, 40), (10**5, 10**6, 40)])
def test_poisson_binomial_growth(
    benchmark: BenchmarkFixture, fastest: Fastest, small: int, large: int, limit: float
) -> None:
    p, q = probabilities(small), probabilities(large)
    benchmark(lambda: PoissonBinomial(q).tails)
    short, long = fastest(4, lambda: PoissonBinomial(p).tails, lambda: PoissonBinomial(q).tails)
    benchmark.extra_info[f"cost of n = {large:,} over n = {small:,}"] = long / short
    # Ten times the variables at n log n is a factor of about 12; O(n²) would be 100.
    assert long / short < limit


def test_ceilings_of_a_hundred_targets(benchmark: BenchmarkFixture, fastest: Fastest) -> None:
    p, guarantee = probabilities(100), ApproxDP(1.0, 1e-5)
    benchmark(lambda: theorem_3_5(p, guarantee))
    # Three ceilings cost a few times the sum they are read from, not n times.
    ceilings, sums = fastest(
        50, lambda: theorem_3_5(p, guarantee), lambda: PoissonBinomial(p).tails
    )
    benchmark.extra_info["three ceilings over one sum, n = 100"] = ceilings / sums
    assert ceilings / sums < 12


def test_ceilings_of_a_hundred_thousand_targets(
    benchmark: BenchmarkFixture, fastest: Fastest
) -> None:
    p, guarantee = probabilities(10**5), ApproxDP(1.0, 1e-8)
    benchmark(lambda: theorem_3_5(p, guarantee))
    ceilings, sums = fastest(3, lambda: theorem_3_5(p, guarantee), lambda: PoissonBinomial(p).tails)
    benchmark.extra_info["three ceilings over one sum, n = 100,000"] = ceilings / sums
    assert ceilings / sums < 4
