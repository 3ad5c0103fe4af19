"""An extension of griffe: docstrings as the package writes them, in sections that griffe knows."""

from __future__ import annotations

import re
from typing import Any

import griffe

# Of classes that take nothing of their own.
NO_ARGUMENTS = re.compile(r"^Args:\n +(?:None\.|\*args: .*)\n\n?", re.MULTILINE)


class Sections(griffe.Extension):
    """Examples are code, and a section that says that there are no arguments is left out."""

    def on_object(self, *, obj: griffe.Object, **kwargs: Any) -> None:
        if obj.docstring is not None:
            obj.docstring.value = plain_sections(obj.docstring.value)


def plain_sections(text: str) -> str:
    """A docstring with the names of sections that the Google style has."""
    return re.sub(r"^Example:$", "Examples:", NO_ARGUMENTS.sub("", text), flags=re.MULTILINE)
