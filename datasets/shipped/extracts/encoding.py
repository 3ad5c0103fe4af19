"""Turn the texts of a raw file into codes, with errors that name file, column and record."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np

from reconbench.datasets.domain import Domain, DomainError
from reconbench.datasets.shipped.codebooks.columns import Column
from reconbench.datasets.table import Table

MAX_BYTES = 256 << 20
MAX_RECORDS = 5_000_000


def read_lines(path: Path) -> list[str]:
    """The lines of a text file, without their ends."""
    try:
        size = path.stat().st_size
        if size > MAX_BYTES:
            raise DomainError(f"{path} has {size} bytes, more than {MAX_BYTES}")
        return path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise DomainError(f"cannot read {path}: {error}") from None


def encode(
    path: Path, columns: Mapping[str, Column], domain: Domain, rows: Iterable[Sequence[str]]
) -> Table:
    """A table of rows that hold one text for each of ``columns``, in their order."""
    # Few texts are different, so each is looked up in its codebook once.
    seen: list[dict[str, int]] = [{} for _ in columns]
    codes: list[list[int]] = []
    for record, row in enumerate(rows):
        if record >= MAX_RECORDS:
            raise DomainError(f"{path} has more than {MAX_RECORDS:,} records")
        if len(row) != len(columns):
            raise DomainError(
                f"{path}, record {record}: {len(row)} values, expected {len(columns)}"
            )
        coded = []
        for (name, column), known, text in zip(columns.items(), seen, row, strict=True):
            if text not in known:
                try:
                    known[text] = domain[name].code(column.label(text))
                except DomainError as error:
                    raise DomainError(f"{path}, record {record}, column {name}: {error}") from None
            coded.append(known[text])
        codes.append(coded)
    if not codes:
        raise DomainError(f"{path} holds no records")
    return Table(domain, np.array(codes, dtype=np.int64))


def pick(path: Path, header: Sequence[str], names: Iterable[str]) -> list[int]:
    """Positions of named columns in a header."""
    wanted = tuple(names)
    missing = [name for name in wanted if name not in header]
    if missing:
        raise DomainError(f"{path} has no column {missing[0]!r}")
    return [header.index(name) for name in wanted]
