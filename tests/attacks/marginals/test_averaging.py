from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from math import inf

import numpy as np
import numpy.typing as npt
import pytest

from reconbench.attacks import AttackerView, WithinL1
from reconbench.attacks.marginals.averaging import (
    SMALLEST_VARIANCE,
    Averaging,
    estimate_shares,
    project_on_simplex,
)
from reconbench.attacks.rap.problem import require_marginals
from reconbench.datasets import Table

MakeView = Callable[..., tuple[AttackerView, Table]]
Floats = npt.NDArray[np.float64]


def loop_shares(view: AttackerView, column: str) -> Floats:
    """The formula, record by record and marginal by marginal; every marginal that is used holds
    the fewest possible hidden columns, the others summed out."""
    release = require_marginals(view.release)
    domain = release.domain
    fewest = max(1, release.k - len(view.known.domain))
    used = []
    for columns, answer in zip(release.workload, release.answers, strict=True):
        names = [domain.names[i] for i in columns]
        hidden = [name for name in names if name in view.targets]
        if column in hidden and len(hidden) == fewest:
            others = tuple(names.index(name) for name in hidden if name != column)
            cells = np.prod([answer.shape[axis] for axis in others]) if others else 1
            left = [name for name in names if name == column or name not in hidden]
            summed = np.moveaxis(answer.sum(axis=others), left.index(column), -1)
            used.append(([name for name in left if name != column], summed, cells))

    def cell_of(i: int, known: list[str]) -> tuple[int, ...]:
        return tuple(int(view.known.column(name)[i]) for name in known)

    frequency = np.zeros(domain[column].size)
    for known, counts, _ in used:
        for cell in {cell_of(i, known) for i in range(view.n)}:
            frequency += counts[cell] / (len(used) * view.n)
    q = project_on_simplex(frequency[None])[0]
    tau = sum(p * (1 - p) for p in q)
    estimate = np.zeros((view.n, domain[column].size))
    for i in range(view.n):
        total = 0.0
        for known, counts, cells in used:
            cell = cell_of(i, known)
            m = sum(cell_of(j, known) == cell for j in range(view.n))
            variance = release.noise_sd**2 * cells / m**2 + tau * (m - 1) / m**0.5
            weight = 1 / (variance + SMALLEST_VARIANCE)
            estimate[i] += weight * counts[cell] / m
            total += weight
        estimate[i] /= total
    return project_on_simplex(estimate)


@pytest.mark.parametrize("k", [1, 2, 3])
@pytest.mark.parametrize("epsilon", [1.0, 20.0, inf])
def test_one_column_against_the_loop(make_view: MakeView, k: int, epsilon: float) -> None:
    view, _ = make_view(("c",), epsilon=epsilon, n=15, k=k)
    assert np.allclose(
        estimate_shares(view, require_marginals(view.release), "c"),
        loop_shares(view, "c"),
        atol=1e-9,
    )


@pytest.mark.parametrize("targets", [("c", "b"), ("e", "a", "b"), ("a", "b", "c", "e")])
def test_several_columns_against_the_loop(make_view: MakeView, targets: tuple[str, ...]) -> None:
    """The last game knows one column and releases no marginal with just one hidden column."""
    view, _ = make_view(targets, epsilon=10.0, n=12, k=3)
    found = Averaging().reconstruct(view, np.random.default_rng(0))
    expected = [loop_shares(view, name) for name in targets]
    assert np.array_equal(found.guess.codes, np.stack([e.argmax(axis=1) for e in expected], axis=1))
    assert found.scores is not None
    assert np.allclose(found.scores, np.prod([e.max(axis=1) for e in expected], axis=0))


def test_records_alone_in_a_cell_are_read_off_exact_marginals(make_view: MakeView) -> None:
    view, truth = make_view(("c",), epsilon=inf, n=20, k=3)
    alone = np.zeros(20, dtype=np.bool_)
    for pair in combinations(range(4), 2):
        _, which, m = np.unique(
            view.known.codes[:, list(pair)], axis=0, return_inverse=True, return_counts=True
        )
        alone |= m[which.ravel()] == 1
    guess = Averaging().reconstruct(view, np.random.default_rng(0)).guess
    assert alone.any()
    assert np.array_equal(guess.codes[alone], truth.codes[alone])


def test_projection_is_the_nearest_point_of_the_simplex() -> None:
    rng = np.random.default_rng(0)
    points = rng.normal(0, 2, size=(50, 4))
    nearest = project_on_simplex(points)
    assert np.allclose(nearest.sum(axis=1), 1) and (nearest >= 0).all()
    others = rng.dirichlet(np.ones(4), size=2_000)
    for point, mine in zip(points, nearest, strict=True):
        least = ((others - point) ** 2).sum(axis=1).min()
        assert ((mine - point) ** 2).sum() <= least + 1e-12


def test_l1_metric_and_skips(make_view: MakeView) -> None:
    view, _ = make_view(("c",), epsilon=5.0, metric=WithinL1(1))
    found = Averaging().reconstruct(view, np.random.default_rng(0))
    assert np.array_equal(
        found.guess.codes,
        view.metric.decide([estimate_shares(view, require_marginals(view.release), "c")]),
    )
    assert Averaging().skip(view) is None
