"""DP-SGD steps: clipping, noise and sensitivity against slow twins, and the contract."""

from __future__ import annotations

from math import inf, sqrt
from typing import Any

import numpy as np
import pytest
from scipy.stats import chi2, kstest, norm

from reconbench.bounds import Relation, gaussian_mu
from reconbench.bounds.gradients import attack_variance, rows_needed
from reconbench.datasets import BayNet, DomainError, Table
from reconbench.mechanisms import Mechanism, MechanismError, Release
from reconbench.mechanisms.gradient_steps import (
    DeepNetwork,
    GradientNetwork,
    GradientStep,
    GradientSteps,
    IdleNetwork,
    OptimalNetwork,
    one_hot,
)

# Of every seeded statistical check here.
FALSE_ALARM = 1e-4
NETWORKS = (OptimalNetwork(3), OptimalNetwork(3, True), IdleNetwork(3, True), DeepNetwork(3))


def autograd_twin(network: DeepNetwork, x: np.ndarray) -> tuple[np.ndarray, float]:
    """One record at a time, every parameter a leaf: slopes and the norm of the whole gradient."""
    import torch

    layers = [torch.tensor(w, requires_grad=True) for w in network.weights(len(x))]
    bias = torch.zeros(network.rows, dtype=torch.float64, requires_grad=True)
    first = layers[0] @ torch.tensor(x) + bias
    hidden = layers[1] @ first
    for block in range(network.blocks):
        a, b = layers[2 + 2 * block], layers[3 + 2 * block]
        hidden = hidden + b @ torch.relu(a @ torch.relu(hidden))
    logits = layers[-1] @ torch.relu(hidden)
    loss = network.trap * first.sum() - torch.log_softmax(logits, 0)[0]
    *weights, slopes = torch.autograd.grad(loss, [*layers, bias])
    squares = sum(float(w.square().sum()) for w in weights)
    return slopes.numpy(), sqrt(squares + float(slopes.square().sum()) * network.bias)


@pytest.mark.parametrize("bias", [True, False])
def test_deep_network_against_plain_autograd(bias: bool) -> None:
    network = DeepNetwork(3, bias, blocks=2, width=7, classes=4, trap=0.5, seed=2)
    x = np.random.default_rng(0).standard_normal((5, 6))
    found = network.backward(x)
    for i, each in enumerate(x):
        slopes, size = autograd_twin(network, each)
        assert found.slopes[i] == pytest.approx(slopes, rel=1e-12)
        assert found.norms[i] == pytest.approx(size, rel=1e-12)


def test_linear_networks_by_hand() -> None:
    x = np.array([[3.0, 4.0], [0.0, 2.0]])
    found = OptimalNetwork(4).backward(x)
    assert found.slopes.tolist() == [[1.0] * 4] * 2 and found.norms.tolist() == [10.0, 4.0]
    assert OptimalNetwork(4, True).backward(x).norms == pytest.approx([sqrt(104), sqrt(20)])
    idle = IdleNetwork(4, idle=100, idle_gradient=0.3).backward(x)
    assert idle.norms == pytest.approx([sqrt(109), sqrt(25)])
    assert found.scales(5.0).tolist() == [[0.5] * 4, [1.0] * 4]


@pytest.mark.parametrize("network", NETWORKS, ids=lambda n: f"{n.name} {n.bias}")
@pytest.mark.parametrize("batch", [1, 3])
def test_without_noise_the_gradients_are_the_clipped_sums(
    network: GradientNetwork, batch: int
) -> None:
    x = np.random.default_rng(1).standard_normal((7, 5)) * 3
    seen = GradientStep(network, 0.0, 0.7, batch, 2).observe(x, np.random.default_rng(0))
    batches = [range(start, min(start + batch, 7)) for start in range(0, 7, batch)]
    back = network.backward(x)
    for place, members in enumerate(batches):
        scales = [back.slopes[i] * min(1, 0.7 / back.norms[i]) for i in members]
        total = sum(np.outer(s, x[i]) for s, i in zip(scales, members, strict=True))
        assert seen.weights[:, place] == pytest.approx(np.stack([total] * 2))
        if seen.biases is not None:
            assert seen.biases[:, place] == pytest.approx(np.stack([sum(scales)] * 2))
    assert (seen.biases is None) is not network.bias
    # What is released of a record is never longer than the clipping norm.
    sizes = np.square(seen.scales).sum(1) * (np.square(x).sum(1) + network.bias)
    assert (sizes <= 0.7**2 * (1 + 1e-9)).all()


def test_noise_has_its_scale_and_half_of_it_is_caught() -> None:
    x, rng = np.zeros((200, 5)), np.random.default_rng(3)
    seen = GradientStep(OptimalNetwork(2, True), 1.5, 0.4, 1, 3).observe(x, rng)
    weights = seen.weights.ravel() / 0.6
    assert kstest(weights, norm.cdf).pvalue > FALSE_ALARM
    assert kstest(2 * weights, norm.cdf).pvalue < FALSE_ALARM
    assert seen.biases is not None
    # The scale of a record of norm 0 is min(1, C/√M).
    assert kstest((seen.biases.ravel() - 0.4 / sqrt(2)) / 0.6, norm.cdf).pvalue > FALSE_ALARM


@pytest.mark.parametrize(("rows", "clip"), [(1, 1.0), (5, 5.0), (24, 5.0), (25, 5.0), (60, 5.0)])
def test_variance_of_theorem_iv_1_as_corrected(rows: int, clip: float) -> None:
    """σ² max(C²/M, ‖X‖²), by a chi-square test on both sides; M = ⌈C/‖X‖⌉ = 5 is not enough."""
    rng, sigma, x = np.random.default_rng(rows), 0.3, np.tile([[0.6, 0.0, 0.8]], (4000, 1))
    seen = GradientStep(OptimalNetwork(rows), sigma, clip).observe(x, rng)
    estimate = (seen.weights[0] / seen.scales[:, :, None]).mean(axis=1)
    gaps = np.square(estimate - x)

    def p_value(variance: float) -> float:
        tail = chi2.sf(gaps.sum() / variance, gaps.size)
        return float(2 * min(tail, 1 - tail))

    assert p_value(attack_variance(sigma, 1.0, clip, rows)) > FALSE_ALARM
    if rows < rows_needed(1.0, clip) and rows < 20:
        assert p_value(sigma**2) < FALSE_ALARM


def every(net: BayNet) -> np.ndarray:
    codes = np.indices(net.domain.sizes).reshape(len(net.domain), -1).T
    return one_hot(Table(net.domain, codes))


@pytest.mark.parametrize("options", [{}, {"bias": False}, {"rows": 40, "clip": 9.0}, {"steps": 3}])
@pytest.mark.parametrize("network", ["optimal", "idle"])
def test_guarantee_is_the_longest_way_between_records(
    toy_net: BayNet, network: str, options: dict[str, Any]
) -> None:
    """All pairs of records: the noise-free gradients differ by exactly μσC/√steps at most."""
    mechanism = GradientSteps.for_budget(
        toy_net.domain, ("a",), 2.0, 1e-5, network=network, **options
    )
    x = every(toy_net)
    scales = mechanism.network.backward(x).scales(mechanism.clip)
    whole = (scales[:, :, None] * x[:, None, :]).reshape(len(x), -1)
    whole = np.hstack([whole, scales]) if mechanism.network.bias else whole
    longest = max(np.linalg.norm(whole - each, axis=1).max() for each in whole)
    step = mechanism.step
    reach = mechanism.guarantee.mu * step.sigma * step.clip / sqrt(step.steps)
    assert reach == pytest.approx(longest)
    assert mechanism.guarantee.mu <= gaussian_mu(2.0, 1e-5) * (1 + 1e-9)


def test_guarantee_of_a_deep_network_covers_all_pairs(toy_net: BayNet) -> None:
    mechanism = GradientSteps.for_budget(toy_net.domain, ("a",), 2.0, 1e-5, network="deep")
    x = every(toy_net)
    scales = mechanism.network.backward(x).scales(1.0)
    whole = np.hstack([scales * x, scales])
    longest = max(np.linalg.norm(whole - each, axis=1).max() for each in whole)
    assert longest <= mechanism.guarantee.mu * mechanism.step.sigma
    assert mechanism.guarantee.mu == pytest.approx(gaussian_mu(2.0, 1e-5))
    assert mechanism.scale is None


def test_sensitivity_by_relation() -> None:
    step = GradientStep(OptimalNetwork(), 4.0, clip=3.0, steps=4)
    assert step.guarantee(Relation.ADD_REMOVE).mu == pytest.approx(0.5)
    assert step.guarantee(Relation.REPLACE_ONE).mu == pytest.approx(1.0)
    assert GradientStep(OptimalNetwork(), 0.0).guarantee(Relation.REPLACE_ONE).mu == inf


def test_budget_is_exact_and_steps_share_it(toy_net: BayNet) -> None:
    one = GradientSteps.for_budget(toy_net.domain, ("a",), 1.0, 1e-5)
    four = GradientSteps.for_budget(toy_net.domain, ("a",), 1.0, 1e-5, steps=4)
    assert four.step.sigma == pytest.approx(2 * one.step.sigma)
    for each in (one, four):
        assert each.step.guarantee(Relation.REPLACE_ONE).epsilon_at(1e-5) == pytest.approx(1.0)
        assert each.guarantee.mu == pytest.approx(one.guarantee.mu)
    free = GradientSteps.for_budget(toy_net.domain, ("a",), inf, 1e-5)
    assert free.step.sigma == 0.0 and free.guarantee.mu == inf


def test_the_contract(toy_net: BayNet) -> None:
    mechanism = GradientSteps.for_budget(toy_net.domain, ("a", "c"), 1.0, 1e-5, batch=4)
    assert isinstance(mechanism, Mechanism)
    table = toy_net.sample(10, np.random.default_rng(0))
    release = mechanism.release(table, np.random.default_rng(1))
    assert isinstance(release, Release) and release.domain == toy_net.domain
    assert release.weights.shape == (1, 3, 1, sum(toy_net.domain.sizes))
    assert release.biases is not None
    assert not release.weights.flags.writeable and not release.biases.flags.writeable
    again = mechanism.release(table, np.random.default_rng(1))
    assert np.array_equal(release.weights, again.weights)
    assert mechanism.facts()["sigma"] == mechanism.step.sigma
    assert release.scale == pytest.approx(1 / sqrt(6))


def test_one_hot(toy_net: BayNet) -> None:
    table = toy_net.sample(20, np.random.default_rng(0))
    vectors = one_hot(table)
    assert (vectors.sum(axis=1) == len(toy_net.domain)).all()
    start = 0
    for name, size in zip(toy_net.domain.names, toy_net.domain.sizes, strict=True):
        block = vectors[:, start : start + size]
        assert (block.argmax(axis=1) == table.column(name)).all()
        start += size


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"network": "big"}, "network must be one of optimal, idle, deep, got 'big'"),
        ({"rows": 0}, "rows must be an integer >= 1, got 0"),
        ({"batch": 1.5}, "batch must be an integer >= 1, got 1.5"),
        ({"steps": True}, "steps must be an integer >= 1, got True"),
        ({"steps": "x"}, "steps must be an integer >= 1, got 'x'"),
        ({"clip": 0.0}, "clip must be > 0 and finite"),
        ({"clip": "wide"}, "clip must be > 0 and finite, got 'wide'"),
        ({"bias": "no"}, "bias must be true or false, got 'no'"),
    ],
)
def test_wrong_options_are_told(toy_net: BayNet, options: dict[str, Any], message: str) -> None:
    with pytest.raises(MechanismError, match=message):
        GradientSteps.for_budget(toy_net.domain, ("a",), 1.0, 1e-5, **options)


def test_wrong_use_is_told(toy_net: BayNet) -> None:
    with pytest.raises(MechanismError, match="at least one column"):
        GradientSteps.for_budget(toy_net.domain, (), 1.0, 1e-5)
    with pytest.raises(ValueError, match="delta must be > 0"):
        GradientSteps.for_budget(toy_net.domain, ("a",), 1.0, 0.0)
    mechanism = GradientSteps.for_budget(toy_net.domain, ("a",), 1.0, 1e-5)
    rng = np.random.default_rng(0)
    with pytest.raises(DomainError, match="not those the mechanism was built for"):
        mechanism.release(toy_net.sample(3, rng).project(["a", "b"]), rng)
    with pytest.raises(MechanismError, match="one row a record"):
        GradientStep(OptimalNetwork(), 1.0).observe(np.ones(3), rng)
    with pytest.raises(MechanismError, match=r"use fewer rows"):
        GradientStep(OptimalNetwork(10**9), 1.0).observe(np.ones((1, 3)), rng)
    with pytest.raises(MechanismError, match="sigma must be >= 0"):
        GradientStep(OptimalNetwork(), inf)
    for bad in (
        lambda: DeepNetwork(classes=1),
        lambda: DeepNetwork(trap=inf),
        lambda: IdleNetwork(idle_gradient=inf),
    ):
        with pytest.raises(MechanismError, match="must be"):
            bad()
