"""Render the templates of docs/generate/templates, with numbers turned into words."""

from __future__ import annotations

from functools import cache
from math import isnan
from pathlib import Path
from statistics import fmean, stdev

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from reconbench.reports.text.number_format import (
    budget,
    listed,
    name,
    number,
    p_value,
    percent,
    signed,
)
from reconbench.reports.text.templates import printable


def render(template: str, **values: object) -> str:
    """Fill in a template. Only SVG is escaped: pass names in Markdown through ``name``."""
    return _environment().get_template(template).render(values)


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=lambda template: template is not None and template.endswith(".svg.j2"),
        finalize=lambda value: printable(value) if type(value) is str else value,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    filters = (budget, count, listed, name, number, p_is, p_value, percent, signed, with_error)
    environment.filters |= {each.__name__: each for each in filters}
    environment.filters |= {"fmt": format, "mean": fmean, "stdev": stdev}
    return environment


def count(part: int, total: int, noun: str) -> str:
    """``none of the 3 cells``, ``1 of the 3 cells``, ``all 3 cells``; ``noun`` in the plural."""
    if total == 0:
        return f"none ({noun}: 0)"
    if total == 1:
        return f"{'the only' if part else 'none of the 1'} {noun.removesuffix('s')}"
    if part == 0:
        return f"none of the {total:,} {noun}"
    return f"all {total:,} {noun}" if part == total else f"{part:,} of the {total:,} {noun}"


def with_error(value: float, error: float | None, digits: int = 1) -> str:
    """``4.2 ± 0.31``, or ``4.2`` without an error."""
    shown = number(value, digits)
    return shown if error is None or isnan(error) else f"{shown} ± {error:.2f}"


def p_is(p: float) -> str:
    """``p = 0.50`` with blanks at which no line breaks."""
    return (f"p {p_value(p)}" if p < 1e-4 else f"p = {p_value(p)}").replace(" ", "\u00a0")
