"""What `ceiling`, `risk`, `calibrate` and `audit` return: a table, sentences and a figure."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reconbench.front.arguments import checked, read_path
from reconbench.front.figure import Figure
from reconbench.front.frames import make_frame
from reconbench.front.notebook import render_html

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, repr=False)
class Answer:
    """Numbers that follow from a guarantee or from counts, without any game.

    Args:
        kind: What was asked: ``ceiling``, ``risk``, ``calibration`` or ``audit``.
        document: All numbers, as the command prints them with ``--json``.
        lines: The lines of the table.
        sentences: The same in words.
        draw: Draws the figure.

    Example:
        >>> import reconbench as rb
        >>> answer = rb.ceiling(0.56, n=100, epsilon=1)
        >>> answer
        <ceiling: 2 sentences, a table of 17 lines>
        >>> answer.frame.columns.tolist()
        ['bound', 'confidence', 'ceiling', 'reference']
        >>> answer.document["bounds"]["thm35"]["ceilings"]["0.95"]
        84
    """

    kind: str
    document: Mapping[str, Any]
    lines: Sequence[Mapping[str, Any]]
    sentences: Sequence[str]
    draw: Callable[[], Figure] = field(compare=False)

    def __repr__(self) -> str:
        sentences, lines = len(self.sentences), len(self.lines)
        return f"<{self.kind}: {sentences} sentences, a table of {lines} lines>"

    @cached_property
    def frame(self) -> pd.DataFrame:
        """The numbers, one line for every value."""
        return make_frame(list(self.lines))

    def summary(self) -> str:
        """The answer in sentences."""
        return "\n".join(self.sentences)

    def plot(self) -> Figure:
        """The answer as a figure."""
        return self._figure

    @cached_property
    def _figure(self) -> Figure:
        return self.draw()

    @checked
    def save(self, folder: str | os.PathLike[str]) -> Path:
        """Write all numbers (JSON), the table (CSV) and the figure (SVG) into a folder.

        Returns the folder, which is made if there is none.
        """
        from reconbench.datasets.atomic_files import write_atomic
        from reconbench.reports.leaderboard.table import format_csv

        to = read_path("folder", folder)
        to.mkdir(parents=True, exist_ok=True)
        header = list(dict.fromkeys(name for line in self.lines for name in line))
        cells: list[list[Any]] = [header]
        cells += [[line.get(name) for name in header] for line in self.lines]
        text = json.dumps(self.document, ensure_ascii=False, indent=1) + "\n"
        write_atomic(to / f"{self.kind}.json", text)
        write_atomic(to / f"{self.kind}.csv", format_csv(cells))
        write_atomic(to / f"{self.kind}.svg", self.plot().svg)
        return to

    def _repr_html_(self) -> str:
        return render_html(self.sentences, self.plot().svg, [self.frame])
