"""``national2019.csv`` of the NIST Diverse Communities Data Excerpts."""

from __future__ import annotations

import csv
from pathlib import Path

from reconbench.datasets.shipped.codebooks.nist import NIST, NIST_COLUMNS
from reconbench.datasets.shipped.extracts.encoding import encode, pick, read_lines
from reconbench.datasets.table import Table


def read_nist(folder: Path) -> Table:
    path = folder / "national2019.csv"
    header, *rows = csv.reader(read_lines(path))
    places = pick(path, header, NIST_COLUMNS)
    return encode(path, NIST_COLUMNS, NIST, ([row[i] for i in places] for row in rows))
