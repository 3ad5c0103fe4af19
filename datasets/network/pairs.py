"""The joint distribution of every pair of a network's columns, exactly."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from reconbench.datasets.domain import DomainError
from reconbench.datasets.network.baynet import BayNet
from reconbench.datasets.network.elimination import (
    CHUNK_CELLS,
    MAX_CLIQUE_CELLS,
    Codes,
    Factor,
    Floats,
    elimination_order,
    restrict,
)


def list_pair_marginals(net: BayNet) -> Iterator[tuple[int, int, Floats]]:
    """Yield P(column i, column j) for all i < j, as arrays of shape (size i, size j).

    One column at a time is set to each of its values. Eliminating the others in one fixed order,
    and going back along it, gives P(column j | column i) for all j at once (Shafer and Shenoy
    1990): two passes per column instead of an elimination per pair.
    """
    d, sizes = len(net.domain), net.domain.sizes
    scopes = [(*parents, i) for i, parents in enumerate(net.parents)]
    order = elimination_order(scopes, range(d), sizes)
    cells = _count_cells(scopes, order, sizes)
    if cells > MAX_CLIQUE_CELLS:
        raise DomainError(f"the pairs of columns of this network would need {cells:,} numbers")
    step = max(1, CHUNK_CELLS // cells)
    for i in range(d - 1):
        left = [v for v in order if v != i]
        parts = [
            _solve(net, scopes, left, {i: np.arange(start, min(start + step, sizes[i]))})
            for start in range(0, sizes[i], step)
        ]
        for j in range(i + 1, d):
            yield i, j, np.concatenate([part[j] for part in parts])


@dataclass(frozen=True)
class _Clique:
    """The product over a column and its neighbours when the column was summed out."""

    column: int
    scope: tuple[int, ...]
    values: Floats
    message: Floats


def _count_cells(
    scopes: Sequence[Sequence[int]], order: Sequence[int], sizes: Sequence[int]
) -> int:
    """Numbers in all the cliques of an elimination together."""
    live, cells = [frozenset(scope) for scope in scopes], 0
    for v in order:
        clique = frozenset[int]().union({v}, *(scope for scope in live if v in scope))
        cells += prod(sizes[u] for u in clique)
        live = [scope for scope in live if v not in scope] + [clique - {v}]
    return cells


def _solve(
    net: BayNet,
    scopes: Sequence[tuple[int, ...]],
    order: Sequence[int],
    evidence: Mapping[int, Codes],
) -> dict[int, Floats]:
    """P(evidence, column) of every column of ``order``, one row per value of the evidence."""
    factors = [restrict(scope, cpt, evidence) for scope, cpt in zip(scopes, net.cpts, strict=True)]
    cliques, total = _eliminate(factors, order)
    beliefs: dict[int, Factor] = {}
    pairs: dict[int, Floats] = {}
    for clique in reversed(cliques):
        values = clique.values
        if clique.scope:
            above = next(beliefs[v] for v in order if v in clique.scope)
            inside = _sum_to(above, clique.scope)
            ratio = np.divide(inside, clique.message, out=np.zeros(inside.shape), where=inside > 0)
            values = values * ratio[..., None]
        beliefs[clique.column] = Factor((*clique.scope, clique.column), values)
        belief = values.sum(axis=tuple(range(1, values.ndim - 1)))
        share = belief.sum(axis=1, keepdims=True)
        chance = np.divide(belief, share, out=np.zeros(belief.shape), where=share > 0)
        pairs[clique.column] = total[:, None] * chance
    return pairs


def _eliminate(factors: list[Factor], order: Sequence[int]) -> tuple[list[_Clique], Floats]:
    """Sum the columns out one by one; the cliques on the way, and the total that is left."""
    cliques = []
    for v in order:
        touched = [factor for factor in factors if v in factor.scope]
        factors = [factor for factor in factors if v not in factor.scope]
        scope = tuple(sorted({u for factor in touched for u in factor.scope} - {v}))
        values = _multiply(touched, (*scope, v))
        message = values.sum(axis=-1)
        cliques.append(_Clique(v, scope, values, message))
        factors.append(Factor(scope, message))
    return cliques, np.asarray(_multiply(factors, ()))


def _multiply(factors: Sequence[Factor], scope: Sequence[int]) -> Floats:
    values = factors[0].aligned(scope)
    for factor in factors[1:]:
        values = values * factor.aligned(scope)
    return values


def _sum_to(factor: Factor, scope: Sequence[int]) -> Floats:
    """A factor summed to some of its columns, in the order of ``scope``."""
    gone = tuple(1 + place for place, v in enumerate(factor.scope) if v not in scope)
    kept = tuple(v for v in factor.scope if v in scope)
    return Factor(kept, factor.values.sum(axis=gone)).aligned(scope)
