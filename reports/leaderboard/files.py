"""The leaderboard as CSV with its data dictionary, as Parquet, and as one self-contained page.

Texts are returned as strings and files as bytes; the caller decides where to store them.
"""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from importlib import import_module

from reconbench.benchmarks.store.summary import Summary
from reconbench.missing_package import needed_by
from reconbench.reports.leaderboard.page import render_page
from reconbench.reports.leaderboard.table import Leaderboard


def leaderboard_csv(summaries: Sequence[Summary], suite: str = "") -> str:
    """One line per cell and attack, with the columns of ``DICTIONARY`` (without absent ceilings).

    Numbers are written in full; a text cell that a spreadsheet would run gets a leading ``'``.
    Lines end with CR LF (RFC 4180), so write the text without translating line ends.
    """
    return Leaderboard.from_summaries(summaries, suite).to_csv()


def leaderboard_columns(summaries: Sequence[Summary]) -> str:
    """The data dictionary of ``leaderboard_csv``: column, kind, meaning, direction."""
    return Leaderboard.from_summaries(summaries).describe_columns()


def leaderboard_parquet(summaries: Sequence[Summary], suite: str = "") -> bytes:
    """The same table as a Parquet file, its columns typed; needs the extra ``parquet``."""
    return format_parquet(Leaderboard.from_summaries(summaries, suite))


def format_parquet(leaderboard: Leaderboard) -> bytes:
    """A leaderboard as a Parquet file."""
    with needed_by("Parquet", "pyarrow", extra="parquet", instead="use the CSV"):
        arrow, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
    kinds = {
        "text": arrow.string(),
        "integer": arrow.int64(),
        "number": arrow.float64(),
        "boolean": arrow.bool_(),
    }
    schema = arrow.schema(
        [
            arrow.field(
                column.name,
                kinds[column.kind],
                metadata={"meaning": column.meaning, "direction": str(column.direction)},
            )
            for column in leaderboard.columns.values()
        ]
    )
    columns = {name: [row[name] for row in leaderboard.rows] for name in leaderboard.columns}
    out = io.BytesIO()
    parquet.write_table(arrow.table(columns, schema=schema), out)
    return out.getvalue()


def leaderboard_html(
    summaries: Sequence[Summary],
    title: str,
    facts: Mapping[str, str],
    *,
    suite: str = "",
    stale: int = 0,
) -> str:
    """A page that opens offline; ``facts`` says how the results were made, by name.

    ``stale`` is how many stored rows were left out because other code made them.
    """
    return render_page(Leaderboard.from_summaries(summaries, suite), title, facts, stale)
