"""Gaussian and randomised-response mechanisms under both models: coverage, and who is warned.

20 bases of 100 challenges each way, as in Yildirim 2025, section 4.2; δ = 0.01. Rows are printed
for docs/mcmc.md: pytest -rA shows them.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy.special import expit, ndtr, ndtri
from scipy.stats import binom, kstest

from reconbench.bounds import gaussian_mu
from reconbench.bounds.audit.mcmc import (
    Counts,
    GdpPrior,
    Prior,
    Settings,
    check_model,
    estimate,
    gdp_epsilon,
    in_strip,
)
from reconbench.bounds.audit.mcmc.check import FAILS_BELOW, draw_in_strip

BASES, CHALLENGES, DELTA, LEVEL = 20, 100, 0.01, 0.1
EPSILON = 4.02
MU = gaussian_mu(EPSILON, DELTA)
KEEP = float(expit(2.0))
GRR_EPSILON = float(np.log((KEEP - DELTA) / (1 - KEEP)))
SETTINGS = Settings(chains=2, iterations=1_000, warmup=600, auxiliary=50)

Draw = Callable[[np.random.Generator], tuple[Counts, float]]


def play(alpha: np.ndarray, beta: np.ndarray, rng: np.random.Generator) -> Counts:
    size = np.full(BASES, CHALLENGES)
    return Counts(rng.binomial(size, alpha), size, rng.binomial(size, beta), size)


def gaussian(alpha: np.ndarray, rng: np.random.Generator) -> tuple[Counts, float]:
    """The optimal attack on a Gaussian mechanism of ε = 4.02, at these levels."""
    return play(alpha, ndtr(-ndtri(alpha) - MU), rng), EPSILON


def gaussian_at_one_level(rng: np.random.Generator) -> tuple[Counts, float]:
    return gaussian(np.full(BASES, LEVEL), rng)


def gaussian_at_many_levels(rng: np.random.Generator) -> tuple[Counts, float]:
    return gaussian(rng.uniform(0.02, 0.9, BASES), rng)


def grr(alpha: np.ndarray, rng: np.random.Generator) -> tuple[Counts, float]:
    """The optimal attack on randomised response that keeps its bit with e²/(1 + e²)."""
    odds = KEEP / (1 - KEEP)
    return play(alpha, np.maximum(1 - odds * alpha, (1 - alpha) / odds), rng), GRR_EPSILON


def grr_at_one_level(rng: np.random.Generator) -> tuple[Counts, float]:
    return grr(np.full(BASES, 1 - KEEP), rng)


def grr_at_many_levels(rng: np.random.Generator) -> tuple[Counts, float]:
    return grr(rng.uniform(0.02, 0.9, BASES), rng)


def no_leakage(rng: np.random.Generator) -> tuple[Counts, float]:
    alpha = rng.uniform(0.02, 0.9, BASES)
    return play(alpha, 1 - alpha, rng), 0.0


def region_itself(rng: np.random.Generator) -> tuple[Counts, float]:
    epsilon, s = abs(rng.normal(0, np.sqrt(10))), rng.random()
    pairs = draw_in_strip(np.array(epsilon), DELTA, np.array(s), (BASES,), rng)
    return play(*pairs, rng), epsilon


def gdp_itself(rng: np.random.Generator) -> tuple[Counts, float]:
    mu, s = abs(rng.normal(0, 2)), rng.beta(1, 0.5)
    m, alpha = mu * rng.uniform(s, 1, BASES) * rng.choice([-1, 1], BASES), rng.random(BASES)
    return play(alpha, ndtr(-ndtri(alpha) - m), rng), float(gdp_epsilon(mu, DELTA))


def rates(draw: Draw, prior: Prior | GdpPrior, runs: int, seed: int) -> tuple[float, float, float]:
    """Shares of runs whose interval has ε, whose upper end is not below it, whose check fails."""
    rng = np.random.default_rng(seed)
    rows, ends = [], []
    for _ in range(runs):
        counts, epsilon = draw(rng)
        found = estimate(counts, DELTA, rng=rng, prior=prior, settings=SETTINGS)
        low, high = found.epsilon.lower, found.epsilon.upper
        failed = check_model(found, rng, 300).failed
        # ε = 0 is an end of its range: no interval can have it in its middle.
        rows.append(((low <= epsilon or epsilon == 0) and epsilon <= high, epsilon <= high, failed))
        ends.append((low, high))
    covered, above, failed_share = (float(share) for share in np.mean(rows, axis=0))
    low, high = np.mean(ends, axis=0)
    print(
        f"{draw.__name__}, {type(prior).__name__}: {runs} runs, mean interval [{low:.2f}, "
        f"{high:.2f}], covered {covered:.0%}, upper end above {above:.0%}, check fails "
        f"{failed_share:.0%}"
    )
    return covered, above, failed_share


def test_errors_are_uniform_on_the_strip() -> None:
    """Against rejection from the unit square; false-alarm rate 0.1 % each."""
    rng = np.random.default_rng(1)
    for epsilon, s in ((0.5, 0.1), (3.0, 0.6)):
        alpha, beta = draw_in_strip(np.array(epsilon), DELTA, np.array(s), (20_000,), rng)
        assert in_strip(alpha, beta, epsilon, DELTA * (1 + 1e-9), s).mean() > 0.999
        pairs = rng.random((400_000, 2))
        kept = pairs[in_strip(pairs[:, 0], pairs[:, 1], epsilon, DELTA, s)]
        assert kstest(alpha, kept[:, 0]).pvalue > 1e-3
        assert kstest(alpha - beta, kept[:, 0] - kept[:, 1]).pvalue > 1e-3


def test_a_gaussian_mechanism_is_reported_too_low_and_with_a_warning() -> None:
    """The failure itself: true ε 4.02, and the interval ends below 3 with a warning."""
    rng = np.random.default_rng(2)
    counts, epsilon = gaussian_at_one_level(rng)
    found = estimate(counts, DELTA, rng=rng, settings=SETTINGS)
    check = check_model(found, rng)
    assert found.epsilon.upper < 3 < epsilon
    assert check.failed and "far too low" in str(check.warning) and "gdp" in str(check.warning)
    other = estimate(counts, DELTA, rng=rng, prior=GdpPrior(), settings=SETTINGS)
    assert other.epsilon.lower < epsilon < other.epsilon.upper


def test_few_bases_are_not_checked() -> None:
    rng = np.random.default_rng(3)
    found = estimate(Counts.of([(4, 40, 9, 40)] * 3), DELTA, rng=rng, settings=SETTINGS)
    check = check_model(found, rng)
    assert check.p_value is None and not check.failed and check.to_json()["spread"] is None


@pytest.mark.slow
@pytest.mark.parametrize(
    ("draw", "prior"), [(region_itself, Prior()), (gdp_itself, GdpPrior())], ids=["region", "gdp"]
)
def test_checks_have_their_size_and_intervals_cover(draw: Draw, prior: Prior | GdpPrior) -> None:
    """Counts of the model itself fail in at most 5 %, and 90 % cover; false-alarm rate 0.2 %."""
    runs = 40
    covered, _, failed = rates(draw, prior, runs, seed=4)
    assert failed * runs <= binom.ppf(1 - 1e-3, runs, FAILS_BELOW)
    assert covered * runs >= binom.ppf(1e-3, runs, 0.9)


@pytest.mark.slow
@pytest.mark.parametrize("draw", [gaussian_at_one_level, gaussian_at_many_levels])
def test_gaussian_mechanisms(draw: Draw) -> None:
    """gdp: 90 % have an upper end that is not below ε (false-alarm rate 0.1 %) and 65 % cover.

    The negative control is the region model at one level: it covers never, and is found out always.
    """
    runs = 20
    covered, above, failed = rates(draw, GdpPrior(), runs, seed=5)
    assert above * runs >= binom.ppf(1e-3, runs, 0.9) and covered >= 0.65 and failed <= 0.3
    covered, _, failed = rates(draw, Prior(), runs, seed=5)
    assert failed >= 0.7
    if draw is gaussian_at_one_level:
        assert covered == 0 and failed == 1


@pytest.mark.slow
@pytest.mark.parametrize("draw", [grr_at_one_level, grr_at_many_levels, no_leakage])
def test_other_mechanisms(draw: Draw) -> None:
    """gdp never reports less than ε here; for randomised response it reports far more."""
    runs = 12
    assert rates(draw, GdpPrior(), runs, seed=6)[1] == 1
    rates(draw, Prior(), runs, seed=6)
