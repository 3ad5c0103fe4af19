"""Weights are at the maximum, and zero where there is nothing to learn."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from reconbench.attacks.synthetic.weights import RIDGE, Practice, fit_weights, maximise

Floats = npt.NDArray[np.float64]


def practise(
    seed: int, strength: float, tables: int = 20, n: int = 60, size: int = 4, sources: int = 2
) -> Practice:
    """Hidden values drawn from the pool itself, with weight ``strength`` on the first source."""
    rng = np.random.default_rng(seed)
    log_prior = np.log(rng.dirichlet(np.ones(size), size=tables * n))
    evidence = rng.normal(size=(tables * n, size, sources))
    logits = log_prior + strength * evidence[:, :, 0]
    chances = np.exp(logits - logits.max(axis=1, keepdims=True))
    below = chances.cumsum(axis=1) / chances.sum(axis=1, keepdims=True)
    truth = (below < rng.random((tables * n, 1))).sum(axis=1)
    return Practice(evidence, log_prior, truth, np.repeat(np.arange(tables), n))


def test_slope_is_that_of_the_score() -> None:
    practice, weights = practise(0, 1.0), np.array([0.3, 0.7])
    total, slope = practice.slope(weights)
    assert total == pytest.approx(practice.score(weights).sum(), rel=1e-12)
    for i, step in enumerate(1e-5 * np.eye(2)):
        up, down = (practice.score(weights + sign * step).sum() for sign in (1, -1))
        assert slope[i] == pytest.approx((up - down) / 2e-5, rel=1e-6)


def test_maximum_is_that_of_a_grid() -> None:
    practice = practise(1, 0.8, sources=1)
    grid = np.linspace(0, 2, 2001)
    scores = [practice.score(np.array([w])).sum() - RIDGE / 2 * w * w for w in grid]
    assert maximise([practice])[0] == pytest.approx(grid[int(np.argmax(scores))], abs=1e-3)


def test_true_weights_are_found() -> None:
    """Estimates of 1 and of 0 from 1,200 records have a standard error of some 0.04."""
    found = np.array([fit_weights([practise(seed, 1.0)]) for seed in range(5)])
    assert found[:, 0].mean() == pytest.approx(1.0, abs=0.1)
    assert found[:, 1].mean() == pytest.approx(0.0, abs=0.05)


def test_nothing_to_learn_has_no_weight() -> None:
    """The gain of noise exceeds its standard error in 16 % of cases at most, so more than 10 of 30
    have a chance below 1e-2; what weight is left then is small. The control, evidence with a true
    weight of one half, is always seen; evidence that misleads is not believed."""
    null = np.array([fit_weights([practise(seed, 0.0)]) for seed in range(30)])
    assert np.count_nonzero(null.any(axis=1)) <= 10
    assert null.max() < 0.15
    assert all(fit_weights([practise(seed, 0.5)])[0] > 0.2 for seed in range(5))
    assert fit_weights([practise(3, -1.0)])[0] == 0.0


def test_several_parts_are_learnt_from_together() -> None:
    """Two columns with different numbers of values are as good as one with twice the records."""
    first, second = practise(5, 1.0, size=3), practise(6, 1.0, size=5)
    assert fit_weights([first, second])[0] == pytest.approx(1.0, abs=0.12)


def test_values_that_the_prior_rules_out_do_no_harm() -> None:
    practice = practise(7, 1.0)
    log_prior = practice.log_prior.copy()
    wrong = (practice.truth + 1) % 4
    log_prior[np.arange(len(wrong)), wrong] = -np.inf
    ruled_out = Practice(practice.evidence, log_prior, practice.truth, practice.group)
    assert np.isfinite(fit_weights([ruled_out])).all()
