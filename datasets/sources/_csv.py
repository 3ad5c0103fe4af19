"""Strict reading of large CSV files, column by column, in little memory.

Cells stay the text they are (no guessed types, so "01" is not 1), every row must have as many cells
as the header, and a column is kept as its distinct texts and one small integer a record.
"""

from __future__ import annotations

import csv
import itertools
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path
from typing import IO, Any
from zipfile import BadZipFile

import numpy as np
import numpy.typing as npt

CHUNK_ROWS = 50_000
MAX_LINE = 1 << 20  # characters
MAX_CELL = 1000  # characters


class CsvError(ValueError):
    """A file that is not a well-formed table."""


class MissingColumn(CsvError):
    """A wanted column that the header lacks."""

    def __init__(self, column: str) -> None:
        super().__init__(f"it has no column {column!r}")
        self.column = column


@dataclass(frozen=True, eq=False)
class TextColumn:
    """A column: its distinct texts as they turned up, and for each record which one it has."""

    name: str
    texts: tuple[str, ...]
    numbers: npt.NDArray[np.unsignedinteger[Any]]


@contextmanager
def reading(path: Path, error_type: type[ValueError]) -> Iterator[None]:
    """Turn what goes wrong with a file into one line that names it."""
    try:
        yield
    except UnicodeDecodeError:
        raise error_type(f"cannot read {path}: it is not UTF-8 text; save it as UTF-8") from None
    except OSError as error:
        raise error_type(f"cannot read {path}: {error.strerror or error}") from None
    # An encrypted archive is a RuntimeError, an unknown compression a NotImplementedError.
    except (CsvError, csv.Error, BadZipFile, zlib.error, EOFError, RuntimeError) as error:
        raise error_type(f"cannot read {path}: {error or type(error).__name__}") from None


def read_columns(
    handle: IO[str],
    wanted: Sequence[str] | None = None,
    *,
    max_values: int,
    limit: int | None = None,
    separator: str = ",",
    optional: Sequence[str] = (),
) -> list[TextColumn]:
    """The wanted columns (all, if not said) of the first ``limit`` records.

    ``optional`` columns follow where the file has them.

    ``handle`` must be opened with ``newline=""``. A wanted column may be spelled ``Call Type`` or
    ``call_type`` in the file: public exports do either.
    """
    reader = csv.reader(_lines(handle), delimiter=separator, strict=True)
    header = next(reader, [])
    check_header(header)
    names = list(header if wanted is None else wanted)
    if wanted is not None:
        keys = {_key(name) for name in header}
        names += [name for name in optional if _key(name) in keys]
    positions = list(range(len(header))) if wanted is None else _positions(header, names)
    pick = itemgetter(*positions, positions[0])  # one more, so that it always gives a tuple
    numberings = [_Numbering(name, max_values) for name in names]
    dtype = np.min_scalar_type(max_values)
    chunks: list[list[npt.NDArray[np.unsignedinteger[Any]]]] = [[] for _ in names]
    rows = itertools.islice(_rows(reader, len(header)), limit)
    while chunk := list(map(pick, itertools.islice(rows, CHUNK_ROWS))):
        cells = zip(*chunk, strict=True)
        for column, numbering, kept in zip(cells, numberings, chunks, strict=False):
            found = map(numbering.__getitem__, column)
            kept.append(np.fromiter(found, dtype=dtype, count=len(chunk)))
    if not chunks[0]:
        raise CsvError("it has no records, only a header")
    return [
        TextColumn(name, tuple(numbering), np.concatenate(kept))
        for name, numbering, kept in zip(names, numberings, chunks, strict=True)
    ]


class _Numbering(dict[str, int]):
    """Numbers texts as they are first looked up."""

    def __init__(self, name: str, most: int) -> None:
        super().__init__()
        self.name, self.most = name, most

    def __missing__(self, text: str) -> int:
        if len(text) > MAX_CELL:
            raise CsvError(
                f"column {self.name!r} has a cell of {len(text)} characters, more than {MAX_CELL}"
            )
        if len(self) >= self.most:
            raise CsvError(f"column {self.name!r} has more than {self.most} distinct values")
        self[text] = len(self)
        return self[text]


def _lines(handle: IO[str]) -> Iterator[str]:
    for number, line in enumerate(iter(lambda: handle.readline(MAX_LINE), ""), start=1):
        if len(line) >= MAX_LINE:
            raise CsvError(f"line {number} has more than {MAX_LINE} characters: not a table")
        if "\0" in line:
            raise CsvError(f"line {number} has a NUL byte: not a text file")
        yield line


def _rows(reader: Any, width: int) -> Iterator[list[str]]:
    blank = 0  # blank lines may only end the file
    for row in reader:
        if len(row) == width and not blank:
            yield row
        elif not row:
            blank = blank or reader.line_num
        elif blank:
            raise CsvError(f"line {blank} is blank; delete it")
        else:
            raise CsvError(f"line {reader.line_num} has {len(row)} cells, the header has {width}")


def check_header(header: Sequence[str]) -> None:
    """Refuse names of columns that are empty, too long, unprintable or there twice."""
    if not header:
        raise CsvError("it is empty; its first line must name the columns")
    seen = set()
    for position, name in enumerate(header, start=1):
        if not name.strip() or len(name) > MAX_CELL or not name.isprintable():
            raise CsvError(f"column {position} has the unusable name {name[:60]!r}")
        if name in seen:
            raise CsvError(f"duplicate column {name!r} in the header")
        seen.add(name)


def _positions(header: Sequence[str], wanted: Sequence[str]) -> list[int]:
    keys = [_key(name) for name in header]
    missing = [name for name in wanted if _key(name) not in keys]
    if missing:
        raise MissingColumn(missing[0])
    return [keys.index(_key(name)) for name in wanted]


def _key(name: str) -> str:
    return name.strip().lower().replace(" ", "_")
