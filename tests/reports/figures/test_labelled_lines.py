"""Curves over a parameter: told apart in three ways, named where they end."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from itertools import pairwise

import pytest

from reconbench.reports import ReportError, lines_svg, log_axis

SVG = "{http://www.w3.org/2000/svg}"
ACROSS = [0.5 * 1.2**k for k in range(13)]
AXIS = log_axis("epsilon", ACROSS[0], ACROSS[-1])


def drawn(series: dict[str, list[float | None]], **options: object) -> ET.Element:
    text = lines_svg("A title", AXIS, "value", ACROSS, series, **options)  # type: ignore[arg-type]
    return ET.fromstring(text)


def test_every_line_has_its_colour_dash_marker_and_name() -> None:
    names = [f"bound {k}" for k in range(9)]
    root = drawn({name: [0.1 * k] * 13 for k, name in enumerate(names)}, stated=(1.0, "ε = 1"))
    looks = set()
    for group in root.iter(f"{SVG}g"):
        title = group.find(f"{SVG}title")
        if title is not None and title.text in names and group.get("stroke"):
            marker = group.find(f"{SVG}path")
            assert marker is not None and marker.get("fill") == group.get("stroke")
            looks.add((group.get("stroke"), group.get("stroke-dasharray"), marker.get("d")))
    assert len(looks) == 9
    texts = [each.text for each in root.iter(f"{SVG}text")]
    # Once at the end of the line and once in the legend.
    assert all(texts.count(name) == 2 for name in names) and "ε = 1" in texts


def test_names_of_lines_that_end_together_are_apart() -> None:
    names = [f"bound {k}" for k in range(6)]
    root = drawn({name: [0.0] * 12 + [1e-9 * k] for k, name in enumerate(names)})
    ends = [each for each in root.iter(f"{SVG}text") if each.text in names and each.get("stroke")]
    heights = sorted(float(each.attrib["y"]) for each in ends)
    assert len(heights) == 6
    assert min(b - a for a, b in pairwise(heights)) >= 16
    # All beside the panel, and above its lower edge.
    assert len({each.attrib["x"] for each in ends}) == 1 and heights[-1] < 44 + 4 + 380 + 6


def test_gaps_and_markers_of_short_lines() -> None:
    root = drawn({"a": [None] * 6 + [0.5] * 7, "b": [0.2] * 5 + [None] * 8})
    lines = [each.attrib["points"].split() for each in root.iter(f"{SVG}polyline")]
    assert [len(line) for line in lines] == [7, 5, 3, 3]
    texts = [each.text for each in root.iter(f"{SVG}text")]
    assert texts.count("b") == 2


def test_logarithmic_values_and_ticks() -> None:
    root = drawn({"a": [10.0**-k for k in range(13)]}, log=True)
    texts = [each.text for each in root.iter(f"{SVG}text")]
    assert "1e-06" in texts
    assert [label for _, label in AXIS.labelled()] == ["0.5", "1", "2"]
    assert 4 <= len(log_axis("x", 1e-9, 1e9).labelled()) <= 9


def test_what_cannot_be_drawn() -> None:
    with pytest.raises(ReportError, match="nothing to draw"):
        drawn({"a": [None] * 13})
    with pytest.raises(ReportError, match="'a' has 2 values for 13"):
        drawn({"a": [0.1, 0.2]})


def test_names_stay_text() -> None:
    root = drawn({"<b>&": [0.1] * 13})
    assert "<b>&" in [each.text for each in root.iter(f"{SVG}text")]
