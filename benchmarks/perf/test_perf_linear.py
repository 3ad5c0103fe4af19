"""The reduced linear program against the program as it is written: one row for every cell."""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Any

import numpy as np
import pytest
from pytest_benchmark.fixture import BenchmarkFixture
from scipy.optimize import linprog
from scipy.sparse import csr_array, eye_array, hstack, kron, vstack

from reconbench.attacks import AttackerView
from reconbench.attacks.marginals.linear import least_deviations
from reconbench.attacks.marginals.release_parts import ReleaseParts
from reconbench.benchmarks.game.play import Game, Round
from reconbench.mechanisms import MarginalsRelease

Fastest = Callable[..., list[float]]


def game(epsilon: float) -> tuple[AttackerView, MarginalsRelease]:
    view = Round.draw(Game("acs", ("MAR",), epsilon)).view
    assert isinstance(view.release, MarginalsRelease)
    return view, view.release


def reduced(view: AttackerView, release: MarginalsRelease) -> float:
    problem = least_deviations(view, release, view.targets)
    return problem.error(problem.solve(np.zeros(problem.shape), release.noise_sd, 600.0))


def written_out(view: AttackerView, release: MarginalsRelease) -> float:
    """One distribution a record; of each cell that a record reaches, a row and two deviations."""
    parts = ReleaseParts([release], view.known, view.targets)
    incidence, reached = parts.incidence(release.k - 1)
    answers = parts.answers(parts.order)[0][reached]
    size = answers.shape[1]
    sums = kron(incidence, eye_array(size), format="csr")
    apart = eye_array(sums.shape[0], format="csr")
    simplex = kron(eye_array(view.n), np.ones((1, size)), format="csr")
    none = csr_array((view.n, 2 * sums.shape[0]))
    solve: Any = linprog
    found = solve(
        np.concatenate([np.zeros(sums.shape[1]), np.ones(2 * sums.shape[0])]),
        A_eq=vstack([hstack([sums, apart, -apart]), hstack([simplex, none])], format="csr"),
        b_eq=np.concatenate([answers.ravel(), np.ones(view.n)]),
        method="highs",
    )
    return float(found.fun)


@pytest.mark.parametrize(("epsilon", "least"), [(1.0, 2.5), (10.0, 1.2), (inf, 5.0)])
def test_reduction_against_the_program_as_written(
    benchmark: BenchmarkFixture, fastest: Fastest, epsilon: float, least: float
) -> None:
    view, release = game(epsilon)
    assert reduced(view, release) == pytest.approx(written_out(view, release), rel=1e-6, abs=1e-5)
    benchmark.pedantic(reduced, args=(view, release), rounds=3, iterations=1)
    ours, theirs = fastest(3, lambda: reduced(view, release), lambda: written_out(view, release))
    benchmark.extra_info[f"times faster than one row a cell, ε = {epsilon:g}"] = theirs / ours
    assert theirs / ours >= least
