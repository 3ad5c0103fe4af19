"""Bounds on probabilities: closed forms, a twin in mpmath, exact coverage, limits."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
from scipy.stats import binom

from reconbench.bounds.audit import Averaged, Counted, Known, chance_of_guesses


def test_clopper_pearson_without_success_or_failure() -> None:
    # P[Bin(n, p) = n] = pⁿ = failure
    for n in (1, 10, 10**6):
        for failure in (0.5, 0.01, 1e-9):
            root = -math.expm1(math.log(failure) / n)
            assert Counted(0, n).upper(failure) == pytest.approx(root, rel=1e-9)
            assert 1 - Counted(n, n).lower(failure) == pytest.approx(root, rel=1e-9)
            assert Counted(0, n).lower(failure) == 0 and Counted(n, n).upper(failure) == 1


@pytest.mark.parametrize(("x", "n"), [(1, 2), (3, 40), (39, 40), (700, 1000)])
@pytest.mark.parametrize("failure", [0.3, 0.005, 1e-8])
def test_clopper_pearson_equals_the_tail_it_inverts(x: int, n: int, failure: float) -> None:
    with mpmath.workdps(40):
        low, high = (mpmath.mpf(Counted(x, n).lower(failure)), Counted(x, n).upper(failure))

        def tail(p: mpmath.mpf, terms: range) -> mpmath.mpf:
            return mpmath.fsum(mpmath.binomial(n, k) * p**k * (1 - p) ** (n - k) for k in terms)

        assert float(tail(low, range(x, n + 1))) == pytest.approx(failure, rel=1e-8)
        assert float(tail(mpmath.mpf(high), range(x + 1))) == pytest.approx(failure, rel=1e-8)


@pytest.mark.parametrize("n", [1, 2, 5, 30])
def test_each_bound_fails_no_more_often_than_it_may(n: int) -> None:
    x = np.arange(n + 1)
    for failure in (0.3, 0.05, 0.005):
        low = np.array([Counted(int(k), n).lower(failure) for k in x])
        high = np.array([Counted(int(k), n).upper(failure) for k in x])
        for p in np.linspace(0, 1, 101):
            chance = binom.pmf(x, n, p)
            assert chance[low > p].sum() <= failure + 1e-12
            assert chance[high < p].sum() <= failure + 1e-12


@pytest.mark.parametrize("n", [1, 2, 10, 200, 5000])
def test_averages_cover(n: int) -> None:
    """10,000 samples a setting; at a failure of 0.05 more than 600 would be 4.6 sd too many."""
    rng = np.random.default_rng(7)
    prior = np.array([0.6, 0.3, 0.06, 0.04])
    for guessed in (np.array([0.25] * 4), np.array([0.01, 0.01, 0.01, 0.97])):
        truth = float(guessed @ prior)
        samples = [chance_of_guesses(c, prior) for c in rng.multinomial(n, guessed, size=10_000)]
        assert sum(each.lower(0.05) > truth for each in samples) <= 600
        assert sum(each.upper(0.05) < truth for each in samples) <= 600


def test_averages_of_counts_equal_the_average_of_the_values() -> None:
    prior = np.array([0.5, 0.3, 0.2])
    values = np.repeat(prior, [3, 1, 4])
    found = chance_of_guesses(np.array([3, 1, 4]), prior)
    assert isinstance(found, Averaged)
    assert found.mean == pytest.approx(values.mean())
    assert found.variance == pytest.approx(values.var(ddof=1))
    margin = math.sqrt(2 * found.variance * math.log(200) / 8) + 7 * 0.3 * math.log(200) / 21
    assert found.upper(0.01) == pytest.approx(min(0.5, found.mean + margin))
    many = Averaged(found.mean, found.variance, 800, 0.2, 0.5)
    margin = math.sqrt(2 * found.variance * math.log(200) / 800) + 2.1 * math.log(200) / 2397
    assert many.upper(0.01) - many.mean == pytest.approx(margin)


def test_averages_shrink_to_the_mean_and_stay_within_the_prior() -> None:
    prior = np.array([0.7, 0.2, 0.1])
    widths = []
    for n in (1, 10, 1000, 10**6):
        found = chance_of_guesses(np.array([n, n, n]), prior)
        low, high = found.lower(0.01), found.upper(0.01)
        assert 0.1 <= low <= found.estimate <= high <= 0.7
        widths.append(high - low)
    assert np.all(np.diff(widths) <= 0) and widths[-1] < 2e-3


def test_a_uniform_prior_needs_no_sample() -> None:
    found = chance_of_guesses(np.array([5, 0, 0, 0]), np.full(4, 0.25))
    assert found == Known(0.25) and found.certain
    assert found.lower(0.01) == found.upper(0.01) == 0.25


@pytest.mark.parametrize(("x", "n"), [(-1, 5), (6, 5), (0, 0), (1, -3), (2.5, 5), (True, 5)])
def test_bad_counts_are_refused(x: int, n: int) -> None:
    with pytest.raises(ValueError, match=r"successes must be|trials must be"):
        Counted(x, n)


def test_bad_guesses_are_refused() -> None:
    for counts in ([1, 2], [1, -1, 3], [0.5, 1, 2], [0, 0, 0]):
        with pytest.raises(ValueError, match="guess"):
            chance_of_guesses(np.array(counts), np.array([0.5, 0.3, 0.2]))
    with pytest.raises(ValueError, match="probability"):
        Known(1.5)
    with pytest.raises(ValueError, match="mean"):
        Averaged(0.9, 0.1, 3, 0.1, 0.5)
    with pytest.raises(ValueError, match="low, high"):
        Averaged(0.4, 0.1, 3, 0.5, 0.1)
