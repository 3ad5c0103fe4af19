"""Compiled sweeps of one hidden column by counts; records that agree in what is known are one row.

y[g, v] is how many records of known row g have value v. The records of a row are exchangeable, so
with π the prior given what is known, Q_s(y) the counts in set s and w c_s the inverse variance of
their noise, c being ``scales``, the counts have probability
    ∝ Π_g Π_v π_g(v)^y[g, v] / y[g, v]! · exp(−w Σ_s c_s ‖Q_s(y) − answers_s‖² / 2),
which every move here leaves invariant. ``residual`` is Q(y) − answers, by known cell and value;
``cells``, (rows, sets), says in which known cell of each set a row counts. Random numbers come from
the generator that is passed, so a sweep has a plain twin: the same function, not compiled.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from reconbench.attacks.posterior.gibbs import normalise, pick
from reconbench.compilation import compiled

Codes = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Cells = npt.NDArray[np.int32]
# Rows of at most so many records are swept record by record: all values compete at once.
FEW = 8
# Shifts less likely than this times the likeliest one are left out.
UNLIKELY = 1e-14
# Larger than any count: the second row of a shift within one row.
FAR = 1 << 60


@compiled
def log_step(
    t: int, left: int, right: int, far_left: int, far_right: int, tilt: float, curve: float
) -> float:
    """log f(t + 1) − log f(t) of ``draw_shift``; it falls with t."""
    odds = (left - t) / (right + t + 1)
    if far_left < FAR:
        odds *= (far_left - t) / (far_right + t + 1)
    return tilt - curve * (2 * t + 1) + float(np.log(odds))


@compiled
def find_mode(
    low: int,
    high: int,
    left: int,
    right: int,
    far_left: int,
    far_right: int,
    tilt: float,
    curve: float,
) -> int:
    """The likeliest shift between ``low`` and ``high``: leaps from 0, each twice as long."""
    below, above, leap = low - 1, high, 1
    t = min(max(0, low), high - 1)
    while above - below > 1:
        if log_step(t, left, right, far_left, far_right, tilt, curve) > 0:
            below = t
            t = t + leap if t + leap < above else (below + above) // 2
        else:
            above = t
            t = t - leap if t - leap > below else (below + above) // 2
        leap *= 2
    return above


@compiled
def add_up(
    t: int,
    end: int,
    left: int,
    right: int,
    far_left: int,
    far_right: int,
    tilt: float,
    curve: float,
    height: float,
) -> tuple[float, float, int]:
    """Σ f and Σ f · distance from t + 1 on, over f(t), and the shift where Σ f exceeds a height."""
    start, mass, moment, weight = t, 0.0, 0.0, 1.0
    factor, bend = np.exp(tilt - curve * (2 * t + 1)), np.exp(-2 * curve)
    while t < end:
        weight *= factor * (left - t) / (right + t + 1)
        if far_left < FAR:
            weight *= (far_left - t) / (far_right + t + 1)
        if weight < UNLIKELY:
            break
        factor *= bend
        t += 1
        mass += weight
        moment += weight * (t - start)
        if mass > height:
            break
    return mass, moment, t


@compiled
def draw_shift(
    left: int,
    right: int,
    far_left: int,
    far_right: int,
    tilt: float,
    curve: float,
    uniform: float,
) -> tuple[int, float]:
    """How many records change sides, drawn exactly, and the expected number.

    After t records moved, ``left`` − t and ``right`` + t are the counts of two values in one row,
    and ``far_left`` − t and ``far_right`` + t in another, if there is one. The probability
        f(t) ∝ exp(tilt t − curve t²) / ((left − t)! (right + t)! (far_left − t)! (far_right + t)!)
    is log-concave: it is added up from its mode, both ways, until nothing is left.
    """
    low, high = -min(right, far_right), min(left, far_left)
    if low == high:
        return low, float(low)
    mode = find_mode(low, high, left, right, far_left, far_right, tilt, curve)
    up, gain, _ = add_up(mode, high, left, right, far_left, far_right, tilt, curve, np.inf)
    # Downwards is upwards with both sides exchanged.
    down, loss, _ = add_up(-mode, -low, right, left, far_right, far_left, -tilt, curve, np.inf)
    mean = mode + (gain - loss) / (1 + up + down)
    height = uniform * (1 + up + down) - 1
    if height < 0:
        return mode, mean
    if height < up:
        return add_up(mode, high, left, right, far_left, far_right, tilt, curve, height)[2], mean
    height -= up
    _, _, t = add_up(-mode, -low, right, left, far_right, far_left, -tilt, curve, height)
    return -t, mean


@compiled
def pick_other(chances: Floats, value: int, uniform: float) -> int:
    """A value by chance other than the given one; the given one if no other has a chance."""
    height = uniform * (chances.sum() - chances[value])
    last, below = value, 0.0
    for v in range(len(chances)):
        if v != value and chances[v] > 0.0:
            last = v
            below += chances[v]
            if height < below:
                break
    return last


@compiled
def sweep_records(
    log_prior: Floats,
    counts: Codes,
    sums: Floats,
    total: float,
    w: float,
    rng: np.random.Generator,
    means: Floats,
) -> None:
    """A record of one row, drawn at random, takes any value; as often as there are records.

    ``sums`` are the residuals of the row by value, times their scales, summed over its cells;
    ``total`` are the scales alone.
    """
    records, logits = counts.sum(), np.empty(len(counts))
    means[:] = 0.0
    for _ in range(records):
        left, old = int(rng.random() * records), 0
        while left >= counts[old]:
            left -= counts[old]
            old += 1
        counts[old] -= 1
        sums[old] -= total
        for v in range(len(counts)):
            logits[v] = log_prior[v] - w * sums[v]
        normalise(logits)
        means += logits / records
        new = pick(logits, rng.random())
        counts[new] += 1
        sums[new] += total


@compiled
def sweep_pairs(
    prior: Floats,
    log_prior: Floats,
    counts: Codes,
    sums: Floats,
    total: float,
    w: float,
    rng: np.random.Generator,
    means: Floats,
) -> None:
    """Every value of one row trades records with another one, drawn from the prior.

    t records moved from a to v change the error by 2 t (R_v − R_a) + 2 C t², R being the sums and
    C the total.
    """
    records, size = counts.sum(), len(counts)
    for v in range(size):
        means[v] = counts[v] / records
        if prior[v] == 0.0 or (size == 2 and v == 0):
            continue
        a = pick_other(prior, v, rng.random())
        if a == v:
            continue
        tilt = log_prior[v] - log_prior[a] - w * (sums[v] - sums[a])
        t, mean = draw_shift(counts[a], counts[v], FAR, FAR, tilt, w * total, rng.random())
        means[v] = (counts[v] + mean) / records
        if size == 2:
            means[a] = 1 - means[v]
        counts[a] -= t
        counts[v] += t
        sums[a] -= t * total
        sums[v] += t * total


@compiled
def count_sweep(
    prior: Floats,
    log_prior: Floats,
    cells: Cells,
    scales: Floats,
    counts: Codes,
    residual: Floats,
    weights: Floats,
    order: Codes,
    rng: np.random.Generator,
    means: Floats,
) -> None:
    """Every row of every replica once, in the given order, a random one: see ``gibbs``.

    ``counts`` are (rows, replicas, V), ``residual`` (cells, replicas, V): replicas side by side, as
    looking up the cells takes longest.

    ``means``, (rows, replicas, V), are the expected shares of the values given the rest of the
    table: with less noise than the counts, and the same mean.
    """
    _, replicas, size = counts.shape
    sets, total = cells.shape[1], scales.sum()
    flat = residual.reshape(len(residual), replicas * size)
    sums, before = np.empty((replicas, size)), np.empty((replicas, size))
    every, change = sums.reshape(-1), before.reshape(-1)
    for g in order:
        every[:] = 0.0
        for s in range(sets):
            cell = cells[g, s]
            for q in range(len(every)):
                every[q] += scales[s] * flat[cell, q]
        before[:] = -counts[g]
        few = counts[g, 0].sum() <= FEW
        for r in range(replicas):
            own = log_prior[g], counts[g, r], sums[r], total, weights[r], rng, means[g, r]
            if few:
                sweep_records(*own)
            else:
                sweep_pairs(prior[g], *own)
        before += counts[g]
        if np.any(change != 0.0):
            for s in range(sets):
                cell = cells[g, s]
                for q in range(len(every)):
                    flat[cell, q] += change[q]


@compiled
def count_trades(
    prior: Floats,
    log_prior: Floats,
    cells: Cells,
    scales: Floats,
    counts: Codes,
    residual: Floats,
    partners: Codes,
    weights: Floats,
    rng: np.random.Generator,
) -> None:
    """Every row g and one of its partners h trade records of two values, in every replica.

    As t records of g change from a to b, as many of h change from b to a. Cells that both count in
    stay as they are; the others change the error by 2 t (D_g − D_h) + 4 t² C, with D the sum of the
    residuals of b minus those of a, times their scales, and C the scales of these cells alone. Rows
    and values are drawn without a look at the counts.
    """
    sets = cells.shape[1]
    replicas = counts.shape[1]
    slope, shift = np.empty(replicas), np.empty(replicas, dtype=np.int64)
    for g in range(len(counts)):
        h = partners[g, int(rng.random() * partners.shape[1])]
        b = pick(prior[g], rng.random())
        a = pick_other(prior[g], b, rng.random())
        if h == g or a == b or prior[h, a] == 0.0 or prior[h, b] == 0.0:
            continue
        slope[:] = 0.0
        apart = 0.0
        for s in range(sets):
            i, j = cells[g, s], cells[h, s]
            if i != j:
                apart += scales[s]
                for r in range(replicas):
                    gap = residual[i, r, b] - residual[i, r, a]
                    gap -= residual[j, r, b] - residual[j, r, a]
                    slope[r] += scales[s] * gap
        odds = log_prior[g, b] - log_prior[g, a] + log_prior[h, a] - log_prior[h, b]
        for r in range(replicas):
            mine, its = counts[g, r], counts[h, r]
            tilt, curve = odds - weights[r] * slope[r], 2 * weights[r] * apart
            t, _ = draw_shift(mine[a], mine[b], its[b], its[a], tilt, curve, rng.random())
            shift[r] = t
            mine[a] -= t
            mine[b] += t
            its[a] += t
            its[b] -= t
        if not shift.any():
            continue
        for s in range(sets):
            i, j = cells[g, s], cells[h, s]
            if i != j:
                for r in range(replicas):
                    residual[i, r, a] -= shift[r]
                    residual[i, r, b] += shift[r]
                    residual[j, r, a] += shift[r]
                    residual[j, r, b] -= shift[r]
