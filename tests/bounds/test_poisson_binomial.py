"""The sum of Bernoulli variables against enumeration, mpmath and a saddlepoint approximation."""

from __future__ import annotations

import itertools
import math

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.typing import NDArray
from scipy import fft
from scipy.optimize import brentq
from scipy.special import expit, ndtr
from scipy.stats import binom

from reconbench.bounds import PoissonBinomial, poisson_binomial

FloatArray = NDArray[np.float64]


def enumerated_pmf(p: FloatArray) -> FloatArray:
    """P[S = k] by going through all 2^n outcomes."""
    pmf = np.zeros(p.size + 1)
    for outcome in itertools.product((0, 1), repeat=p.size):
        pmf[sum(outcome)] += np.prod(np.where(np.array(outcome) == 1, p, 1 - p))
    return pmf


def exact_tails(p: FloatArray) -> list[mpmath.mpf]:
    """P[S ≥ v], v = 0..n, by the dynamic program in 60-digit arithmetic."""
    with mpmath.workdps(60):
        pmf = [mpmath.mpf(1)]
        for q in (mpmath.mpf(float(x)) for x in p):
            up = [mpmath.mpf(0), *(mass * q for mass in pmf)]
            stay = [*(mass * (1 - q) for mass in pmf), mpmath.mpf(0)]
            pmf = [a + b for a, b in zip(up, stay, strict=True)]
        tails = list(itertools.accumulate(reversed(pmf)))
        return tails[::-1]


def lugannani_rice(p: FloatArray, v: int) -> float:
    """P[S ≥ v] by the saddlepoint formula with Daniels' second continuity correction."""
    x = v - 0.5
    logits = np.log(p) - np.log1p(-p)
    theta = float(brentq(lambda t: float(expit(logits + t).sum()) - x, -30, 30, xtol=1e-14))
    tilted = expit(logits + theta)
    cumulant = float(np.sum(np.log1p(p * np.expm1(theta))))
    w = math.copysign(math.sqrt(2 * (theta * x - cumulant)), theta)
    u = 2 * math.sinh(theta / 2) * math.sqrt(float(np.sum(tilted * (1 - tilted))))
    density = math.exp(-w * w / 2) / math.sqrt(2 * math.pi)
    return float(ndtr(-w)) + density * (1 / u - 1 / w)


def tilted_fft_tail(p: FloatArray, v: int) -> float:
    """P[S ≥ v] by FFTs after tilting the mean to v, where their absolute error is harmless."""
    logits = np.log(p) - np.log1p(-p)
    theta = float(brentq(lambda t: float(expit(logits + t).sum()) - v, -30, 30, xtol=1e-14))
    cumulant = math.fsum(np.log1p(p * np.expm1(theta)))
    tilted = np.zeros(2 ** math.ceil(math.log2(p.size)))
    tilted[: p.size] = expit(logits + theta)
    mass = np.stack([1 - tilted, tilted], axis=1)
    while mass.shape[0] > 1:
        size = 2 * mass.shape[1] - 1
        spectrum = fft.rfft(mass, fft.next_fast_len(size, real=True))
        product = spectrum[::2] * spectrum[1::2]
        mass = fft.irfft(product, fft.next_fast_len(size, real=True))[:, :size]
    k = np.arange(v, p.size + 1)
    return float(np.sum(mass[0, k] * np.exp(cumulant - theta * k)))


@settings(max_examples=60, deadline=None)
@given(hnp.arrays(np.float64, st.integers(1, 9), elements=st.floats(0, 1)))
def test_pmf_and_tail_equal_the_enumeration(p: FloatArray) -> None:
    sums = PoissonBinomial(p)
    expected = enumerated_pmf(p)
    np.testing.assert_allclose(sums.pmf(), expected, rtol=1e-13, atol=1e-290)
    for v in range(p.size + 1):
        assert sums.tail(v) == pytest.approx(expected[v:].sum(), rel=1e-13, abs=1e-290)


@pytest.mark.parametrize("shape", ["wide", "rare", "likely"])
def test_relative_accuracy_deep_in_the_tail(shape: str) -> None:
    ranges = {"wide": (0.0, 1.0), "rare": (0.005, 0.12), "likely": (0.8, 1.0)}
    p = np.random.default_rng(1).uniform(*ranges[shape], size=200)
    exact = exact_tails(p)
    ours = PoissonBinomial(p).tail(np.arange(201))
    deepest = min(float(value) for value in exact)
    assert shape != "rare" or 1e-300 < deepest < 1e-240
    errors = [
        float(abs(mpmath.mpf(float(mine)) / value - 1))
        for mine, value in zip(ours, exact, strict=True)
    ]
    assert max(errors) < 1e-13


@pytest.mark.parametrize("n", [1, 15, 16, 17, 511, 512, 513, 1000])
def test_equal_probabilities_give_the_binomial(n: int) -> None:
    sums = PoissonBinomial(np.full(n, 0.3))
    k = np.arange(n + 1)
    expected = binom.pmf(k, n, 0.3)
    kept = expected > 1e-290
    np.testing.assert_allclose(sums.pmf()[kept], expected[kept], rtol=1e-11)
    assert sums.pmf().shape == (n + 1,)


def test_certain_variables_only_shift() -> None:
    p = np.random.default_rng(2).uniform(size=40)
    certain = np.concatenate([np.ones(300), p, np.zeros(300)])
    shifted = PoissonBinomial(certain)
    np.testing.assert_allclose(shifted.pmf()[300:341], PoissonBinomial(p).pmf(), rtol=1e-13)
    assert shifted.tail(300) == 1.0
    assert shifted.tail(341) == 0.0
    assert PoissonBinomial(np.ones(5)).tail([5, 6]).tolist() == [1.0, 0.0]
    assert PoissonBinomial(np.zeros(5)).tail([0, 1]).tolist() == [1.0, 0.0]


def test_tail_takes_any_real_v() -> None:
    sums = PoissonBinomial(np.array([0.25, 0.5]))
    v = np.array([[-np.inf, -1.0, 0.0, 0.2], [1.0, 1.5, 2.0, np.inf]])
    assert sums.tail(v).tolist() == [[1.0, 1.0, 1.0, 0.625], [0.625, 0.125, 0.125, 0.0]]
    assert float(sums.tail(1)) == 0.625


@settings(max_examples=30, deadline=None)
@given(hnp.arrays(np.float64, st.integers(1, 200), elements=st.floats(0, 1)), st.data())
def test_tail_grows_with_every_probability(p: FloatArray, data: st.DataObject) -> None:
    raised = p.copy()
    i = data.draw(st.integers(0, p.size - 1))
    raised[i] = data.draw(st.floats(float(p[i]), 1))
    tails = PoissonBinomial(p).tails
    assert np.all(np.diff(tails) <= 0)
    assert np.all(PoissonBinomial(raised).tails >= tails * (1 - 1e-13) - 1e-290)


def test_a_large_sum_agrees_with_the_binomial_tail() -> None:
    n = 10**5
    sums = PoissonBinomial(np.full(n, 0.37))
    v = np.array([36_000, 37_000, 37_500, 38_000, 38_500, 39_000])
    np.testing.assert_allclose(sums.tail(v), binom.sf(v - 1, n, 0.37), rtol=1e-9)


@pytest.mark.parametrize("n", [10**5, 10**6])
def test_a_large_sum_agrees_with_the_saddlepoint(n: int) -> None:
    p = np.random.default_rng(3).uniform(0.02, 0.9, size=n)
    sums = PoissonBinomial(p)
    mean, deviation = float(p.sum()), math.sqrt(float(np.sum(p * (1 - p))))
    for z in (-6.0, -2.0, 1.0, 4.0, 7.0, 9.0, 15.0):
        v = round(mean + z * deviation)
        # The saddlepoint's own relative error is of order 1/n, and larger far out.
        assert sums.tail(v) == pytest.approx(lugannani_rice(p, v), rel=1e-4)
    assert sums.tail(round(mean + 9 * deviation)) < 1e-18


@pytest.mark.slow
def test_relative_accuracy_at_a_million() -> None:
    p = np.random.default_rng(4).uniform(0.05, 0.95, size=10**6)
    mean, deviation = float(p.sum()), math.sqrt(float(np.sum(p * (1 - p))))
    sums = PoissonBinomial(p)
    for z in (3.0, 7.3):
        v = round(mean + z * deviation)
        assert sums.tail(v) == pytest.approx(tilted_fft_tail(p, v), rel=1e-10)


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ([0.5, 1.2], r"probabilities must be in \[0, 1\], got 1.2 \(1 of 2"),
        ([-0.1], r"probabilities must be in \[0, 1\], got -0.1"),
        ([math.nan], r"got nan"),
        ([], "non-empty 1-D array"),
        ([[0.5]], r"got an array of shape \(1, 1\)"),
        (0.5, r"got an array of shape \(\)"),
        (["a"], "must be numbers"),
    ],
)
def test_bad_probabilities_are_refused(bad: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        PoissonBinomial(bad)  # type: ignore[arg-type]


def test_nan_threshold_is_refused() -> None:
    with pytest.raises(ValueError, match="v must be numbers, got nan"):
        PoissonBinomial(np.array([0.5])).tail(math.nan)


def test_the_callers_array_is_neither_kept_nor_changed() -> None:
    p = np.array([0.5, 0.5])
    sums = PoissonBinomial(p)
    p[:] = 0.0
    assert sums.tail(2) == 0.25
    with pytest.raises(ValueError, match="read-only"):
        sums.tails[0] = 0.0


def test_equal_variables_of_a_long_sum_are_one_binomial(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    p = rng.choice(np.array([0.0, 1e-7, 0.2, 0.5, 0.93, 1.0]), 30_000)
    grouped = PoissonBinomial(p).tails
    monkeypatch.setattr(poisson_binomial, "_LONG", p.size)
    blocks = PoissonBinomial(p).tails
    likely = blocks > 1e-50
    assert np.allclose(grouped[likely], blocks[likely], rtol=1e-11, atol=0)


@pytest.mark.parametrize("n", [1, 7, 60])
def test_rows_together_equal_rows_alone(n: int) -> None:
    rows = np.random.default_rng(n).random((4, n))
    rows[0], rows[1, 0], rows[1, -1] = 1e-6, 0.0, 1.0
    for row, together in zip(rows, PoissonBinomial.of_rows(rows), strict=True):
        exact = [*map(float, exact_tails(row)), 0.0]
        np.testing.assert_allclose(together.tails, exact, rtol=1e-12, atol=1e-290)
    long = np.full((2, 600), 0.01)
    assert [one.n for one in PoissonBinomial.of_rows(long)] == [600, 600]
    np.testing.assert_array_equal(
        PoissonBinomial.of_rows(long)[0].tails, PoissonBinomial(long[0]).tails
    )
