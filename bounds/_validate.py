"""Uniform checks of user input: each message names the argument, its value and what is allowed."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

FloatArray = NDArray[np.float64]


def positive(name: str, value: float) -> float:
    """`value` as a float in (0, ∞]."""
    number = _number(name, value)
    if not number > 0:
        raise ValueError(f"{name} must be > 0 (inf allowed), got {value!r}")
    return number


def positive_integer(name: str, value: int) -> int:
    """`value` as an int of at least 1."""
    try:
        number = int(value)
        whole = number == value
    except (TypeError, ValueError, OverflowError):
        whole = False
    if not whole or number < 1:
        raise ValueError(f"{name} must be an integer >= 1, got {value!r}")
    return number


def non_negative(name: str, value: float) -> float:
    """`value` as a float in [0, ∞]."""
    number = _number(name, value)
    if not number >= 0:
        raise ValueError(f"{name} must be >= 0 (inf allowed), got {value!r}")
    return number


def below_one(name: str, value: float) -> float:
    """`value` as a float in [0, 1)."""
    number = _number(name, value)
    if not 0 <= number < 1:
        raise ValueError(f"{name} must be in [0, 1), got {value!r}")
    return number


def strictly_between_zero_and_one(name: str, value: float) -> float:
    """`value` as a float in (0, 1)."""
    number = _number(name, value)
    if not 0 < number < 1:
        raise ValueError(f"{name} must be strictly between 0 and 1, got {value!r}")
    return number


def probabilities(name: str, values: ArrayLike) -> FloatArray:
    """`values` as a float array of any shape with every entry in [0, 1]."""
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must be numbers in [0, 1], got {values!r}") from error
    # Written so that nan counts as outside.
    outside = ~((array >= 0) & (array <= 1))
    if outside.any():
        raise ValueError(
            f"{name} must be in [0, 1], got {array[outside].flat[0]} "
            f"({int(outside.sum())} of {array.size} values are outside)"
        )
    return array


def probability_vector(name: str, values: ArrayLike) -> FloatArray:
    """`values` as a read-only, non-empty 1-D copy with every entry in [0, 1]."""
    array = probabilities(name, values).copy()
    if array.ndim != 1 or array.size == 0:
        raise ValueError(
            f"{name} must be a non-empty 1-D array, one value per target, "
            f"got an array of shape {array.shape}"
        )
    array.setflags(write=False)
    return array


def thresholds(name: str, values: ArrayLike, n: int) -> NDArray[np.int64]:
    """⌈values⌉ clipped to 0, …, n + 1: a count in 0, …, n is ≥ v exactly when it is ≥ ⌈v⌉."""
    array = np.asarray(values, dtype=np.float64)
    if np.isnan(array).any():
        raise ValueError(f"{name} must be numbers, got nan")
    return np.clip(np.ceil(array), 0, n + 1).astype(np.int64)


def _number(name: str, value: float) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must be a number, got {value!r}") from error
    if math.isnan(number):
        raise ValueError(f"{name} must be a number, got nan")
    return number
