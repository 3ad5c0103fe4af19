"""Draft the domain file of a table, to be edited by somebody who knows what is public."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from reconbench.datasets.domain import DomainError, quote
from reconbench.datasets.own_table.columns import Pathish, load_columns, naming
from reconbench.datasets.own_table.decimals import POINT, detect_decimal, is_number, parse_number
from reconbench.datasets.own_table.domain_file import MAX_BYTES as MAX_DOMAIN_BYTES
from reconbench.datasets.own_table.draft_bins import draft_edges
from reconbench.datasets.own_table.draft_signs import (
    NEARLY_UNIQUE,
    find_missing_numbers,
    find_missing_texts,
    find_suspect_nines,
    is_identifier_name,
    is_survey_weight,
    numbers_rows,
)
from reconbench.datasets.own_table.table_format import CsvStyle, TableFormat
from reconbench.datasets.sources._csv import TextColumn

if TYPE_CHECKING:
    import pandas as pd

FEWEST_RECORDS = 2
FEW_NUMBERS = 20  # a column with more numbers is drafted as bins
ODD_TEXTS = 3  # this many other texts among numbers are taken for codes of missing values
MOST_LISTED = 20  # labels of a column that has too many
LEAST_LISTED = 0.3  # of the records, that these labels must hold
OTHER, MISSING = "other", "NA"

DRAFT_NOTE = (
    "This is a draft made from the data. Labels, ranges and bin edges taken from a private table "
    "reveal what is in it: replace them by what is publicly known (a questionnaire, a codebook), "
    'add the values that nobody happened to have, set "ordinal": true where the order of labels '
    'means something, then delete the line "draft": true.'
)


def suggest_domain(
    source: Pathish | pd.DataFrame,
    max_labels: int = 100,
    *,
    separator: str | None = None,
    encoding: str | None = None,
    decimal: str | None = None,
) -> dict[str, Any]:
    """Draft a domain from a table, to be edited: ``read_domain`` refuses it as it stands."""
    return draft_domain(source, CsvStyle(separator, encoding, decimal), max_labels)[0]


def is_draft(path: Path) -> bool:
    """Whether a file is a draft, which may be drafted anew without losing anybody's work."""
    try:
        raw = json.loads(path.read_bytes()) if path.stat().st_size <= MAX_DOMAIN_BYTES else None
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(raw, dict) and raw.get("draft", False) is not False


def draft_domain(
    source: Pathish | pd.DataFrame, style: CsvStyle, max_labels: int = 100
) -> tuple[dict[str, Any], TableFormat]:
    """The draft, and how the table is written."""
    if max_labels < 1:
        raise DomainError(f"max_labels must be at least 1, got {max_labels}")
    text = load_columns(source, style)
    with naming(text.name):
        if text.records < FEWEST_RECORDS:
            raise DomainError(
                f"it has {text.records} record; a draft needs at least {FEWEST_RECORDS} records"
            )
        columns = [_Column.of(column) for column in text.columns]
        sign = style.decimal or detect_decimal(
            ((each.name, each.candidates) for each in columns if each.is_numeric),
            text.format.separator,
        )
        found = TableFormat(text.format.kind, text.format.separator, text.format.encoding, sign)
        notes, attributes, left_out = [DRAFT_NOTE, f"Read as: {found.describe()}."], [], []
        for column in columns:
            attribute, remarks = _draft(column, sign or POINT, max_labels)
            notes += [f"{column.name}: {remark}" for remark in remarks]
            if attribute is None:
                left_out.append(column.name)
            else:
                attributes.append(attribute)
        for name, reason in text.unusable.items():
            notes.append(f"{name}: left out: it {reason}")
            left_out.append(name)
        if not attributes:
            raise DomainError(f"no column is left for a domain: {'; '.join(notes[2:5])}")
    draft = {"draft": True, "notes": notes}
    return draft | ({"leave_out": left_out} if left_out else {}) | {"attributes": attributes}, found


@dataclass(frozen=True)
class _Column:
    """A column of text with the number of records that have each text."""

    name: str
    counts: dict[str, int]
    records: int
    missing: tuple[str, ...]
    source: TextColumn

    @classmethod
    def of(cls, column: TextColumn) -> _Column:
        counted = np.bincount(column.numbers, minlength=len(column.texts))
        counts: Counter[str] = Counter()
        for text, count in zip(column.texts, counted.tolist(), strict=True):
            counts["" if not text.strip() else text] += count
        missing = find_missing_texts(counts)
        others = [text for text in counts if text not in missing]
        odd = [text for text in others if not is_number(text)]
        if 0 < len(odd) <= ODD_TEXTS and len(others) - len(odd) > FEW_NUMBERS:
            missing = sorted([*missing, *odd])
        return cls(column.name, dict(counts), len(column.numbers), tuple(missing), column)

    @property
    def candidates(self) -> list[str]:
        """The texts that are not taken for missing values."""
        return [text for text in self.counts if text not in self.missing]

    @property
    def is_numeric(self) -> bool:
        return bool(self.candidates) and all(map(is_number, self.candidates))

    def parse(self, decimal: str) -> dict[str, float] | None:
        """The numbers, if all are; leading zeros make codes, not numbers."""
        numbers: dict[str, float] = {}
        for text in self.candidates:
            number, digits = parse_number(text, decimal), text.lstrip("+-")
            if number is None or (digits.startswith("0") and digits[1:2].isdigit()):
                return None
            numbers[text] = number
        return numbers if len(set(numbers.values())) > 1 else None


def _draft(column: _Column, decimal: str, most: int) -> tuple[dict[str, Any] | None, list[str]]:
    """The attribute of a column, or None, and remarks."""
    values = column.candidates
    if not values:
        return None, ["left out: it is empty"]
    if len(values) == 1 and column.records > 1 and not column.missing:
        return None, ["left out: all records have the same value"]
    numbers = column.parse(decimal)
    if is_survey_weight(column.name) and numbers is not None:
        return None, [
            "left out: by its name a survey weight, which says how many people a record stands "
            "for, and nothing about its own"
        ]
    why = _find_identifier(column, numbers, most)
    if why is not None:
        return None, [f"left out: {why}"]
    missing, remarks = list(column.missing), []
    if numbers is not None:
        coded = find_missing_numbers(numbers)
        missing += coded
        numbers = {text: number for text, number in numbers.items() if text not in coded}
        nines = find_suspect_nines(numbers)
        if nines is not None:
            remarks.append(
                f"{nines} may stand for a missing value; if it does, add it to the codes of "
                '"missing" and lower the last edge'
            )
    if missing:
        cells = sum(column.counts[text] for text in missing)
        listed = ", ".join(quote(text) if text else "empty" for text in missing)
        remarks.append(
            f'{cells} cells look like missing values ({listed}): they get the label "{MISSING}"; '
            'replace "label" by "drop": true to leave their records out, and correct the codes'
        )
    rule = {"missing": {"codes": missing, "label": MISSING}} if missing else {}
    if numbers is not None and len(numbers) > FEW_NUMBERS:
        edges, remark = _draft_bins(column, numbers)
        return {"name": column.name, "edges": edges, **rule}, [remark, *remarks]
    values = [text for text in values if text not in missing]
    if len(values) > most:
        attribute, remark = _draft_top(column, values, min(most, MOST_LISTED))
        return None if attribute is None else {**attribute, **rule}, [remark, *remarks]
    odd = [text for text in values if not is_number(text)]
    if len(odd) == 1 and len(values) > 2:
        remarks.append(f"{quote(odd[0])} is listed as a label, and may be a code among numbers")
    labels = sorted(values, key=lambda text: _order_label(text, decimal))
    return {"name": column.name, "labels": labels, **rule}, remarks


def _order_label(text: str, decimal: str) -> tuple[bool, float, str]:
    """Numbers by size, then other texts."""
    number = parse_number(text, decimal)
    return number is None, number or 0.0, text


def _find_identifier(column: _Column, numbers: dict[str, float] | None, most: int) -> str | None:
    """Why a column is taken for an identifier, if it is."""
    values = column.candidates
    present = column.records - sum(column.counts[text] for text in column.missing)
    if present <= FEW_NUMBERS:
        return None
    unique = len(values) >= NEARLY_UNIQUE * present
    named = is_identifier_name(column.name)
    if numbers is None:
        if unique:
            return "its values are nearly unique, like an identifier's"
        if named and len(values) > most:
            return "by its name an identifier"
        return None
    whole = all(number.is_integer() for number in numbers.values())
    if named and whole and len(values) > most:
        return "by its name an identifier"
    if whole and len(values) == present and numbers_rows(_expand(column, numbers)):
        return "its values are unique and counted off, like an identifier's"
    return None


def _expand(column: _Column, numbers: dict[str, float]) -> npt.NDArray[np.float64]:
    """The numbers of all records that have one, in their order."""
    of_text = np.array([numbers.get(text, np.nan) for text in column.source.texts])
    all_numbers = of_text[column.source.numbers]
    return np.asarray(all_numbers[~np.isnan(all_numbers)])


def _draft_bins(column: _Column, numbers: dict[str, float]) -> tuple[list[float], str]:
    edges, skewed = draft_edges(_expand(column, numbers))
    how = (
        "the edges follow the quantiles of the data, rounded, because bins of equal width would be "
        "mostly empty: they depend on the records, and so reveal something about them"
        if skewed
        else "the edges are a guess from the data's range"
    )
    return edges, f'{how}; declare public ones, or list "labels" if these numbers are codes'


def _draft_top(column: _Column, values: list[str], most: int) -> tuple[dict[str, Any] | None, str]:
    """The most frequent labels of many, and one for the others."""
    ordered = sorted(values, key=lambda text: (-column.counts[text], text))
    top = ordered[:most]
    share = sum(column.counts[text] for text in top) / column.records
    if share < LEAST_LISTED:
        return None, (
            f"left out: it has {len(values)} values, and the {most} most frequent ones hold only "
            f'{share:.0%} of the records; group them by a public classification ("groups")'
        )
    other = OTHER if OTHER not in top else f"{OTHER} values"
    return {"name": column.name, "labels": [*sorted(top), other], "other": other}, (
        f"it has {len(values)} values; the {most} most frequent hold {share:.0%} of the records, "
        f'the others are read as "{other}". Which are frequent depends on the records: group them '
        'by a public classification instead ("groups")'
    )
