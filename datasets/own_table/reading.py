"""Read a table by its domain: a CSV file, a Parquet file or a DataFrame."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from reconbench.datasets.domain import Attribute, Domain, DomainError, preview, quote
from reconbench.datasets.near_names import suggest_name
from reconbench.datasets.own_table.cells import (
    DROP,
    OUTSIDE,
    CodedColumn,
    encode_column,
    find_decimal,
)
from reconbench.datasets.own_table.columns import Pathish, TextTable, load_columns, naming
from reconbench.datasets.own_table.decimals import COMMA, POINT
from reconbench.datasets.own_table.table_format import CsvStyle, TableFormat
from reconbench.datasets.sources._csv import TextColumn
from reconbench.datasets.table import Codes, Table

if TYPE_CHECKING:
    import pandas as pd

_FILL_IN = (
    "drop the record, or declare what it means: a label for it and "
    '"missing": {"codes": [""], "label": "NA"} in the domain file'
)


@dataclass(frozen=True, eq=False)
class OwnTable:
    """A table with the way in which it was read.

    ``missing`` and ``other`` count, by column, the cells that were read as a missing value and as
    the label for whatever is not listed; ``dropped`` the records that were left out. ``positions``
    are those of the other records in the source, counted from 0.
    """

    table: Table
    format: TableFormat
    missing: Mapping[str, int]
    other: Mapping[str, int]
    dropped: int
    positions: Codes

    def describe(self) -> str:
        """One line: the format, and what became of missing and unlisted values."""
        parts = [self.format.describe()]
        domain = self.table.domain
        labelled = {
            f"{name} ({count:,})": label
            for name, count in self.missing.items()
            if (label := domain[name].missing_label) is not None
        }
        for label in dict.fromkeys(labelled.values()):
            columns = [text for text, given in labelled.items() if given == label]
            parts.append(f"missing values read as {quote(label)}: {_list(columns)}")
        if self.other:
            columns = [f"{name} ({count:,})" for name, count in self.other.items()]
            parts.append(f"values that are not listed: {_list(columns)}")
        if self.dropped:
            total = self.dropped + len(self.table)
            causes = [
                f"{name} ({count:,})"
                for name, count in self.missing.items()
                if domain[name].missing_label is None
            ]
            dropped = f"{self.dropped:,} of {total:,} records dropped"
            parts.append(f"{dropped}, for missing values: {_list(causes)}")
        return "; ".join(parts)


def read_table(
    source: Pathish | pd.DataFrame,
    domain: Domain,
    *,
    separator: str | None = None,
    encoding: str | None = None,
    decimal: str | None = None,
) -> Table:
    """Read the records of a table, strictly: columns, labels and numbers must fit the domain.

    ``read_own_table`` also returns what was found out about the file.
    """
    return read_own_table(source, domain, CsvStyle(separator, encoding, decimal)).table


def read_own_table(
    source: Pathish | pd.DataFrame, domain: Domain, style: CsvStyle | None = None
) -> OwnTable:
    """Read the records of a table, with the format that it has and what was recoded.

    Args:
        source: The path of a CSV file or of a Parquet file, or a DataFrame.
        domain: The columns; rules for missing values, groups and columns to leave out are theirs.
        style: What is known of a CSV file; the rest is found out.

    Raises:
        DomainError: The table does not fit the domain, or how it is written cannot be told.
    """
    text = load_columns(source, style or CsvStyle(), (*domain.names, *domain.left_out))
    with naming(text.name):
        columns = _match_columns(text, domain)
        decimal = find_decimal(text, domain)
        coded = [
            _encode(columns[attribute.name], attribute, decimal or POINT) for attribute in domain
        ]
        return assemble(domain, coded, replace(text.format, decimal=decimal))


def assemble(domain: Domain, coded: list[CodedColumn], found: TableFormat) -> OwnTable:
    """Put coded columns together, without the records that are to be dropped."""
    codes = np.column_stack([column.codes for column in coded])
    kept = ~(codes == DROP).any(axis=1)
    if not kept.any():
        raise DomainError(f"all {len(codes)} records have missing values that drop them")
    names = domain.names
    return OwnTable(
        Table(domain, codes[kept]),
        found if found.kind == "CSV" else replace(found, decimal=None),
        {name: each.missing for name, each in zip(names, coded, strict=True) if each.missing},
        {name: each.other for name, each in zip(names, coded, strict=True) if each.other},
        int((~kept).sum()),
        np.flatnonzero(kept),
    )


def read_beside(
    source: Pathish | pd.DataFrame, name: str, style: CsvStyle | None = None
) -> TextColumn:
    """Read a column that is no part of the table's domain, such as weights, as text."""
    text = load_columns(source, style or CsvStyle())
    with naming(text.name):
        found = next((column for column in text.columns if column.name == name), None)
        if found is None:
            reason = text.unusable.get(name)
            if reason is not None:
                raise DomainError(f"column {quote(name)} {reason}")
            raise DomainError(
                f"the table has no column {quote(name)}; it has {preview(text.names, 20)}"
                f"{suggest_name(name, text.names)}"
            )
    return found


def _match_columns(text: TextTable, domain: Domain) -> dict[str, TextColumn]:
    """The columns by name; those of the table must be those of the domain."""
    lacking = [name for name in domain.names if name not in text.names]
    for name in text.names:
        if name not in domain and name not in domain.left_out:
            near = suggest_name(name, lacking)
            raise DomainError(
                f"column {quote(name)} is not in the domain; declare it, or name it in "
                f'"leave_out" (declared: {preview(domain.names, 20)}){near}'
            )
    if lacking:
        raise DomainError(f"the table lacks column {quote(lacking[0])} of its domain")
    for name, reason in text.unusable.items():
        if name in domain:
            raise DomainError(f"column {quote(name)} {reason}")
    return {column.name: column for column in text.columns}


def _encode(column: TextColumn, attribute: Attribute, decimal: str) -> CodedColumn:
    coded = encode_column(column, attribute, decimal)
    outside = coded.codes == OUTSIDE
    if outside.any():
        record = int(outside.argmax())
        text = column.texts[int(column.numbers[record])]
        where = f"column {quote(attribute.name)}, record {record}"
        if not text.strip():
            raise DomainError(f"{where}: missing value; {_FILL_IN}")
        edges = attribute.edges
        if edges is None:
            raise attribute.refuse_label(text)
        comma = " (with a decimal comma)" if decimal == COMMA else ""
        raise DomainError(
            f"{where}: {quote(text)} is not a number{comma} within the declared edges "
            f"{edges[0]:g} to {edges[-1]:g}"
        )
    return coded


def _list(texts: list[str], most: int = 8) -> str:
    return ", ".join(texts[:most]) + (f" and {len(texts) - most} more" if len(texts) > most else "")
