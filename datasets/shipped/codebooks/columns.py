"""How a published file writes a column: codes with labels, or numbers in public brackets."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from itertools import pairwise

from reconbench.datasets.domain import Attribute, Domain, DomainError, quote


@dataclass(frozen=True)
class Codes:
    """What the file writes, and the label for it; several values may share a label."""

    meaning: Mapping[str, str]

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(self.meaning.values()))

    def label(self, text: str) -> str:
        try:
            return self.meaning[text]
        except KeyError:
            allowed = ", ".join(quote(value) for value in list(self.meaning)[:8])
            raise DomainError(
                f"{quote(text)} is not in the codebook; allowed: {allowed}, ..."
            ) from None


@dataclass(frozen=True)
class Brackets:
    """Numbers in brackets: ``names[i]`` holds those from ``edges[i]`` to below ``edges[i + 1]``.

    The last bracket includes its right edge. ``special`` texts have labels of their own, which
    come first in code order if ``special_first``.
    """

    edges: tuple[float, ...]
    names: tuple[str, ...]
    special: Mapping[str, str] = field(default_factory=dict)
    special_first: bool = True

    def __post_init__(self) -> None:
        if len(self.edges) != len(self.names) + 1 or list(self.edges) != sorted(set(self.edges)):
            raise DomainError(
                f"{len(self.names)} brackets need {len(self.names) + 1} increasing edges, "
                f"got {self.edges}"
            )

    @property
    def labels(self) -> tuple[str, ...]:
        special = tuple(dict.fromkeys(self.special.values()))
        return (*special, *self.names) if self.special_first else (*self.names, *special)

    def label(self, text: str) -> str:
        if text in self.special:
            return self.special[text]
        try:
            number = float(text)
        except ValueError:
            number = math.nan
        if not self.edges[0] <= number <= self.edges[-1]:
            raise DomainError(
                f"{quote(text)} is not a number from {self.edges[0]:g} to {self.edges[-1]:g}"
            )
        return self.names[min(bisect_right(self.edges, number), len(self.names)) - 1]


Column = Codes | Brackets


def build_domain(columns: Mapping[str, Column], ordinal: Collection[str]) -> Domain:
    """The domain of a file's columns.

    Brackets without special texts are declared as bin edges, so that a table of raw numbers can be
    read into the domain, too.
    """
    return Domain(
        tuple(_attribute(name, column, name in ordinal) for name, column in columns.items())
    )


def number_codes(start: int, *labels: str) -> Codes:
    """Labels of consecutive whole numbers."""
    return Codes({str(value): label for value, label in enumerate(labels, start)})


def name_brackets(*edges: int, last: str) -> tuple[str, ...]:
    """Names of whole-number brackets, such as ``18 to 24``; the last one is given."""
    names = [
        f"{low:,}" if high == low + 1 else f"{low:,} to {high - 1:,}"
        for low, high in pairwise(edges[:-1])
    ]
    return (*names, last)


def _attribute(name: str, column: Column, ordinal: bool) -> Attribute:
    edges = None
    if (
        isinstance(column, Brackets)
        and not column.special
        and math.isfinite(column.edges[0] + column.edges[-1])
    ):
        edges = column.edges
    return Attribute(name, column.labels, ordinal=ordinal, edges=edges)
