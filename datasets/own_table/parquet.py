"""Parquet files as columns of text."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from reconbench.datasets.own_table.frames import CELLS, DATES, UnusableColumn, make_text_column
from reconbench.datasets.sources._csv import CsvError, TextColumn, check_header
from reconbench.missing_package import needed_by

# What pandas calls the index of a frame, which is no column of it.
_INDEX = re.compile(r"__index_level_\d+__")
MAX_CELLS = 1 << 31
MAX_BYTES = 4 << 30  # unpacked


def read_parquet(path: Path) -> tuple[list[TextColumn], dict[str, str]]:
    """The columns of a Parquet file, and why others cannot be used; needs pyarrow."""
    instead = "save the table as CSV"
    with needed_by(f"{path}: Parquet", "pyarrow", extra="parquet", instead=instead):
        arrow, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
    try:
        with parquet.ParquetFile(path) as file:
            _check_size(file.metadata)
            names = [name for name in file.schema_arrow.names if not _INDEX.fullmatch(name)]
            check_header(names)
            columns, unusable = [], {}
            for name in names:
                try:
                    _check_type(arrow.types, file.schema_arrow.field(name).type)
                    columns.append(_read_column(arrow, name, file.read([name]).column(0)))
                except UnusableColumn as error:
                    unusable[name] = str(error)
            return columns, unusable
    except arrow.ArrowException as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise CsvError(f"it is not a Parquet file that can be read: {reason[:200]}") from None


def _check_size(metadata: Any) -> None:
    cells = metadata.num_rows * metadata.num_columns
    size = sum(metadata.row_group(i).total_byte_size for i in range(metadata.num_row_groups))
    if cells > MAX_CELLS or size > MAX_BYTES:
        raise CsvError(
            f"it unpacks to {cells:,} cells and {size:,} bytes, more than {MAX_CELLS:,} and "
            f"{MAX_BYTES:,}; bring a sample of it"
        )
    if not metadata.num_rows:
        raise CsvError("it has no records")


def _check_type(types: Any, kind: Any) -> None:
    if types.is_temporal(kind):
        raise UnusableColumn(DATES)
    value = kind.value_type if types.is_dictionary(kind) else kind
    plain = (
        types.is_string(value)
        or types.is_large_string(value)
        or types.is_boolean(value)
        or types.is_integer(value)
        or types.is_floating(value)
        or types.is_decimal(value)
        or types.is_null(value)
    )
    if not plain:
        raise UnusableColumn(f"holds values of type {str(kind)[:60]}; {CELLS}")


def _read_column(arrow: Any, name: str, chunks: Any) -> TextColumn:
    coded = chunks if arrow.types.is_dictionary(chunks.type) else chunks.dictionary_encode()
    coded = coded.unify_dictionaries().combine_chunks()
    if isinstance(coded, arrow.ChunkedArray):
        coded = coded.chunk(0)
    codes = coded.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
    return make_text_column(name, coded.dictionary.to_pylist(), codes)
