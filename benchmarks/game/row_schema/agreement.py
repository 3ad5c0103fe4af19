"""When two rows of one game agree: fields that must be equal, and floats that may drift.

Processors sum in different orders, so the last bits of a float differ between machines. A field
declares in its metadata how far it may drift; see `may_drift`. Whole numbers decide, so they must
be equal in every field. A field of `volatile` values is not compared.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any

import numpy as np

from reconbench.benchmarks.game.reliability import TENTHS, Claims, Reliability
from reconbench.bounds import CompactTail

_TOLERANCE = "tolerance"
_VOLATILE = "volatile"
# The share of the right guesses that near ties of scores may move across a threshold.
MOVED = 0.05


@dataclass(frozen=True)
class Tolerance:
    """Numbers agree if |a − b| ≤ absolute + relative · max(|a|, |b|)."""

    relative: float
    absolute: float = 0.0

    def allows(self, a: float, b: float) -> bool:
        if a == b:
            return True
        return abs(a - b) <= self.absolute + self.relative * max(abs(a), abs(b))

    def __str__(self) -> str:
        text = f"within {self.relative:g} relative"
        return f"{text} + {self.absolute:g}" if self.absolute else text


def may_drift(relative: float, absolute: float = 0.0, **options: Any) -> Any:
    """Declare a field of a row whose floats may differ by so much between machines."""
    return field(metadata={_TOLERANCE: Tolerance(relative, absolute)}, **options)


def volatile(**options: Any) -> Any:
    """Declare a field about the machine and the moment, which is not compared."""
    return field(metadata={_VOLATILE: True}, **options)


def is_volatile(metadata: Mapping[str, Any]) -> bool:
    return bool(metadata.get(_VOLATILE))


def get_tolerance(metadata: Mapping[str, Any]) -> Tolerance | None:
    """The tolerance that a field declares; None if its values must be equal."""
    return metadata.get(_TOLERANCE)


@dataclass(frozen=True)
class Comparison:
    """Fields in which two rows differ, and the largest relative difference of those that drift."""

    different: tuple[str, ...]
    drift: Mapping[str, float]


@dataclass
class Drift:
    """Numerical drift over many rows: how many rows, and the largest difference of each field."""

    rows: int = 0
    fields: dict[str, float] = field(default_factory=dict)

    def add(self, comparison: Comparison) -> None:
        """Count a row. One that differs is not counted: it is reported as such."""
        if comparison.different or not comparison.drift:
            return
        self.rows += 1
        for name, size in comparison.drift.items():
            self.fields[name] = max(size, self.fields.get(name, 0.0))

    def to_json(self) -> dict[str, Any]:
        return {"rows": self.rows, "largest": self.largest, "fields": dict(self.fields)}

    @property
    def largest(self) -> float:
        return max(self.fields.values(), default=0.0)

    def describe(self) -> str:
        """One line, empty if nothing drifted."""
        if not self.rows:
            return ""
        return (
            f"{self.rows} rows agree only up to numerical drift: {', '.join(self.fields)}, largest "
            f"relative difference {self.largest:.1e}"
        )


def find_drift(name: str, tolerance: Tolerance, a: Any, b: Any) -> float | None:
    """The largest relative difference of two values of a field; None if they do not agree."""
    if name == "calibration":
        return _compare_reliability(tolerance, a, b)
    if name == "claims":
        return _compare_claims(a, b)
    if name in ("run_tail", "best_successes") and a and b:
        a, b = _align_tails(a, b)
    largest = 0.0
    for pair in _walk(a, b):
        if pair is None or not _agree(tolerance, *pair):
            return None
        largest = max(largest, _relative(*pair))
    return largest


def _agree(tolerance: Tolerance, a: Any, b: Any) -> bool:
    if a == b:
        return True
    numbers = all(isinstance(x, int | float) and not isinstance(x, bool) for x in (a, b))
    if not numbers or (float(a).is_integer() and float(b).is_integer()):
        return False
    return tolerance.allows(a, b)


def _relative(a: Any, b: Any) -> float:
    return 0.0 if a == b else float(abs(a - b) / max(abs(a), abs(b)))


def _walk(a: Any, b: Any) -> Iterator[tuple[Any, Any] | None]:
    """Pairs of plain values; None where the two are built differently."""
    if isinstance(a, dict) and isinstance(b, dict) and a.keys() == b.keys():
        for key in a:
            yield from _walk(a[key], b[key])
    elif isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        for pair in zip(a, b, strict=True):
            yield from _walk(*pair)
    elif isinstance(a, dict | list) or isinstance(b, dict | list):
        yield None
    else:
        yield a, b


def _align_tails(a: Mapping[str, Any], b: Mapping[str, Any]) -> tuple[Any, Any]:
    """A tail is cut at both ends. Where a cut has moved, compare the tails value by value."""
    same_cut = a["start"] == b["start"] and len(a["values"]) == len(b["values"])
    if same_cut or a["n"] != b["n"]:
        return a, b
    tails = [CompactTail.from_json(tail) for tail in (a, b)]
    # Both are 1 below these thresholds, and constant above them.
    end = min(a["n"], max(tail.start + len(tail.values) for tail in tails))
    at = np.arange(min(tail.start for tail in tails), end + 1)
    first, second = ([float(value) for value in tail.tail(at)] for tail in tails)
    return first, second


def _compare_reliability(tolerance: Tolerance, a: Reliability, b: Reliability) -> float | None:
    """Compare counts by tenth, where a score near the edge of a tenth may fall on either side.

    If m records of ``a`` are below an edge that ``b`` has above it, the sums of scores below that
    edge differ by m times the edge.
    """
    largest = 0.0
    mine, theirs = (_accumulate_tenths(counts) for counts in (a, b))
    for tenth, (low, high) in enumerate(zip(mine, theirs, strict=True)):
        moved = low[0] - high[0]
        expected = high[1] + moved * (tenth + 1) / TENTHS
        if not tolerance.allows(low[1], expected) or abs(low[2] - high[2]) > abs(moved):
            return None
        if moved and tenth == TENTHS - 1:
            return None
        largest = max(largest, _relative(low[1], expected))
    return largest


def _compare_claims(a: Claims, b: Claims) -> float | None:
    """Compare claims, where scores that drift past each other move a threshold by a few records.

    How many guesses are right does not drift, and so neither does what chance would claim.
    """
    largest = 0.0
    if a.keys() != b.keys():
        return None
    for rate, (claimed, right, _) in a.items():
        other = b[rate]
        if right != other[1] or abs(claimed - other[0]) > max(2.0, MOVED * right):
            return None
        largest = max(largest, _relative(claimed, other[0]))
    return largest


def _accumulate_tenths(counts: Reliability) -> Sequence[list[float]]:
    tenths = [counts.get(str(tenth), [0.0, 0.0, 0.0]) for tenth in range(TENTHS)]
    return list(accumulate(tenths, lambda a, b: [x + y for x, y in zip(a, b, strict=True)]))
