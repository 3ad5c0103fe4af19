"""Compiled sweeps of the posterior sampler, and what tells whether chains agree.

The one module that imports numba.

x is the hidden column of the records, π its prior given what is known, Q(x) the marginals of the
table. At inverse noise variance w = 1/σ² a sweep leaves π(x) exp(−w ‖Q(x) − answers‖²/2) invariant.
Random numbers come in as uniforms, so a sweep is a plain function with a plain twin in the tests.
"""

from __future__ import annotations

from collections.abc import Callable
from math import ceil, log
from typing import Any, TypeVar, cast

import numba
import numpy as np
import numpy.typing as npt

Codes = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
# Probabilities below exp(NEGLIGIBLE) of the largest are taken as zero: most are, at low noise.
NEGLIGIBLE = -60.0
LARGEST_RHAT = 1e6
# Hottest level: a record's own cells weigh HOT units of log-likelihood. Levels are STEP apart.
HOT = 6.0
STEP = 0.4
COLD = 0.5

Function = TypeVar("Function", bound=Callable[..., Any])


def compiled(function: Function) -> Function:
    """numba.njit, cached on disk, with the function's own type."""
    return cast("Function", numba.njit(cache=True)(function))


@compiled
def normalise(logits: Floats) -> None:
    """Logits to probabilities, in place; at least one of them is finite."""
    top = logits.max()
    total = 0.0
    for v in range(len(logits)):
        gap = logits[v] - top
        logits[v] = np.exp(gap) if gap > NEGLIGIBLE else 0.0
        total += logits[v]
    for v in range(len(logits)):
        logits[v] /= total


@compiled
def pick(chances: Floats, uniform: float) -> int:
    """The value at a quantile of the distribution; never one of chance zero."""
    below, last = 0.0, 0
    for v in range(len(chances)):
        if chances[v] > 0.0:
            last = v
            below += chances[v]
            if uniform < below:
                break
    return last


@compiled
def partner(near: Floats, i: int, uniform: float) -> int:
    """Whom record i trades with: ``near`` holds cumulative chances, a row a record or one for all.

    They do not depend on x, so proposing a trade is as likely as proposing to take it back.
    """
    row = near[i % len(near)]
    return min(int(np.searchsorted(row, uniform, side="right")), len(row) - 1)


@compiled
def gram_sweep(
    gram: Floats,
    gathered: Floats,
    log_prior: Floats,
    x: Codes,
    pulled: Floats,
    w: float,
    uniforms: Floats,
    near: Floats,
    chances: Floats,
) -> float:
    """One hidden column: every record once, then trades. Returns the squared error of x.

    With G = ``gram`` and B = ``gathered`` (n, V) the squared error is, up to a constant,
    Σ_ij G_ij 1[x_i = x_j] − 2 Σ_i B[i, x_i], so that record i takes v with probability ∝
        π_i(v) exp(w (B[i, v] − Σ_{j≠i} G_ij 1[x_j = v])).
    These probabilities are left in ``chances``, (n, V). ``pulled`` = Σ_j G_ij 1[x_j = v], (V, n),
    moves along with x. Then each record proposes to trade values with a partner, drawn by ``near``
    (Metropolis): from a, b to b, a, with X_v the indicator of x = v and u = e_i − e_j,
        Δ error / 2 = uᵀG(X_b − X_a) + uᵀGu − uᵀ(B_b − B_a).
    """
    n, size = gathered.shape
    for i in range(n):
        old = x[i]
        logits = chances[i]
        for v in range(size):
            own = gram[i, i] if v == old else 0.0
            logits[v] = log_prior[i, v] + w * (gathered[i, v] - pulled[v, i] + own)
        normalise(logits)
        new = pick(logits, uniforms[0, i])
        if new != old:
            x[i] = new
            for j in range(n):
                pulled[old, j] -= gram[i, j]
                pulled[new, j] += gram[i, j]
    for i in range(n):
        j = partner(near, i, uniforms[1, i])
        a, b = x[i], x[j]
        if a == b:
            continue
        prior = log_prior[i, b] + log_prior[j, a] - log_prior[i, a] - log_prior[j, b]
        worse = (pulled[b, i] - pulled[b, j]) - (pulled[a, i] - pulled[a, j])
        worse += gram[i, i] + gram[j, j] - 2 * gram[i, j]
        worse -= (gathered[i, b] - gathered[j, b]) - (gathered[i, a] - gathered[j, a])
        if np.log(uniforms[2, i]) < prior - w * worse:
            x[i], x[j] = b, a
            for m in range(n):
                moved = gram[i, m] - gram[j, m]
                pulled[a, m] -= moved
                pulled[b, m] += moved
    error = 0.0
    for i in range(n):
        error += pulled[x[i], i] - 2 * gathered[i, x[i]]
    return error


@compiled
def exchange(level: Codes, weights: Floats, errors: Floats, uniforms: Floats, odd: int) -> None:
    """Neighbouring levels swap their replicas: the likelihood's share of parallel tempering.

    ``level[m]`` is the replica at level m. Accepted with probability
    min(1, exp((w_m − w_{m+1}) (error_m − error_{m+1}) / 2)): priors cancel.
    """
    for m in range(odd, len(level) - 1, 2):
        here, there = level[m], level[m + 1]
        gain = (weights[m] - weights[m + 1]) * (errors[here] - errors[there]) / 2
        if np.log(uniforms[m]) < gain:
            level[m], level[m + 1] = there, here


@compiled
def move(
    codes: Codes,
    residual: Floats,
    columns: Codes,
    strides: Codes,
    offsets: Codes,
    sets: Codes,
    i: int,
    c: int,
    new: int,
) -> float:
    """Set column c of record i to ``new``, in place; returns the change of the squared error.

    The residual r = marginal − answer loses 1 in the old cell of every set that holds c and gains
    1 in the new one: (r_old − 1)² − r_old² + (r_new + 1)² − r_new² = 2 (r_new − r_old) + 2.
    """
    change = 0.0
    shift = new - codes[i, c]
    if shift == 0:
        return change
    for s in sets:
        cell, stride = offsets[s], 0
        for q in range(columns.shape[1]):
            cell += strides[s, q] * codes[i, columns[s, q]]
            if columns[s, q] == c:
                stride = strides[s, q]
        other = cell + shift * stride
        change += 2 * (residual[other] - residual[cell]) + 2
        residual[cell] -= 1
        residual[other] += 1
    codes[i, c] = new
    return change


@compiled
def cell_sweep(
    codes: Codes,
    residual: Floats,
    columns: Codes,
    strides: Codes,
    offsets: Codes,
    sets: Codes,
    c: int,
    log_prior: Floats,
    w: float,
    uniforms: Floats,
    near: Floats,
    chances: Floats,
) -> None:
    """Column c of every record once, then trades of it; any number of hidden columns.

    ``codes`` is the whole table, (n, d). Set s has columns ``columns[s]``; its cells start at
    ``offsets[s]`` of the flat residual r and are reached by ``strides[s]``. With record i taken
    out of its cells, putting it into cell u adds (r_u + 1)² − r_u² = 2 r_u + 1 to the error, so it
    takes v with probability ∝ P(v | rest of the record) exp(−w Σ_s r_s(v)), over the sets that
    hold c. ``log_prior``, (n, V), is of column c given the rest of each record: the other records
    do not enter it, so it holds for the whole sweep.
    """
    n, size = log_prior.shape
    for i in range(n):
        logits = chances[i]
        logits[:] = 0.0
        old = codes[i, c]
        for s in sets:
            start, stride = offsets[s], 0
            for q in range(columns.shape[1]):
                if columns[s, q] == c:
                    stride = strides[s, q]
                else:
                    start += strides[s, q] * codes[i, columns[s, q]]
            for v in range(size):
                logits[v] += residual[start + v * stride]
        logits[old] -= len(sets)
        for v in range(size):
            logits[v] = log_prior[i, v] - w * logits[v]
        normalise(logits)
        new = pick(logits, uniforms[0, i])
        move(codes, residual, columns, strides, offsets, sets, i, c, new)
    for i in range(n):
        j = partner(near, i, uniforms[1, i])
        a, b = codes[i, c], codes[j, c]
        if a == b:
            continue
        prior = log_prior[i, b] + log_prior[j, a] - log_prior[i, a] - log_prior[j, b]
        if prior == -np.inf:
            continue
        worse = move(codes, residual, columns, strides, offsets, sets, i, c, b)
        worse += move(codes, residual, columns, strides, offsets, sets, j, c, a)
        if np.log(uniforms[2, i]) >= prior - w * worse / 2:
            move(codes, residual, columns, strides, offsets, sets, i, c, a)
            move(codes, residual, columns, strides, offsets, sets, j, c, b)


@compiled
def fresh_sweep(
    codes: Codes,
    residual: Floats,
    columns: Codes,
    strides: Codes,
    offsets: Codes,
    hidden: Codes,
    proposed: Codes,
    w: float,
    uniforms: Floats,
) -> None:
    """Offer every record all its hidden cells anew, drawn from the prior given what is known.

    Accepted with probability min(1, exp(−w Δ error / 2)): prior and proposal cancel. It carries
    the chain between values that the prior keeps apart column by column.
    """
    n = len(codes)
    k = columns.shape[1]
    for i in range(n):
        old = codes[i].copy()
        new = old.copy()
        for h in range(len(hidden)):
            new[hidden[h]] = proposed[i, h]
        worse = 0.0
        for s in range(len(columns)):
            here, there = offsets[s], offsets[s]
            for q in range(k):
                here += strides[s, q] * old[columns[s, q]]
                there += strides[s, q] * new[columns[s, q]]
            if here != there:
                worse += 2 * (residual[there] - residual[here]) + 2
        if np.log(uniforms[i]) < -w * worse / 2:
            for s in range(len(columns)):
                here, there = offsets[s], offsets[s]
                for q in range(k):
                    here += strides[s, q] * old[columns[s, q]]
                    there += strides[s, q] * new[columns[s, q]]
                residual[here] -= 1
                residual[there] += 1
            codes[i] = new


def noise_levels(noise_sd: float, sets: int, most: int) -> Floats:
    """Inverse noise variances, the true one last, in steps small enough to trade places.

    ``sets`` is the number of cells a record counts in, ``most`` of levels.
    """
    true = 1 / max(noise_sd, COLD) ** 2
    hot = min(true, HOT / sets)
    count = min(1 + ceil(log(true / hot) / STEP), most)
    levels = np.geomspace(hot, true, count)
    levels[-1] = true
    return levels


def near_of(shared: Floats) -> Floats:
    """Trading partners: cumulative chances, by the square of what two records share."""
    odds = (shared + 1e-3) ** 2
    if len(odds) > 1:
        np.fill_diagonal(odds, 0.0)
    total = odds.cumsum(axis=1)
    return np.asarray(total / total[:, -1:])


def logs(chances: Floats) -> Floats:
    with np.errstate(divide="ignore"):
        return np.log(chances)


def split_rhat(trace: Floats) -> float:
    """Split R-hat (Gelman et al. 2013, section 11.4) of a (chains, sweeps) trace."""
    halves = _halves(trace)
    within = halves.var(axis=1, ddof=1).mean()
    between = halves.mean(axis=1).var(ddof=1)
    if between <= 1e-20 * max(1.0, float(np.abs(halves).max()) ** 2):
        return 1.0
    length = halves.shape[1]
    square = (length - 1) / length + between / max(within, between / LARGEST_RHAT**2)
    return float(np.sqrt(square))


def effective_size(trace: Floats) -> float:
    """Independent draws that would vary as much as the means of the half chains do.

    Rough, as there are few half chains; never more than the number of sweeps.
    """
    halves = _halves(trace)
    between = halves.mean(axis=1).var(ddof=1)
    if between == 0:
        return float(halves.size)
    return float(min(halves.size, len(halves) * halves.var(ddof=1) / between))


def _halves(trace: Floats) -> Floats:
    half = trace.shape[1] // 2
    return np.concatenate([trace[:, :half], trace[:, -half:]])
