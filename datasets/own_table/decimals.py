"""Numbers with a decimal point or a decimal comma, and which of the two a table has."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence

from reconbench.datasets.domain import quote
from reconbench.datasets.sources._csv import CsvError

POINT, COMMA = ".", ","
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)
# "1.234" and "1,234" may be one and a bit, or more than a thousand.
_UNCLEAR = re.compile(r"[+-]?[1-9]\d{0,2}[.,]\d{3}", re.ASCII)


def parse_number(text: str, decimal: str = POINT) -> float | None:
    """The finite number that a cell holds; None if it holds anything else."""
    text = text.strip()
    if decimal == COMMA:
        if POINT in text:
            return None
        text = text.replace(COMMA, POINT)
    if not _NUMBER.fullmatch(text):
        return None
    number = float(text)
    return number if math.isfinite(number) else None


def is_number(text: str) -> bool:
    """Whether a cell holds a number in either style."""
    return parse_number(text) is not None or parse_number(text, COMMA) is not None


def detect_decimal(
    columns: Iterable[tuple[str, Sequence[str]]], separator: str | None
) -> str | None:
    """The decimal sign of the named columns' numbers; None if they are all whole.

    Three digits after a single sign may be thousands. A comma is then refused, and so is a point in
    a file whose cells are separated by semicolons, as programs write where commas are decimal.
    """
    clear: dict[str, str] = {}
    unclear: dict[str, str] = {}
    for name, texts in columns:
        for text in map(str.strip, texts):
            sign = COMMA if COMMA in text else POINT if POINT in text else None
            if sign is None or parse_number(text, sign) is None:
                continue
            (unclear if _UNCLEAR.fullmatch(text) else clear).setdefault(sign, name)
    if len(clear) == 2:
        raise CsvError(
            f"column {quote(clear[POINT])} has decimal points and column {quote(clear[COMMA])} "
            "decimal commas; write all numbers alike, or state one style (--decimal)"
        )
    if clear:
        return next(iter(clear))
    if COMMA in unclear or (unclear and separator == ";"):
        sign = COMMA if COMMA in unclear else POINT
        name = "comma" if sign == COMMA else "point"
        raise CsvError(
            f"column {quote(unclear[sign])} has numbers with a {name} before three digits, which "
            "may be decimals or thousands; state the decimal sign (--decimal), or write thousands "
            "without a sign"
        )
    return POINT if unclear else None
