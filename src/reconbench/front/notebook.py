"""How results show themselves in a notebook: sentences, a figure and short tables."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

# The most lines of a table.
MOST_LINES = 12


def render_html(sentences: Sequence[str], svg: str, tables: Sequence[pd.DataFrame]) -> str:
    """A result as a piece of a page; the figure is our own, all else is escaped."""
    listed = "".join(f"<li>{escape(sentence)}</li>" for sentence in sentences)
    drawn = [table.to_html(max_rows=MOST_LINES, index=False, na_rep="") for table in tables]
    return "\n".join([f"<ul>{listed}</ul>", svg, *map(str, drawn)])
