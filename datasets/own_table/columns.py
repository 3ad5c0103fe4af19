"""The columns of a table as text, from a CSV file, a Parquet file or a DataFrame."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from reconbench.datasets.domain import DomainError
from reconbench.datasets.own_table.encoding import STATE_IT, detect_encoding, state_encoding
from reconbench.datasets.own_table.frames import read_frame
from reconbench.datasets.own_table.parquet import read_parquet
from reconbench.datasets.own_table.separator import SAMPLE, detect_separator
from reconbench.datasets.own_table.table_format import CsvStyle, TableFormat
from reconbench.datasets.sources._csv import CsvError, TextColumn, read_columns, reading

if TYPE_CHECKING:
    import pandas as pd

Pathish = str | os.PathLike[str]

MAX_BYTES = 2 << 30
MAX_VALUES = 10_000_000  # distinct values of a column
PARQUET = (".parquet", ".pq")


@dataclass(frozen=True)
class TextTable:
    """A table whose cells are text as yet.

    ``name`` says where it is from, for messages; ``unusable`` names the columns that cannot be
    read as text, and why.
    """

    name: str
    columns: tuple[TextColumn, ...]
    format: TableFormat
    unusable: Mapping[str, str] = field(default_factory=dict)

    @property
    def records(self) -> int:
        return len(self.columns[0].numbers) if self.columns else 0

    @property
    def names(self) -> tuple[str, ...]:
        return (*(column.name for column in self.columns), *self.unusable)


def load_columns(
    source: Pathish | pd.DataFrame, style: CsvStyle, expected: Collection[str] = ()
) -> TextTable:
    """Read all columns of a table; ``expected`` names help to tell how a CSV file is separated."""
    if not isinstance(source, str | os.PathLike):
        _refuse_style(style, "a DataFrame")
        name = "the DataFrame"
        with naming(name):
            columns, unusable = read_frame(source)
        return TextTable(name, tuple(columns), TableFormat("DataFrame"), unusable)
    path = Path(source)
    with reading(path, DomainError):
        size = path.stat().st_size
        if size > MAX_BYTES:
            raise CsvError(f"it has {size} bytes, more than {MAX_BYTES}; bring a sample of it")
        if path.suffix.lower() in PARQUET:
            _refuse_style(style, "Parquet")
            columns, unusable = read_parquet(path)
            return TextTable(str(path), tuple(columns), TableFormat("Parquet"), unusable)
        return _load_csv(path, style, expected)


@contextmanager
def naming(name: str) -> Iterator[None]:
    """Begin the errors about a table with its name."""
    try:
        yield
    except (CsvError, DomainError) as error:
        raise DomainError(f"{name}: {error}") from None


def _load_csv(path: Path, style: CsvStyle, expected: Collection[str]) -> TextTable:
    encoding = detect_encoding(path) if style.encoding is None else state_encoding(style.encoding)
    try:
        separator = style.separator
        if separator is None:
            with path.open(encoding=encoding.codec, newline="") as stream:
                sample, more = stream.read(SAMPLE), stream.read(1)
            separator = detect_separator(sample, whole=not more, expected=expected)
        with path.open(encoding=encoding.codec, newline="") as stream:
            columns = read_columns(stream, max_values=MAX_VALUES, separator=separator)
    except UnicodeError as error:
        at = f" at byte {error.start}" if isinstance(error, UnicodeDecodeError) else ""
        raise CsvError(f"it is not {encoding.title} text{at}; {STATE_IT}") from None
    found = TableFormat("CSV", separator, encoding.title, style.decimal)
    return TextTable(str(path), tuple(columns), found)


def _refuse_style(style: CsvStyle, kind: str) -> None:
    if style.stated:
        raise CsvError(f"--separator, --encoding and --decimal are about CSV files, not {kind}")
