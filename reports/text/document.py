"""Documents that are read as a page and as Markdown: sections of paragraphs, points and tables."""

from __future__ import annotations

from dataclasses import dataclass

from reconbench.reports.text import number_format


@dataclass(frozen=True)
class Grid:
    """A table of texts; the first ``left`` columns are words. ``marked`` is a row to point at."""

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    caption: str = ""
    left: int = 1
    marked: int | None = None


@dataclass(frozen=True)
class Section:
    """Paragraphs, then points, then tables; ``more`` are tables for whoever wants all."""

    title: str
    paragraphs: tuple[str, ...] = ()
    points: tuple[str, ...] = ()
    grids: tuple[Grid, ...] = ()
    more: tuple[Grid, ...] = ()
    more_title: str = "All"


def markdown(section: Section) -> list[str]:
    """A section as lines; its texts must be safe for Markdown already."""
    lines = [f"## {section.title}", ""]
    for paragraph in section.paragraphs:
        lines += [number_format.prose(paragraph), ""]
    lines += [number_format.prose(f"- {point}", "  ") for point in section.points]
    for grid in section.grids:
        lines += [*_table(grid), ""]
    if section.more:
        lines += [f"### {section.more_title}", ""]
        for grid in section.more:
            lines += [*_table(grid), ""]
    return lines[:-1] if lines[-1] == "" else lines


def _table(grid: Grid) -> list[str]:
    rows = [
        [f"**{cell}**" if place == grid.marked and cell else cell for cell in row]
        for place, row in enumerate(grid.rows)
    ]
    caption = [f"{grid.caption}:", ""] if grid.caption else []
    return [*caption, *number_format.table(grid.header, rows, grid.left)]
