"""Static figures as SVG text: panels with axes, marks on them, and a legend below.

Everything that is drawn outside the leaderboard's interactive page goes through here: bounds as
curves, and the figures of the assessment and audit reports. It needs no extra, works offline, and
all text is escaped. Example::

    x, y = Axis("ε", 0.1, 10, log=True), Axis.covering("success", successes)
    line = Line(list(zip(epsilons, successes)), "posterior", PALETTE[0])
    text = draw_figure("Success by ε", [Panel(x, y, [line])])
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from math import ceil, floor, isnan, log10
from typing import Protocol
from xml.etree.ElementTree import Element, SubElement, tostring

from reconbench.reports.leaderboard.columns.dictionary import ReportError
from reconbench.reports.text.number_format import scientific
from reconbench.reports.text.templates import printable

# Okabe and Ito's colours, distinguishable with any colour vision and on light and dark.
PALETTE = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#b38600", "#7f7f7f")
# Five dash patterns and seven colours together distinguish 35 lines.
DASHES = ("none", "9 5", "2 4", "12 4 2 4", "5 3")
INK, SOFT, GRID = "#1c1f24", "#5b626d", "#e2e0da"

_FONT = "system-ui, 'Segoe UI', Roboto, 'Noto Sans', sans-serif"
_LEFT, _RIGHT, _TOP, _BOTTOM, _TITLE = 76, 24, 30, 62, 44
_SAMPLE, _LEGEND_LINE, _TICK_LINE = 36, 22, 15
# Widths of a character in pixels, on average, of text and of the title.
_CHARACTER, _TITLE_CHARACTER = 7.0, 8.4


@dataclass(frozen=True)
class Axis:
    """An axis from ``low`` to ``high``; ``ticks`` are values with their labels, or chosen here.

    ``low`` may be the larger one: the axis then runs the other way. Values beyond the ends are
    drawn at the ends.
    """

    label: str
    low: float
    high: float
    ticks: Sequence[tuple[float, str]] | None = None
    log: bool = False

    @classmethod
    def covering(cls, label: str, values: Iterable[float]) -> Axis:
        """A linear axis from round number to round number around the values."""
        found = list(values)
        low, high = min(found), max(found)
        step = _round_step((high - low) or abs(high) or 1.0)
        low, high = step * floor(low / step), step * ceil(high / step)
        return cls(label, low, high if high > low else low + step)

    @classmethod
    def covering_log(cls, label: str, values: Iterable[float]) -> Axis:
        """A logarithmic axis around positive values, from 1, 2 or 5 times a power of ten to one."""
        found = list(values)
        low, high = min(found), max(found)
        if low == high:
            low, high = low / 2, high * 2
        first = max(each for each in _round_numbers(low) if each <= low * (1 + 1e-9))
        last = min(each for each in _round_numbers(high) if each >= high * (1 - 1e-9))
        return cls(label, first, last, log=True)

    @classmethod
    def of_categories(cls, label: str, names: Sequence[str]) -> Axis:
        """Category ``i`` is at the value ``i``, half a step away from the ends."""
        return cls(label, -0.5, len(names) - 0.5, tuple(enumerate(names)))

    def share(self, value: float) -> float:
        """How far along the axis a value is, from 0 to 1."""
        if isnan(value):
            raise ReportError(f"axis {self.label!r} cannot show nan: leave the point out")
        first, last = sorted((self.low, self.high))
        ends = (self.low, self.high, min(max(value, first), last))
        low, high, at = map(log10, ends) if self.log else ends
        return (at - low) / (high - low)

    def labelled(self) -> Sequence[tuple[float, str]]:
        """The ticks."""
        if self.ticks is not None:
            return self.ticks
        if self.log:
            powers = range(ceil(log10(self.low) - 1e-9), floor(log10(self.high) + 1e-9) + 1)
            if len(powers) > 2:
                return [(10.0**p, scientific(10.0**p, 6)) for p in powers[:: ceil(len(powers) / 6)]]
            every = (each for power in (self.low, self.high) for each in _round_numbers(power))
            inside = {each for each in every if self.low <= each * (1 + 1e-9)}
            return [(v, scientific(v, 6)) for v in sorted(inside) if v <= self.high * (1 + 1e-9)]
        step = _round_step(abs(self.high - self.low))
        first = ceil(min(self.low, self.high) / step - 1e-9)
        last = floor(max(self.low, self.high) / step + 1e-9)
        return [(i * step, scientific(i * step, 6)) for i in range(first, last + 1)]


def _round_step(width: float) -> float:
    """The smallest of 1, 2 and 5 times a power of ten that divides a width into at most 5 or 6."""
    power = 10.0 ** floor(log10(width / 5))
    return next(power * factor for factor in (1, 2, 5, 10) if width / (power * factor) < 5.001)


def _round_numbers(value: float) -> list[float]:
    """1, 2 and 5 times the powers of ten around a positive value."""
    power = floor(log10(value))
    return [factor * 10.0**p for p in (power - 1, power, power + 1) for factor in (1, 2, 5)]


@dataclass(frozen=True)
class Frame:
    """Where on the drawing two axes meet."""

    left: float
    top: float
    width: float
    height: float
    x: Axis
    y: Axis

    def place(self, x: float, y: float) -> tuple[float, float]:
        across, up = self.x.share(x), self.y.share(y)
        return round(self.left + self.width * across, 2), round(
            self.top + self.height * (1 - up), 2
        )


class Mark(Protocol):
    """Something drawn on a panel. A mark with a name is in the legend."""

    @property
    def name(self) -> str: ...

    def style(self) -> dict[str, str]:
        """Attributes of the group that holds its shapes."""
        ...

    def shapes(self, frame: Frame) -> Iterator[Element]: ...

    def sample(self) -> Mark:
        """The mark in the legend, on axes from 0 to 1."""
        ...


@dataclass(frozen=True)
class Line:
    """A line through points; a ``y`` of None is a gap, and a point alone between gaps a dot."""

    points: Sequence[tuple[float, float | None]]
    name: str = ""
    colour: str = INK
    dash: str = "none"
    width: float = 2.4

    def style(self) -> dict[str, str]:
        return _stroke(self.colour, self.width, self.dash) | {"fill": "none"}

    def shapes(self, frame: Frame) -> Iterator[Element]:
        for gap, piece in groupby(self.points, key=lambda point: point[1] is None):
            if gap:
                continue
            places = [frame.place(x, y) for x, y in piece if y is not None]
            if len(places) > 1:
                yield Element("polyline", points=_points(places))
            else:
                # A line of no length with round ends shows as a dot.
                ends = {"stroke-linecap": "round", "stroke-width": "5"}
                yield Element("polyline", {"points": _points(places * 2), **ends})

    def sample(self) -> Line:
        return replace(self, points=((0, 0.5), (1, 0.5)))


@dataclass(frozen=True)
class Dots:
    """A circle at every point, hollow or filled; ``titles`` are shown when pointed at."""

    points: Sequence[tuple[float, float]]
    name: str = ""
    colour: str = INK
    filled: bool = True
    radius: float = 4.0
    titles: Sequence[str] = ()

    def style(self) -> dict[str, str]:
        return _stroke(self.colour, 2) | {"fill": self.colour if self.filled else "#fff"}

    def shapes(self, frame: Frame) -> Iterator[Element]:
        for index, point in enumerate(self.points):
            x, y = frame.place(*point)
            circle = Element("circle", cx=f"{x:g}", cy=f"{y:g}", r=f"{self.radius:g}")
            yield _with_title(circle, self.titles[index] if self.titles else "")

    def sample(self) -> Dots:
        return replace(self, points=((0.5, 0.5),), titles=())


@dataclass(frozen=True)
class Rules:
    """Straight lines from (x1, y1) to (x2, y2): intervals, whiskers, reference lines."""

    ends: Sequence[tuple[float, float, float, float]]
    name: str = ""
    colour: str = INK
    dash: str = "none"
    width: float = 1.6

    def style(self) -> dict[str, str]:
        return _stroke(self.colour, self.width, self.dash)

    def shapes(self, frame: Frame) -> Iterator[Element]:
        for x1, y1, x2, y2 in self.ends:
            (left, start), (right, end) = frame.place(x1, y1), frame.place(x2, y2)
            yield Element("line", x1=f"{left:g}", y1=f"{start:g}", x2=f"{right:g}", y2=f"{end:g}")

    def sample(self) -> Rules:
        return replace(self, ends=((0, 0.5, 1, 0.5),))


@dataclass(frozen=True)
class Band:
    """The area between ``low`` and ``high`` along ``x``: points are (x, low, high)."""

    points: Sequence[tuple[float, float, float]]
    name: str = ""
    colour: str = INK
    opacity: float = 0.2

    def style(self) -> dict[str, str]:
        return {"fill": self.colour, "fill-opacity": f"{self.opacity:g}"}

    def shapes(self, frame: Frame) -> Iterator[Element]:
        lower = [frame.place(x, low) for x, low, _ in self.points]
        upper = [frame.place(x, high) for x, _, high in self.points]
        yield Element("polygon", points=_points(lower + upper[::-1]))

    def sample(self) -> Band:
        return replace(self, points=((0, 0, 1), (1, 0, 1)))


@dataclass(frozen=True)
class Boxes:
    """Rectangles between (x1, y1) and (x2, y2): bars, cells of a histogram, shaded columns.

    ``shades`` are opacities, one per box, and ``titles`` are shown when pointed at.
    """

    ends: Sequence[tuple[float, float, float, float]]
    name: str = ""
    colour: str = INK
    shades: Sequence[float] = ()
    titles: Sequence[str] = ()

    def style(self) -> dict[str, str]:
        return {"fill": self.colour}

    def shapes(self, frame: Frame) -> Iterator[Element]:
        for index, (x1, y1, x2, y2) in enumerate(self.ends):
            (left, start), (right, end) = frame.place(x1, y1), frame.place(x2, y2)
            box = Element(
                "rect",
                x=f"{min(left, right):g}",
                y=f"{min(start, end):g}",
                width=f"{abs(right - left):.6g}",
                height=f"{abs(end - start):.6g}",
            )
            if self.shades:
                box.set("fill-opacity", f"{self.shades[index]:.3g}")
            yield _with_title(box, self.titles[index] if self.titles else "")

    def sample(self) -> Boxes:
        return replace(self, ends=((0, 0, 1, 1),), shades=(), titles=())


@dataclass(frozen=True)
class Panel:
    """Marks on two axes, drawn in their order; ``right`` is the room beside them, for labels."""

    x: Axis
    y: Axis
    marks: Sequence[Mark]
    title: str = ""
    width: int = 400
    height: int = 300
    right: int = _RIGHT

    @property
    def outer(self) -> tuple[int, int]:
        """Width and height with axes and title."""
        return self.width + _LEFT + self.right, self.height + self.above + self.below

    @property
    def below(self) -> int:
        """Room for the labels of the ticks, which may have several lines, and for the title."""
        lines = max((label.count("\n") for _, label in self.x.labelled()), default=0)
        return _BOTTOM + _TICK_LINE * lines

    @property
    def above(self) -> int:
        return _TOP if self.title else 4


def draw_figure(
    title: str, panels: Sequence[Panel], description: str = "", columns: int = 1
) -> str:
    """The panels, ``columns`` side by side, with title and legend: SVG as a file or for a page.

    ``description`` says in words what is drawn, for readers who do not see it.
    """
    rows = [panels[start : start + columns] for start in range(0, len(panels), columns)]
    width = max(sum(panel.outer[0] for panel in row) for row in rows)
    root = Element(
        "svg",
        {"xmlns": "http://www.w3.org/2000/svg", "width": f"{width}", "role": "img"},
    )
    root.set("aria-label", printable(title))
    # Pages colour what has these classes by their theme; a file stands on white.
    root.attrib |= {"class": "figure", "font-family": _FONT, "font-size": "13", "fill": INK}
    _text(root, "title", title)
    if description:
        _text(root, "desc", description)
    background = SubElement(root, "rect", {"class": "figure-back"}, width=f"{width}", fill="#fff")
    heading = _text(root, "text", _cut(title, (width - 36) / _TITLE_CHARACTER), x="24", y="28")
    heading.attrib |= {"font-size": "16", "font-weight": "600"}
    top = _TITLE
    for row in rows:
        left = 0
        for panel in row:
            _draw_panel(root, panel, left, top)
            left += panel.outer[0]
        top += max(panel.outer[1] for panel in row)
    height = top + _draw_legend(root, panels, width, top)
    root.attrib |= {"height": f"{height}", "viewBox": f"0 0 {width} {height}"}
    background.set("height", f"{height}")
    return tostring(root, encoding="unicode") + "\n"


def _draw_panel(root: Element, panel: Panel, left: int, top: int) -> None:
    frame = Frame(left + _LEFT, top + panel.above, panel.width, panel.height, panel.x, panel.y)
    right, bottom = frame.left + frame.width, frame.top + frame.height
    grid = SubElement(root, "g", {"class": "figure-grid"}, stroke=GRID)
    labels = SubElement(root, "g", {"class": "figure-soft"}, fill=SOFT)
    for value, label in panel.x.labelled():
        x = f"{frame.place(value, panel.y.low)[0]:g}"
        SubElement(grid, "line", x1=x, x2=x, y1=f"{frame.top:g}", y2=f"{bottom:g}")
        for line, part in enumerate(label.split("\n")):
            y = f"{bottom + 19 + _TICK_LINE * line:g}"
            _text(labels, "text", part, x=x, y=y).set("text-anchor", "middle")
    for value, label in panel.y.labelled():
        height = frame.place(panel.x.low, value)[1]
        y = f"{height:g}"
        SubElement(grid, "line", x1=f"{frame.left:g}", x2=f"{right:g}", y1=y, y2=y)
        tick = _text(labels, "text", label, x=f"{frame.left - 9:g}", y=f"{height + 4.5:g}")
        tick.set("text-anchor", "end")
    edges = f"M{frame.left:g} {frame.top:g}V{bottom:g}H{right:g}"
    SubElement(root, "path", {"class": "figure-edge"}, d=edges, fill="none", stroke=SOFT)
    if panel.title:
        heading = _cut(panel.title, (panel.width + panel.right) / _CHARACTER)
        text = _text(root, "text", heading, x=f"{frame.left:g}", y=f"{frame.top - 10:g}")
        text.set("font-weight", "600")
    middle = {"text-anchor": "middle"}
    below = _cut(panel.x.label, panel.width / _CHARACTER)
    x_middle, y_middle = frame.left + frame.width / 2, frame.top + frame.height / 2
    under = f"{bottom + panel.below - 20:g}"
    _text(root, "text", below, x=f"{x_middle:g}", y=under).attrib.update(middle)
    beside = _cut(panel.y.label, panel.height / _CHARACTER)
    turned = f"translate({left + 24:g} {y_middle:g}) rotate(-90)"
    _text(root, "text", beside, transform=turned).attrib.update(middle)
    for mark in panel.marks:
        group = _with_title(SubElement(root, "g", mark.style()), mark.name)
        group.extend(mark.shapes(frame))


def _draw_legend(root: Element, panels: Sequence[Panel], width: int, top: int) -> int:
    """Draw a line for every name, in as many columns as there is room for; its height."""
    named: dict[str, list[Mark]] = {}
    for panel in panels:
        for mark in panel.marks:
            looks = named.setdefault(mark.name, []) if mark.name else []
            if all(type(mark) is not type(other) for other in looks):
                looks.append(mark)
    if not named:
        return 0
    room = width - 2 * _RIGHT
    longest = max(map(len, named)) * _CHARACTER + _SAMPLE + 24
    columns = max(1, int(room // longest))
    each = room / columns
    for index, (name, marks) in enumerate(named.items()):
        left = _RIGHT + each * (index % columns)
        line = top + _LEGEND_LINE * (index // columns)
        unit = Axis("", 0, 1)
        entry = SubElement(root, "g")
        _text(entry, "title", name)
        for mark in marks:
            sample = SubElement(entry, "g", mark.style())
            sample.extend(mark.sample().shapes(Frame(left, line, _SAMPLE, 10, unit, unit)))
        shown = _cut(name, (each - _SAMPLE - 12) / _CHARACTER)
        _text(entry, "text", shown, x=f"{left + _SAMPLE + 8:g}", y=f"{line + 9.5:g}")
    return _LEGEND_LINE * ceil(len(named) / columns) + 8


def _text(parent: Element, tag: str, content: str, **attributes: str) -> Element:
    element = SubElement(parent, tag, attributes)
    element.text = printable(content)
    return element


def _with_title(element: Element, title: str) -> Element:
    if title:
        _text(element, "title", title)
    return element


def _stroke(colour: str, width: float, dash: str = "none") -> dict[str, str]:
    themed = {"class": "figure-ink"} if colour == INK else {}
    return themed | {"stroke": colour, "stroke-width": f"{width:g}", "stroke-dasharray": dash}


def _points(places: Iterable[tuple[float, float]]) -> str:
    return " ".join(f"{x:g},{y:g}" for x, y in places)


def _cut(text: str, longest: float) -> str:
    return text if len(text) <= longest else f"{text[: int(longest) - 1]}…"
