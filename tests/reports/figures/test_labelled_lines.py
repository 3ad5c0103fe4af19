"""Curves over a parameter: told apart in three ways, named where they end."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Mapping, Sequence
from itertools import pairwise

import pytest

from reconbench.reports import ReportError, lines_svg

SVG = "{http://www.w3.org/2000/svg}"
ACROSS = [0.5 * 1.2**k for k in range(13)]


def drawn(series: Mapping[str, Sequence[float | None]], **options: object) -> ET.Element:
    text = lines_svg("A title", "epsilon", "value", ACROSS, series, **options)  # type: ignore[arg-type]
    return ET.fromstring(text)


def end_labels(root: ET.Element, names: list[str]) -> list[ET.Element]:
    return [each for each in root.iter(f"{SVG}text") if each.text in names]


def test_every_line_has_its_colour_dash_marker_and_name() -> None:
    names = [f"bound {k}" for k in range(9)]
    root = drawn({name: [0.1 * k] * 13 for k, name in enumerate(names)}, stated=1.0)
    looks = set()
    for group in root.iter(f"{SVG}g"):
        line, mark = group.find(f"{SVG}polyline"), group.find(f"{SVG}path")
        if line is not None and mark is not None:
            assert mark.get("fill") == group.get("stroke")
            looks.add((mark.get("fill"), line.get("stroke-dasharray"), mark.get("d")))
    assert len(looks) == 9
    assert len(end_labels(root, names)) == 9
    assert "epsilon = 1" in [each.text for each in root.iter() if each.text]


def test_names_of_lines_that_end_together_are_apart() -> None:
    names = [f"bound {k}" for k in range(6)]
    root = drawn({name: [0.0] * 12 + [1e-9 * k] for k, name in enumerate(names)})
    ends = end_labels(root, names)
    heights = sorted(float(each.attrib["y"]) for each in ends)
    assert len(heights) == 6
    assert min(b - a for a, b in pairwise(heights)) >= 16
    assert len({each.attrib["x"] for each in ends}) == 1


def test_gaps_part_a_line_that_keeps_one_name() -> None:
    root = drawn({"a": [None] * 6 + [0.5] * 7, "b": [0.2] * 5 + [None] * 3 + [0.2] * 5})
    lines = [each.attrib["points"].split() for each in root.iter(f"{SVG}polyline")]
    assert [len(line) for line in lines] == [7, 5, 5]
    assert len(end_labels(root, ["b"])) == 1


def test_logarithmic_values() -> None:
    root = drawn({"a": [10.0**-k for k in range(13)]}, log=True)
    texts = [each.text for each in root.iter(f"{SVG}text")]
    assert "10⁻¹²" in texts and "0" not in texts


def test_what_cannot_be_drawn() -> None:
    with pytest.raises(ReportError, match="nothing to draw"):
        drawn({"a": [None] * 13})
    with pytest.raises(ReportError, match="'a' has 2 values for 13"):
        drawn({"a": [0.1, 0.2]})


def test_names_stay_text() -> None:
    root = drawn({"<b>&": [0.1] * 13})
    assert "<b>&" in [each.text for each in root.iter(f"{SVG}text")]
