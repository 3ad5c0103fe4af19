"""Uniform subsets, compiled; imported when first used, as numba is slow to import.

Random numbers come in as uniforms, so the kernel is a plain function with a plain twin in the
tests.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from reconbench.compilation import compiled

Codes = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


@compiled
def subsets(values: Codes, keeps: npt.NDArray[np.bool_], uniforms: Floats, size: int) -> Codes:
    """For every value a subset of {0, …, size − 1} with it, or without it, otherwise uniform.

    ``uniforms`` has one column a member. Floyd's algorithm (Bentley and Floyd 1987) draws k of M
    in k steps: of 0, …, j, for j = M − k, …, M − 1, take one at random, or j if that is taken.
    """
    n, width = uniforms.shape
    chosen = np.empty((n, width), dtype=np.int64)
    taken = np.full(size, -1, dtype=np.int64)
    others = size - 1
    for i in range(n):
        filled = 0
        if keeps[i]:
            chosen[i, 0] = values[i]
            filled = 1
        for step in range(filled, width):
            j = others - width + step
            pick = min(int(uniforms[i, step] * (j + 1)), j)
            if taken[pick] == i:
                pick = j
            taken[pick] = i
            chosen[i, step] = pick if pick < values[i] else pick + 1
    return chosen
