"""Fit a Bayesian network to a table: a structure, then smoothed tables, through pgmpy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, Protocol

import numpy as np
from scipy.special import gammaln

from reconbench.datasets.domain import DomainError
from reconbench.datasets.network.baynet import BayNet
from reconbench.datasets.network.elimination import Codes, Floats
from reconbench.datasets.network.pgmpy_bridge import quiet_pgmpy
from reconbench.datasets.table import Table
from reconbench.missing_package import needed_by


@dataclass(frozen=True)
class Structure:
    """Parents of every column, as positions, and the order in which columns are visited."""

    parents: tuple[tuple[int, ...], ...]
    order: tuple[int, ...]


class StructureSearch(Protocol):
    def search(self, table: Table, weights: Floats | None = None) -> Structure:
        """Find a structure; ``weights`` say how many records each counts as."""
        ...


@dataclass(frozen=True)
class GreedyMutualInformation:
    """The order of DataSynthesizer and PrivBayes: grow the network by mutual information.

    Start from the column of largest entropy; then, again and again, visit the column and parent
    set (of at most ``max_parents`` visited columns, tables of at most ``max_cells``) of largest
    mutual information. Plug-in information always grows with another parent, so it is measured
    as the gain in Dirichlet marginal likelihood of the smoothed tables, which charges a parent
    for the contexts it splits: a set is only as large as the data can pay for.
    """

    max_parents: int = 3
    max_cells: int = 20_000
    smoothing: float = 1.0

    def __post_init__(self) -> None:
        _check_cap(self.max_parents)

    def search(self, table: Table, weights: Floats | None = None) -> Structure:
        d = len(table.domain)
        order = [int(np.argmax([_entropy(table.codes[:, i], weights) for i in range(d)]))]
        parents: dict[int, tuple[int, ...]] = {order[0]: ()}
        left = [i for i in range(d) if i != order[0]]
        sets: list[tuple[int, ...]] = [()]
        scores: dict[tuple[int, tuple[int, ...]], float] = {(child, ()): 0.0 for child in left}
        while left:
            newest = order[-1]
            grown = [
                tuple(sorted((*chosen, newest)))
                for chosen in sets
                if len(chosen) < self.max_parents
            ]
            sets += grown
            for child in left:
                for chosen in grown:
                    scores[child, chosen] = self._information(table, child, chosen, weights)
            child, chosen = max(
                ((child, chosen) for child in left for chosen in sets), key=scores.__getitem__
            )
            parents[child] = chosen
            order.append(child)
            left.remove(child)
        return Structure(tuple(parents[i] for i in range(d)), tuple(order))

    def _information(
        self, table: Table, child: int, parents: tuple[int, ...], weights: Floats | None
    ) -> float:
        """log P(column | its parents) − log P(column), tables integrated out, in nats a record."""
        sizes = table.domain.sizes
        if prod(sizes[p] for p in parents) * sizes[child] > self.max_cells:
            return -np.inf
        column = table.codes[:, child]
        pseudo = self.smoothing * _marginal(column, sizes[child], weights)
        split = _log_marginal_likelihood(_context(table, parents), column, pseudo, weights)
        alone = _log_marginal_likelihood(np.zeros_like(column), column, pseudo, weights)
        return (split - alone) / len(table)


@dataclass(frozen=True)
class HillClimbBIC:
    """pgmpy's hill climbing on the Bayesian information criterion, with a cap on parents."""

    max_parents: int = 3

    def __post_init__(self) -> None:
        _check_cap(self.max_parents)

    def search(self, table: Table, weights: Floats | None = None) -> Structure:
        _refuse_weights(weights)
        with needed_by("hill climbing", "pgmpy"), quiet_pgmpy():
            from pgmpy.causal_discovery import HillClimbSearch

            search = HillClimbSearch(
                scoring_method="bic-d",
                max_indegree=self.max_parents,
                return_type="dag",
                show_progress=False,
            ).fit(_frame(table))
        return _from_edges(len(table.domain), search.causal_graph_.edges())


@dataclass(frozen=True)
class ChowLiu:
    """The tree of largest total mutual information."""

    def search(self, table: Table, weights: Floats | None = None) -> Structure:
        _refuse_weights(weights)
        d = len(table.domain)
        if d == 1:
            return Independent().search(table)
        with needed_by("a Chow-Liu tree", "pgmpy"), quiet_pgmpy():
            from pgmpy.estimators import TreeSearch

            tree = TreeSearch(_frame(table), root_node=_name(0), n_jobs=1)
            dag = tree.estimate(estimator_type="chow-liu", show_progress=False)
        return _from_edges(d, dag.edges())


@dataclass(frozen=True)
class Independent:
    """Columns drawn one by one from their marginals."""

    def search(self, table: Table, weights: Floats | None = None) -> Structure:
        d = len(table.domain)
        return Structure(((),) * d, tuple(range(d)))


def list_searches(max_parents: int = 3, smoothing: float = 1.0) -> dict[str, StructureSearch]:
    """All ways to choose the structure of a network, by name; the first is the usual one."""
    return {
        "greedy": GreedyMutualInformation(max_parents, smoothing=smoothing),
        "hill-climb": HillClimbBIC(max_parents),
        "chow-liu": ChowLiu(),
        "independent": Independent(),
    }


def fit(table: Table, search: StructureSearch, smoothing: float = 1.0) -> BayNet:
    """Fit a network: the structure that ``search`` finds, and Dirichlet-smoothed tables.

    Every context gets ``smoothing`` pseudo-records spread like the column's own marginal (itself
    smoothed by one record spread evenly), so that no cell is zero and a context that was never
    seen falls back on the marginal.
    """
    if len(table) == 0:
        raise DomainError("cannot fit a prior to a table without records")
    if not (np.isfinite(smoothing) and smoothing > 0):
        raise DomainError(f"smoothing must be a positive number, got {smoothing}")
    structure = search.search(table)
    domain = table.domain
    with needed_by("fitting a network", "pgmpy"), quiet_pgmpy():
        from pgmpy.models import DiscreteBayesianNetwork
        from pgmpy.parameter_estimator import DiscreteBayesianEstimator

        model = DiscreteBayesianNetwork()
        model.add_nodes_from([_name(i) for i in range(len(domain))])
        for child, parents in enumerate(structure.parents):
            model.add_edges_from([(_name(parent), _name(child)) for parent in parents])
        estimator = DiscreteBayesianEstimator(
            state_names={_name(i): list(range(size)) for i, size in enumerate(domain.sizes)},
            prior_type="dirichlet",
            pseudo_counts={
                _name(i): _pseudo_counts(table, i, structure.parents[i], smoothing)
                for i in range(len(domain))
            },
        )
        estimator.fit(model, _frame(table))
        cpds = {cpd.variable: cpd for cpd in estimator.parameters_}
    cpts, parent_sets = [], []
    for i, size in enumerate(domain.sizes):
        cpd = cpds[_name(i)]
        parents = tuple(_position(name) for name in cpd.variables[1:])
        values = np.asarray(cpd.get_values(), dtype=np.float64)
        cpts.append(values.T.reshape(*(domain.sizes[p] for p in parents), size))
        parent_sets.append(parents)
    order = tuple(domain.names[i] for i in structure.order)
    return BayNet(domain, tuple(parent_sets), tuple(cpts), order)


def estimate_network(
    table: Table,
    search: StructureSearch,
    smoothing: float = 1.0,
    weights: Floats | None = None,
) -> BayNet:
    """Fit the network that ``fit`` does, to the last bit, counted here instead of by pgmpy.

    For attacks that fit many: it is several times as fast. ``weights`` say how many people each
    record stands for. All together they count as many records as would tell as much with equal
    weights, (Σw)²/Σw² (Kish 1965): smoothing and the choice of parents weigh as they should.
    """
    if weights is not None:
        weights = weights * (weights.sum() / (weights**2).sum())
    structure, domain = search.search(table, weights), table.domain
    cpts = []
    for i, parents in enumerate(structure.parents):
        sizes = [domain.sizes[p] for p in (*parents, i)]
        counts = np.bincount(_context(table, (*parents, i)), weights, minlength=prod(sizes))
        smoothed = counts.reshape(-1, sizes[-1]) + smoothing * _marginal(
            table.codes[:, i], sizes[-1], weights
        )
        # States first: sums are then taken in pgmpy's order, and come out the same to the last bit.
        cells = np.ascontiguousarray(smoothed.T)
        cpts.append((cells / cells.sum(axis=0)).T.reshape(sizes))
    order = tuple(domain.names[i] for i in structure.order)
    return BayNet(domain, structure.parents, tuple(cpts), order)


def score_held_out(
    table: Table,
    searches: Mapping[str, StructureSearch],
    smoothing: float,
    *,
    share: float = 0.2,
    seed: int = 0,
) -> dict[str, float]:
    """Compute the mean log-probability, in nats, of records kept out of the fit."""
    order = np.random.default_rng(seed).permutation(len(table))
    cut = round(len(table) * (1 - share))
    if not 0 < cut < len(table):
        raise DomainError(f"{len(table)} records are too few to hold {share:.0%} of them out")
    train = Table(table.domain, table.codes[order[:cut]])
    test = Table(table.domain, table.codes[order[cut:]])
    return {
        name: float(fit(train, search, smoothing).log_prob(test).mean())
        for name, search in searches.items()
    }


def _marginal(column: Codes, size: int, weights: Floats | None = None) -> Floats:
    """A column's distribution, smoothed by one record spread evenly."""
    counts = np.bincount(column, weights, minlength=size) + 1.0 / size
    share: Floats = counts / counts.sum()
    return share


def _pseudo_counts(table: Table, child: int, parents: Sequence[int], smoothing: float) -> Floats:
    sizes = table.domain.sizes
    weight = smoothing * _marginal(table.codes[:, child], sizes[child])
    return np.repeat(weight[:, None], prod(sizes[p] for p in parents), axis=1)


def _context(table: Table, parents: Sequence[int]) -> Codes:
    """One number for each combination of the parents' codes."""
    context = np.zeros(len(table), dtype=np.int64)
    for parent in parents:
        context = context * table.domain.sizes[parent] + table.codes[:, parent]
    return context


def _log_marginal_likelihood(
    context: Codes, column: Codes, pseudo: Floats, weights: Floats | None
) -> float:
    """Dirichlet-multinomial: sum over contexts of log Γ(w)/Γ(w + n) + Σ log Γ(w_v + n_v)/Γ(w_v)."""
    _, totals = _count_values(context, weights)
    cells, counts = _count_values(context * len(pseudo) + column, weights)
    prior = pseudo[cells % len(pseudo)]
    whole = float(pseudo.sum())
    return float(
        (gammaln(prior + counts) - gammaln(prior)).sum()
        + (gammaln(whole) - gammaln(whole + totals)).sum()
    )


def _count_values(values: Codes, weights: Floats | None) -> tuple[Codes, Codes | Floats]:
    """The values that occur, and how often; with weights, how much they weigh together."""
    if weights is None:
        return np.unique(values, return_counts=True)
    found, which = np.unique(values, return_inverse=True)
    return found, np.bincount(which.reshape(-1), weights)


def _entropy(column: Codes, weights: Floats | None) -> float:
    counts = _count_values(column, weights)[1]
    share = counts / counts.sum()
    return float(-(share * np.log(share)).sum())


def _from_edges(d: int, edges: Any) -> Structure:
    """Parents from a pgmpy graph; visit order is topological, lowest position first."""
    parents: list[set[int]] = [set() for _ in range(d)]
    for parent, child in edges:
        parents[_position(child)].add(_position(parent))
    order: list[int] = []
    while len(order) < d:
        order.append(next(i for i in range(d) if i not in order and parents[i] <= set(order)))
    return Structure(tuple(tuple(sorted(p)) for p in parents), tuple(order))


def _name(position: int) -> str:
    """A plain identifier whose text order is the column order, as pgmpy sorts parents by name."""
    return f"c{position:05d}"


def _position(name: str) -> int:
    return int(name[1:])


def _frame(table: Table) -> Any:
    import pandas as pd

    return pd.DataFrame(
        {
            _name(i): pd.Categorical.from_codes(table.codes[:, i], categories=pd.Index(range(size)))
            for i, size in enumerate(table.domain.sizes)
        }
    )


def _refuse_weights(weights: Floats | None) -> None:
    if weights is not None:
        raise DomainError(
            "pgmpy's searches count records, without weights; use the structure greedy or "
            "independent"
        )


def _check_cap(max_parents: int) -> None:
    if max_parents < 1:
        raise DomainError(f"max_parents must be at least 1, got {max_parents}")
