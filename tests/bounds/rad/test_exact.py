"""The exact black-box advantage: the full linear program, attained, never above what was known."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from scipy import sparse
from scipy.optimize import brentq, linprog

from reconbench.bounds import ApproxDP, GaussianDP, PureDP, Relation
from reconbench.bounds.rad import (
    GRR,
    OUE,
    epsilon_any,
    epsilon_exact,
    rad_any,
    rad_any_aux,
    rad_exact,
    rad_exact_aux,
    rad_finite,
    rad_profile,
    rad_profile_aux,
    rad_pure_aux,
    rad_ss,
    rad_uniform,
    success_within,
)

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
DELTAS = (0.0, 1e-5, 0.05, 0.3)


def full_program(profile: list[tuple[float, float]], prior: Floats, labels: Ints) -> float:
    """The largest RAD over all kernels to vectors of guesses that are (ε, δ)-DP at every point."""
    m = prior.size
    choices = [[*np.flatnonzero(labels == label), None] for label in np.unique(labels)]
    outputs = list(itertools.product(*choices))
    size = len(outputs) * m
    gains = np.zeros((len(outputs), m))
    for row, guesses in zip(gains, outputs, strict=True):
        for guess in guesses:
            if guess is not None:
                row -= prior[guess] * prior
                row[guess] += prior[guess]
    rows, columns, entries, limits, row_count, width = [], [], [], [], 0, size

    def add(cells: list[tuple[int, float]], limit: float) -> None:
        nonlocal row_count
        for column, entry in cells:
            rows.append(row_count)
            columns.append(column)
            entries.append(entry)
        limits.append(limit)
        row_count += 1

    for epsilon, delta in profile:
        for z, w in itertools.permutations(range(m), 2):
            for k in range(len(outputs)):
                cells = [(k * m + z, 1.0), (k * m + w, -math.exp(epsilon))]
                add(cells + ([(width + k, -1.0)] if delta else []), 0.0)
            if delta:
                add([(width + k, 1.0) for k in range(len(outputs))], delta)
                width += len(outputs)
    upper = sparse.csr_array((entries, (rows, columns)), shape=(row_count, width))
    totals = np.zeros((m, width))
    for z in range(m):
        totals[z, z:size:m] = 1.0
    solve: Any = linprog  # scipy's types do not cover sparse arrays
    found = solve(
        -np.concatenate([gains.ravel(), np.zeros(width - size)]),
        A_ub=upper,
        b_ub=limits,
        A_eq=sparse.csr_array(totals),
        b_eq=np.ones(m),
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    return float(-found.fun)


def random_case(rng: np.random.Generator) -> tuple[float, float, Floats, Ints]:
    """ε, δ, a prior (often nearly or fully degenerate) and labels: none, all apart, or random."""
    m = int(rng.integers(1, 5))
    prior = rng.dirichlet(np.full(m, rng.choice([0.1, 1.0, 5.0, 1e6])))
    if m > 2 and rng.random() < 0.2:
        prior[rng.integers(m)] = 0.0
        prior /= prior.sum()
    labels = [np.zeros(m, np.int64), np.arange(m), rng.integers(0, m, m)][rng.integers(3)]
    return math.exp(rng.uniform(math.log(0.05), math.log(6))), rng.choice(DELTAS), prior, labels


def check_against_program(count: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(count):
        epsilon, delta, prior, labels = random_case(rng)
        best = full_program([(epsilon, delta)], prior, labels)
        assert rad_exact_aux(epsilon, prior, labels, delta) == pytest.approx(best, abs=1e-7)
        if labels.max() == 0:
            assert rad_exact(epsilon, prior, delta) == pytest.approx(best, abs=1e-9)


def test_the_full_program() -> None:
    check_against_program(50, 0)


@pytest.mark.slow
def test_the_full_program_often() -> None:
    check_against_program(500, 1)


def optimal_mechanism(epsilon: float, prior: Floats, delta: float, k: int) -> Floats:
    """Reveal with probability δ, else randomised response with the values from the k-th merged."""
    m = prior.size
    symbol = np.empty(m, np.int64)
    symbol[np.argsort(-prior, kind="stable")] = np.minimum(np.arange(m), k - 1)
    answers = GRR(epsilon, k).matrix()[:, symbol] if k > 1 else np.ones((1, m))
    return np.vstack([delta * np.eye(m), (1 - delta) * answers])


@pytest.mark.parametrize("seed", range(20))
def test_it_is_attained_and_passed_by_no_channel(seed: int) -> None:
    rng = np.random.default_rng(seed)
    m, epsilon, delta = int(rng.integers(2, 40)), float(rng.exponential(2)), rng.choice(DELTAS)
    prior = rng.dirichlet(np.full(m, rng.choice([0.1, 1.0, 10.0])))
    best = rad_exact(epsilon, prior, delta)
    reached = []
    for k in range(1, m + 1):
        table = optimal_mechanism(epsilon, prior, delta, k)
        excess = table[:, :, None] - math.exp(epsilon) * table[:, None, :]
        assert np.maximum(excess, 0).sum(axis=0).max() <= delta + 1e-12
        reached.append(rad_finite(table, prior))
    assert max(reached) == pytest.approx(best, abs=1e-12)
    assert rad_finite(GRR(epsilon, m).matrix(), prior) <= best + 1e-12


@pytest.mark.parametrize("seed", range(20))
def test_real_channels_and_published_bounds(seed: int) -> None:
    rng = np.random.default_rng(100 + seed)
    m, epsilon, delta = int(rng.integers(2, 6)), float(rng.exponential(2)), rng.choice(DELTAS)
    prior = rng.dirichlet(np.full(m, rng.choice([0.1, 1.0, 10.0])))
    reveal = np.vstack([delta * np.eye(m), np.full(m, 1 - delta)])
    known, values = rad_any_aux(ApproxDP(epsilon, delta), prior), np.arange(m)
    assert rad_exact(epsilon, prior, delta) <= rad_any(epsilon, prior, delta) + 1e-12
    for aux in (None, values % 2, values):
        best = rad_exact_aux(epsilon, prior, aux, delta)
        assert rad_exact(epsilon, prior, delta) - 1e-8 <= best <= known + 1e-8
        for table in (GRR(epsilon, m).matrix(), OUE(epsilon, m).matrix(), reveal):
            assert rad_finite(table, prior, aux) <= best + 1e-8
        if delta == 0:
            assert best <= rad_pure_aux(epsilon, prior) + 1e-8


def multipliers(epsilon: float, prior: Floats) -> tuple[Floats, Floats]:
    """y and M of the proof of Theorem 1, for a prior in descending order."""
    m, growth = prior.size, math.expm1(epsilon)
    alone, sums = prior * (1 - prior), np.concatenate([[0.0], np.cumsum(prior)])
    gains = np.concatenate([[0.0], np.cumsum(alone)[:-1]]) + prior * sums[:-1]
    levels = gains / (growth + np.arange(1, m + 1))
    k, level = int(levels.argmax()) + 1, levels.max()
    if level >= prior[k - 1]:
        j, u = k - 1, prior[k - 1]
        v = (level - u * sums[j]) / (1 - sums[j])
    else:
        j, v = k, prior[k - 1]
        u = (level - v * (1 - sums[j])) / sums[j]
    head = np.arange(m) < j
    y = np.where(head, alone - level, -v * prior)
    excess = np.where(head, alone - level + np.outer(prior, prior), np.outer(prior - v, prior)) / (
        1 + growth
    )
    share = (alone - level + u * prior) / (1 + growth) / level
    tail = np.outer(prior * (1 + v - prior), np.where(head, share, 0.0))
    return y, np.where(head[:, None], excess, tail) * (1 - np.eye(m))


@pytest.mark.parametrize("seed", range(30))
def test_the_proof(seed: int) -> None:
    """The multipliers are ≥ 0, add up to the optimum at every δ, and φ_g ≤ Ψ at any p."""
    rng = np.random.default_rng(seed)
    m, epsilon = int(rng.integers(2, 8)), math.exp(rng.uniform(-3, 2))
    prior = np.sort(rng.dirichlet(np.full(m, rng.choice([0.3, 1.0, 10.0]))))[::-1]
    y, pairs = multipliers(epsilon, prior)
    assert pairs.min() >= -1e-12
    for delta in DELTAS:
        total = y.sum() + delta * pairs.sum()
        assert total == pytest.approx(rad_exact(epsilon, prior, delta), abs=1e-12)
    p = np.vstack(
        [
            np.exp(rng.normal(0, epsilon, (4000, m))),
            rng.choice([0.0, math.exp(-epsilon), 1.0, math.exp(epsilon)], (4000, m)),
        ]
    )
    parts = np.maximum(p[:, :, None] - math.exp(epsilon) * p[:, None, :], 0)
    psi = p @ y + (parts * pairs).sum(axis=(1, 2))
    gain = (prior * (p - (p @ prior)[:, None])).max(axis=1)
    assert (psi - gain >= -1e-12 * p.max(axis=1)).all()


def test_half_the_budget_is_strictly_less() -> None:
    """A negative control: the agreement with the program is not one of loose tolerances."""
    prior, labels = np.array([0.5, 0.3, 0.2]), np.array([0, 1, 1])
    for epsilon, delta in itertools.product((0.1, 1.0, 4.0), (0.0, 0.05)):
        for aux in (np.zeros(3, np.int64), labels):
            half = full_program([(epsilon / 2, delta)], prior, aux)
            assert half < rad_exact_aux(epsilon, prior, aux, delta) - 1e-3


def test_limits() -> None:
    prior = np.array([0.6, 0.3, 0.1])
    apart = 1 - prior @ prior
    for aux in (None, [0, 0, 1], [0, 1, 2]):
        for delta in DELTAS:
            none = rad_exact_aux(0.0, prior, aux, delta)
            assert none == pytest.approx(delta * apart, abs=1e-8)
            for large in (60.0, math.inf):
                assert rad_exact_aux(large, prior, aux, delta) == pytest.approx(apart, abs=1e-8)
    assert rad_exact(2.0, 1) == rad_exact_aux(2.0, 1) == rad_exact(2.0, [1.0, 0.0]) == 0
    assert rad_exact(1.0, 7, 0.05) == pytest.approx(rad_uniform(1.0, 7, 0.05), rel=1e-12)
    known = rad_any_aux(ApproxDP(1.0, 0.05), [0.7, 0.3])
    assert rad_exact(1.0, [0.7, 0.3], 0.05) == pytest.approx(known, rel=1e-12)
    assert rad_exact(1e-9, prior) == pytest.approx(1e-9 * rad_exact(1e-6, prior) / 1e-6, rel=1e-5)


def test_the_inverse() -> None:
    rng = np.random.default_rng(4)
    for _ in range(50):
        prior = rng.dirichlet(np.full(int(rng.integers(2, 30)), 0.5))
        epsilon, delta = rng.uniform(0.01, 8), rng.choice(DELTAS)
        gamma = rad_exact(epsilon, prior, delta)
        assert epsilon_exact(gamma, prior, delta) == pytest.approx(epsilon, rel=1e-7)
        assert epsilon_exact(gamma, prior, delta) >= epsilon_any(gamma, prior, delta) - 1e-9
    assert epsilon_exact(0.0, prior) == 0 and epsilon_exact(1.0, prior) == math.inf
    assert epsilon_exact(0.005, [0.5, 0.5], 0.01) == 0 and epsilon_exact(0.1, [1.0]) == math.inf


def test_a_skewed_prior_gains_most() -> None:
    """What the page says of 100 values with π_z ∝ 1/z: 0.0961 for 0.1615, ε ≥ 1 for ε ≥ 0.64."""
    prior = 1 / np.arange(1, 101)
    prior /= prior.sum()
    gamma = rad_exact(1.0, prior)
    assert gamma == pytest.approx(0.0961, abs=5e-5)
    assert rad_any(1.0, prior) == pytest.approx(0.1615, abs=5e-5)
    assert epsilon_any(gamma, prior) == pytest.approx(0.637, abs=5e-4)


def test_all_known_and_equal_values_are_subset_selection() -> None:
    """By symmetry the sets have one size, so the best subset size attains Theorem 2."""
    for m, epsilon in itertools.product((2, 5, 8), (0.3, 1.0, 3.0)):
        sizes = [rad_ss(epsilon, m, np.arange(m), subset=size) for size in range(1, m)]
        found = rad_exact_aux(epsilon, m, np.arange(m))
        assert found == pytest.approx(max(sizes), abs=1e-8)
        assert found <= math.tanh(epsilon / 4) + 1e-8


def test_many_small_values_approach_tanh() -> None:
    epsilon, m = 1.0, 2000
    sizes = range(740, 770)
    best = max(rad_ss(epsilon, m, np.arange(m), subset=size) for size in sizes)
    assert 0.999 * math.tanh(epsilon / 4) < best <= rad_pure_aux(epsilon, m)
    assert rad_pure_aux(epsilon, m) < 0.54 * rad_any_aux(PureDP(epsilon), m)


def test_any_error_stays_below_tanh() -> None:
    rng = np.random.default_rng(8)
    for _ in range(40):
        m, epsilon = int(rng.integers(2, 9)), float(rng.exponential(2))
        prior, values = rng.dirichlet(np.ones(m)), np.arange(m)
        success = success_within(np.abs(np.subtract.outer(values, values)), 1)
        for aux in (None, values % 2, values):
            found = rad_finite(GRR(epsilon, m).matrix(), prior, aux, success)
            assert found <= rad_pure_aux(epsilon, prior) + 1e-12


def test_partitions_are_visible() -> None:
    """What makes it hard: at e^ε − 1 = 1/B² the value tells if a subset has half of the total."""
    for weights, divisible in (([3, 1, 1, 2, 2, 1], True), ([2, 2, 2, 2, 2], False)):
        half = sum(weights) / 2
        growth = 1 / half**2
        found = rad_exact_aux(
            math.log1p(growth), np.array(weights) / sum(weights), np.arange(len(weights))
        )
        assert (found >= growth / (4 + 2 * growth) - 1e-9) == divisible


@pytest.mark.parametrize("m", [2, 3, 10])
@pytest.mark.parametrize("mu", [0.1, 1.0, 3.0])
def test_a_curve_and_a_uniform_prior(m: int, mu: float) -> None:
    """a + (m − 1) f(1 − a) = 1: randomised response with that a is f-DP and attains it."""
    guarantee = GaussianDP(mu)

    def other(a: float) -> float:
        return float(guarantee.tradeoff(1 - a))

    a = brentq(lambda a: a + (m - 1) * other(a) - 1, 0, 1, xtol=1e-14)
    exact = (a - other(a)) * (m - 1) / m
    assert rad_profile(guarantee, m) == pytest.approx(exact, rel=1e-6)


def test_a_curve_and_any_prior() -> None:
    """Never below the program that has many points of the profile, and close to it."""
    guarantee, rng = GaussianDP(1.0), np.random.default_rng(6)
    epsilons = np.linspace(0, 4, 12)
    profile = [(float(e), guarantee.delta_at(float(e))) for e in epsilons]
    for prior in (rng.dirichlet(np.ones(3)), np.array([0.5, 0.3, 0.2])):
        best = full_program(profile, prior, np.zeros(3, np.int64))
        grid = min(rad_exact(epsilon, prior, delta) for epsilon, delta in profile)
        assert best - 1e-9 <= grid <= 1.05 * best
        assert rad_profile(guarantee, prior) <= grid + 1e-12
    assert rad_profile(PureDP(1.0), prior) == pytest.approx(rad_exact(1.0, prior), rel=1e-6)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: rad_exact(-1.0, 3), "epsilon must be"),
        (lambda: rad_exact(1.0, 3, 1.0), "delta must be in"),
        (lambda: rad_exact(1.0, [0.5, 0.6]), "prior must sum to 1"),
        (lambda: epsilon_exact(2.0, 3), "gamma must be an advantage"),
        (lambda: rad_exact_aux(1.0, 3, [0, 1]), "one label for each of the 3 values"),
        (lambda: rad_exact_aux(1.0, 15, np.arange(15)), "at most 14 values.*rad_pure_aux"),
        (lambda: rad_exact_aux(1.0, 10**6, np.arange(10**6), 0.1), "at most 14.*rad_any_aux"),
        (lambda: rad_exact_aux(1.0, 12, np.arange(12), 0.1), "at most 20000.*rad_any_aux"),
        (lambda: rad_profile(PureDP(1.0, Relation.ADD_REMOVE), 3), "replace-one"),
    ],
)
def test_refusals(call: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


def test_any_knowledge_over_the_profile_is_never_below_the_program() -> None:
    """Against the exact program for a(z) = z, and closer than Theorem 4.2 where values are many."""
    rng = np.random.default_rng(11)
    for _ in range(60):
        m = int(rng.integers(2, 6))
        prior = rng.dirichlet(np.full(m, rng.choice([0.3, 1.0, 5.0])))
        pair = ApproxDP(float(rng.choice([0.05, 0.3, 1.0, 4.0])), float(rng.choice(DELTAS[1:])))
        found = rad_profile_aux(pair, prior)
        optimum = rad_exact_aux(pair.epsilon, prior, np.arange(m), pair.delta)
        assert optimum - 1e-9 <= found <= rad_any_aux(pair, prior) + 1e-12
    assert rad_profile_aux(GaussianDP(0.5), 1000) < 0.84 * rad_any_aux(GaussianDP(0.5), 1000)


def test_any_knowledge_over_a_gaussian_profile() -> None:
    """Three values, a program with 14 points of the profile: a larger set of mechanisms."""
    gaussian, prior = GaussianDP(1.0), np.array([0.5, 0.3, 0.2])
    profile = [(float(e), gaussian.delta_at(float(e))) for e in np.linspace(0, 3, 14)]
    optimum = full_program(profile, prior, np.arange(3))
    assert optimum <= rad_profile_aux(gaussian, prior) + 1e-9


def test_any_knowledge_is_approached_and_needs_its_delta() -> None:
    """Reveal with δ, else put each value in a set with t = 1/(1 + e^(ε/2)): many equal values."""
    epsilon, delta, m = 1.0, 0.1, 2000
    t = 1 / (1 + math.exp(epsilon / 2))
    chosen = round(t * m)
    # Sets of `chosen` of m values: Theorem 2 with π(S) = t, a(z) = z.
    share = chosen / m
    sets = math.expm1(epsilon) * share * (1 - share) / (1 + math.expm1(epsilon) * share)
    attained = delta * (1 - 1 / m) + (1 - delta) * sets
    bound = rad_profile_aux(ApproxDP(epsilon, delta), m)
    assert attained <= bound <= attained + 1e-3
    # Without the term in δ, the bound for pure DP is too small.
    assert rad_pure_aux(epsilon, m) < attained
    assert rad_profile_aux(PureDP(epsilon), m) == pytest.approx(math.tanh(epsilon / 4), rel=1e-9)
    for prior in ([0.5, 0.5], [0.9, 0.1], 7):
        assert rad_profile_aux(PureDP(0.8), prior) == pytest.approx(rad_pure_aux(0.8, prior))


def test_any_knowledge_limits() -> None:
    assert rad_profile_aux(GaussianDP(0.0), 5) == 0.0
    assert rad_profile_aux(GaussianDP(math.inf), 5) == pytest.approx(0.8)
    assert rad_profile_aux(PureDP(math.inf), 5) == pytest.approx(0.8)
    found = [rad_profile_aux(GaussianDP(mu), 5) for mu in (0.01, 0.1, 1.0, 3.0, 10.0)]
    assert found == sorted(found)
    with pytest.raises(ValueError, match="replace-one"):
        rad_profile_aux(GaussianDP(1.0, Relation.ADD_REMOVE), 5)


def test_a_solver_that_gives_up_is_replaced_by_a_bound() -> None:
    prior, labels = np.array([0.5, 0.2, 0.1, 0.1, 0.05, 0.05]), np.arange(6)
    for epsilon in (1e-12, 1e-9, 1e-6, 1e-3):
        for delta in (0.0, 0.1):
            found = rad_exact_aux(epsilon, prior, labels, delta)
            assert rad_exact(epsilon, prior, delta) - 1e-9 <= found
            assert found <= epsilon / 4 + delta * (1 - prior @ prior) + 1e-9
