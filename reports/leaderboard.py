"""The leaderboard as a CSV file and as one self-contained HTML page.

Both come back as strings: whoever calls decides where they are stored.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from reconbench.benchmarks.summary import Summary
from reconbench.reports.columns import COLUMNS, TEXT, Value, present, shown, values
from reconbench.reports.figures import figures
from reconbench.reports.pages import template
from reconbench.reports.ranking import ordered, ranks

# A spreadsheet runs a cell that starts with one of these, also after blanks.
_FORMULA = ("=", "+", "-", "@")
_BREAKS = ("\t", "\r", "\n")
# The table begins with these, and shows them even when they are the same in every row.
_FIRST = (
    "dataset",
    "targets",
    "epsilon",
    "rank",
    "attack",
    "success",
    "baseline_expected",
    "best_possible",
    "best_possible_converged",
    "ceiling_prior-exact",
    "ceiling_fdp-recursion_0.95",
    "ceiling_profile_0.95",
    "ceiling_thm35_0.95",
    "error",
)


@dataclass(frozen=True)
class Cell:
    """A table cell: what to sort by, and what to show."""

    name: str
    key: str
    text: str


def leaderboard_csv(summaries: Sequence[Summary]) -> str:
    """One line an attack and game, with the columns of ``COLUMNS`` (without absent ceilings).

    Numbers are written in full; a text cell that a spreadsheet would run gets a leading ``'``.
    Lines end with CR LF (RFC 4180), so write the text without translating line ends.
    """
    names = present(summaries)
    out = io.StringIO(newline="")
    writer = csv.writer(out)
    writer.writerow(names)
    for row in _rows(summaries):
        writer.writerow([_safe(row[name]) if name in TEXT else row[name] for name in names])
    return out.getvalue()


def leaderboard_html(summaries: Sequence[Summary], title: str, facts: Mapping[str, str]) -> str:
    """A page that opens offline; ``facts`` says how the results came about, by name."""
    names = present(summaries)
    rows = _rows(summaries)
    order = sorted(names, key=lambda name: (name not in _FIRST, (*_FIRST, *names).index(name)))
    header = [name for name in order if _worth_a_column(name, [row[name] for row in rows])]
    return template("leaderboard.html").render(
        title=title,
        facts=facts,
        figures=figures(summaries),
        header=header,
        rows=[[_cell(name, row[name]) for name in header] for row in rows],
        constants=[
            _cell(name, row[name]) for row in rows[:1] for name in order if name not in header
        ],
        text_columns=TEXT,
        legend={name: COLUMNS[name] for name in names},
    )


def _rows(summaries: Sequence[Summary]) -> list[dict[str, Value]]:
    rows = ordered(summaries)
    return [values(row, rank) for row, rank in zip(rows, ranks(rows), strict=True)]


def _cell(name: str, value: Value) -> Cell:
    return Cell(name, "" if value is None else str(value), shown(name, value))


def _worth_a_column(name: str, found: Sequence[Value]) -> bool:
    different = set(found)
    return len(different) > 1 or (name in _FIRST and different != {None})


def _safe(value: Value) -> Value:
    if not isinstance(value, str):
        return value
    runs = value.startswith(_BREAKS) or value.lstrip().startswith(_FORMULA)
    return f"'{value}" if runs else value
