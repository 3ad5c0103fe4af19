"""The likeliest joint values of several columns, in order, without listing all of them.

Eliminating the wanted columns one after the other by maximum leaves, for each of them, the best
that the columns eliminated before it can add. Assigned in reverse, a partial value x therefore has
an exact score s(x): the probability of the likeliest whole value that extends it. Keeping the K
partial values of largest score at each column loses nothing: a whole value among the K likeliest
extends a partial value that scores at least as much, and partial values that score more have
distinct, likelier whole values, so there are fewer than K of them.

Work: the elimination of ``map``, and for each column K times its size numbers per distinct
evidence, of which K are selected.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from reconbench.datasets.network.elimination import Codes, Elimination, Floats


def list_likeliest(batch: Elimination, order: Sequence[int], size: int, count: int) -> Floats:
    """Eliminate ``order`` by maximum, and list the ``count`` likeliest values of each record.

    Returns their probabilities relative to the likeliest, largest first: (size, at most count).
    """
    traces = [(variable, *batch.max_ratios(variable)) for variable in order]
    chosen: dict[int, Codes] = {}
    score = np.ones((size, 1))
    record = np.arange(size)[:, None]
    for left in range(len(traces) - 1, -1, -1):
        variable, scope, ratios = traces[left]
        own = record if ratios.shape[0] == size else np.zeros_like(record)
        width = ratios.shape[-1]
        grown = score[..., None] * ratios[(own, *(chosen[v] for v in scope))]
        grown = grown.reshape(size, -1)
        if grown.shape[1] > count:
            best = np.argpartition(grown, grown.shape[1] - count, axis=1)[:, -count:]
        else:
            best = np.broadcast_to(np.arange(grown.shape[1]), grown.shape)
        score = np.take_along_axis(grown, best, axis=1)
        asked = {v for _, scope, _ in traces[:left] for v in scope}
        chosen = {v: codes[record, best // width] for v, codes in chosen.items() if v in asked}
        if variable in asked:
            chosen[variable] = best % width
    return -np.sort(-score, axis=1)
