"""Checks of whole numbers given by users."""

from __future__ import annotations


def positive_integer(name: str, value: int) -> int:
    """`value` as an int of at least 1."""
    try:
        number = int(value)
        whole = number == value
    except (TypeError, ValueError, OverflowError):
        whole = False
    if not whole or number < 1:
        raise ValueError(f"{name} must be an integer >= 1, got {value!r}")
    return number
