"""Which values of computed rows stand in which panel, on which line: by the axes of their kinds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import isfinite

from reconbench.benchmarks.computations.axes import (
    HELD_TEXTS,
    KIND_AXES,
    PLAIN,
    POINT,
    RELEASE,
    VALUE,
    Axes,
)
from reconbench.benchmarks.store.summary import COMPUTE, MEAN, Summary
from reconbench.reports.text.number_format import scientific

# A number beyond is no number to draw.
_LARGEST = 1e100
# A number, or a name on an axis of names.
Place = str | float
Points = tuple[tuple[Place, float], ...]
# What the rows of a line have in common: data set, mechanism, metric, and what was asked for.
Identity = tuple[tuple[str, Place], ...]


@dataclass(frozen=True)
class Curve:
    """One value along an axis; ``held`` tells its rows from others of the panel."""

    value: str
    held: str
    points: Points


@dataclass(frozen=True)
class CurvePanel:
    """Curves on the same axes, of rows of one kind, which hold the same of what was asked for."""

    axes: Axes
    title: str
    held: Identity
    first: Summary
    curves: tuple[Curve, ...]

    @property
    def values(self) -> tuple[str, ...]:
        """The names of the values that are drawn, in order."""
        return tuple(dict.fromkeys(curve.value for curve in self.curves))

    def label(self, curve: Curve) -> str:
        """The name of a curve: its value where there are several, and what it holds."""
        named = len(self.values) > 1 or not curve.held
        return ", ".join(part for part in (curve.value if named else "", curve.held) if part)


def collect_panels(rows: Iterable[Summary]) -> list[CurvePanel]:
    """The panels of the computed rows of one suite in their order, those of the paper first."""
    kinds: dict[str, list[Summary]] = {}
    order: dict[int, int] = {}
    for row in rows:
        order[id(row)] = len(order)
        kind = str(row.attack_options.get(COMPUTE))
        if row.computed and kind in KIND_AXES:
            kinds.setdefault(kind, []).append(row)
    panels = [panel for kind, own in kinds.items() for panel in _collect_kind(KIND_AXES[kind], own)]
    titled = [replace(panel, title=_write_title(panel, panels)) for panel in panels]
    told = [replace(panel, title=_tell_apart(panel, titled)) for panel in titled]
    return sorted(told, key=lambda panel: (panel.axes.beyond, order[id(panel.first)]))


def _collect_kind(every: Sequence[Axes], rows: Sequence[Summary]) -> list[CurvePanel]:
    lines = [_group_lines(axes, rows) for axes in every]

    def is_drawn(index: int, row: Summary) -> bool:
        """Whether no alternative has a longer line through the row."""
        axes = every[index]

        def measure(other: int) -> tuple[int, int]:
            return len(lines[other][_identify(every[other], row)]), -other

        return all(
            measure(index) >= measure(other)
            for other, rival in enumerate(every)
            if (rival.figure, rival.metric) == (axes.figure, axes.metric) and _fits(rival, row)
        )

    panels = []
    for index, (axes, own) in enumerate(zip(every, lines, strict=True)):
        grouped: dict[Identity, list[list[Summary]]] = {}
        for identity, line in own.items():
            if any(is_drawn(index, row) for row in line):
                shared = tuple(item for item in identity if item[0] not in axes.lines)
                grouped.setdefault(shared, []).append(line)
        for shared, group in grouped.items():
            curves = _draw_curves(axes, group)
            if curves:
                panels.append(CurvePanel(axes, "", shared, group[0][0], curves))
    return panels


def _group_lines(axes: Axes, rows: Iterable[Summary]) -> dict[Identity, list[Summary]]:
    lines: dict[Identity, list[Summary]] = {}
    for row in rows:
        if _fits(axes, row):
            lines.setdefault(_identify(axes, row), []).append(row)
    return lines


def _fits(axes: Axes, row: Summary) -> bool:
    known = (VALUE, POINT, "epsilon", *row.attack_options)
    return axes.metric in ("", row.metric) and axes.x.name in known and axes.y.name in known


def _identify(axes: Axes, row: Summary) -> Identity:
    """What the line of a row holds: all that was asked for and does not vary along the axes."""
    varies = {COMPUTE, axes.x.name, axes.y.name, *axes.along}
    if axes.x.name in (*RELEASE, POINT):
        varies |= set(RELEASE)
    options = sorted((k, _make_plain(v)) for k, v in row.attack_options.items() if k not in varies)
    return (("suite", row.dataset), ("mechanism", row.mechanism), ("metric", row.metric), *options)


def _read(row: Summary, name: str, value: str = "") -> Place | None:
    """A quantity of a row by its name; None where the row lacks it."""
    if name == VALUE:
        return row.ceilings.get(value, {}).get(MEAN)
    own: dict[str, Place] = {
        POINT: row.column,
        "mechanism": row.mechanism,
        "epsilon": row.epsilon,
    }
    found = own[name] if name in own else row.attack_options.get(name)
    return None if found is None else _make_plain(found)


def _make_plain(value: object) -> Place:
    """A number or a text; rows of others may hold anything."""
    return value if isinstance(value, str | int | float) else str(value)


def _draw_curves(axes: Axes, lines: Sequence[Sequence[Summary]]) -> tuple[Curve, ...]:
    """A curve per value and line; where lines do not differ in a value, one curve for all."""
    named = list(dict.fromkeys(name for line in lines for row in line for name in row.ceilings))
    curves: dict[tuple[str, Points], Curve] = {}
    for name in [name for name in axes.values if name in named] if axes.values else named:
        for line in lines:
            points = _collect_points(axes, line, name)
            held = "" if (name, points) in curves else _describe(axes.lines, line[0])
            if points:
                curves[name, points] = Curve(name, held, points)
    return tuple(curves.values())


def _collect_points(axes: Axes, line: Iterable[Summary], value: str) -> Points:
    """What can be drawn, in the order of numbers; names keep the order of the rows."""
    read = [(_read(row, axes.x.name, value), _read(row, axes.y.name, value)) for row in line]
    points = [
        (x, y) for x, y in read if _is_drawable(y) and (isinstance(x, str) or _is_drawable(x))
    ]
    if any(isinstance(x, str) for x, _ in points):
        return tuple((str(x), float(y)) for x, y in points if y is not None)
    return tuple(sorted((float(x), float(y)) for x, y in points if x is not None and y is not None))


def _is_drawable(value: Place | None) -> bool:
    return isinstance(value, int | float) and isfinite(value) and abs(value) < _LARGEST


def _write_title(panel: CurvePanel, panels: Iterable[CurvePanel]) -> str:
    """What the panel's axes are about, and what it holds that other panels do not."""
    differ = [
        name
        for name in panel.axes.panels
        if len({_read(p.first, name) for p in panels if name in p.axes.panels}) > 1
    ]
    told = ", ".join(filter(None, (panel.axes.title, _describe(differ, panel.first))))
    own = [name for name in panel.axes.panels if name != "mechanism"]
    return told or _describe(own, panel.first) or panel.first.metric


def _tell_apart(panel: CurvePanel, panels: Iterable[CurvePanel]) -> str:
    """The title, with what else tells the panel from others of the same title."""
    alike = [dict(each.held) for each in panels if each.title == panel.title]
    names = [name for name, value in panel.held if any(each.get(name) != value for each in alike)]
    return ", ".join([panel.title, *(_write(name, dict(panel.held)[name]) for name in names)])


def _describe(names: Iterable[str], row: Summary) -> str:
    held = [(name, _read(row, name)) for name in names]
    return ", ".join(_write(name, value) for name, value in held if value is not None)


def _write(name: str, value: Place) -> str:
    """``baseline 0.1``, ``5,000 records``, ``optimal network``."""
    if isinstance(value, str):
        return value if name in PLAIN else f"{value} {name}"
    number = f"{value:,}" if isinstance(value, int) else scientific(value)
    return HELD_TEXTS.get(name, f"{name} {{}}").format(number)
