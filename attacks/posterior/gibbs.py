"""Compiled sweeps of the posterior sampler.

x is the hidden column of the records, π its prior given what is known, Q_s(x) the counts of the
table in set s, and w c_s the inverse variance of their noise. A sweep leaves
    π(x) exp(−w Σ_s c_s ‖Q_s(x) − answers_s‖² / 2)
invariant. Random numbers come in as uniforms, so a sweep is a plain function with a plain twin in
the tests. Sweeps go through the records in random order: where noise pins the count of a cell, a
record that enters it makes one of the next ones leave, and in a sorted table, where neighbours are
alike, values would only spread from neighbour to neighbour.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from reconbench.compilation import compiled

Codes = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
# Probabilities below exp(NEGLIGIBLE) of the largest are taken as zero: most are, at low noise.
NEGLIGIBLE = -60.0
# Trades whose odds add up to less than this are not tried, and of those that are, none with odds
# below exp(UNLIKELY).
HOPELESS = 1e-12
UNLIKELY = -30.0
STAY = 0.1
TINY = 1e-300


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
def gram_sweep(
    gram: Floats,
    gathered: Floats,
    row: Codes,
    log_prior: Floats,
    x: Codes,
    pulled: Floats,
    w: float,
    order: Codes,
    uniforms: Floats,
    chances: Floats,
) -> None:
    """One hidden column, every record once, in the given order.

    Records of one ``row`` count in the same known cells. With G = ``gram``, (rows, rows), and
    B = ``gathered``, (rows, V), the squared error is, up to a constant,
    Σ_ij G[g_i, g_j] 1[x_i = x_j] − 2 Σ_i B[g_i, x_i], so that record i takes v with probability ∝
        π_i(v) exp(w (B[g_i, v] − Σ_{j≠i} G[g_i, g_j] 1[x_j = v])).
    These probabilities are left in ``chances``, (n, V). ``pulled``, (V, rows), is
    Σ_j G[g, g_j] 1[x_j = v] and moves along with x.
    """
    size = log_prior.shape[1]
    for i in order:
        g, old = row[i], x[i]
        logits = chances[i]
        for v in range(size):
            own = gram[g, g] if v == old else 0.0
            logits[v] = log_prior[i, v] + w * (gathered[g, v] - pulled[v, g] + own)
        normalise(logits)
        new = pick(logits, uniforms[i])
        if new != old:
            x[i] = new
            for h in range(len(gram)):
                pulled[old, h] -= gram[g, h]
                pulled[new, h] += gram[g, h]


@compiled
def gram_odds(
    gram: Floats,
    gathered: Floats,
    row: Codes,
    log_prior: Floats,
    x: Codes,
    pulled: Floats,
    w: float,
    partners: Codes,
    i: int,
    odds: Floats,
) -> float:
    """min(1, ratio of posteriors) of every trade of record i, in ``odds``; returns their sum.

    Trading a, b for b, a, with X_v the indicator of x = v and u = e_i − e_j,
        Δ error / 2 = uᵀG(X_b − X_a) + uᵀGu − uᵀ(B_b − B_a).
    """
    a, g, total = x[i], row[i], 0.0
    for q in range(partners.shape[1]):
        j = partners[i, q]
        b, h = x[j], row[j]
        odds[q] = 0.0
        if a != b:
            worse = (pulled[b, g] - pulled[b, h]) - (pulled[a, g] - pulled[a, h])
            worse += gram[g, g] + gram[h, h] - 2 * gram[g, h]
            worse -= (gathered[g, b] - gathered[h, b]) - (gathered[g, a] - gathered[h, a])
            gain = log_prior[i, b] + log_prior[j, a] - log_prior[i, a] - log_prior[j, b]
            gain -= w * worse
            if gain >= 0.0:
                odds[q] = 1.0
            elif gain > UNLIKELY:
                odds[q] = np.exp(gain)
        total += odds[q]
    return total


@compiled
def gram_swap(gram: Floats, row: Codes, x: Codes, pulled: Floats, i: int, j: int) -> None:
    a, b = x[i], x[j]
    g, h = row[i], row[j]
    x[i], x[j] = b, a
    if g == h:
        return
    for m in range(len(gram)):
        moved = gram[g, m] - gram[h, m]
        pulled[a, m] -= moved
        pulled[b, m] += moved


@compiled
def gram_trades(
    gram: Floats,
    gathered: Floats,
    row: Codes,
    log_prior: Floats,
    x: Codes,
    pulled: Floats,
    w: float,
    uniforms: Floats,
    partners: Codes,
) -> None:
    """Every record may trade values with one of its partners.

    The partner is drawn by the odds of its trade and accepted by the ratio of the sums of odds
    before and after (Zanella 2020, locally balanced proposals): where nearly every trade is
    hopeless, the few good ones are found. To stay has odds of STAY: without that, two records that
    may as well trade would do so for certain, and back again when it is the other one's turn.
    """
    n = len(x)
    odds = np.empty(partners.shape[1])
    for i in range(n):
        before = gram_odds(gram, gathered, row, log_prior, x, pulled, w, partners, i, odds)
        height = uniforms[0, i] * (before + STAY)
        if before < HOPELESS or height >= before:
            continue
        j = partners[i, pick(odds, height)]
        gram_swap(gram, row, x, pulled, i, j)
        after = gram_odds(gram, gathered, row, log_prior, x, pulled, w, partners, i, odds)
        if uniforms[1, i] * (after + STAY) >= before + STAY:
            gram_swap(gram, row, x, pulled, i, j)


@compiled
def gram_round(
    gram: Floats,
    gathered: Floats,
    row: Codes,
    log_prior: Floats,
    x: Codes,
    pulled: Floats,
    at: Codes,
    weights: Floats,
    order: Codes,
    uniforms: Floats,
    partners: Codes,
    chances: Floats,
    errors: Floats,
) -> None:
    """A sweep and trades of every replica ``at[chain, level]``; ``chances`` are of the last level.

    With one level there is nothing to be stuck at, and no need of trades.
    """
    chains, levels = at.shape
    for chain in range(chains):
        for level in range(levels):
            r, w = at[chain, level], weights[level]
            mine = uniforms[chain, level]
            fixed = gram, gathered, row, log_prior, x[r], pulled[r], w
            gram_sweep(*fixed, order, mine[0], chances[chain])
            if levels > 1:
                gram_trades(*fixed, mine[1:], partners)
            error = 0.0
            for i in range(len(row)):
                error += pulled[r, x[r, i], row[i]] - 2 * gathered[row[i], x[r, i]]
            errors[r] = error


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
    scales: Floats,
    sets: Codes,
    i: int,
    c: int,
    new: int,
) -> float:
    """Set column c of record i to ``new``, in place; returns the change of the squared error.

    The residual r = marginal − answer loses 1 in the old cell of every set that holds c and gains
    1 in the new one: (r_old − 1)² − r_old² + (r_new + 1)² − r_new² = 2 (r_new − r_old) + 2, times
    the scale of the set.
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
        change += scales[s] * (2 * (residual[other] - residual[cell]) + 2)
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
    scales: Floats,
    sets: Codes,
    c: int,
    log_prior: Floats,
    w: float,
    order: Codes,
    uniforms: Floats,
    chances: Floats,
) -> None:
    """Column c of every record once, in the given order; any number of hidden columns.

    ``codes`` is the whole table, (n, d). Set s has columns ``columns[s]``; its cells start at
    ``offsets[s]`` of the flat residual r and are reached by ``strides[s]``. With record i taken
    out of its cells, putting it into cell u of set s adds c_s ((r_u + 1)² − r_u²) = c_s (2 r_u + 1)
    to the error, c being ``scales``, so it takes v with probability
        ∝ P(v | rest of the record) exp(−w Σ_s c_s r_s(v)),
    over the sets that hold the column. ``log_prior``, (n, V), is of that column given the rest of
    each record: the other records do not enter it, so it holds for the whole sweep.
    """
    size = log_prior.shape[1]
    for i in order:
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
                logits[v] += scales[s] * residual[start + v * stride]
            logits[old] -= scales[s]
        for v in range(size):
            logits[v] = log_prior[i, v] - w * logits[v]
        normalise(logits)
        new = pick(logits, uniforms[i])
        move(codes, residual, columns, strides, offsets, scales, sets, i, c, new)


@compiled
def cell_trades(
    codes: Codes,
    residual: Floats,
    columns: Codes,
    strides: Codes,
    offsets: Codes,
    scales: Floats,
    sets: Codes,
    c: int,
    log_prior: Floats,
    w: float,
    uniforms: Floats,
    partners: Codes,
) -> None:
    """Every record offers one of its partners to trade values of column c.

    Which partner is drawn without looking at the values, so proposing a trade is as likely as
    proposing to take it back. It is accepted with probability ratio / (1 + ratio) (Barker 1965):
    two records that may as well trade must not do so for certain, and then back again.
    """
    for i in range(len(codes)):
        j = partners[i, int(uniforms[0, i] * partners.shape[1])]
        a, b = codes[i, c], codes[j, c]
        if a == b:
            continue
        prior = log_prior[i, b] + log_prior[j, a] - log_prior[i, a] - log_prior[j, b]
        if prior == -np.inf:
            continue
        worse = move(codes, residual, columns, strides, offsets, scales, sets, i, c, b)
        worse += move(codes, residual, columns, strides, offsets, scales, sets, j, c, a)
        if np.log(1 / max(uniforms[1, i], TINY) - 1) <= w * worse / 2 - prior:
            move(codes, residual, columns, strides, offsets, scales, sets, i, c, a)
            move(codes, residual, columns, strides, offsets, scales, sets, j, c, b)


@compiled
def evidence(
    row: Codes,
    residual: Floats,
    columns: Codes,
    strides: Codes,
    offsets: Codes,
    scales: Floats,
) -> float:
    """Σ_s c_s r_s over the cells that a record would count in."""
    total = 0.0
    for s in range(columns.shape[0]):
        cell = offsets[s]
        for q in range(columns.shape[1]):
            cell += strides[s, q] * row[columns[s, q]]
        total += scales[s] * residual[cell]
    return total


@compiled
def count_in(
    row: Codes, residual: Floats, columns: Codes, strides: Codes, offsets: Codes, by: float
) -> None:
    for s in range(columns.shape[0]):
        cell = offsets[s]
        for q in range(columns.shape[1]):
            cell += strides[s, q] * row[columns[s, q]]
        residual[cell] += by


@compiled
def block_sweep(
    codes: Codes,
    residual: Floats,
    columns: Codes,
    strides: Codes,
    offsets: Codes,
    scales: Floats,
    hidden: Codes,
    drawn: Codes,
    watched: Codes,
    w: float,
    uniforms: Floats,
    chances: Floats,
    odds: Floats,
) -> Codes:
    """All hidden columns of a record at once: choose between it as it is and fresh draws.

    ``drawn``, (M, n, d′), are draws from the prior given what is known; the current value joins
    them as the last one and is replaced by any of the M + 1 with probability
    ∝ exp(−w Σ_s c_s r_s), r without the record. This leaves the posterior invariant (iterated
    sampling importance resampling, Andrieu, Doucet and Holenstein 2010), and the chances,
    (n, M + 1), are an unbiased estimate of the record's posterior wherever the chain has settled.
    Returns which was chosen.

    The values u of ``watched``, (C, n, d′), are not eligible; added to ``odds``, (n, C), are their
    likelihoods over the mean of the M + 1: π(u) times the sum ranks them with little noise.
    """
    fresh, n = drawn.shape[0], drawn.shape[1]
    chosen = np.empty(n, dtype=np.int64)
    for i in range(n):
        row, logits = codes[i], chances[i]
        count_in(row, residual, columns, strides, offsets, -1.0)
        logits[fresh] = -w * evidence(row, residual, columns, strides, offsets, scales)
        kept = row[hidden].copy()
        for m in range(fresh):
            row[hidden] = drawn[m, i]
            logits[m] = -w * evidence(row, residual, columns, strides, offsets, scales)
        top = logits.max()
        mean = np.exp(logits - top).mean()
        for c in range(watched.shape[0]):
            row[hidden] = watched[c, i]
            height = -w * evidence(row, residual, columns, strides, offsets, scales) - top
            odds[i, c] += np.exp(min(height, -NEGLIGIBLE)) / mean
        normalise(logits)
        new = pick(logits, uniforms[i])
        row[hidden] = kept if new == fresh else drawn[new, i]
        count_in(row, residual, columns, strides, offsets, 1.0)
        chosen[i] = new
    return chosen
