"""Two thousand n-gram models trained together, against one after the other: in torch, and by the
same code on one model at a time, which is the faster loop."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from pytest_benchmark.fixture import BenchmarkFixture

from reconbench.datasets.secrets import zipf_digit
from reconbench.mechanisms.ngram_models import LazyTraining

MODELS = 2_000
LOOPED = 40
TRAINING = LazyTraining((0.0,) * 10, 0.5, 0.3, 10, 1.0)


def one_after_the_other(secrets: torch.Tensor) -> None:
    """The same steps on the row of the context alone, as plain torch does them."""
    torch.set_num_threads(1)
    for secret in secrets:
        row = torch.zeros(1, len(TRAINING.start), requires_grad=True)
        for _ in range(TRAINING.epochs):
            loss = torch.nn.functional.cross_entropy(row, secret[None])
            (gradient,) = torch.autograd.grad(loss, row)
            with torch.no_grad():
                gradient *= (TRAINING.clip / gradient.norm()).clamp(max=1.0)
                noise = TRAINING.noise * torch.randn_like(row)
                row -= TRAINING.rate * (gradient + noise)


def test_models_of_one_secret_together(
    benchmark: BenchmarkFixture, fastest: Callable[..., list[float]]
) -> None:
    secrets = zipf_digit().sample(MODELS, np.random.default_rng(0)).column("digit")
    looped = torch.tensor(secrets[:LOOPED])

    def together() -> None:
        TRAINING.train(secrets, np.random.default_rng(1))

    def alone() -> None:
        rng = np.random.default_rng(1)
        for place in range(LOOPED):
            TRAINING.train(secrets[place : place + 1], rng)

    benchmark.pedantic(together, rounds=3, iterations=1)
    batch, *loops = fastest(5, together, alone, lambda: one_after_the_other(looped))
    ratios = [loop / LOOPED * MODELS / batch for loop in loops]
    benchmark.extra_info["over a loop of the same code"] = ratios[0]
    benchmark.extra_info["over a loop of torch"] = ratios[1]
    assert min(ratios) >= 20
