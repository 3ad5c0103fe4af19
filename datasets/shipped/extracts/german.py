"""``german.data`` of the UCI Machine Learning Repository's Statlog set, values between blanks."""

from __future__ import annotations

from pathlib import Path

from reconbench.datasets.shipped.codebooks.german import GERMAN, GERMAN_COLUMNS
from reconbench.datasets.shipped.extracts.encoding import encode, read_lines
from reconbench.datasets.table import Table


def read_german(folder: Path) -> Table:
    path = folder / "german.data"
    rows = (line.split() for line in read_lines(path) if line.strip())
    return encode(path, GERMAN_COLUMNS, GERMAN, rows)
