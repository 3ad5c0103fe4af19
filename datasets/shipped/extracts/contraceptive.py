"""``contraceptive.dat``: KEEL's copy of the UCI set Contraceptive Method Choice."""

from __future__ import annotations

from pathlib import Path

from reconbench.datasets.shipped.codebooks.contraceptive import (
    CONTRACEPTIVE,
    CONTRACEPTIVE_COLUMNS,
)
from reconbench.datasets.shipped.extracts.encoding import encode
from reconbench.datasets.shipped.extracts.keel import read_keel
from reconbench.datasets.table import Table


def read_contraceptive(folder: Path) -> Table:
    path = folder / "contraceptive.dat"
    _, rows = read_keel(path)
    return encode(path, CONTRACEPTIVE_COLUMNS, CONTRACEPTIVE, rows)
