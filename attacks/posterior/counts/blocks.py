"""Moves of many large counts at once, for long tables on which single moves mix slowly.

Given the rest of the table a count moves by about 1/√(w sets), while its posterior may be √count
wide: single moves take (count w sets) sweeps to get across. Large counts are nearly Gaussian, and
so is the noise. A block of them is therefore proposed from a Gaussian that matches the posterior at
a reference point, coordinate by coordinate on the whole numbers (Klein 2000), and accepted by the
ratio of posterior and proposal (Metropolis and Hastings), which makes the move exact.

A coordinate is the number of records of a row with one value; what it gains, the row's commonest
value loses. With e = counts − reference, P = K + prior curvature and K = w Aᵀ diag(scales) A,
    log p(e) ≈ hᵀe − eᵀPe/2,   P = UᵀU,   z = U⁻ᵀh,
and coordinate i given those after it is N((z_i − Σ_{j>i} U_ij e_j) / U_ii, 1/U_ii²).
"""

from __future__ import annotations

from math import erfc, lgamma, sqrt
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.linalg import cholesky
from scipy.special import polygamma

from reconbench.compilation import compiled

Codes = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Cells = npt.NDArray[np.int32]

# Counts in blocks are expected to be at least this large,
MANY = 10.0
# and to be this many times wider than single moves, squared.
SLOW = 3.0
# Coordinates of a block at most, and its deviation from a Gaussian, Σ 1 / expected count.
LARGEST = 1024
ROUGHEST = 8.0
# Discrete normal variables of smaller spread are drawn by adding up, wider ones by rounding.
NARROW = 3.0
REACH = 9.0


class Block(NamedTuple):
    """Coordinates (row, value) that move together, against the ``base`` value of their row.

    Those of a row are consecutive; ``owner`` numbers the rows of the block. ``reference`` are the
    expected counts, ``pulls`` is K and ``factor`` U.
    """

    rows: Codes
    values: Codes
    bases: Codes
    owner: Codes
    reference: Floats
    pulls: Floats
    factor: Floats


def build_blocks(expected: Floats, cells: Cells, scales: Floats, w: float) -> list[Block]:
    """Blocks of the counts that single moves are slow for, given expected counts, (rows, V).

    Of the sets, w ``scales`` are the inverse noise variances.
    """
    base = expected.argmax(axis=1)
    largest = expected.max(axis=1, keepdims=True)
    with np.errstate(divide="ignore"):
        width = 1 / (1 / expected + 1 / largest)
    slow = (expected >= MANY) & (2 * w * scales.sum() * width > SLOW)
    slow[np.arange(len(base)), base] = False
    rows, values = np.nonzero(slow)
    order = np.argsort(-expected[rows, values], kind="stable")
    rough = np.cumsum(1 / expected[rows, values][order])
    blocks, start = [], 0
    while start < len(order):
        before = rough[start - 1] if start else 0.0
        end = max(start + 1, int(np.searchsorted(rough, before + ROUGHEST)))
        chosen = np.sort(order[start : min(end, start + LARGEST)])
        start += len(chosen)
        blocks.append(_build_block(rows[chosen], values[chosen], base, expected, cells, w * scales))
    return blocks


def _build_block(
    rows: Codes, values: Codes, base: Codes, expected: Floats, cells: Cells, weights: Floats
) -> Block:
    bases = base[rows]
    shared = np.zeros((len(rows), len(rows)))
    for column, weight in zip(cells[rows].T, weights, strict=True):
        shared += weight * (column[:, None] == column[None, :])
    same = values[:, None] == values, bases[:, None] == bases
    crossed = values[:, None] == bases, bases[:, None] == values
    pulls = shared * (1.0 * same[0] + same[1] - crossed[0] - crossed[1])
    reference = expected[rows, values]
    curve = np.where(rows[:, None] == rows, polygamma(1, expected[rows, bases] + 1), 0.0)
    curve += np.diag(polygamma(1, reference + 1))
    factor = np.ascontiguousarray(cholesky(pulls + curve))
    owner = np.cumsum(np.diff(rows, prepend=rows[0]) > 0, dtype=np.int64)
    return Block(rows, values, bases, owner, reference, pulls, factor)


@compiled
def log_slope(count: float) -> float:
    """d log count! / d count, for counts that are not small."""
    middle = max(count, 1.0) + 0.5
    return float(np.log(middle)) + 1 / (24 * middle * middle)


@compiled
def draw_whole(centre: float, spread: float, rng: np.random.Generator) -> int:
    """A whole number, normal around a centre; ``log_whole`` is its log-probability."""
    if spread >= NARROW:
        return int(np.floor(centre + spread * rng.standard_normal() + 0.5))
    low, high = int(np.ceil(centre - REACH * spread - 1)), int(centre + REACH * spread + 1)
    total = 0.0
    for k in range(low, high + 1):
        total += np.exp(-0.5 * ((k - centre) / spread) ** 2)
    height, k = rng.random() * total, low
    for k in range(low, high + 1):
        height -= np.exp(-0.5 * ((k - centre) / spread) ** 2)
        if height < 0:
            break
    return k


@compiled
def log_whole(k: int, centre: float, spread: float) -> float:
    if spread >= NARROW:
        # The mass between k − ½ and k + ½, by the tail that is the smaller one.
        gap = abs(k - centre)
        near, far = (gap - 0.5) / (spread * sqrt(2.0)), (gap + 0.5) / (spread * sqrt(2.0))
        mass = 0.5 * (erfc(near) - erfc(far))
        return np.log(mass) if mass > 0.0 else -np.inf
    low, high = int(np.ceil(centre - REACH * spread - 1)), int(centre + REACH * spread + 1)
    if k < low or k > high:
        return -np.inf
    total = 0.0
    for other in range(low, high + 1):
        total += np.exp(-0.5 * ((other - centre) / spread) ** 2)
    return -0.5 * ((k - centre) / spread) ** 2 - float(np.log(total))


@compiled
def move_block(
    rows: Codes,
    values: Codes,
    bases: Codes,
    owner: Codes,
    reference: Floats,
    pulls: Floats,
    factor: Floats,
    log_prior: Floats,
    cells: Cells,
    scales: Floats,
    counts: Codes,
    residual: Floats,
    w: float,
    rng: np.random.Generator,
) -> bool:
    """Propose new counts for a block and take them or not; says which."""
    size = len(rows)
    now, slope, odds = np.empty(size), np.empty(size), np.empty(size)
    base_now, base_reference = np.zeros(owner[-1] + 1), np.zeros(owner[-1] + 1)
    for i in range(size):
        g = rows[i]
        base_now[owner[i]] = counts[g, bases[i]]
        now[i] = counts[g, values[i]]
        base_reference[owner[i]] += now[i] - reference[i]
        odds[i] = log_prior[g, values[i]] - log_prior[g, bases[i]]
        slope[i] = 0.0
        for s in range(cells.shape[1]):
            gap = residual[cells[g, s], values[i]] - residual[cells[g, s], bases[i]]
            slope[i] -= w * scales[s] * gap
    base_reference += base_now
    # h, the slope of the posterior at the reference, of which nothing depends on the block's own
    # counts; then z, in the same place.
    z = slope + pulls @ (now - reference)
    for i in range(size):
        z[i] += odds[i] - log_slope(reference[i]) + log_slope(base_reference[owner[i]])
    for i in range(size):
        z[i] /= factor[i, i]
        for j in range(i + 1, size):
            z[j] -= factor[i, j] * z[i]
    new, ratio = np.empty(size), 0.0
    for i in range(size - 1, -1, -1):
        there, back = z[i], z[i]
        for j in range(i + 1, size):
            there -= factor[i, j] * (new[j] - reference[j])
            back -= factor[i, j] * (now[j] - reference[j])
        spread = 1 / factor[i, i]
        there, back = reference[i] + there * spread, reference[i] + back * spread
        k = draw_whole(there, spread, rng)
        if k < 0:
            return False
        new[i] = k
        ratio += log_whole(int(now[i]), back, spread) - log_whole(k, there, spread)
    change = new - now
    base_new = base_now.copy()
    for i in range(size):
        base_new[owner[i]] -= change[i]
        ratio += (odds[i] + slope[i]) * change[i] + lgamma(now[i] + 1) - lgamma(new[i] + 1)
    ratio -= 0.5 * float(change @ (pulls @ change))
    for row in range(len(base_now)):
        if base_new[row] < 0:
            return False
        ratio += lgamma(base_now[row] + 1) - lgamma(base_new[row] + 1)
    if not np.log(rng.random()) < ratio:
        return False
    for i in range(size):
        g, t = rows[i], int(change[i])
        counts[g, values[i]] += t
        counts[g, bases[i]] -= t
        for s in range(cells.shape[1]):
            residual[cells[g, s], values[i]] += t
            residual[cells[g, s], bases[i]] -= t
    return True
