"""The posterior sampler against RAP, its sweeps against slower forms, and tables against chains."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch
from pytest_benchmark.fixture import BenchmarkFixture

from reconbench.attacks import AttackerView
from reconbench.attacks.posterior import posterior
from reconbench.attacks.posterior.cell_model import CellModel
from reconbench.attacks.posterior.counts.model import CountModel
from reconbench.attacks.posterior.evidence import Evidence
from reconbench.attacks.posterior.gibbs import gram_sweep
from reconbench.attacks.posterior.gram_model import GramModel
from reconbench.attacks.posterior.joint.model import JointModel
from reconbench.attacks.posterior.posterior import Posterior
from reconbench.attacks.rap.rap import RapConverged
from reconbench.benchmarks.game.play import Game, Round

Fastest = Callable[..., list[float]]
Floats = np.ndarray[tuple[int, ...], np.dtype[np.float64]]

WEIGHT = 0.02


def game() -> AttackerView:
    torch.set_num_threads(1)
    return Round.draw(Game("acs", ("AGEP",), 3.0)).view


def started() -> GramModel:
    model = GramModel(game(), Evidence.of(game()))
    model.start(1, 1, np.random.default_rng(0))
    return model


def compiled_sweep(model: GramModel, uniforms: Floats) -> None:
    gram_sweep(
        model._gram,
        model._gathered,
        model._row,
        model._log_prior,
        model._x[0],
        model._pulled[0],
        WEIGHT,
        np.arange(len(model._row)),
        uniforms,
        model._chances[0],
    )


def numpy_sweep(model: GramModel, uniforms: Floats) -> None:
    """The same sweep, record by record, each step in whole-array numpy."""
    gram, gathered, log_prior = model._gram, model._gathered, model._log_prior
    x, pulled = model._x[0], model._pulled[0]
    for i, g in enumerate(model._row):
        others = pulled[:, g].copy()
        others[x[i]] -= gram[g, g]
        logits = log_prior[i] + WEIGHT * (gathered[g] - others)
        chances = np.exp(logits - logits.max())
        chances /= chances.sum()
        below = chances.cumsum()
        new = min(int(np.searchsorted(below, uniforms[i], side="right")), len(chances) - 1)
        pulled[x[i]] -= gram[g]
        pulled[new] += gram[g]
        x[i] = new


def test_posterior_is_no_slower_than_rap(benchmark: BenchmarkFixture, fastest: Fastest) -> None:
    view = game()
    attacks = Posterior(), RapConverged(steps=1_000)
    tasks = [lambda a=a: a.reconstruct(view, np.random.default_rng(0)) for a in attacks]
    mine, rap = fastest(5, *tasks)
    benchmark.extra_info["posterior over 1,000 steps of rap, time"] = mine / rap
    benchmark(tasks[0])
    assert mine <= rap


def test_compiled_sweep_is_twenty_times_numpy(
    benchmark: BenchmarkFixture, fastest: Fastest
) -> None:
    uniforms = np.random.default_rng(1).random(game().n)
    one, other = started(), started()
    for _ in range(10):
        compiled_sweep(one, uniforms)
        numpy_sweep(other, uniforms)
        assert np.array_equal(one._x, other._x)
    fast, slow = fastest(
        30, lambda: compiled_sweep(one, uniforms), lambda: numpy_sweep(other, uniforms)
    )
    benchmark.extra_info["numpy over compiled sweep, time"] = slow / fast
    benchmark(lambda: compiled_sweep(one, uniforms))
    assert slow >= 20 * fast


def test_counts_are_five_times_records(
    benchmark: BenchmarkFixture, fastest: Fastest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same sweeps of the same game of 10,000 records, by counts and record by record."""
    known = ("MAR", "RELP", "DIS", "ESP", "SEX")
    view = Round.draw(Game("acs", ("AGEP",), 3.0, n=10_000, known=known)).view
    attack = Posterior(sweeps=40, burn_in=30, rounds=1)

    def play(form: type[CountModel] | type[CellModel]) -> None:
        monkeypatch.setattr(posterior, "choose_model", lambda *game: form(*game[:2]))
        attack.sample(view, np.random.default_rng(0))

    play(CountModel)
    counts, records = fastest(3, lambda: play(CountModel), lambda: play(CellModel))
    benchmark.extra_info["record by record over counts, time"] = records / counts
    benchmark(lambda: play(CountModel))
    assert records >= 5 * counts


def two_hidden(epsilon: float) -> AttackerView:
    torch.set_num_threads(1)
    return Round.draw(Game("acs", ("SCHL", "AGEP"), epsilon)).view


def test_exact_tables_against_short_chains(benchmark: BenchmarkFixture, fastest: Fastest) -> None:
    """Without noise: all tables that fit, against chains of a tenth of the usual length."""
    view = two_hidden(float("inf"))

    def sample() -> None:
        Posterior(sweeps=20, burn_in=6, rounds=1).sample(view, np.random.default_rng(0))

    def solve() -> None:
        Posterior().reconstruct(view, np.random.default_rng(0))

    chains, tables = fastest(3, sample, solve)
    benchmark.extra_info["chains over tables, time"] = chains / tables
    benchmark.pedantic(solve, rounds=3)
    assert chains / tables > 5


def test_joint_sweeps_against_looking_up_cells(
    benchmark: BenchmarkFixture, fastest: Fastest
) -> None:
    """A sweep of 16 replicas at a low noise level, with and without released cells."""
    view = two_hidden(300.0)
    at, weights, rng = np.arange(16)[:, None], np.array([0.3]), np.random.default_rng(0)
    models = [form(view, Evidence.of(view)) for form in (CellModel, JointModel)]
    for model in models:
        model.start(16, 1, rng)
    cells, joint = fastest(3, *(lambda m=m: m.sweep(at, weights, rng) for m in models))
    benchmark.extra_info["cells over joint values, time"] = cells / joint
    benchmark.pedantic(lambda: models[1].sweep(at, weights, rng), rounds=3)
    assert cells / joint > 3
