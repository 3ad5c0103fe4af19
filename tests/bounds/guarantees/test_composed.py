"""Compositions through privacy loss distributions."""

from __future__ import annotations

import math
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
import riskcal.analysis as riskcal
from dp_accounting.pld import privacy_loss_distribution as losses

from reconbench.bounds import ZCDP, GaussianDP, LaplaceDP, PureDP, Relation, as_replace_one
from reconbench.bounds.guarantees.composed import (
    DiscreteGaussianRelease,
    GaussianRelease,
    LaplaceRelease,
    composed,
    dp_sgd,
)
from reconbench.bounds.guarantees.subsampled_renyi import dp_sgd_renyi
from reconbench.missing_package import MissingPackage

ALPHA = np.array([1e-6, 1e-3, 0.05, 0.3, 0.8])


def test_gaussians_compose_as_gaussian_dp() -> None:
    releases = [GaussianRelease(2.0, count=3), GaussianRelease(5.0, count=4)]
    guarantee = composed(releases, Relation.REPLACE_ONE, discretisation=1e-3)
    exact = GaussianDP(math.sqrt(3 / 4 + 4 / 25))
    gap = guarantee.power(ALPHA) - exact.power(ALPHA)
    assert np.all(gap >= -1e-9)
    assert np.all(gap <= 1e-4)
    assert guarantee.epsilon_at(1e-5) == pytest.approx(exact.epsilon_at(1e-5), abs=0.01)
    assert guarantee.epsilon_at(1e-5) >= exact.epsilon_at(1e-5)


def test_laplace_compositions_lie_between_one_query_and_adding_up() -> None:
    one = composed([LaplaceRelease(5.0)], Relation.REPLACE_ONE)
    np.testing.assert_allclose(one.power(ALPHA), LaplaceDP(0.2).power(ALPHA), atol=1e-4)
    ten = composed([LaplaceRelease(5.0, count=10)], Relation.REPLACE_ONE)
    assert np.all(ten.power(ALPHA) >= one.power(ALPHA))
    assert np.all(ten.power(ALPHA) <= PureDP(2.0).power(ALPHA) + 1e-9)
    assert ten.total_variation() < 0.7 * PureDP(2.0).total_variation()


def test_ten_laplace_queries_by_simulation() -> None:
    """The likelihood-ratio test meets the curve; on half the noise it passes it.

    False-alarm rate 7e-6 a comparison.
    """
    rng = np.random.default_rng(51)
    count, scale, trials = 10, 5.0, 100_000
    guarantee = composed([LaplaceRelease(scale, count=count)], Relation.REPLACE_ONE)

    def rates(width: float) -> tuple[float, float]:
        def loss(shift: float) -> Any:
            x = rng.laplace(shift, width, (trials, count))
            return (np.abs(x) - np.abs(x - 1)).sum(axis=1) / width

        return float(np.mean(loss(0.0) > 0.2)), float(np.mean(loss(1.0) > 0.2))

    error = 1 / math.sqrt(trials)
    false_positive, true_positive = rates(scale)
    assert true_positive == pytest.approx(float(guarantee.power(false_positive)), abs=4.5 * error)
    false_positive, true_positive = rates(scale / 2)
    assert true_positive > float(guarantee.power(false_positive)) + 4.5 * error


def test_census_noise_is_close_to_gaussian_dp() -> None:
    """Discrete Gaussians: ρ = 1/(2σ²)-zCDP each, and for large σ as good as continuous noise."""
    guarantee = composed(
        [DiscreteGaussianRelease(8.0, count=16)], Relation.REPLACE_ONE, discretisation=1e-3
    )
    limit = ZCDP(16 / (2 * 8.0**2))
    assert guarantee.epsilon_at(1e-10) <= limit.epsilon_at(1e-10)
    gap = guarantee.power(ALPHA) - limit.gaussian().power(ALPHA)
    assert np.all(np.abs(gap) < 0.01)


def test_subsampling_agrees_with_riskcal() -> None:
    sigma, share, steps = 0.8, 0.05, 40
    guarantee = dp_sgd(sigma, share, steps, discretisation=1e-3)
    pld = losses.from_gaussian_mechanism(
        sigma, sampling_prob=share, value_discretization_interval=1e-3
    ).self_compose(steps)
    theirs = riskcal.get_beta_from_pld(pld, alpha=ALPHA)
    np.testing.assert_allclose(guarantee.tradeoff(ALPHA), theirs, atol=1e-5)
    assert guarantee.total_variation() == pytest.approx(riskcal.get_advantage_from_pld(pld))
    for delta in (1e-8, 1e-5, 1e-2):
        expected = pld.get_epsilon_for_delta(delta)
        assert guarantee.epsilon_at(delta) == pytest.approx(expected, rel=1e-3)
        assert guarantee.epsilon_at(delta) >= expected - 1e-9
    assert guarantee.relation is Relation.ADD_REMOVE
    assert as_replace_one(guarantee).total_variation() > guarantee.total_variation()


def test_renyi_accounting_is_looser() -> None:
    orders = np.array([1.25, 1.5, 2.0, 4.0, 8.0, 16.0, 32.0])
    renyi, exact = dp_sgd_renyi(0.8, 0.05, 40, orders), dp_sgd(0.8, 0.05, 40, discretisation=1e-3)
    assert np.all(renyi.power(ALPHA) >= exact.power(ALPHA) - 1e-6)
    assert renyi.total_variation() > exact.total_variation()


def test_hardly_any_noise_promises_nothing() -> None:
    guarantee = composed([GaussianRelease(0.1)], Relation.REPLACE_ONE, discretisation=1e-2)
    assert guarantee.total_variation() == pytest.approx(1.0, abs=1e-5)


def test_bad_input_is_refused() -> None:
    with pytest.raises(ValueError, match=r"add-or-remove-one for a subsampled.*as_replace_one"):
        composed([GaussianRelease(1.0, 0.1)], Relation.REPLACE_ONE)
    with pytest.raises(ValueError, match="at least one release"):
        composed([], Relation.REPLACE_ONE)
    with pytest.raises(ValueError, match="count must be an integer >= 1"):
        composed([LaplaceRelease(1.0, count=0)], Relation.REPLACE_ONE)
    with pytest.raises(ValueError, match=r"sampling_probability must be in \(0, 1\]"):
        composed([LaplaceRelease(1.0, 0.0)], Relation.ADD_REMOVE)
    with pytest.raises(ValueError, match="noise_multiplier must be > 0"):
        composed([GaussianRelease(-1.0)], Relation.REPLACE_ONE)


def test_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "dp_accounting", None)
    with pytest.raises(MissingPackage, match=r"pip install 'reconbench\[accounting\]'"):
        dp_sgd_renyi(1.0, 0.1, 10, np.array([2.0]))
    assert composed([LaplaceRelease(1.0, 0.1, 10)], Relation.ADD_REMOVE).epsilon_at(0.1) > 0


def test_importing_bounds_does_not_load_dp_accounting() -> None:
    module = "reconbench.bounds.guarantees.composed"
    code = f"import sys, {module}; sys.exit('dp_accounting' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
