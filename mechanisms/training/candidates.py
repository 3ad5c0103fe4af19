"""Full-batch DP-SGD on known records and one of a few candidates: how likely is each of them?

The adversary of Hayes et al. 2023 and Guerra-Balboa 2026 knows all records but one, and that one is
among m candidates. T noisy sums of clipped gradients are published. Less the gradients of the known
records, step t shows y_t = g_z(w_t) + N(0, σ²C² I), where the weights w_t follow from the steps
before. Up to a term that all candidates share, the log-likelihood of candidate j is

    Σ_t (⟨y_t, g_j(w_t)⟩ − ‖g_j(w_t)‖²/2)/(σC)²,

and no attack that knows the training has a use for anything else.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from math import isfinite, sqrt
from typing import Self

import numpy as np
import numpy.typing as npt

from reconbench.bounds import GaussianDP, Relation
from reconbench.mechanisms.base import MechanismError
from reconbench.mechanisms.training.algorithms import Network, Records

Floats = npt.NDArray[np.float64]
Singles = npt.NDArray[np.float32]
Integers = npt.NDArray[np.int64]

# Runs that are trained side by side. Their random streams depend on it, not on the threads.
_BLOCK = 32


@dataclass(frozen=True)
class CandidateTraining:
    """Descent along the noisy mean of clipped gradients of all records, from a random start.

    The noise on a sum of gradients has sd ``noise`` · ``clip``. ``rate`` moves the weights at which
    candidates are told apart; the guarantee does not depend on it.
    """

    network: Network
    noise: float
    steps: int = 100
    rate: float = 9.0
    clip: float = 0.1

    def __post_init__(self) -> None:
        for name in ("noise", "rate", "clip"):
            value = getattr(self, name)
            if not (value > 0 and isfinite(value)):
                raise MechanismError(f"{name} must be > 0 and finite, got {value!r}")
        if self.steps < 1:
            raise MechanismError(f"steps must be at least 1, got {self.steps!r}")

    def guarantee(self, relation: Relation) -> GaussianDP:
        """√T Δ/(σC)-GDP with Δ = C for adding or removing a record, 2C for replacing one."""
        reach = 1 if relation is Relation.ADD_REMOVE else 2
        return GaussianDP(reach * sqrt(self.steps) / self.noise, relation)

    def log_likelihoods(
        self,
        known: Records,
        candidates: Records,
        drawn: Sequence[int] | Integers,
        rng: np.random.Generator,
        threads: int = 1,
    ) -> Floats:
        """Of every candidate (columns) in every run (rows), in which candidate ``drawn`` took part.

        The same whatever the number of threads.
        """
        from threadpoolctl import threadpool_limits

        batch, took_part = _Batch.of(known, candidates), np.asarray(drawn, dtype=np.int64)
        if took_part.ndim != 1 or not len(took_part):
            raise MechanismError(f"drawn must hold one candidate per run, got {drawn!r}")
        if not 0 <= took_part.min() <= took_part.max() < len(candidates):
            raise MechanismError(f"drawn must be candidates from 0 to {len(candidates) - 1}")
        blocks = [took_part[at : at + _BLOCK] for at in range(0, len(took_part), _BLOCK)]
        with threadpool_limits(1), ThreadPoolExecutor(threads) as pool:
            found = list(pool.map(partial(self._train, batch), blocks, rng.spawn(len(blocks))))
        return np.concatenate(found)

    def _train(self, batch: _Batch, drawn: Integers, rng: np.random.Generator) -> Floats:
        layers = _start_layers(self.network, batch.records, len(drawn), rng)
        taking_part, sd = batch.taking_part(drawn), self.noise * self.clip
        scores = np.zeros((len(drawn), batch.candidates))
        for _ in range(self.steps):
            gradients = _clip_gradients(layers, batch, self.clip)
            noise = [layer.draw_noise(sd, rng) for layer in layers]
            for layer, gradient, noisy in zip(layers, gradients, noise, strict=True):
                scores += gradient.score(noisy, drawn, batch.candidates)
                layer.add(gradient.total(taking_part), -self.rate / batch.size)
                layer.add(noisy, -self.rate / batch.size)
        return scores / sd**2


@dataclass(frozen=True, eq=False)
class _Batch:
    """All records, candidates last, as columns of inputs, and their classes one-hot."""

    records: Records
    inputs: Singles
    classes: Singles
    candidates: int

    @classmethod
    def of(cls, known: Records, candidates: Records) -> Self:
        everyone = known.join(candidates)
        classes = np.eye(everyone.classes, dtype=np.float32)[:, everyone.labels]
        return cls(everyone, everyone.dense().T.copy(), classes, len(candidates))

    @property
    def size(self) -> int:
        """Of a full batch: all known records and one candidate."""
        return len(self.records) - self.candidates + 1

    def taking_part(self, drawn: Integers) -> Singles:
        """1 for the records of a run (rows), 0 for the candidates that were not drawn."""
        found = np.ones((len(drawn), len(self.records)), dtype=np.float32)
        found[:, -self.candidates :] = np.eye(self.candidates)[drawn]
        return found


@dataclass(frozen=True, eq=False)
class _Layer:
    """The weights (run, output, input) and biases (run, output) of one layer, or noise on them."""

    weights: Singles
    biases: Singles

    def __call__(self, inputs: Singles) -> Singles:
        """From (input, record), or (run, input, record), to (run, output, record)."""
        return self.weights @ inputs + self.biases[:, :, None]

    def draw_noise(self, sd: float, rng: np.random.Generator) -> _Layer:
        def draw(like: Singles) -> Singles:
            return rng.standard_normal(like.shape, dtype=np.float32) * np.float32(sd)

        return _Layer(draw(self.weights), draw(self.biases))

    def add(self, other: _Layer, factor: float) -> None:
        """In place."""
        self.weights[...] += np.float32(factor) * other.weights
        self.biases[...] += np.float32(factor) * other.biases


@dataclass(frozen=True, eq=False)
class _Gradients:
    """The clipped gradients of all records in one layer: errors times (inputs, 1), record by
    record; inputs as a layer takes them, errors (run, output, record)."""

    inputs: Singles
    errors: Singles

    def total(self, taking_part: Singles) -> _Layer:
        errors = self.errors * taking_part[:, None, :]
        weights = np.asarray(errors @ self.inputs.swapaxes(-1, -2), dtype=np.float32)
        return _Layer(weights, errors.sum(axis=-1))

    def score(self, noise: _Layer, drawn: Integers, candidates: int) -> Floats:
        """⟨g_z + noise, g_j⟩ − ‖g_j‖²/2 for the last records j, of which z took part."""
        inputs, errors = self.inputs[..., -candidates:], self.errors[..., -candidates:]
        alike = (inputs.swapaxes(-1, -2) @ inputs + 1) * (errors.swapaxes(-1, -2) @ errors)
        chosen = alike[np.arange(len(drawn)), drawn]
        own = np.diagonal(alike, axis1=1, axis2=2)
        return np.asarray(chosen - own / 2 + (noise(inputs) * errors).sum(axis=1), np.float64)


def _start_layers(
    network: Network, records: Records, runs: int, rng: np.random.Generator
) -> list[_Layer]:
    """Of ``runs`` models, from the flat weights that all training starts with."""
    flat = network.start(records, runs, rng)
    width = network.hidden or records.classes
    into, rest = np.split(flat, [records.features * width], axis=1)
    first = into.reshape(runs, records.features, width).swapaxes(1, 2).copy()
    layers = [_Layer(first, rest[:, :width].copy())]
    if network.hidden:
        second, biases = np.split(rest[:, width:], [records.classes * width], axis=1)
        layers.append(_Layer(second.reshape(runs, records.classes, width).copy(), biases.copy()))
    return layers


def _clip_gradients(layers: Sequence[_Layer], batch: _Batch, clip: float) -> list[_Gradients]:
    """Those of the cross-entropy, scaled down to the norm ``clip`` record by record."""
    inputs = [batch.inputs]
    for layer in layers[:-1]:
        inputs.append(np.maximum(layer(inputs[-1]), 0))
    logits = layers[-1](inputs[-1])
    chances = np.exp(logits - logits.max(axis=1, keepdims=True))
    errors = [chances / chances.sum(axis=1, keepdims=True) - batch.classes]
    for layer, hidden in zip(layers[:0:-1], inputs[:0:-1], strict=True):
        errors.insert(0, (layer.weights.swapaxes(1, 2) @ errors[0]) * (hidden > 0))
    # ‖error ⊗ (input, 1)‖² = ‖error‖² (1 + ‖input‖²) in every layer
    squares = sum(
        np.square(back).sum(axis=1) * (1 + np.square(given).sum(axis=-2))
        for given, back in zip(inputs, errors, strict=True)
    )
    scale = np.minimum(1, clip / np.sqrt(squares + 1e-30))[:, None, :]
    return [_Gradients(given, back * scale) for given, back in zip(inputs, errors, strict=True)]
