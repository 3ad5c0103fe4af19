"""An n-gram language model trained by DP-SGD on one secret (Swanberg 2025, section 5.2).

The network is one softmax layer on the one-hot context of n − 1 characters: a row of logits for
every context, P(c | context) = softmax(row)_c. Trained on one text, it is only ever the row of that
text's context that has a gradient; every other row receives noise and nothing else. Training is
therefore lazy: the row of the context alone is computed. It has exactly the distribution that it
has in the whole network, clipping included, and the rest says nothing of the secret.

Each record of a table is the secret of a model of its own, so replacing a record changes one model:
the guarantee of a release is that of one model.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import product
from math import inf, sqrt
from typing import ClassVar, Self

import numpy as np
import numpy.typing as npt

from reconbench.bounds import GaussianDP
from reconbench.datasets import Domain, Table
from reconbench.datasets.secrets import SECRETS
from reconbench.mechanisms.base import BudgetedMechanism, MechanismError, gaussian_guarantee

Floats = npt.NDArray[np.float64]
Codes = npt.NDArray[np.int64]

# The search: every clipping norm with every number of epochs, and the learning rate in multiples of
# `LazyTraining.balanced_rate`; 64 to 512 models a setting, on secrets that the search itself draws.
CLIPS = (0.1, 0.5, 1.0, 1.5)
EPOCHS = (1, 3, 10)
RATES = tuple(float(rate) for rate in np.geomspace(1 / 8, 8, 13))
TRIALS = (64, 512)
# The logits of all models of a setting together, and the most that a search has the time for.
_NUMBERS = 1 << 14
MOST_VALUES = 2_000
MOST_EPOCHS = 1_000
_SEED = 2025
# ∇ of −log softmax(row)_y is p − e_y: two secrets are √2 apart, and each is at most √2 long.
_APART = sqrt(2)


@dataclass(frozen=True)
class LazyTraining:
    """DP-SGD on one secret, full batch: ``epochs`` steps of

    row ← row − rate (clip(p − e_y) + Z), Z ~ N(0, noise² I), p = softmax(row),

    where clip scales down to the norm ``clip``.
    """

    start: tuple[float, ...]
    clip: float
    rate: float
    epochs: int
    noise: float

    def __post_init__(self) -> None:
        if len(self.start) < 2 or not np.isfinite(self.start).all():
            raise MechanismError("start must be at least 2 finite logits, one a value")
        for name, value in (("clip", self.clip), ("rate", self.rate)):
            if not 0 < value < inf:
                raise MechanismError(f"{name} must be > 0 and finite, got {value:g}")
        if self.epochs < 1:
            raise MechanismError(f"epochs must be at least 1, got {self.epochs}")
        if not 0 <= self.noise < inf:
            raise MechanismError(f"noise must be 0 or more, got {self.noise:g}")

    @classmethod
    def for_mu(
        cls, start: tuple[float, ...], clip: float, epochs: int, mu: float, rate: float
    ) -> Self:
        """The noise that makes all steps together μ-GDP for replacing the secret.

        Steps of sensitivity Δ and noise sd σ are (Δ/σ)-GDP each and √T Δ/σ together, whatever is
        published of them.
        """
        return cls(start, clip, rate, epochs, sensitivity(clip) * sqrt(epochs) / mu)

    @property
    def mu(self) -> float:
        return sensitivity(self.clip) * sqrt(self.epochs) / self.noise if self.noise else inf

    @property
    def balanced_rate(self) -> float:
        """1/noise², less where gradients are clipped; 1 without noise.

        One unclipped step from log π multiplies the odds of the secret by those of the step's
        likelihood, but for a term π_y/noise²: from zeros, the model is its own posterior.
        """
        return min(1.0, self.clip) / self.noise**2 if self.noise else 1.0

    def train(self, secrets: Codes, rng: np.random.Generator) -> Floats:
        """The rows of trained models, one a secret."""
        shape = (len(secrets), len(self.start))
        return self.follow(secrets, (rng.standard_normal(shape) for _ in range(self.epochs)))

    def follow(self, secrets: Codes, noise: Iterable[Floats]) -> Floats:
        """The same with given standard noise, one array (n, values) a step."""
        rows = np.tile(np.array(self.start), (len(secrets), 1))
        labels = secrets[:, None] == np.arange(len(self.start))
        for step in noise:
            rows -= self.rate * (clip_rows(softmax(rows) - labels, self.clip) + self.noise * step)
        return rows

    def untouched(self, count: int, rng: np.random.Generator) -> Floats:
        """Rows of other contexts, which start at 0: the noise of all steps, drawn at once."""
        sd = self.rate * self.noise * sqrt(self.epochs)
        return rng.normal(0.0, sd, (count, len(self.start)))

    def first_gradients(self) -> Floats:
        """clip(p − e_y) at the start, a row for every secret y."""
        start = np.array(self.start)
        return clip_rows(softmax(start[None]) - np.eye(len(start)), self.clip)


def sensitivity(clip: float) -> float:
    """How far apart the clipped gradients of two secrets can be: min(2 clip, √2).

    Both have norm at most ``clip``; and scaling down to a ball is a projection, which brings no two
    points further apart than they were, here |e_y − e_y'| = √2.
    """
    return min(2 * clip, _APART)


def softmax(rows: Floats) -> Floats:
    weights = np.exp(rows - rows.max(axis=-1, keepdims=True))
    return np.asarray(weights / weights.sum(axis=-1, keepdims=True))


def clip_rows(gradients: Floats, clip: float) -> Floats:
    """Each row scaled down to the norm ``clip``, unless it is shorter."""
    norms = np.sqrt(np.einsum("ij,ij->i", gradients, gradients))[:, None]
    return np.asarray(gradients * (clip / np.maximum(norms, clip)))


def _number(value: object) -> bool:
    """Options may be of any type, and bool is an int."""
    return isinstance(value, int | float) and not isinstance(value, bool)


@lru_cache(maxsize=256)
def search_training(
    start: tuple[float, ...],
    mu: float,
    clips: tuple[float, ...] = CLIPS,
    epochs: tuple[int, ...] = EPOCHS,
    rate: float | None = None,
) -> LazyTraining:
    """The training of lowest loss on its secret that is μ-GDP, with the fewest epochs that get it.

    The search never sees a secret of the table: it draws its own from softmax(start), which costs
    no privacy. Losses are means over antithetic pairs of runs, all settings of as many epochs with
    the same noise. More epochs are taken only where they gain over three standard errors.
    """
    rng = np.random.default_rng(_SEED)
    trials = int(np.clip(_NUMBERS // len(start), *TRIALS))
    below = np.cumsum(softmax(np.array([start]))[0])
    quantiles = (np.arange(trials) + 0.5) / trials * below[-1]
    secrets = np.searchsorted(below[:-1], quantiles, side="right").astype(np.int64)
    best: LazyTraining | None = None
    lowest = np.zeros(0)
    for number in sorted(epochs):
        half = rng.standard_normal((number, trials, len(start)))
        for clip, factor in product(clips, RATES if rate is None else (1.0,)):
            plain = LazyTraining.for_mu(start, clip, number, mu, 1.0)
            own = replace(plain, rate=factor * plain.balanced_rate if rate is None else rate)
            losses = _losses(own, secrets, half)
            gained = lowest - losses if best else np.full(trials, inf)
            more = best is not None and best.epochs < number
            error = float(gained.std()) / sqrt(trials) if more else 0.0
            if gained.mean() > 3 * error:
                best, lowest = own, losses
    if best is None:
        raise MechanismError("the search needs at least one clipping norm and number of epochs")
    return best


def _losses(training: LazyTraining, secrets: Codes, noise: Floats) -> Floats:
    """−log P(secret) of every trained model, the mean over the noise and its mirror image."""
    chosen = np.arange(len(secrets)), secrets
    total = np.zeros(len(secrets))
    for sign in (1.0, -1.0):
        rows = training.follow(secrets, (sign * step for step in noise))
        top = rows.max(axis=1, keepdims=True)
        total += (top + np.log(np.exp(rows - top).sum(axis=1, keepdims=True)))[:, 0] - rows[chosen]
    return total / 2


@dataclass(frozen=True, eq=False)
class NgramRelease:
    """A trained row of logits for every record, and how it was trained."""

    domain: Domain
    column: str
    training: LazyTraining
    logits: Floats

    def __post_init__(self) -> None:
        self.logits.setflags(write=False)  # all attacks share one release


@dataclass(frozen=True)
class NgramModels(BudgetedMechanism):
    """One n-gram model a record, trained by DP-SGD on its hidden value; replace-one neighbours.

    ``clip``, ``rate`` and ``epochs`` are searched for where they are not given. ``start`` names a
    distribution of secrets (a shipped data set) from which the model starts, as if pre-trained on
    public text; without one it starts from zeros, which favour nothing.
    """

    name: ClassVar[str] = "ngram-dpsgd"

    clip: float | None = None
    rate: float | None = None
    epochs: int | None = None
    start: str = ""

    def __post_init__(self) -> None:
        if len(self.hidden) != 1:
            raise MechanismError(
                f"{self.name} learns one hidden column, got {len(self.hidden)}: hide one"
            )
        size = self.domain[self.hidden[0]].size
        if not 2 <= size <= MOST_VALUES:
            raise MechanismError(
                f"{self.name} learns a column of 2 to {MOST_VALUES:,} values, "
                f"{self.hidden[0]!r} has {size:,}"
            )
        for name, value in (("clip", self.clip), ("rate", self.rate)):
            if value is not None and not (_number(value) and 0 < value < inf):
                raise MechanismError(f"{name} must be > 0 and finite, got {value!r}")
        epochs = 1 if self.epochs is None else self.epochs
        if not _number(epochs) or epochs % 1 or not 1 <= epochs <= MOST_EPOCHS:
            raise MechanismError(
                f"epochs must be a whole number from 1 to {MOST_EPOCHS:,}, got {self.epochs!r}"
            )
        _ = self.budget, self.training

    @classmethod
    def for_budget(
        cls,
        domain: Domain,
        hidden: Sequence[str],
        epsilon: float,
        delta: float,
        *,
        clip: float | None = None,
        rate: float | None = None,
        epochs: int | None = None,
        start: str = "",
    ) -> Self:
        return cls(domain, tuple(hidden), epsilon, delta, clip, rate, epochs, start)

    @cached_property
    def guarantee(self) -> GaussianDP:
        return gaussian_guarantee(self.budget)

    @cached_property
    def training(self) -> LazyTraining:
        return search_training(
            self._start(),
            self.guarantee.mu,
            CLIPS if self.clip is None else (float(self.clip),),
            EPOCHS if self.epochs is None else (int(self.epochs),),
            self.rate,
        )

    def _start(self) -> tuple[float, ...]:
        size = self.domain[self.hidden[0]].size
        if not self.start:
            return (0.0,) * size
        if self.start not in SECRETS:
            raise MechanismError(
                f"start must be one of {', '.join(SECRETS)} or left out, got {self.start!r}"
            )
        chances = SECRETS[self.start]().cpts[-1]
        if len(chances) != size:
            raise MechanismError(
                f"start {self.start!r} has {len(chances)} values and column "
                f"{self.hidden[0]!r} {size}; name another or leave it out"
            )
        return tuple(float(logit) for logit in np.log(chances))

    def release(self, table: Table, rng: np.random.Generator) -> NgramRelease:
        self.check_table(table)
        column = self.hidden[0]
        logits = self.training.train(table.column(column).astype(np.int64), rng)
        return NgramRelease(self.domain, column, self.training, logits)

    def facts(self) -> dict[str, float]:
        training = self.training
        return {
            "mu": self.guarantee.mu,
            "noise_sd": training.noise,
            "sigma": training.noise / sensitivity(training.clip),
            "clip": training.clip,
            "rate": training.rate,
            "epochs": float(training.epochs),
            "values": float(len(training.start)),
        }
