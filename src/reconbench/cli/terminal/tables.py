"""Tables and lists on the terminal, in which no text is read as markup or as a control code."""

from __future__ import annotations

import os
import sys
from collections.abc import Collection, Mapping, Sequence
from typing import Literal

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

# The width of a table that is written to a file or a pipe.
UNBOUNDED = 1_000


def make_printable(text: object) -> str:
    """A text with control characters, which would steer the terminal, replaced by �."""
    unknown = "\N{REPLACEMENT CHARACTER}"
    return "".join(sign if sign.isprintable() else unknown for sign in str(text))


def print_pairs(pairs: Mapping[str, str]) -> None:
    """Print names with their descriptions; in a file or a pipe, one line each."""
    grid = Table.grid(padding=(0, 2))
    for name, text in pairs.items():
        grid.add_row(Text(name, style="bold"), Text(text))
    _open_console().print(grid)


def _open_console() -> Console:
    """As wide as the terminal; in a file or a pipe as wide as needed, unless COLUMNS is set."""
    narrow = sys.stdout.isatty() or "COLUMNS" in os.environ
    return Console(width=None if narrow else UNBOUNDED)


def print_table(
    title: str,
    header: Sequence[str],
    rows: Sequence[Sequence[object]],
    texts_in: Collection[str] = (),
) -> None:
    """Print a table; in a file or a pipe it is as wide as it needs to be, unless COLUMNS is set.

    The first column and those of ``texts_in`` are flush left, others, which hold numbers or short
    words, flush right.
    """
    console = _open_console()
    table = Table(
        title=Text(make_printable(title)),
        title_justify="left",
        box=box.SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
    )
    texts = [[make_printable(cell) for cell in row] for row in rows]
    columns = [[name, *(row[index] for row in texts)] for index, name in enumerate(header)]
    widths = _fit_widths(columns, console.width - 2 * len(columns) - 1)
    for index, name in enumerate(header):
        side: Literal["left", "right"] = "left" if index == 0 or name in texts_in else "right"
        table.add_column(
            Text(name), justify=side, overflow="fold", width=widths[index] if widths else None
        )
    for row in texts:
        table.add_row(*map(Text, row))
    console.print(table)


def _fit_widths(columns: Sequence[Sequence[str]], room: int) -> list[int]:
    """Widths at which columns wrap between words; none if they need not wrap, or cannot."""
    wanted = [max(map(len, (*texts, "-"))) for texts in columns]
    widths = [
        max(len(word) for text in (*texts, "-") for word in text.split()) for texts in columns
    ]
    spare = room - sum(widths)
    if sum(wanted) <= room or spare < 0:
        return []
    for index in sorted(range(len(columns)), key=lambda i: wanted[i] - widths[i]):
        more = min(spare, wanted[index] - widths[index])
        widths[index] += more
        spare -= more
    return widths
