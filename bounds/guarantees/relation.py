"""Neighbouring relations, and what may be done with two guarantees of different ones."""

from __future__ import annotations

from enum import Enum
from typing import Protocol

RECORD = "one record"


class Relation(Enum):
    """Which tables are neighbours."""

    REPLACE_ONE = "replace-one"
    ADD_REMOVE = "add-or-remove-one"


def as_relation(relation: Relation | str) -> Relation:
    """A relation by its name.

    Args:
        relation: `replace-one`, `add-remove` (or `add-or-remove-one`), or a relation itself.
    """
    names = {each.value: each for each in Relation} | {"add-remove": Relation.ADD_REMOVE}
    if isinstance(relation, Relation):
        return relation
    if relation not in names:
        raise ValueError(f"relation must be replace-one or add-remove, got {relation!r}")
    return names[relation]


class Related(Protocol):
    """Anything that protects a unit under a neighbouring relation."""

    @property
    def relation(self) -> Relation: ...

    @property
    def unit(self) -> str: ...

    def describe(self) -> str: ...


def represent(guarantee: Related) -> str:
    """The ``__repr__`` of guarantees: one line, without the arrays behind it."""
    return f"<{type(guarantee).__name__}: {guarantee.describe()}>"


def require_kind(first: Related, second: object) -> None:
    """Refuse to compose guarantees of two kinds, with the functions that do."""
    if not isinstance(second, type(first)):
        described = second.describe() if hasattr(second, "describe") else repr(second)
        raise ValueError(
            f"compose takes another {type(first).__name__}, got {described}: with (epsilon, "
            "delta)-DP or pure DP use compose_with_pair(pair, other); for Laplace and Gaussian "
            "noise use reconbench.bounds.guarantees.composed"
        )


def require_same(first: Related, second: Related) -> None:
    """Refuse to combine guarantees for different relations or units."""
    if first.relation is not second.relation:
        raise ValueError(
            f"guarantees must share a neighbouring relation, got {first.describe()} and "
            f"{second.describe()}: convert the {Relation.ADD_REMOVE.value} one with "
            "as_replace_one(guarantee)"
        )
    if first.unit != second.unit:
        raise ValueError(
            f"guarantees must protect the same unit, got {first.unit!r} and {second.unit!r}: "
            "restate both for the same unit with group(size)"
        )


def require_replace_one(guarantee: Related, reference: str) -> None:
    """Refuse a guarantee that `reference` says nothing about."""
    if guarantee.relation is not Relation.REPLACE_ONE:
        raise ValueError(
            f"guarantee must be for {Relation.REPLACE_ONE.value} neighbours in {reference}, got "
            f"{guarantee.describe()}: convert it with as_replace_one(guarantee)"
        )


def why_not_replace_one(guarantee: Related) -> str | None:
    """The reason to leave out a bound that holds for replace-one neighbours only, if any."""
    if guarantee.relation is Relation.REPLACE_ONE:
        return None
    return "it holds for replace-one neighbours only; convert with as_replace_one(guarantee)"
