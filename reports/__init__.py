"""Leaderboards and figures, from summaries of stored results only."""

if __name__ != "reconbench.reports":
    raise ImportError("import this package as reconbench.reports, not as reports")

from reconbench.reports.figures.bound_curves import curves_svg
from reconbench.reports.figures.labelled_lines import lines_svg
from reconbench.reports.leaderboard.columns.dictionary import DICTIONARY, ReportError
from reconbench.reports.leaderboard.files import (
    leaderboard_columns,
    leaderboard_csv,
    leaderboard_html,
    leaderboard_parquet,
)
from reconbench.reports.leaderboard.table import Leaderboard

__all__ = [
    "DICTIONARY",
    "Leaderboard",
    "ReportError",
    "curves_svg",
    "leaderboard_columns",
    "leaderboard_csv",
    "leaderboard_html",
    "leaderboard_parquet",
    "lines_svg",
]
