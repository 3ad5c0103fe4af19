"""The axes of games in the forms that people write them, as a block of a suite has them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from reconbench.benchmarks.suites.axis_values import read_axis
from reconbench.benchmarks.suites.column_choices import is_word, parse_range
from reconbench.front.arguments import (
    list_values,
    read_choice,
    read_names,
    read_numbers,
    read_wholes,
    refuse,
)
from reconbench.front.games.handover import Handover, read_metrics

TARGETS = (
    "a column, several hidden at once as 'A,B' or ('A', 'B'), a list of these for a game each, "
    "or 'each', 'top-entropy:N', 'visit:A-B'"
)
KNOWN = "names of columns, such as 'A', ['A', 'B'] or 'A,B', or 'last:N'"
ADVERSARIES = ("realistic", "informed")
ACCESSES = ("table", "measurements")


def read_targets(name: str, value: object) -> str | list[list[str]]:
    """A word that stands for columns, or one set of columns per game.

    In a list every entry is a game, as in a suite; a tuple, or a text with commas, is one game in
    which all these columns are hidden at once.
    """
    if isinstance(value, str) and is_word(value):
        return value
    several = isinstance(value, list) or getattr(value, "ndim", 0) == 1
    entries: list[Any] = list(value) if several else [value]  # type: ignore[call-overload]
    if not entries or not all(isinstance(entry, str | tuple | list) for entry in entries):
        raise refuse(name, value, TARGETS)
    return [list(read_names(name, entry)) for entry in entries]


def read_known(name: str, value: object) -> str | list[str]:
    """``last:N``, or names of columns; none for all that are no targets."""
    if value is None or (isinstance(value, str | list | tuple | set) and not value):
        return []
    if isinstance(value, str) and parse_range(value, "last") is not None:
        return value
    if not isinstance(value, str | list | tuple | set) and getattr(value, "ndim", 0) != 1:
        raise refuse(name, value, KNOWN)
    return list(read_names(name, value))


def _read_choices(allowed: tuple[str, ...]) -> Callable[[str, object], list[str]]:
    def read(name: str, value: object) -> list[str]:
        words = f"{' or '.join(allowed)}, or several"
        return [read_choice(name, item, allowed) for item in list_values(name, value, words)]

    return read


_READERS: Mapping[str, Callable[[str, Any], Any]] = {
    "targets": read_targets,
    "known": read_known,
    "epsilon": lambda name, value: read_numbers(name, value, above=0),
    "delta": lambda name, value: read_numbers(name, value, least=0, below=1),
    "n": lambda name, value: read_wholes(name, value, 1),
    "k": lambda name, value: read_wholes(name, value, 1),
    "metric": lambda name, value: read_metrics(value),
    "adversary": _read_choices(ADVERSARIES),
    "attacker_prior": lambda name, value: list(read_names(name, value, "name")),
    "advantage": read_wholes,
    "target_records": read_wholes,
    "access": _read_choices(ACCESSES),
    "held_out": read_wholes,
}


def read_axes(given: Mapping[str, Any], handed: Handover) -> dict[str, Any]:
    """The values of axes, as a block of a suite has them; what is None is left out."""
    values: dict[str, Any] = {}
    for name, value in given.items():
        if value is None:
            continue
        if name == "dataset":
            values[name] = handed.read_datasets(value)
        elif name == "mechanism":
            values[name] = handed.read_mechanisms(value)
        else:
            values[name] = read_axis(name, _READERS[name](name, value))
    return values
