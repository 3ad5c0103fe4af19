"""Attributes and domains: the public schema of a table."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any

MAX_LABELS = 100_000


class DomainError(ValueError):
    """A schema, a table or a file that does not fit its domain."""


@dataclass(frozen=True)
class Attribute:
    """One categorical column: its public name and its labels, in code order.

    ``ordinal`` says that the code order means something, so that an L1 error between codes does
    too. ``edges`` are the declared public bin edges of a column that is numeric in its source:
    code ``i`` holds the values in ``[edges[i], edges[i + 1])``, and the last bin its right edge.
    """

    name: str
    labels: tuple[str, ...]
    ordinal: bool = False
    edges: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name.strip():
            raise DomainError(f"an attribute needs a non-empty name, got {self.name!r}")
        if not self.labels:
            raise DomainError(f"attribute {self.name!r} has no labels; give at least one")
        if len(self.labels) > MAX_LABELS:
            raise DomainError(
                f"attribute {self.name!r} has {len(self.labels)} labels, more than {MAX_LABELS}; "
                "merge rare values or bin the column"
            )
        if not all(isinstance(label, str) for label in self.labels):
            raise DomainError(f"attribute {self.name!r}: every label must be text")
        if len(set(self.labels)) != len(self.labels):
            twice = Counter(self.labels).most_common(1)[0][0]
            raise DomainError(f"attribute {self.name!r} has label {quote(twice)} twice")
        if self.edges is not None:
            self._check_edges(self.edges)

    def _check_edges(self, edges: tuple[float, ...]) -> None:
        if len(edges) != len(self.labels) + 1:
            raise DomainError(
                f"attribute {self.name!r} has {len(self.labels)} labels and {len(edges)} bin "
                f"edges; {len(self.labels)} bins need {len(self.labels) + 1} edges"
            )
        if not all(math.isfinite(edge) for edge in edges) or list(edges) != sorted(set(edges)):
            raise DomainError(f"attribute {self.name!r}: bin edges must be finite and increasing")

    @property
    def size(self) -> int:
        return len(self.labels)

    @cached_property
    def _codes(self) -> Mapping[str, int]:
        return {label: code for code, label in enumerate(self.labels)}

    def code(self, label: str) -> int:
        try:
            return self._codes[label]
        except KeyError:
            allowed = _preview(self.labels)
            raise DomainError(
                f"column {self.name!r} has no label {quote(label)}; allowed: {allowed}"
            ) from None

    def to_json(self) -> dict[str, Any]:
        described: dict[str, Any] = {"name": self.name, "labels": list(self.labels)}
        if self.ordinal:
            described["ordinal"] = True
        if self.edges is not None:
            described["edges"] = list(self.edges)
        return described

    @classmethod
    def from_json(cls, raw: object) -> Attribute:
        if not isinstance(raw, dict):
            raise DomainError(f"an attribute must be a JSON object, got {type(raw).__name__}")
        unknown = set(raw) - {"name", "labels", "ordinal", "edges"}
        if unknown:
            raise DomainError(
                f"attribute {raw.get('name')!r}: unknown key {sorted(unknown)[0]!r}; "
                "allowed: name, labels, ordinal, edges"
            )
        name, edges, ordinal = raw.get("name"), raw.get("edges"), raw.get("ordinal", False)
        if not isinstance(name, str):
            raise DomainError(f"an attribute needs a text 'name', got {name!r}")
        if not isinstance(ordinal, bool):
            raise DomainError(f"attribute {name!r}: 'ordinal' must be true or false")
        if edges is not None:
            if not isinstance(edges, list) or not all(_is_number(edge) for edge in edges):
                raise DomainError(f"attribute {name!r}: 'edges' must be a list of numbers")
            try:
                return binned(name, [float(edge) for edge in edges], raw.get("labels"))
            except OverflowError:
                raise DomainError(f"attribute {name!r}: a bin edge is too large") from None
        labels = raw.get("labels")
        if not isinstance(labels, list):
            raise DomainError(f"attribute {name!r} needs 'labels' (a list) or 'edges' (numbers)")
        return cls(name, tuple(labels), ordinal)


def binned(name: str, edges: Sequence[float], labels: object = None) -> Attribute:
    """An ordinal attribute of declared bins; labels default to the intervals themselves."""
    if labels is None:
        pairs = list(pairwise(edges))
        labels = [f"[{low:g}, {high:g})" for low, high in pairs[:-1]]
        labels += [f"[{low:g}, {high:g}]" for low, high in pairs[-1:]]
    if not isinstance(labels, list):
        raise DomainError(f"attribute {name!r}: 'labels' must be a list")
    return Attribute(name, tuple(labels), ordinal=True, edges=tuple(edges))


@dataclass(frozen=True)
class Domain:
    """An ordered set of attributes."""

    attributes: tuple[Attribute, ...]
    _index: Mapping[str, int] = field(init=False, repr=False, compare=False, hash=False)

    def __post_init__(self) -> None:
        if not self.attributes:
            raise DomainError("a domain needs at least one attribute")
        index: dict[str, int] = {}
        for position, attribute in enumerate(self.attributes):
            if attribute.name in index:
                raise DomainError(f"duplicate column {attribute.name!r} in the domain")
            index[attribute.name] = position
        object.__setattr__(self, "_index", index)

    @cached_property
    def names(self) -> tuple[str, ...]:
        return tuple(attribute.name for attribute in self.attributes)

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        return tuple(attribute.size for attribute in self.attributes)

    def __len__(self) -> int:
        return len(self.attributes)

    def __iter__(self) -> Iterator[Attribute]:
        return iter(self.attributes)

    def __contains__(self, name: object) -> bool:
        return name in self._index

    def __getitem__(self, name: str) -> Attribute:
        return self.attributes[self.position(name)]

    def position(self, name: str) -> int:
        try:
            return self._index[name]
        except KeyError:
            raise DomainError(
                f"unknown column {name!r}; this domain has {', '.join(self.names)}"
            ) from None

    def positions(self, names: Iterable[str]) -> tuple[int, ...]:
        """Positions of distinct columns, in the order given."""
        listed = tuple(names)
        for name in listed:
            if listed.count(name) > 1:
                raise DomainError(f"column {name!r} is named twice")
        return tuple(self.position(name) for name in listed)

    def project(self, names: Iterable[str]) -> Domain:
        return Domain(tuple(self.attributes[position] for position in self.positions(names)))

    def to_json(self) -> dict[str, Any]:
        return {"attributes": [attribute.to_json() for attribute in self.attributes]}

    @classmethod
    def from_json(cls, raw: object) -> Domain:
        if not isinstance(raw, dict) or not isinstance(raw.get("attributes"), list):
            raise DomainError('a domain file must be {"attributes": [{"name": ...}, ...]}')
        return cls(tuple(Attribute.from_json(item) for item in raw["attributes"]))

    def canonical(self) -> str:
        """One text a domain, for hashing."""
        return json.dumps(self.to_json(), sort_keys=True, ensure_ascii=True)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def quote(text: str, most: int = 60) -> str:
    """Quote a text for a message, cut off where it is long."""
    return repr(text if len(text) <= most else f"{text[:most]}...")


def _preview(labels: Sequence[str], most: int = 8) -> str:
    shown = ", ".join(quote(label) for label in labels[:most])
    return shown if len(labels) <= most else f"{shown}, ... ({len(labels)} in all)"
