"""Networks to pgmpy and back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from reconbench.datasets import Attribute, BayNet, Domain, DomainError
from reconbench.datasets.network.pgmpy_bridge import from_pgmpy, quiet_pgmpy, to_pgmpy

Make = Callable[..., BayNet]


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("labels", [True, False])
def test_round_trip_is_exact(random_net: Make, seed: int, labels: bool) -> None:
    net = random_net(seed)
    model = to_pgmpy(net, labels=labels)
    assert model.check_model()
    back = from_pgmpy(model, domain=net.domain, visit_order=net.visit_order)
    assert back.sha256() == net.sha256()


def test_without_a_domain_labels_are_the_states(random_net: Make) -> None:
    net = random_net(1)
    named, numbered = from_pgmpy(to_pgmpy(net, labels=True)), from_pgmpy(to_pgmpy(net))
    assert [a.labels for a in named.domain] == [a.labels for a in net.domain]
    assert numbered.domain["col 1"].labels == ("0", "1", "2")
    assert not any(attribute.ordinal for attribute in named.domain)
    table = net.sample(50, np.random.default_rng(0))
    known = type(table)(named.domain, table.codes)
    assert np.allclose(named.log_prob(known), net.log_prob(table), rtol=0, atol=1e-12)


def test_columns_of_a_domain_in_another_order(random_net: Make) -> None:
    net = random_net(2)
    turned = Domain(net.domain.attributes[::-1])
    back = from_pgmpy(to_pgmpy(net), domain=turned, visit_order=net.visit_order)
    table = net.sample(50, np.random.default_rng(0))
    assert back.domain == turned
    assert np.allclose(back.log_prob(table.project(turned.names)), net.log_prob(table), atol=1e-12)


def cpd(*arguments: Any, **named: Any) -> Any:
    with quiet_pgmpy():
        from pgmpy.factors.discrete import TabularCPD
    return TabularCPD(*arguments, **named)


def model_of(*edges: tuple[Any, Any]) -> Any:
    with quiet_pgmpy():
        from pgmpy.models import DiscreteBayesianNetwork
    return DiscreteBayesianNetwork(edges)


def test_states_of_a_parent_are_matched_by_name() -> None:
    """A CPD may list the states of a parent in another order than the parent's own CPD."""
    model = model_of(("a", "b"))
    model.add_cpds(
        cpd("a", 2, [[0.25], [0.75]], state_names={"a": ["no", "yes"]}),
        cpd(
            "b", 2, [[0.9, 0.2], [0.1, 0.8]], ["a"], [2],
            state_names={"b": ["x", "y"], "a": ["yes", "no"]},
        ),
    )  # fmt: skip
    net = from_pgmpy(model)
    assert net.cpts[0].tolist() == [0.25, 0.75]
    assert net.cpts[1].tolist() == [[0.2, 0.8], [0.9, 0.1]]


def test_refused_models(random_net: Make) -> None:
    with quiet_pgmpy():
        from pgmpy.models import LinearGaussianBayesianNetwork

        gaussian = LinearGaussianBayesianNetwork([("a", "b")])
    with pytest.raises(DomainError, match="must be a pgmpy DiscreteBayesianNetwork, got Linear"):
        from_pgmpy(gaussian)
    with pytest.raises(DomainError, match="must be a pgmpy DiscreteBayesianNetwork, got dict"):
        from_pgmpy({})
    with pytest.raises(DomainError, match="model has no variables"):
        from_pgmpy(model_of())
    model = to_pgmpy(random_net(0))
    model.remove_cpds("col 3")
    with pytest.raises(DomainError, match="model has no CPD of 'col 3'; add one with add_cpds"):
        from_pgmpy(model)


def test_a_cycle_that_pgmpy_did_not_see() -> None:
    model = model_of(("a", "b"))
    model._succ["b"]["a"] = model._pred["a"]["b"] = {}  # past the checks of add_edge
    even = [[0.5, 0.5], [0.5, 0.5]]
    model.cpds = [cpd("a", 2, even, ["b"], [2]), cpd("b", 2, even, ["a"], [2])]
    with pytest.raises(DomainError, match="the network is cyclic: 'a' -> 'b' -> 'a'"):
        from_pgmpy(model)


@pytest.mark.parametrize(
    ("child", "message"),
    [
        (lambda: cpd("b", 2, [[0.5], [0.5]]), "CPD of 'b' has other parents than the graph"),
        (
            lambda: cpd("b", 2, [[0.5] * 3, [0.5] * 3], ["a"], [3]),
            "the CPD of 'b' has other states of 'a' than its own CPD",
        ),
    ],
)
def test_refused_tables(child: Callable[[], Any], message: str) -> None:
    model = model_of(("a", "b"))
    model.cpds = [cpd("a", 2, [[0.5], [0.5]]), child()]
    with pytest.raises(DomainError, match=message):
        from_pgmpy(model)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([0.4, 0.5], "the CPT of 'a' does not sum to 1: a row is off by 0.1"),
        ([1.5, -0.5], "the CPT of 'a' has a value that is not a probability"),
        ([np.nan, 1.0], "the CPT of 'a' has a value that is not a probability"),
    ],
)
def test_numbers_that_were_changed_after_pgmpy_checked_them(
    values: list[float], message: str
) -> None:
    model = model_of(("a", "b"))
    model.cpds = [cpd("a", 2, [[0.5], [0.5]]), cpd("b", 2, [[0.5] * 2] * 2, ["a"], [2])]
    model.get_cpds("a").values = np.array(values)
    with pytest.raises(DomainError, match=message):
        from_pgmpy(model)


def test_a_domain_that_does_not_fit(random_net: Make) -> None:
    net = random_net(0)
    model = to_pgmpy(net)
    with pytest.raises(DomainError, match="column 'col 4' is in only one of the domain and the"):
        from_pgmpy(model, domain=net.domain.project(net.domain.names[:4]))
    wrong = Domain((Attribute("col 0", ("only",)), *net.domain.attributes[1:]))
    with pytest.raises(DomainError, match=r"the CPT of .* has shape"):
        from_pgmpy(model, domain=wrong)
    with pytest.raises(DomainError, match="comes before its parent"):
        from_pgmpy(model, visit_order=net.visit_order[::-1])
