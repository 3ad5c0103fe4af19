"""The templates of pages and figures, where every value that is filled in stays text."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template

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
        loader=FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=True,
        finalize=_printable,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _printable(value: object) -> object:
    return value.translate(_REPLACED) if isinstance(value, str) else value
