"""The newer ceilings against their naive twins, as ratios measured side by side in one run.

Absolute seconds depend on the machine and its load and are never asserted. Each figure is the
smallest of several repetitions, taken in turn so that a busy moment hits both sides.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pytest_benchmark.fixture import BenchmarkFixture
from scipy.optimize import minimize
from scipy.special import ndtr, ndtri
from threadpoolctl import threadpool_limits

from reconbench.bounds import ZCDP, ApproxDP, GaussianDP, PoissonBinomial, Theorem35, beta
from reconbench.bounds.ceilings.fdp_program import FdpProgram
from reconbench.bounds.ceilings.fdp_recursion import fdp_ceilings
from reconbench.bounds.ceilings.prior_exact import PriorExact, prior_exact
from reconbench.bounds.ceilings.prior_exact_sets import _tangents, within
from reconbench.bounds.ceilings.profile import Profile, profile_ceilings
from reconbench.bounds.ceilings.programs.level_program import _solve
from reconbench.bounds.ceilings.programs.set_programs import AnyProgram, IntervalProgram, Intervals
from reconbench.bounds.guarantees._conjugate import best_response

FloatArray = NDArray[np.float64]
MU = 0.719117


Fastest = Callable[..., list[float]]


def priors(n: int, m: int) -> FloatArray:
    return np.random.default_rng(n).dirichlet(np.full(m, 0.3), size=n)


def general_solver(pi: FloatArray) -> float:
    """The primal for one target by sequential quadratic programming, with its gradients."""
    pi = pi[pi > 1e-12]

    def slack(a: FloatArray) -> FloatArray:
        g = ndtr(ndtri(a) - MU)
        return np.asarray(1 - a + g - g.sum())

    def slack_gradient(a: FloatArray) -> FloatArray:
        slope = np.exp(MU * ndtri(a) - MU**2 / 2)
        return np.asarray(np.diag(slope - 1) - slope)

    solve: Any = minimize  # scipy's types do not cover these arguments
    solved = solve(
        lambda a: -pi @ a,
        np.full(pi.size, 0.5 / pi.size),
        jac=lambda _: -pi,
        constraints=[{"type": "ineq", "fun": slack, "jac": slack_gradient}],
        bounds=[(1e-12, 1 - 1e-12)] * pi.size,
        method="SLSQP",
        options={"ftol": 1e-9, "maxiter": 300},
    )
    return -float(solved.fun)


def test_prior_exact_against_a_loop_of_a_general_solver(
    benchmark: BenchmarkFixture, fastest: Fastest
) -> None:
    rows = priors(100, 46)
    guarantee = GaussianDP(MU)
    ours = benchmark(lambda: PriorExact(rows, guarantee).per_target)
    every = 10
    some = rows[::every]
    # One thread: on a busy machine the solver's small matrices suffer from more.
    with threadpool_limits(1):
        solved = [general_solver(pi) for pi in some]
        np.testing.assert_allclose(ours[::every], solved, rtol=1e-3)
        fast, loop = fastest(
            3,
            lambda: prior_exact(rows, guarantee),
            lambda: [general_solver(pi) for pi in some],
        )
    # The loop is timed on one target in ten.
    ratio = loop * every / fast
    benchmark.extra_info["times faster than a loop of SLSQP, 100 targets of 46 values"] = ratio
    assert ratio > 50


def test_prior_exact_under_zcdp_against_gaussian_dp(
    benchmark: BenchmarkFixture, fastest: Fastest
) -> None:
    """A hundred priors take at most ten times as long as under GDP, and no longer the next time."""
    priors = np.random.default_rng(5).dirichlet(np.ones(20), size=100)
    fresh = iter(np.linspace(0.4, 0.6, 100))
    gaussian, first, again = fastest(
        9,
        lambda: prior_exact(priors, GaussianDP(1.0)),
        lambda: prior_exact(priors, ZCDP(next(fresh))),
        lambda: prior_exact(priors, ZCDP(0.5)),
    )
    benchmark.extra_info["times slower under zCDP, first use"] = first / gaussian
    benchmark.extra_info["times slower under zCDP, same guarantee again"] = again / gaussian
    assert first < 12 * gaussian and again < 3 * gaussian
    benchmark.pedantic(prior_exact, (priors, ZCDP(0.5)), rounds=3)


def test_prior_exact_growth(benchmark: BenchmarkFixture, fastest: Fastest) -> None:
    few, many = priors(1000, 46), priors(10_000, 46)
    guarantee = GaussianDP(MU)
    benchmark.pedantic(lambda: prior_exact(many, guarantee), rounds=2)
    short, long = fastest(
        3, lambda: prior_exact(few, guarantee), lambda: prior_exact(many, guarantee)
    )
    benchmark.extra_info["cost of 10,000 targets over 1,000"] = long / short
    assert long / short < 20


def test_repeated_priors_cost_as_one(benchmark: BenchmarkFixture, fastest: Fastest) -> None:
    rows, guarantee = priors(10, 2000), GaussianDP(MU)
    repeated = np.repeat(rows, 10, axis=0)
    benchmark.pedantic(lambda: fdp_ceilings(repeated, guarantee), rounds=2)
    ours, alone, apart = fastest(
        2,
        lambda: fdp_ceilings(repeated, guarantee),
        lambda: fdp_ceilings(rows, guarantee),
        lambda: fdp_ceilings(priors(100, 2000), guarantee),
    )
    benchmark.extra_info["100 targets of 10 priors over 10 targets"] = ours / alone
    benchmark.extra_info["100 targets of 100 priors over 100 of 10"] = apart / ours
    assert apart / ours > 2


def test_intervals_against_the_general_program(
    benchmark: BenchmarkFixture, fastest: Fastest
) -> None:
    success, guarantee = within(28, 5), GaussianDP(MU)
    respond = best_response(guarantee)
    slopes, constants = _tangents(guarantee, respond)
    intervals = Intervals.of(success)
    assert intervals is not None
    lines = tuple(slopes.tolist()), tuple(constants.tolist())
    fast, general = IntervalProgram(intervals, *lines), AnyProgram(success, slopes, constants)
    rows = priors(4, 28)
    found = benchmark(lambda: [fast.solve(pi).bound(pi, respond) for pi in rows])
    np.testing.assert_allclose(
        found, [general.weights(pi).bound(pi, respond) for pi in rows], atol=2e-3
    )
    ours, slow = fastest(
        3, lambda: [fast.solve(pi) for pi in rows], lambda: [general.weights(pi) for pi in rows]
    )
    benchmark.extra_info["times faster than the general program, 28 values"] = slow / ours
    assert slow / ours > 1.2


def naive_profile(p: FloatArray, guarantee: GaussianDP, confidence: float) -> int:
    """The smallest ceiling over a thousand values of ε."""
    grid = np.linspace(1e-3, 1, 1000) * guarantee.epsilon_at(1e-15)
    return min(Theorem35(p, ApproxDP(e, guarantee.delta_at(e))).ceiling(confidence) for e in grid)


def test_profile_of_a_hundred_targets(benchmark: BenchmarkFixture, fastest: Fastest) -> None:
    p, guarantee = np.random.default_rng(1).uniform(0.2, 0.8, size=100), GaussianDP(MU)
    benchmark(lambda: profile_ceilings(p, guarantee))
    assert Profile(p, guarantee).ceiling(0.95) <= naive_profile(p, guarantee, 0.95)
    ours, naive, sums = fastest(
        5,
        lambda: profile_ceilings(p, guarantee),
        lambda: naive_profile(p, guarantee, 0.95),
        lambda: PoissonBinomial(beta(p, 1.0)).tails,
    )
    benchmark.extra_info["three ceilings over one sum, n = 100"] = ours / sums
    benchmark.extra_info["times faster than a fine grid for one ceiling"] = naive / ours
    assert ours / sums < 350
    assert naive / ours > 4


def test_profile_of_ten_thousand_targets(benchmark: BenchmarkFixture, least_cpu: Fastest) -> None:
    p, guarantee = np.random.default_rng(2).uniform(0.2, 0.8, size=10_000), GaussianDP(MU)
    benchmark.pedantic(lambda: profile_ceilings(p, guarantee), rounds=2)
    ours, sums = least_cpu(
        2, lambda: profile_ceilings(p, guarantee), lambda: PoissonBinomial(beta(p, 1.0)).tails
    )
    benchmark.extra_info["three ceilings over one sum, n = 10,000"] = ours / sums
    assert ours / sums < 350


def test_recursion_of_a_hundred_targets(benchmark: BenchmarkFixture, fastest: Fastest) -> None:
    rows, guarantee = priors(100, 10), GaussianDP(MU)
    benchmark(lambda: fdp_ceilings(rows, guarantee))
    p = rows.max(axis=1)
    ours, profile = fastest(
        5, lambda: fdp_ceilings(rows, guarantee), lambda: profile_ceilings(p, guarantee)
    )
    benchmark.extra_info["three recursion ceilings over three profile ceilings"] = ours / profile
    assert ours / profile < 5


def test_fdp_program_against_all_inequalities_at_once(
    benchmark: BenchmarkFixture, fastest: Fastest
) -> None:
    n, v = 40, 28
    program = FdpProgram(np.full((n, 2), 0.5), GaussianDP(0.268051)).program
    found = benchmark(lambda: program.tail(v))
    bound, _ = _solve(program._inequalities, n, v)
    assert bound - 1e-9 <= found <= 1.02 * bound
    all_at_once, ours = fastest(
        2, lambda: _solve(program._inequalities, n, v), lambda: program.tail(v)
    )
    ratio = all_at_once / ours
    benchmark.extra_info["times faster than all inequalities at once, 40 bits"] = ratio
    assert ratio > 2
