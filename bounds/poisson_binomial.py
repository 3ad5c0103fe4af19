"""The exact distribution of a sum of independent Bernoulli variables.

Probability mass functions are multiplied together pairwise by direct convolution. Every term is
non-negative, so nothing cancels and each value keeps its relative accuracy, however small: unlike
an FFT, whose error is absolute and swamps the tails. Direct convolution stays affordable at any n
because a mass function of variance s² is only a few dozen s wide above the smallest doubles:
values below a floor are dropped as the blocks grow, which makes the cost O(n log n).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import log, sqrt

import numpy as np
from numpy.typing import ArrayLike

from reconbench.bounds import _validate
from reconbench.bounds._validate import FloatArray

# Mass below the floor is dropped. Up to _DEEP variables the whole range of doubles is kept;
# beyond, a window that still leaves every tail above 1e-50 with all its digits.
_DEEP = 2_000
_FLOOR_DEEP = 1e-300
_FLOOR = 1e-70
_PIECE = 4096
# Tails of several sums are computed together up to this many variables.
_TOGETHER = 500
# Of more than _LONG variables equal ones are one binomial, if there are _REPEATED of each.
_LONG = 20_000
_REPEATED = 64


@dataclass(frozen=True, eq=False)
class PoissonBinomial:
    """S = S_1 + … + S_n, with S_i independent and P[S_i = 1] = probabilities[i].

    Tails are accurate to about 1e-12 in relative terms: down to 1e-290 for n ≤ 2,000, down to
    1e-50 for larger n; smaller ones may come out as 0.
    """

    probabilities: FloatArray

    def __post_init__(self) -> None:
        checked = _validate.probability_vector("probabilities", self.probabilities)
        object.__setattr__(self, "probabilities", checked)

    @classmethod
    def of_rows(cls, rows: FloatArray) -> list[PoissonBinomial]:
        """One sum per row of probabilities; the tails of short ones are computed together."""
        sums = [cls(row) for row in rows]
        if sums and sums[0].n <= _TOGETHER:
            tails = _compute_tails(np.asarray(rows, dtype=np.float64))
            for one, own in zip(sums, tails, strict=True):
                # The value that the cached property of this name would compute.
                one.__dict__["tails"] = own
        return sums

    @property
    def n(self) -> int:
        """The number of Bernoulli variables."""
        return self.probabilities.size

    def pmf(self) -> FloatArray:
        """P[S = k] for k = 0, …, n."""
        full = np.zeros(self.n + 1)
        start, window = self._window
        full[start : start + window.size] = window
        return full

    def tail(self, v: ArrayLike) -> FloatArray:
        """P[S ≥ v] for real v, of any shape; 1 for v ≤ 0 and 0 for v > n."""
        return self.tails[_validate.thresholds("v", v, self.n)]

    @cached_property
    def tails(self) -> FloatArray:
        """P[S ≥ v] for v = 0, …, n + 1 (read-only)."""
        start, window = self._window
        full = np.zeros(self.n + 2)
        full[: start + 1] = 1.0
        # Summed from the far end, smallest terms first: a tail is never 1 − cdf.
        sums = np.cumsum(window[::-1])[::-1]
        full[start + 1 : start + window.size] = np.minimum(sums[1:], 1.0)
        full.setflags(write=False)
        return full

    @cached_property
    def _window(self) -> tuple[int, FloatArray]:
        """The smallest k kept and P[S = k], P[S = k + 1], … above the floor."""
        floor = _FLOOR_DEEP if self.n <= _DEEP else _FLOOR
        parts = self._parts(floor)
        while len(parts) > 1:
            odd_one_out = parts[-1:] if len(parts) % 2 else []
            parts = [
                _trim(i + j, _convolve(a, b), floor)
                for (i, a), (j, b) in zip(parts[::2], parts[1::2], strict=False)
            ] + odd_one_out
        start, window = parts[0]
        # Rounding of 1 − p adds up to a common factor; the exact total is 1.
        return start, window / window.sum()

    def _parts(self, floor: float) -> list[tuple[int, FloatArray]]:
        """Mass functions whose sum is S; one for all equal variables where there are many."""
        if self.n > _LONG:
            values, counts = np.unique(self.probabilities, return_counts=True)
            if len(values) * _REPEATED <= self.n:
                pairs = zip(values.tolist(), counts.tolist(), strict=True)
                return sorted((_repeat(p, m, floor) for p, m in pairs), key=lambda q: q[1].size)
        return [_trim(0, block, floor) for block in _blocks(self.probabilities)]


def _compute_tails(rows: FloatArray) -> FloatArray:
    """P[S ≥ v], v = 0, …, n + 1, of every row, one variable of all rows at a time: O(n²) a row."""
    count, n = rows.shape
    mass = np.zeros((n + 1, count))
    mass[0] = 1.0
    for size, p in enumerate(rows.T, start=1):
        moved = mass[:size] * p
        mass[:size] *= 1 - p
        mass[1 : size + 1] += moved
    tails = np.zeros((count, n + 2))
    tails[:, :-1] = np.cumsum((mass / mass.sum(axis=0))[::-1], axis=0)[::-1].T
    np.minimum(tails, 1.0, out=tails)
    tails[:, 0] = 1.0
    tails.setflags(write=False)
    return tails


def _repeat(p: float, count: int, floor: float) -> tuple[int, FloatArray]:
    """The mass function of ``count`` equal variables, by ratios of neighbours from the mode on."""
    if p in (0.0, 1.0):
        return int(p) * count, np.ones(1)
    mode = min(int((count + 1) * p), count)
    # P[k] ≤ P[mode] exp(−(k − mode)²/(2 (s² + |k − mode|))): nothing above the floor is further.
    reach = -2 * log(floor)
    width = int(reach + sqrt(reach * (reach + count * p * (1 - p)))) + 1
    up = np.arange(mode, min(mode + width, count))
    down = np.arange(mode, max(mode - width, 0), -1)
    above = np.cumprod((count - up) / (up + 1) * (p / (1 - p)))
    below = np.cumprod(down / (count - down + 1) * ((1 - p) / p))
    mass = np.concatenate([below[::-1], [1.0], above])
    return _trim(mode - below.size, mass / mass.sum(), floor)


def _blocks(probabilities: FloatArray) -> FloatArray:
    """The mass functions of consecutive blocks of variables, one per row."""
    n = probabilities.size
    size = 16 if n <= 512 else 64
    count = -(-n // size)
    padded = np.zeros(count * size)
    padded[:n] = probabilities
    success = padded.reshape(size, count)
    # mass[k, g, c] = P[k successes in group g of column c]; groups merge in pairs.
    mass = np.stack([1 - success, success])
    while mass.shape[1] > 1:
        left, right = mass[:, ::2], mass[:, 1::2]
        width = mass.shape[0]
        mass = np.zeros((2 * width - 1, *left.shape[1:]))
        for k in range(width):
            mass[k : k + width] += left[k] * right
    return np.ascontiguousarray(mass[:, 0].T)


def _convolve(a: FloatArray, b: FloatArray) -> FloatArray:
    """The mass function of a sum. np.convolve in pieces short enough for single-threaded BLAS.

    Threads cost more than they bring on vectors this short, and far more on a busy machine.
    """
    if min(a.size, b.size) <= _PIECE:
        return np.convolve(a, b)
    short, long = sorted((a, b), key=len)
    total = np.zeros(a.size + b.size - 1)
    for i in range(0, short.size, _PIECE):
        piece = np.convolve(short[i : i + _PIECE], long)
        total[i : i + piece.size] += piece
    return total


def _trim(start: int, mass: FloatArray, floor: float) -> tuple[int, FloatArray]:
    """Drop the values below the floor at either end, and move the start accordingly."""
    if mass[0] >= floor and mass[-1] >= floor:
        return start, mass
    kept = np.flatnonzero(mass >= floor)
    return start + int(kept[0]), mass[kept[0] : kept[-1] + 1]
