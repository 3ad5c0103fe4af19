"""Signs by which a column is known: identifiers, survey weights, codes of missing values."""

from __future__ import annotations

import re
from collections.abc import Collection

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

NEARLY_UNIQUE = 0.9
# Names, split into words, that are given to numbers of persons, cases and rows.
_ID_WORDS = {"id", "ids", "uuid", "guid", "ssn", "serial", "serialno", "rowid", "caseid", "pid"}
_ID_WORDS |= {"key", "hhid", "recordid", "personid", "index", "nr", "no", "num", "number"}
_INDEX = re.compile(r"(unnamed: ?\d+|index|row|rownames?|)", re.IGNORECASE)
# Weights of well-known surveys, and words for them; plain "weight" may be a body's.
_WEIGHT = re.compile(
    r"fnlwgt|finalwgt|_?llcpwt2?|pwgtp\d*|wgtp\d*|perwt|hhwt|wtfinl|asecwt|wtmec2yr|wtint2yr"
    r"|(survey|sample|sampling|person|household|final|design|analysis|replicate)[ _.-]?"
    r"(weight|wgt|wt)s?\d*|(pspwght|pweight|dweight|anweight)",
    re.IGNORECASE,
)
_MISSING = {
    "", "na", "n/a", "#n/a", "nan", "null", "#null!", "(null)", "<na>", "nil", "?", "-", "--",
    ".", "..", "missing", "not available", "k.a.", "k. a.", "keine angabe",
}  # fmt: skip
_SENTINEL = re.compile(r"-(1|7|8|9|9{2,}|9*[78])(\.0*)?")


def is_survey_weight(name: str) -> bool:
    """Whether the name is one that surveys give to weights."""
    return _WEIGHT.fullmatch(name.strip()) is not None


def is_identifier_name(name: str) -> bool:
    """Whether the name is one that is given to numbers of persons, cases or rows."""
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)
    words = re.split(r"[\W_]+", spaced.casefold())
    return bool(_INDEX.fullmatch(name.strip())) or bool(_ID_WORDS & set(words))


def numbers_rows(numbers: Floats) -> bool:
    """Whether whole numbers, one per record, look counted off: dense, or in ascending order."""
    if len(np.unique(numbers)) < len(numbers) or (numbers % 1 != 0).any():
        return False
    dense = numbers.max() - numbers.min() < 2 * len(numbers)
    return bool(dense or (np.diff(numbers) > 0).all())


def find_missing_texts(texts: Collection[str]) -> list[str]:
    """The texts of a column that usually stand for a missing value."""
    return sorted(text for text in texts if text.strip().casefold() in _MISSING)


def find_missing_numbers(numbers: dict[str, float]) -> list[str]:
    """Negative codes, such as -9 and -99, in a column that is otherwise not negative."""
    negative = {text for text, number in numbers.items() if number < 0}
    if not negative or len(negative) == len(numbers):
        return []
    coded = all(_SENTINEL.fullmatch(text.replace(",", ".")) for text in negative)
    return sorted(negative, key=numbers.__getitem__) if coded else []


def find_suspect_nines(numbers: dict[str, float]) -> str | None:
    """The largest number, if it is all nines and far beyond the others."""
    if len(numbers) < 3:
        return None
    ordered = sorted(numbers, key=numbers.__getitem__)
    largest, next_one = ordered[-1], numbers[ordered[-2]]
    far = numbers[largest] >= 2 * abs(next_one) and numbers[largest] > next_one
    return largest if far and re.fullmatch(r"9{2,}([.,]0*)?", largest) else None
