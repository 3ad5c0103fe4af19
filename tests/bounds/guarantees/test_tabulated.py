"""Curves given as a table: what is not a trade-off curve is refused."""

from __future__ import annotations

import math

import numpy as np
import pytest

from reconbench.bounds import TabulatedCurve


@pytest.mark.parametrize(
    ("alphas", "betas", "message"),
    [
        ([0.0, 0.5, 1.0], [1.0, 0.7, 0.0], "must not exceed 1 − alpha, got beta 0.7 at alpha 0.5"),
        ([0.0, 0.2, 0.4, 1.0], [0.8, 0.7, 0.1, 0.0], "must be convex.* alpha 0.2"),
        ([0.0, 0.5, 0.7, 1.0], [0.4, 0.1, 0.2, 0.0], "must not increase"),
        ([0.1, 1.0], [0.5, 0.0], "must run from 0 to 1"),
        ([0.0, 0.6, 0.5, 1.0], [0.5, 0.1, 0.1, 0.0], "must not decrease"),
        ([0.0, 1.0], [0.5, 0.2, 0.0], "same length"),
        ([0.0, math.nan, 1.0], [0.5, 0.2, 0.0], r"alphas must be in \[0, 1\], got nan"),
        ([0.0, 0.5, 1.0], [1.2, 0.2, 0.0], r"betas must be in \[0, 1\], got 1.2"),
        ([], [], "non-empty"),
    ],
)
def test_what_is_not_a_curve_is_refused(
    alphas: list[float], betas: list[float], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        TabulatedCurve(np.array(alphas), np.array(betas))


def test_powers_that_contradict_the_curve_are_refused() -> None:
    with pytest.raises(ValueError, match="powers must be"):
        TabulatedCurve(np.array([0.0, 1.0]), np.array([1.0, 0.0]), powers=np.array([0.5, 1.0]))
