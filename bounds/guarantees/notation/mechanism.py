"""Mechanisms and guarantees by text: `kind:name=value,...`, and several joined with `+`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from reconbench.bounds.guarantees.guarantee import Guarantee
from reconbench.bounds.guarantees.notation.composition import (
    FINE,
    Item,
    compose_items,
    convert,
)
from reconbench.bounds.guarantees.notation.kinds import (
    KINDS,
    Kind,
    Parameter,
    check_value,
    suggest,
)
from reconbench.bounds.guarantees.relation import Relation, as_relation

FREE = "?"
MOST_LETTERS = 10_000
MOST_PARTS = 100
_NAMES = {Relation.REPLACE_ONE: "replace-one", Relation.ADD_REMOVE: "add-remove"}
# A plus sign joins two parts only where another `kind:` follows: 1e+5 is a number.
_JOIN = re.compile(r"\+(?=\s*[A-Za-z][A-Za-z_-]*\s*:)")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-]?(inf|nan)", re.ASCII)


@dataclass(frozen=True)
class Part:
    """One kind with its values; numbers, tuples of numbers, `FREE`, or the path of a file.

    `relation` is the one stated in the text, if any.
    """

    kind: Kind
    values: dict[str, Any]
    relation: Relation | None = None

    @property
    def text(self) -> str:
        """The canonical text: what was not given keeps its default and is left out."""
        given = [str(self.values["file"])] if self.kind.file else []
        for parameter in self.kind.parameters:
            value = self.values[parameter.name]
            if value != parameter.default:
                given.append(f"{parameter.name}={_format_value(value)}")
        if self.relation is not None:
            given.append(f"relation={_NAMES[self.relation]}")
        return f"{self.kind.name}:{','.join(given)}"

    def native(self, wanted: Relation | None) -> Relation:
        """The relation that its numbers are for."""
        return self.kind.only or self.relation or wanted or self.kind.relation

    def item(self, relation: Relation) -> Item:
        """Its releases, under that relation."""
        count = int(self.values[self.kind.count])
        one = self.kind.guarantee and self.kind.guarantee(self.values, relation)
        return Item(count, one, self.kind.release and self.kind.release(self.values, count))


@dataclass(frozen=True)
class Mechanism:
    """One or several releases of the same records, adaptively."""

    parts: tuple[Part, ...]

    @property
    def text(self) -> str:
        return "+".join(part.text for part in self.parts)

    def relation(self, wanted: Relation | str | None = None) -> Relation:
        """The relation that its guarantee is for: the wanted one, or the one all parts share."""
        if wanted is not None:
            return as_relation(wanted)
        shared = {part.relation or part.kind.relation for part in self.parts}
        if len(shared) > 1:
            stated = ", ".join(
                f"{part.kind.name} {(part.relation or part.kind.relation).value}"
                for part in self.parts
            )
            raise ValueError(
                f"the parts of mechanism must share a neighbouring relation, got {stated}: state "
                "one for all with --relation (or relation=...), which sensitivities are then for"
            )
        return shared.pop()

    def guarantee(
        self, relation: Relation | str | None = None, *, discretisation: float = FINE
    ) -> Guarantee:
        """The guarantee of all parts, for the wanted relation.

        Parts for add-or-remove-one are composed under it and converted together, if replace-one is
        wanted; there is no conversion the other way. Whatever has no closed form rounds
        losses up to a grid of at least `discretisation`.
        """
        for _, part, parameter in self.free():
            raise ValueError(
                f"{parameter.name} of {part.kind.name} must be a number, got {FREE!r}: only "
                "`reconbench calibrate` solves for a parameter"
            )
        target = self.relation(relation)
        wanted = None if relation is None else target
        added: list[Part] = []
        replaced: list[Part] = []
        for part in self.parts:
            native = part.native(wanted)
            (added if native is Relation.ADD_REMOVE else replaced).append(part)
        if target is Relation.ADD_REMOVE:
            _refuse(replaced)
            return _compose(added, target, discretisation)
        items = [part.item(target) for part in replaced]
        if added:
            text = Mechanism(tuple(added)).text
            whole = convert(_compose(added, Relation.ADD_REMOVE, discretisation), text)
            items.append(Item(1, whole))
        return compose_items(items, target, self.text, discretisation)

    def free(self) -> Iterator[tuple[int, Part, Parameter]]:
        """The parameters given as `?`, with the part each is of and its position."""
        for k, part in enumerate(self.parts):
            for parameter in part.kind.parameters:
                if part.values[parameter.name] == FREE:
                    yield k, part, parameter

    def fill(self, value: float) -> Mechanism:
        """The mechanism with a number in place of every `?`."""
        filled = [
            replace(part, values={k: value if v == FREE else v for k, v in part.values.items()})
            for part in self.parts
        ]
        return Mechanism(tuple(filled))


def parse_guarantee(text: str, relation: Relation | str | None = None) -> Guarantee:
    """The guarantee of a text such as `gaussian:sigma=2` or `laplace:scale=5,queries=15`.

    Args:
        text: one kind with its parameters, or several joined with `+`; see `kinds`.
        relation: the neighbouring relation wanted, by default that of the kinds.

    Returns:
        The guarantee of all the releases together. Errors name the nearest kind or parameter.

    Example:
        >>> import reconbench as rb
        >>> rb.parse_guarantee("gaussian:sigma=4,queries=4").describe()
        '0.5-GDP, replace-one'
    """
    return parse_mechanism(text).guarantee(relation)


def parse_mechanism(text: str) -> Mechanism:
    """The mechanism that a text names; a parameter may be `?` for `calibrate` to solve.

    Args:
        text: as in `parse_guarantee`.

    Returns:
        The parsed parts; `.guarantee(relation)` is their guarantee, `.text` the canonical text.
    """
    if len(text) > MOST_LETTERS:
        raise ValueError(f"mechanism must have at most {MOST_LETTERS} letters, got {len(text)}")
    pieces = _JOIN.split(text)
    if len(pieces) > MOST_PARTS:
        raise ValueError(
            f"mechanism must have at most {MOST_PARTS} parts, got {len(pieces)}: give equal ones "
            "as one with queries"
        )
    return Mechanism(tuple(_parse_part(piece.strip()) for piece in pieces))


def _parse_part(text: str) -> Part:
    name, colon, body = text.partition(":")
    name = name.strip()
    if name not in KINDS:
        raise ValueError(f"unknown kind {name!r} in mechanism{suggest(name, list(KINDS))}")
    kind = KINDS[name]
    if not colon:
        body = ""
    fields = [field.strip() for field in body.split(",")] if body.strip() else []
    values: dict[str, Any] = {}
    if kind.file:
        values["file"] = _parse_path(fields)
    relation: Relation | None = None
    names = [parameter.name for parameter in kind.parameters]
    for field in fields:
        key, equals, value = (piece.strip() for piece in field.partition("="))
        if not equals or not value:
            raise ValueError(f"{field!r} in {name} must be name=value; names: {', '.join(names)}")
        if key in values or (key == "relation" and relation is not None):
            raise ValueError(f"{key} of {name} is given twice; give it once")
        if key == "relation":
            relation = as_relation(value)
        elif key not in names:
            near = suggest(key, [*names, "relation"])
            raise ValueError(f"unknown parameter {key!r} of {name}{near}")
        else:
            values[key] = _parse_value(kind, kind.parameters[names.index(key)], value)
    for parameter in kind.parameters:
        if parameter.name not in values and parameter.required:
            raise ValueError(f"{name} needs {parameter.name}: {parameter.meaning}")
        values.setdefault(parameter.name, parameter.default)
    _check_part(kind, values, relation)
    return Part(kind, values, relation)


def _parse_path(fields: list[str]) -> Path:
    if not fields or "=" in fields[0]:
        raise ValueError("curve needs the name of a CSV file first, as in curve:points.csv")
    return Path(fields.pop(0))


def _parse_value(kind: Kind, parameter: Parameter, text: str) -> Any:
    if text == FREE:
        if not parameter.protects:
            raise ValueError(f"{parameter.name} of {kind.name} must be given, it cannot be {FREE}")
        return FREE
    pieces = text.split("/") if parameter.many else [text]
    for piece in pieces:
        if not _NUMBER.fullmatch(piece.strip()):
            raise ValueError(
                f"{parameter.name} of {kind.name} must be a number"
                f"{', or several joined with /' if parameter.many else ''}, got {text[:100]!r}"
            )
    numbers = tuple(check_value(kind.name, parameter, float(piece)) for piece in pieces)
    return numbers if parameter.many else numbers[0]


def _check_part(kind: Kind, values: dict[str, Any], relation: Relation | None) -> None:
    if kind.only is Relation.REPLACE_ONE and relation is Relation.ADD_REMOVE:
        _refuse([Part(kind, values, relation)])
    if kind.name == "rdp" and len(values["order"]) != len(values["epsilon"]):
        raise ValueError(
            f"rdp needs one epsilon for every order, got {len(values['order'])} orders and "
            f"{len(values['epsilon'])} epsilons"
        )


def _refuse(parts: Sequence[Part]) -> None:
    for part in parts:
        raise ValueError(
            f"{part.kind.name} here is for replace-one neighbours, which has no conversion to "
            "add-or-remove-one: ask for replace-one"
        )


def _compose(parts: Sequence[Part], relation: Relation, step: float) -> Guarantee:
    text = Mechanism(tuple(parts)).text
    return compose_items([part.item(relation) for part in parts], relation, text, step)


def _format_value(value: Any) -> str:
    if isinstance(value, tuple):
        return "/".join(map(_format_value, value))
    if isinstance(value, str):
        return value
    number = float(value)
    return str(int(number)) if number.is_integer() and abs(number) < 1e15 else repr(number)
