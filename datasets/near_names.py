"""The name that was most likely meant by one that does not exist."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

# Comparing letter by letter takes time in the square of the lengths.
MOST_NAMES = 5_000
MOST_LETTERS = 100


def find_near_name(text: str, names: Iterable[str]) -> str | None:
    """The name that differs least from a text; letter case, spaces and underscores hardly count."""
    listed = [name for name in names if name != text]
    simplified: dict[str, str] = {}
    for name in listed:
        simplified.setdefault(_simplify(name), name)
    wanted = _simplify(text)
    if wanted in simplified:
        return simplified[wanted]
    if len(listed) > MOST_NAMES or len(text) > MOST_LETTERS:
        return None
    close = get_close_matches(wanted, [name for name in simplified if len(name) <= MOST_LETTERS], 1)
    return simplified[close[0]] if close else None


def suggest_name(text: str, names: Iterable[str]) -> str:
    """The end of an error about an unknown name: ``; did you mean ...?``, or nothing."""
    near = find_near_name(text, names)
    return "" if near is None else f"; did you mean {near!r}?"


def _simplify(name: str) -> str:
    return "".join(sign for sign in name.casefold() if not sign.isspace() and sign not in "_-")
