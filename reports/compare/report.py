"""A comparison of two result stores as a page, as Markdown and as CSV."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, fields
from itertools import takewhile

from reconbench.reports.compare.compare import Change, Comparison, Verdict
from reconbench.reports.leaderboard.table import format_csv
from reconbench.reports.text.document import list_first_items, render_markdown, render_page
from reconbench.reports.text.number_format import brief, number, p_value, signed

_LONGEST = 160
_MOST_ROWS = 50
HEADER = (
    "attack",
    "game",
    "pairs",
    "before",
    "after",
    "change",
    "95 % CI",
    "p (Holm)",
    "verdict",
    "time",
)
_ORDER = (Verdict.WORSE, Verdict.BETTER, Verdict.NOISE, Verdict.SAME)


def format_change(change: Change, shared: str = "") -> tuple[str, ...]:
    """A change as the texts of ``HEADER``; its game without the ``shared`` ending."""
    low, high, ratio = change.low, change.high, change.seconds_ratio
    return (
        brief(change.attack, _LONGEST),
        brief(change.game.removesuffix(shared), _LONGEST),
        f"{change.games}",
        number(change.before),
        number(change.after),
        signed(change.difference),
        "–" if low is None or high is None else f"{signed(low)} to {signed(high)}",
        p_value(change.adjusted),
        change.verdict.value,
        "–" if ratio is None else f"{ratio:.2g} ×",
    )


def find_shared_ending(comparison: Comparison) -> str:
    """What the descriptions of all games end with, such as their k, n and metric."""
    games = [game.split(", ") for game in {change.game for change in comparison.cells}]
    if len(games) < 2:
        return ""
    alike = takewhile(lambda parts: len(set(parts)) == 1, zip(*map(reversed, games), strict=False))
    return "".join(f", {parts[0]}" for parts in reversed(list(alike)))


def sort_changes(changes: Sequence[Change]) -> list[Change]:
    """Worse first, then better, then the rest; the largest change first."""
    return sorted(changes, key=lambda c: (_ORDER.index(c.verdict), -abs(c.difference)))


def summarise_comparison(comparison: Comparison) -> list[str]:
    """The comparison in a few sentences."""
    return list_first_items(compare_markdown(comparison, "", ""))


def compare_html(comparison: Comparison, before: str, after: str) -> str:
    return render_page("compare.md", _values(comparison, before, after))


def compare_markdown(comparison: Comparison, before: str, after: str) -> str:
    return render_markdown("compare.md", _values(comparison, before, after))


def compare_csv(comparison: Comparison) -> str:
    """One line per cell, then one per attack."""
    rows = [list(astuple(each)) for each in (*comparison.cells, *comparison.overall)]
    texts = [[str(v) if isinstance(v, Verdict) else v for v in row] for row in rows]
    return format_csv([[field.name for field in fields(Change)], *texts])


def _values(comparison: Comparison, before: str, after: str) -> dict[str, object]:
    shared = find_shared_ending(comparison)
    counts = [
        f"{sum(change.verdict is verdict for change in comparison.cells)} {verdict.value}"
        for verdict in (Verdict.BETTER, Verdict.WORSE, Verdict.NOISE, Verdict.SAME)
    ]
    failures = {
        "Failures that appeared": comparison.appeared,
        "Failures that vanished": comparison.vanished,
    }
    return {
        "before": before,
        "after": after,
        "comparison": comparison,
        "counts": ", ".join(counts),
        "columns": HEADER,
        "longest": _LONGEST,
        "most_rows": _MOST_ROWS,
        "shared": shared.removeprefix(", "),
        "overall": [format_change(each) for each in sort_changes(comparison.overall)],
        "cells": [format_change(each, shared) for each in sort_changes(comparison.cells)],
        "lists": {
            title: [f"{each.row}: {each.error}" for each in found]
            for title, found in failures.items()
        }
        | {
            "Rows only before": comparison.only_before,
            "Rows only after": comparison.only_after,
        },
    }
