"""Likelihoods of candidates in DP-SGD: against torch, and where they are known in closed form."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import pytest
import torch
from scipy.stats import kstest, norm

from reconbench.bounds import Relation
from reconbench.datasets import BayNet
from reconbench.mechanisms import MechanismError
from reconbench.mechanisms.training.algorithms import Network, Records
from reconbench.mechanisms.training.candidates import CandidateTraining

# Of every seeded statistical check here.
FALSE_ALARM = 1e-4


def flipped(known: int, rng: np.random.Generator) -> tuple[Records, Records]:
    """Records of two classes, and two candidates that differ in the class alone."""
    vectors = rng.random((known + 1, 5))
    labels = rng.integers(2, size=known)
    one = np.repeat(vectors[-1:], 2, axis=0)
    return (
        Records.of_vectors(vectors[:-1], labels, 2),
        Records.of_vectors(one, [0, 1], 2),
    )


def trajectory(
    training: CandidateTraining,
    weights: npt.NDArray[np.float32],
    known: Records,
    candidates: Records,
    drawn: int,
) -> list[float]:
    """Σ_t ⟨g_z, g_j⟩ − ‖g_j‖²/2 of every candidate j without noise, by autograd in float64."""
    everyone = known.join(candidates)
    x, features, classes = everyone.dense().astype(float), everyone.features, everyone.classes
    hidden, flat = training.network.hidden, torch.tensor(weights.astype(float))
    width = hidden or classes

    def loss(w: torch.Tensor, row: int) -> torch.Tensor:
        out = torch.tensor(x[row]) @ w[: features * width].reshape(features, width)
        out = out + w[features * width : (features + 1) * width]
        if hidden:
            rest = w[(features + 1) * width :]
            out = rest[: classes * width].reshape(classes, width) @ torch.relu(out)
            out = out + rest[classes * width :]
        return -torch.log_softmax(out, 0)[int(everyone.labels[row])]

    def clipped(row: int) -> torch.Tensor:
        w = flat.clone().requires_grad_()
        (gradient,) = torch.autograd.grad(loss(w, row), w)
        return gradient / max(1.0, float(gradient.norm()) / training.clip)

    scores = torch.zeros(len(candidates), dtype=torch.float64)
    for _ in range(training.steps):
        own = torch.stack([clipped(len(known) + j) for j in range(len(candidates))])
        scores += own @ own[drawn] - own.square().sum(1) / 2
        total = sum((clipped(row) for row in range(len(known))), own[drawn])
        flat = flat - training.rate * total / (len(known) + 1)
    return scores.tolist()


@pytest.mark.parametrize("hidden", [0, 4])
def test_without_noise_it_is_torch_step_by_step(toy_net: BayNet, hidden: int) -> None:
    """Noise of 1e-6 of the clipping norm; a norm that some gradients exceed and others do not."""
    records = Records.of_table(toy_net.sample(14, np.random.default_rng(0)), "c")
    known, candidates = records.take(range(10)), records.take(range(10, 14))
    training = CandidateTraining(Network(hidden), 1e-6, steps=3, rate=0.7, clip=1.6)
    drawn = [0, 3, 2]
    found = training.log_likelihoods(known, candidates, drawn, np.random.default_rng(1))
    (stream,) = np.random.default_rng(1).spawn(1)
    starts = training.network.start(known, len(drawn), stream)
    for row, (start, z) in enumerate(zip(starts, drawn, strict=True)):
        expected = trajectory(training, start, known, candidates, z)
        assert found[row] * (1e-6 * 1.6) ** 2 == pytest.approx(expected, abs=1e-4)
    # Another rate is another trajectory: what is compared depends on the steps.
    other = trajectory(CandidateTraining(Network(hidden), 1.0, 3, 0.1, 1.6), starts[0], known,
                       candidates, 0)  # fmt: skip
    assert np.abs(found[0] * (1e-6 * 1.6) ** 2 - other).max() > 1e-3


def test_two_opposite_gradients_are_two_normals() -> None:
    """Logistic regression on two records that differ in the class: gradients of norm C that point
    in opposite directions at all weights, so log P(y | z)/P(y | z′) is N(Δ²/2, Δ²), Δ = 2√T/σ."""
    rng = np.random.default_rng(0)
    known, candidates = flipped(20, rng)
    training = CandidateTraining(Network(0), 6.0, steps=9, rate=3.0)
    drawn = rng.integers(2, size=3000)
    found = training.log_likelihoods(known, candidates, drawn, rng, threads=2)
    runs = np.arange(3000)
    ratio = found[runs, drawn] - found[runs, 1 - drawn]

    def p_value(delta: float) -> float:
        return float(kstest((ratio - delta**2 / 2) / delta, norm.cdf).pvalue)

    mu = training.guarantee(Relation.REPLACE_ONE).mu
    assert mu == 2 * math.sqrt(9) / 6 == 2 * training.guarantee(Relation.ADD_REMOVE).mu
    assert p_value(mu) > FALSE_ALARM
    assert max(p_value(wrong * mu) for wrong in (0.5, 0.8, 1.2, 2)) < FALSE_ALARM


def test_what_is_likely_is_as_often_true(toy_net: BayNet) -> None:
    """Posteriors are calibrated: over runs their mean for the truth is the mean of Σ P(z | y)²."""
    rng = np.random.default_rng(3)
    records = Records.of_table(toy_net.sample(24, rng), "b")
    known, candidates = records.take(range(20)), records.take(range(20, 24))
    drawn = rng.integers(4, size=2000)
    training = CandidateTraining(Network(3), 4.0, steps=20, rate=5.0)
    logs = training.log_likelihoods(known, candidates, drawn, rng, threads=2)

    def excess(factor: float) -> float:
        """In standard errors."""
        weights = np.exp(factor * (logs - logs.max(axis=1, keepdims=True)))
        posterior = weights / weights.sum(axis=1, keepdims=True)
        gaps = posterior[np.arange(2000), drawn] - np.square(posterior).sum(axis=1)
        return float(gaps.mean() / (gaps.std() / math.sqrt(2000)))

    assert abs(excess(1.0)) < -norm.ppf(FALSE_ALARM / 2)
    # Half the noise, or twice, taken for the true one.
    assert excess(4.0) < norm.ppf(FALSE_ALARM) and excess(0.25) > -norm.ppf(FALSE_ALARM)


def test_threads_and_later_runs_change_nothing(toy_net: BayNet) -> None:
    records = Records.of_table(toy_net.sample(12, np.random.default_rng(0)), "b")
    known, candidates = records.take(range(10)), records.take(range(10, 12))
    training, drawn = CandidateTraining(Network(10), 5.0, steps=2), [0, 1] * 50

    def runs(count: int, threads: int) -> npt.NDArray[np.float64]:
        rng = np.random.default_rng(2)
        return training.log_likelihoods(known, candidates, drawn[:count], rng, threads)

    assert np.array_equal(runs(100, 1), runs(100, 3))
    assert np.array_equal(runs(64, 2), runs(100, 1)[:64])
    assert len(np.unique(runs(100, 1), axis=0)) == 100


def test_records_are_joined_and_made_dense() -> None:
    table = np.array([[0.0, 2.0, 0.0], [1.0, 0.0, 3.0], [0.0, 0.0, 0.0]], dtype=np.float32)
    first, second = (
        Records.of_vectors(table[rows], np.arange(3)[rows], 3) for rows in ([2, 0], [1])
    )
    joined = first.join(second)
    assert np.array_equal(joined.dense(), table[[2, 0, 1]]) and joined.labels.tolist() == [2, 0, 1]
    with pytest.raises(MechanismError, match="other features or classes"):
        first.join(Records.of_vectors(table, [0, 1, 2], 4))


def test_bad_trainings_are_refused() -> None:
    known, candidates = flipped(3, np.random.default_rng(0))
    for settings, message in (
        ({"noise": 0.0}, "noise must be > 0"),
        ({"noise": 1.0, "rate": math.nan}, "rate must be > 0 and finite"),
        ({"noise": 1.0, "clip": math.inf}, "clip must be > 0 and finite"),
        ({"noise": 1.0, "steps": 0}, "steps must be at least 1, got 0"),
    ):
        with pytest.raises(MechanismError, match=message):
            CandidateTraining(Network(0), **settings)  # type: ignore[arg-type]
    training, rng = CandidateTraining(Network(0), 1.0), np.random.default_rng(0)
    with pytest.raises(MechanismError, match="candidates from 0 to 1"):
        training.log_likelihoods(known, candidates, [0, 2], rng)
    with pytest.raises(MechanismError, match="one candidate per run"):
        training.log_likelihoods(known, candidates, [], rng)
