"""DataFrames, and columns of other values, as columns of text."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from reconbench.datasets.domain import DomainError
from reconbench.datasets.sources._csv import MAX_CELL, TextColumn, check_header
from reconbench.missing_package import needed_by

if TYPE_CHECKING:
    import pandas as pd

_DATES = (datetime.date, datetime.time, datetime.timedelta, np.datetime64, np.timedelta64)
DATES = "holds dates or times; turn them into labels or numbers, such as years"
CELLS = "a cell must be a text, a number, true or false"
_PLAIN = (str, bool, np.bool_, int, np.integer, float, np.floating, Decimal)


class UnusableColumn(ValueError):
    """A column whose values cannot be the cells of a table; its message says what they are."""


def read_frame(frame: pd.DataFrame) -> tuple[list[TextColumn], dict[str, str]]:
    """The columns of a DataFrame, and why others cannot be used; its index is left alone.

    NaN, None and NA become empty cells. Numbers that are all whole are written without a point:
    gaps turn whole numbers into floats.
    """
    with needed_by("a table as a DataFrame", "pandas"):
        import pandas as pd

    if not isinstance(frame, pd.DataFrame):
        raise DomainError(f"a table must be a path or a DataFrame, got {type(frame).__name__}")
    if frame.columns.nlevels > 1:
        raise DomainError("its columns have names of several levels; give each a single name")
    names = [str(name) for name in frame.columns]
    check_header(names)
    if not len(frame):
        raise DomainError("it has no records")
    columns, unusable = [], {}
    for position, name in enumerate(names):
        try:
            columns.append(_read_series(name, frame.iloc[:, position]))
        except UnusableColumn as error:
            unusable[name] = str(error)
    return columns, unusable


def _read_series(name: str, series: pd.Series[Any]) -> TextColumn:
    import pandas as pd

    if pd.api.types.is_datetime64_any_dtype(series.dtype) or isinstance(
        series.dtype, pd.PeriodDtype
    ):
        raise UnusableColumn(DATES)
    try:
        codes, values = pd.factorize(series)
    except TypeError:
        raise UnusableColumn(f"holds lists or other objects; {CELLS}") from None
    return make_text_column(name, list(values), np.asarray(codes, dtype=np.int64))


def make_text_column(name: str, values: Sequence[Any], codes: npt.NDArray[np.int64]) -> TextColumn:
    """A column of text from its distinct values and each record's; code -1 is an empty cell."""
    texts = _write_texts(values)
    numbering: dict[str, int] = {}
    of_code = [numbering.setdefault(text, len(numbering)) for text in texts]
    of_code.append(numbering.setdefault("", len(numbering)) if (codes < 0).any() else 0)
    numbers = np.array(of_code, dtype=np.uint32)[codes]  # -1 is the last one
    return TextColumn(name, tuple(numbering), numbers)


def _write_texts(values: Sequence[Any]) -> list[str]:
    """Distinct values as the text that a CSV file would have."""
    for value in values:
        if isinstance(value, _DATES):
            raise UnusableColumn(DATES)
        # Intervals are what cutting a column of numbers into bins makes.
        plain = value is None or isinstance(value, _PLAIN) or type(value).__name__ == "Interval"
        if not plain:
            raise UnusableColumn(f"holds values of type {type(value).__name__}; {CELLS}")
    fractions = [value for value in values if isinstance(value, float | np.floating)]
    whole = all(np.isnan(value) or float(value).is_integer() for value in fractions)
    texts = [_write(value, whole=whole) for value in values]
    longest = max(map(len, texts), default=0)
    if longest > MAX_CELL:
        raise UnusableColumn(f"has a cell of {longest} characters, more than {MAX_CELL}")
    return texts


def _write(value: Any, *, whole: bool) -> str:
    if value is None:
        return ""
    if isinstance(value, float | np.floating):
        if np.isnan(value):
            return ""
        return str(int(value)) if whole else repr(float(value))
    return str(value)
