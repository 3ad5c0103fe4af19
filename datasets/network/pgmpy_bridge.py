"""Our networks as pgmpy's, for its algorithms, and pgmpy's as ours."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Hashable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from reconbench.datasets.domain import Domain, DomainError
from reconbench.datasets.network.baynet import BayNet
from reconbench.datasets.network.bif import as_baynet
from reconbench.datasets.network.bif_reader import BifNetwork
from reconbench.datasets.network.elimination import Floats
from reconbench.missing_package import needed_by


@contextmanager
def quiet_pgmpy() -> Iterator[None]:
    """pgmpy warns on import and logs what it infers; neither concerns our users."""
    logger = logging.getLogger("pgmpy")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logger.setLevel(level)


def to_pgmpy(net: BayNet, *, labels: bool = False) -> Any:
    """A pgmpy DiscreteBayesianNetwork with the same columns, states numbered by code.

    With ``labels``, the states are the labels instead of the codes.
    """
    with needed_by("a pgmpy model", "pgmpy"), quiet_pgmpy():
        from pgmpy.factors.discrete import TabularCPD
        from pgmpy.models import DiscreteBayesianNetwork

        names, sizes = net.domain.names, net.domain.sizes
        model = DiscreteBayesianNetwork()
        model.add_nodes_from(names)
        for i, parents in enumerate(net.parents):
            model.add_edges_from([(names[p], names[i]) for p in parents])
            evidence = [names[p] for p in parents] or None
            cards = [sizes[p] for p in parents] or None
            values = net.cpts[i].reshape(-1, sizes[i]).T
            states = {names[v]: list(net.domain.attributes[v].labels) for v in (i, *parents)}
            model.add_cpds(
                TabularCPD(names[i], sizes[i], values, evidence, cards, states if labels else {})
            )
    return model


def from_pgmpy(
    model: Any, *, domain: Domain | None = None, visit_order: Sequence[str] | None = None
) -> BayNet:
    """A network from a pgmpy DiscreteBayesianNetwork, as it would be read from its BIF file.

    Columns are the nodes and labels the states, both as text and in pgmpy's order; no column is
    ordinal. Rows that sum to 1 within ``bif.ROUNDING`` are divided by their sums.

    Args:
        domain: a domain to use instead: its columns are the nodes in any order, and its labels
            stand for the states in order.
        visit_order: the columns, parents first; default: topological.

    Raises:
        DomainError: the model is not discrete, lacks a CPD, is cyclic or does not fit the domain.
    """
    with needed_by("a pgmpy model", "pgmpy"), quiet_pgmpy():
        from pgmpy.models import DiscreteBayesianNetwork
    if not isinstance(model, DiscreteBayesianNetwork):
        raise DomainError(
            f"model must be a pgmpy DiscreteBayesianNetwork, got {type(model).__name__}"
        )
    nodes = list(model.nodes())
    if not nodes:
        raise DomainError("model has no variables; add at least one")
    tables = {node: _read_cpd(model, node) for node in nodes}
    position = {node: i for i, node in enumerate(nodes)}
    states = {node: states for node, (_, states, _) in tables.items()}
    cpts = (_align(node, tables, states) for node in nodes)
    net = as_baynet(
        BifNetwork(
            str(model.name or ""),
            tuple(map(str, nodes)),
            tuple(tuple(map(str, states[node][node])) for node in nodes),
            tuple(tuple(position[parent] for parent in tables[node][0]) for node in nodes),
            tuple(cpts),
        )
    )
    return _rename(net, domain, visit_order)


States = dict[Hashable, list[Hashable]]


def _read_cpd(model: Any, node: Hashable) -> tuple[list[Hashable], States, Floats]:
    """The parents of a node, all their states, and its table with the node's own axis last."""
    cpd = model.get_cpds(node)
    if cpd is None:
        raise DomainError(f"model has no CPD of {str(node)!r}; add one with add_cpds")
    variables = list(getattr(cpd, "variables", ()))
    if variables[:1] != [node] or not hasattr(cpd, "state_names"):
        raise DomainError(f"the CPD of {str(node)!r} must be a TabularCPD of that variable")
    if set(variables[1:]) != set(model.get_parents(node)):
        raise DomainError(f"the CPD of {str(node)!r} has other parents than the graph of the model")
    values = np.moveaxis(np.asarray(cpd.values, dtype=np.float64), 0, -1)
    return variables[1:], dict(cpd.state_names), values


def _align(
    node: Hashable,
    tables: dict[Hashable, tuple[list[Hashable], States, Floats]],
    states: dict[Hashable, States],
) -> Floats:
    """A node's table with the states of each parent in that parent's own order."""
    given, named, values = tables[node]
    for axis, parent in enumerate(given):
        own, here = states[parent][parent], named[parent]
        if len(own) != len(here) or set(own) != set(here):
            raise DomainError(
                f"the CPD of {str(node)!r} has other states of {str(parent)!r} than its own CPD"
            )
        values = values.take([here.index(state) for state in own], axis=axis)
    return values


def _rename(net: BayNet, domain: Domain | None, visit_order: Sequence[str] | None) -> BayNet:
    order = tuple(net.visit_order if visit_order is None else visit_order)
    if domain is None:
        return BayNet(net.domain, net.parents, net.cpts, order)
    if set(domain.names) != set(net.domain.names):
        odd = sorted(set(domain.names) ^ set(net.domain.names))[0]
        raise DomainError(f"column {odd!r} is in only one of the domain and the model")
    from_net = net.domain.positions(domain.names)
    parents = (
        domain.positions(net.domain.names[parent] for parent in net.parents[old])
        for old in from_net
    )
    return BayNet(domain, tuple(parents), tuple(net.cpts[old] for old in from_net), order)
