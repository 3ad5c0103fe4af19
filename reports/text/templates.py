"""The templates of pages and reports, where every value that is filled in stays text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template
from markupsafe import Markup

from reconbench.reports.text import number_format

_REPLACED = dict.fromkeys(
    (
        # Characters that change the direction of text, also of what follows a name.
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
_NUMBERS = (
    number_format.brief,
    number_format.budget,
    number_format.listed,
    number_format.number,
    number_format.p_value,
    number_format.signed,
)


def printable(text: str) -> str:
    """Replace characters that would reorder the text after them or that a page cannot hold."""
    return text.translate(_REPLACED)


@cache
def template(name: str) -> Template:
    """A template in which values are escaped for HTML."""
    return _environment(markdown=False).get_template(name)


@cache
def markdown_template(name: str) -> Template:
    """A template in which values are escaped for Markdown.

    It has functions of ``number_format``, and ``header(names, left)`` and ``row(cells, bold)``
    for tables.
    """
    return _environment(markdown=True).get_template(name)


@cache
def _environment(*, markdown: bool) -> Environment:
    found = Environment(
        loader=FileSystemLoader(Path(__file__).parents[1] / "templates"),
        autoescape=True,
        finalize=_escape_markdown if markdown else _clean_html,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    if markdown:
        found.globals |= {
            "header": _header,
            "row": _row,
            **{each.__name__: each for each in _NUMBERS},
        }
    return found


def _clean_html(value: object) -> object:
    # Markup is our own, and a script must stay as it was hashed.
    return printable(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _escape_markdown(value: object) -> object:
    if isinstance(value, str) and not isinstance(value, Markup):
        return Markup(number_format.name(printable(value)))
    return value


def _header(names: Sequence[str], left: int = 1) -> Markup:
    """The header of a Markdown table whose first ``left`` columns are words."""
    rule = ["---"] * left + ["---:"] * (len(names) - left)
    return Markup("{}\n| {} |").format(_row(names), " | ".join(rule))


def _row(cells: Iterable[object], bold: bool = False) -> Markup:
    texts = [f"{_escape_markdown(cell)}" for cell in cells]
    return Markup(f"| {' | '.join(f'**{t}**' if bold and t else t for t in texts)} |")
