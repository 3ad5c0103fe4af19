"""The best of all mechanisms, by linear programming: the exact twin of every one-run ceiling.

For n uniform bits and given (ε, δ) pairs the program is small: by symmetry only the probabilities
p_l of l right guesses matter. For other priors it goes over whole channels from tables to guesses.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import linprog

FloatArray = NDArray[np.float64]
Pairs = list[tuple[float, float]]


@pytest.fixture
def best_on_bits() -> Callable[[int, Pairs, int], float]:
    return _best_on_bits


@pytest.fixture
def best_mechanism() -> Callable[[FloatArray, Pairs, FloatArray], float]:
    return _best_mechanism


def _best_on_bits(n: int, pairs: Pairs, v: int) -> float:
    """The largest P[L ≥ v] of any mechanism with these guarantees on n uniform bits."""
    k = len(pairs)
    size = n + 1 + 2 * n * k
    rows: list[FloatArray] = []
    limits: list[float] = []
    for which, (epsilon, delta) in enumerate(pairs):
        total = np.zeros(size)
        for step in range(2 * n):
            excess = n + 1 + 2 * n * which + step
            row = np.zeros(size)
            row[excess] = -1
            if step < n:
                # A right guess made wrong: (l·p_l − e^ε (n − l + 1)·p_{l−1})/n, l = step + 1.
                row[step + 1], row[step] = (step + 1) / n, -math.exp(epsilon) * (n - step) / n
            else:
                lo = step - n
                row[lo], row[lo + 1] = (n - lo) / n, -math.exp(epsilon) * (lo + 1) / n
            rows.append(row)
            limits.append(0.0)
            total[excess] = 1
        rows.append(total)
        limits.append(delta)
    objective, mass = np.zeros(size), np.zeros((1, size))
    objective[v : n + 1], mass[0, : n + 1] = -1, 1
    solved = linprog(objective, A_ub=np.array(rows), b_ub=limits, A_eq=mass, b_eq=[1.0])
    return -float(solved.fun or 0.0)


def _best_mechanism(priors: FloatArray, pairs: Pairs, reward: FloatArray) -> float:
    """The largest expected reward[table, guess] of any mechanism with these guarantees."""
    n, m = priors.shape
    tables = np.array(list(itertools.product(range(m), repeat=n)))
    size = len(tables)
    neighbours = np.argwhere((tables[:, None, :] != tables[None]).sum(axis=2) == 1)
    count = size * size + len(pairs) * len(neighbours) * size
    rows: list[FloatArray] = []
    limits: list[float] = []
    start = size * size
    for epsilon, delta in pairs:
        for x, y in neighbours:
            for u in range(size):
                row = np.zeros(count)
                row[x * size + u], row[y * size + u] = 1, -math.exp(epsilon)
                row[start + u] = -1
                rows.append(row)
                limits.append(0.0)
            row = np.zeros(count)
            row[start : start + size] = 1
            rows.append(row)
            limits.append(delta)
            start += size
    totals = np.zeros((size, count))
    for x in range(size):
        totals[x, x * size : (x + 1) * size] = 1
    weights = np.prod(priors[np.arange(n), tables], axis=1)
    objective = np.zeros(count)
    objective[: size * size] = -(weights[:, None] * reward).ravel()
    solved: Any = linprog(
        objective, A_ub=np.array(rows), b_ub=limits, A_eq=totals, b_eq=np.ones(size)
    )
    return -float(solved.fun)
