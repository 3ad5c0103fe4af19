"""The stored rows of computations, by the points that suites ask for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from reconbench.benchmarks.computations.computation import MEAN, Point
from reconbench.benchmarks.game.result import Result, Status
from reconbench.benchmarks.store.store import Key, Store

Values = dict[str, float]


class StoredPointsError(ValueError):
    """Stores that do not hold what a page shows."""


def read_points(points: Sequence[Point], folders: Iterable[Path]) -> list[tuple[Point, Values]]:
    """Each point with its values; rows made by other code have other keys and do not count."""
    rows: dict[Key, Result] = {}
    for folder in folders:
        with Store.read_only(folder) as store:
            rows |= store.get(point.key for point in points)
    missing = [point for point in points if point.key not in rows]
    if missing:
        raise StoredPointsError(
            f"{len(missing)} of {len(points)} points are in none of the stores, the first is "
            f"{missing[0].label!r}; run: reconbench run {missing[0].suite}"
        )
    found = []
    for point in points:
        row = rows[point.key]
        if row.status is not Status.OK:
            raise StoredPointsError(f"{point.suite}: {point.label} failed: {row.error}")
        found.append((point, {name: value[MEAN] for name, value in row.ceilings.items()}))
    return found
