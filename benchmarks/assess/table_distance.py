"""The distance of a synthetic table from the real one, marginal by marginal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np
import numpy.typing as npt
from scipy.special import gammaln, xlog1py, xlogy

from reconbench.datasets import Domain, Table
from reconbench.datasets.table import number_rows

Floats = npt.NDArray[np.float64]


def measure_distance(real: Table, made: Table, k: int) -> float:
    """The total variation ½ Σ |p − q| between the k-way marginals, mean over all sets of k columns.

    O(records + rows) for each set of few cells, and a sort of them where the cells are many.
    """
    n, m = len(real), len(made)
    both = np.concatenate([real.codes, made.codes])
    # Whole numbers up to n m, so that equal shares leave nothing.
    weights = np.repeat([float(m), -float(n)], [n, m])
    apart = [
        np.abs(np.bincount(_number_cells(both, real.domain, columns), weights)).sum()
        for columns in _list_sets(real.domain, k)
    ]
    return float(np.mean(apart)) / (2 * n * m)


def expect_sampling_distance(real: Table, rows: int, k: int) -> float:
    """What ``measure_distance`` expects of so many rows drawn from the real records.

    The count of a cell of share p is binomial, whose mean absolute deviation de Moivre gave:
    E|X − mp| = 2 (c + 1) C(m, c + 1) p^(c+1) (1 − p)^(m−c) with c = ⌊mp⌋.
    """
    n = len(real)
    return float(
        np.mean(
            [
                _deviation(np.bincount(_number_cells(real.codes, real.domain, columns)) / n, rows)
                for columns in _list_sets(real.domain, k)
            ]
        )
    )


def _deviation(shares: Floats, rows: int) -> float:
    p = shares[shares < 1]
    if not len(p):
        return 0.0
    c = np.floor(rows * p)
    log_ways = gammaln(rows + 1) - gammaln(c + 1) - gammaln(rows - c)
    log_mass = log_ways + xlogy(c + 1, p) + xlog1py(rows - c, -p)
    return float(np.exp(log_mass).sum() / rows)


def _list_sets(domain: Domain, k: int) -> Iterator[tuple[int, ...]]:
    return combinations(range(len(domain)), k)


def _number_cells(
    codes: npt.NDArray[np.int64], domain: Domain, columns: Sequence[int]
) -> npt.NDArray[np.int64]:
    """The cell of every record, numbered among those that occur."""
    chosen = list(columns)
    return number_rows(codes[:, chosen], [domain.sizes[i] for i in chosen])[1]
