"""Format numbers, names and lists for reports."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from math import isinf, isnan

_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def name(text: str) -> str:
    """A name as plain text in Markdown, also within a table."""
    safe = escape(" ".join(text.split()), quote=False)
    for sign in "\\`*_[]|":
        safe = safe.replace(sign, f"&#{ord(sign)};")
    return safe


def brief(text: str, longest: int = 60) -> str:
    """A text, cut where it is longer than ``longest`` characters."""
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


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


def scientific(value: float, digits: int = 3) -> str:
    """A number with so many digits, with a power of ten where it is very small or large."""
    if isinf(value) or isnan(value):
        return budget(value).replace("-", "−")
    if value == 0 or 1e-3 <= abs(value) < 1e6:
        return f"{value:.{digits}g}".replace("-", "−")
    factor, _, power = f"{value:.{digits - 1}e}".partition("e")
    tens = f"10{str(int(power)).translate(_SUPERSCRIPTS)}"
    short = f"{float(factor):g}".replace("-", "−")
    return {"1": tens, "−1": f"−{tens}"}.get(short, f"{short}·{tens}")


def signed(value: float, digits: int = 1) -> str:
    text = number(value, digits)
    return text if float(f"{value:.{digits}f}") <= 0 else f"+{text}"


def percent(part: float, whole: float) -> str:
    return f"{number(100 * part / whole, 0)} %" if whole else "–"


def p_value(p: float) -> str:
    return "< 0.0001" if p < 1e-4 else f"{p:.4f}" if p < 0.01 else f"{p:.2f}"


def budget(epsilon: float) -> str:
    return "∞" if isinf(epsilon) else f"{epsilon:g}"
