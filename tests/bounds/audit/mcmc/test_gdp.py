"""The gdp model against dumb sums, its walk against exact ranks, and its limits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy import stats
from scipy.special import ndtr, ndtri

from reconbench.bounds import GaussianDP, Relation
from reconbench.bounds.audit.mcmc import (
    BetaStrength,
    CorrelatedNormal,
    Counts,
    FixedStrength,
    GdpPrior,
    IndependentBinomial,
    Run,
    Settings,
    attack_mu,
    estimate,
    gdp_epsilon,
    read_counts,
)
from reconbench.bounds.audit.mcmc.gdp.model import StrengthLikelihoods
from reconbench.bounds.audit.mcmc.sampler import sample

QUICK = Settings(chains=2, iterations=2_000, warmup=500)
LEVELS = (0.05, 0.5, 0.95)
FALSE_ALARM = 1e-3


def test_epsilon_is_that_of_the_guarantee() -> None:
    mu = np.array([0.0, 1e-9, 0.01, 0.3, 1.5, 4.0, 20.0])
    for delta in (1e-9, 0.01, 0.3):
        exact = [GaussianDP(each).epsilon_at(delta) for each in mu]
        assert gdp_epsilon(mu, delta) == pytest.approx(exact, rel=1e-8, abs=1e-9)


def test_an_optimal_attack_has_the_mu_of_the_mechanism() -> None:
    alpha = np.array([1e-6, 0.1, 0.5, 0.9])
    assert attack_mu(alpha, GaussianDP(1.5).tradeoff(alpha)) == pytest.approx(1.5)
    assert attack_mu(alpha, 1 - alpha) == pytest.approx(0.0, abs=1e-9)


def dumb_posterior(rows: list[tuple[int, int, int, int]], prior: GdpPrior) -> np.ndarray:
    """Quantiles of μ: density × likelihood summed over cells of (α, β), for a grid of (μ, s).

    The density of (α, β) is 1[sμ ≤ |m| ≤ μ]/(2 (1 − s) μ φ(Φ⁻¹(β))).
    """
    assert isinstance(prior.strength, BetaStrength)
    mu, s = (np.arange(120) + 0.5) / 15, (np.arange(40) + 0.5) / 40
    side = (np.arange(600) + 0.5) / 600
    a, b = np.meshgrid(side, side)
    size = np.abs(attack_mu(a, b)).ravel()
    order = np.argsort(size)
    log_mass = -(mu[:, None] ** 2) / (2 * prior.variance) + prior.strength.log_density(s)
    for x, n0, y, n1 in rows:
        value = stats.binom.pmf(x, n0, a) * stats.binom.pmf(y, n1, b) / stats.norm.pdf(ndtri(b))
        below = np.concatenate([[0.0], np.cumsum(value.ravel()[order])])
        ends = [np.searchsorted(size[order], edge) for edge in (mu[:, None] * s, mu[:, None])]
        strip = below[ends[1]] - below[ends[0]]
        log_mass = log_mass + np.log(np.maximum(strip, 1e-300)) - np.log((1 - s) * mu[:, None])
    mass = np.exp(log_mass - log_mass.max()).sum(axis=1)
    return np.interp(LEVELS, np.cumsum(mass) / mass.sum(), mu + 1 / 30)


@pytest.mark.parametrize(
    "rows", [[(3, 12, 2, 10)], [(10, 80, 20, 60), (25, 70, 15, 80)], [(5, 10, 5, 10)]]
)
def test_the_sampler_meets_a_dumb_sum(rows: list[tuple[int, int, int, int]]) -> None:
    """Tolerance 0.05: four Monte Carlo errors of the 95 % quantile, and the grid's width."""
    prior = GdpPrior(1.5, BetaStrength(2, 2))
    settings = Settings(chains=4, iterations=5_000, warmup=1_000)
    rng = np.random.default_rng(1)
    found = estimate(Counts.of(rows), 0.01, rng=rng, prior=prior, settings=settings)
    assert found.converged, found.warnings
    assert np.quantile(found.trace("mu"), LEVELS) == pytest.approx(
        dumb_posterior(rows, prior), abs=0.05
    )
    assert found.trace("epsilon") == pytest.approx(gdp_epsilon(found.trace("mu"), 0.01))


def rank_test(jacobian: float, repetitions: int, attacks: int) -> tuple[float, int]:
    """p-value of uniform ranks of μ among draws (Talts et al. 2018), and intervals that cover."""
    rng, draws, thin = np.random.default_rng(3), 99, 10
    prior, size = GdpPrior(4.0), np.full(attacks, 60)
    settings = Settings(chains=1, iterations=draws * thin, warmup=1_000)
    ranks, covered = [], 0
    for _ in range(repetitions):
        mu, s = abs(rng.normal(0, 2)), rng.beta(1, 0.5)
        m = mu * rng.uniform(s, 1, attacks) * rng.choice([-1, 1], attacks)
        alpha = rng.random(attacks)
        x, y = rng.binomial(size, alpha), rng.binomial(size, ndtr(-ndtri(alpha) - m))
        counts = Counts(x, size, y, size)
        run = Run(counts, 0.01, Relation.ADD_REMOVE, prior, IndependentBinomial())
        trace = sample(run, settings, rng, jacobian=jacobian)[0][0, :, 0]
        low, high = np.quantile(trace, [0.05, 0.95])
        covered += bool(low <= mu <= high)
        ranks.append(int((trace[thin - 1 :: thin] < mu).sum()))
    found = stats.chisquare(np.bincount(np.array(ranks) // 10, minlength=10))
    return float(found.pvalue), covered


@pytest.mark.slow
@pytest.mark.parametrize("attacks", [1, 4])
def test_ranks_are_uniform_and_intervals_cover(attacks: int) -> None:
    """False-alarm rate 0.1 % for the ranks and 0.1 % for the coverage."""
    p_value, covered = rank_test(1.0, 120, attacks)
    assert p_value > FALSE_ALARM
    assert stats.binom.ppf(FALSE_ALARM / 2, 120, 0.9) <= covered
    assert covered <= stats.binom.ppf(1 - FALSE_ALARM / 2, 120, 0.9)


@pytest.mark.slow
def test_a_walk_without_its_jacobian_is_found_out() -> None:
    assert rank_test(0.0, 200, attacks=1)[0] < 1e-6


def test_no_leakage_gives_an_epsilon_near_0() -> None:
    """The null, by exact counts at chance: large samples, and 20 bases of 100 challenges."""
    for challenges, attacks, most in ((1000, 5, 0.2), (100, 20, 0.3)):
        x = np.linspace(0.1, 0.9, attacks) * challenges
        rows = [(round(each), challenges, challenges - round(each), challenges) for each in x]
        rng = np.random.default_rng(4)
        found = estimate(Counts.of(rows), 0.01, rng=rng, prior=GdpPrior(), settings=QUICK)
        assert found.epsilon.median < 0.1 and found.epsilon.upper < most
    # One base of ten challenges says little, but does not say that there is leakage.
    few = estimate(Counts.of([(5, 10, 5, 10)]), 0.01, rng=rng, prior=GdpPrior(), settings=QUICK)
    assert few.epsilon.lower < 0.1


def test_levels_of_a_base_count_once() -> None:
    """A level that is repeated is no new evidence: the likelihood of μ stays as it is."""
    rows = [(10, 100, 40, 100), (12, 100, 45, 100), (8, 100, 50, 100)]
    once = Counts.of(rows)
    repeated = replace(
        Counts.of(np.repeat(once.columns, 4, axis=0).tolist()), bases=np.repeat([7, 3, 5], 4)
    )
    assert repeated.base_count == 3 and repeated.bases.tolist() == [0] * 4 + [1] * 4 + [2] * 4
    first, second = (StrengthLikelihoods.of(each) for each in (once, repeated))
    assert first.start == pytest.approx(second.start)
    assert first.density == pytest.approx(second.density, rel=1e-9)


@pytest.mark.parametrize("strength", [BetaStrength(1, 0.5), FixedStrength(0.0), FixedStrength(0.9)])
@pytest.mark.parametrize("row", [(0, 10, 0, 10), (10, 10, 10, 10), (0, 1, 1, 1), (1, 10**9, 2, 10)])
def test_extreme_counts_give_finite_draws(
    row: tuple[int, int, int, int], strength: BetaStrength | FixedStrength
) -> None:
    prior, rng = GdpPrior(4.0, strength), np.random.default_rng(6)
    found = estimate(Counts.of([row]), 1e-5, rng=rng, prior=prior, settings=QUICK)
    assert np.isfinite(found.draws).all() and (found.trace("mu") > 0).all()


ONE = Counts.of([(1, 2, 1, 2)])
LEVELS_OF_ONE = replace(Counts.of([(1, 9, 5, 9), (3, 9, 2, 9)]), bases=np.array([0, 0]))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda rng: estimate(ONE, 0.0, rng=rng, prior=GdpPrior()),
            "delta must be > 0 for the gdp model",
        ),
        (
            lambda rng: estimate(
                ONE, 0.1, rng=rng, prior=GdpPrior(), likelihood=CorrelatedNormal()
            ),
            "likelihood must be independent",
        ),
        (lambda rng: estimate(LEVELS_OF_ONE, 0.1, rng=rng), "one row per base"),
        (lambda rng: GdpPrior(0.0), "variance must be > 0"),
        (lambda rng: GdpPrior(np.inf), "variance must be finite"),
    ],
)
def test_what_the_models_cannot_take(
    make: Callable[[np.random.Generator], object], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        make(np.random.default_rng(0))


def test_bases_are_read(tmp_path: Path) -> None:
    path = tmp_path / "errors.csv"
    path.write_text("base,level,X,N0,Y,N1\nb,0.1,1,9,5,9\na,0.1,2,9,4,9\nb,0.2,3,9,2,9\n")
    assert read_counts(path).bases.tolist() == [0, 1, 0]
    path.write_text("base,X,N0,Y,N1\n,1,9,5,9\n")
    with pytest.raises(ValueError, match="line 2: base is empty"):
        read_counts(path)
