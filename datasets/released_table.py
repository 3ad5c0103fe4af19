"""Read a table that somebody published, by the labels of a known domain."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from reconbench.datasets.domain import Domain, DomainError, preview, quote
from reconbench.datasets.near_names import suggest_name
from reconbench.datasets.own_table.cells import OUTSIDE, CodedColumn, encode_column, find_decimal
from reconbench.datasets.own_table.columns import load_columns, naming
from reconbench.datasets.own_table.decimals import POINT
from reconbench.datasets.own_table.reading import OwnTable, assemble
from reconbench.datasets.own_table.table_format import CsvStyle
from reconbench.datasets.sources._csv import TextColumn

SHOWN = 5


def read_released_table(
    path: Path, domain: Domain, columns: Sequence[str], style: CsvStyle | None = None
) -> OwnTable:
    """Some columns of a published table, whose labels must be those of the domain.

    A column with declared edges may hold numbers or the labels of its bins. Other columns of the
    file are not looked at.
    """
    played = domain.project(columns)
    text = load_columns(path, style or CsvStyle(), domain.names)
    found = {column.name: column for column in text.columns}
    missing = [name for name in played.names if name not in found]
    if missing:
        names = ", ".join(map(quote, missing[:SHOWN])) + (", ..." if len(missing) > SHOWN else "")
        raise DomainError(
            f"{path} lacks {len(missing)} of the known and target columns: {names}; it has "
            f"{preview(list(found), SHOWN)}{suggest_name(missing[0], found)}"
        )
    with naming(str(path)):
        decimal = find_decimal(text, played)
        coded = [
            encode_column(found[attribute.name], attribute, decimal or POINT)
            for attribute in played
        ]
        strange = [
            _describe(found[attribute.name], column)
            for attribute, column in zip(played, coded, strict=True)
            if (column.codes == OUTSIDE).any()
        ]
        if strange:
            more = "; ..." if len(strange) > SHOWN else ""
            raise DomainError(
                f"it has labels that are not in the domain: {'; '.join(strange[:SHOWN])}{more}; "
                "declare them, or drop these rows"
            )
        return assemble(played, coded, replace(text.format, decimal=decimal))


def _describe(column: TextColumn, coded: CodedColumn) -> str:
    """Which labels of a column are not in the domain, and in how many rows."""
    outside = coded.codes == OUTSIDE
    texts = [column.texts[number] for number in np.unique(column.numbers[outside])]
    shown = ", ".join(quote(text) if text else "an empty cell" for text in texts[:SHOWN])
    more = ", ..." if len(texts) > SHOWN else ""
    labels = "1 label" if len(texts) == 1 else f"{len(texts):,} labels"
    return (
        f"column {quote(column.name)} has {labels} in {int(outside.sum()):,} of "
        f"{len(coded.codes):,} rows ({shown}{more})"
    )
