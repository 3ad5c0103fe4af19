"""Compiled parts: listing joint values, and tightening bounds on integer counts."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from reconbench.compilation import compiled

Codes = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


@compiled
def list_values(
    starts: Codes,
    strides: Codes,
    counts: Floats,
    sizes: Codes,
    order: Codes,
    ends: Codes,
    most: int,
) -> Codes:
    """Joint values of the hidden columns of one known row that touch no empty cell.

    ``starts``, (sets,), are the cells of the row with all hidden codes 0, and ``strides``,
    (sets, hidden), lead to the others. Columns are added one after the other: sets
    order[ends[c − 1] : ends[c]] hold column c and none after it. Returns (values, hidden) codes,
    and one row of −1 if there were more than ``most``.
    """
    hidden = len(sizes)
    codes = np.zeros((1, hidden), dtype=np.int64)
    for c in range(hidden):
        first = ends[c - 1] if c > 0 else 0
        size = sizes[c]
        if len(codes) * size > 64 * most:
            return np.full((1, hidden), -1)
        longer = np.empty((len(codes) * size, hidden), dtype=np.int64)
        count = 0
        possible = np.empty(size, dtype=np.bool_)
        for p in range(len(codes)):
            possible[:] = True
            for index in range(first, ends[c]):
                s = order[index]
                cell = starts[s]
                for q in range(c):
                    cell += strides[s, q] * codes[p, q]
                for v in range(size):
                    possible[v] &= counts[cell + v * strides[s, c]] >= 1.0
            for v in range(size):
                if possible[v]:
                    longer[count] = codes[p]
                    longer[count, c] = v
                    count += 1
            if count > most:
                return np.full((1, hidden), -1)
        codes = longer[:count].copy()
    return codes


@compiled
def tighten(
    low: Codes,
    high: Codes,
    sums: Codes,
    owners: Codes,
    owner_ends: Codes,
    members: Codes,
    member_ends: Codes,
    waiting: Codes,
) -> bool:
    """Bounds propagation to a fixpoint, in place; False where no integer solution is left.

    Variable i is between low[i] and high[i]; the variables members[member_ends[c] : …] of
    constraint c add up to sums[c], and variable i is in the constraints owners[owner_ends[i] : …].
    With the others at their bounds, a variable cannot be more than sums[c] − Σ low above its own
    lower bound, nor more than Σ high − sums[c] below its upper one. ``waiting`` are the
    constraints to look at first.
    """
    count = len(sums)
    above, below = sums.copy(), -sums
    for c in range(count):
        for index in range(member_ends[c], member_ends[c + 1]):
            above[c] -= low[members[index]]
            below[c] += high[members[index]]
    queued = np.zeros(count, dtype=np.bool_)
    queue = np.empty(count + 1, dtype=np.int64)
    head, tail = 0, 0
    for c in waiting:
        queue[tail] = c
        queued[c] = True
        tail += 1
    while head != tail:
        c = queue[head]
        head = head + 1 if head < count else 0
        queued[c] = False
        if above[c] < 0 or below[c] < 0:
            return False
        for index in range(member_ends[c], member_ends[c + 1]):
            i = members[index]
            width = high[i] - low[i]
            drop = max(width - above[c], 0)
            rise = max(width - below[c], 0)
            if drop == 0 and rise == 0:
                continue
            if drop + rise > width:
                return False
            high[i] -= drop
            low[i] += rise
            for place in range(owner_ends[i], owner_ends[i + 1]):
                other = owners[place]
                below[other] -= drop
                above[other] -= rise
                if not queued[other]:
                    queue[tail] = other
                    queued[other] = True
                    tail = tail + 1 if tail < count else 0
    return True


@compiled
def enumerate_solutions(
    low: Codes,
    high: Codes,
    sums: Codes,
    owners: Codes,
    owner_ends: Codes,
    members: Codes,
    member_ends: Codes,
    most_solutions: int,
    most_nodes: int,
) -> tuple[Codes, bool]:
    """All integer solutions between the bounds, (solutions, variables), and whether that is all.

    Depth first on the variable with the narrowest free bounds, tightened at every node.
    """
    variables = len(low)
    found = np.empty((most_solutions, variables), dtype=np.int64)
    lows = np.empty((variables + 2, variables), dtype=np.int64)
    highs = np.empty((variables + 2, variables), dtype=np.int64)
    branch = np.full(variables + 2, -1)
    value = np.zeros(variables + 2, dtype=np.int64)
    everything = np.arange(len(sums))
    count, nodes, depth = 0, 0, 0
    lows[0], highs[0] = low, high
    equations = (sums, owners, owner_ends, members, member_ends)
    if not tighten(lows[0], highs[0], *equations, everything):
        return found[:0], True
    while depth >= 0:
        if branch[depth] < 0:
            best, width = -1, 1 << 60
            for i in range(variables):
                own = highs[depth, i] - lows[depth, i]
                if 0 < own < width:
                    best, width = i, own
            if best < 0:
                if count == most_solutions:
                    return found, False
                found[count] = lows[depth]
                count += 1
                depth -= 1
                continue
            branch[depth] = best
            value[depth] = highs[depth, best]
        i = branch[depth]
        if value[depth] < lows[depth, i]:
            branch[depth] = -1
            depth -= 1
            continue
        nodes += 1
        if nodes > most_nodes:
            return found[:count], False
        lows[depth + 1], highs[depth + 1] = lows[depth], highs[depth]
        lows[depth + 1, i] = value[depth]
        highs[depth + 1, i] = value[depth]
        value[depth] -= 1
        waiting = owners[owner_ends[i] : owner_ends[i + 1]]
        if tighten(lows[depth + 1], highs[depth + 1], *equations, waiting):
            depth += 1
            branch[depth] = -1
    return found[:count], True
