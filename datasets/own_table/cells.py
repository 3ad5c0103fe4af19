"""The codes of a column's cells, by the labels, bins and rules of its attribute."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from reconbench.datasets.domain import Attribute, Domain, DomainError, quote
from reconbench.datasets.own_table.columns import TextTable
from reconbench.datasets.own_table.decimals import POINT, detect_decimal, parse_number
from reconbench.datasets.sources._csv import TextColumn

Codes = npt.NDArray[np.int64]

# In place of a code: a cell outside the domain, and one whose record is to be dropped.
OUTSIDE, DROP = -1, -2


@dataclass(frozen=True, eq=False)
class CodedColumn:
    """A code per record, or ``OUTSIDE`` or ``DROP``; and how many cells were recoded.

    ``missing`` counts the cells that stand for a missing value, ``other`` those that are neither a
    label nor in a group and were taken for the label ``other``.
    """

    codes: Codes
    missing: int
    other: int


def encode_column(column: TextColumn, attribute: Attribute, decimal: str = POINT) -> CodedColumn:
    """Look every distinct text of a column up once."""
    reader = _CellReader(attribute, decimal)
    of_text = np.array([reader.read(text) for text in column.texts], dtype=np.int64)
    missing = np.array([reader.is_missing(text) for text in column.texts], dtype=bool)
    other = np.array([reader.is_other(text) for text in column.texts], dtype=bool)
    codes = np.asarray(of_text[column.numbers], dtype=np.int64)
    return CodedColumn(codes, int(missing[column.numbers].sum()), int(other[column.numbers].sum()))


def find_decimal(table: TextTable, domain: Domain) -> str | None:
    """The decimal sign of a table's numbers: the one that is stated, or the one that they have."""
    if table.format.decimal is not None:
        return table.format.decimal
    return detect_decimal(_list_numbers(table, domain), table.format.separator)


def _list_numbers(table: TextTable, domain: Domain) -> Iterator[tuple[str, list[str]]]:
    """The cells of columns with bins that are not missing values."""
    for column in table.columns:
        if column.name in domain and domain[column.name].edges is not None:
            missing = domain[column.name].recoding.missing
            codes = set(missing.codes if missing else ())
            yield column.name, [text for text in column.texts if text not in codes]


class _CellReader:
    """Reads single cells of one attribute."""

    def __init__(self, attribute: Attribute, decimal: str) -> None:
        self.attribute, self.decimal = attribute, decimal
        self.labels = {label: code for code, label in enumerate(attribute.labels)}
        recoding = attribute.recoding
        self.missing_codes = set(recoding.missing.codes if recoding.missing else ())
        numbers = (parse_number(code) for code in self.missing_codes)
        self.missing_numbers = {number for number in numbers if number is not None}
        for label, values in recoding.groups:
            self.labels.update(dict.fromkeys(values, self.labels[label]))
        self.other = None if recoding.other is None else self.labels[recoding.other]
        missing = attribute.missing_label
        self.missing = DROP if missing is None else self.labels[missing]

    def read(self, text: str) -> int:
        if self.is_missing(text):
            return self.missing
        if not text.strip():
            return OUTSIDE
        if self.attribute.edges is not None:
            return self._find_bin(text)
        if text in self.labels:
            return self.labels[text]
        return OUTSIDE if self.other is None else self.other

    def is_missing(self, text: str) -> bool:
        if text in self.missing_codes or (not text.strip() and "" in self.missing_codes):
            return True
        if self.attribute.edges is None or not self.missing_numbers:
            return False
        return parse_number(text, self.decimal) in self.missing_numbers

    def is_other(self, text: str) -> bool:
        return (
            self.other is not None
            and text not in self.labels
            and bool(text.strip())
            and not self.is_missing(text)
        )

    def _find_bin(self, text: str) -> int:
        """The bin that holds a number, or that a label names."""
        edges = self.attribute.edges or ()
        number, named = parse_number(text, self.decimal), self.labels.get(text, OUTSIDE)
        if number is None or not edges[0] <= number <= edges[-1]:
            return named
        found = min(bisect_right(edges, number) - 1, len(edges) - 2)
        if named not in (OUTSIDE, found):
            raise DomainError(
                f"column {self.attribute.name!r} has a bin labelled {quote(text)}, and the number "
                f"{quote(text)} lies in another bin; give the bins labels that are no numbers"
            )
        return found
