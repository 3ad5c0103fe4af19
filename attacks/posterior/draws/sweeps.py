"""Compiled sweeps by fresh draws, with evidence from how far records agree.

A marginal counts a record with every other one that it shares a cell with, so over all released
sets the residual of a value u, with record i left out, is
    E_i(u) = Σ_{j≠i} ways(u, x_j) − A(u),
where ways(u, x_j) is the number of sets on whose columns u and x_j agree, which depends on the
numbers of known and of hidden columns that they agree in, and A(u) adds up the answers in the cells
of u. A(u) stays as it is, whatever the other records do.

``places``, (groups, n), is d′ + 1 times the known columns in which records of a group agree with
each record; plus the hidden ones it is the index into ``ways``, which is flat. ``codes``, (d′, n),
has one row per hidden column. Short unsigned numbers and contiguous loops over records or values
are what compilers turn into vector instructions.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from reconbench.attacks.posterior.gibbs import normalise, pick
from reconbench.compilation import compiled

Codes = npt.NDArray[np.int64]
Shorts = npt.NDArray[np.uint16]
Indices = npt.NDArray[np.uint32]
Floats = npt.NDArray[np.float64]
Singles = npt.NDArray[np.float32]


@compiled
def sum_answers(
    values: Shorts,
    starts: Indices,
    answers: Singles,
    columns: Indices,
    strides: Indices,
    offsets: Indices,
    total: Floats,
) -> None:
    """Add to ``total`` the answers in the cells of each value; ``values`` is (d′, m).

    Set s has hidden columns ``columns[s]``; its cells start at ``offsets[s]``, plus ``starts[v]``
    for value v. Going through the sets outside keeps one marginal at a time in the cache.
    """
    count = values.shape[1]
    cell = np.empty(count, dtype=np.uint32)
    for s in range(len(columns)):
        for v in range(count):
            cell[v] = starts[v] + offsets[s]
        for q in range(columns.shape[1]):
            column, stride = values[columns[s, q]], strides[s, q]
            for v in range(count):
                cell[v] += stride * column[v]
        for v in range(count):
            total[v] += answers[cell[v]]


@compiled
def find_agreements(value: Shorts, codes: Shorts, places: Shorts, index: Shorts) -> None:
    """Write into ``index`` where ``ways`` has the sets that a value shares with each record."""
    for j in range(len(index)):
        index[j] = places[j]
    for c in range(len(codes)):
        wanted, column = value[c], codes[c]
        for j in range(len(index)):
            index[j] = index[j] + (1 if column[j] == wanted else 0)


@compiled
def count_shared(index: Shorts, ways: Floats) -> float:
    """Add up the shared sets of all records, in four sums that do not wait for each other."""
    a, b, c, d = 0.0, 0.0, 0.0, 0.0
    whole = len(index) // 4 * 4
    for j in range(0, whole, 4):
        a += ways[index[j]]
        b += ways[index[j + 1]]
        c += ways[index[j + 2]]
        d += ways[index[j + 3]]
    for j in range(whole, len(index)):
        a += ways[index[j]]
    return a + b + c + d


@compiled
def draw_sweep(
    codes: Shorts,
    own: Floats,
    group: Codes,
    places: Shorts,
    ways: Floats,
    drawn: Shorts,
    answers: Floats,
    w: float,
    uniforms: Floats,
    log_means: Floats,
) -> float:
    """All hidden columns of every record at once: choose between it as it is and fresh draws.

    ``drawn``, (M, n, d′), are draws from the prior given what is known, with A(u) in ``answers``,
    (M, n); ``own`` is A of the values that records have. A record takes one of the M + 1 with
    probability ∝ exp(−w E_i), which leaves the posterior invariant (iterated sampling importance
    resampling, Andrieu, Doucet and Holenstein 2010). Left in ``log_means`` is the logarithm of the
    mean of the M + 1 likelihoods. Returns by how much the squared error grew.
    """
    fresh, n, width = drawn.shape
    residuals = np.empty(fresh + 1)
    chances = np.empty(fresh + 1)
    index = np.empty(n, dtype=np.uint16)
    kept = np.empty(width, dtype=np.uint16)
    grown = 0.0
    for i in range(n):
        mine = places[group[i]]
        for c in range(width):
            kept[c] = codes[c, i]
        for m in range(fresh + 1):
            value = kept if m == fresh else drawn[m, i]
            find_agreements(value, codes, mine, index)
            residuals[m] = count_shared(index, ways) - ways[index[i]]
            residuals[m] -= own[i] if m == fresh else answers[m, i]
            chances[m] = -w * residuals[m]
        top, total = chances.max(), 0.0
        for m in range(fresh + 1):
            total += np.exp(chances[m] - top)
        log_means[i] = top + np.log(total / (fresh + 1))
        normalise(chances)
        new = pick(chances, uniforms[i])
        if new < fresh:
            for c in range(width):
                codes[c, i] = drawn[new, i, c]
            own[i] = answers[new, i]
            grown += 2 * (residuals[new] - residuals[fresh])
    return grown


@compiled
def square_error(codes: Shorts, own: Floats, group: Codes, places: Shorts, ways: Floats) -> float:
    """‖Q(x) − answers‖² − ‖answers‖² = Σ_ij ways(x_i, x_j) − 2 Σ_i A(x_i)."""
    width, n = codes.shape
    index = np.empty(n, dtype=np.uint16)
    value = np.empty(width, dtype=np.uint16)
    total = 0.0
    for i in range(n):
        for c in range(width):
            value[c] = codes[c, i]
        find_agreements(value, codes, places[group[i]], index)
        total += count_shared(index, ways) - 2 * own[i]
    return total


@compiled
def follow_values(
    before: Shorts,
    after: Shorts,
    log_means: Floats,
    values: Shorts,
    groups: Codes,
    answers: Floats,
    group: Codes,
    places: Shorts,
    ways: Floats,
    w: float,
) -> Floats:
    """Likelihoods of values, over the mean one, in every sweep that was kept.

    ``before`` and ``after``, (S, d′, n), are the tables around a sweep, which left ``log_means``,
    (S, n). When it came to record i, the records before i had moved and those after had not: these
    are the others that log_means[i] was computed with. Value v, (V, d′), is one of group
    ``groups[v]``; its mean over the records of that group is returned, (S, V).
    """
    count, _, n = before.shape
    odds = np.empty((count, len(values)))
    index = np.empty(n, dtype=np.uint16)
    old, new = np.empty(n), np.empty(n)
    for s in range(count):
        for v in range(len(values)):
            g = groups[v]
            find_agreements(values[v], after[s], places[g], index)
            for j in range(n):
                new[j] = ways[index[j]]
            find_agreements(values[v], before[s], places[g], index)
            for j in range(n):
                old[j] = ways[index[j]]
            ahead, behind = old.sum() - answers[v], 0.0
            total, members = 0.0, 0
            for i in range(n):
                ahead -= old[i]
                if group[i] == g:
                    total += np.exp(-w * (behind + ahead) - log_means[s, i])
                    members += 1
                behind += new[i]
            odds[s, v] = total / members
    return odds
