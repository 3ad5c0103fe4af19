"""Noisy sums of one bounded column."""

from __future__ import annotations

from math import inf, sqrt

import numpy as np
import pytest
from scipy.stats import kstest, laplace, norm

from reconbench.bounds import GaussianDP, LaplaceDP
from reconbench.bounds.rad import GaussianNoise, LaplaceNoise
from reconbench.datasets import Attribute, BayNet, Domain, DomainError, Table
from reconbench.mechanisms import MechanismError
from reconbench.mechanisms.sums import GaussianSum, LaplaceSum, TruncatedLaplaceSum, parse_numbers

HOURS = Domain(
    (
        Attribute("hours", tuple(str(v) for v in range(0, 101, 10)), ordinal=True),
        Attribute("sex", ("f", "m")),
    )
)
KINDS = (LaplaceSum, TruncatedLaplaceSum, GaussianSum)


def table(n: int) -> Table:
    rng = np.random.default_rng(0)
    return Table(HOURS, np.column_stack([rng.integers(0, 11, n), rng.integers(0, 2, n)]))


@pytest.mark.parametrize("kind", KINDS)
def test_sensitivity_is_the_range_of_the_column(kind: type[LaplaceSum]) -> None:
    mechanism = kind.for_budget(HOURS, ("hours",), 2.0, 1e-5)
    assert mechanism.sensitivity == 100
    assert mechanism.guarantee.delta_at(2.0) <= 1e-5 * (1 + 1e-9)
    assert mechanism.release(table(20), np.random.default_rng(1)).records == 20


def test_noise_is_calibrated() -> None:
    """The noise on the exact sum, Kolmogorov-Smirnov at 1e-4; half the scale must fail."""
    exact = table(10)
    rng = np.random.default_rng(2)
    total = float(parse_numbers(HOURS["hours"])[exact.column("hours")].sum())
    for kind, scale, law in (
        (LaplaceSum, 100 / 2.0, laplace),
        (GaussianSum, None, norm),
    ):
        mechanism = kind.for_budget(HOURS, ("hours",), 2.0, 1e-5)
        width = scale or mechanism.facts()["noise_sd"]
        noise = [mechanism.release(exact, rng).answer - total for _ in range(4000)]
        assert kstest(noise, law(scale=width).cdf).pvalue > 1e-4
        assert kstest(noise, law(scale=width / 2).cdf).pvalue < 1e-4
    assert LaplaceSum.for_budget(HOURS, ("hours",), 2.0, 0.0).guarantee == LaplaceDP(2.0)
    gaussian = GaussianSum.for_budget(HOURS, ("hours",), 2.0, 1e-5)
    assert isinstance(gaussian.guarantee, GaussianDP)
    assert gaussian.facts()["noise_sd"] == pytest.approx(100 / gaussian.guarantee.mu)
    assert LaplaceSum(HOURS, ("hours",), 2.0, 0.0).facts()["noise_sd"] == pytest.approx(
        50 * sqrt(2)
    )


def test_truncation_keeps_to_the_possible_sums() -> None:
    mechanism = TruncatedLaplaceSum.for_budget(HOURS, ("hours",), 0.01, 0.0)
    rng = np.random.default_rng(3)
    answers = [mechanism.release(table(5), rng).answer for _ in range(200)]
    assert min(answers) == 0 and max(answers) == 500
    release = mechanism.release(table(5), rng)
    assert release.clamp == (0, 500)


def test_truncated_answers_have_their_exact_law() -> None:
    """Mass at the ends, 5 sd, and Kolmogorov-Smirnov between, 1e-4; half the scale must fail."""
    mechanism = TruncatedLaplaceSum.for_budget(HOURS, ("hours",), 0.5, 0.0)
    exact, rng, n = table(3), np.random.default_rng(4), 4000
    total = float(parse_numbers(HOURS["hours"])[exact.column("hours")].sum())
    answers = np.array([mechanism.release(exact, rng).answer for _ in range(n)])
    inside = answers[(answers > 0) & (answers < 300)]

    def fits(scale: float) -> list[bool]:
        law = laplace(loc=total, scale=scale)
        low, high = law.cdf(0), law.sf(300)
        kept = kstest(inside, lambda x: (law.cdf(x) - low) / (1 - low - high)).pvalue > 1e-4
        ends = ((answers == 0).sum(), low), ((answers == 300).sum(), high)
        return [kept, *(abs(k - n * p) <= 5 * sqrt(n * p * (1 - p)) for k, p in ends)]

    assert all(fits(200.0)) and not any(fits(100.0))


def test_likelihoods() -> None:
    rest = 120.0
    for noise in (LaplaceNoise(30.0), GaussianNoise(25.0)):
        mechanism = LaplaceSum(HOURS, ("hours",), 1.0, 0.0)
        base = mechanism.release(table(3), np.random.default_rng(0))
        values = base.values
        for answer, clamp, expected in (
            (150.0, None, noise.density(150.0 - rest - values)),
            (0.0, (0.0, 300.0), noise.below(0.0 - rest - values)),
            (300.0, (0.0, 300.0), 1 - noise.below(300.0 - rest - values)),
        ):
            release = type(base)(HOURS, "hours", values, 3, answer, noise, clamp)
            np.testing.assert_allclose(release.likelihoods(rest), expected, rtol=1e-9, atol=1e-15)


def test_without_noise_only_the_truth_is_possible() -> None:
    mechanism = LaplaceSum.for_budget(HOURS, ("hours",), inf, 0.0)
    full = table(6)
    release = mechanism.release(full, np.random.default_rng(0))
    rest = float(release.values[full.column("hours")[1:]].sum())
    likelihoods = release.likelihoods(rest)
    assert likelihoods.sum() == 1 and likelihoods.argmax() == full.column("hours")[0]


def test_numbers_of_a_column() -> None:
    bins = Attribute("b", ("low", "high"), ordinal=True, edges=(0.0, 10.0, 30.0))
    np.testing.assert_array_equal(parse_numbers(bins), [5, 20])
    np.testing.assert_array_equal(parse_numbers(Attribute("x", ("1.5", "-2"))), [1.5, -2])
    np.testing.assert_array_equal(
        parse_numbers(Attribute("o", ("s", "m", "l"), ordinal=True)), [0, 1, 2]
    )
    with pytest.raises(MechanismError, match="is not numeric"):
        parse_numbers(HOURS["sex"])


def test_refusals(toy_net: BayNet) -> None:
    with pytest.raises(MechanismError, match="exactly one hidden column"):
        LaplaceSum.for_budget(toy_net.domain, ("a", "c"), 1.0, 0.0)
    one = Domain((Attribute("x", ("4",)), Attribute("y", ("a", "b"))))
    with pytest.raises(MechanismError, match="nothing to hide"):
        LaplaceSum.for_budget(one, ("x",), 1.0, 0.0)
    with pytest.raises(ValueError, match="delta must be > 0"):
        GaussianSum.for_budget(HOURS, ("hours",), 1.0, 0.0)
    mechanism = LaplaceSum.for_budget(HOURS, ("hours",), 1.0, 0.0)
    with pytest.raises(DomainError, match="not those the mechanism was built for"):
        mechanism.release(toy_net.sample(3, np.random.default_rng(0)), np.random.default_rng(0))
