"""The program over the law of L: known values, exact twins, simulation, limits, bad input."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.stats import binom

from reconbench.bounds import (
    ApproxDP,
    GaussianDP,
    Guarantee,
    LaplaceDP,
    NotApplicable,
    PriorExact,
    PureDP,
    Targets,
    WholePriors,
)
from reconbench.bounds.ceilings.fdp_program import MAX_TARGETS, FdpProgram, fdp_program_ceilings
from reconbench.bounds.ceilings.fdp_recursion import FdpRecursion, fdp_ceilings

FloatArray = NDArray[np.float64]
Pairs = list[tuple[float, float]]
BestOnBits = Callable[[int, Pairs, int], float]
BestMechanism = Callable[[FloatArray, Pairs, FloatArray], float]


@pytest.mark.parametrize(
    ("mu", "median", "high"), [(0.268051, (59, 57), (69, 68)), (0.719117, (72, 69), (86, 85))]
)
def test_golden_hundred_bits(mu: float, median: tuple[int, int], high: tuple[int, int]) -> None:
    bits, guarantee = np.full((100, 2), 0.5), GaussianDP(mu)
    recursion = fdp_ceilings(bits, guarantee, [0.5, 0.95])
    program = fdp_program_ceilings(bits, guarantee, [0.5, 0.95])
    assert (recursion[0.5], program[0.5]) == median
    assert (recursion[0.95], program[0.95]) == high


@pytest.mark.parametrize("guarantee", [GaussianDP(0.268051), ApproxDP(1.0, 0.01), PureDP(0.5)])
def test_no_proof_from_the_guarantee_alone_does_better(guarantee: Guarantee) -> None:
    bound = FdpProgram(np.full((40, 2), 0.5), guarantee)
    assert bound.is_least(0.95)
    for v in (22, 26, 30):
        above, below = bound.program.tail(v), bound.program.reached(v)
        assert below <= above
        assert above - below <= 0.04 * above


@pytest.mark.parametrize("k", [2, 5, 1_000])
@pytest.mark.parametrize("guarantee", [GaussianDP(0.6), GaussianDP(2.0), PureDP(1.0)])
def test_one_target_is_the_fixed_point(k: int, guarantee: Guarantee) -> None:
    """P[right] = 1 − f((1 − P[right])/(k − 1)) for a uniform prior (Mahloujifar et al. 2024)."""
    exact = brentq(lambda p: p - float(guarantee.power((1 - p) / (k - 1))), 1e-12, 1 - 1e-12)
    program = FdpProgram(np.full((1, 1), 1 / k), guarantee, 1 - 1 / k).program
    assert exact - 1e-9 <= program.tail(1) <= exact * 1.01


@pytest.mark.parametrize("pairs", [[(0.5, 0.01)], [(1.0, 1e-3)], [(0.01, 0.02)]])
def test_the_best_mechanism_on_many_bits(pairs: Pairs, best_on_bits: BestOnBits) -> None:
    n = 30
    ((epsilon, delta),) = pairs
    bound = FdpProgram(np.full((n, 2), 0.5), ApproxDP(epsilon, delta))
    for v in (14, 18, 22, 26):
        best = best_on_bits(n, pairs, v)
        assert best - 1e-9 <= bound.program.tail(v) <= best * 1.005 + 1e-9


@pytest.mark.parametrize(("n", "m"), [(1, 2), (1, 4), (2, 2), (2, 3), (3, 2)])
def test_no_mechanism_passes_it(n: int, m: int, best_mechanism: BestMechanism) -> None:
    """Over whole channels, so without the symmetry that the program rests on."""
    rng = np.random.default_rng(200 + 10 * n + m)
    tables = np.array(list(itertools.product(range(m), repeat=n)))
    hits = (tables[:, None, :] == tables[None]).sum(axis=2)
    for epsilon, delta in ((1.0, 0.0), (0.5, 0.1), (0.05, 0.02)):
        for prior in (np.full(m, 1 / m), rng.dirichlet(np.full(m, 3.0))):
            # The order of the values may differ between targets.
            priors = np.array([rng.permutation(prior) for _ in range(n)])
            bound = FdpProgram(priors, ApproxDP(epsilon, delta))
            for v in range(1, n + 1):
                reward = (hits >= v).astype(float)
                best = best_mechanism(priors, [(epsilon, delta)], reward)
                assert best <= bound.program.tail(v) + 1e-9
                if bound.program.uniform:
                    assert bound.program.tail(v) == pytest.approx(best, rel=5e-3)


def test_a_prior_that_is_majorised_is_covered(best_mechanism: BestMechanism) -> None:
    rng = np.random.default_rng(210)
    tables = np.array(list(itertools.product(range(3), repeat=2)))
    hits = (tables[:, None, :] == tables[None]).sum(axis=2)
    larger = np.array([0.6, 0.3, 0.1])
    bound = FdpProgram(np.tile(larger, (2, 1)), ApproxDP(0.7, 0.05))
    for _ in range(4):
        orders = np.array([rng.permutation(larger) for _ in range(6)]).reshape(2, 3, 3)
        priors = np.einsum("ij,ijk->ik", rng.dirichlet(np.ones(3), size=2), orders)
        for v in (1, 2):
            best = best_mechanism(priors, [(0.7, 0.05)], (hits >= v).astype(float))
            assert best <= bound.program.tail(v) + 1e-9


def test_never_above_the_recursion() -> None:
    for guarantee in (GaussianDP(0.5), LaplaceDP(1.0), ApproxDP(1.0, 1e-5)):
        for prior in ([0.5, 0.5], [0.7, 0.3], [0.5, 0.3, 0.2]):
            priors = np.tile(prior, (12, 1))
            program, recursion = FdpProgram(priors, guarantee), FdpRecursion(priors, guarantee)
            for confidence in (0.05, 0.5, 0.95):
                assert program.ceiling(confidence) <= recursion.ceiling(confidence)
            v = np.arange(0, 14)
            assert np.all(program.tail(v) <= recursion.tail(v))
            # E[L] is the sum of P[L ≥ v]: what a mechanism can reach on the mean stays below it.
            assert program.tail(v[1:]).sum() >= PriorExact(priors, guarantee).mean


def test_simulated_randomised_response_and_twice_the_budget() -> None:
    """False-alarm rate 3.4e-6: an excess of 4.5 standard errors."""
    rng = np.random.default_rng(211)
    m, n, runs, epsilon = 4, 100, 20_000, 1.0

    def successes(true_epsilon: float) -> NDArray[np.int64]:
        kept = math.exp(true_epsilon) / (math.exp(true_epsilon) + m - 1)
        return rng.binomial(n, kept, size=runs)

    v95 = fdp_program_ceilings(np.full((n, m), 1 / m), PureDP(epsilon), [0.95])[0.95]
    error = 4.5 * math.sqrt(0.05 * 0.95 / runs)
    assert np.mean(successes(epsilon) > v95) <= 0.05 + error
    assert np.mean(successes(2 * epsilon) > v95) > 0.05 + error


def test_limits() -> None:
    n, confidences = 50, (0.05, 0.5, 0.95)
    for p in (0.5, 0.8):
        priors = np.tile([p, 1 - p], (n, 1))
        # Without leakage, guessing from the prior is all there is: exact for uniform priors.
        blind = fdp_program_ceilings(priors, GaussianDP(0.0))
        exact = {c: int(binom.ppf(c, n, p)) for c in confidences}
        loose = fdp_ceilings(priors, GaussianDP(0.0))
        assert all(exact[c] <= blind[c] <= loose[c] for c in confidences)
        assert blind == exact or p == 0.8
        assert FdpProgram(priors, GaussianDP(math.inf)).ceiling(0.05) == n
        assert FdpProgram(priors, PureDP(50.0)).ceiling(0.95) == n
        by_mu = [FdpProgram(priors, GaussianDP(mu)).ceiling(0.95) for mu in (0.1, 0.4, 1.6)]
        assert by_mu == sorted(by_mu)
    sure = FdpProgram(np.array([[1.0, 0.0]] * 3), GaussianDP(0.3))
    assert sure.ceiling(0.95) == 3 and sure.tail([1, 3]).tolist() == [1.0, 1.0]
    secret = FdpProgram(np.full((20, 1), 1e-9), GaussianDP(0.3), 1 - 1e-9)
    assert secret.ceiling(0.95) == 0


def test_what_it_does_not_cover() -> None:
    different = np.array([[0.5, 0.5], [0.6, 0.4]])
    with pytest.raises(NotApplicable, match="targets of one prior"):
        FdpProgram(different, GaussianDP(1.0))
    budget = ApproxDP(1.0, 1e-5)

    def targets(priors: WholePriors) -> Targets:
        best = priors.priors.max(axis=1)
        return Targets(best, budget, read_whole_priors=lambda: priors)

    many = WholePriors(np.full((MAX_TARGETS + 1, 2), 0.5))
    with pytest.raises(NotApplicable, match=f"at most {MAX_TARGETS} targets"):
        FdpProgram.ceilings(targets(many), budget)
    sets = WholePriors(np.full((3, 2), 0.5), success=np.ones((2, 2), dtype=bool))
    with pytest.raises(NotApplicable, match="exact match"):
        FdpProgram.ceilings(targets(sets), budget)
    with pytest.raises(ValueError, match="uniform priors"):
        FdpProgram(np.tile([0.7, 0.3], (3, 1)), GaussianDP(1.0)).program.reached(2)
