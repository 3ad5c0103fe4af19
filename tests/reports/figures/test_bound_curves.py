"""Curves as an SVG file: where they run, that it stands alone, and that names stay text."""

from __future__ import annotations

import math
import re
import xml.etree.ElementTree as ET

import pytest

from reconbench.reports import ReportError, curves_svg

SVG = "{http://www.w3.org/2000/svg}"


def drawn(text: str) -> ET.Element:
    return ET.fromstring(text)


def texts(root: ET.Element) -> list[str]:
    return [each.text or "" for each in root.iter(f"{SVG}text")]


def polylines(root: ET.Element) -> list[list[tuple[float, ...]]]:
    return [
        [tuple(map(float, point.split(","))) for point in each.attrib["points"].split()]
        for each in root.iter(f"{SVG}polyline")
    ]


def test_curves_run_from_corner_to_corner_of_the_axes() -> None:
    root = drawn(curves_svg("t", [0, 0.5, 1], {"a": [0, 0.75, 1]}))
    start, middle, end = polylines(root)[0]
    axes = next(root.iter(f"{SVG}path")).attrib["d"]
    left, top, bottom, right = map(float, re.findall(r"[\d.]+", axes))
    assert start == (left, bottom)
    assert end == (right, top)
    assert middle == ((left + right) / 2, top + (bottom - top) / 4)
    diagonal = {"x1": left, "x2": right, "y1": bottom, "y2": top}
    dashed = [each for each in root.iter(f"{SVG}g") if each.get("stroke-dasharray") == "4 4"]
    assert any(
        {key: float(line.attrib[key]) for key in diagonal} == diagonal
        for group in dashed
        for line in group.iter(f"{SVG}line")
    )


def test_a_gap_parts_a_curve_and_a_point_alone_is_a_dot() -> None:
    values = [None, 0.1, 0.2, None, 0.5, None]
    line, dot, _ = polylines(drawn(curves_svg("t", [0, 0.2, 0.4, 0.6, 0.8, 1], {"a": values})))
    assert len(line) == 2
    assert dot[0] == dot[1]
    # the legend's sample alone
    assert len(polylines(drawn(curves_svg("t", [0.5], {"a": [None]})))) == 1


def test_labels_ticks_and_legend_are_there() -> None:
    root = drawn(curves_svg("Title", [0, 1], {"a": [0, 1], "b": [0, 1]}, "across", "up"))
    found = texts(root)
    assert {"Title", "across", "up", "no release", "a", "b"} <= set(found)
    assert [found.count(label) for label in ("0", "0.2", "0.4", "0.6", "0.8", "1")] == [2] * 6
    assert root.findtext(f"{SVG}title") == root.get("aria-label") == "Title"
    assert "Curves: a, b." in root.findtext(f"{SVG}desc", "")


def test_curves_are_told_apart_by_colour_and_dashes_together() -> None:
    root = drawn(curves_svg("t", [0, 1], {f"s{number}": [0, 1] for number in range(35)}))
    groups = [each for each in root.findall(f"{SVG}g") if each.find(f"{SVG}polyline") is not None]
    looks = {(each.get("stroke"), each.get("stroke-dasharray")) for each in groups}
    assert len(looks) == len(groups) == 35
    height = float(root.attrib["height"])
    assert all(float(each.get("y", 0)) < height for each in root.iter(f"{SVG}text"))


def test_no_series_leave_the_axes() -> None:
    assert "no release" in texts(drawn(curves_svg("t", [], {})))


@pytest.mark.parametrize(
    "name",
    [
        "</text><script>alert(1)</script>",
        "\"'/><a href='x' onload=alert(1)>&amp;",
        "{{ 7 * 7 }}{% raw %}",
        "\x00\x1b\ud800\uffff",
        "\u202ereversed",
        "x" * 10_000,
    ],
)
def test_hostile_names_stay_text(name: str) -> None:
    plain = drawn(curves_svg("t", [0, 1], {"a": [0, 1]}, "x", "y"))
    text = curves_svg(name, [0, 1], {name: [0, 1]}, name, name)
    text.encode()
    found = drawn(text)
    assert [each.tag for each in found.iter()] == [each.tag for each in plain.iter()]
    assert [each.keys() for each in found.iter()] == [each.keys() for each in plain.iter()]
    seen = re.sub("[\x00\x1b\ud800\uffff\u202e]", "\ufffd", name)
    titles = [each.text for each in found.iter(f"{SVG}title")]
    assert titles.count(seen) == 3 and set(titles) == {seen, "no release"}
    assert found.get("aria-label") == seen
    assert all(len(each) < 80 for each in texts(found))


def test_the_file_stands_alone_on_white() -> None:
    text = curves_svg("t", [0, 1], {"a": [0, 1]})
    assert text.startswith("<svg xmlns=")
    assert re.findall(r"\w+://[^\"]*", text) == ["http://www.w3.org/2000/svg"]
    assert not re.findall(r"href|url\(|@import|<style|<script", text)
    root = drawn(text)
    back = next(root.iter(f"{SVG}rect"))
    assert (back.get("fill"), back.get("width"), back.get("height")) == (
        "#fff",
        root.get("width"),
        root.get("height"),
    )


def test_rounding_beyond_the_square_is_forgiven() -> None:
    found = curves_svg("t", [-1e-12, 1], {"a": [0, 1 + 1e-12]})
    assert found == curves_svg("t", [0, 1], {"a": [0, 1]})


@pytest.mark.parametrize("value", [-0.1, 1.1, math.nan, math.inf])
def test_what_is_no_probability_is_refused(value: float) -> None:
    with pytest.raises(ReportError, match=r"'a' holds .* None for a gap"):
        curves_svg("t", [0.5], {"a": [value]})
    with pytest.raises(ReportError, match="'x' holds"):
        curves_svg("t", [value], {"a": [0.5]})


def test_a_series_of_another_length_is_refused() -> None:
    with pytest.raises(ReportError, match="'a' has 1 values for 2 values of x"):
        curves_svg("t", [0, 1], {"a": [0.5]})
