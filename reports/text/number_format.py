"""Format numbers, names and lists for reports, and tables and paragraphs for Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from math import isinf
from textwrap import fill


def name(text: str) -> str:
    """A name as plain text in Markdown, also within a table."""
    safe = escape(" ".join(text.split()), quote=False)
    for sign in "\\`*_[]|":
        safe = safe.replace(sign, f"&#{ord(sign)};")
    return safe


def prose(text: str, indent: str = "", width: int = 100) -> str:
    """A paragraph in lines of at most ``width`` characters."""
    return fill(
        text, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )


def brief(text: str, longest: int = 60) -> str:
    """A text, cut where it is longer than ``longest`` characters."""
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def table(header: Sequence[str], rows: Iterable[Sequence[str]], left: int = 1) -> list[str]:
    """Lines of a Markdown table whose first ``left`` columns are text, the others numbers."""
    rule = ["---"] * left + ["---:"] * (len(header) - left)
    return [f"| {' | '.join(row)} |" for row in (header, rule, *rows)]


def listed(items: Sequence[str]) -> str:
    """``a``, ``a and b``, ``a, b and c``."""
    if len(items) < 2:
        return "".join(items)
    return f"{', '.join(items[:-1])} and {items[-1]}"


def number(value: float | None, digits: int = 1) -> str:
    """A number without a negative zero; a dash for none."""
    if value is None:
        return "–"
    text = f"{value:.{digits}f}"
    return text.removeprefix("-") if float(text) == 0 else text.replace("-", "−")


def signed(value: float, digits: int = 1) -> str:
    text = number(value, digits)
    return text if float(f"{value:.{digits}f}") <= 0 else f"+{text}"


def p_value(p: float) -> str:
    return "< 0.0001" if p < 1e-4 else f"{p:.4f}" if p < 0.01 else f"{p:.2f}"


def budget(epsilon: float) -> str:
    return "∞" if isinf(epsilon) else f"{epsilon:g}"
