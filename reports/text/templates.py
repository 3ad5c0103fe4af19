"""The templates of pages and figures, where every value that is filled in stays text."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template
from markupsafe import Markup

_REPLACED = dict.fromkeys(
    (
        # Characters that turn the direction of text, and would turn what follows a name as well.
        *range(0x202A, 0x202F),
        *range(0x2066, 0x206A),
        # Characters that XML forbids or UTF-8 cannot write.
        *(code for code in range(0x20) if chr(code) not in "\t\n\r"),
        *range(0xD800, 0xE000),
        0xFFFE,
        0xFFFF,
    ),
    "\ufffd",
)


@cache
def template(name: str) -> Template:
    return _environment().get_template(name)


@cache
def _environment() -> Environment:
    return Environment(
        loader=FileSystemLoader(Path(__file__).parents[1] / "templates"),
        autoescape=True,
        finalize=_shown,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def printable(text: str) -> str:
    """Without what could turn the text after it, or what a page cannot hold."""
    return text.translate(_REPLACED)


def _shown(value: object) -> object:
    """Markup is our own, and a script must stay as it was hashed."""
    return printable(value) if isinstance(value, str) and not isinstance(value, Markup) else value
