"""The proved profile ceiling, and the mechanism that passes Theorem 3.5."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from reconbench.bounds import (
    ApproxDP,
    GaussianDP,
    Guarantee,
    HighProbabilityBound,
    PureDP,
    Theorem35,
    theorem_3_2,
)
from reconbench.bounds.ceilings.fdp_recursion import FdpRecursion
from reconbench.bounds.ceilings.prior_exact import prior_exact
from reconbench.bounds.ceilings.profile import Profile
from reconbench.bounds.ceilings.profile_recursion import (
    ProfileRecursion,
    profile_recursion_ceilings,
)
from reconbench.bounds.ceilings.programs.recursion import Lines

FloatArray = NDArray[np.float64]
Pairs = list[tuple[float, float]]
BestOnBits = Callable[[int, Pairs, int], float]
BestMechanism = Callable[[FloatArray, Pairs, FloatArray], float]


def test_golden_hundred_targets() -> None:
    # Theorem 3.5 gives 84 and 77 for these, its minimum over the profile 77 and 46.
    assert profile_recursion_ceilings(np.full(100, 0.56), GaussianDP(0.268051))[0.95] == 76
    assert profile_recursion_ceilings(np.full(100, 0.1), GaussianDP(0.719117))[0.95] == 45


def test_a_mechanism_that_passes_theorem_35() -> None:
    """Two uniform bits, (1, 0.1)-DP: guesses wrong in both bits are avoided with all of δ."""
    epsilon, delta = 1.0, 0.1
    e = math.exp(epsilon)
    # P[guess | truth] by the number of wrong bits: q1 = e·q2 + δ, q0 = e·q1, q0 + 2·q1 + q2 = 1.
    q2 = (1 - 2 * delta - delta * e) / (1 + e) ** 2
    q1 = e * q2 + delta
    q0 = e * q1
    channel = np.array([[q0, q1, q1, q2], [q1, q0, q2, q1], [q1, q2, q0, q1], [q2, q1, q1, q0]])
    np.testing.assert_allclose(channel.sum(axis=1), 1.0)
    for x, y in ((0, 1), (0, 2), (1, 3), (2, 3)):
        for a, b in ((channel[x], channel[y]), (channel[y], channel[x])):
            assert np.maximum(a - e * b, 0).sum() <= delta + 1e-15
    at_least_one = 1 - q2
    p = np.full(2, 0.5)
    assert float(Theorem35(p, ApproxDP(epsilon, delta)).tail(1)) == pytest.approx(0.9421, abs=5e-5)
    # Not with 2·n·δ either.
    assert float(Theorem35(p, ApproxDP(epsilon, 2 * delta)).tail(1)) < at_least_one
    assert at_least_one == pytest.approx(0.9618, abs=5e-5)
    assert float(ProfileRecursion(p, ApproxDP(epsilon, delta)).tail(1)) >= at_least_one
    assert float(FdpRecursion(np.full((2, 2), 0.5), ApproxDP(1.0, 0.1)).tail(1)) >= at_least_one


@pytest.mark.parametrize(("n", "m"), [(1, 2), (1, 4), (2, 2), (2, 3), (3, 2)])
def test_no_mechanism_passes_it(n: int, m: int, best_mechanism: BestMechanism) -> None:
    """The best of all (ε, δ)-DP mechanisms; its mean is the prior-exact ceiling to the digit."""
    rng = np.random.default_rng(100 + 10 * n + m)
    tables = np.array(list(itertools.product(range(m), repeat=n)))
    hits = (tables[:, None, :] == tables[None]).sum(axis=2)
    for epsilon, delta in ((1.0, 0.0), (0.5, 0.1), (0.05, 0.02)):
        guarantee = ApproxDP(epsilon, delta)
        priors = rng.dirichlet(np.full(m, 3.0), size=n)
        bounds: list[HighProbabilityBound] = [
            ProfileRecursion(priors.max(axis=1), guarantee),
            FdpRecursion(priors, guarantee),
        ]
        for v in range(1, n + 1):
            best = best_mechanism(priors, [(epsilon, delta)], (hits >= v).astype(float))
            assert all(best <= float(bound.tail(v)) + 1e-9 for bound in bounds)
        mean = best_mechanism(priors, [(epsilon, delta)], hits.astype(float))
        assert mean == pytest.approx(prior_exact(priors, guarantee), abs=1e-7)


@pytest.mark.parametrize("pairs", [[(0.5, 0.01)], [(1.0, 1e-3)], [(0.01, 0.02)]])
def test_no_mechanism_passes_it_on_many_bits(pairs: Pairs, best_on_bits: BestOnBits) -> None:
    n = 40
    ((epsilon, delta),) = pairs
    guarantee = ApproxDP(epsilon, delta)
    p, uniform = np.full(n, 0.5), np.full((n, 2), 0.5)
    passed = False
    for v in range(16, 40, 3):
        best = best_on_bits(n, pairs, v)
        printed = float(Theorem35(p, guarantee).tail(v))
        assert best <= float(ProfileRecursion(p, guarantee).tail(v)) + 1e-9
        assert best <= float(FdpRecursion(uniform, guarantee).tail(v)) + 1e-9
        passed |= best > printed + 1e-9
        # What Theorem 3.5 says above one half may be passed; below, it was not.
        assert printed > 0.5 or best <= printed + 1e-9
    assert passed or epsilon < 0.1


def test_gaussian_dp_on_many_bits(best_on_bits: BestOnBits) -> None:
    """The best of all mechanisms with the profile at 17 points, against the whole profile."""
    n, guarantee = 60, GaussianDP(0.5)
    pairs = [(float(e), guarantee.delta_at(float(e))) for e in np.linspace(0, 2.4, 17)]
    p, uniform = np.full(n, 0.5), np.full((n, 2), 0.5)
    for v in (36, 42, 48, 54):
        best = best_on_bits(n, pairs, v)
        recursion = float(FdpRecursion(uniform, guarantee).tail(v))
        assert best <= float(ProfileRecursion(p, guarantee).tail(v)) + 1e-9
        assert best <= float(Profile(p, guarantee).tail(v)) + 1e-9
        # The 17 pairs allow slightly more than the profile between them.
        assert 0.5 * recursion <= best <= recursion * 1.01


def test_limits() -> None:
    p = np.random.default_rng(102).uniform(0.05, 0.9, size=30)
    for epsilon in (0.1, 1.0, 4.0):
        ceilings = profile_recursion_ceilings(p, PureDP(epsilon))
        assert all(ceilings[c] <= v for c, v in theorem_3_2(p, PureDP(epsilon)).items())
    # Published with probability δ, whatever the prior: one of ten with probability 10·δ.
    revealed = ProfileRecursion(np.zeros(10), ApproxDP(1.0, 0.01))
    assert float(revealed.tail(1)) == pytest.approx(0.1, rel=1e-6)
    assert float(revealed.tail(10)) == pytest.approx(0.01, rel=1e-6)


@pytest.mark.parametrize("guarantee", [GaussianDP(0.7), ApproxDP(1.0, 0.01), PureDP(1.0)])
def test_one_target_is_below_the_published_bound(guarantee: Guarantee) -> None:
    for p in (0.01, 0.3, 0.8):
        tail = float(ProfileRecursion(np.array([p]), guarantee).tail(1))
        assert p <= tail <= float(guarantee.power(p)) * (1 + 1e-3)


def test_equal_targets_count_once() -> None:
    """Lines with counts force the same mass as one line for every target."""
    rng = np.random.default_rng(0)
    counts = np.array([5, 1, 30, 4])
    slopes, constants = rng.random((4, 6)), 0.1 * rng.random((4, 6))
    short = Lines(slopes, constants, counts)
    every = Lines(np.repeat(slopes, counts, axis=0), np.repeat(constants, counts, axis=0))
    assert short.n == every.n == 40
    for v in range(1, 41, 6):
        assert short.tail(v) == pytest.approx(every.tail(v), rel=1e-9)
    assert [short.ceiling(f) for f in (0.95, 0.5, 0.05)] == [
        every.ceiling(f) for f in (0.95, 0.5, 0.05)
    ]
