"""Bring your own table: a CSV file and the JSON file that declares its domain."""

from __future__ import annotations

import json
import math
import os
import re
from pathlib import Path
from typing import Any

import numpy as np

from reconbench.datasets.domain import Domain, DomainError, quote
from reconbench.datasets.sources._csv import (
    MAX_CELL,
    CsvError,
    TextColumn,
    read_columns,
    reading,
)
from reconbench.datasets.table import Table

MAX_DOMAIN_BYTES = 16 << 20
MAX_CSV_BYTES = 2 << 30
MAX_VALUES = 10_000_000  # distinct values of a column
FEW_NUMBERS = 20  # a numeric column with more values is drafted as bins
NEARLY_UNIQUE = 0.9

DRAFT_NOTE = (
    "This is a draft made from the data. Labels, ranges and bin edges taken from a private table "
    "reveal what is in it: replace them by what is publicly known (a questionnaire, a codebook), "
    'add the values that nobody happened to have, set "ordinal": true where the order of labels '
    'means something, then delete the line "draft": true.'
)

Pathish = str | os.PathLike[str]


def read_domain(path: Pathish) -> Domain:
    """Read the domain that a JSON file declares; refuse a draft until it has been edited."""
    source = Path(path)
    try:
        with source.open("rb") as handle:
            content = handle.read(MAX_DOMAIN_BYTES + 1)
    except OSError as error:
        raise DomainError(f"cannot read {source}: {error.strerror}") from None
    if len(content) > MAX_DOMAIN_BYTES:
        raise DomainError(
            f"{source} is larger than {MAX_DOMAIN_BYTES >> 20} MiB: not a domain file"
        )
    try:
        raw = json.loads(content.decode("utf-8-sig"), object_pairs_hook=_distinct_keys)
        _check_top_level(raw)
        domain = Domain.from_json({"attributes": raw["attributes"]})
        _check_texts(domain)
    except json.JSONDecodeError as error:
        raise DomainError(
            f"{source} is not valid JSON: {error.msg} at line {error.lineno}, column {error.colno}"
        ) from None
    except UnicodeDecodeError:
        raise DomainError(f"{source} is not UTF-8 text; save it as UTF-8") from None
    except RecursionError:
        raise DomainError(f"{source} is nested too deeply to be a domain file") from None
    except (ValueError, OverflowError) as error:
        raise DomainError(f"{source}: {error}") from None
    return domain


def read_table(path: Pathish, domain: Domain) -> Table:
    """Read the records of a CSV file, strictly: columns, labels and numbers must fit the domain."""
    import pandas as pd

    source = Path(path)
    columns = _read_columns(source)
    try:
        for column in columns:
            if column.name in domain and "" in column.texts:
                record = int((column.numbers == column.texts.index("")).argmax())
                raise DomainError(
                    f"column {column.name!r}, record {record}: missing value; drop the record "
                    'or declare a label for it (say "NA") and fill it in'
                )
        cells = {c.name: np.asarray(c.texts, dtype=object)[c.numbers] for c in columns}
        return Table.from_pandas(pd.DataFrame(cells), domain)
    except DomainError as error:
        raise DomainError(f"{source}: {error}") from None


def suggest_domain(path: Pathish, max_labels: int = 100) -> dict[str, Any]:
    """Draft a domain from a CSV file, to be edited: ``read_domain`` refuses it as it stands."""
    if max_labels < 1:
        raise DomainError(f"max_labels must be at least 1, got {max_labels}")
    notes, attributes = [DRAFT_NOTE], []
    for column in _read_columns(Path(path)):
        attribute, remarks = _suggest(column, max_labels)
        notes += [f"{column.name}: {remark}" for remark in remarks]
        if attribute is not None:
            attributes.append(attribute)
    return {"draft": True, "notes": notes, "attributes": attributes}


def _distinct_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    distinct: dict[str, Any] = {}
    for key, value in pairs:
        if key in distinct:
            raise DomainError(f"key {quote(key)} is given twice in one object")
        distinct[key] = value
    return distinct


def _check_top_level(raw: object) -> None:
    if not isinstance(raw, dict) or "attributes" not in raw:
        raise DomainError('a domain file must be {"attributes": [{"name": ...}, ...]}')
    unknown = sorted(set(raw) - {"attributes", "draft", "notes"})
    if unknown:
        raise DomainError(f"unknown key {quote(unknown[0])}; allowed: attributes, notes")
    if raw.get("draft", False) is not False:
        raise DomainError(
            "this is a draft; replace labels and edges by publicly known ones, then delete "
            'its "draft" line'
        )


def _check_texts(domain: Domain) -> None:
    for attribute in domain:
        for text in (attribute.name, *attribute.labels):
            if not text or len(text) > MAX_CELL or not text.isprintable():
                raise DomainError(
                    f"attribute {quote(attribute.name)}: {quote(text)} is not usable as a name "
                    f"or label; allowed: 1 to {MAX_CELL} printable characters"
                )


def _read_columns(source: Path) -> list[TextColumn]:
    with reading(source, DomainError):
        size = source.stat().st_size
        if size > MAX_CSV_BYTES:
            raise CsvError(f"it has {size} bytes, more than {MAX_CSV_BYTES}; bring a sample of it")
        with source.open(encoding="utf-8-sig", newline="") as handle:
            return read_columns(handle, max_values=MAX_VALUES)


def _suggest(column: TextColumn, most: int) -> tuple[dict[str, Any] | None, list[str]]:
    records, values = len(column.numbers), set(column.texts) - {""}
    if not values:
        return None, ["left out: it is empty"]
    numbers = _parse_numbers(values)
    if records > FEW_NUMBERS and len(values) >= NEARLY_UNIQUE * records:
        whole = numbers is not None and all(number.is_integer() for number in numbers.values())
        if numbers is None or (whole and len(values) == records):
            return None, ["left out: its values are nearly unique, like an identifier's"]
    remarks = []
    gaps = int((column.numbers == column.texts.index("")).sum()) if "" in column.texts else 0
    if numbers is not None and len(values) > FEW_NUMBERS:
        edges = _round_edges(min(numbers.values()), max(numbers.values()))
        remarks.append(
            "the edges are a guess from the data's range; declare public ones, "
            'or list "labels" instead if these numbers are codes'
        )
        if gaps:
            remarks.append(f"{gaps} empty cells; bins have no place for them: drop those records")
        return {"name": column.name, "edges": edges}, remarks
    if len(values) > most:
        return None, [f"left out: it has {len(values)} values, more than {most}; group them"]
    labels = sorted(values) if numbers is None else sorted(numbers, key=numbers.__getitem__)
    if gaps:
        remarks.append(f'{gaps} empty cells; fill in a label such as "NA", or drop those records')
        labels += [] if "NA" in values else ["NA"]
    return {"name": column.name, "labels": labels}, remarks


_NUMBER = re.compile(r"[+-]?(0|[1-9][0-9]*)?(\.[0-9]+)?([eE][+-]?[0-9]+)?")


def _parse_numbers(values: set[str]) -> dict[str, float] | None:
    """Parse the values as numbers, if all are; a leading zero makes a code, not a number."""
    numbers: dict[str, float] = {}
    for value in values:
        if not _NUMBER.fullmatch(value) or not any(sign.isdigit() for sign in value):
            return None
        try:
            numbers[value] = float(value)
        except ValueError:
            return None
        if not math.isfinite(numbers[value]):
            return None
    return numbers if len(set(numbers.values())) > 1 else None


def _round_edges(low: float, high: float, bins: int = 10) -> list[float]:
    """About ``bins`` equal bins with round edges that cover low to high."""
    try:
        exponent = math.floor(math.log10((high - low) / bins))
        unit = 10.0**exponent
        step = next(k * unit for k in (1, 2, 5, 10, 20) if k * unit * bins >= high - low)
        first, last = math.floor(low / step), math.ceil(high / step)
        edges = [round(k * step, max(0, -exponent)) for k in range(first, last + 1)]
    except (OverflowError, ValueError, ZeroDivisionError, StopIteration):
        return [low, high]
    return edges if edges == sorted(set(edges)) else [low, high]
