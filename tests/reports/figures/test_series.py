"""Series: how they are told apart, and that their labels never stand on one another."""

from __future__ import annotations

import itertools
import random
import xml.etree.ElementTree as ET

import pytest

from reconbench.reports.figures.series import (
    LABEL_LINE,
    LONGEST_LABEL,
    EndLabels,
    Look,
    MarkedLine,
    Numbers,
    spread,
)
from reconbench.reports.figures.svg import Axis, Mark, Panel, draw_figure

SVG = "{http://www.w3.org/2000/svg}"
UNIT = Axis("x", 0, 1)
# The cards of the page, light and dark.
GROUNDS = ("#ffffff", "#191d23")


def draw(*marks: Mark, height: int = 100, right: int = 200) -> ET.Element:
    return ET.fromstring(draw_figure("t", [Panel(UNIT, UNIT, marks, "", 100, height, right)]))


def luminance(colour: str) -> float:
    parts = [int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_series_differ_in_colour_dash_and_mark() -> None:
    looks = [Look.of(index) for index in range(40)]
    assert len({(look.colour, look.outline) for look in looks}) == 40
    for first, second in itertools.pairwise(looks):
        assert first.colour != second.colour
        assert first.dash != second.dash
        assert first.outline != second.outline


@pytest.mark.parametrize("ground", GROUNDS)
def test_every_colour_is_legible_on_light_and_dark(ground: str) -> None:
    for colour in {Look.of(index).colour for index in range(40)}:
        low, high = sorted((luminance(colour), luminance(ground)))
        assert (high + 0.05) / (low + 0.05) >= 3, colour


def test_labels_are_spread_by_as_little_as_order_allows() -> None:
    assert spread([10, 50, 90], 16, 0, 100) == [10, 50, 90]
    assert spread([50, 50], 16, 0, 100) == [42, 58]
    assert spread([40, 50, 51], 10, 0, 100) == [pytest.approx(x) for x in (37, 47, 57)]
    assert spread([0, 0, 0], 16, 0, 100) == [0, 16, 32]
    assert spread([100, 100], 16, 0, 100) == [84, 100]
    assert spread([5] * 4, 16, 0, 20) == [0, 16, 32, 48]
    assert spread([], 16, 0, 100) == []


def test_spread_labels_keep_order_and_distance_whatever_the_lines() -> None:
    rng = random.Random(0)
    for _ in range(200):
        count = rng.randint(1, 12)
        places = sorted(rng.choice([0, 50, 200, rng.uniform(0, 200)]) for _ in range(count))
        found = spread(places, LABEL_LINE, 0, 200)
        gaps = [b - a for a, b in itertools.pairwise(found)]
        assert all(gap >= LABEL_LINE - 1e-9 for gap in gaps)
        assert found[0] >= 0 and found[-1] <= 200 + 1e-9
        # None moves further than all labels together are high.
        assert all(abs(a - b) <= LABEL_LINE * count for a, b in zip(found, places, strict=True))


def test_a_label_stands_at_the_end_of_its_line_with_its_mark() -> None:
    look = Look.of(3)
    labels = EndLabels([(1.0, 0.25, "f-dp", look), (0.5, 0.25, "tv", Look.of(1))])
    root = draw(MarkedLine([(0, 0), (1, 0.25)], "f-dp", look), labels)
    texts = {each.text: each for each in root.iter(f"{SVG}text")}
    assert abs(float(texts["f-dp"].attrib["y"]) - float(texts["tv"].attrib["y"])) == LABEL_LINE
    marks = [each for each in root.iter(f"{SVG}path") if each.get("class") == "mark"]
    assert [each.attrib["fill"] for each in marks].count(look.colour) == 3
    # A label is in the ink of the page, so that it is as legible as all other text.
    assert all("fill" not in texts[name].attrib for name in ("f-dp", "tv"))
    assert root.findall(f"{SVG}g/{SVG}g") == [], "what is labelled needs no legend"


def test_a_line_has_few_marks_and_a_point_alone_is_a_mark() -> None:
    look = Look.of(0)
    many = draw(MarkedLine([(i / 500, 0.5) for i in range(501)], "a", look))
    assert len(next(many.iter(f"{SVG}polyline")).attrib["points"].split()) == 501
    assert len([each for each in many.iter(f"{SVG}path") if each.get("class") == "mark"]) <= 14
    alone = draw(MarkedLine([(0.5, 0.5)], "a", look))
    assert list(alone.iter(f"{SVG}polyline")) == []
    assert len([each for each in alone.iter(f"{SVG}path") if each.get("class") == "mark"]) == 1


def test_a_named_line_is_in_the_legend_and_numbers_are_not() -> None:
    line = MarkedLine([(0.1, 0.2)], "a", Look.of(0), "a", joined=False)
    root = draw(line, Numbers([(0.1, 0.2)]))
    texts = [each.text for each in root.iter(f"{SVG}text")]
    assert texts.count("a") == 1 and texts.count("0.20") == 1


@pytest.mark.parametrize("name", ["</text><script>", "\x00\ud800", "x" * 5_000, "\u202ereversed"])
def test_hostile_labels_stay_text(name: str) -> None:
    labels = EndLabels([(1.0, 0.5, name, Look.of(0))])
    root = draw(MarkedLine([(0, 0), (1, 1)], name, Look.of(0)), labels, right=labels.room)
    assert not [each for each in root.iter() if "script" in each.tag]
    assert all(len(each.text or "") <= LONGEST_LABEL + 10 for each in root.iter(f"{SVG}text"))
