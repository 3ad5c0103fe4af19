"""Files of integer codes into a domain, with a header: the extracts of ACS and FIRE."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from reconbench.datasets.domain import Domain
from reconbench.datasets.table import Table


def read_codes(path: Path, domain: Domain) -> Table:
    """Codes of every column of ``domain``; the file may have them in any order."""
    header = path.open(encoding="utf-8").readline().rstrip("\r\n").split(",")
    codes = np.loadtxt(path, delimiter=",", skiprows=1, dtype=np.int64, encoding="utf-8")
    return Table(domain.project(header), codes).project(domain.names)
