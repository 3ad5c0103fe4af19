"""Square grey images in another size, as rows of numbers."""

from __future__ import annotations

from math import isqrt

import numpy as np
import numpy.typing as npt

from reconbench.datasets.domain import DomainError

Floats = npt.NDArray[np.float64]


def resize_images(images: npt.ArrayLike, dimension: int) -> Floats:
    """Square grey images, a row each, as rows of ``dimension`` = s² numbers, or 3s² in colour.

    A new pixel is the mean of what it covers of the old ones (box filter). In colour, all three
    channels are the grey one.
    """
    rows = np.asarray(images, dtype=np.float64)
    old = isqrt(rows.shape[1]) if rows.ndim == 2 else 0
    if not rows.size or old**2 != rows.shape[-1]:
        raise DomainError(f"images must be rows of square images, got shape {rows.shape}")
    channels = 1 if isqrt(max(dimension, 0)) ** 2 == dimension else 3
    new = isqrt(max(dimension, 0) // channels)
    if new < 1 or channels * new**2 != dimension:
        raise DomainError(
            f"dimension must be a square, or three times one, for images, got {dimension}"
        )
    weights = _overlaps(old, new)
    grey = weights @ rows.reshape(-1, old, old) @ weights.T
    return np.tile(grey.reshape(len(rows), -1), channels)


def _overlaps(old: int, new: int) -> Floats:
    """The share of every old pixel in each new one along one axis: (new, old), rows sum to 1."""
    ends = np.arange(new + 1) * (old / new)
    left = np.maximum(ends[:-1, None], np.arange(old))
    right = np.minimum(ends[1:, None], np.arange(1, old + 1))
    return np.asarray(np.maximum(right - left, 0.0) * (new / old))
