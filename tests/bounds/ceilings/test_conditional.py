"""Theorem 3.3 with a given F, and the lower bound: closed forms, twins, enumeration, bad input."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import binom

from reconbench.bounds import (
    ApproxDP,
    HighProbabilityBound,
    PoissonBinomial,
    PureDP,
    Relation,
    Theorem32,
    Theorem35,
    beta,
)
from reconbench.bounds.ceilings.conditional import Floor32, Theorem33, beta_floor

FloatArray = NDArray[np.float64]
PRIORS = np.random.default_rng(70).uniform(0.05, 0.8, size=25)


def two_point(n: int, j: int, mean: float) -> FloatArray:
    """F = j with the probability that gives this mean, and 0 otherwise."""
    failures = np.zeros(n + 1)
    failures[j] = mean / j
    failures[0] += 1 - mean / j
    return failures


def test_theorem_33_equals_the_sum_over_failures() -> None:
    rng = np.random.default_rng(71)
    failures = rng.dirichlet(np.full(26, 0.1)) * 0.05
    failures[0] += 1 - failures.sum()
    guarantee = ApproxDP(1.0, 0.05)
    bound: HighProbabilityBound = Theorem33(PRIORS, guarantee, failures)
    sums = PoissonBinomial(beta(PRIORS, 1.0))
    for v in range(26):
        expected = sum(failures[j] * float(sums.tail(v - j)) for j in range(26))
        assert float(bound.tail(v)) == pytest.approx(min(1.0, expected), rel=1e-12)
    assert bound.tail([-1, 26]).tolist() == [1.0, 0.0]
    for confidence in (0.05, 0.5, 0.95, 0.999):
        v = bound.ceiling(confidence)
        assert bound.tail(v + 1) <= 1 - confidence
        assert v == 0 or bound.tail(v) > 1 - confidence


def test_theorem_35_is_the_worst_two_point_failure() -> None:
    n, delta = 25, 0.004
    guarantee = ApproxDP(1.0, delta)
    worst = Theorem35(PRIORS, guarantee)
    for v in range(1, n + 1):
        given = [
            float(Theorem33(PRIORS, guarantee, two_point(n, j, n * delta)).tail(v))
            for j in range(1, n + 1)
        ]
        assert max(given) == pytest.approx(float(worst.tail(v)), rel=1e-12)


def test_without_failures_theorem_33_is_theorem_32() -> None:
    none = np.eye(26)[0]
    v = np.arange(27)
    for epsilon in (0.1, 2.0):
        expected = Theorem32(PRIORS, PureDP(epsilon)).tail(v)
        for guarantee in (PureDP(epsilon), ApproxDP(epsilon, 1e-3)):
            np.testing.assert_allclose(Theorem33(PRIORS, guarantee, none).tail(v), expected)


def test_theorem_33_holds_for_records_revealed_one_by_one() -> None:
    """Each record is published with probability δ: F is binomial, and the bound nearly exact."""
    n, p, epsilon, delta = 20, 0.5, 1.0, 0.05
    failures = binom.pmf(np.arange(n + 1), n, delta)
    bound = Theorem33(np.full(n, p), ApproxDP(epsilon, delta), failures)
    kept = float(beta(p, epsilon))
    truth = binom.sf(np.arange(n + 1) - 1, n, delta + (1 - delta) * kept)
    tails = bound.tail(np.arange(n + 1))
    assert np.all(truth <= tails + 1e-12)
    assert float(tails[17]) < 2 * float(truth[17])
    # Half the noise, or failures that are too rare, are caught.
    twice = binom.sf(np.arange(n + 1) - 1, n, delta + (1 - delta) * float(beta(p, 2 * epsilon)))
    assert np.any(twice > tails)
    rare = Theorem33(np.full(n, p), ApproxDP(epsilon, delta), np.eye(n + 1)[0])
    assert np.any(truth > rare.tail(np.arange(n + 1)))


def test_floor_closed_forms() -> None:
    assert float(beta_floor(0.5, 1.0)) == pytest.approx(1 / (1 + math.e), rel=1e-15)
    np.testing.assert_allclose(beta_floor(PRIORS, 2.0), 1 - beta(1 - PRIORS, 2.0), rtol=1e-12)
    np.testing.assert_allclose(beta_floor(PRIORS, 0.0), PRIORS, rtol=1e-15)
    assert beta_floor([0.0, 0.3, 1.0], math.inf).tolist() == [0.0, 0.0, 1.0]
    bound = Floor32(np.full(50, 0.3), PureDP(1.0))
    q = float(beta_floor(0.3, 1.0))
    v = np.arange(52)
    np.testing.assert_allclose(bound.tail(v), binom.sf(v - 1, 50, q), rtol=1e-10)
    for confidence in (0.05, 0.5, 0.95):
        # The largest v with P[Bin ≥ v] ≥ confidence.
        expected = int(np.flatnonzero(binom.sf(v - 1, 50, q) >= confidence)[-1])
        assert bound.floor(confidence) == expected


@pytest.mark.parametrize(("n", "m"), [(1, 2), (2, 2), (3, 2), (2, 3)])
def test_floor_holds_for_random_channels(n: int, m: int) -> None:
    """Whatever the output and the guess, exactly; for the worst guess some outputs come close."""
    rng = np.random.default_rng(72)
    tables = np.array(list(itertools.product(range(m), repeat=n)))
    pairs = np.argwhere((tables[:, None, :] != tables[None]).sum(axis=2) == 1)
    hits = (tables[:, None, :] == tables[None]).sum(axis=2)
    closest = np.inf
    for _ in range(30):
        outputs = int(rng.integers(2, 9))
        channel = 0.3 * rng.dirichlet(np.ones(outputs), size=m**n) + 0.7 / outputs
        priors = rng.dirichlet(np.full(m, 2.0), size=n)
        epsilon = float(np.log(channel[pairs[:, 0]] / channel[pairs[:, 1]]).max())
        posterior = channel * np.prod(priors[np.arange(n), tables], axis=1)[:, None]
        posterior /= posterior.sum(axis=0)
        for z, guess in enumerate(tables):
            bound = Floor32(priors[np.arange(n), guess], PureDP(epsilon))
            half = Floor32(priors[np.arange(n), guess], PureDP(epsilon / 2))
            for v in range(1, n + 1):
                truth = float(posterior[hits[:, z] >= v].sum(axis=0).min())
                assert truth >= float(bound.tail(v)) - 1e-12
                closest = min(closest, truth - float(half.tail(v)))
    # With half the ε the floor is passed.
    assert closest < 0


def test_floor_and_ceiling_meet_without_leakage() -> None:
    epsilon = 1e-12
    v = np.arange(26)
    np.testing.assert_allclose(
        Floor32(PRIORS, PureDP(epsilon)).tail(v), Theorem32(PRIORS, PureDP(epsilon)).tail(v)
    )
    floors = [Floor32(PRIORS, PureDP(e)).floor(0.95) for e in (0.01, 0.5, 2.0, 8.0)]
    assert floors == sorted(floors, reverse=True)
    assert Floor32(np.ones(5), PureDP(3.0)).floor(0.999) == 5


def test_bad_input_is_refused() -> None:
    guarantee = ApproxDP(1.0, 0.01)
    none = np.eye(26)[0]
    with pytest.raises(ValueError, match="failures must be P"):
        Theorem33(PRIORS, guarantee, np.eye(25)[0])
    with pytest.raises(ValueError, match="failures must be P"):
        Theorem33(PRIORS, guarantee, none * 0.9)
    with pytest.raises(ValueError, match=r"mean of at most n·delta = 0.25, got 1"):
        Theorem33(PRIORS, guarantee, np.eye(26)[1])
    with pytest.raises(ValueError, match=r"mean of at most n·delta = 0"):
        Theorem33(PRIORS, PureDP(1.0), two_point(25, 1, 0.1))
    with pytest.raises(ValueError, match="2·epsilon"):
        Theorem33(PRIORS, ApproxDP(1.0, 0.01, Relation.ADD_REMOVE), none)
    with pytest.raises(ValueError, match="guarantee must be PureDP"):
        Floor32(PRIORS, guarantee)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="confidence must be"):
        Floor32(PRIORS, PureDP(1.0)).floor(1.0)
