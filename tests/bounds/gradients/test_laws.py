"""The laws of gradient inversion: closed forms, mpmath, simulation, limits and errata."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import binom, binomtest, chi2, kstest, norm

from reconbench.bounds import ApproxDP, GaussianDP, Relation
from reconbench.bounds.gradients import (
    GradientError,
    attack_variance,
    hit_probability,
    identification,
    identification_sigma,
    mse_at_most_in_training,
    mse_to_psnr,
    ncc_at_least,
    ncc_population,
    psnr_to_mse,
    risk_corridor,
    rows_needed,
    scratch_sigma,
    zero_guess_error,
)

DIMENSIONS = (1, 4, 784, 3072)
# Of every seeded statistical check here.
FALSE_ALARM = 1e-4


def gamma_cdf(dimension: int, x: float, upper: bool = False) -> mpmath.mpf:
    with mpmath.workdps(50):
        ends = (x, mpmath.inf) if upper else (0, x)
        return mpmath.gammainc(mpmath.mpf(dimension) / 2, *ends, regularized=True)


@pytest.mark.parametrize("dimension", DIMENSIONS)
@pytest.mark.parametrize("chance", [1e-300, 1e-100, 1e-12, 1e-3, 0.5, 0.999])
def test_both_tails_and_their_inverses_against_mpmath(dimension: int, chance: float) -> None:
    law = GradientError.of(dimension, sigma=0.3, norm=2.0)
    for quantile, probability, upper in (
        (law.mse_quantile, law.mse_at_most, False),
        (law.mse_upper_quantile, law.mse_above, True),
    ):
        eta = float(quantile(chance))
        exact = gamma_cdf(dimension, dimension * eta / (2 * law.variance), upper)
        assert float(probability(eta)) == pytest.approx(float(exact), rel=1e-11)
        assert float(exact) == pytest.approx(chance, rel=1e-11)


def test_closed_forms() -> None:
    """χ²_1 is a squared normal, χ²_2 an exponential; E MSE = σ²‖X‖² (equation 18)."""
    one, two = GradientError.of(1, 0.7), GradientError.of(2, 0.7)
    assert one.mse_at_most(0.3) == pytest.approx(2 * norm.cdf(math.sqrt(0.3) / 0.7) - 1)
    assert two.mse_at_most(0.3) == pytest.approx(-math.expm1(-0.3 / 0.49))
    law = GradientError.of(4, 0.7, norm=1.5, steps=3)
    mean = quad(lambda x: float(law.mse_above(x)), 0, np.inf)[0]
    assert mean == pytest.approx(0.49 * 2.25 / 3)
    x = np.array([1e-9, 0.1, 1.0])
    assert law.mse_density(x) == pytest.approx(chi2.pdf(4 * x / law.variance, 4) * 4 / law.variance)
    assert float(one.mse_density(0.0)) == math.inf and float(law.mse_density(0.0)) == 0.0


@settings(max_examples=60, deadline=None)
@given(
    dimension=st.integers(1, 4000),
    sigma=st.floats(1e-3, 1e3),
    size=st.floats(1e-3, 1e3),
    gamma=st.floats(1e-9, 0.999),
    span=st.floats(1e-3, 1e3),
)
def test_inverses_and_psnr(
    dimension: int, sigma: float, size: float, gamma: float, span: float
) -> None:
    law = GradientError.of(dimension, sigma, size)
    eta = float(law.mse_quantile(gamma))
    assert float(law.mse_at_most(eta)) == pytest.approx(gamma, rel=1e-9)
    decibels = float(law.psnr_quantile(gamma, span))
    assert float(psnr_to_mse(decibels, span)) == pytest.approx(eta, rel=1e-9)
    assert float(mse_to_psnr(eta, span)) == pytest.approx(decibels)
    assert float(law.psnr_at_least(decibels, span)) == pytest.approx(gamma, rel=1e-7)
    # Less error, less noise, a smaller record and more steps: monotone in each.
    assert law.mse_at_most(0.9 * eta) <= law.mse_at_most(eta)
    assert law.mse_at_most(eta) <= GradientError.of(dimension, 0.9 * sigma, size).mse_at_most(eta)
    assert law.mse_at_most(eta) <= GradientError.of(dimension, sigma, 0.9 * size).mse_at_most(eta)
    assert law.mse_at_most(eta) <= GradientError.of(dimension, sigma, size, 2).mse_at_most(eta)


def test_psnr_density_is_the_derivative() -> None:
    law, span, at, h = GradientError.of(4, 0.3), 0.8, 12.0, 1e-5
    slope = (law.psnr_at_least(at - h, span) - law.psnr_at_least(at + h, span)) / (2 * h)
    assert float(law.psnr_density(at, span)) == pytest.approx(float(slope), rel=1e-6)


def test_limits() -> None:
    law = GradientError.of(4, 1.0)
    assert law.mse_at_most([0.0, np.inf]).tolist() == [0.0, 1.0]
    assert law.mse_above([0.0, np.inf]).tolist() == [1.0, 0.0]
    assert law.mse_quantile([0.0, 1.0]).tolist() == [0.0, np.inf]
    assert float(GradientError.of(4, 1e-9).mse_at_most(0.01)) == 1.0
    assert float(GradientError.of(4, 1e9).mse_at_most(0.01)) < 1e-30
    assert float(law.psnr_at_least(-np.inf, 1.0)) == 1.0
    assert float(mse_to_psnr(0.0, 1.0)) == math.inf


@pytest.mark.parametrize("dimension", [4, 3072])
def test_the_estimate_has_its_law_and_another_sigma_is_caught(dimension: int) -> None:
    """KS on 4,000 simulated errors; σ off by 10 % must be rejected."""
    rng, sigma, record = np.random.default_rng(dimension), 0.2, np.ones(dimension)
    noise = rng.standard_normal((4000, dimension)) * sigma * np.linalg.norm(record)
    errors = np.square(noise).mean(axis=1)
    size = float(np.linalg.norm(record))
    law = GradientError.of(dimension, sigma, size)
    assert kstest(law.mse_at_most(errors), "uniform").pvalue > FALSE_ALARM
    for wrong in (0.9, 1.1):
        law = GradientError.of(dimension, wrong * sigma, size)
        assert kstest(law.mse_at_most(errors), "uniform").pvalue < FALSE_ALARM


def test_rows_of_theorem_iv_1_are_the_square() -> None:
    """Erratum: M ≥ ⌈C/‖X‖⌉ = 5 leaves five times the variance that 25 rows reach."""
    clip, size, sigma = 5.0, 1.0, 0.3
    assert rows_needed(size, clip) == 25 and rows_needed(7.0, clip) == 1
    assert rows_needed(0.1, 0.3) == 9
    assert attack_variance(sigma, size, clip, 25) == pytest.approx(sigma**2)
    assert attack_variance(sigma, size, clip, 5) == pytest.approx(5 * sigma**2)
    assert attack_variance(sigma, size, clip, 24) > sigma**2 * 1.04
    # The set-up of the paper's figure 2: M = 1,000 is enough from ‖X‖ = 158 on, not from 5.
    assert rows_needed(159.0, 5000.0) <= 1000 < rows_needed(5.0, 5000.0)


def test_corollary_iv_6_does_not_hold_for_every_reconstruction() -> None:
    """Erratum: guessing 0 is certain where the claimed probability is 2e-204 (N = 784, σ = .1)."""
    claimed = float(GradientError.of(784, 0.1).mse_at_most(zero_guess_error(784)))
    assert claimed == pytest.approx(float(gamma_cdf(784, 0.5 / 0.01)), rel=1e-9)
    assert claimed < 1e-203
    record = np.zeros(784)
    record[3] = 1.0
    assert np.square(record - 0).mean() == pytest.approx(zero_guess_error(784))


@pytest.mark.parametrize("dimension", [3, 4, 784, 3072])
@pytest.mark.parametrize("spread", [1.0, 0.4])
def test_ncc_law_by_simulation(dimension: int, spread: float) -> None:
    """The exact law of sample correlations, by KS on 3,000; a spread off by a third is rejected."""
    rng = np.random.default_rng(dimension)
    centred = rng.standard_normal(dimension)
    centred -= centred.mean()
    centred *= spread / np.linalg.norm(centred)
    # ‖X‖ = 1 with the centred part of norm ``spread``.
    record = centred + math.sqrt((1 - spread**2) / dimension)
    assert np.linalg.norm(record) == pytest.approx(1.0)
    sigma = 0.2
    found = record + sigma * rng.standard_normal((3000, dimension))
    found -= found.mean(axis=1, keepdims=True)
    ncc = found @ centred / (np.linalg.norm(found, axis=1) * np.linalg.norm(centred))

    def p_value(factor: float) -> float:
        above = ncc_at_least(ncc, sigma, dimension, spread * factor)
        return float(kstest(1 - above, "uniform").pvalue)

    assert p_value(1.0) > FALSE_ALARM
    if dimension > 3:
        assert p_value(0.67) < FALSE_ALARM


def test_ncc_of_proposition_a_2_is_passed_about_half_the_time() -> None:
    """Erratum: a bound on the population, not on samples."""
    for dimension, sigma in ((784, 0.1), (3072, 0.05)):
        passed = float(ncc_at_least(ncc_population(sigma, dimension), sigma, dimension))
        assert 0.45 < passed < 0.55
    assert ncc_population(0.0, 9) == 1.0


def test_ncc_tail_against_mpmath() -> None:
    """P(T ≥ t) = ∫ Φ(c − t √(w/ν)) χ²_ν(w) dw, at probabilities of 1e-12 and N = 3,072."""
    dimension, sigma, eta = 3072, 0.1, 0.29636
    nu, centre = dimension - 2, 1 / sigma
    with mpmath.workdps(30):
        t = eta * mpmath.sqrt(nu) / mpmath.sqrt(1 - mpmath.mpf(eta) ** 2)

        def integrand(w: mpmath.mpf) -> mpmath.mpf:
            half = mpmath.mpf(nu) / 2
            logs = (half - 1) * mpmath.log(w) - w / 2 - half * mpmath.log(2) - mpmath.loggamma(half)
            return mpmath.ncdf(centre - t * mpmath.sqrt(w / nu)) * mpmath.exp(logs)

        exact = mpmath.quad(integrand, mpmath.linspace(nu - 1200, nu + 1200, 25))
    assert 1e-13 < exact < 1e-10
    assert float(ncc_at_least(eta, sigma, dimension)) == pytest.approx(float(exact), rel=1e-9)


def test_ncc_limits_and_monotony() -> None:
    assert ncc_at_least([-1.0, 1.0], 0.3, 10).tolist() == [1.0, 0.0]
    levels = [float(ncc_at_least(0.3, sigma, 50)) for sigma in (0.01, 0.1, 0.3, 1.0, 10.0)]
    assert levels == sorted(levels, reverse=True)
    spreads = [float(ncc_at_least(0.3, 0.3, 50, spread)) for spread in (0.1, 0.5, 1.0)]
    assert spreads == sorted(spreads)
    assert ncc_at_least(0.3, 0.3, 50, steps=4) == ncc_at_least(0.3, 0.15, 50)


def test_hits_are_binomial() -> None:
    """Erratum of section IV-C: C(K, k)/D^K does not sum to one."""
    hits = np.arange(31)
    assert hit_probability(hits, 30, 12) == pytest.approx(binom.pmf(hits, 30, 1 / 12), rel=1e-11)
    claimed = [math.comb(30, int(k)) / 12.0**30 for k in hits]
    assert sum(claimed) < 1e-20
    assert hit_probability([0, 4, 5], 5, 1).tolist() == [0.0, 0.0, 1.0]


def test_training_by_simulation() -> None:
    rng, trials = np.random.default_rng(5), 40_000
    dimension, sigma, iterations, records, eta = 4, 0.5, 20, 8, 0.06
    hits = rng.binomial(iterations, 1 / records, trials)
    noise = rng.standard_normal((trials, dimension)) * sigma
    errors = np.square(noise).mean(axis=1) / np.maximum(hits, 1)
    count = int(((errors <= eta) & (hits > 0)).sum())
    chance = mse_at_most_in_training(eta, dimension, sigma, iterations, records)
    assert binomtest(count, trials, chance).pvalue > FALSE_ALARM
    assert binomtest(count, trials, 1.05 * chance).pvalue < FALSE_ALARM
    alone = float(GradientError.of(dimension, sigma).mse_at_most(eta))
    assert mse_at_most_in_training(eta, dimension, sigma, 1, 1) == pytest.approx(alone)


@pytest.mark.parametrize("sigma", [0.4, 1.0, 3.0])
def test_identification_is_reached_by_two_orthogonal_candidates_at_most(sigma: float) -> None:
    """No attack on m equally likely candidates passes 1 − f(1/m); the best is simulated."""
    rng, trials = np.random.default_rng(7), 50_000
    for candidates in (2, 10):
        # The best guess among orthonormal records: the largest coordinate.
        seen = sigma * rng.standard_normal((trials, candidates))
        seen[:, 0] += 1.0
        right = int((seen.argmax(axis=1) == 0).sum())
        # Replacing an orthonormal record moves it by √2.
        ceiling = identification(candidates, GaussianDP(math.sqrt(2) / sigma))
        assert binomtest(right, trials, ceiling, "greater").pvalue > FALSE_ALARM
        if candidates == 2:
            # Two points: success Φ(1/(√2 σ)), the ceiling at κ = 1/2 is Φ(√2/σ).
            assert right / trials == pytest.approx(norm.cdf(1 / (math.sqrt(2) * sigma)), abs=0.01)
            # Negative control: a ceiling for four times the noise is passed.
            wrong = identification(2, GaussianDP(math.sqrt(2) / (4 * sigma)))
            assert binomtest(right, trials, wrong, "greater").pvalue < FALSE_ALARM


@pytest.mark.parametrize("sigma", [0.4, 1.0, 3.0])
def test_identification_by_adding_or_removing_is_reached_by_opposite_candidates(
    sigma: float,
) -> None:
    """Gradients ±C, the guess their sign: Φ(1/σ) = 1 − f(1/2) for the usual sensitivity C.

    The relation of the corridor. Ten orthonormal candidates stay below it; half of the noise does
    not.
    """
    rng, trials = np.random.default_rng(8), 50_000
    right = int((1 + sigma * rng.standard_normal(trials) > 0).sum())
    pair, many = (
        identification(each, GaussianDP(1 / sigma, Relation.ADD_REMOVE)) for each in (2, 10)
    )
    assert pair == pytest.approx(norm.cdf(1 / sigma))
    assert binomtest(right, trials, pair).pvalue > FALSE_ALARM
    seen = sigma * rng.standard_normal((trials, 10))
    for scale, passed in ((1.0, False), (0.5, True)):
        found = scale * seen
        found[:, 0] += 1.0
        count = int((found.argmax(axis=1) == 0).sum())
        assert bool(binomtest(count, trials, many, "greater").pvalue < FALSE_ALARM) is passed


@pytest.mark.parametrize("dimension", [4, 784])
def test_the_laws_over_a_domain_cover_each_of_its_records(dimension: int) -> None:
    """Corollaries IV.6 and IV.9 for their estimator: smallest norm, largest span.

    Reached by the smallest record, passed by none; the largest norm of the domain is too small a
    bound. 20,000 estimates a record, false-alarm rate 1e-4 each.
    """
    rng, sigma, trials = np.random.default_rng(dimension), 0.3, 20_000
    records = rng.uniform(-1, 1, (3, dimension)) * np.array([[0.5], [1.0], [2.0]])
    sizes, span = np.linalg.norm(records, axis=1), float(np.ptp(records))
    law, wrong = (GradientError.of(dimension, sigma, float(m)) for m in (sizes.min(), sizes.max()))
    eta = float(law.mse_quantile(0.2))
    decibels = float(law.psnr_quantile(0.2, span))
    for record, size in zip(records, sizes, strict=True):
        noise = sigma * size * np.sqrt(rng.chisquare(dimension, trials) / dimension)
        mse = np.square(noise)
        close = int((mse <= eta).sum())
        assert binomtest(close, trials, 0.2, "greater").pvalue > FALSE_ALARM
        clear = int((mse_to_psnr(mse, float(np.ptp(record))) >= decibels).sum())
        assert binomtest(clear, trials, 0.2, "greater").pvalue > FALSE_ALARM
        if size == sizes.min():
            assert binomtest(close, trials, 0.2).pvalue > FALSE_ALARM
            bound = float(wrong.mse_at_most(eta))
            assert binomtest(close, trials, bound, "greater").pvalue < FALSE_ALARM


def test_identification_limits() -> None:
    assert identification(10, GaussianDP(0.0)) == pytest.approx(0.1)
    assert identification(10, GaussianDP(math.inf)) == 1.0
    assert identification(1, GaussianDP(1.0)) == 1.0
    assert identification(4, ApproxDP(1.0, 0.01)) == pytest.approx(0.01 + math.e / 4)


def test_calibration() -> None:
    """Figure 1 of Riess 2026: N = 1, Δ = 1, κ = 1/11, γ = 10 %."""
    assert identification_sigma(0.1, 11) == pytest.approx(18.6476, abs=1e-4)
    assert identification(11, GaussianDP(1 / identification_sigma(0.1, 11))) == pytest.approx(0.1)
    z = norm.ppf(0.55)
    assert scratch_sigma(0.25, 0.1, 1) == pytest.approx(0.5 / z)
    for dimension in DIMENSIONS:
        eta = 0.3 * zero_guess_error(dimension, 2.0)
        for gamma in (1e-12, 0.01, 0.5):
            sigma = scratch_sigma(eta, gamma, dimension, 2.0)
            law = GradientError.of(dimension, sigma, 2.0)
            assert float(law.mse_at_most(eta)) == pytest.approx(gamma, rel=1e-9)
            four = scratch_sigma(eta, gamma, dimension, 2.0, steps=4)
            assert four == pytest.approx(2 * sigma)
    with pytest.raises(
        ValueError, match=r"eta, the error, must be below 1, got 1.5: guessing 0 has that"
    ):
        scratch_sigma(1.5, 0.1, 1)
    with pytest.raises(ValueError, match=r"gamma must be above 1/candidates = 0.1"):
        identification_sigma(0.05, 10)


def test_corridor() -> None:
    """Both ends have the same probability, from κ up to 1; wide ones are marked as trivial."""
    found = risk_corridor([0.05, 0.5, 1.0, 5.0, 50.0], 1, 10)
    for each in found:
        assert each.gamma == pytest.approx(identification(10, GaussianDP(1 / each.sigma)))
        law = GradientError.of(1, each.sigma)
        assert float(law.mse_at_most(each.error)) == pytest.approx(each.gamma, rel=1e-9)
    gammas = [each.gamma for each in found]
    assert gammas == sorted(gammas, reverse=True) and gammas[-1] > 0.1
    # γ rounds to 1 here, and the error stays finite: it is read off the tail.
    assert found[0].gamma == 1.0 and math.isfinite(found[0].error)
    tail = float(GradientError.of(1, 0.05).mse_above(found[0].error))
    assert tail == pytest.approx(float(GaussianDP(20.0).tradeoff(0.1)), rel=1e-9)
    assert not found[2].trivial and found[4].trivial
    (several,) = risk_corridor(2.0, 4, 10, steps=4)
    (one,) = risk_corridor(1.0, 4, 10)
    assert several.gamma == pytest.approx(one.gamma) and several.error == pytest.approx(one.error)
    (other,) = risk_corridor(
        1.0, 4, 10, guarantee=lambda s: GaussianDP(2 / s, Relation.REPLACE_ONE)
    )
    assert other.gamma > one.gamma and other.error > one.error


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: GradientError(0, 1.0), "dimension must be an integer >= 1, got 0"),
        (lambda: GradientError(1, math.inf), "variance must be finite"),
        (lambda: GradientError.of(1, 0.0), "sigma must be > 0"),
        (lambda: GradientError.of(1, 1.0).mse_at_most(-1.0), "eta must be errors >= 0"),
        (lambda: GradientError.of(1, 1.0).mse_quantile(2.0), "gamma must be in"),
        (lambda: ncc_at_least(0.1, 1.0, 2), "dimension must be at least 3"),
        (lambda: ncc_at_least(1.1, 1.0, 5), "eta must be correlations"),
        (lambda: ncc_at_least(0.1, 1.0, 5, spread=2.0), "spread must be in"),
        (lambda: hit_probability(6, 5, 2), "hits must be whole numbers from 0 to 5"),
        (lambda: identification(0, GaussianDP(1.0)), "candidates must be an integer >= 1"),
        (lambda: attack_variance(1.0, 0.0), "norm must be > 0"),
    ],
)
def test_wrong_input_is_told(call: object, message: str) -> None:
    assert callable(call)
    with pytest.raises(ValueError, match=message):
        call()
