"""The options of a mechanism as an axis of games: plain values, written in one way only."""

from __future__ import annotations

import json
from collections.abc import Mapping
from math import isfinite

Option = bool | int | float | str

NONE = "{}"


class OptionsError(ValueError):
    """Options that cannot be an axis."""


def encode(options: Mapping[str, object]) -> str:
    """Options as JSON: equal ones, and only these, give equal texts (1, 1.0 and true differ)."""
    for name, value in options.items():
        if not isinstance(name, str) or not name.isidentifier():
            raise OptionsError(f"an option of a mechanism needs a plain name, got {name!r}")
        if not isinstance(value, Option) or (isinstance(value, float) and not isfinite(value)):
            raise OptionsError(
                f"option {name!r} of a mechanism must be a text, a finite number, true or false, "
                f"got {value!r}"
            )
    return json.dumps(dict(options), sort_keys=True)


def decode(text: str) -> dict[str, Option]:
    """The inverse of ``encode``; any other way to write a JSON object will do as well."""
    try:
        found = json.loads(text)
    except (TypeError, ValueError):
        found = None
    if not isinstance(found, dict):
        raise OptionsError(
            f'mechanism_options must be a JSON object such as {{"workload": "all"}}, got {text!r}'
        )
    return found


def normalise(text: str) -> str:
    """The one way to write the options that a text holds."""
    return encode(decode(text))


def describe(options: Mapping[str, object]) -> str:
    """Options in a sentence."""
    return ", ".join(f"{name} = {value!r}" for name, value in options.items())
