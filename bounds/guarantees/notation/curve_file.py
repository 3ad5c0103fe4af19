"""A trade-off curve from a CSV file of its vertices."""

from __future__ import annotations

import csv
import io
import math
from pathlib import Path

import numpy as np

from reconbench.bounds.guarantees.relation import Relation
from reconbench.bounds.guarantees.tabulated import TabulatedCurve

MOST_BYTES = 1_000_000
MOST_POINTS = 20_000
HEADER = ("alpha", "beta")


def read_curve(path: Path, relation: Relation) -> TabulatedCurve:
    """The curve through the points (alpha, beta) of a file; its header names the two columns.

    Files come from anywhere: their size is checked before they are read.
    """
    rows = _read_rows(path)
    if not rows or tuple(name.strip().lower() for name in rows[0]) != HEADER:
        raise ValueError(f"{path} must start with the header {','.join(HEADER)}")
    points = [row for row in rows[1:] if row]
    if not 2 <= len(points) <= MOST_POINTS:
        raise ValueError(f"{path} must have 2 to {MOST_POINTS} points, got {len(points)}")
    values = np.array([_read_point(path, k, row) for k, row in enumerate(points, 1)])
    try:
        return TabulatedCurve(values[:, 0], values[:, 1], relation, label=f"the curve {path.name}")
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def _read_rows(path: Path) -> list[list[str]]:
    try:
        if not path.is_file():
            raise ValueError(f"cannot read the curve {path}: it is not a file")
        with path.open("rb") as stream:
            content = stream.read(MOST_BYTES + 1)
        if len(content) > MOST_BYTES:
            raise ValueError(f"{path} must have at most {MOST_BYTES} bytes; give fewer points")
        return list(csv.reader(io.StringIO(content.decode("utf-8-sig"), newline=""), strict=True))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise ValueError(f"cannot read the curve {path}: {error}") from None


def _read_point(path: Path, k: int, row: list[str]) -> tuple[float, float]:
    try:
        alpha, beta = (float(value) for value in row)
    except ValueError:
        raise ValueError(f"{path}: point {k} must be two numbers, got {','.join(row)!r}") from None
    if not (math.isfinite(alpha) and math.isfinite(beta)):
        raise ValueError(f"{path}: point {k} must be finite, got {alpha:g}, {beta:g}")
    return alpha, beta
