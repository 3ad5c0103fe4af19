"""Our networks as pgmpy's, for whoever wants its algorithms."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from reconbench.datasets.network.baynet import BayNet


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


def to_pgmpy(net: BayNet) -> Any:
    """A pgmpy DiscreteBayesianNetwork with the same columns, states numbered by code."""
    with quiet_pgmpy():
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
            model.add_cpds(TabularCPD(names[i], sizes[i], values, evidence, cards))
    return model
