"""Exact inference for a whole batch of records at once: variable elimination on arrays.

A factor is an array with one axis a variable and, once evidence has been put in, a leading axis
over records. Evidence turns an axis of a CPT into a gather, so n records cost one fancy index and
a few broadcast products, not n runs of an algorithm. Work and memory are n times the largest
clique of the variables that stay unknown; records are taken in chunks so that memory stays under
``CHUNK_CELLS`` numbers.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from math import prod

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Codes = npt.NDArray[np.int64]

CHUNK_CELLS = 1 << 22
MAX_CLIQUE_CELLS = 1 << 27
RESCALE_EVERY = 8


@dataclass(frozen=True)
class Factor:
    """A non-negative function of ``scope``; ``values`` has shape (n or 1, sizes of scope...)."""

    scope: tuple[int, ...]
    values: Floats

    def aligned(self, scope: Sequence[int]) -> Floats:
        """A view that broadcasts against any factor laid out over ``scope``."""
        order = [0] + [1 + self.scope.index(v) for v in scope if v in self.scope]
        shape = iter(self.values.shape[axis] for axis in order[1:])
        layout = [next(shape) if v in self.scope else 1 for v in scope]
        return self.values.transpose(order).reshape(self.values.shape[0], *layout)


def restrict(scope: Sequence[int], table: Floats, evidence: Mapping[int, Codes]) -> Factor:
    """Put evidence into a CPT: known axes are gathered record by record."""
    known = [v for v in scope if v in evidence]
    free = tuple(v for v in scope if v not in evidence)
    if not known:
        return Factor(free, table[None])
    axes = [scope.index(v) for v in known] + [scope.index(v) for v in free]
    return Factor(free, table.transpose(axes)[tuple(evidence[v] for v in known)])


class _LiveScopes:
    """The scopes of the factors while variables are eliminated."""

    def __init__(self, scopes: Iterable[Iterable[int]]) -> None:
        self._scopes = {number: frozenset(scope) for number, scope in enumerate(scopes)}
        self._touching: dict[int, set[int]] = defaultdict(set)
        for number, scope in self._scopes.items():
            for v in scope:
                self._touching[v].add(number)
        self._next = len(self._scopes)

    def clique(self, variable: int) -> frozenset[int]:
        """All variables that share a factor with this one, itself included if it is in any."""
        return frozenset[int]().union(*(self._scopes[n] for n in self._touching[variable]))

    def eliminate(self, variable: int) -> frozenset[int]:
        """Merge the factors of a variable into one without it; returns what they were over."""
        clique = self.clique(variable)
        for number in list(self._touching[variable]):
            for v in self._scopes.pop(number):
                self._touching[v].discard(number)
        self._scopes[self._next] = clique - {variable}
        for v in clique - {variable}:
            self._touching[v].add(self._next)
        self._next += 1
        return clique

    def list(self) -> list[frozenset[int]]:
        return list(self._scopes.values())


def elimination_order(
    scopes: Iterable[Iterable[int]], eliminate: Iterable[int], sizes: Sequence[int]
) -> list[int]:
    """Greedy order: next the variable whose elimination makes the smallest new factor."""
    live, left, order = _LiveScopes(scopes), set(eliminate), list[int]()

    def weigh(v: int) -> int:
        return prod(sizes[u] for u in live.clique(v))

    costs = {v: weigh(v) for v in left}
    queue = [(cost, v) for v, cost in costs.items()]
    heapify(queue)
    while left:
        cost, best = heappop(queue)
        if best not in left or cost != costs[best]:
            continue  # an entry from before its cost changed
        left.remove(best)
        order.append(best)
        for v in live.eliminate(best) & left:
            costs[v] = weigh(v)
            heappush(queue, (costs[v], v))
    return order


def largest_clique(
    scopes: Iterable[Iterable[int]], order: Sequence[int], sizes: Sequence[int], keep: Sequence[int]
) -> int:
    """Cells of the largest array an elimination along ``order`` will hold, a record."""
    live, largest = _LiveScopes(scopes), prod(sizes[v] for v in keep)
    for v in order:
        largest = max(largest, prod(sizes[u] for u in live.eliminate(v) | {v}))
    return largest


def remaining_scopes(scopes: Iterable[Iterable[int]], order: Sequence[int]) -> list[frozenset[int]]:
    """The scopes that are left once ``order`` has been eliminated."""
    live = _LiveScopes(scopes)
    for v in order:
        live.eliminate(v)
    return live.list()


def find_quantiles(below: Floats, rows: Codes, uniforms: Floats) -> Codes:
    """The values at quantiles of distributions: how many cumulative chances are not above them.

    ``below`` has one distribution per row of its last axis. Bisection looks at log V of its V
    numbers, and the last one, which is 1, stands in for what is beyond it.
    """
    last, flat, first = below.shape[-1] - 1, below.reshape(-1), rows * below.shape[-1]
    found, step = np.zeros_like(rows), 1 << last.bit_length() >> 1
    while step:
        at = found + (step - 1)
        found += step * (flat[first + np.minimum(at, last)] <= uniforms)
        step >>= 1
    return found


@dataclass
class Elimination:
    """One batch on its way: the live factors, and the log of what was scaled out of them."""

    factors: list[Factor]
    log_scale: Floats

    def sum_out(self, variable: int) -> None:
        scope, values = self._take(variable)
        self.factors.append(Factor(scope, self._scaled(values.sum(axis=-1))))

    def max_out(self, variable: int) -> tuple[tuple[int, ...], Codes]:
        """Eliminate by maximum; returns the scope and the arg max over it, for the trace back."""
        scope, values = self._take(variable)
        self.factors.append(Factor(scope, self._scaled(values.max(axis=-1))))
        return scope, values.argmax(axis=-1)

    def max_ratios(self, variable: int) -> tuple[tuple[int, ...], Floats]:
        """Eliminate by maximum; returns the scope and each value over the largest, in [0, 1]."""
        scope, values = self._take(variable)
        largest = values.max(axis=-1)
        self.factors.append(Factor(scope, self._scaled(largest)))
        return scope, values / np.where(largest > 0, largest, 1.0)[..., None]

    def draw_out(self, variable: int) -> tuple[tuple[int, ...], Floats]:
        """Eliminate by sum; returns the scope and the variable's cumulative chances over it."""
        scope, values = self._take(variable)
        below = values.cumsum(axis=-1)
        total = below[..., -1]
        self.factors.append(Factor(scope, self._scaled(total)))
        return scope, below / np.where(total > 0, total, 1.0)[..., None]

    def joint(self, scope: Sequence[int]) -> Floats:
        """The product of all that is left, over ``scope``, up to ``log_scale``."""
        return self._product(self.factors, scope)

    def _take(self, variable: int) -> tuple[tuple[int, ...], Floats]:
        touched = [factor for factor in self.factors if variable in factor.scope]
        self.factors = [factor for factor in self.factors if variable not in factor.scope]
        others = sorted({v for factor in touched for v in factor.scope} - {variable})
        return tuple(others), self._product(touched, (*others, variable))

    def _product(self, factors: Sequence[Factor], scope: Sequence[int]) -> Floats:
        values = factors[0].aligned(scope)
        for count, factor in enumerate(factors[1:], start=1):
            values = values * factor.aligned(scope)
            if count % RESCALE_EVERY == 0:
                values = self._scaled(values)
        return values

    def _scaled(self, values: Floats) -> Floats:
        """Rescale to a largest entry of 1, so that long products never underflow."""
        peak = values.max(axis=tuple(range(1, values.ndim)), keepdims=True)
        peak = np.where(peak > 0, peak, 1.0)
        self.log_scale = self.log_scale + np.log(peak.reshape(peak.shape[0]))
        return np.asarray(values / peak)
