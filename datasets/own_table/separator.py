"""Which sign separates the cells of a CSV file."""

from __future__ import annotations

import csv
import io
from collections.abc import Collection
from itertools import islice

from reconbench.datasets.own_table.table_format import SEPARATORS
from reconbench.datasets.sources._csv import CsvError

SAMPLE = 1 << 20  # characters
SAMPLE_ROWS = 2_000
_STATE_IT = "state the separator (--separator)"


def detect_separator(sample: str, *, whole: bool, expected: Collection[str] = ()) -> str:
    """The separator under which a file's header is as expected and its lines are alike.

    Args:
        sample: The start of the file, and ``whole`` whether it is all of it.
        expected: Names of columns that the header should have, if they are known.
    """
    rows = {sign: _parse(sample, sign, whole) for sign in SEPARATORS.values()}
    headers = {sign: parsed[0] for sign, parsed in rows.items() if parsed}
    if not headers:
        return ","  # the reader says what is wrong
    matches = {sign: len({*header} & {*expected}) for sign, header in headers.items()}
    most = max(matches.values())
    candidates = [sign for sign in headers if matches[sign] == most]
    if len(candidates) == 1:
        return candidates[0]
    wide = [sign for sign in candidates if len(headers[sign]) > 1]
    alike = [sign for sign in wide if _are_alike(rows[sign])]
    if len(alike or wide) > 1:
        names = " or ".join(name for name, sign in SEPARATORS.items() if sign in (alike or wide))
        raise CsvError(f"its cells may be separated by {names}; {_STATE_IT}")
    if wide:
        return (alike or wide)[0]
    return _choose_for_one_column({sign: rows[sign] for sign in candidates})


def _parse(sample: str, separator: str, whole: bool) -> list[list[str]]:
    """The first rows, blank ones left out; none where quotes do not fit."""
    reader = csv.reader(io.StringIO(sample, newline=""), delimiter=separator, strict=True)
    rows: list[list[str]] = []
    try:
        for row in islice(reader, SAMPLE_ROWS):
            rows.append(row)
    except csv.Error:
        # The end of a sample may cut quotes in two; anywhere else they do not fit.
        return [row for row in rows if row] if not whole else rows[:1]
    if not whole and 1 < len(rows) < SAMPLE_ROWS:
        rows.pop()  # the sample may end within it
    return [row for row in rows if row]


def _are_alike(rows: list[list[str]]) -> bool:
    return len({len(row) for row in rows}) == 1


def _choose_for_one_column(rows: dict[str, list[list[str]]]) -> str:
    """A header of one cell: any separator will do that no line has."""
    if _are_alike(rows.get(",", [[]])):
        return ","
    unused = [sign for sign, parsed in rows.items() if _are_alike(parsed)]
    if unused:
        raise CsvError(
            "its header has one column, but other lines have commas in them; if they belong to the "
            f"cells, {_STATE_IT} that the file does not have, such as semicolon"
        )
    return ","
