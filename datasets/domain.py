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

from reconbench.datasets.near_names import suggest_name
from reconbench.datasets.recoding import NOTHING, Missing, Recoding, RecodingError

MAX_LABELS = 100_000
MOST_SHOWN = 50  # names in a message


class DomainError(ValueError):
    """A schema, a table or a file that does not fit its domain."""


@dataclass(frozen=True)
class Attribute:
    """One categorical column: its public name and its labels, in code order.

    ``ordinal`` says that the code order means something, so that an L1 error between codes does
    too. ``edges`` are the declared public bin edges of a column that is numeric in its source:
    code ``i`` holds the values in ``[edges[i], edges[i + 1])``, and the last bin its right edge.

    ``recoding`` says how other cells of the source are read. It is no part of what an attribute is:
    attributes that differ in it alone are equal. A label for missing values is nearer to no label
    than to another, so a column with one is not ordinal; after bins it is the last label.

    Args:
        name: The name of the column.
        labels: The labels of its values, in code order.
        ordinal: Whether the order of the labels means something.
        edges: The bin edges of a column that is numeric in its source.
        recoding: How other cells of the source are read.

    Example:
        >>> import reconbench as rb
        >>> rb.Attribute("income", ("low", "middle", "high"), ordinal=True)
        Attribute('income', ordinal labels 'low', 'middle', 'high')
    """

    name: str
    labels: tuple[str, ...]
    ordinal: bool = False
    edges: tuple[float, ...] | None = None
    recoding: Recoding = field(default=NOTHING, compare=False)

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
        try:
            self.recoding.check_labels(self.labels, binned=self.edges is not None)
        except RecodingError as error:
            raise DomainError(f"attribute {self.name!r}: {error}") from None
        if self.ordinal and self.missing_label is not None:
            raise DomainError(
                f"attribute {self.name!r} is ordinal, and its label "
                f"{quote(self.missing_label)} for missing values is near to no other; drop these "
                'records instead ("drop": true), or leave "ordinal" out'
            )
        if self.edges is not None:
            self._check_edges(self.edges)

    def _check_edges(self, edges: tuple[float, ...]) -> None:
        bins = len(self.labels) - (self.missing_label is not None)
        if len(edges) != bins + 1:
            raise DomainError(
                f"attribute {self.name!r} has {bins} labels and {len(edges)} bin edges; "
                f"{bins} bins need {bins + 1} edges"
            )
        if self.missing_label not in (None, self.labels[-1]):
            raise DomainError(
                f"attribute {self.name!r}: the label {quote(str(self.missing_label))} for missing "
                "values must come after those of the bins"
            )
        if not all(math.isfinite(edge) for edge in edges) or list(edges) != sorted(set(edges)):
            raise DomainError(f"attribute {self.name!r}: bin edges must be finite and increasing")

    def __repr__(self) -> str:
        kind = "ordinal " if self.ordinal else ""
        return f"Attribute({quote(self.name)}, {kind}labels {preview(self.labels, 3)})"

    @property
    def size(self) -> int:
        return len(self.labels)

    @property
    def missing_label(self) -> str | None:
        """The label of missing values, if they have one."""
        return self.recoding.missing.label if self.recoding.missing else None

    @cached_property
    def _codes(self) -> Mapping[str, int]:
        return {label: code for code, label in enumerate(self.labels)}

    def code(self, label: str) -> int:
        try:
            return self._codes[label]
        except KeyError:
            raise self.refuse_label(label) from None

    def refuse_label(self, label: str) -> DomainError:
        """The error that a text is no label."""
        return DomainError(
            f"column {self.name!r} has no label {quote(label)}; allowed: {preview(self.labels)}"
            f"{suggest_name(label, self.labels)}"
        )

    def to_json(self) -> dict[str, Any]:
        """All that a domain file or a codebook says of it."""
        return {**self._describe_values(), **self.recoding.to_json()}

    def _describe_values(self) -> dict[str, Any]:
        """Its values, whatever they were made from."""
        described: dict[str, Any] = {"name": self.name, "labels": list(self.labels)}
        if self.ordinal:
            described["ordinal"] = True
        if self.edges is not None:
            described["edges"] = list(self.edges)
        return described

    @classmethod
    def from_json(cls, raw: object, missing: Missing | None = None) -> Attribute:
        """An attribute of a domain file; ``missing`` is the file's rule for missing values."""
        if not isinstance(raw, dict):
            raise DomainError(f"an attribute must be a JSON object, got {type(raw).__name__}")
        unknown = set(raw) - set(_KEYS)
        if unknown:
            key = sorted(unknown, key=str)[0]
            raise DomainError(
                f"attribute {raw.get('name')!r}: unknown key {key!r}; allowed: {', '.join(_KEYS)}"
            )
        name, edges, ordinal = raw.get("name"), raw.get("edges"), raw.get("ordinal", False)
        if not isinstance(name, str):
            raise DomainError(f"an attribute needs a text 'name', got {name!r}")
        if not isinstance(ordinal, bool):
            raise DomainError(f"attribute {name!r}: 'ordinal' must be true or false")
        try:
            recoding = Recoding.from_json(raw, missing)
        except RecodingError as error:
            raise DomainError(f"attribute {name!r}: {error}") from None
        if edges is not None:
            if not isinstance(edges, list) or not all(_is_number(edge) for edge in edges):
                raise DomainError(f"attribute {name!r}: 'edges' must be a list of numbers")
            try:
                return binned(name, [float(edge) for edge in edges], raw.get("labels"), recoding)
            except OverflowError:
                raise DomainError(f"attribute {name!r}: a bin edge is too large") from None
        labels = raw.get("labels", [group for group, _ in recoding.groups] or None)
        if not isinstance(labels, list):
            raise DomainError(f"attribute {name!r} needs 'labels' (a list) or 'edges' (numbers)")
        added = [recoding.other, recoding.missing.label if recoding.missing else None]
        labels = [*labels, *dict.fromkeys(label for label in added if label not in (None, *labels))]
        return cls(name, tuple(labels), ordinal, recoding=recoding)


_KEYS = ("name", "labels", "ordinal", "edges", "missing", "groups", "other")


def binned(
    name: str, edges: Sequence[float], labels: object = None, recoding: Recoding = NOTHING
) -> Attribute:
    """An ordinal attribute of declared bins; labels default to the intervals themselves.

    A label for missing values comes after the bins, and takes the order away.
    """
    if labels is None:
        pairs = list(pairwise(edges))
        labels = [f"[{low:g}, {high:g})" for low, high in pairs[:-1]]
        labels += [f"[{low:g}, {high:g}]" for low, high in pairs[-1:]]
    if not isinstance(labels, list):
        raise DomainError(f"attribute {name!r}: 'labels' must be a list")
    missing = recoding.missing.label if recoding.missing else None
    if missing is not None and missing not in labels:
        labels = [*labels, missing]
    return Attribute(name, tuple(labels), missing is None, tuple(edges), recoding)


@dataclass(frozen=True)
class Domain:
    """An ordered set of attributes; ``left_out`` are columns of the source that are not read.

    Args:
        attributes: The columns.
        left_out: Columns of the source that are not read.

    Example:
        >>> import reconbench as rb
        >>> domain = rb.Domain((rb.Attribute("sex", ("f", "m")), rb.Attribute("ill", ("n", "y"))))
        >>> domain.names, domain.sizes
        (('sex', 'ill'), (2, 2))
    """

    attributes: tuple[Attribute, ...]
    left_out: tuple[str, ...] = field(default=(), compare=False)
    _index: Mapping[str, int] = field(init=False, repr=False, compare=False, hash=False)

    def __post_init__(self) -> None:
        if not self.attributes:
            raise DomainError("a domain needs at least one attribute")
        index: dict[str, int] = {}
        for position, attribute in enumerate(self.attributes):
            if attribute.name in index:
                raise DomainError(f"duplicate column {attribute.name!r} in the domain")
            index[attribute.name] = position
        both = [name for name in self.left_out if name in index]
        if both:
            raise DomainError(f"column {both[0]!r} is declared and left out as well; choose one")
        object.__setattr__(self, "_index", index)

    def __repr__(self) -> str:
        return f"Domain({preview(self.names, 4)})"

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
            listed = ", ".join(self.names[:MOST_SHOWN])
            if len(self) > MOST_SHOWN:
                listed += f", ... ({len(self)} in all)"
            raise DomainError(
                f"unknown column {quote(name)}; this domain has {listed}"
                f"{suggest_name(name, self.names)}"
            ) from None

    def positions(self, names: Iterable[str]) -> tuple[int, ...]:
        """Positions of distinct columns, in the order given."""
        listed = tuple(names)
        if len(set(listed)) < len(listed):
            twice = next(name for name, count in Counter(listed).items() if count > 1)
            raise DomainError(f"column {twice!r} is named twice")
        return tuple(self.position(name) for name in listed)

    def project(self, names: Iterable[str]) -> Domain:
        return Domain(tuple(self.attributes[position] for position in self.positions(names)))

    def leave_out(self, names: Iterable[str]) -> Domain:
        """The domain without some columns, which are not read from a source."""
        out = [name for name in dict.fromkeys(names) if name not in self.left_out]
        kept = tuple(attribute for attribute in self if attribute.name not in out)
        return Domain(kept, (*self.left_out, *out)) if out else self

    def to_json(self) -> dict[str, Any]:
        described: dict[str, Any] = {"attributes": [each.to_json() for each in self.attributes]}
        if self.left_out:
            described["leave_out"] = list(self.left_out)
        return described

    @classmethod
    def from_json(cls, raw: object) -> Domain:
        if not isinstance(raw, dict) or not isinstance(raw.get("attributes"), list):
            raise DomainError('a domain file must be {"attributes": [{"name": ...}, ...]}')
        left_out = raw.get("leave_out", [])
        if not isinstance(left_out, list) or not all(isinstance(name, str) for name in left_out):
            raise DomainError("'leave_out' must be a list of names of columns")
        try:
            missing = Missing.from_json(raw["missing"]) if raw.get("missing") else None
        except RecodingError as error:
            raise DomainError(str(error)) from None
        attributes = tuple(Attribute.from_json(item, missing) for item in raw["attributes"])
        return cls(attributes, tuple(left_out))

    def canonical(self) -> str:
        """One text per domain, for hashing; how a source is read is no part of it."""
        described = {"attributes": [each._describe_values() for each in self.attributes]}
        return json.dumps(described, sort_keys=True, ensure_ascii=True)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def quote(text: str, most: int = 60) -> str:
    """Quote a text for a message, cut off where it is long."""
    return repr(text if len(text) <= most else f"{text[:most]}...")


def preview(texts: Sequence[str], most: int = 8) -> str:
    """The first few of many texts, for a message."""
    shown = ", ".join(quote(text) for text in texts[:most])
    return shown if len(texts) <= most else f"{shown}, ... ({len(texts)} in all)"
