"""Leaderboards and figures, from summaries of stored results only."""

if __name__ != "reconbench.reports":
    raise ImportError("import this package as reconbench.reports, not as reports")

from reconbench.reports.columns import COLUMNS, ReportError
from reconbench.reports.curves import curves_svg
from reconbench.reports.leaderboard import leaderboard_csv, leaderboard_html

__all__ = ["COLUMNS", "ReportError", "curves_svg", "leaderboard_csv", "leaderboard_html"]
