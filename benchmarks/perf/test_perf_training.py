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
# A turn of either side takes about as long, so that a busy moment is as likely to hit both.
TURN = 200
LOOPED = 10


def one_after_the_other(
    inputs: torch.Tensor, labels: torch.Tensor, classes: int, threads: int
) -> None:
    torch.set_num_threads(threads)
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
    benchmark: BenchmarkFixture,
    fastest: Callable[..., list[float]],
    least_cpu: Callable[..., list[float]],
) -> None:
    """2,000 networks of the paper's shape on 1,000 records, a hundredth of their epochs.

    The time per model is compared, with all cores for both, as it comes. Turns are short and as
    long for both sides, so that a quiet moment is enough for either. Where there is none, torch
    loses more, as its threads wait for each other: the ratio can only grow. CPU time with one
    thread each, which other processes hardly change, is printed beside it.
    """
    table = acs().sample(1_000, np.random.default_rng(0))
    records = Records.of_table(table, "SEX")
    inputs = torch.zeros(len(records), records.features)
    active = torch.tensor(records.indices.astype(np.int64)).reshape(len(records), -1)
    inputs.scatter_(1, active, 1.0)
    labels = torch.tensor(records.labels)
    algorithm = Sgd(Network(128), epochs=EPOCHS)
    algorithm.train(records, 1, np.random.default_rng(1))

    def train(models: int, threads: int) -> None:
        algorithm.train(records, models, np.random.default_rng(1), threads)

    def compare(measure: Callable[..., list[float]], threads: int) -> float:
        together, looped = measure(
            7,
            lambda: train(TURN, threads),
            lambda: one_after_the_other(inputs, labels, records.classes, threads),
        )
        return looped / LOOPED * TURN / together

    cores = available_cores()
    benchmark.pedantic(train, (MODELS, cores), rounds=1, iterations=1)
    ratio = compare(fastest, cores)
    benchmark.extra_info["over a loop of torch"] = ratio
    benchmark.extra_info["in CPU time, one thread each"] = compare(least_cpu, 1)
    assert ratio >= 10
