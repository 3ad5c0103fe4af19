"""Several hidden columns at ε = 3, the games of figure 6, against slower twins in the same run."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch
from pytest_benchmark.fixture import BenchmarkFixture

from reconbench.attacks import AttackerView
from reconbench.attacks.posterior.draws import model as draw_model
from reconbench.attacks.posterior.posterior import Posterior
from reconbench.attacks.rap.descent import Objective
from reconbench.attacks.rap.marginal_fit import KernelFit
from reconbench.attacks.rap.paths import Descent, FormPaths
from reconbench.attacks.rap.problem import build_problem
from reconbench.benchmarks.game.play import Game, Round
from reconbench.datasets import draw_targets
from reconbench.datasets.network import baynet
from reconbench.datasets.network.elimination import find_quantiles
from reconbench.mechanisms import MarginalsRelease

Fastest = Callable[..., list[float]]
Floats = np.ndarray[tuple[int, ...], np.dtype[np.float64]]
Codes = np.ndarray[tuple[int, ...], np.dtype[np.int64]]


def view_of(hidden: int) -> AttackerView:
    """The first columns of the visit order hidden, the last three known."""
    torch.set_num_threads(1)
    order = Round.draw(Game("acs", ("SEX",), 3.0)).prior.visit_order
    return Round.draw(Game("acs", order[:hidden], 3.0, known=order[-3:])).view


@pytest.mark.parametrize(("hidden", "least"), [(3, 2.0), (13, 5.0)])
def test_followed_draws_against_counted_ones(
    benchmark: BenchmarkFixture,
    fastest: Fastest,
    monkeypatch: pytest.MonkeyPatch,
    hidden: int,
    least: float,
) -> None:
    """The same number of sweeps, with evidence looked up cell by cell and draws counted."""
    view = view_of(hidden)

    def attack(most: int) -> None:
        monkeypatch.setattr(draw_model, "MOST_RECORDS", most)
        Posterior().reconstruct(view, np.random.default_rng(0))

    followed, counted = fastest(2, lambda: attack(1_000), lambda: attack(0))
    benchmark.extra_info["counted over followed, time"] = counted / followed
    benchmark.pedantic(attack, args=(1_000,), rounds=1, iterations=1)
    assert counted >= least * followed


def test_records_alike_are_descended_once(benchmark: BenchmarkFixture, fastest: Fastest) -> None:
    """100 records with some ten distinct known rows, against a descent of every record."""
    view = view_of(8)
    assert isinstance(view.release, MarginalsRelease)
    problem = build_problem(view, np.random.default_rng(0), restarts=1)
    paths = FormPaths(problem, Objective(), 0.05)
    fit = KernelFit.of([view.release], view.known, view.targets)
    plain = Descent([torch.from_numpy(start.copy()) for start in problem.starts], 0.05)
    mine, every = fastest(10, paths.step, lambda: plain.step(fit))
    benchmark.extra_info["every record over one of each kind, time"] = every / mine
    benchmark(paths.step)
    assert every >= 1.5 * mine


def test_draws_by_bisection(
    benchmark: BenchmarkFixture, fastest: Fastest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Draws of all columns against comparing a uniform with every cumulative chance."""
    view = view_of(13)

    def compare_all(below: Floats, rows: Codes, uniforms: Floats) -> Codes:
        chances = below.reshape(-1, below.shape[-1])[rows]
        return np.asarray((chances[..., :-1] <= uniforms[..., None]).sum(axis=-1))

    def draw(find: Callable[..., Codes]) -> Codes:
        monkeypatch.setattr(baynet, "find_quantiles", find)
        return draw_targets(view.prior, view.known, view.targets, 500, np.random.default_rng(0))

    assert np.array_equal(draw(find_quantiles), draw(compare_all))
    fast, slow = fastest(5, lambda: draw(find_quantiles), lambda: draw(compare_all))
    benchmark.extra_info["comparing all over bisection, time"] = slow / fast
    benchmark.pedantic(draw, args=(find_quantiles,), rounds=1, iterations=1)
    assert slow >= 1.3 * fast
