"""Columns that are about records and no part of what is released: weights, and groups."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pandas as pd

    from reconbench.benchmarks.assess.assessment import Groups, Weights
    from reconbench.datasets import Table
    from reconbench.datasets.own_table import CsvStyle
    from reconbench.front.assessing.sources import Records

    Codes = npt.NDArray[np.int64]
    Source = str | os.PathLike[str] | pd.DataFrame | Table


def set_aside(
    wanted: Collection[str],
    weight_column: str | None,
    group_column: str | None,
    called: Callable[[str], str] = str,
) -> list[str]:
    """The columns that are no part of the table: weights never are, groups unless attackers know
    or want them."""
    if weight_column is not None and weight_column in wanted:
        raise ValueError(
            f"{called('weight_column')} {weight_column!r} is about records and is never released: "
            "it cannot be known or a target"
        )
    names = [weight_column, None if group_column in wanted else group_column]
    return [name for name in names if name is not None]


def add_record_columns(
    records: Records,
    source: Source,
    weight_column: str | None,
    group_column: str | None,
    style: CsvStyle | None = None,
) -> Records:
    """Records with what these columns of their source say of them."""
    if weight_column is not None:
        records = replace(records, weights=_read_weights(records, source, weight_column, style))
    if group_column is not None:
        records = replace(records, groups=_count_groups(records, source, group_column, style))
    return records


def _read_weights(records: Records, source: Source, name: str, style: CsvStyle | None) -> Weights:
    """Numbers > 0, of the records that were kept."""
    import numpy as np

    from reconbench.benchmarks.assess.assessment import Weights
    from reconbench.datasets.own_table.decimals import POINT, detect_decimal, parse_number

    texts, numbers = _read(source, name, style)
    stated = None if style is None else style.decimal
    decimal = stated or detect_decimal([(name, texts)], None) or POINT
    read = [parse_number(text, decimal) for text in texts]
    values = np.array([np.nan if value is None else value for value in read])
    found = values[numbers][records.positions]
    if np.isnan(found).any():
        at = int(records.positions[int(np.isnan(found).argmax())])
        raise ValueError(
            f"weights must be numbers > 0, got {texts[int(numbers[at])]!r} in column {name!r}, "
            f"record {at}"
        )
    return Weights(name, found)


def _count_groups(records: Records, source: Source, name: str, style: CsvStyle | None) -> Groups:
    """How many records of those that were kept have the same value."""
    import numpy as np

    from reconbench.benchmarks.assess.assessment import Groups

    texts, numbers = _read(source, name, style)
    found = numbers[records.positions]
    blank = np.array([not text.strip() for text in texts])
    if blank[found].any():
        at = int(records.positions[int(blank[found].argmax())])
        raise ValueError(f"record {at} has no value in column {name!r}, which says its group")
    sizes = np.bincount(found)
    return Groups(name, int((sizes > 0).sum()), int(sizes.max()))


def _read(source: Source, name: str, style: CsvStyle | None) -> tuple[tuple[str, ...], Codes]:
    """The distinct texts of a column, and the number of each record's."""
    import numpy as np

    from reconbench.datasets import Table
    from reconbench.datasets.own_table import read_beside

    if isinstance(source, Table):
        return source.domain[name].labels, source.column(name)
    column = read_beside(source, name, style)
    return column.texts, np.asarray(column.numbers, dtype=np.int64)
