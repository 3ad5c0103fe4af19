"""A figure: it shows itself in a notebook, and is saved as SVG, PNG or PDF."""

from __future__ import annotations

import os
from dataclasses import dataclass, field

from reconbench.front.arguments import read_path, refuse

FORMATS = "a path that ends in .svg, .png or .pdf"


@dataclass(frozen=True)
class Figure:
    """A drawing as SVG text, which notebooks show.

    Args:
        title: What it shows.
        svg: The drawing.

    Example:
        >>> import reconbench as rb
        >>> figure = rb.risk(0.1, epsilon=1).plot()
        >>> figure
        Figure('Success on one target, (1, 1e-05)-DP, replace-one')
        >>> figure.svg.startswith("<svg")
        True
    """

    title: str
    svg: str = field(repr=False)

    def __repr__(self) -> str:
        return f"Figure({self.title!r})"

    def _repr_svg_(self) -> str:
        return self.svg

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the figure to a file that ends in .svg, .png or .pdf.

        PNG and PDF need the extra ``figures``: ``pip install 'reconbench[figures]'``.
        """
        from reconbench.datasets.atomic_files import write_atomic
        from reconbench.reports.figures.export import Format, convert_svg

        to = read_path("path", path)
        ending = to.suffix.lower().removeprefix(".")
        if ending not in list(Format):
            raise refuse("path", os.fspath(path), FORMATS)
        if not to.parent.is_dir():
            raise refuse("path", os.fspath(path), "in a folder that exists")
        write_atomic(to, convert_svg(self.svg, Format(ending)))
