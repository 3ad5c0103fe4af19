"""Plugins that a caller hands over as objects: they exist in this process only, under a name.

A spec ``here:NAME`` finds such an object while it is held. Games with one are played in this
process. The code behind an object cannot be known whole, so its rows are never taken for those of
another call: each holding has a token of its own, which stands for the code.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

PREFIX = "here:"


@dataclass(frozen=True)
class Held:
    """A class, a function without arguments, or for attacks also an object that is built."""

    kind: str
    entry: Any
    token: str = field(default_factory=lambda: uuid.uuid4().hex)


_held: dict[str, Held] = {}


@contextmanager
def holding(entries: Mapping[str, Held]) -> Iterator[None]:
    """Let specs find these objects, by their names, until the end of the block."""
    before = dict(_held)
    _held.update(entries)
    try:
        yield
    finally:
        _held.clear()
        _held.update(before)


def is_held(spec: str) -> bool:
    """Whether a spec is about an object of a caller."""
    return spec.startswith(PREFIX)


def find_held(kind: str, spec: str) -> Held | None:
    """The object of a spec, if it is held and of this kind."""
    held = _held.get(spec)
    return held if held is not None and held.kind == kind else None
