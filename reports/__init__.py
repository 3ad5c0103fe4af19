"""Leaderboards and figures, from summaries of stored results only."""

if __name__ != "reconbench.reports":
    raise ImportError("import this package as reconbench.reports, not as reports")

from reconbench.reports.board import DICTIONARY, Board
from reconbench.reports.columns import COLUMNS, ReportError
from reconbench.reports.curves import curves_svg
from reconbench.reports.leaderboard import (
    leaderboard_columns,
    leaderboard_csv,
    leaderboard_html,
    leaderboard_parquet,
)

__all__ = [
    "COLUMNS",
    "DICTIONARY",
    "Board",
    "ReportError",
    "curves_svg",
    "leaderboard_columns",
    "leaderboard_csv",
    "leaderboard_html",
    "leaderboard_parquet",
]
