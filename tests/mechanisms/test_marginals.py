from __future__ import annotations

from itertools import combinations, product
from math import comb, inf, sqrt
from typing import Any

import numpy as np
import pytest
from scipy.stats import kstest

from reconbench.bounds import GaussianDP
from reconbench.datasets import BayNet, Table
from reconbench.datasets.shipped import acs, fire
from reconbench.mechanisms import (
    ExactMarginals,
    GaussianMarginals,
    MarginalsRelease,
    MechanismError,
    Workload,
)
from reconbench.mechanisms.marginals import marginal_counts, workload


@pytest.mark.parametrize("k", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("hidden", [("c",), ("a", "d"), ("a", "b", "c", "d")])
def test_workload_counts_what_touches_a_hidden_column(
    toy_net: BayNet, hidden: tuple[str, ...], k: int
) -> None:
    sets = workload(toy_net.domain, hidden, k)
    assert len(sets) == len(set(sets)) == comb(5, k) - comb(5 - len(hidden), k)
    secret = set(toy_net.domain.positions(hidden))
    assert all(secret & set(columns) and len(columns) == k for columns in sets)


@pytest.mark.parametrize("k", [1, 2, 3, 4, 5])
def test_the_whole_workload_is_every_set(toy_net: BayNet, k: int) -> None:
    sets = workload(toy_net.domain, ("c",), k, Workload.ALL)
    assert sets == tuple(combinations(range(5), k))
    assert set(workload(toy_net.domain, ("c",), k)) <= set(sets)


def test_counts_match_a_loop(toy_net: BayNet) -> None:
    table = toy_net.sample(50, np.random.default_rng(0))
    counts = marginal_counts(table, (0, 2, 3))
    for cell in product(range(3), range(4), range(2)):
        assert counts[cell] == np.all(table.codes[:, [0, 2, 3]] == cell, axis=1).sum()


@pytest.mark.parametrize(
    ("net", "targets", "epsilon", "multiplier"),
    [
        (acs(), ("SEX",), 0.5, 72.055),
        (acs(), ("SEX",), 1, 38.228),
        (acs(), ("SEX",), 3, 14.249),
        (acs(), ("SEX",), 10, 5.122),
        (fire(), ("ALS Unit",), 0.5, 42.191),
        (fire(), ("ALS Unit",), 1, 22.384),
        (fire(), ("ALS Unit",), 3, 8.344),
        (fire(), ("ALS Unit",), 10, 2.999),
    ],
)
def test_known_multipliers(
    net: BayNet, targets: tuple[str, ...], epsilon: float, multiplier: float
) -> None:
    mechanism = GaussianMarginals.for_budget(net.domain, targets, epsilon, 1e-5)
    assert mechanism.sigma == pytest.approx(multiplier, abs=6e-4)
    assert mechanism.noise_sd == pytest.approx(sqrt(2) * mechanism.sigma)


@pytest.mark.parametrize("sets", ["touching", "all"])
@pytest.mark.parametrize("epsilon", [0.01, 0.1, 1.0, 10.0, 100.0])
def test_calibration_against_dp_accounting(epsilon: float, sets: str) -> None:
    """T releases of sensitivity √2 with our noise spend exactly (ε, δ), by another accountant."""
    from dp_accounting.pld import privacy_loss_mechanism

    mechanism = GaussianMarginals.for_budget(acs().domain, ("SEX",), epsilon, 1e-5, workload=sets)
    assert len(mechanism.workload) == comb(16, 3) - (comb(15, 3) if sets == "touching" else 0)
    sensitivity = sqrt(2) * sqrt(len(mechanism.workload))
    theirs = privacy_loss_mechanism.GaussianPrivacyLoss(mechanism.noise_sd, sensitivity=sensitivity)
    assert theirs.get_delta_for_epsilon(epsilon) == pytest.approx(1e-5, rel=1e-6)
    half = privacy_loss_mechanism.GaussianPrivacyLoss(
        mechanism.noise_sd / 2, sensitivity=sensitivity
    )
    assert half.get_delta_for_epsilon(epsilon) > 2e-5


@pytest.mark.parametrize("sets", ["touching", "all"])
def test_sensitivity_is_the_one_calibrated_for(toy_net: BayNet, sets: str) -> None:
    """Replacing one record moves all released counts by √(2T) at most, and somewhere exactly."""
    mechanism = ExactMarginals.for_budget(toy_net.domain, ("c",), inf, 1e-5, k=2, workload=sets)
    rng = np.random.default_rng(0)
    largest = 0.0
    for _ in range(200):
        table = toy_net.sample(10, rng)
        codes = table.codes.copy()
        codes[0] = toy_net.sample(1, rng).codes[0]
        pair = [
            np.concatenate([a.ravel() for a in mechanism.release(t, rng).answers])
            for t in (table, Table(toy_net.domain, codes))
        ]
        largest = max(largest, float(((pair[0] - pair[1]) ** 2).sum()))
    assert largest == 2 * len(mechanism.workload)


def test_noise_is_gaussian_of_the_stated_scale(toy_net: BayNet) -> None:
    """Kolmogorov-Smirnov, false alarms 1e-6; noise at half the scale is rejected."""
    mechanism = GaussianMarginals.for_budget(toy_net.domain, ("c",), 1.0, 1e-5)
    rng = np.random.default_rng(1)
    table = toy_net.sample(20, rng)
    exact = np.concatenate([marginal_counts(table, c).ravel() for c in mechanism.workload])
    noise = np.concatenate(
        [
            np.concatenate([a.ravel() for a in mechanism.release(table, rng).answers]) - exact
            for _ in range(50)
        ]
    )
    assert kstest(noise / mechanism.noise_sd, "norm").pvalue > 1e-6
    assert kstest(0.5 * noise / mechanism.noise_sd, "norm").pvalue < 1e-6


def test_the_whole_workload_costs_noise_and_no_guarantee(toy_net: BayNet) -> None:
    """The same μ on T = C(5, 2) instead of C(5, 2) − C(4, 2) marginals: σ grows by √(10/4)."""
    some, all_ = (
        GaussianMarginals.for_budget(toy_net.domain, ("c",), 1.0, 1e-5, k=2, workload=sets)
        for sets in ("touching", "all")
    )
    assert some == GaussianMarginals.for_budget(toy_net.domain, ("c",), 1.0, 1e-5, k=2)
    assert all_.guarantee == some.guarantee and all_.budget == some.budget
    assert all_.sigma / some.sigma == pytest.approx(sqrt(10 / 4))
    assert all_.facts()["mu"] == pytest.approx(sqrt(10) / all_.sigma)


def test_the_part_of_a_release_that_touches_hidden_columns(toy_net: BayNet) -> None:
    rng = np.random.default_rng(0)
    table = toy_net.sample(20, rng)
    whole = GaussianMarginals.for_budget(
        toy_net.domain, ("a", "c"), 1.0, 1e-5, workload="all"
    ).release(table, rng)
    part = whole.touching(("a", "c"))
    assert part.workload == workload(toy_net.domain, ("a", "c"), 3) != whole.workload
    assert part.noise_sd == whole.noise_sd and part.k == whole.k
    kept = dict(zip(whole.workload, whole.answers, strict=True))
    for columns, answer in zip(part.workload, part.answers, strict=True):
        assert answer is kept[columns]
    assert part.touching(("a", "c")) is part
    blind = MarginalsRelease(whole.domain, ((1,),), (np.zeros(2),), 1.0)
    with pytest.raises(MechanismError, match="no released marginal holds a column of a, c"):
        blind.touching(("a", "c"))


def test_infinite_epsilon_is_exact(toy_net: BayNet) -> None:
    table = toy_net.sample(20, np.random.default_rng(0))
    noiseless = GaussianMarginals.for_budget(toy_net.domain, ("c",), inf, 1e-5)
    exact = ExactMarginals.for_budget(toy_net.domain, ("c",), inf, 0.0)
    for mechanism in (noiseless, exact):
        assert mechanism.sigma == 0 and mechanism.guarantee == GaussianDP(inf)
        release = mechanism.release(table, np.random.default_rng(0))
        for columns, answer in zip(release.workload, release.answers, strict=True):
            assert np.array_equal(answer, marginal_counts(table, columns))


def test_guarantee_and_budget(toy_net: BayNet) -> None:
    mechanism = GaussianMarginals.for_budget(toy_net.domain, ("c",), 1.0, 1e-5)
    assert mechanism.guarantee.mu == pytest.approx(0.268051, abs=1e-6)
    assert mechanism.guarantee.delta_at(1.0) == pytest.approx(1e-5, rel=1e-9)
    assert (mechanism.budget.epsilon, mechanism.budget.delta) == (1.0, 1e-5)
    assert mechanism.guarantee.relation.value == "replace-one"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"k": 6}, "k must be between 1 and the 5 columns, got 6"),
        ({"k": 0}, "k must be between 1"),
        ({"epsilon": 0.0}, "epsilon must be > 0"),
        ({"epsilon": -1.0}, "epsilon must be > 0"),
        ({"epsilon": float("nan")}, "epsilon"),
        ({"delta": 1.0}, "delta"),
        ({"delta": -0.1}, "delta"),
        ({"delta": 0.0}, "needs|must be > 0"),
        ({"hidden": ()}, "at least one column must be hidden"),
        ({"hidden": ("z",)}, "unknown column 'z'"),
        ({"workload": "some"}, "gaussian-marginals: workload must be 'touching' or 'all', got 'so"),
        ({"workload": 3}, "workload must be 'touching' or 'all', got 3"),
    ],
)
def test_bad_mechanisms(toy_net: BayNet, arguments: dict[str, Any], message: str) -> None:
    good = {"hidden": ("c",), "epsilon": 1.0, "delta": 1e-5, "k": 3}
    with pytest.raises(ValueError, match=message):
        GaussianMarginals.for_budget(toy_net.domain, **{**good, **arguments})


def test_exact_marginals_refuse_a_finite_epsilon(toy_net: BayNet) -> None:
    with pytest.raises(MechanismError, match="epsilon must be inf, got 1"):
        ExactMarginals.for_budget(toy_net.domain, ("c",), 1.0, 1e-5)


def test_wrong_and_empty_tables(toy_net: BayNet) -> None:
    mechanism = GaussianMarginals.for_budget(toy_net.domain, ("c",), 1.0, 1e-5)
    rng = np.random.default_rng(0)
    with pytest.raises(ValueError, match="not those the mechanism was built for"):
        mechanism.release(toy_net.sample(3, rng).project(["a", "c"]), rng)
    with pytest.raises(ValueError, match="n must be at least 1"):
        mechanism.release(Table(toy_net.domain, np.empty((0, 5), dtype=np.int64)), rng)


def test_too_many_cells_are_refused(toy_net: BayNet, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("reconbench.mechanisms.marginals.MAX_CELLS", 10)
    with pytest.raises(MechanismError, match="lower k or coarsen"):
        GaussianMarginals.for_budget(toy_net.domain, ("c",), 1.0, 1e-5)
