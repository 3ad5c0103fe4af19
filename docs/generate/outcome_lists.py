"""Data files with one line per attack and game, in which some columns are lists of outcomes."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import pandas as pd


class OutcomesError(ValueError):
    """A file that does not have the columns, or not the numbers, of its kind."""


@dataclass(frozen=True)
class OutcomeFile:
    """The columns of a data file.

    ``lists`` are columns of numbers separated by blanks, each with the type of its numbers, which
    are written to so many ``decimals``. ``texts`` are never read as numbers, ``optional`` numbers
    may be missing, and ``later`` lists are empty in files from before they existed.
    """

    columns: tuple[str, ...]
    lists: Mapping[str, Callable[[str], float]]
    decimals: int
    texts: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    later: tuple[str, ...] = ()

    def to_csv(self, lines: pd.DataFrame) -> str:
        written = lines.copy()
        for name in self.lists:
            written[name] = [" ".join(map(self._format, values)) for values in lines[name]]
        return written.to_csv(index=False, float_format="%.6g", lineterminator="\n")

    def read_csv(self, text: str) -> pd.DataFrame:
        """Read what ``to_csv`` wrote."""
        lines = pd.read_csv(
            io.StringIO(text),
            dtype=dict.fromkeys((*self.texts, *self.lists), str),
            keep_default_na=False,
            na_values={name: [""] for name in self.optional},
        )
        for name in self.later:
            if name not in lines:
                lines[name] = ""
        if tuple(lines.columns) != self.columns:
            raise OutcomesError(f"a file of outcomes has the columns {', '.join(self.columns)}")
        try:
            for name, kind in self.lists.items():
                lines[name] = [tuple(map(kind, str(cell).split())) for cell in lines[name]]
        except ValueError as error:
            raise OutcomesError(f"the column {name} does not hold outcomes: {error}") from None
        return lines

    def _format(self, value: object) -> str:
        return f"{value:.{self.decimals}f}" if isinstance(value, float) else str(value)
