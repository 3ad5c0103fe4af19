from __future__ import annotations

from itertools import combinations
from math import inf, sqrt
from typing import Any

import numpy as np
import pytest
from scipy.stats import kstest

from reconbench.bounds import GaussianDP
from reconbench.datasets import BayNet, DomainError, Table
from reconbench.datasets.shipped import acs
from reconbench.mechanisms import MechanismError
from reconbench.mechanisms.marginals import marginal_counts
from reconbench.mechanisms.synthetic.pgm import PrivatePGM

STRUCTURES = ("independent", "tree", "star", "a+b+c,c+d,e")


def build(net: BayNet, epsilon: float = 3.0, **options: Any) -> PrivatePGM:
    return PrivatePGM.for_budget(net.domain, ("c",), epsilon, 1e-5, prior=net, **options)


def test_what_is_measured_is_public(toy_net: BayNet) -> None:
    """Sets depend on options and the prior, not on the table."""
    assert build(toy_net, structure="independent").sets == ((0,), (1,), (2,), (3,), (4,))
    assert len(build(toy_net).sets) == 4
    assert build(toy_net, structure="star").sets == ((0, 2), (1, 2), (2, 3), (2, 4))
    assert (
        build(toy_net, structure="star", center="a+e").sets
        == build(toy_net, structure="star", center="e + a").sets
    )
    mechanism = build(toy_net, structure="c+a,b+d,e")
    assert mechanism.sets == ((0, 2), (1, 3), (4,)) and mechanism.measures
    release = mechanism.release(
        toy_net.sample(9, np.random.default_rng(0)), np.random.default_rng(1)
    )
    assert release.measurements is not None
    assert release.measurements.sets == mechanism.sets
    assert not release.measurements.adaptive
    assert release.measurements.noise_sds == (mechanism.noise_sd,) * 3


@pytest.mark.parametrize("structure", ["independent", "tree", "star"])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 10.0, 100.0])
def test_calibration_against_dp_accounting(epsilon: float, structure: str) -> None:
    """T sets of sensitivity √2 with our noise spend exactly (ε, δ); half the noise does not."""
    from dp_accounting.pld.privacy_loss_mechanism import GaussianPrivacyLoss

    net = acs()
    mechanism = PrivatePGM.for_budget(
        net.domain, ("SEX",), epsilon, 1e-5, structure=structure, prior=net
    )
    sensitivity = sqrt(2 * len(mechanism.sets))
    theirs = GaussianPrivacyLoss(mechanism.noise_sd, sensitivity=sensitivity)
    assert theirs.get_delta_for_epsilon(epsilon) == pytest.approx(1e-5, rel=1e-6)
    half = GaussianPrivacyLoss(mechanism.noise_sd / 2, sensitivity=sensitivity)
    assert half.get_delta_for_epsilon(epsilon) > 2e-5
    assert mechanism.guarantee == GaussianDP(sensitivity / mechanism.noise_sd)


@pytest.mark.parametrize("structure", STRUCTURES)
def test_sensitivity_by_enumeration(toy_net: BayNet, structure: str) -> None:
    """Of all ways to replace one of three records none moves the counts by more than √(2T)."""
    mechanism = build(toy_net, inf, structure=structure)
    everyone = Table.of_all_values(toy_net.domain).codes
    others = toy_net.sample(2, np.random.default_rng(0)).codes

    def count(record: int) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        table = Table(toy_net.domain, np.vstack([others, everyone[record]]))
        return np.concatenate([marginal_counts(table, c).ravel() for c in mechanism.sets])

    counts = np.stack([count(record) for record in range(len(everyone))])
    squares = ((counts[:, None] - counts[None]) ** 2).sum(axis=-1)
    assert squares.max() == 2 * len(mechanism.sets)


def test_noise_is_gaussian_of_the_stated_scale(toy_net: BayNet) -> None:
    """Kolmogorov-Smirnov, false alarms 1e-6; noise of half the scale is rejected."""
    mechanism = build(toy_net, 1.0)
    rng = np.random.default_rng(1)
    table = toy_net.sample(20, rng)
    exact = np.concatenate([marginal_counts(table, c).ravel() for c in mechanism.sets])
    noise = np.concatenate(
        [
            np.concatenate([a.ravel() for a in mechanism.learn(table, rng)[0].answers]) - exact
            for _ in range(60)
        ]
    )
    assert kstest(noise / mechanism.noise_sd, "norm").pvalue > 1e-6
    assert kstest(0.5 * noise / mechanism.noise_sd, "norm").pvalue < 1e-6


def test_without_noise_there_is_no_guarantee(toy_net: BayNet) -> None:
    mechanism = build(toy_net, inf)
    assert mechanism.noise_sd == 0 and mechanism.guarantee == GaussianDP(inf)
    table = toy_net.sample(40, np.random.default_rng(0))
    measured, model = mechanism.learn(table, np.random.default_rng(1))
    for columns, answer in zip(measured.sets, measured.answers, strict=True):
        np.testing.assert_array_equal(answer, marginal_counts(table, columns))
        np.testing.assert_allclose(model.marginal(columns), answer / 40, atol=1e-9)


def find_distance(first: Table, second: Table) -> float:
    """Mean total variation of two tables' two-way marginals."""
    return float(
        np.mean(
            [
                np.abs(
                    marginal_counts(first, pair) / len(first)
                    - marginal_counts(second, pair) / len(second)
                ).sum()
                / 2
                for pair in combinations(range(len(first.domain)), 2)
            ]
        )
    )


def test_rows(toy_net: BayNet) -> None:
    """A multiple of the records or a number; more rows follow the measurements more closely."""
    table = toy_net.sample(30, np.random.default_rng(0))
    releases = {
        rows: build(toy_net, 10.0, rows=rows).release(table, np.random.default_rng(1))
        for rows in ("n", "50n", 7, "1000n")
    }
    assert [len(each.table) for each in releases.values()] == [30, 1_500, 7, 30_000]
    first = releases["n"].measurements
    assert first is not None and all(each.records == 30 for each in releases.values())
    for release in releases.values():
        assert release.measurements is not None
        for one, other in zip(first.answers, release.measurements.answers, strict=True):
            np.testing.assert_array_equal(one, other)
    _, model = build(toy_net, 10.0).learn(table, np.random.default_rng(1))
    limit = model.sample(300_000, np.random.default_rng(2))
    distances = [find_distance(releases[rows].table, limit) for rows in ("n", "50n", "1000n")]
    assert distances[0] > 3 * distances[1] > 6 * distances[2] and distances[2] < 0.02


def test_a_release_depends_on_its_generator_alone(toy_net: BayNet) -> None:
    table, mechanism = toy_net.sample(30, np.random.default_rng(0)), build(toy_net)
    first, same, other = (mechanism.release(table, np.random.default_rng(s)) for s in (1, 1, 2))
    assert first.table == same.table and first.table != other.table


def test_utility_grows_with_the_budget() -> None:
    """Two-way marginals of 2,000 ACS records, up to what a tree leaves out."""
    net = acs()
    table = net.sample(2_000, np.random.default_rng(0))
    distances = [
        find_distance(
            table,
            PrivatePGM.for_budget(net.domain, ("SEX",), epsilon, 1e-5, rows="10n", prior=net)
            .release(table, np.random.default_rng(1))
            .table,
        )
        for epsilon in (0.1, 1.0, 10.0, inf)
    ]
    assert distances == sorted(distances, reverse=True)
    assert distances[0] > 0.3 and distances[-1] < 0.04


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"structure": "a+x,b"}, "unknown column 'x'"),
        ({"structure": "star", "center": "x"}, "unknown column 'x'"),
        ({"structure": "tree", "center": "a"}, "center is for structure star, which 'tree' is not"),
        ({"rows": 0}, "rows is 0"),
        ({"rows": "many"}, "rows must be a whole number"),
    ],
)
def test_bad_options(toy_net: BayNet, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        build(toy_net, **options)


def test_structures_too_dense_are_refused_before_any_release() -> None:
    net = acs()
    names = ("AGEP", "SCHL", "RELP", "ESP", "RAC1P", "MAR", "CIT")
    dense = [f"{a}+{b}" for a, b in combinations(names, 2)]
    rest = [name for name in net.domain.names if name not in names]
    with pytest.raises(MechanismError, match=r"too dense for exact inference: .* \(width 7\)"):
        PrivatePGM.for_budget(
            net.domain, ("SEX",), 1.0, 1e-5, structure=",".join(dense + rest), prior=net
        )


def test_a_tree_needs_a_prior_and_a_table_needs_records(toy_net: BayNet) -> None:
    with pytest.raises(MechanismError, match="structure tree is grown from a prior"):
        PrivatePGM.for_budget(toy_net.domain, ("c",), 1.0, 1e-5)
    empty = Table(toy_net.domain, np.empty((0, 5), dtype=np.int64))
    with pytest.raises(DomainError, match="no records"):
        build(toy_net).release(empty, np.random.default_rng(0))
