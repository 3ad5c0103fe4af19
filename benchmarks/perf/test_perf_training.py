"""Many small networks trained together, against one after the other in torch."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from pytest_benchmark.fixture import BenchmarkFixture

from reconbench.benchmarks.run.runner import available_cores
from reconbench.datasets.shipped import acs
from reconbench.mechanisms.training.algorithms import Network, Records, Sgd

MODELS = 2_000
EPOCHS = 2
LOOPED = 20


def one_after_the_other(inputs: torch.Tensor, labels: torch.Tensor, classes: int) -> None:
    """Torch with all cores, as it comes."""
    torch.set_num_threads(available_cores())
    for _ in range(LOOPED):
        net = torch.nn.Sequential(
            torch.nn.Linear(inputs.shape[1], 128), torch.nn.ReLU(), torch.nn.Linear(128, classes)
        )
        descent = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9)
        for _ in range(EPOCHS):
            order = torch.randperm(len(labels))
            for start in range(0, len(labels), 100):
                rows = order[start : start + 100]
                descent.zero_grad()
                torch.nn.functional.cross_entropy(net(inputs[rows]), labels[rows]).backward()
                descent.step()


def test_shadow_models_together(
    benchmark: BenchmarkFixture, fastest: Callable[..., list[float]]
) -> None:
    """2,000 networks of the paper's shape on 1,000 records, a hundredth of their epochs."""
    table = acs().sample(1_000, np.random.default_rng(0))
    records = Records.of_table(table, "SEX")
    inputs = torch.zeros(len(records), records.features)
    active = torch.tensor(records.indices.astype(np.int64)).reshape(len(records), -1)
    inputs.scatter_(1, active, 1.0)
    labels = torch.tensor(records.labels)
    algorithm = Sgd(Network(128), epochs=EPOCHS)
    algorithm.train(records, 1, np.random.default_rng(1))

    def together() -> None:
        algorithm.train(records, MODELS, np.random.default_rng(1), available_cores())

    benchmark.pedantic(together, rounds=1, iterations=1)
    batch, looped = fastest(
        5, together, lambda: one_after_the_other(inputs, labels, records.classes)
    )
    ratio = looped / LOOPED * MODELS / batch
    benchmark.extra_info["over a loop of torch"] = ratio
    assert ratio >= 10
