"""Compiled training of small networks on sparse records, many models a call.

A record is a list of active features with values (one-hot columns, or the dark pixels of an image),
so the first layer costs what is active and not what is possible. The parameters of a model lie in
one vector: W₁ (features × width), b₁, and with a hidden layer W₂ (classes × width), b₂. Without a
hidden layer ``width`` is the number of classes and ``classes`` is 0. A model is trained from its
own seed by one thread: the result depends neither on the number of threads nor on other models.

A step costs batch × active × width operations, plus one pass over the parameters.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from reconbench.compilation import compile_with

Floats = npt.NDArray[np.float32]
Integers = npt.NDArray[np.int64]
Places = npt.NDArray[np.uintp]

# Sums may be taken in any order, which is what lets them run in vector registers.
_compiled = compile_with(nogil=True, fastmath={"reassoc", "contract", "nsz", "arcp"})


@_compiled
def _softmax(logits: Floats) -> np.floating[Any]:
    """Logits to probabilities, in place; log Σ exp of them."""
    top = logits.max()
    total = np.float32(0.0)
    for c in range(len(logits)):
        logits[c] = np.exp(logits[c] - top)
        total += logits[c]
    for c in range(len(logits)):
        logits[c] /= total
    found: np.floating[Any] = top + np.log(total)
    return found


@_compiled
def _forward(
    start: int,
    stop: int,
    indices: Places,
    values: Floats,
    weights: Floats,
    features: int,
    first: Floats,
    second: Floats,
) -> None:
    """first = xᵀ W₁ + b₁; with a hidden layer it becomes a = max(first, 0), second = W₂ a + b₂.

    Rows are reached by their places in the flat vectors, as unsigned numbers: a view of each, or
    asking whether a place counts from the end, would cost more than the sums.
    """
    width, classes = np.uintp(len(first)), np.uintp(len(second))
    bias = np.uintp(features) * width
    for h in range(width):
        first[h] = weights[bias + h]
    for at in range(start, stop):
        row = indices[at] * width
        value = values[at]
        for h in range(width):
            first[h] += value * weights[row + h]
    if classes == 0:
        return
    for h in range(width):
        first[h] = max(first[h], np.float32(0.0))
    for c in range(classes):
        row = bias + width + c * width
        total = np.float32(0.0)
        for h in range(width):
            total += weights[row + h] * first[h]
        second[c] = total + weights[bias + width + classes * width + c]


@_compiled
def _squares(values: Floats, start: int | np.uintp, stop: int | np.uintp) -> np.float32:
    total = np.float32(0.0)
    for at in range(start, stop):
        total += values[at] * values[at]
    return total


@_compiled
def _add_gradient(
    i: int,
    indptr: Integers,
    indices: Places,
    values: Floats,
    labels: Integers,
    weights: Floats,
    gradient: Floats,
    features: int,
    clip: float,
    first: Floats,
    second: Floats,
    pulled: Floats,
) -> None:
    """Add the gradient of record i's cross-entropy, scaled down to the norm ``clip``.

    δ₂ = softmax(second) − 1[label], δ₁ = W₂ᵀ δ₂ where a > 0; without a hidden layer δ₁ is the
    former, of ``first``. For one record every layer's gradient is an outer product, so its norm
    is known without it:
        ‖g‖² = ‖δ₁‖² (1 + ‖x‖²) + ‖δ₂‖² (1 + ‖a‖²).
    """
    start, stop = indptr[i], indptr[i + 1]
    width, classes = np.uintp(len(first)), np.uintp(len(second))
    bias = np.uintp(features) * width
    _forward(start, stop, indices, values, weights, features, first, second)
    norm = np.float32(0.0)
    if classes == 0:
        _softmax(first)
        first[labels[i]] -= np.float32(1.0)
        for h in range(width):
            pulled[h] = first[h]
    else:
        _softmax(second)
        second[labels[i]] -= np.float32(1.0)
        for h in range(width):
            pulled[h] = np.float32(0.0)
        for c in range(classes):
            row = bias + width + c * width
            error = second[c]
            for h in range(width):
                pulled[h] += error * weights[row + h]
        for h in range(width):
            pulled[h] = pulled[h] if first[h] > 0 else np.float32(0.0)
        norm = _squares(second, 0, classes) * (np.float32(1.0) + _squares(first, 0, width))
    scale = np.float32(1.0)
    if clip < np.inf:
        active = np.float32(1.0) + _squares(values, start, stop)
        norm += _squares(pulled, 0, width) * active
        scale = np.float32(min(1.0, clip / max(np.sqrt(norm), 1e-30)))
    for c in range(classes):
        row = bias + width + c * width
        error = second[c] * scale
        gradient[bias + width + classes * width + c] += error
        for h in range(width):
            gradient[row + h] += error * first[h]
    for h in range(width):
        pulled[h] *= scale
        gradient[bias + h] += pulled[h]
    for at in range(start, stop):
        row = indices[at] * width
        value = values[at]
        for h in range(width):
            gradient[row + h] += value * pulled[h]


@_compiled
def _descend(
    weights: Floats, gradient: Floats, velocity: Floats, rate: float, momentum: float
) -> None:
    """v ← m v − r g, w ← w + v; the gradient is left at zero."""
    step, kept = np.float32(rate), np.float32(momentum)
    for p in range(len(weights)):
        velocity[p] = kept * velocity[p] - step * gradient[p]
        weights[p] += velocity[p]
        gradient[p] = np.float32(0.0)


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
    n = len(labels)
    for m in range(len(weights)):
        np.random.seed(seeds[m])  # noqa: NPY002 - the generator of this thread, which numba compiles
        mine = weights[m]
        gradient = np.zeros_like(mine)
        velocity = np.zeros_like(mine)
        first = np.empty(width, np.float32)
        second = np.empty(classes, np.float32)
        pulled = np.empty(width, np.float32)
        for _ in range(epochs):
            order = np.random.permutation(n)  # noqa: NPY002
            for start in range(0, n, batch):
                rows = order[start : start + batch]
                for i in rows:
                    _add_gradient(
                        i, indptr, indices, values, labels, mine, gradient, features,
                        np.inf, first, second, pulled,
                    )  # fmt: skip
                _descend(mine, gradient, velocity, rate / len(rows), momentum)


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
    n = len(labels)
    for m in range(len(weights)):
        np.random.seed(seeds[m])  # noqa: NPY002
        mine = weights[m]
        gradient = np.zeros_like(mine)
        velocity = np.zeros_like(mine)
        first = np.empty(width, np.float32)
        second = np.empty(classes, np.float32)
        pulled = np.empty(width, np.float32)
        for _ in range(steps):
            for i in range(n):
                if np.random.random() < sampling:  # noqa: NPY002
                    _add_gradient(
                        i, indptr, indices, values, labels, mine, gradient, features,
                        clip, first, second, pulled,
                    )  # fmt: skip
            for p in range(len(mine)):
                gradient[p] += np.float32(np.random.standard_normal() * noise * clip)  # noqa: NPY002
            _descend(mine, gradient, velocity, rate / batch, momentum)


@_compiled
def losses(
    start: int,
    stop: int,
    indices: Places,
    values: Floats,
    label: int,
    weights: Floats,
    features: int,
    width: int,
    classes: int,
) -> npt.NDArray[np.float64]:
    """The cross-entropy of one record under every model."""
    first = np.empty(width, np.float32)
    second = np.empty(classes, np.float32)
    found = np.empty(len(weights), np.float64)
    for m in range(len(weights)):
        _forward(start, stop, indices, values, weights[m], features, first, second)
        logits = second if classes else first
        own = np.float64(logits[label])
        found[m] = _softmax(logits) - own
    return found
