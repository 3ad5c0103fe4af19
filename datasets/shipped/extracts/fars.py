"""``fars.dat``: KEEL's copy of the person file of the Fatality Analysis Reporting System."""

from __future__ import annotations

from pathlib import Path

from reconbench.datasets.shipped.codebooks.fars import FARS, FARS_COLUMNS, FARS_NAMES
from reconbench.datasets.shipped.extracts.encoding import encode, pick
from reconbench.datasets.shipped.extracts.keel import read_keel
from reconbench.datasets.table import Table


def read_fars(folder: Path) -> Table:
    path = folder / "fars.dat"
    header, rows = read_keel(path)
    places = pick(path, header, (FARS_NAMES[name] for name in FARS_COLUMNS))
    return encode(path, FARS_COLUMNS, FARS, ([row[i] for i in places] for row in rows))
