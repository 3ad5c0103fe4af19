"""What membership attacks got wrong: false positives and false negatives, attack by attack."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

COLUMNS = ("X", "N0", "Y", "N1")
BASE = "base"
MOST_ATTACKS = 5_000
LARGEST_COUNT = 10**12
MOST_BYTES = 1 << 20


class CountsError(ValueError):
    """Counts that no attacks could have produced, or a file that does not hold any."""


@dataclass(frozen=True, eq=False)
class Counts:
    """Attack j raised `false_positives[j]` false alarms in `negatives[j]` challenges without the
    record (X of N₀), and missed it `false_negatives[j]` times in `positives[j]` with it (Y of N₁).

    Rows with the same number in `bases` are one attack on the same challenges at several levels:
    they are dependent. By default every row is a base of its own.
    """

    false_positives: Ints
    negatives: Ints
    false_negatives: Ints
    positives: Ints
    bases: Ints = field(default_factory=lambda: np.empty(0, dtype=np.int64))

    def __post_init__(self) -> None:
        fields = ("false_positives", "negatives", "false_negatives", "positives", "bases")
        if np.size(self.bases) == 0:
            object.__setattr__(self, "bases", np.arange(np.size(self.false_positives)))
        for name, column in zip(fields, (*COLUMNS, BASE), strict=True):
            object.__setattr__(
                self, name, _whole_numbers(f"{name} ({column})", getattr(self, name))
            )
        lengths = {name: len(getattr(self, name)) for name in fields}
        if len(set(lengths.values())) > 1:
            raise CountsError(f"counts must have one entry an attack each, got lengths {lengths}")
        if not 1 <= len(self) <= MOST_ATTACKS:
            raise CountsError(f"counts must be of 1 to {MOST_ATTACKS} attacks, got {len(self)}")
        object.__setattr__(self, "bases", _numbered(self.bases))
        _check_errors("X", self.false_positives, "N0", self.negatives)
        _check_errors("Y", self.false_negatives, "N1", self.positives)

    def __len__(self) -> int:
        return len(self.false_positives)

    @classmethod
    def of(cls, rows: Sequence[Sequence[int]]) -> Counts:
        """From rows (X, N₀, Y, N₁), one an attack."""
        if any(len(row) != len(COLUMNS) for row in rows) or not rows:
            raise CountsError(f"rows must be one or more of {len(COLUMNS)} counts {COLUMNS}")
        return cls(*(np.asarray(column) for column in zip(*rows, strict=True)))

    @property
    def rates(self) -> tuple[Floats, Floats]:
        """(X/N₀, Y/N₁)."""
        return (self.false_positives / self.negatives, self.false_negatives / self.positives)

    @property
    def columns(self) -> Ints:
        """(n, 4): X, N₀, Y, N₁ of every attack."""
        columns = self.false_positives, self.negatives, self.false_negatives, self.positives
        return np.stack(columns, axis=1)

    @property
    def base_count(self) -> int:
        """The number of bases; smaller than `len` where bases have several levels."""
        return int(self.bases.max()) + 1

    def attack(self, j: int) -> Counts:
        """The counts of one attack alone."""
        return Counts(*self.columns[j : j + 1].T)


def read_counts(path: Path) -> Counts:
    """Counts from a CSV file with columns X, N0, Y and N1, and base where rows share challenges.

    Other columns are ignored.
    """
    try:
        if path.stat().st_size > MOST_BYTES:
            raise CountsError(
                f"{path} is larger than {MOST_BYTES} bytes: counts are of at most "
                f"{MOST_ATTACKS} attacks, one row each"
            )
        with path.open(encoding="utf-8-sig", newline="") as stream:
            rows, bases = _read_rows(path, stream)
    except UnicodeDecodeError:
        raise CountsError(f"cannot read {path}: it is not UTF-8 text; save it as UTF-8") from None
    except OSError as error:
        raise CountsError(f"cannot read {path}: {error.strerror or error}") from None
    except csv.Error as error:
        raise CountsError(f"cannot read {path}: {error}") from None
    if not rows:
        raise CountsError(f"{path} has no rows: give one row an attack with columns X, N0, Y, N1")
    try:
        return replace(Counts.of(rows), bases=np.asarray(bases, dtype=np.int64))
    except CountsError as error:
        raise CountsError(f"{path}: {error}") from None


def _read_rows(path: Path, stream: Iterator[str]) -> tuple[list[list[int]], list[int]]:
    """Rows (X, N₀, Y, N₁), and the number of each row's base: its own without such a column."""
    table = csv.DictReader(stream, skipinitialspace=True)
    header = [(name or "").strip() for name in table.fieldnames or ()]
    missing = [name for name in COLUMNS if name not in header]
    if missing:
        raise CountsError(
            f"{path} has no column {missing[0]!r}: its header must name X, N0, Y and N1, "
            f"got {', '.join(header)[:80] or 'nothing'}"
        )
    table.fieldnames = header
    rows: list[list[int]] = []
    numbers: dict[str, int] = {}
    bases = []
    for row in islice(table, MOST_ATTACKS + 1):
        rows.append([_integer(path, table.line_num, name, row[name]) for name in COLUMNS])
        label = str(len(rows)) if BASE not in header else (row[BASE] or "").strip()
        if not label:
            raise CountsError(
                f"{path}, line {table.line_num}: base is empty; name every row's base"
            )
        bases.append(numbers.setdefault(label, len(numbers)))
    return rows, bases


def _integer(path: Path, line: int, name: str, text: str | None) -> int:
    try:
        return int(text or "")
    except ValueError:
        shown = (text or "")[:40]
        raise CountsError(
            f"{path}, line {line}: {name} must be a whole number, got {shown!r}"
        ) from None


def _whole_numbers(name: str, values: ArrayLike) -> Ints:
    try:
        given = np.asarray(values)
        # Compared as floats first: an integer beyond 64 bits must not wrap.
        near = given.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        raise CountsError(f"{name} must be whole numbers, got {values!r}") from None
    outside = ~((near >= 0) & (near <= LARGEST_COUNT) & (near == np.floor(near)))
    if given.ndim != 1 or outside.any():
        wrong = f"an array of shape {given.shape}" if given.ndim != 1 else given[outside][0]
        raise CountsError(
            f"{name} must be a list of whole numbers from 0 to {LARGEST_COUNT:,}, got {wrong}"
        )
    whole = near.astype(np.int64)
    whole.setflags(write=False)
    return whole


def _numbered(bases: Ints) -> Ints:
    """The bases numbered from 0 in the order of their first rows."""
    _, first, codes = np.unique(bases, return_index=True, return_inverse=True)
    numbers = np.argsort(np.argsort(first))[codes.reshape(-1)].astype(np.int64)
    numbers.setflags(write=False)
    return numbers


def _check_errors(name: str, errors: Ints, total: str, challenges: Ints) -> None:
    if not challenges.all():
        j = int(np.argmin(challenges))
        raise CountsError(f"{total} must be at least 1, got 0 for attack {j + 1}: leave it out")
    if (errors > challenges).any():
        j = int(np.argmax(errors > challenges))
        raise CountsError(
            f"{name} must be at most {total}, got {name} = {errors[j]} of {total} = "
            f"{challenges[j]} for attack {j + 1}"
        )
