"""Direct integration against a dumb sum, limits, and the paper's figure 2."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from reconbench.bounds.audit.mcmc import (
    BetaStrength,
    Counts,
    ErrorPosterior,
    FixedStrength,
    Prior,
    best_lower_bound,
    clopper_pearson,
    epsilon_level,
    grid_posterior,
    in_region,
    in_strip,
    joint_beta,
    strip_area,
)

ONE = Counts.of([(200, 500, 200, 500)])


@pytest.mark.parametrize("row", [(0, 5, 5, 5), (2, 30, 9, 20), (15, 20, 16, 20), (0, 400, 0, 400)])
@pytest.mark.parametrize(("epsilon", "delta"), [(0.0, 0.1), (0.7, 0.0), (2.5, 0.01)])
def test_mass_outside_the_region(
    row: tuple[int, int, int, int], epsilon: float, delta: float
) -> None:
    errors = ErrorPosterior.of(Counts.of([row]), 0)
    share = (np.arange(2000) + 0.5) / 2000
    alpha = stats.beta(errors.a0, errors.b0).ppf(share)
    beta = stats.beta(errors.a1, errors.b1).ppf(share)
    inside = in_region(*np.meshgrid(alpha, beta), epsilon, delta).mean()
    assert errors.outside(epsilon, delta) == pytest.approx(1 - inside, abs=2e-3)


def test_posterior_is_that_of_a_dumb_sum() -> None:
    """Prior × likelihood summed over a grid of all four unknowns of one attack."""
    counts = Counts.of([(3, 12, 2, 10)])
    strength, delta = BetaStrength(2, 1), 0.05
    prior = Prior(2.0, strength)
    e, s = (np.arange(60) + 0.5) * 7 / 60, (np.arange(20) + 0.5) / 20
    side = (np.arange(150) + 0.5) / 150
    a, b = np.meshgrid(side, side)
    g = np.asarray(stats.binom.pmf(3, 12, a) * stats.binom.pmf(2, 10, b))
    mass = np.array(
        [
            [g[in_strip(a, b, each, delta, t)].sum() / strip_area(each, delta, t) for t in s]
            for each in e
        ]
    )
    mass *= np.exp(prior.log_epsilon(e)[:, None] + strength.log_density(s))
    mass /= mass.sum()
    found = grid_posterior(counts, delta, prior)
    below = np.cumsum(mass.sum(axis=1))
    for p in (0.1, 0.5, 0.9):
        assert found.epsilon_quantile(p) == pytest.approx(
            np.interp(p, below, e + 7 / 120), abs=0.04
        )
    assert (found.probability.sum(axis=0) @ found.strength) == pytest.approx(
        mass.sum(axis=0) @ s, abs=0.01
    )


@pytest.mark.parametrize(
    ("s", "lower", "upper"), [(0.5, 0.362, 0.866), (0.9, 0.305, 0.541), (0.99, 0.291, 0.512)]
)
def test_intervals_of_figure_2(s: float, lower: float, upper: float) -> None:
    """Yildirim 2025, section 4.1: X = Y = 0.4 N, N = 500, δ = 0.01, variance 10."""
    found = grid_posterior(ONE, 0.01, Prior(10.0, FixedStrength(s))).epsilon_quantile([0.05, 0.95])
    assert found == pytest.approx([lower, upper], abs=6e-4)


def test_without_evidence_the_posterior_is_the_prior_at_s_0_or_near() -> None:
    """One challenge each way says little: ε keeps its prior's median, 0.674·√variance."""
    found = grid_posterior(Counts.of([(0, 1, 1, 1)]), 0.0, Prior(4.0, FixedStrength(0.0)))
    assert found.epsilon_quantile(0.5) == pytest.approx(1.35, abs=0.35)


def test_s_to_1_is_the_joint_beta_interval_up_to_the_prior() -> None:
    """Yildirim 2025, Remark 2: at s → 1 ε has the law of the level of (α, β)."""
    counts = Counts.of([(800, 2000, 800, 2000)])
    (beta,) = joint_beta(counts, 0.01, pseudo=1.0)
    near = grid_posterior(counts, 0.01, Prior(1e4, FixedStrength(0.999)))
    assert near.epsilon_quantile([0.05, 0.5, 0.95]) == pytest.approx(
        [beta.lower, beta.estimate, beta.upper], abs=0.01
    )


def test_joint_beta_is_the_law_of_the_level() -> None:
    """Monte Carlo twin, 4e5 draws: quantiles within 0.01, five standard errors."""
    rng = np.random.default_rng(1)
    counts = Counts.of([(30, 300, 60, 250), (125, 250, 126, 250)])
    for j, found in enumerate(joint_beta(counts, 0.02, 0.9)):
        p = ErrorPosterior.of(counts, j, 0.5)
        levels = epsilon_level(rng.beta(p.a0, p.b0, 400_000), rng.beta(p.a1, p.b1, 400_000), 0.02)
        assert np.quantile(levels, [0.05, 0.5, 0.95]) == pytest.approx(
            [found.lower, found.estimate, found.upper], abs=0.01
        )


def test_clopper_pearson_covers_the_level_of_the_attack() -> None:
    """1,000 runs: coverage of at least 90 %; below 87 % by chance in fewer than 1 of 500."""
    rng, alpha, beta, delta = np.random.default_rng(2), 0.2, 0.3, 0.01
    truth = np.log((1 - delta - beta) / alpha)
    x, y = rng.binomial(200, alpha, 1000), rng.binomial(150, beta, 1000)
    size = np.ones(1000, dtype=int)
    each = clopper_pearson(Counts(x, 200 * size, y, 150 * size), delta)
    assert np.mean([one.covers(truth) for one in each]) > 0.87


def test_clopper_pearson_at_chance_and_for_perfect_attacks() -> None:
    chance, turned, perfect = clopper_pearson(
        Counts.of([(50, 100, 50, 100), (95, 100, 90, 100), (0, 100, 0, 100)]), 0.0
    )
    assert chance.lower == 0 and chance.upper < 1
    # An attack that is nearly always wrong gives as much away as one that is right.
    (right,) = clopper_pearson(Counts.of([(5, 100, 10, 100)]), 0.0)
    assert turned.lower == pytest.approx(right.lower) and turned.upper == pytest.approx(right.upper)
    assert perfect.lower > 2 and perfect.upper == np.inf
    both = best_lower_bound(Counts.of([(50, 100, 50, 100), (5, 100, 10, 100)]), 0.0)
    assert 0 < both.lower < right.lower
