"""Priors, auxiliary labels and advantages as users give them."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reconbench.bounds import _validate
from reconbench.bounds._validate import FloatArray, positive_integer

Labels = NDArray[np.int64]

SUM_TOLERANCE = 1e-9


def as_prior(prior: ArrayLike | int) -> FloatArray:
    """m probabilities that sum to one, or a whole number m for the uniform prior on m values."""
    if isinstance(prior, int | np.integer):
        m = positive_integer("prior", int(prior))
        return np.full(m, 1.0 / m)
    values = _validate.probability_vector("prior", prior)
    total = math.fsum(values)
    if abs(total - 1) > SUM_TOLERANCE:
        raise ValueError(
            f"prior must sum to 1 within {SUM_TOLERANCE:g}, got {total!r}: divide it by its sum"
        )
    return values


def as_labels(aux: ArrayLike | None, m: int) -> Labels:
    """a(z) as one whole number a value z, counted from 0; None is aux = ∅, one label for all."""
    if aux is None:
        return np.zeros(m, dtype=np.int64)
    given = np.asarray(aux)
    if given.shape != (m,):
        raise ValueError(
            f"aux must hold one label for each of the {m} values, got an array of shape "
            f"{given.shape}"
        )
    return np.unique(given, return_inverse=True)[1].astype(np.int64)


def as_advantage(gamma: float) -> float:
    """A reconstruction advantage: a number in [−1, 1]."""
    value = float(gamma)
    if not -1 <= value <= 1:
        raise ValueError(f"gamma must be an advantage in [-1, 1], got {gamma!r}")
    return value


def collision(prior: FloatArray) -> float:
    """κ_π = Σ π², the chance that two draws agree."""
    return float(prior @ prior)


def spread(prior: FloatArray) -> float:
    """1 − κ_π = Σ π (1 − π), without cancellation for a prior near one point."""
    return float(prior @ (1 - prior))
