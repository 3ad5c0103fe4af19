"""Compiled training against torch, step by step."""

from __future__ import annotations

from math import sqrt

import dp_accounting
import numpy as np
import numpy.typing as npt
import pytest
import torch
from dp_accounting.pld.pld_privacy_accountant import PLDAccountant

from reconbench.datasets import BayNet, Table
from reconbench.mechanisms import MechanismError
from reconbench.mechanisms.training.algorithms import DpSgd, Models, Network, Records, Sgd

LABEL = "b"


@pytest.fixture(scope="module")
def table(toy_net: BayNet) -> Table:
    """More records than the kernels hold at once, and not a multiple."""
    return toy_net.sample(150, np.random.default_rng(0))


def dense(records: Records) -> torch.Tensor:
    found = torch.zeros(len(records), records.features)
    for i in range(len(records)):
        for at in range(records.indptr[i], records.indptr[i + 1]):
            found[i, int(records.indices[at])] += float(records.values[at])
    return found


def network(models: Models, place: int) -> torch.nn.Sequential:
    """A model as torch has it."""
    width = models.hidden or models.classes
    flat = torch.tensor(models.weights[place].copy())
    sizes = [models.features * width, width]
    sizes += [models.classes * width, models.classes] if models.hidden else []
    parts = torch.split(flat, sizes)
    first = torch.nn.Linear(models.features, width)
    layers: list[torch.nn.Module] = [first]
    first.weight.data = parts[0].reshape(models.features, width).T.contiguous()
    first.bias.data = parts[1].clone()
    if models.hidden:
        second = torch.nn.Linear(width, models.classes)
        second.weight.data = parts[2].reshape(models.classes, width).clone()
        second.bias.data = parts[3].clone()
        layers += [torch.nn.ReLU(), second]
    return torch.nn.Sequential(*layers)


def flat(net: torch.nn.Sequential) -> npt.NDArray[np.float32]:
    first = net[0]
    assert isinstance(first, torch.nn.Linear)
    parts = [first.weight.T.reshape(-1), first.bias]
    if len(net) > 1:
        second = net[2]
        assert isinstance(second, torch.nn.Linear)
        parts += [second.weight.reshape(-1), second.bias]
    return torch.cat([part.detach() for part in parts]).numpy()


@pytest.mark.parametrize("hidden", [0, 7])
def test_steps_and_losses_are_those_of_torch(table: Table, hidden: int) -> None:
    records = Records.of_table(table, LABEL)
    shape = Network(hidden)
    algorithm = Sgd(shape, epochs=5, batch=len(table), rate=0.3, start_seed=4)
    found = algorithm.train(records, 2, np.random.default_rng(1))
    start = Models(
        shape.start(records, 1, np.random.default_rng(4)),
        records.features,
        hidden,
        records.classes,
    )
    net = network(start, 0)
    descent = torch.optim.SGD(net.parameters(), lr=0.3, momentum=0.9)
    inputs, labels = dense(records), torch.tensor(records.labels)
    for _ in range(5):
        descent.zero_grad()
        torch.autograd.backward(torch.nn.functional.cross_entropy(net(inputs), labels))
        descent.step()
    for row in found.weights:
        assert row == pytest.approx(flat(net), abs=2e-5)
    one = records.take([3])
    expected = torch.nn.functional.cross_entropy(net(dense(one)), torch.tensor(one.labels))
    assert found.losses(one)[0] == pytest.approx(float(expected.detach()), abs=1e-5)


@pytest.mark.parametrize("hidden", [0, 7])
def test_clipped_steps_are_those_of_torch(table: Table, hidden: int) -> None:
    """Every record in every batch and next to no noise, so that only the clipping is left."""
    records = Records.of_table(table, LABEL)
    n = len(table)
    clip = 0.4
    algorithm = DpSgd(n, 1e-9, Network(hidden), steps=3, batch=n, rate=2.0, momentum=0.0, clip=clip)
    found = algorithm.train(records, 1, np.random.default_rng(5))
    start = Network(hidden).start(records, 1, np.random.default_rng(5))
    net = network(Models(start, records.features, hidden, records.classes), 0)
    inputs, labels = dense(records), torch.tensor(records.labels)
    clipped = 0
    for _ in range(3):
        total = [torch.zeros_like(p) for p in net.parameters()]
        for i in range(n):
            net.zero_grad()
            loss = torch.nn.functional.cross_entropy(net(inputs[i : i + 1]), labels[i : i + 1])
            torch.autograd.backward(loss)
            gradients = [p.grad for p in net.parameters() if p.grad is not None]
            norm = sqrt(sum(float((g**2).sum()) for g in gradients))
            clipped += norm > clip
            for sum_, gradient in zip(total, gradients, strict=True):
                sum_ += gradient * min(1.0, clip / norm)
        with torch.no_grad():
            for parameter, sum_ in zip(net.parameters(), total, strict=True):
                parameter.sub_(2.0 * sum_ / n)
    assert clipped > 0
    assert found.weights[0] == pytest.approx(flat(net), abs=2e-5)


def test_noise_of_dp_sgd_has_its_scale(table: Table) -> None:
    """One step from a fixed table: the spread over models, beside that of the start, is known."""
    records = Records.of_table(table, LABEL)
    n, noise, clip, rate = len(table), 50.0, 0.5, 0.1
    algorithm = DpSgd(n, noise, Network(0), steps=1, batch=n, rate=rate, momentum=0.0, clip=clip)
    found = algorithm.train(records, 2_000, np.random.default_rng(6))
    biases = found.weights[:, -records.classes :]
    assert biases.std() == pytest.approx(rate * noise * clip / n, rel=0.05)


def test_output_noise_and_starts(table: Table) -> None:
    records = Records.of_table(table, LABEL)
    fixed = Sgd(Network(0), epochs=1, batch=len(table), start_seed=1)
    same = fixed.train(records, 3, np.random.default_rng(0)).weights
    assert np.allclose(same, same[0], atol=1e-6)
    free = Sgd(Network(0), epochs=1, batch=len(table)).train(records, 3, np.random.default_rng(0))
    assert np.std(free.weights, axis=0).max() > 0.01
    noisy = Sgd(Network(0), epochs=1, batch=len(table), start_seed=1, output_noise=0.2)
    spread = noisy.train(records, 400, np.random.default_rng(0)).weights - same[0]
    assert spread.std() == pytest.approx(0.2, rel=0.05)


def test_models_depend_on_their_seed_and_not_on_threads(table: Table) -> None:
    records = Records.of_table(table, LABEL)
    algorithm = Sgd(Network(5), epochs=3, batch=7)
    found = [
        algorithm.train(records, 6, np.random.default_rng(2), threads).weights
        for threads in (1, 2, 9)
    ]
    assert all(np.array_equal(each, found[0]) for each in found)
    assert not np.array_equal(found[0][0], found[0][1])


def test_vectors_and_one_hot_columns_are_the_same_records(table: Table) -> None:
    records = Records.of_table(table, LABEL)
    again = Records.of_vectors(dense(records).numpy(), records.labels, records.classes)
    assert np.array_equal(again.indices, records.indices)
    assert np.array_equal(again.take([4, 2]).values, records.take([4, 2]).values)
    assert again.features == sum(table.domain.sizes) - table.domain[LABEL].size


def test_the_bias_is_a_last_feature_that_is_always_one() -> None:
    vectors = np.array([[0.5, 0, 2, 0, 3], [0, 0, 0, 0, 0], [1, 2, 3, 0, 5]])
    records = Records.of_vectors(vectors, [0, 1, 0], 2).with_bias(4)
    assert records.indptr.tolist() == [0, 4, 8, 16]
    assert dense(records).numpy().tolist() == np.c_[vectors, np.ones(3)].tolist()


def test_the_guarantee_is_for_adding_or_removing_one_record() -> None:
    loud = DpSgd(1_000, 0.8, steps=100).guarantee
    quiet = DpSgd(1_000, 1.6, steps=100).guarantee
    assert "add-or-remove-one" in loud.describe()
    assert 0 < quiet.epsilon_at(1e-5) < loud.epsilon_at(1e-5)
    accountant = PLDAccountant()
    step = dp_accounting.PoissonSampledDpEvent(0.1, dp_accounting.GaussianDpEvent(0.8))
    accountant.compose(step, 100)
    for delta in (1e-2, 1e-5):
        assert loud.epsilon_at(delta) == pytest.approx(accountant.get_epsilon(delta), rel=1e-5)


def test_what_cannot_be_trained_is_said(table: Table) -> None:
    records = Records.of_table(table, LABEL)
    with pytest.raises(MechanismError, match="hidden must be 0"):
        Network(-1)
    with pytest.raises(MechanismError, match="rate must be > 0, got 0"):
        Sgd(rate=0.0)
    with pytest.raises(MechanismError, match=r"momentum must be in \[0, 1\), got 1"):
        Sgd(momentum=1.0)
    with pytest.raises(MechanismError, match="noise must be > 0, got 0; for none use sgd"):
        DpSgd(100, 0.0)
    with pytest.raises(MechanismError, match="at most the 50 records, got 100"):
        DpSgd(50, 1.0)
    with pytest.raises(MechanismError, match="nothing is left to predict 'b' from"):
        Records.of_table(table.project(["b"]), "b")
    with pytest.raises(MechanismError, match="do not fit; train at most"):
        Network(1_000_000).start(records, 1_000, np.random.default_rng(0))
    with pytest.raises(MechanismError, match="one record at a time, got 150"):
        Sgd(Network(0), epochs=1).train(records, 1, np.random.default_rng(0)).losses(records)
