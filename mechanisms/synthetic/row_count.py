"""How many rows a synthetic table has: a number, or so many times the records it stands for."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from typing import Self

from reconbench.mechanisms.base import MechanismError

MOST_ROWS = 100_000_000


@dataclass(frozen=True)
class RowCount:
    """``factor`` times n rows, or ``rows`` whatever n is."""

    factor: float | None = None
    rows: int | None = None

    @classmethod
    def parse(cls, text: str | int | float) -> Self:
        """Read ``"n"``, ``"50n"``, ``"0.5n"`` or a whole number such as 5000."""
        if isinstance(text, str) and text.strip().endswith("n"):
            factor = text.strip()[:-1].strip() or "1"
            try:
                times = float(factor)
            except ValueError:
                times = -1.0
            if isfinite(times) and times > 0:
                return cls(factor=times)
        else:
            try:
                rows = float(text)
            except ValueError:
                rows = -1.0
            if rows == 0:
                raise MechanismError("rows is 0: a synthetic table needs at least one row")
            if not isinstance(text, bool) and 1 <= rows <= MOST_ROWS and rows == int(rows):
                return cls(rows=int(rows))
        raise MechanismError(
            "rows must be a whole number of 1 or more, or a multiple of the records such as 'n' or "
            f"'50n', got {text!r}"
        )

    def count(self, records: int) -> int:
        """The rows of a table that stands for so many records."""
        if self.rows is not None:
            return self.rows
        rows = round((self.factor or 1.0) * records)
        if not 1 <= rows <= MOST_ROWS:
            raise MechanismError(
                f"rows '{self.factor:g}n' are {rows:,} rows for {records:,} records; a synthetic "
                f"table has 1 to {MOST_ROWS:,}"
            )
        return rows
