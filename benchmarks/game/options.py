"""The options of a mechanism as an axis of games: plain values with one spelling each."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from math import isfinite
from typing import Any

Option = bool | int | float | str


class OptionsError(ValueError):
    """Options that cannot be an axis."""


class Options(Mapping[str, Option]):
    """An immutable mapping of options, equal and hashed by its one JSON text.

    So 1, 1.0 and true are three different values. Built from a mapping or from a JSON object.
    """

    __slots__ = ("_values", "text")

    def __init__(self, values: Mapping[str, object] | str = "{}") -> None:
        self._values = _check(_parse(values) if isinstance(values, str) else values)
        self.text = json.dumps(self._values, sort_keys=True)

    def __getitem__(self, name: str) -> Option:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Options) and self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)

    def __repr__(self) -> str:
        return f"Options({self.text})"

    def __str__(self) -> str:
        """Options as ``name=value`` pairs."""
        return " ".join(f"{name}={value}" for name, value in self.items())

    def without(self, *names: str) -> Options:
        """The other options."""
        return Options({name: value for name, value in self.items() if name not in names})

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> Any:
        from pydantic_core import core_schema

        return core_schema.no_info_plain_validator_function(cls._validate)

    @classmethod
    def _validate(cls, value: Any) -> Options:
        if isinstance(value, Options):
            return value
        if not isinstance(value, Mapping | str):
            raise OptionsError(f"options must be a JSON object, got {value!r}")
        return cls(value)


def _parse(text: str) -> dict[str, object]:
    try:
        values = json.loads(text)
    except ValueError:
        values = None
    if not isinstance(values, dict):
        raise OptionsError(
            f'mechanism_options must be a JSON object such as {{"workload": "all"}}, got {text!r}'
        )
    return values


def _check(values: Mapping[str, object]) -> dict[str, Option]:
    checked: dict[str, Option] = {}
    for name, value in values.items():
        if not isinstance(name, str) or not name.isidentifier():
            raise OptionsError(f"a mechanism option must be named by an identifier, got {name!r}")
        if not isinstance(value, Option) or (isinstance(value, float) and not isfinite(value)):
            raise OptionsError(
                f"mechanism option {name!r} must be a text, a finite number, true or false, "
                f"got {value!r}"
            )
        checked[name] = value
    return checked
