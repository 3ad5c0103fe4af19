"""Series: lines with marks at their points, and labels at their ends in place of a legend.

A series is told apart by colour, dash, mark and label at once, so that it is also found in print
and with any colour vision.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from xml.etree.ElementTree import Element

from reconbench.reports.figures.roles import ATTACK_COLOURS, ATTACK_SHAPES
from reconbench.reports.figures.svg import DASHES, Frame
from reconbench.reports.text.number_format import brief
from reconbench.reports.text.templates import printable

# The room that a label takes: its longest text, a character, a line, and what stands before it.
LONGEST_LABEL, _CHARACTER, LABEL_LINE, _BEFORE = 30, 7.3, 16, 40
# A line has a mark at every point up to this many, and at some of its points beyond.
_MOST_MARKS = 14


@dataclass(frozen=True)
class Look:
    """The colour, the dash pattern and the outline of the marks of a series."""

    colour: str
    dash: str
    outline: str

    @classmethod
    def of(cls, index: int) -> Look:
        """The look of series ``index``: 40 have different ones, neighbours in all three."""
        outlines = tuple(ATTACK_SHAPES.values())
        return cls(
            ATTACK_COLOURS[index % len(ATTACK_COLOURS)],
            DASHES[index % len(DASHES)],
            outlines[index % len(outlines)],
        )


@dataclass(frozen=True)
class MarkedLine:
    """A line through points with a mark at each, or marks alone; ``label`` is shown on hover.

    Only with a name it is in the legend, too.
    """

    points: Sequence[tuple[float, float]]
    label: str
    look: Look
    name: str = ""
    joined: bool = True

    def style(self) -> dict[str, str]:
        return {"stroke": self.look.colour, "fill": self.look.colour}

    def shapes(self, frame: Frame) -> Iterator[Element]:
        if not self.name:
            yield _title(self.label)
        places = [frame.place(x, y) for x, y in self.points]
        if self.joined and len(places) > 1:
            text = " ".join(f"{x:g},{y:g}" for x, y in places)
            line = {"fill": "none", "stroke-width": "2", "stroke-dasharray": self.look.dash}
            yield Element("polyline", {"points": text, **line})
        every = -(-len(places) // _MOST_MARKS)
        for x, y in places[::every]:
            yield _mark(self.look, x, y)

    def sample(self) -> MarkedLine:
        return replace(
            self, points=((0, 0.5), (0.5, 0.5), (1, 0.5)) if self.joined else ((0.5, 0.5),)
        )


@dataclass(frozen=True)
class EndLabels:
    """The names of series beside a panel, each where its line ends and none on another."""

    ends: Sequence[tuple[float, float, str, Look]]
    name: str = ""

    @property
    def room(self) -> int:
        """Pixels that the labels need beside the panel."""
        longest = max((len(brief(text, LONGEST_LABEL)) for _, _, text, _ in self.ends), default=0)
        return _BEFORE + round(_CHARACTER * longest) if longest else 0

    @property
    def height(self) -> int:
        """Pixels that the labels need above one another."""
        return LABEL_LINE * len(self.ends)

    def style(self) -> dict[str, str]:
        return {"stroke-width": "1"}

    def shapes(self, frame: Frame) -> Iterator[Element]:
        places = [(*frame.place(x, y), text, look) for x, y, text, look in self.ends]
        places.sort(key=lambda place: place[1])
        top, bottom = frame.top, frame.top + frame.height
        lines = spread([y for _, y, _, _ in places], LABEL_LINE, top, bottom)
        right = frame.left + frame.width
        for (x, y, text, look), line in zip(places, lines, strict=True):
            course = f"M{x:g} {y:g}L{right + 10:g} {line:g}H{right + 14:g}"
            leader = {"stroke": look.colour, "fill": "none", "stroke-opacity": "0.55"}
            yield Element("path", {"d": course, **leader})
            yield _mark(look, right + 21, line)
            label = Element("text", x=f"{right + 30:g}", y=f"{line + 4.5:g}")
            label.text = printable(brief(text, LONGEST_LABEL))
            label.append(_title(text))
            yield label

    def sample(self) -> EndLabels:
        return replace(self, ends=())


@dataclass(frozen=True)
class Numbers:
    """The height of each point, written above it."""

    points: Sequence[tuple[float, float]]
    name: str = ""

    def style(self) -> dict[str, str]:
        return {"font-size": "11", "text-anchor": "middle"}

    def shapes(self, frame: Frame) -> Iterator[Element]:
        for point in self.points:
            x, y = frame.place(*point)
            label = Element("text", x=f"{x:g}", y=f"{y - 9:g}")
            label.text = f"{point[1]:.2f}"
            yield label

    def sample(self) -> Numbers:
        return replace(self, points=())


def spread(places: Sequence[float], gap: float, first: float, last: float) -> list[float]:
    """Move sorted places as little as order allows, so that all are at least a gap apart.

    They stay between ``first`` and ``last`` where there is room.
    """
    # Groups that touch share their mean place, as in isotonic regression.
    groups: list[tuple[float, int]] = []
    for index, place in enumerate(places):
        total, size = place - gap * index, 1
        while groups and groups[-1][0] / groups[-1][1] >= total / size:
            total, size = total + groups[-1][0], size + groups[-1][1]
            groups.pop()
        groups.append((total, size))
    shifts = [total / size for total, size in groups for _ in range(size)]
    highest = last - gap * (len(places) - 1)
    kept = [min(max(shift, first), max(first, highest)) for shift in shifts]
    return [shift + gap * index for index, shift in enumerate(kept)]


def _mark(look: Look, x: float, y: float) -> Element:
    place = {"transform": f"translate({x:g} {y:g})", "stroke": "none", "fill": look.colour}
    return Element("path", {"class": "mark", "d": look.outline, **place})


def _title(text: str) -> Element:
    element = Element("title")
    element.text = printable(text)
    return element
