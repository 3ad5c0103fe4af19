"""Attacks on synthetic tables: what sharing saves, and compiled chains against plain ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt
import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from reconbench.attacks import Attack, AttackerView
from reconbench.attacks.synthetic.cliques.cell_chain import sample_column
from reconbench.attacks.synthetic.imagined import forget_settings
from reconbench.attacks.synthetic.pooled import BayesNetPooled, Cliques, NaiveBayesPooled
from reconbench.benchmarks.game.options import Options
from reconbench.benchmarks.game.play import Game, Round

Codes = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

REPETITIONS = 6

Fastest = Callable[..., list[float]]


def repetitions() -> list[AttackerView]:
    options = Options({"structure": "tree"})
    game = Game("acs", ("SEX",), 10.0, mechanism="pgm", mechanism_options=options)
    return [Round.draw(game.repeat(rep)).view for rep in range(REPETITIONS)]


def play(attacks: Sequence[Attack], views: Sequence[AttackerView], forget: bool) -> None:
    """Play a setting, with all that was learnt of it thrown away at the start, or at every call."""
    forget_settings()
    for attack in attacks:
        for view in views:
            if forget:
                forget_settings()
            attack.reconstruct(view, np.random.default_rng(0))


def test_weights_of_a_setting_against_weights_of_every_call(
    benchmark: BenchmarkFixture, fastest: Fastest
) -> None:
    views = repetitions()
    attacks: list[Attack] = [NaiveBayesPooled(), BayesNetPooled(), Cliques()]
    benchmark.pedantic(play, args=(attacks, views, False), rounds=1, iterations=1)
    shared, anew = fastest(
        2, lambda: play(attacks, views, False), lambda: play(attacks, views, True)
    )
    benchmark.extra_info["times faster than learning at every call"] = anew / shared
    assert anew / shared >= 3


def plain_chain(
    rows: Codes,
    starts: Codes,
    residual: Floats,
    precision: Floats,
    log_prior: Floats,
    uniforms: Floats,
) -> Floats:
    """The chain with cells read one by one, vectorised over sets and values as numpy can."""
    n, size = log_prior.shape
    cells = starts[:-1] + rows[:, None, :] * size + np.arange(size)[:, None]
    counts = np.zeros(len(residual))
    x = log_prior.argmax(axis=1)
    np.add.at(counts, cells[np.arange(n), x], 1.0)
    kept = np.zeros_like(log_prior)
    for uniform in uniforms:
        for i in range(n):
            counts[cells[i, x[i]]] -= 1.0
            gain = (precision * (residual - counts - 0.5))[cells[i]].sum(axis=1)
            logits = log_prior[i] + gain
            chances = np.exp(logits - logits.max())
            chances /= chances.sum()
            x[i] = min(int((chances.cumsum() <= uniform[i]).sum()), size - 1)
            counts[cells[i, x[i]]] += 1.0
            kept[i] += chances
    return kept / len(uniforms)


def test_compiled_chain_against_numpy(benchmark: BenchmarkFixture, fastest: Fastest) -> None:
    rng = np.random.default_rng(0)
    n, size, sets, width, sweeps = 100, 10, 15, 5, 10
    rows = rng.integers(0, width, (n, sets))
    starts = np.arange(sets + 1) * width * size
    residual, precision = rng.normal(2.0, 2.0, starts[-1]), np.full(starts[-1], 0.2)
    log_prior = np.log(rng.dirichlet(np.ones(size), n))
    uniforms = rng.random((sweeps, n))
    nothing, none = np.zeros(starts[-1]), np.zeros(size)

    def compiled() -> Floats:
        return sample_column(
            rows, starts, residual, precision, nothing, none, none, log_prior, uniforms, 0
        )

    def plain() -> Floats:
        return plain_chain(rows, starts, residual, precision, log_prior, uniforms)

    assert compiled() == pytest.approx(plain(), abs=1e-9)
    benchmark(compiled)
    ours, theirs = fastest(3, compiled, plain)
    benchmark.extra_info["times faster than numpy"] = theirs / ours
    assert theirs / ours >= 10
