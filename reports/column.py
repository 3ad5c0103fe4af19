"""One column of a leaderboard: its name, meaning, kind and direction."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

Value = str | int | float | None


class ReportError(ValueError):
    """Results that cannot be reported."""


class Direction(StrEnum):
    """What a larger number means."""

    LEAKED = "Higher: more was reconstructed"
    GUESSED = "Higher: more can be guessed without the release"
    ALLOWED = "Higher: more is allowed, so the guarantee is weaker"
    CLAIMED = "Above the success: overconfident; below it: underconfident"
    MISJUDGED = "Higher: the scores of the attack are less reliable"
    WEAK = "Higher: more room for a better attack"
    LOOSE = "Higher: the analysis leaves more open"
    BETTER = "Lower: a better rank"
    BUDGET = "Higher: less noise, less privacy"
    COST = "Higher: slower"
    NONE = ""


@dataclass(frozen=True)
class Column:
    """One entry of the data dictionary; ``kind`` is text, integer, number or boolean."""

    name: str
    meaning: str
    kind: str = "number"
    direction: Direction = Direction.NONE


def index_columns(columns: Iterable[Column]) -> dict[str, Column]:
    return {column.name: column for column in columns}
