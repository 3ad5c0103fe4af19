"""Thirty repetitions of a game attacked together, against one after the other, on one thread."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch
from pytest_benchmark.fixture import BenchmarkFixture

from reconbench.attacks import AttackerView
from reconbench.attacks.rap.descent import SMALLEST_PRIOR
from reconbench.attacks.rap.marginal_fit import KernelFit
from reconbench.attacks.rap.paths import Descent
from reconbench.attacks.rap.rap import Rap, RapConverged
from reconbench.benchmarks.game.play import Game, Round
from reconbench.mechanisms import MarginalsRelease

REPETITIONS = 30
STEPS = 1_000

Fastest = Callable[..., list[float]]


def repetitions(column: str) -> list[AttackerView]:
    torch.set_num_threads(1)
    games = [Game("acs", (column,), 1.0, seed=900, rep=rep) for rep in range(REPETITIONS)]
    return [Round.draw(game).view for game in games]


def together(attack: Rap | RapConverged, views: list[AttackerView]) -> None:
    attack.reconstruct_many(views, [np.random.default_rng(i) for i in range(len(views))])


def one_by_one(attack: Rap | RapConverged, views: list[AttackerView]) -> None:
    for i, view in enumerate(views):
        attack.reconstruct(view, np.random.default_rng(i))


def operation_by_operation(view: AttackerView) -> None:
    """A descent of one view in double precision, every operation with memory of its own."""
    assert isinstance(view.release, MarginalsRelease)
    prior = torch.from_numpy(view.prior.conditional(view.known, view.targets))
    fit = KernelFit.of([view.release], view.known, view.targets)
    path = Descent([prior.clamp_min(SMALLEST_PRIOR).log()[None]], 0.05)
    for _ in range(STEPS):
        path.step(fit)


@pytest.mark.parametrize(("column", "least"), [("SEX", 4.0), ("AGEP", 2.0)])
def test_converged_repetitions_together(
    benchmark: BenchmarkFixture, fastest: Fastest, column: str, least: float
) -> None:
    """A step's fixed cost is paid once; with more values the matrix products are what is left."""
    views, attack = repetitions(column), RapConverged(STEPS)
    benchmark.pedantic(together, args=(attack, views), rounds=1, iterations=1)
    batch, singles, plain = fastest(
        3,
        lambda: together(attack, views),
        lambda: one_by_one(attack, views),
        lambda: operation_by_operation(views[0]),
    )
    benchmark.extra_info["throughput over single runs"] = singles / batch
    benchmark.extra_info["over plain descents"] = REPETITIONS * plain / batch
    assert singles / batch >= least
    assert REPETITIONS * plain / batch >= 5


@pytest.mark.parametrize("column", ["SEX", "AGEP"])
def test_stopped_repetitions_together(
    benchmark: BenchmarkFixture, fastest: Fastest, column: str
) -> None:
    """A single run holds 17 tables already: together costs no more, but gains little."""
    views, attack = repetitions(column), Rap()
    benchmark.pedantic(together, args=(attack, views), rounds=1, iterations=1)
    batch, singles = fastest(5, lambda: together(attack, views), lambda: one_by_one(attack, views))
    benchmark.extra_info["throughput over single runs"] = singles / batch
    assert singles / batch >= 0.8
