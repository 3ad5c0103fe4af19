"""The compiled pieces against plain twins."""

from __future__ import annotations

import sys
from importlib import import_module

import numpy as np
import pytest
from scipy import stats

from reconbench.bounds.audit.mcmc import Counts, in_strip, strip_area
from reconbench.bounds.audit.mcmc import _kernels as kernels
from reconbench.bounds.audit.mcmc._tables import CELLS, LARGEST, BetaTables, arc_edges, arc_width
from reconbench.bounds.audit.mcmc.diagnostics import (
    autocorrelation,
    bulk_size,
    by_arviz,
    rank_rhat,
    tail_size,
)
from reconbench.bounds.audit.mcmc.model import folded, log_correlated
from reconbench.missing_package import MissingPackage

WORD = (1 << 64) - 1


def seeded(seed: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 2**64, size=4, dtype=np.uint64)


def plain_xoshiro(state: list[int]) -> int:
    """xoshiro256++ in whole numbers."""

    def turned(x: int, by: int) -> int:
        return (x << by | x >> (64 - by)) & WORD

    word = (turned((state[0] + state[3]) & WORD, 23) + state[0]) & WORD
    shifted = state[1] << 17 & WORD
    state[2] ^= state[0]
    state[3] ^= state[1]
    state[1] ^= state[2]
    state[0] ^= state[3]
    state[2] ^= shifted
    state[3] = turned(state[3], 45)
    return word


def test_random_words_are_xoshiro() -> None:
    state = seeded(1)
    plain = [int(word) for word in state]
    for _ in range(1000):
        assert kernels.uniform(state) == ((plain_xoshiro(plain) >> 11) + 0.5) / 2**53
    # The first words after the state 1, 2, 3, 4, as the authors' reference prints them.
    known = [1, 2, 3, 4]
    assert [plain_xoshiro(known) for _ in range(3)] == [41943041, 58720359, 3588806011781223]


@pytest.mark.parametrize(
    ("x", "n"), [(0, 1), (1, 1), (0, 50), (50, 50), (1, 1000), (400, 1000), (3, 10**9), (7, 12)]
)
def test_beta_draws_are_exact(x: int, n: int) -> None:
    """Kolmogorov-Smirnov, also in the outer cells; false-alarm rate 1e-4 a test."""
    tables = BetaTables.of(Counts.of([(x, n, x, n)]))
    row = tables.alpha_rows[0]
    draws = np.empty(400_001)
    args = tables.edges[row], tables.squeeze[row], tables.log_top[row], tables.powers[row]
    kernels.fill_beta(seeded(2), *args, draws)
    truth = stats.beta(x + 1, n - x + 1)
    assert stats.kstest(draws[1:], truth.cdf).pvalue > 1e-4
    low, high = tables.edges[row][[1, -2]]
    tail = draws[1:][draws[1:] < low]
    assert stats.kstest(tail, lambda v: truth.cdf(v) / truth.cdf(low)).pvalue > 1e-4
    tail = draws[1:][draws[1:] > high]
    assert stats.kstest(tail, lambda v: 1 - truth.sf(v) / truth.sf(high)).pvalue > 1e-4


def test_strips_of_the_kernel_are_those_of_the_model() -> None:
    rng = np.random.default_rng(3)
    for _ in range(50):
        e, s, delta = rng.exponential(2), rng.random(), rng.choice([0.0, 0.01, 0.2])
        assert kernels.log_strip_area(e, delta, s) == pytest.approx(
            np.log(strip_area(e, delta, s)), abs=1e-12
        )
        a, b = rng.random((2, 200))
        low, high = a.copy(), b.copy()
        low[0], high[0] = folded(a[0], b[0])
        kernels.fold(low, high)
        args = np.exp(e), np.exp(s * e), 1 - delta, 1 - s * delta
        inside = [kernels.inside(p, q, *args) for p, q in zip(low, high, strict=True)]
        assert inside == in_strip(a, b, e, delta, s).tolist()
        assert kernels.count_inside(low, high, *args) == sum(inside)


def test_correlated_weights_are_density_over_proposal() -> None:
    """The log of a mean weight is the log of the integral of g over R_s, over |R_s|."""
    counts = np.array([30.0, 100, 20, 90])
    at = np.array([1.5, 0.3, 0.05, 0.02])
    delta, size = 0.01, 2_000_001
    x_edges = arc_edges(np.array([0.3]), np.array([100]), 0.05)
    y_edges = arc_edges(np.array([20 / 90]), np.array([90]), 0.05)
    alphas, betas, spread = np.full(size, 0.3), np.full(size, 0.2), np.ones(size)
    kernels.fill_pairs(seeded(4), x_edges[0], y_edges[0], alphas, betas, spread)
    sides = arc_width(x_edges, alphas[:1])[0], arc_width(y_edges, betas[:1])[0]
    spread[0] = kernels.spread_of(*sides, alphas[0], betas[0])
    weights = np.empty(size)
    got = kernels.weigh(alphas, betas, spread, counts, delta, at, weights)
    side = (np.arange(1500) + 0.5) / 1500
    a, b = np.meshgrid(side, side)
    density = np.exp(log_correlated(30, 100, 20, 90, a, b, at[2], at[3]))
    inside = in_strip(a, b, at[0], delta, at[1])
    integral = (density * inside).mean() / strip_area(at[0], delta, at[1])
    # A cell has density 1/(CELLS · width); dα = 2 √(α(1 − α)) dφ; and g's constant is 1/(2π).
    constant = np.log(4 * CELLS**2 / (2 * np.pi)) - np.log(size)
    assert got + constant == pytest.approx(np.log(integral), abs=0.01)


def test_the_prior_of_tau_and_rho() -> None:
    """A half-normal τ, and 1/(2 r(τ)) for ρ given τ with the least r of all attacks."""
    counts = np.array([[3.0, 10, 2, 20], [1, 40, 5, 30]])

    def expected(tau: float) -> float:
        ends = [
            np.sqrt((1 + (n0 - 1) * tau) * (1 + (n1 - 1) * tau) / (n0 * n1))
            for _, n0, _, n1 in counts
        ]
        return float(stats.norm.logpdf(tau, scale=0.05) - np.log(min(ends)))

    found = kernels.log_tau_prior(0.2, counts, 0.05) - kernels.log_tau_prior(0.01, counts, 0.05)
    assert found == pytest.approx(expected(0.2) - expected(0.01))


def test_pairs_next_to_one_have_a_weight() -> None:
    """Attacks that miss every record: sin² rounds to 1 there, where a variance would be 0."""
    edges = np.linspace(np.pi / 2 - 1e-9, np.pi / 2, CELLS + 1)
    low = np.linspace(0.07, 0.0708, CELLS + 1)
    alphas, betas, spread = np.full(101, 0.005), np.full(101, LARGEST), np.ones(101)
    kernels.fill_pairs(seeded(6), low, edges, alphas, betas, spread)
    assert (np.sin(edges) ** 2 == 1).all() and betas.max() < 1
    counts, at = np.array([5e5, 1e8, 1e8, 1e8]), np.array([1.5, 0.3, 0.05, 0.02])
    assert np.isfinite(kernels.weigh(alphas, betas, spread, counts, 0.01, at, np.empty(101)))


@pytest.mark.parametrize("memory", [-0.5, 0.0, 0.5, 0.95])
@pytest.mark.parametrize("shape", [(4, 1000), (2, 501)])
def test_diagnostics_are_those_of_arviz(memory: float, shape: tuple[int, int]) -> None:
    noise = np.random.default_rng(5).normal(size=shape)
    trace = np.zeros(shape)
    for t in range(1, shape[1]):
        trace[:, t] = memory * trace[:, t - 1] + noise[:, t]
    trace = np.exp(trace / 2)
    theirs = by_arviz(trace)
    assert rank_rhat(trace) == pytest.approx(theirs["r_hat"])
    assert bulk_size(trace) == pytest.approx(theirs["ess_bulk"], rel=1e-9)
    assert tail_size(trace) == pytest.approx(theirs["ess_tail"], rel=1e-9)
    assert theirs["mcse_mean"] == pytest.approx(trace.std() / np.sqrt(bulk_size(trace)), rel=0.5)
    array_stats = import_module("arviz_stats.base").array_stats
    lagged = array_stats.autocorr(trace, axis=-1).mean(axis=0)
    assert autocorrelation(trace, 9) == pytest.approx(lagged[:10])


def test_without_arviz_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "arviz_stats.base", None)
    with pytest.raises(MissingPackage, match=r"pip install 'reconbench\[arviz\]'"):
        by_arviz(np.zeros((2, 10)))


def test_diagnostics_of_chains_that_disagree_or_stand_still() -> None:
    apart = np.random.default_rng(6).normal(size=(4, 500)) + np.arange(4)[:, None]
    assert rank_rhat(apart) > 1.5 and bulk_size(apart) < 20
    still = np.ones((4, 100))
    assert np.isnan(rank_rhat(still)) and bulk_size(still) == 400
    assert np.isnan(autocorrelation(still, 3)).all()
    assert rank_rhat(np.repeat([[1.0], [2.0]], 100, axis=1)) > 1e6
