"""Compiled training of small networks on sparse records, many models a call.

A record is a list of active features with values (one-hot columns, or the dark pixels of an image),
so the first layer costs what is active and not what is possible. Its last feature is always 1, the
bias; zeros fill the list up to a multiple of `TOGETHER` features, which one pass over a row of
numbers takes at a time. The parameters of a model lie in one vector: W₁ (features × width), and
with a hidden layer W₂ (classes × width), b₂. Without a hidden layer ``width`` is the number of
classes and ``classes`` is 0. A model is trained from its own seed by one thread: the result depends
neither on the number of threads nor on other models.

A step costs batch × active × width operations, plus one pass over the parameters. Functions take
many records a call: a call counts the references to its arrays, which costs as much as a record.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from reconbench.compilation import compile_with

Floats = npt.NDArray[np.float32]
Integers = npt.NDArray[np.int64]
Places = npt.NDArray[np.uintp]

# Features that one pass over the hidden units takes: `_forward` names each.
TOGETHER = 4
# Records whose hidden units are held at once, so that they stay in the cache.
_RECORDS = 64

# Sums may be taken in any order, which is what lets them run in vector registers.
_compiled = compile_with(nogil=True, fastmath={"reassoc", "contract", "nsz", "arcp"})


@_compiled
def _aligned(size: int) -> Floats:
    """Zeros that start at a cache line: a vector register that straddles two costs twice."""
    room = np.zeros(size + 16, np.float32)
    start = (-room.ctypes.data % 64) // 4
    return room[start : start + size]


@_compiled
def _forward(
    rows: Integers,
    indptr: Integers,
    indices: Places,
    values: Floats,
    weights: Floats,
    features: int,
    first: Floats,
    second: Floats,
) -> None:
    """first = xᵀ W₁ of each row; with a hidden layer a = max(first, 0) and second = W₂ a + b₂.

    Rows are reached by their places in the flat vectors, as unsigned numbers: a view of each, or
    asking whether a place counts from the end, would cost more than the sums.
    """
    width, classes = np.uintp(first.shape[1]), np.uintp(second.shape[1])
    w2 = np.uintp(features) * width
    b2 = w2 + classes * width
    for b in range(np.uintp(len(rows))):
        i = np.uintp(rows[b])
        for h in range(width):
            first[b, h] = np.float32(0.0)
        for at in range(np.uintp(indptr[i]), np.uintp(indptr[i + np.uintp(1)]), np.uintp(TOGETHER)):
            at1, at2, at3 = at + np.uintp(1), at + np.uintp(2), at + np.uintp(3)
            row0, row1 = indices[at] * width, indices[at1] * width
            row2, row3 = indices[at2] * width, indices[at3] * width
            x0, x1, x2, x3 = values[at], values[at1], values[at2], values[at3]
            for h in range(width):
                first[b, h] += (
                    x0 * weights[row0 + h]
                    + x1 * weights[row1 + h]
                    + x2 * weights[row2 + h]
                    + x3 * weights[row3 + h]
                )
        if classes == 0:
            continue
        for h in range(width):
            first[b, h] = max(first[b, h], np.float32(0.0))
        for c in range(classes):
            row = w2 + c * width
            total = weights[b2 + c]
            for h in range(width):
                total += weights[row + h] * first[b, h]
            second[b, c] = total


@_compiled
def _subtract_labels(rows: Integers, labels: Integers, logits: Floats) -> None:
    """Logits to softmax(logits) − 1[label], in place."""
    classes = np.uintp(logits.shape[1])
    for b in range(np.uintp(len(rows))):
        top = logits[b, np.uintp(0)]
        for c in range(classes):
            top = max(top, logits[b, c])
        total = np.float32(0.0)
        for c in range(classes):
            logits[b, c] = np.exp(logits[b, c] - top)
            total += logits[b, c]
        for c in range(classes):
            logits[b, c] /= total
        logits[b, np.uintp(labels[np.uintp(rows[b])])] -= np.float32(1.0)


@_compiled
def _add_gradients(
    rows: Integers,
    indptr: Integers,
    indices: Places,
    values: Floats,
    weights: Floats,
    total: Floats,
    features: int,
    factor: float,
    clip: float,
    first: Floats,
    second: Floats,
    pulled: Floats,
) -> None:
    """Add ``factor`` times each record's gradient, scaled down to the norm ``clip``, to ``total``.

    δ₂ is in ``second`` and δ₁ = W₂ᵀ δ₂ where a > 0; without a hidden layer δ₁ is in ``first``. For
    one record every layer's gradient is an outer product, so its norm is known without it:
        ‖g‖² = ‖δ₁‖² ‖x‖² + ‖δ₂‖² (1 + ‖a‖²).
    """
    width, classes = np.uintp(first.shape[1]), np.uintp(second.shape[1])
    w2 = np.uintp(features) * width
    b2 = w2 + classes * width
    for b in range(np.uintp(len(rows))):
        i = np.uintp(rows[b])
        start, stop = np.uintp(indptr[i]), np.uintp(indptr[i + np.uintp(1)])
        if classes == 0:
            for h in range(width):
                pulled[h] = first[b, h]
        else:
            for h in range(width):
                pulled[h] = np.float32(0.0)
            for c in range(classes):
                row = w2 + c * width
                error = second[b, c]
                for h in range(width):
                    pulled[h] += error * weights[row + h]
            for h in range(width):
                pulled[h] = pulled[h] if first[b, h] > 0 else np.float32(0.0)
        scale = np.float32(factor)
        if clip < np.inf:
            inputs, hidden, errors = np.float32(0.0), np.float32(0.0), np.float32(0.0)
            for at in range(start, stop):
                inputs += values[at] * values[at]
            for h in range(width):
                hidden += pulled[h] * pulled[h]
            norm = hidden * inputs
            if classes:
                hidden = np.float32(1.0)
                for h in range(width):
                    hidden += first[b, h] * first[b, h]
                for c in range(classes):
                    errors += second[b, c] * second[b, c]
                norm += errors * hidden
            scale *= np.float32(min(1.0, clip / max(np.sqrt(norm), 1e-30)))
        for c in range(classes):
            row = w2 + c * width
            error = scale * second[b, c]
            total[b2 + c] += error
            for h in range(width):
                total[row + h] += error * first[b, h]
        for at in range(start, stop):
            row = indices[at] * width
            value = scale * values[at]
            for h in range(width):
                total[row + h] += value * pulled[h]


@_compiled
def _add_batch(
    rows: Integers,
    indptr: Integers,
    indices: Places,
    values: Floats,
    labels: Integers,
    weights: Floats,
    total: Floats,
    features: int,
    factor: float,
    clip: float,
    first: Floats,
    second: Floats,
    pulled: Floats,
) -> None:
    """Add ``factor`` times the clipped gradients of the records' cross-entropies to ``total``."""
    for start in range(0, len(rows), len(first)):
        some = rows[start : start + len(first)]
        _forward(some, indptr, indices, values, weights, features, first, second)
        _subtract_labels(some, labels, second if second.shape[1] else first)
        _add_gradients(
            some, indptr, indices, values, weights, total, features, factor, clip,
            first, second, pulled,
        )  # fmt: skip


@_compiled
def _descend(weights: Floats, velocity: Floats, momentum: float) -> None:
    """w ← w + v, then v ← m v, to which the next batch adds −r g."""
    kept = np.float32(momentum)
    for p in range(len(weights)):
        weights[p] += velocity[p]
        velocity[p] *= kept


@_compiled
def sgd(
    indptr: Integers,
    indices: Places,
    values: Floats,
    labels: Integers,
    weights: Floats,
    seeds: Integers,
    features: int,
    width: int,
    classes: int,
    epochs: int,
    batch: int,
    rate: float,
    momentum: float,
) -> None:
    """Train every model (a row of ``weights``, in place) by mini-batches of shuffled epochs."""
    n, size = len(labels), weights.shape[1]
    mine, velocity, pulled = _aligned(size), _aligned(size), _aligned(width)
    first = _aligned(_RECORDS * width).reshape((_RECORDS, width))
    second = _aligned(_RECORDS * classes).reshape((_RECORDS, classes))
    for m in range(len(weights)):
        np.random.seed(seeds[m])  # noqa: NPY002 - the generator of this thread, which numba compiles
        mine[:] = weights[m]
        velocity[:] = np.float32(0.0)
        for _ in range(epochs):
            order = np.random.permutation(n)  # noqa: NPY002
            for start in range(0, n, batch):
                rows = order[start : start + batch]
                _add_batch(
                    rows, indptr, indices, values, labels, mine, velocity, features,
                    -rate / len(rows), np.inf, first, second, pulled,
                )  # fmt: skip
                _descend(mine, velocity, momentum)
        weights[m, :] = mine


@_compiled
def dp_sgd(
    indptr: Integers,
    indices: Places,
    values: Floats,
    labels: Integers,
    weights: Floats,
    seeds: Integers,
    features: int,
    width: int,
    classes: int,
    steps: int,
    sampling: float,
    batch: float,
    rate: float,
    momentum: float,
    clip: float,
    noise: float,
) -> None:
    """Train every model by DP-SGD: Poisson batches, clipped gradients, noise of sd noise · clip.

    The sum is divided by ``batch``, a constant: the size of the table must not show.
    """
    n, size = len(labels), weights.shape[1]
    mine, velocity, pulled = _aligned(size), _aligned(size), _aligned(width)
    first = _aligned(_RECORDS * width).reshape((_RECORDS, width))
    second = _aligned(_RECORDS * classes).reshape((_RECORDS, classes))
    rows = np.empty(n, np.int64)
    factor = -rate / batch
    for m in range(len(weights)):
        np.random.seed(seeds[m])  # noqa: NPY002
        mine[:] = weights[m]
        velocity[:] = np.float32(0.0)
        for _ in range(steps):
            count = 0
            for i in range(n):
                if np.random.random() < sampling:  # noqa: NPY002
                    rows[count] = i
                    count += 1
            _add_batch(
                rows[:count], indptr, indices, values, labels, mine, velocity, features,
                factor, clip, first, second, pulled,
            )  # fmt: skip
            for p in range(size):
                velocity[p] += np.float32(np.random.standard_normal() * noise * clip * factor)  # noqa: NPY002
            _descend(mine, velocity, momentum)
        weights[m, :] = mine


@_compiled
def logits(
    indptr: Integers,
    indices: Places,
    values: Floats,
    weights: Floats,
    features: int,
    width: int,
    classes: int,
) -> Floats:
    """What every model says of one record: models × classes."""
    row = np.zeros(1, np.int64)
    first = np.empty((1, width), np.float32)
    second = np.empty((1, classes), np.float32)
    found = np.empty((len(weights), classes if classes else width), np.float32)
    for m in range(len(weights)):
        _forward(row, indptr, indices, values, weights[m], features, first, second)
        found[m] = second[0] if classes else first[0]
    return found
