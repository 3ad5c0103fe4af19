"""Static figures: axes, where marks are drawn, and the legend."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET

import pytest

from reconbench.reports import ReportError
from reconbench.reports.figures.svg import (
    Axis,
    Band,
    Boxes,
    Dots,
    Line,
    Mark,
    Panel,
    Rules,
    draw_figure,
)

SVG = "{http://www.w3.org/2000/svg}"
UNIT = Axis("x", 0, 1)


def draw(*marks: Mark, x: Axis = UNIT, y: Axis = UNIT) -> ET.Element:
    return ET.fromstring(draw_figure("t", [Panel(x, y, marks, width=100, height=100)]))


def shapes(root: ET.Element, tag: str, name: str = "m") -> list[dict[str, str]]:
    """The shapes of a mark, without its sample in the legend."""
    group = next(
        each
        for each in root.findall(f"{SVG}g")
        if each.findtext(f"{SVG}title") == name and each.find(f"{SVG}{tag}") is not None
    )
    return [each.attrib for each in group.findall(f"{SVG}{tag}")]


@pytest.mark.parametrize(
    ("axis", "labels"),
    [
        (Axis("", 0, 1), ["0", "0.2", "0.4", "0.6", "0.8", "1"]),
        (Axis("", -3, 12), ["0", "5", "10"]),
        (Axis("", 12, -3), ["0", "5", "10"]),
        (Axis("", 0.03, 30, log=True), ["0.1", "1", "10"]),
        (Axis.of_categories("", ["a", "b"]), ["a", "b"]),
        (Axis.covering("", [0.2, 7.3]), ["0", "2", "4", "6", "8"]),
        (Axis.covering("", [5.0, 5.0]), ["5", "5.2", "5.4", "5.6", "5.8", "6"]),
        (Axis.covering("", [0.0]), ["0", "0.05", "0.1", "0.15", "0.2"]),
        (Axis("", -1, 1), ["−1", "−0.5", "0", "0.5", "1"]),
        (Axis("", 0, 2e-6), ["0", "5·10⁻⁷", "10⁻⁶", "1.5·10⁻⁶", "2·10⁻⁶"]),
        (Axis("", 1e-9, 1, log=True), ["10⁻⁹", "10⁻⁷", "10⁻⁵", "0.001", "0.1"]),
        (Axis.covering_log("", [0.4, 30]), ["0.2", "0.5", "1", "2", "5", "10", "20", "50"]),
        (Axis.covering_log("", [3.0]), ["1", "2", "5", "10"]),
        (Axis.covering_log("", [0.55, 0.75]), ["0.5", "1"]),
    ],
)
def test_ticks(axis: Axis, labels: list[str]) -> None:
    assert [label for _, label in axis.labelled()] == labels


def test_a_value_is_placed_by_the_scale_and_kept_within_the_axis() -> None:
    assert Axis("", 1, 100, log=True).share(10) == pytest.approx(0.5)
    assert Axis("", 10, 0).share(2.5) == 0.75
    assert (UNIT.share(-1), UNIT.share(math.inf)) == (0, 1)
    with pytest.raises(ReportError, match="cannot show nan"):
        UNIT.share(math.nan)


def test_labels_of_ticks_may_have_lines() -> None:
    axis = Axis.of_categories("names", ["one", "two\nlines"])
    plain, broken = (Panel(x, UNIT, [], width=100, height=100) for x in (UNIT, axis))
    assert broken.outer[1] == plain.outer[1] + 15
    texts = {each.text: each for each in draw(x=axis).iter(f"{SVG}text")}
    first, second, title = (float(texts[name].attrib["y"]) for name in ("two", "lines", "names"))
    assert first < second < title and texts["two"].attrib["x"] == texts["lines"].attrib["x"]


def test_marks_are_where_their_values_are() -> None:
    root = draw(
        Dots([(0.5, 0.25)], "m", filled=False, titles=["here"]),
        Boxes([(0, 0, 0.5, 0.1)], "boxes", shades=[0.4], titles=["box"]),
        Band([(0, 0, 1), (1, 0.5, 0.5)], "band"),
        Rules([(0, 0.5, 1, 0.5)], "rules"),
    )
    path = next(root.iter(f"{SVG}path")).attrib["d"]
    left, top = (float(part) for part in path[1:].partition("V")[0].split())
    (circle,) = shapes(root, "circle")
    assert (float(circle["cx"]), float(circle["cy"])) == (left + 50, top + 75)
    (box,) = shapes(root, "rect", "boxes")
    assert [float(box[key]) for key in ("x", "y", "width", "height")] == [left, top + 90, 50, 10]
    assert box["fill-opacity"] == "0.4"
    (area,) = shapes(root, "polygon", "band")
    assert area["points"].split()[2] == f"{left + 100:g},{top + 50:g}"
    (rule,) = shapes(root, "line", "rules")
    assert float(rule["y1"]) == float(rule["y2"]) == top + 50
    titles = [each.text for each in root.iter(f"{SVG}title")]
    assert titles.count("here") == titles.count("box") == 1


def test_a_name_is_once_in_the_legend_with_all_its_marks() -> None:
    marks: list[Mark] = [Line([(0, 0), (1, 1)], "a"), Dots([(0, 0)], "a"), Line([(0, 1), (1, 0)])]
    text = draw_figure("t", [Panel(UNIT, UNIT, marks, "left"), Panel(UNIT, UNIT, marks)], columns=2)
    root = ET.fromstring(text)
    assert [each.text for each in root.iter(f"{SVG}text")].count("a") == 1
    legend = root.findall(f"{SVG}g")[-1]
    assert len(legend.findall(f"{SVG}g")) == 2
    width, height = float(root.attrib["width"]), float(root.attrib["height"])
    assert root.attrib["viewBox"] == f"0 0 {width:g} {height:g}"
    assert all(float(each.get("y", 0)) < height for each in root.iter(f"{SVG}text"))
