"""The sampler against direct integration, and what it says of itself."""

from __future__ import annotations

import json
from collections.abc import Callable

import numpy as np
import pytest

from reconbench.bounds import Relation
from reconbench.bounds.audit.mcmc import (
    BetaStrength,
    CorrelatedNormal,
    Counts,
    Estimate,
    FixedStrength,
    GridPosterior,
    Prior,
    Run,
    Settings,
    check_model,
    estimate,
    estimate_at,
    grid_posterior,
    in_strip,
    prior_sensitivity,
)
from reconbench.bounds.audit.mcmc.document import document, figures
from reconbench.bounds.audit.mcmc.model import IndependentBinomial, folded
from reconbench.bounds.audit.mcmc.sampler import Start, _start, _start_at_chance

QUICK = Settings(chains=2, iterations=400, warmup=300, auxiliary=30)
LEVELS = (0.05, 0.5, 0.95)


def assert_quantiles_agree(found: Estimate, exact: GridPosterior, z: float = 4.0) -> None:
    """The exact probability below each sampled quantile is p, within z Monte Carlo errors."""
    axes = [("epsilon", exact.epsilon_quantile, found.epsilon)]
    if isinstance(found.run.prior.strength, BetaStrength):
        axes.append(("strength", exact.strength_quantile, found.strength))
    fine = np.linspace(0, 1, 20_001)
    for name, quantile, summary in axes:
        curve = quantile(fine)
        error = np.sqrt(0.25 / min(summary.bulk, summary.tail))
        for p, q in zip(LEVELS, np.quantile(found.trace(name), LEVELS), strict=True):
            scale = error * np.sqrt(p * (1 - p)) / 0.5
            assert np.interp(q, curve, fine) == pytest.approx(p, abs=z * scale), (name, p)


@pytest.mark.parametrize("s", [0.0, 0.5, 0.9, 0.99])
@pytest.mark.parametrize("challenges", [100, 500, 1000])
def test_one_attack_has_the_quantiles_of_direct_integration(s: float, challenges: int) -> None:
    """36 comparisons at 4 standard errors: a false alarm in fewer than 1 of 400 seeds."""
    x = 2 * challenges // 5
    counts = Counts.of([(x, challenges, x, challenges)])
    prior = Prior(10.0, FixedStrength(s))
    settings = Settings(iterations=5_000, warmup=2_000, auxiliary=200)
    found = estimate(counts, 0.01, rng=np.random.default_rng(1), prior=prior, settings=settings)
    assert found.converged, found.warnings
    assert_quantiles_agree(found, grid_posterior(counts, 0.01, prior))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("delta", "epsilon", "strength"),
    [
        (0.01, (2.695, 2.926, 3.525), (0.568, 0.710, 0.795)),
        (0.0, (2.708, 2.940, 3.544), (0.566, 0.709, 0.795)),
    ],
)
def test_strong_attacks_of_section_4_1(
    strong: Counts, delta: float, epsilon: tuple[float, ...], strength: tuple[float, ...]
) -> None:
    """Yildirim 2025, figure 3, variance 10: integration gives the figures, the sampler agrees
    within 4 Monte Carlo errors (a false alarm in fewer than 1 of 1,000 seeds)."""
    exact = grid_posterior(strong, delta, cells=300, strength_cells=50)
    assert exact.epsilon_quantile(LEVELS) == pytest.approx(epsilon, abs=3e-3)
    assert exact.strength_quantile(LEVELS) == pytest.approx(strength, abs=3e-3)
    settings = Settings(iterations=20_000, warmup=4_000, auxiliary=60)
    found = estimate(strong, delta, rng=np.random.default_rng(2), settings=settings)
    assert found.converged, found.warnings
    assert_quantiles_agree(found, exact)


@pytest.mark.slow
def test_several_attacks_and_a_beta_prior_match_direct_integration() -> None:
    counts = Counts.of([(10, 80, 20, 60), (25, 70, 15, 80), (30, 60, 28, 60)])
    prior = Prior(3.0, BetaStrength(2, 3))
    settings = Settings(iterations=10_000, warmup=2_000, auxiliary=60)
    found = estimate(counts, 0.0, rng=np.random.default_rng(3), prior=prior, settings=settings)
    assert found.converged, found.warnings
    assert_quantiles_agree(found, grid_posterior(counts, 0.0, prior, cells=200, strength_cells=100))


def importance_quantiles(
    row: tuple[int, ...], delta: float, size: int, tau_sd: float
) -> np.ndarray:
    """Equation 7 for one attack by weighting draws from the prior of all six unknowns."""
    rng = np.random.default_rng(4)
    x, n0, y, n1 = row
    e, s = np.abs(rng.normal(size=size)) * np.sqrt(10), rng.random(size)
    tau, rho = rng.random(size), rng.uniform(-1, 1, size)
    a, b = rng.random((2, size))
    low, high = folded(a, b)
    inside = (high + np.exp(e) * low >= 1 - delta) & (high + np.exp(s * e) * low < 1 - s * delta)
    if tau_sd < np.inf:
        tau = np.abs(rng.normal(0, tau_sd, size))
        rho *= np.sqrt((1 + (n0 - 1) * tau) * (1 + (n1 - 1) * tau) / (n0 * n1))
    v0, v1 = n0 + n0 * (n0 - 1) * tau, n1 + n1 * (n1 - 1) * tau
    r = n0 * n1 * rho / np.sqrt(v0 * v1)
    possible = inside & (np.abs(r) < 1)
    r = np.where(possible, r, 0.0)
    sd_x, sd_y = np.sqrt(a * (1 - a) * v0), np.sqrt(b * (1 - b) * v1)
    z, w = (x - n0 * a) / sd_x, (y - n1 * b) / sd_y
    outer = (1 - delta) ** 2 / (1 + np.exp(e))
    area = (1 - s * delta) ** 2 / (1 + np.exp(s * e)) - outer
    density = np.exp(-(z**2 - 2 * r * z * w + w**2) / (1 - r**2) / 2) / (sd_x * sd_y)
    weight = np.where(possible, density / np.sqrt(1 - r**2) / area, 0.0)
    found = []
    for values in (e, s, tau, rho):
        order = np.argsort(values)
        share = np.cumsum(weight[order]) / weight.sum()
        found.append(np.interp(LEVELS, share, values[order]))
    return np.array(found)


@pytest.mark.slow
@pytest.mark.parametrize("tau_sd", [np.inf, 0.05])
def test_correlated_counts_match_importance_sampling(tau_sd: float) -> None:
    """Tolerances are 4 standard errors of the two Monte Carlo runs, of 2,000 effective draws."""
    row = (6, 20, 5, 25)
    exact = importance_quantiles(row, 0.01, 2_000_000, tau_sd)
    found = estimate(
        Counts.of([row]),
        0.01,
        rng=np.random.default_rng(5),
        likelihood=CorrelatedNormal(tau_sd),
        settings=Settings(iterations=25_000, warmup=4_000, auxiliary=60),
    )
    assert found.names == ("epsilon", "strength", "tau", "rho")
    spread = exact[:, 2] - exact[:, 0]
    for i, name in enumerate(found.names):
        assert found.summaries[name].rhat < 1.02
        got = np.quantile(found.trace(name), LEVELS)
        assert got == pytest.approx(exact[i], abs=0.05 * spread[i]), name


# An attack on models that were trained with noise, cross-fed (X and Y of 100 each).
CROSS_FED = (
    (8, 61), (8, 100), (13, 81), (24, 60), (42, 52), (7, 90), (11, 61), (14, 73), (9, 33), (26, 84),
    (9, 15), (17, 46), (9, 77), (2, 100), (10, 0), (5, 98), (20, 75), (9, 93), (13, 68), (10, 57),
)  # fmt: skip


@pytest.mark.slow
def test_a_second_mode_is_not_overlooked() -> None:
    """A large τ explains these counts by attacks at chance: P(ε < 0.1) is 0.12 by quadrature.

    Chains are there for a while, and if not as long as they should, R-hat says so.
    """
    counts = Counts.of([(x, 100, y, 100) for x, y in CROSS_FED])
    rng, settings = np.random.default_rng(3), Settings(iterations=2_000, warmup=1_500)
    found = estimate(counts, 0.01, rng=rng, likelihood=CorrelatedNormal(), settings=settings)
    near = 1 - found.probability_above(0.1)
    assert near > 0 and (0.06 < near < 0.25 or found.epsilon.rhat > 1.01)


@pytest.mark.slow
def test_correlation_widens_the_posterior_of_the_errors() -> None:
    counts = Counts.of([(x, 100, y, 100) for x, y in ((10, 20), (12, 12), (20, 9), (15, 15))])
    one = estimate(counts, 0.01, rng=np.random.default_rng(6))
    settings = Settings(iterations=8_000)
    other = estimate(
        counts,
        0.01,
        rng=np.random.default_rng(6),
        likelihood=CorrelatedNormal(),
        settings=settings,
    )
    assert other.epsilon.upper - other.epsilon.lower > one.epsilon.upper - one.epsilon.lower


@pytest.mark.parametrize("strength", [BetaStrength(), FixedStrength(0.9)])
def test_chance_level_counts_give_a_small_epsilon(strength: BetaStrength | FixedStrength) -> None:
    """The null. With s free too: attacks spread over all of R would not all be at chance."""
    counts = Counts.of([(x, 1000, 1000 - x, 1000) for x in (100, 300, 500, 700, 900)])
    prior = Prior(10.0, strength)
    settings = Settings(iterations=5_000, warmup=2_000, auxiliary=500)
    found = estimate(counts, 0.0, rng=np.random.default_rng(7), prior=prior, settings=settings)
    exact = grid_posterior(counts, 0.0, prior, cells=100, strength_cells=50)
    assert found.epsilon.upper < 0.15 and exact.epsilon_quantile(0.95) < 0.1
    assert found.epsilon.median == pytest.approx(float(exact.epsilon_quantile(0.5)), abs=0.01)


def test_few_challenges_at_chance_say_little() -> None:
    """Ten challenges each way at chance, s free: ε may still be large, and s is what falls."""
    few = grid_posterior(Counts.of([(5, 10, 5, 10)]), 0.0, cells=100, strength_cells=50)
    assert few.epsilon_quantile(0.05) < 0.1 and few.epsilon_quantile(0.95) > 2
    many = grid_posterior(Counts.of([(500, 1000, 500, 1000)]), 0.0, cells=100, strength_cells=50)
    assert many.epsilon_quantile(0.95) < 0.5


def test_the_same_seed_gives_the_same_draws_and_another_does_not(strong: Counts) -> None:
    runs = [
        estimate(strong, 0.01, rng=np.random.default_rng(seed), settings=QUICK).draws
        for seed in (8, 8, 9)
    ]
    assert np.array_equal(runs[0], runs[1]) and not np.array_equal(runs[0], runs[2])


@pytest.mark.parametrize("strength", [BetaStrength(), FixedStrength(0.0), FixedStrength(0.99)])
@pytest.mark.parametrize("row", [(0, 10, 0, 10), (10, 10, 10, 10), (5, 10, 5, 10), (0, 1, 1, 1)])
@pytest.mark.parametrize("begin", [_start, _start_at_chance])
def test_chains_start_inside(
    begin: Start, strength: BetaStrength | FixedStrength, row: tuple[int, int, int, int]
) -> None:
    counts = Counts.of([row, (3, 40, 7, 50)])
    run = Run(counts, 0.01, Relation.ADD_REMOVE, Prior(10.0, strength), IndependentBinomial())
    for seed in range(20):
        (epsilon, s, *_), low, high = begin(run, np.random.default_rng(seed))
        assert in_strip(low, high, epsilon, 0.01, s).all()


@pytest.mark.parametrize("likelihood", [IndependentBinomial(), CorrelatedNormal()])
@pytest.mark.parametrize("row", [(0, 10, 0, 10), (10, 10, 10, 10), (0, 1, 1, 1), (1, 10**9, 2, 10)])
def test_extreme_counts_give_finite_draws(
    likelihood: IndependentBinomial | CorrelatedNormal, row: tuple[int, int, int, int]
) -> None:
    found = estimate(
        Counts.of([row]),
        1e-5,
        rng=np.random.default_rng(10),
        likelihood=likelihood,
        settings=QUICK,
    )
    assert np.isfinite(found.draws).all()
    assert (found.trace("epsilon") > 0).all()


def test_short_chains_say_so(strong: Counts) -> None:
    found = estimate(strong, 0.01, rng=np.random.default_rng(11), settings=QUICK)
    assert not found.converged
    assert any("effective draws" in warning for warning in found.warnings)


def test_other_priors_and_deltas_are_as_asked(strong: Counts) -> None:
    rng = np.random.default_rng(12)
    first = estimate(strong, 0.01, rng=rng, settings=QUICK, relation=Relation.REPLACE_ONE)
    priors = prior_sensitivity(first.run, QUICK, rng)
    assert [each.run.prior.variance for each in priors] == [1, 100, 10, 10]
    deltas = estimate_at(first.run, [0.0, 0.1], QUICK, rng)
    assert [each.run.delta for each in deltas] == [0.0, 0.1]
    told = document(first, check_model(first, rng), other_priors=priors, other_deltas=deltas)
    text = json.dumps({**told, "figures": figures(first)}, allow_nan=False)
    assert '"replace-one"' in text
    assert told["counts"]["X"] == strong.false_positives.tolist()
    assert told["compare"]["joint_beta"]["lower"] > 2
    assert first.probability_above(0.0) == 1 and first.probability_above(100.0) == 0


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Settings(chains=0), "chains must be an integer >= 1"),
        (lambda: Settings(iterations=50), "iterations must be at least 100"),
        (lambda: Settings(auxiliary=1), "auxiliary must be at least 2"),
        (lambda: Settings(iterations=10**9), "ask for fewer iterations"),
        (
            lambda: estimate(
                Counts.of([(1, 2, 1, 2)]),
                0.0,
                rng=np.random.default_rng(0),
                settings=Settings(auxiliary=10**8),
            ),
            "ask for fewer auxiliary pairs",
        ),
        (
            lambda: estimate(Counts.of([(1, 2, 1, 2)]), 1.0, rng=np.random.default_rng(0)),
            r"delta must be in \[0, 1\)",
        ),
    ],
)
def test_bad_settings_are_refused(make: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()


def test_unknown_parameters_are_refused(strong: Counts) -> None:
    found = estimate(strong, 0.01, rng=np.random.default_rng(13), settings=QUICK)
    with pytest.raises(ValueError, match="name must be one of epsilon, strength"):
        found.trace("tau")
    assert found.arviz()["epsilon"]["r_hat"] == pytest.approx(found.epsilon.rhat)
