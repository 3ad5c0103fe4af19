"""Files in KEEL's format: ``@attribute NAME ...`` lines, ``@data``, then values between commas."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from reconbench.datasets.domain import DomainError
from reconbench.datasets.shipped.extracts.encoding import read_lines


def read_keel(path: Path) -> tuple[list[str], Iterator[list[str]]]:
    """The names of the columns, and the rows of texts."""
    lines = read_lines(path)
    try:
        start = lines.index("@data")
    except ValueError:
        raise DomainError(f"{path} is not a KEEL file: it has no line '@data'") from None
    names = [line.split()[1] for line in lines[:start] if line.startswith("@attribute ")]
    rows = ([value.strip() for value in line.split(",")] for line in lines[start + 1 :] if line)
    return names, rows
