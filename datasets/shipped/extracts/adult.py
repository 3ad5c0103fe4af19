"""``adult.data`` and ``adult.test`` of the UCI Machine Learning Repository, together.

Values are separated by a comma and a blank. The test file starts with a comment and ends every line
with a full stop.
"""

from __future__ import annotations

from pathlib import Path

from reconbench.datasets.domain import DomainError
from reconbench.datasets.shipped.codebooks.adult import ADULT, ADULT_COLUMNS
from reconbench.datasets.shipped.extracts.encoding import encode, pick, read_lines
from reconbench.datasets.table import Table

_HEADER = (
    *("age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation"),
    *("relationship", "race", "sex", "capital-gain", "capital-loss", "hours-per-week"),
    *("native-country", "income"),
)


def read_adult(folder: Path) -> Table:
    path = folder / "adult.data"
    places = pick(path, _HEADER, ADULT_COLUMNS)
    rows = []
    for source in (path, folder / "adult.test"):
        for line in read_lines(source):
            if not line or line.startswith("|"):
                continue
            values = line.rstrip(".").split(", ")
            if len(values) != len(_HEADER):
                raise DomainError(f"{source}: {line[:60]!r} has not {len(_HEADER)} values")
            rows.append([values[i] for i in places])
    return encode(path, ADULT_COLUMNS, ADULT, rows)
