"""``NHANES_data_2017-2018.tsv``: tables of NHANES 2017-2018 joined by person; adults are taken."""

from __future__ import annotations

import csv
from pathlib import Path

from reconbench.datasets.shipped.codebooks.nhanes import (
    NHANES,
    NHANES_COLUMNS,
    NHANES_VARIABLES,
)
from reconbench.datasets.shipped.extracts.encoding import encode, pick, read_lines
from reconbench.datasets.table import Table

ADULT = 20  # the age from which NHANES asks adults' education and marital status


def read_nhanes(folder: Path) -> Table:
    path = folder / "NHANES_data_2017-2018.tsv"
    header, *rows = csv.reader(read_lines(path), delimiter="\t")
    places = pick(path, header, (NHANES_VARIABLES[name][1] for name in NHANES_COLUMNS))
    age = places[list(NHANES_COLUMNS).index("age")]
    adults = (
        [_whole(row[i]) for i in places] for row in rows if row[age] and float(row[age]) >= ADULT
    )
    return encode(path, NHANES_COLUMNS, NHANES, adults)


def _whole(text: str) -> str:
    """Codes without the decimals that the file gives to columns with empty cells: 1.0 is 1."""
    return text.removesuffix(".0")
