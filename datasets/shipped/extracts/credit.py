"""``UCI_Credit_Card.csv``: the UCI set Default of Credit Card Clients, with indicator columns.

This copy spreads education and marriage over indicator columns and counts sex from 0; the reader
puts the original codes together again.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from pathlib import Path

from reconbench.datasets.domain import DomainError
from reconbench.datasets.shipped.codebooks.credit import CREDIT, CREDIT_COLUMNS
from reconbench.datasets.shipped.extracts.encoding import encode, read_lines
from reconbench.datasets.table import Table

_SEX = {"0": "1", "1": "2"}
_DEFAULT = "default-payment-next-month"


def read_credit(folder: Path) -> Table:
    path = folder / "UCI_Credit_Card.csv"
    try:
        rows = [_restore(row) for row in csv.DictReader(read_lines(path))]
    except KeyError as error:
        raise DomainError(f"{path} lacks column or value {error}") from None
    except DomainError as error:
        raise DomainError(f"{path}: {error}") from None
    return encode(path, CREDIT_COLUMNS, CREDIT, ([row[c] for c in CREDIT_COLUMNS] for row in rows))


def _restore(row: Mapping[str, str]) -> dict[str, str]:
    return {
        **row,
        "SEX": _SEX[row["SEX"]],
        "EDUCATION": _chosen(row, "EDUCATION", 7),
        "MARRIAGE": _chosen(row, "MARRIAGE", 4),
        "default": row[_DEFAULT],
    }


def _chosen(row: Mapping[str, str], name: str, codes: int) -> str:
    """The one code whose indicator column is 1."""
    chosen = [str(code) for code in range(codes) if row[f"{name}_{code}"] == "1"]
    if len(chosen) != 1:
        raise DomainError(f"a record has {len(chosen)} of the columns {name}_0, ... at 1, not one")
    return chosen[0]
