"""How deep a document from a stranger is nested."""

from __future__ import annotations


def measure_depth(raw: object) -> int:
    """Count the levels of dictionaries and lists, one by one: recursion would overflow."""
    depth, level = 0, [raw]
    while level := [
        item
        for value in level
        if isinstance(value, dict | list)
        for item in (value.values() if isinstance(value, dict) else value)
    ]:
        depth += 1
    return depth
