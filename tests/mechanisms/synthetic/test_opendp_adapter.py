"""What the adapter of OpenDP computes itself: accounting, and reading what OpenDP releases."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from importlib.metadata import PackageNotFoundError
from itertools import combinations
from math import inf, nextafter
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from reconbench.bounds import ZCDP, Relation
from reconbench.datasets import BayNet, Table
from reconbench.mechanisms import MechanismError
from reconbench.mechanisms.marginals import marginal_counts
from reconbench.mechanisms.synthetic import opendp_adapter
from reconbench.mechanisms.synthetic.opendp_adapter import (
    OpenDPAIM,
    OpenDPMST,
    convert_rho,
    find_largest_rho,
    read_measurements,
    read_model,
    round_rho,
)

Floats = npt.NDArray[np.float64]
BOTH = (OpenDPMST, OpenDPAIM)


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if opendp[mbi] were here."""
    monkeypatch.setattr(opendp_adapter, "version", lambda name: "1.1.0")


def test_a_replacement_moves_counts_by_sqrt_2_and_scores_by_2(toy_net: BayNet) -> None:
    """By enumeration, against 1 and 1 for adding a record: ρ grows by 2 and by 4."""
    everyone = Table.of_all_values(toy_net.domain).codes
    some = toy_net.sample(2, np.random.default_rng(0)).codes
    rng = np.random.default_rng(1)
    model = rng.dirichlet(np.ones(12)).reshape(3, 4) * 3

    def count(codes: npt.NDArray[np.int64]) -> Floats:
        return marginal_counts(Table(toy_net.domain, codes), (0, 2))

    def score(counts: Floats) -> float:
        return float(np.abs(counts - model).sum())

    replaced = [count(np.vstack([some, each])) for each in everyone]
    pairs = list(combinations(replaced, 2))
    assert max(float(((a - b) ** 2).sum()) for a, b in pairs) == 2
    assert 1 < max(abs(score(a) - score(b)) for a, b in pairs) <= 2
    alone = count(some)
    assert {float(((each - alone) ** 2).sum()) for each in replaced} == {1.0}
    assert max(abs(score(each) - score(alone)) for each in replaced) <= 1


def test_the_whole_release_costs_2_1_times_as_much() -> None:
    """Half on columns; of the other half 0.9 on counts and 0.1 on choices."""
    columns, pairs, choices = 0.5, 0.45, 0.05
    assert convert_rho(3.0) == pytest.approx(3 * (2 * (columns + pairs) + 4 * choices))
    # As two steps of adding and removing it would be 4ρ, as in OpenDP's own unit of replacements.
    assert convert_rho(1.0) < 4.0


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 10.0, 100.0])
def test_the_budget_is_used_up_and_kept(installed: None, toy_net: BayNet, epsilon: float) -> None:
    rho = find_largest_rho(epsilon, 1e-5)
    assert ZCDP(rho).delta_at(epsilon) <= 1e-5 < ZCDP(rho * 1.001).delta_at(epsilon)
    for cls in BOTH:
        built = cls.for_budget(toy_net.domain, ("c",), epsilon, 1e-5)
        assert built.guarantee.relation is Relation.REPLACE_ONE
        assert built.guarantee.rho == pytest.approx(rho) and built.guarantee.rho <= rho
        assert built.guarantee.delta_at(epsilon) <= 1e-5
        assert built.facts() == {"rho": built.guarantee.rho, "opendp_rho": built.rho}


@pytest.mark.parametrize("choices", [1, 4, 15, 23])
def test_rho_can_be_divided(choices: int) -> None:
    """The parts, added upwards as OpenDP adds them, stay within the share."""
    rho = round_rho(0.8477882689914138, choices)
    assert 0.8477882689914138 * (1 - 1e-7) < rho <= 0.8477882689914138
    rounds = nextafter(nextafter(rho - rho * 0.5, -inf), -inf)
    share = nextafter(nextafter(rounds - rounds * 0.9, -inf), -inf)
    total = 0.0
    for _ in range(choices):
        part = nextafter(share / choices, -inf)
        exact = Fraction(total) + Fraction(part)
        total = total + part if Fraction(total + part) >= exact else nextafter(total + part, inf)
    assert total <= share


@dataclass
class Measured:
    """As OpenDP's LinearMeasurement."""

    clique: tuple[str, ...]
    noisy_measurement: Floats
    stddev: float


@dataclass
class Values:
    values: Floats


class Potentials(dict[Any, Any]):
    """As the CliqueVector of mbi 1."""

    @property
    def cliques(self) -> list[Any]:
        return list(self)


def test_measurements_are_read_without_the_label_for_no_value(toy_net: BayNet) -> None:
    domain = toy_net.domain  # sizes 3, 2, 4, 2, 3
    pair = np.arange(20.0).reshape(5, 4)  # columns c and a, each with one label more
    found = read_measurements(
        [Measured(("c2", "c0"), pair.ravel(), 2.5), Measured(("c1",), np.array([7.0, 8, 9]), 1.0)],
        domain,
        30,
    )
    assert found.sets == ((0, 2), (1,)) and found.noise_sds == (2.5, 1.0)
    assert found.adaptive and found.records == 30
    np.testing.assert_array_equal(found.answers[0], pair[:4, :3].T)
    np.testing.assert_array_equal(found.answers[1], [7.0, 8.0])


def test_the_model_is_read_given_that_every_column_has_a_value(toy_net: BayNet) -> None:
    """Against the joint distribution of all columns, conditioned by leaving cells out."""
    rng = np.random.default_rng(0)
    first, second = rng.normal(size=(5, 4)), rng.normal(size=(3, 5))
    found = read_model(
        Potentials({("c2", "c0"): Values(first), ("c1", "c2"): Values(second)}), toy_net.domain
    )
    joint = np.exp(first.T[:, None, :] + second[None, :, :])[:3, :2, :4]  # a, b, c
    joint /= joint.sum()
    np.testing.assert_allclose(found.marginal((0, 2)), joint.sum(axis=1))
    np.testing.assert_allclose(found.marginal((1, 2)), joint.sum(axis=0))
    np.testing.assert_allclose(found.marginal((3,)), 0.5)


def test_one_process_gives_one_release(
    installed: None, monkeypatch: pytest.MonkeyPatch, toy_net: BayNet
) -> None:
    """OpenDP's noise has no seed: what was released once is kept by table and seed."""
    model = read_model(Potentials({("c0",): Values(np.zeros(4))}), toy_net.domain)
    measured = read_measurements([Measured(("c0",), np.ones(4), 1.0)], toy_net.domain, 5)
    calls = []

    def measure(self: object, table: Table) -> object:
        calls.append(len(table))
        return measured, model

    monkeypatch.setattr(OpenDPMST, "_measure", measure)
    table = toy_net.sample(5, np.random.default_rng(0))
    mst = OpenDPMST.for_budget(toy_net.domain, ("c",), 1.0, 1e-5, rows="3n")
    first, same, other = (mst.release(table, np.random.default_rng(s)) for s in (1, 1, 2))
    assert calls == [5, 5] and len(first.table) == 15
    assert first.table == same.table and first.table != other.table


@pytest.mark.parametrize("cls", BOTH)
def test_what_is_missing_is_named(
    monkeypatch: pytest.MonkeyPatch, toy_net: BayNet, cls: type[OpenDPMST]
) -> None:
    def build(epsilon: float = 1.0, delta: float = 1e-5, **options: Any) -> object:
        return cls.for_budget(toy_net.domain, ("c",), epsilon, delta, **options)

    def missing(name: str) -> str:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(opendp_adapter, "version", missing)
    with pytest.raises(MechanismError, match=r"pip install 'reconbench\[synth-opendp\]' \(opendp"):
        build()
    monkeypatch.setattr(opendp_adapter, "version", lambda name: "2.0.0")
    with pytest.raises(MechanismError, match=r"environment of its own: .*mbi 2\.0\.0 is"):
        build()
    monkeypatch.setattr(opendp_adapter, "version", lambda name: "1.1.0")
    with pytest.raises(MechanismError, match=f"{cls.name} always adds noise"):
        build(inf)
    with pytest.raises(MechanismError, match="delta must be greater than 0"):
        build(delta=0.0)
    with pytest.raises(MechanismError, match="rows is 0"):
        build(rows=0)


def test_aim_has_a_degree(installed: None, toy_net: BayNet) -> None:
    with pytest.raises(MechanismError, match="degree must be between 1 and the 5 columns, got 6"):
        OpenDPAIM.for_budget(toy_net.domain, ("c",), 1.0, 1e-5, degree=6)
