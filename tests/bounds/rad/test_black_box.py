"""Bounds from the guarantee alone: valid for every channel, tight where said, errata included."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.stats import norm

from reconbench.bounds import ApproxDP, GaussianDP, PureDP, Relation
from reconbench.bounds.rad import (
    GRR,
    FiniteChannel,
    chance_range,
    dp_sgd_rad,
    dp_sgd_sigma,
    epsilon_any,
    epsilon_uniform,
    rad_any,
    rad_any_aux,
    rad_approx_no_aux,
    rad_composed,
    rad_finite,
    rad_grr,
    rad_no_aux,
    rad_perfect,
    rad_uniform,
    success_within,
    total_variation_approx,
)


def reveal(m: int, delta: float) -> np.ndarray:
    """(0, δ)-DP: the value itself with probability δ, else nothing."""
    return np.vstack([delta * np.eye(m), np.full(m, 1 - delta)])


def random_channel(rng: np.random.Generator, m: int, outputs: int) -> tuple[np.ndarray, float]:
    """A channel and the smallest ε for which it is ε-DP."""
    table = rng.dirichlet(np.full(outputs, rng.uniform(0.5, 5)), size=m).T + 1e-3
    table /= table.sum(axis=0)
    return table, float(np.log(table.max(axis=1) / table.min(axis=1)).max())


def delta_of(table: np.ndarray, epsilon: float) -> float:
    """The smallest δ for which the channel is (ε, δ)-DP."""
    e = math.exp(epsilon)
    gaps = np.maximum(table[:, :, None] - e * table[:, None, :], 0).sum(axis=0)
    return float(gaps.max())


@pytest.mark.parametrize("seed", range(60))
def test_no_channel_passes_a_bound(seed: int) -> None:
    rng = np.random.default_rng(seed)
    m = int(rng.integers(2, 7))
    table, pure = random_channel(rng, m, int(rng.integers(2, 9)))
    prior = rng.dirichlet(np.full(m, rng.uniform(0.2, 3)))
    values = np.arange(m)
    for epsilon in (pure, pure * rng.random()):
        delta = delta_of(table, epsilon) if epsilon < pure else 0.0
        perfect = rad_finite(table, prior)
        assert perfect <= rad_perfect(epsilon, prior, delta) + 1e-12
        assert perfect <= rad_any(epsilon, prior, delta) + 1e-12
        assert rad_finite(table, m) <= rad_uniform(epsilon, m, delta) + 1e-12
        guarantee = ApproxDP(epsilon, delta)
        kappa = float(prior @ prior)
        for eta in range(m):
            success = success_within(np.abs(np.subtract.outer(values, values)), eta)
            low, high = chance_range(prior, success)
            exact = rad_finite(table, prior, success=success)
            assert exact <= rad_no_aux(guarantee, low, high) + 1e-12
            assert exact <= rad_no_aux(guarantee, low, high, kappa) + 1e-12
            assert exact <= rad_approx_no_aux(epsilon, delta, low, high, kappa) + 1e-12
            for aux in (values, values % 2):
                known = rad_finite(table, prior, aux, success)
                assert known <= rad_any_aux(guarantee, prior) + 1e-12


def test_proposition_5_2_as_printed_fails() -> None:
    """Erratum: the second term takes κ⁻, not κ⁺. GRR, m = 2, π = (.9, .1), ε = 5."""
    prior, epsilon = np.array([0.9, 0.1]), 5.0
    e = math.exp(epsilon)
    exact = rad_finite(GRR(epsilon, 2).matrix(), prior)
    assert exact == pytest.approx(0.1776, abs=5e-5)
    printed = min(0.9 * (e - 1), (1 - 0.9) * (e - 1) / e, (e - 1) / (e + 1) * (1 - prior @ prior))
    assert printed == pytest.approx(0.0993, abs=5e-5)
    assert printed < exact
    assert rad_approx_no_aux(epsilon, 0.0, 0.1, 0.9, float(prior @ prior)) >= exact - 1e-15


def test_theorem_5_3_as_printed_fails() -> None:
    """Erratum: R takes δm, not 2δ. Reveal with probability δ: m = 10, δ = 0.05, ε = 0."""
    m, delta = 10, 0.05
    exact = rad_finite(reveal(m, delta), m)
    assert exact == pytest.approx(0.045)

    def printed(epsilon: float) -> float:
        e = math.exp(epsilon)
        tv = (e - 1 + 2 * delta) / (e + 1)
        total = (m - 1) * (e - 1 + 2 * delta) / (e + m - 1)
        used = [total - (k - k / m) * tv for k in range(m + 1)]
        last = max(k for k in range(m + 1) if used[k] >= 0)
        return tv * last * (1 - 1 / m) / m + (used[last] / m if last < m else 0.0)

    assert printed(0.0) == pytest.approx(0.009) and printed(0.0) < exact
    assert rad_perfect(0.0, m, delta) == pytest.approx(exact, abs=1e-12)


@pytest.mark.parametrize("m", [2, 3, 10, 1000])
@pytest.mark.parametrize("epsilon", [0.0, 0.3, 2.0, 8.0])
@pytest.mark.parametrize("delta", [0.0, 1e-5, 0.1])
def test_uniform_prior_is_corollary_5_4(m: int, epsilon: float, delta: float) -> None:
    e = math.exp(epsilon)
    printed = (e - 1 + delta * m) / (e + m - 1) * (m - 1) / m
    assert rad_uniform(epsilon, m, delta) == pytest.approx(printed, rel=1e-9)
    assert rad_perfect(epsilon, m, delta) == pytest.approx(printed, rel=1e-9)
    assert rad_any(epsilon, m, delta) == pytest.approx(printed, rel=1e-9)
    if epsilon > 0:
        assert epsilon_uniform(printed, m, delta) == pytest.approx(epsilon, rel=1e-6)
        assert epsilon_any(printed, m, delta) == pytest.approx(epsilon, rel=1e-6)
    if delta == 0:
        # Eq. 12 of the paper.
        eq12 = math.log((printed * m + 1) / (1 - printed * m / (m - 1)))
        assert epsilon_uniform(printed, m) == pytest.approx(eq12, abs=1e-9)
        assert rad_grr(epsilon, m) == pytest.approx(printed, rel=1e-9)


@pytest.mark.parametrize("seed", range(10))
def test_theorem_5_3_is_its_linear_program(seed: int) -> None:
    """max Σ π x with x ≤ TV (1 − π) and Σ x ≤ G, by a solver."""
    rng = np.random.default_rng(seed)
    m, epsilon, delta = int(rng.integers(2, 9)), float(rng.exponential()), float(rng.random() / 10)
    prior = rng.dirichlet(np.full(m, 0.5))
    e = math.exp(epsilon)
    total = (m - 1) * (e - 1 + delta * m) / (e + m - 1)
    caps = (e - 1 + 2 * delta) / (e + 1) * (1 - prior)
    found = linprog(-prior, A_ub=np.ones((1, m)), b_ub=[total], bounds=[(0, c) for c in caps])
    assert found.fun is not None
    assert rad_perfect(epsilon, prior, delta) == pytest.approx(-found.fun, abs=1e-9)


def test_two_values_recover_theorem_4_2() -> None:
    prior = np.array([0.5, 0.5, 0.0, 0.0])
    for epsilon in (0.1, 1.0, 4.0):
        worst = rad_any_aux(PureDP(epsilon), prior)
        assert rad_perfect(epsilon, prior) == pytest.approx(worst, rel=1e-12)
        assert rad_any_aux(PureDP(epsilon), 2) == pytest.approx(rad_grr(epsilon, 2), rel=1e-12)


def test_total_variation() -> None:
    for epsilon, delta in ((0.5, 0.0), (1.0, 1e-3), (3.0, 0.2)):
        e = math.exp(epsilon)
        assert total_variation_approx(epsilon, delta) == pytest.approx(
            (e - 1 + 2 * delta) / (e + 1)
        )
        curve = ApproxDP(epsilon, delta).total_variation()
        assert total_variation_approx(epsilon, delta) == pytest.approx(curve, rel=1e-12)


@pytest.mark.parametrize("seed", range(10))
def test_composition_holds(seed: int) -> None:
    """T independent runs of one channel against the bound from one run's total variation."""
    rng = np.random.default_rng(seed)
    m = 3
    table, _ = random_channel(rng, m, 3)
    prior = rng.dirichlet(np.ones(m))
    tv = max(np.abs(table[:, i] - table[:, j]).sum() / 2 for i in range(m) for j in range(m))
    many = table
    for steps in (2, 3):
        many = (many[:, None, :] * table[None]).reshape(-1, m)
        assert rad_finite(many, prior, np.arange(m)) <= rad_composed(tv, steps, prior) + 1e-12
    assert rad_composed(tv, 1, prior) == pytest.approx(tv * (1 - prior @ prior))
    assert rad_composed(1.0, 5, 2) == 0.5


def test_gaussian_composition_is_sharper_than_that_of_total_variation() -> None:
    step = GaussianDP(0.1)
    together = GaussianDP(0.1 * math.sqrt(50))
    assert rad_any_aux(together, 8) < rad_composed(step.total_variation(), 50, 8)


class TestDpSgd:
    """Example 5.5."""

    def test_sigma(self) -> None:
        # Replacing a record by another moves a sum of clipped gradients two clipping norms.
        sigma = dp_sgd_sigma(0.1, 100, 10)
        assert sigma == pytest.approx(43.87, abs=0.005)
        assert dp_sgd_rad(sigma, 100, 10) == pytest.approx(0.1, rel=1e-10)
        printed = dp_sgd_sigma(0.1, 100, 10, "add-remove")
        assert printed == pytest.approx(21.93, abs=0.005)
        assert dp_sgd_rad(printed, 100, 10) > 0.19
        with pytest.raises(ValueError, match="relation must be replace-one or add-remove"):
            dp_sgd_sigma(0.1, 100, 10, "swap")

    def test_the_printed_noise_lets_two_opposite_gradients_pass(self) -> None:
        """Ten records at the two ends of the clipping ball: true RAD of the best attack.

        One step with 100 times less noise power; the record is ±C, half the values each.
        """
        for relation, safe in (("replace-one", True), ("add-remove", False)):
            mu = 2 * math.sqrt(100) / dp_sgd_sigma(0.1, 100, 10, relation)
            # Guess one value of the sign seen: right with probability (1/5) Φ(μ/2) if it took
            # part, 1/10 if another draw did.
            gain = norm.cdf(mu / 2) / 5 - 0.1
            best = dp_sgd_rad(dp_sgd_sigma(0.1, 100, 10, relation), 100, 10)
            assert gain <= best and (best <= 0.1 + 1e-9) is safe

    def test_printed_fixed_point(self) -> None:
        m, gamma, steps = 10, 0.1, 100
        sigma = dp_sgd_sigma(gamma, steps, m, "add-remove")
        alpha = min(1 / (m - 1), float(norm.sf(math.sqrt(steps) / (2 * sigma))))
        below = norm.isf(alpha) - norm.isf(m / (m - 1) * gamma + alpha)
        assert sigma == pytest.approx(math.sqrt(steps) / below, rel=1e-9)

    def test_monotone_and_refuses(self) -> None:
        sigmas = [dp_sgd_sigma(g, 100, 10) for g in (0.01, 0.1, 0.5, 0.89)]
        assert sigmas == sorted(sigmas, reverse=True)
        assert dp_sgd_sigma(0.1, 400, 10) == pytest.approx(2 * dp_sgd_sigma(0.1, 100, 10))
        for gamma in (0.0, 0.9, -0.1):
            with pytest.raises(ValueError, match="gamma must be above 0"):
                dp_sgd_sigma(gamma, 100, 10)


@pytest.mark.parametrize("mu", [0.05, 1.0, 6.0])
@pytest.mark.parametrize(("low", "high"), [(0.0, 1.0), (0.1, 0.2), (0.6, 0.9), (1e-9, 1e-6)])
def test_theorem_5_1_maximum(mu: float, low: float, high: float) -> None:
    """The peak of 1 − f(α) − α is known for GDP: at Φ(−μ/2)."""
    at = min(max(float(norm.sf(mu / 2)), low), high)
    exact = float(norm.sf(norm.isf(at) - mu)) - at
    assert rad_no_aux(GaussianDP(mu), low, high) == pytest.approx(
        max(exact, 0), rel=1e-9, abs=1e-15
    )


def test_theorem_5_1_at_a_steep_kink() -> None:
    guarantee = PureDP(30.0)
    assert rad_no_aux(guarantee, 0, 1) == pytest.approx(guarantee.total_variation(), rel=1e-12)


@pytest.mark.parametrize("epsilon", [1e-12, 1e-6])
def test_small_epsilon_keeps_its_digits(epsilon: float) -> None:
    """To first order, Corollary 5.4 is ε (m − 1)/m² and Theorem 4.2 ε/2 (m − 1)/m."""
    assert rad_uniform(epsilon, 10) == pytest.approx(epsilon * 9 / 100, rel=1e-5)
    assert total_variation_approx(epsilon) == pytest.approx(epsilon / 2, rel=1e-5)
    assert rad_perfect(epsilon, 10) == pytest.approx(rad_grr(epsilon, 10), rel=1e-12)
    assert epsilon_uniform(rad_uniform(epsilon, 10), 10) == pytest.approx(epsilon, rel=1e-9)


def test_limits_and_monotonicity() -> None:
    prior = np.array([0.6, 0.3, 0.1])
    assert rad_any(0.0, prior) == 0
    assert rad_any(math.inf, prior) == pytest.approx(1 - prior @ prior)
    assert rad_any(2.0, [1.0, 0.0]) == pytest.approx(0, abs=1e-15)
    assert rad_no_aux(PureDP(1.0), 1.0, 1.0, 1.0) == 0
    for delta in (0.0, 0.01):
        grid = [rad_any(e, prior, delta) for e in np.linspace(0, 15, 300)]
        assert (np.diff(grid) >= -1e-15).all()
    assert epsilon_any(0.0, prior) == 0 and epsilon_any(0.6, prior) == math.inf
    assert epsilon_any(0.005, prior, 0.01) == 0
    gamma = rad_any(1.7, prior, 0.01)
    assert epsilon_any(gamma, prior, 0.01) == pytest.approx(1.7, rel=1e-9)
    assert epsilon_uniform(0.9, 10) == math.inf and epsilon_uniform(-0.2, 10) == 0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: rad_any_aux(PureDP(1.0, Relation.ADD_REMOVE), 3), "replace-one"),
        (lambda: rad_no_aux(PureDP(1.0, Relation.ADD_REMOVE), 0, 1), "replace-one"),
        (lambda: rad_no_aux(PureDP(1.0), 0.5, 0.1), "smallest must be at most largest"),
        (lambda: rad_approx_no_aux(1.0, 0.0, 0.5, 0.1), "smallest must be at most largest"),
        (lambda: rad_any(1.0, 3, 1.0), "delta must be in"),
        (lambda: rad_composed(1.5, 2, 3), "total_variation must be in"),
        (lambda: epsilon_any(2.0, 3), "gamma must be an advantage"),
        (lambda: FiniteChannel(np.ones((2, 2)), np.array([0.5, 0.5])), "columns that sum to 1"),
    ],
)
def test_refusals(call: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()
