"""Readable bin edges for a column of numbers."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

BINS = 10
# Bins of equal width are dropped where one of them would hold more of the records than this.
FULLEST = 0.4


def draft_edges(numbers: Floats) -> tuple[list[float], bool]:
    """Edges that cover the numbers of all records, and whether they follow their quantiles.

    Bins are of equal width, unless most of the records would then share one of them.
    """
    low, high = float(numbers.min()), float(numbers.max())
    edges = draft_equal_bins(low, high)
    counts = np.histogram(numbers, bins=edges)[0]
    skewed = bool(counts.max() > FULLEST * len(numbers))
    if skewed:
        edges = draft_quantile_bins(numbers, edges[0], edges[-1])
    return [int(edge) if edge.is_integer() and abs(edge) < 1e15 else edge for edge in edges], skewed


def draft_equal_bins(low: float, high: float) -> list[float]:
    """About ``BINS`` equal bins with round edges that cover low to high."""
    try:
        exponent = math.floor(math.log10((high - low) / BINS))
        unit = 10.0**exponent
        step = next(k * unit for k in (1, 2, 5, 10, 20) if k * unit * BINS >= high - low)
        first, last = math.floor(low / step), math.ceil(high / step)
        edges = [round(k * step, max(0, -exponent)) for k in range(first, last + 1)]
    except (OverflowError, ValueError, ZeroDivisionError, StopIteration):
        return [low, high]
    covers = edges[0] <= low and high <= edges[-1]
    return edges if covers and edges == sorted(set(edges)) else [low, high]


def draft_quantile_bins(numbers: Floats, first: float, last: float) -> list[float]:
    """About ``BINS`` bins with equally many records, between round edges.

    Every inner edge is the roundest number between the quantiles a quarter of a bin before and
    after it. A number that many records share fills a bin of its own: the edge after it lies
    before the next number.
    """
    values, counts = np.unique(numbers, return_counts=True)
    shared = counts.cumsum() / counts.sum()
    edges = [first]
    share = 1 / BINS
    at = share
    while at < 1 - share / 2:
        i = int(np.searchsorted(shared, at))
        if counts[i] / counts.sum() >= share:  # one value for a whole bin, or more
            before = [float(values[i - 1]), float(values[i])] if i else None
            after = [float(values[i]), float(values[i + 1])] if i + 1 < len(values) else None
            edges += [find_roundest(low, high) for low, high in filter(None, (before, after))]
            at = max(at, float(shared[i])) + share
            continue
        early = float(values[np.searchsorted(shared, at - share / 4)])
        late = float(values[np.searchsorted(shared, min(1.0, at + share / 4))])
        edges.append(find_roundest(early, late) if early < late else late)
        at += share
    inner = sorted({edge for edge in edges if first < edge < last})
    return [first, *_drop_empty([first, *inner, last], numbers), last]


def _drop_empty(edges: list[float], numbers: Floats) -> list[float]:
    """The inner edges, without those that would close a bin that holds nobody."""
    kept: list[float] = []
    start = edges[0]
    for edge in edges[1:-1]:
        if ((numbers >= start) & (numbers < edge)).any() and (numbers >= edge).any():
            kept.append(edge)
            start = edge
    return kept


def find_roundest(low: float, high: float) -> float:
    """The number with the fewest digits above ``low`` and not above ``high``.

    >>> find_roundest(0, 114), find_roundest(2885, 3103), find_roundest(0.21, 0.34)
    (100.0, 3000.0, 0.3)
    """
    if not (low < high and math.isfinite(high - low)):
        return high
    if low < 0 <= high:
        return 0.0
    exponent = math.floor(math.log10(max(abs(low), abs(high))))
    for power in range(exponent, exponent - 17, -1):
        for step in (5, 2, 1) if power < exponent else (1,):
            digits = max(0, -power)
            found = round(math.floor(high / (step * 10.0**power)) * step * 10.0**power, digits)
            if low < found <= high:
                return found
    return high
