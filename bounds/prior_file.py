"""CSV files of priors: one row per target, or one per value of a secret."""

from __future__ import annotations

import csv
import os
from pathlib import Path

import numpy as np

from reconbench.bounds._validate import FloatArray


def read_priors(file: str | os.PathLike[str]) -> tuple[FloatArray, FloatArray | None]:
    """The best guess's prior of every target and, where the file has them, whole priors.

    Args:
        file: a CSV file with one row per target: a column `prior`, or columns p0, p1, ...
    """
    path = Path(file)
    rows = read_rows(path, "one row per target")
    header = list(rows[0])
    names = ["prior"] if "prior" in header else [f"p{i}" for i in range(len(header))]
    if set(names) != set(header) & {*names, "prior"} or not set(names) <= set(header):
        raise ValueError(f"{path} must have a column `prior`, or columns p0, p1, ... and no others")
    values = np.array([[read_number(path, row[name] or "0") for name in names] for row in rows])
    if names == ["prior"]:
        return values[:, 0], None
    return values.max(axis=1), values


def read_rows(path: Path, needed: str) -> list[dict[str, str]]:
    """The rows of a CSV file with a header.

    Args:
        path: the file.
        needed: what a file needs besides the header, for the error about one without rows.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as stream:
            rows = list(csv.DictReader(stream, strict=True))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise ValueError(f"cannot read {path}: {error}") from None
    if not rows:
        raise ValueError(f"{path} has no rows; it needs a header and {needed}")
    return rows


def read_number(path: Path, text: str | None) -> float:
    """A number of a CSV file.

    Args:
        path: the file, for errors.
        text: the cell; None where the row is too short.
    """
    try:
        return float(text or "")
    except ValueError:
        raise ValueError(f"{path}: every value must be a number, got {text!r}") from None
