"""Lazy training against the whole network, and its guarantee against the accountant's."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from math import inf, sqrt

import numpy as np
import numpy.typing as npt
import pytest
import torch
from scipy.stats import binomtest, chi2, ks_2samp, kstest

from reconbench.bounds import Relation, gaussian_mu
from reconbench.bounds.guarantees.composed import GaussianRelease, composed
from reconbench.datasets import BayNet, DomainError
from reconbench.datasets.secrets import names, uniform_digit, zipf_digit
from reconbench.mechanisms import MechanismError
from reconbench.mechanisms.ngram_models import (
    LazyTraining,
    NgramModels,
    clip_rows,
    search_training,
    sensitivity,
    softmax,
)

Floats = npt.NDArray[np.float64]


def whole_network(
    training: LazyTraining, contexts: int, context: int, secret: int, noise: Floats
) -> Floats:
    """DP-SGD on all contexts' rows, by torch's gradients; ``noise`` (epochs, contexts, values)."""
    weights = torch.zeros(contexts, len(training.start), dtype=torch.float64)
    weights[context] = torch.tensor(training.start, dtype=torch.float64)
    text = torch.nn.functional.one_hot(torch.tensor([context]), contexts).double()
    for step in noise:
        weights.requires_grad_(True)
        loss = torch.nn.functional.cross_entropy(text @ weights, torch.tensor([secret]))
        (gradient,) = torch.autograd.grad(loss, weights)
        gradient = gradient * min(1.0, training.clip / float(gradient.norm()))
        noisy = gradient + training.noise * torch.tensor(step)
        weights = (weights - training.rate * noisy).detach()
    return weights.numpy()


@pytest.mark.parametrize("clip", [0.2, 0.8, 5.0])
@pytest.mark.parametrize("start", [(0.0, 0.0, 0.0), (1.0, -0.5, 0.3)])
def test_the_touched_row_is_that_of_the_whole_network(
    clip: float, start: tuple[float, ...]
) -> None:
    """With the same noise on its row, number for number."""
    rng = np.random.default_rng(0)
    training = LazyTraining(start, clip, 0.7, 4, 0.6)
    for secret in range(3):
        noise = rng.standard_normal((4, 9, 3))
        lazy = training.follow(np.array([secret]), noise[:, 5:6])
        assert lazy[0] == pytest.approx(whole_network(training, 9, 5, secret, noise)[5], rel=1e-12)


def test_untouched_rows_are_noise_and_tell_nothing() -> None:
    """The same for every secret, number for number, and normal as drawn at once.

    Kolmogorov-Smirnov, seeded; false-alarm rate 1e-6 each.
    """
    rng = np.random.default_rng(1)
    training = LazyTraining((0.0, 0.0, 0.0), 0.5, 0.7, 4, 0.6)
    rest = []
    for _ in range(100):
        noise = rng.standard_normal((4, 9, 3))
        two = [whole_network(training, 9, 5, secret, noise) for secret in (0, 2)]
        others = [np.delete(weights, 5, axis=0) for weights in two]
        assert (others[0] == others[1]).all()
        rest.append(others[0])
    sd = 0.7 * 0.6 * sqrt(4)
    assert kstest(np.ravel(rest) / sd, "norm").pvalue > 1e-6
    assert kstest(training.untouched(1_000, rng).ravel() / sd, "norm").pvalue > 1e-6


def test_lazy_rows_are_distributed_as_whole_ones() -> None:
    """Two samples of the touched row, trained apart; false-alarm rate 1e-6 a value."""
    training = LazyTraining((0.0, 0.0, 0.0), 0.5, 1.0, 3, 0.5)
    rng = np.random.default_rng(2)
    whole = np.array(
        [whole_network(training, 2, 1, 0, rng.standard_normal((3, 2, 3)))[1] for _ in range(400)]
    )
    lazy = training.train(np.zeros(4_000, dtype=np.int64), rng)
    for value in range(3):
        assert ks_2samp(whole[:, value], lazy[:, value]).pvalue > 1e-6


@pytest.mark.parametrize("clip", [0.05, 0.5, 1 / sqrt(2), 0.8, 1.0, 2.0])
def test_sensitivity_is_never_passed_and_is_attained(clip: float) -> None:
    """Random rows, and the row that doubts between two secrets only."""
    rng = np.random.default_rng(3)
    rows = rng.normal(0, 1, (2_000, 4)) * rng.exponential(5, (2_000, 1))
    rows[0] = (40.0, 40.0, 0.0, 0.0)
    largest = 0.0
    for one, other in itertools.permutations(range(4), 2):
        gradients = [clip_rows(softmax(rows) - np.eye(4)[y], clip) for y in (one, other)]
        largest = max(largest, float(np.linalg.norm(gradients[0] - gradients[1], axis=1).max()))
    assert largest <= sensitivity(clip) * (1 + 1e-12)
    assert largest == pytest.approx(sensitivity(clip), rel=1e-9)


@pytest.mark.parametrize(("epsilon", "epochs"), [(1.0, 1), (3.0, 3), (10.0, 10)])
def test_guarantee_by_the_accountant(epsilon: float, epochs: int) -> None:
    """The steps as dp-accounting composes them: never below the closed form, and close to it."""
    mechanism = NgramModels.for_budget(
        zipf_digit().domain, ["digit"], epsilon, 1e-5, clip=0.4, rate=0.5, epochs=epochs
    )
    training = mechanism.training
    assert training.mu == pytest.approx(gaussian_mu(epsilon, 1e-5), rel=1e-12)
    steps = GaussianRelease(training.noise / sensitivity(training.clip), count=epochs)
    found = composed([steps], Relation.REPLACE_ONE)
    assert epsilon - 1e-6 <= found.epsilon_at(1e-5) <= epsilon + 2e-3
    # adding or removing the secret's gradient moves half as much where clipping halves it
    alone = GaussianRelease(training.noise / training.clip, count=epochs)
    assert composed([alone], Relation.ADD_REMOVE).epsilon_at(1e-5) < 0.6 * epsilon


def test_one_step_is_gaussian() -> None:
    """row ~ N(start − rate clip(p − e_y), (rate noise)² I): χ² of all, false-alarm rate 1e-6."""
    training = LazyTraining(tuple(np.log([0.5, 0.3, 0.2])), 0.4, 2.0, 1, 0.7)
    secrets = np.random.default_rng(0).integers(0, 3, 5_000)
    rows = training.train(secrets, np.random.default_rng(4))
    mean = np.array(training.start) - 2.0 * training.first_gradients()[secrets]
    total = float((((rows - mean) / (2.0 * 0.7)) ** 2).sum())
    assert chi2.isf(1 - 5e-7, rows.size) < total < chi2.isf(5e-7, rows.size)


def test_audit_fails_with_half_the_noise() -> None:
    """A threshold test between two secrets meets f at the calibrated noise, and breaks it at half.

    20,000 models a secret; the false-alarm rate is 1e-6 for the power and 3e-7 for the level.
    """
    start, n = (0.0,) * 10, 20_000
    rng = np.random.default_rng(5)
    mechanism = NgramModels.for_budget(uniform_digit().domain, ["digit"], 3.0, 1e-5)
    tight = mechanism.training
    assert (tight.start, tight.epochs) == (start, 1)
    half = LazyTraining(start, tight.clip, tight.rate, 1, tight.noise / 2)
    for training, breaks in ((tight, False), (half, True)):
        one, other = (np.subtract(*training.train(np.full(n, y), rng).T[:2]) for y in (0, 1))
        threshold = float(np.quantile(one, 0.5))
        alpha, power = float((other > threshold).mean()), int((one > threshold).sum())
        allowed = float(mechanism.guarantee.power(alpha + 5 / sqrt(n) * sqrt(alpha)))
        assert (binomtest(power, n, allowed, "greater").pvalue < 1e-6) == breaks
        # without clipping one step is as leaky as it may be
        if not breaks:
            assert allowed < 0.5 + 0.06


@pytest.mark.parametrize("prior", [uniform_digit, zipf_digit])
@pytest.mark.parametrize("mu", [0.2, 1.0, 2.0])
def test_the_search_finds_what_theory_says(prior: Callable[[], BayNet], mu: float) -> None:
    """One step without clipping at the rate 1/noise² is the best model of its secret."""
    start = tuple(float(each) for each in np.log(prior().cpts[1]))
    found = search_training(start, mu)
    assert found.epochs == 1 and found.mu == pytest.approx(mu)
    gradients = found.first_gradients()
    assert gradients == pytest.approx(softmax(np.array([start])) - np.eye(10))  # nothing clipped
    assert 0.7 < found.rate * found.noise**2 < 1.5


def test_a_search_may_be_narrowed() -> None:
    start = (0.0,) * 10
    found = search_training(start, 1.0, (0.3,), (7,), 0.25)
    assert (found.clip, found.epochs, found.rate) == (0.3, 7, 0.25)
    assert found.noise == pytest.approx(0.6 * sqrt(7))
    assert search_training(start, 1.0, (0.3,), (7,)).mu == pytest.approx(1.0)
    with pytest.raises(MechanismError, match="at least one clipping norm"):
        search_training(start, 1.0, ())


def test_a_release_and_its_facts() -> None:
    prior = zipf_digit()
    mechanism = NgramModels.for_budget(prior.domain, ["digit"], 1.0, 1e-5)
    table = prior.sample(50, np.random.default_rng(0))
    release = mechanism.release(table, np.random.default_rng(1))
    assert release.logits.shape == (50, 10) and release.column == "digit"
    assert not release.logits.flags.writeable
    facts = mechanism.facts()
    assert facts["mu"] == pytest.approx(0.268051, abs=1e-6)
    assert facts["sigma"] * facts["mu"] == pytest.approx(sqrt(facts["epochs"]))
    with pytest.raises(DomainError, match="not those the mechanism was built for"):
        mechanism.release(names().sample(5, np.random.default_rng(0)), np.random.default_rng(1))


def test_without_a_budget_nothing_is_hidden() -> None:
    prior = zipf_digit()
    mechanism = NgramModels.for_budget(prior.domain, ["digit"], inf, 1e-5)
    table = prior.sample(200, np.random.default_rng(0))
    logits = mechanism.release(table, np.random.default_rng(1)).logits
    assert mechanism.training.noise == 0 and mechanism.guarantee.mu == inf
    assert (logits.argmax(axis=1) == table.column("digit")).all()


def test_a_start_is_a_shipped_secret() -> None:
    prior = zipf_digit()
    mechanism = NgramModels.for_budget(
        prior.domain, ["digit"], 1.0, 1e-5, start="secret-digits-zipf"
    )
    assert softmax(np.array([mechanism.training.start]))[0] == pytest.approx(prior.cpts[1])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"start": "passwords"}, "start must be one of secret-digits-uniform"),
        ({"clip": 0.0}, "clip must be > 0"),
        ({"rate": -1.0}, "rate must be > 0"),
        ({"epochs": 0}, "epochs must be a whole number from 1 to 1,000"),
        ({"epochs": 1.5}, "epochs must be a whole number"),
        ({"epochs": 1_001}, "epochs must be a whole number"),
        ({"epochs": "many"}, "epochs must be a whole number from 1 to 1,000, got 'many'"),
        ({"rate": "inf"}, "rate must be > 0 and finite, got 'inf'"),
        ({"clip": True}, "clip must be > 0 and finite, got True"),
    ],
)
def test_options_are_checked(options: dict[str, object], message: str) -> None:
    domain = zipf_digit().domain
    with pytest.raises(MechanismError, match=message):
        NgramModels.for_budget(domain, ["digit"], 1.0, 1e-5, **options)  # type: ignore[arg-type]


def test_columns_are_checked() -> None:
    domain = zipf_digit().domain
    with pytest.raises(MechanismError, match="learns one hidden column, got 2"):
        NgramModels.for_budget(domain, ["digit", "context"], 1.0, 1e-5)
    with pytest.raises(MechanismError, match="learns a column of 2 to 2,000 values"):
        NgramModels.for_budget(domain, ["context"], 1.0, 1e-5)
    with pytest.raises(MechanismError, match="start must be at least 2 finite logits"):
        LazyTraining((0.0,), 1.0, 1.0, 1, 1.0)
    with pytest.raises(MechanismError, match="epochs must be at least 1"):
        LazyTraining((0.0, 0.0), 1.0, 1.0, 0, 1.0)
    with pytest.raises(MechanismError, match="noise must be 0 or more"):
        LazyTraining((0.0, 0.0), 1.0, 1.0, 1, -1.0)
