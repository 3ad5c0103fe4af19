"""The compiled MCMC-DP-Est against the same algorithm in numpy, iteration by iteration."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from pytest_benchmark.fixture import BenchmarkFixture

from reconbench.bounds import Relation
from reconbench.bounds.audit.mcmc import Counts, IndependentBinomial, Prior, Run, Settings, estimate
from reconbench.bounds.audit.mcmc.model import folded, in_strip, strip_area
from reconbench.bounds.audit.mcmc.sampler import _Binomial, _start

Fastest = Callable[..., list[float]]
Floats = np.ndarray[tuple[int, ...], np.dtype[np.float64]]

ATTACKS, AUXILIARY, DELTA = 20, 1_000, 0.01
ITERATIONS, FEWER = 400, 40
STEPS = (0.1, 0.05)


def counts() -> Counts:
    rng = np.random.default_rng(0)
    x, y = rng.integers(50, 250, (2, ATTACKS))
    size = np.full(ATTACKS, 1_000)
    return Counts(x, size, y, size)


def numpy_chain(run: Run, iterations: int, rng: np.random.Generator) -> Floats:
    """Algorithm 1 with the same proposals, one attack at a time in whole-array numpy."""
    (epsilon, s, *_), low, high = _start(run, rng)
    lows, highs = low.copy(), high.copy()
    columns = run.counts.columns
    trace = np.empty((iterations, 2))
    for i in range(iterations):
        new_epsilon = epsilon * np.exp(STEPS[0] * rng.standard_normal())
        new_s = s + STEPS[1] * rng.standard_normal()
        possible = 0 < new_s < 1
        log_ratio = (epsilon**2 - new_epsilon**2) / (2 * run.prior.variance)
        log_ratio += np.log(new_epsilon / epsilon)
        pairs, old, new = [], [], []
        for j, (x, n0, y, n1) in enumerate(columns):
            alpha = rng.beta(x + 1, n0 - x + 1, AUXILIARY)
            beta = rng.beta(y + 1, n1 - y + 1, AUXILIARY)
            alpha[0], beta[0] = lows[j], highs[j]
            pairs.append(folded(alpha, beta))
            old.append(in_strip(*pairs[j], epsilon, run.delta, s))
            if possible:
                new.append(in_strip(*pairs[j], new_epsilon, run.delta, new_s))
                with np.errstate(divide="ignore"):
                    log_ratio += np.log(new[j].sum() / old[j].sum())
        if possible:
            areas = strip_area([epsilon, new_epsilon], run.delta, [s, new_s])
            log_ratio += len(columns) * np.log(areas[0] / areas[1])
        if possible and -rng.standard_exponential() < log_ratio:
            epsilon, s, old = new_epsilon, new_s, new
        for j, inside in enumerate(old):
            k = rng.choice(np.flatnonzero(inside))
            lows[j], highs[j] = pairs[j][0][k], pairs[j][1][k]
        trace[i] = epsilon, s
    return trace


def compiled_chain(run: Run, iterations: int, rng: np.random.Generator) -> Callable[[], None]:
    model = _Binomial(run, AUXILIARY)
    start, low, high = _start(run, rng)
    now, carried = start[:2].copy(), model.start(low, high)
    state = rng.integers(0, 2**64, size=4, dtype=np.uint64)
    trace = np.empty((iterations, 2))

    def advance() -> None:
        steps = rng.standard_normal((iterations, 2)) * STEPS
        model.advance(state, steps, -rng.standard_exponential(iterations), 1.0, now, carried, trace)

    return advance


def test_compiled_chain_is_ten_times_numpy(benchmark: BenchmarkFixture, fastest: Fastest) -> None:
    run = Run(counts(), DELTA, Relation.ADD_REMOVE, Prior(), IndependentBinomial())
    advance = compiled_chain(run, ITERATIONS, np.random.default_rng(1))
    advance()
    fast, slow = fastest(10, advance, lambda: numpy_chain(run, FEWER, np.random.default_rng(2)))
    ratio = (slow / FEWER) / (fast / ITERATIONS)
    benchmark.extra_info["numpy over compiled iteration, time"] = ratio
    benchmark.extra_info["seconds for 100,000 iterations, one chain"] = fast / ITERATIONS * 1e5
    benchmark(advance)
    assert ratio >= 10


def test_effective_draws_a_second(benchmark: BenchmarkFixture) -> None:
    data = counts()
    # The default K against the paper's.
    for auxiliary in (Settings().auxiliary, AUXILIARY):
        settings = Settings(chains=2, iterations=2_000, warmup=1_000, auxiliary=auxiliary)
        start = time.perf_counter()
        found = estimate(data, DELTA, rng=np.random.default_rng(3), settings=settings)
        took = time.perf_counter() - start
        label = f"effective draws of epsilon a second, K = {auxiliary}"
        benchmark.extra_info[label] = found.epsilon.bulk / took
    quick = Settings(chains=1, iterations=200, warmup=100, auxiliary=100)
    benchmark(lambda: estimate(data, DELTA, rng=np.random.default_rng(4), settings=quick))
