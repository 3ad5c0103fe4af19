"""Errors of foreign code, put into words."""

from __future__ import annotations


def describe_error(error: BaseException) -> str:
    """An error in one short line, whatever its text; a ValueError's without its type."""
    kind = "" if isinstance(error, ValueError) else f"{type(error).__name__}: "
    return kind + " ".join(str(error).split())[:500]
