"""How far a synthetic table is from the real one."""

from __future__ import annotations

from itertools import combinations, product
from math import comb

import numpy as np
import pytest

from reconbench.benchmarks.assess.table_distance import expect_sampling_distance, measure_distance
from reconbench.datasets import BayNet, Table


def measure_slowly(real: Table, made: Table, k: int) -> float:
    """Set by set, cell by cell."""
    found = []
    for columns in combinations(range(len(real.domain)), k):
        total = 0.0
        for cell in product(*(range(real.domain.sizes[i]) for i in columns)):
            p, q = ((t.codes[:, list(columns)] == cell).all(axis=1).mean() for t in (real, made))
            total += abs(p - q)
        found.append(total / 2)
    return float(np.mean(found))


@pytest.mark.parametrize("k", [1, 2, 3])
def test_distance_is_that_of_all_cells(population: BayNet, people: Table, k: int) -> None:
    made = population.sample(35, np.random.default_rng(3))
    assert measure_distance(people, made, k) == pytest.approx(measure_slowly(people, made, k))
    assert measure_distance(people, people, k) == pytest.approx(0, abs=1e-12)


def test_nothing_in_common_is_a_distance_of_one(population: BayNet) -> None:
    zeros, ones = (np.full((5, 3), value) for value in (0, 1))
    first, second = Table(population.domain, zeros), Table(population.domain, ones)
    assert measure_distance(first, second, 1) == measure_distance(first, second, 2) == 1.0


@pytest.mark.parametrize("rows", [1, 2, 7, 30])
def test_sampling_distance_is_that_of_binomial_counts(people: Table, rows: int) -> None:
    """E½ Σ|X/m − p| by listing all counts X of every cell of every pair."""
    expected = []
    for columns in combinations(range(3), 2):
        _, counts = np.unique(people.codes[:, list(columns)], axis=0, return_counts=True)
        expected.append(
            sum(
                comb(rows, x) * p**x * (1 - p) ** (rows - x) * abs(x / rows - p)
                for p in counts / len(people)
                for x in range(rows + 1)
            )
            / 2
        )
    assert expect_sampling_distance(people, rows, 2) == pytest.approx(np.mean(expected), rel=1e-10)


def test_sampling_distance_by_simulation(people: Table) -> None:
    """400 tables of 40 rows: 4.5 standard errors; as many of 60 rows are found out."""
    rng = np.random.default_rng(5)

    def draw(rows: int) -> list[float]:
        return [
            measure_distance(
                people, Table(people.domain, people.codes[rng.integers(0, len(people), rows)]), 1
            )
            for _ in range(400)
        ]

    right, wrong = np.array(draw(40)), np.array(draw(60))
    expected = expect_sampling_distance(people, 40, 1)
    assert abs(right.mean() - expected) < 4.5 * right.std(ddof=1) / 20
    assert abs(wrong.mean() - expected) > 4.5 * wrong.std(ddof=1) / 20


def test_sampling_distance_vanishes_with_many_rows(people: Table) -> None:
    found = [expect_sampling_distance(people, rows, 2) for rows in (1, 10, 1_000, 10**8)]
    assert found == sorted(found, reverse=True) and found[-1] < 2e-4
    # √n times it settles: a tail of large numbers is not lost.
    assert found[-1] * 1e4 == pytest.approx(found[-2] * 1_000**0.5, rel=0.05)
    same = Table(people.domain, np.zeros((9, 3), dtype=np.int64))
    assert expect_sampling_distance(same, 4, 1) == 0.0
