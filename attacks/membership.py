"""Membership inference: was a record among those that a model was trained on?

The parametric LiRA of Yildirim 2025, section 3: the loss of the record under shadow models, trained
without and with it, is taken for normal; the likelihood-ratio test between the two normals decides,
at a stated level. ``measure`` (Algorithm 4) trains shadow models anew for every challenge,
``measure_fast`` (Algorithm 5) lets the challenges be each other's shadow models, and
``measure_split`` (ours) keeps shadow models and challenges apart: decisions are independent.

The paper prints R with the wrong sign, which keeps the test's size and loses its power: it must
look at (ℓ − c)² with c = (μ₀/σ₀² − μ₁/σ₁²)/(1/σ₀² − 1/σ₁²), so R = −c. The quantile of its
non-central χ² is computed here as an interval of a standard normal, which stays right as the two
variances become equal and c runs away.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr, ndtri

from reconbench.mechanisms.training.algorithms import Records, Training

Floats = npt.NDArray[np.float64]
Booleans = npt.NDArray[np.bool_]
Data = TypeVar("Data")
Data_contra = TypeVar("Data_contra", contravariant=True)
Model = TypeVar("Model")

# Losses closer than this, relative to their size, are the same: they come from 32-bit networks.
RESOLUTION = 1e-7


class MembershipError(ValueError):
    """An attack that cannot be measured as asked."""


class Trainer(Protocol[Data_contra]):
    """Trains models and tells their losses; ``data`` and ``record`` are of the trainer's kind."""

    def losses(
        self, data: Data_contra, record: Data_contra, count: int, rng: np.random.Generator
    ) -> Floats:
        """The loss at ``record`` of ``count`` models, each trained on ``data`` on its own."""
        ...


@dataclass(frozen=True)
class OneByOne(Generic[Data, Model]):
    """A trainer from any ``train(data, rng) -> model`` and ``loss(model, record)``."""

    train: Callable[[Data, np.random.Generator], Model]
    loss: Callable[[Model, Data], float]

    def losses(self, data: Data, record: Data, count: int, rng: np.random.Generator) -> Floats:
        losses = [float(self.loss(self.train(data, rng), record)) for _ in range(count)]
        return np.array(losses)


@dataclass(frozen=True)
class Together:
    """A trainer from a ``mechanisms.training`` algorithm, which trains many models at once."""

    training: Training
    threads: int = 1

    def losses(
        self, data: Records, record: Records, count: int, rng: np.random.Generator
    ) -> Floats:
        return self.training.train(data, count, rng, self.threads).losses(record)


@dataclass(frozen=True)
class Normal:
    """Normal distributions, one an entry."""

    mean: Floats
    sd: Floats

    @classmethod
    def fit(cls, losses: Floats) -> Normal:
        _check_losses(losses)
        return cls(np.array(losses.mean()), np.array(losses.std(ddof=1)))

    @classmethod
    def fit_without_each(cls, losses: Floats) -> Normal:
        """The fits that leave out one loss each, in their order, in one pass."""
        _check_losses(losses, least=3)
        n = len(losses)
        centred = losses - losses.mean()
        mean = losses.mean() - centred / (n - 1)
        # Σ_{i≠j} (x_i − mean_j)² = Σ x̄_i² − x̄_j² n/(n − 1), with x̄ centred
        squares = (centred**2).sum() - centred**2 * n / (n - 1)
        return cls(mean, np.sqrt(np.maximum(squares, 0) / (n - 2)))


def decide(
    loss: npt.ArrayLike, out: Normal, in_: Normal, level: float, rng: np.random.Generator
) -> Booleans:
    """LearnAndDecide (Algorithm 3): True where the record is taken for a member.

    The most powerful test of ``out`` (H₀: trained without it) against ``in_`` (H₁: with it), of
    size ``level`` if losses are normal as fitted. Where the two are the same, it guesses.
    """
    if not 0 < level < 1:
        raise MembershipError(f"level must be strictly between 0 and 1, got {level:g}")
    smallest = RESOLUTION * np.maximum(np.maximum(abs(out.mean), abs(in_.mean)), 1)
    sd0, sd1 = np.maximum(out.sd, smallest), np.maximum(in_.sd, smallest)
    z = (np.asarray(loss, dtype=np.float64) - out.mean) / sd0
    gap = (in_.mean - out.mean) / sd0
    # log p₀/p₁ = −(1/σ₀² − 1/σ₁²)(ℓ − c)²/2 + const; d = (c − μ₀)/σ₀ = gap/(1 − σ₁²/σ₀²)
    ratio = 1 - (sd1 / sd0) ** 2
    with np.errstate(divide="ignore", invalid="ignore"):
        centre = np.where(ratio == 0, np.copysign(np.inf, gap), gap / ratio)
    side = np.copysign(1.0, centre)
    wide = ratio >= 0
    # H₁ is the narrower one: reject near c. Otherwise: reject far from c.
    edge = _edge(abs(centre), np.where(wide, level, 1 - level))
    inside = (side * z >= edge) & (side * z <= 2 * abs(centre) - edge)
    decided = np.where(wide, inside, ~inside)
    same = (ratio == 0) & (gap == 0)
    return np.asarray(np.where(same, rng.random(decided.shape) < level, decided), dtype=np.bool_)


def _edge(centre: Floats, mass: Floats) -> Floats:
    """The e ≤ d with P[e ≤ Z ≤ 2d − e] = mass for a standard normal Z and d = ``centre`` ≥ 0."""
    centre, mass = np.broadcast_arrays(centre, mass)
    # Half the mass or more lies above d for d = 0, all of it for d = ∞.
    low, high = -ndtri((1 + mass) / 2), np.minimum(-ndtri(mass), centre)
    low = np.minimum(low, high)
    for _ in range(80):
        middle = (low + high) / 2
        enough = ndtr(-middle) - ndtr(middle - 2 * centre) >= mass
        low, high = np.where(enough, middle, low), np.where(enough, high, middle)
    return np.asarray(low)


@dataclass(frozen=True)
class Counts:
    """Errors of an attack on one challenge base, by level: one line of counts each.

    ``false_positives`` of ``out`` challenges without the record, ``false_negatives`` of ``in_``
    with it.
    """

    levels: tuple[float, ...]
    false_positives: tuple[int, ...]
    out: int
    false_negatives: tuple[int, ...]
    in_: int


def measure(
    trainer: Trainer[Data],
    without: Data,
    with_record: Data,
    record: Data,
    *,
    challenges: int,
    shadows: int,
    levels: tuple[float, ...],
    rng: np.random.Generator,
) -> Counts:
    """Algorithm 4: every challenge has ``shadows`` shadow models a hypothesis of its own.

    Decisions are independent given the test's errors. It trains 2 · challenges · (2 · shadows + 1)
    models.
    """
    wrong: list[list[int]] = []
    for data, member in ((without, False), (with_record, True)):
        errors = np.zeros(len(levels), dtype=np.int64)
        for _ in range(challenges):
            loss = trainer.losses(data, record, 1, rng)
            out = Normal.fit(trainer.losses(without, record, shadows, rng))
            in_ = Normal.fit(trainer.losses(with_record, record, shadows, rng))
            errors += [bool(decide(loss, out, in_, a, rng)[0]) != member for a in levels]
        wrong.append(errors.tolist())
    return Counts(levels, tuple(wrong[0]), challenges, tuple(wrong[1]), challenges)


def measure_split(
    trainer: Trainer[Data],
    without: Data,
    with_record: Data,
    record: Data,
    *,
    challenges: int,
    shadows: int,
    levels: tuple[float, ...],
    rng: np.random.Generator,
) -> Counts:
    """One test, learnt from ``shadows`` models a hypothesis, on as many challenges as asked for.

    Given the shadow models the test is fixed and the challenges are independent: false positives
    and negatives are binomial with that very test's errors, which is what an audit is about. It
    trains 2 · (challenges + shadows) models, with no more assumptions than Algorithm 4.
    """
    out = trainer.losses(without, record, shadows + challenges, rng)
    in_ = trainer.losses(with_record, record, shadows + challenges, rng)
    learnt = Normal.fit(out[:shadows]), Normal.fit(in_[:shadows])
    positives = [int(decide(out[shadows:], *learnt, a, rng).sum()) for a in levels]
    negatives = [int((~decide(in_[shadows:], *learnt, a, rng)).sum()) for a in levels]
    return Counts(levels, tuple(positives), challenges, tuple(negatives), challenges)


def measure_fast(
    trainer: Trainer[Data],
    without: Data,
    with_record: Data,
    record: Data,
    *,
    challenges: int,
    levels: tuple[float, ...],
    rng: np.random.Generator,
) -> Counts:
    """Algorithm 5: each challenge is decided by all the others as its shadow models.

    It trains 2 · challenges models. Decisions are correlated: they share shadow models.
    """
    out = trainer.losses(without, record, challenges, rng)
    in_ = trainer.losses(with_record, record, challenges, rng)
    return decide_by_each_other(out, in_, levels, rng)


def decide_by_each_other(
    out: Floats, in_: Floats, levels: tuple[float, ...], rng: np.random.Generator
) -> Counts:
    """The decisions of Algorithm 5 from the losses of models without and with the record."""
    _check_losses(in_, least=3)
    all_out, all_in = Normal.fit(out), Normal.fit(in_)
    other_out, other_in = Normal.fit_without_each(out), Normal.fit_without_each(in_)
    positives = [int(decide(out, other_out, all_in, a, rng).sum()) for a in levels]
    negatives = [int((~decide(in_, all_out, other_in, a, rng)).sum()) for a in levels]
    return Counts(levels, tuple(positives), len(out), tuple(negatives), len(in_))


def _check_losses(losses: Floats, least: int = 2) -> None:
    if losses.ndim != 1 or len(losses) < least:
        raise MembershipError(
            f"a normal needs the losses of {least} models or more, got {losses.shape}"
        )
    if not np.isfinite(losses).all():
        raise MembershipError(
            "a model has a loss that is not a finite number: its training went astray; lower the "
            "learning rate"
        )
