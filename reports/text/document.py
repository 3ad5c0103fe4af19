"""Reports that are read as Markdown and as a page: one Markdown template makes both.

The page is the Markdown turned into HTML, a card per section, with figures in their sections.
Everything that is filled into a template is escaped, so a name can be neither markup nor a link.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import unescape
from textwrap import fill

from markdown_it import MarkdownIt
from markupsafe import Markup

from reconbench.reports.text.templates import markdown_template, template

# Headings, lists, tables and emphasis are all that a report uses: no links, no HTML.
_MARKDOWN = MarkdownIt("zero").enable(["heading", "list", "table", "emphasis", "entity"])
_SCROLL = '<div class="scroll" role="region" aria-label="table" tabindex="0"><table>'
_ITEM = re.compile(r"(?:- |\d+\. )")
_UNWRAPPED = 10**9


@dataclass(frozen=True)
class Figure:
    """A section of the page that the Markdown has not: what ``svg`` shows, in words and drawn."""

    title: str
    caption: str
    svg: str


def render_markdown(name: str, values: Mapping[str, object]) -> str:
    """Fill a Markdown template, in lines of at most 100 characters; tables are not wrapped."""
    return _reflow(markdown_template(name).render(figures=(), **values), 100)


def render_page(name: str, values: Mapping[str, object], figures: Sequence[Figure] = ()) -> str:
    """Fill a Markdown template and make it a page that opens offline.

    The template has a heading for every one of ``figures``.
    """
    text = _reflow(markdown_template(name).render(figures=figures, **values), _UNWRAPPED)
    heading, *sections = re.split(r"^## ", text, flags=re.MULTILINE)
    title, _, lead = heading.removeprefix("# ").partition("\n")
    drawn = {figure.title: figure.svg for figure in figures}
    return template("document.html").render(
        title=unescape(title),
        lead=_html(lead),
        sections=[_section(section, drawn) for section in sections],
    )


def list_first_items(text: str) -> list[str]:
    """The items of the first list of a Markdown report, as plain text: its summary."""
    found: list[str] = []
    for line in _reflow(text, _UNWRAPPED).splitlines():
        if _ITEM.match(line):
            found.append(unescape(_ITEM.sub("", line, count=1)))
        elif found:
            break
    return found


def _section(text: str, drawn: dict[str, str]) -> Markup:
    """A section; what follows a heading of the third level within it is folded away."""
    shown, *folded = re.split(r"^### ", text, flags=re.MULTILINE)
    svg = drawn.get(unescape(text.partition("\n")[0]))
    parts = [_html(f"## {shown}")]
    if svg is not None:
        # Drawn by reports.figures.svg, which escapes all text.
        parts.append(Markup(f'<div class="scroll figure" tabindex="0">{svg}</div>'))
    for part in folded:
        summary, _, body = part.partition("\n")
        opened = Markup("<details><summary>{}</summary>").format(unescape(summary))
        parts += [opened, _html(body), Markup("</details>")]
    return Markup("").join(parts)


def _html(text: str) -> Markup:
    rendered = str(_MARKDOWN.render(text))
    return Markup(rendered.replace("<table>", _SCROLL).replace("</table>", "</table></div>"))


def _reflow(text: str, width: int) -> str:
    """Join the lines of every paragraph and list item, then wrap them."""
    blocks: list[str] = []
    for block in re.split(r"\n\s*\n", text.strip()):
        lines: list[str] = []
        for line in map(str.strip, block.strip().splitlines()):
            starts = not lines or line[0] in "|#" or _ITEM.match(line)
            lines = [*lines, line] if starts else [*lines[:-1], f"{lines[-1]} {line}"]
        blocks.append("\n".join(_wrap(line, width) for line in lines))
    return "\n\n".join(blocks) + "\n"


def _wrap(line: str, width: int) -> str:
    if line[0] in "|#":
        return line
    marker = _ITEM.match(line)
    indent = " " * len(marker[0]) if marker else ""
    return fill(
        line, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )
