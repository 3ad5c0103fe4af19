"""Figures of computed rows: every kind has its axes, and every value of every suite is drawn.

Values are made up here, each a number of its own, so that slow suites cost nothing.
"""

from __future__ import annotations

import itertools
import math
import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from reconbench.benchmarks.computations.axes import KIND_AXES, VALUE, Drawing
from reconbench.benchmarks.computations.computation import Computation, Point
from reconbench.benchmarks.computations.kinds import KINDS
from reconbench.benchmarks.computations.training import TrainingPromise
from reconbench.benchmarks.store.summary import Summary, summarise
from reconbench.benchmarks.suites.suite import find_suite, shipped
from reconbench.reports.figures.computed import MOST_PANELS, draw_single_panels, draw_suites
from reconbench.reports.figures.computed_curves import CurvePanel, collect_panels

SVG = "{http://www.w3.org/2000/svg}"
SUITES = [name for name, suite in shipped().items() if suite.curves]
# A text of 13 pixels takes about so much a character, and a line so much.
CHARACTER, LINE = 0.52, 0.75


@pytest.fixture
def made_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Values without computing: increasing, and no two alike."""
    numbers = itertools.count()

    def evaluate(self: Computation, point: Point) -> dict[str, float]:
        names: list[str] = list(getattr(self, "bounds", self.meanings))
        if self.compute == "worst-advantage":
            names.append("approx")
        return {name: 0.1 + 1e-4 * next(numbers) for name in names}

    for kind in set(KINDS.values()):
        monkeypatch.setattr(kind, "evaluate", evaluate)
    monkeypatch.setattr(TrainingPromise, "settle", lambda self: self)


def summaries(suite: str) -> list[Summary]:
    return summarise([point.row() for point in find_suite(suite).points()])


@cache
def computed(suite: str) -> list[Summary]:
    """As they are; for suites that take no time."""
    return summaries(suite)


def find_panel(suite: str, **held: Any) -> CurvePanel:
    (found,) = (
        panel
        for panel in collect_panels(computed(suite))
        if held.items() <= {**dict(panel.held), "title": panel.title}.items()
    )
    return found


def test_every_kind_has_axes_and_no_other_name_does() -> None:
    assert KIND_AXES.keys() == KINDS.keys()
    for kind, every in KIND_AXES.items():
        assert every, kind
        for axes in every:
            assert axes.x.title and axes.y.title and VALUE in (axes.x.name, axes.y.name)
            assert max(len(axes.x.title), len(axes.y.title)) <= 33, "titles fit a narrow panel"
            known = set(KINDS[kind].meanings)
            assert set(axes.values) <= known, kind
            assert len(axes.values) >= {Drawing.INTERVALS: 3, Drawing.BOXES: 10}.get(
                axes.drawing, 0
            )


@pytest.mark.parametrize("suite", SUITES)
def test_every_value_of_every_suite_is_drawn(suite: str, made_up: None) -> None:
    rows = summaries(suite)
    panels = collect_panels(rows)
    seen = {number for p in panels for c in p.curves for point in c.points for number in point}
    for row in rows:
        for name, levels in row.ceilings.items():
            # The strength is on the axis there; the fit of PSNR is that of MSE.
            if (row.attack_options["compute"], name) == ("mcmc-strength", "strength-median"):
                continue
            # Rows of errors have only these, rows of ε only the others.
            counted = name.endswith(("-positives", "-negatives"))
            if row.attack_options["compute"] == "mcmc-images" and counted != (
                row.metric == "errors"
            ):
                continue
            if row.metric == "psnr" and name in ("ks", "ks-smaller", "ratio"):
                continue
            assert levels["mean"] in seen, (row.targets, name)
    titles = [panel.title for panel in panels]
    assert len(set(titles)) == len(titles) and all(titles)
    for panel in panels:
        labels = [panel.label(curve) for curve in panel.curves]
        assert len(set(labels)) == len(labels) and all(labels)


def iterate_texts(
    node: ET.Element, inherited: dict[str, str]
) -> Iterator[tuple[ET.Element, dict[str, str]]]:
    own = inherited | {k: v for k, v in node.attrib.items() if k in ("font-size", "text-anchor")}
    if node.tag == f"{SVG}text":
        yield node, own
    for child in node:
        yield from iterate_texts(child, own)


def list_boxes(root: ET.Element) -> list[tuple[str, float, float, float, float]]:
    """Each text with the box that it takes, about."""
    boxes = []
    for text, style in iterate_texts(root, {}):
        size, content = float(style["font-size"]), text.text or ""
        long, high = CHARACTER * size * len(content), LINE * size
        if "transform" in text.attrib:
            x, y = map(
                float, re.findall(r"translate\(([\d.-]+) ([\d.-]+)\)", text.attrib["transform"])[0]
            )
            boxes.append((content, x - high, y - long / 2, x, y + long / 2))
            continue
        x, y = float(text.attrib["x"]), float(text.attrib["y"])
        left = x - long * {"middle": 0.5, "end": 1.0}.get(style.get("text-anchor", ""), 0.0)
        boxes.append((content, left, y - high, left + long, y))
    return boxes


def list_overlaps(text: str) -> list[tuple[str, str]]:
    boxes = list_boxes(ET.fromstring(text))
    return [
        (a[0], b[0])
        for a, b in itertools.combinations(boxes, 2)
        if min(a[3], b[3]) > max(a[1], b[1]) and min(a[4], b[4]) > max(a[2], b[2])
    ]


@pytest.mark.parametrize("suite", SUITES)
def test_every_figure_is_valid_and_nothing_in_it_overlaps(suite: str, made_up: None) -> None:
    rows = summaries(suite)
    panels = collect_panels(rows)
    whole = draw_suites(rows)
    single = [draw for each in whole for draw in draw_single_panels(rows, each).panels]
    assert len(single) == len(panels)
    for text in (*whole.values(), *(each.text for each in single)):
        root = ET.fromstring(text)
        assert "…" not in text and "nan" not in text and "inf" not in text
        assert list_overlaps(text) == []
        _, _, width, height = map(float, root.attrib["viewBox"].split())
        for content, left, top, right, bottom in list_boxes(root):
            assert left >= -1 and right <= width + 1 and top >= 0 and bottom <= height, content
    shown = {
        each.text for text in whole.values() for each in ET.fromstring(text).iter(f"{SVG}text")
    }
    for panel in panels:
        assert {panel.axes.x.title, panel.axes.y.title, panel.title} <= shown


def test_the_overlap_of_texts_would_be_seen() -> None:
    text = '<svg xmlns="http://www.w3.org/2000/svg" font-size="13">{}</svg>'
    labels = '<text x="10" y="{}">f-dp</text><text x="10" y="{}">rero-zcdp</text>'
    assert list_overlaps(text.format(labels.format(50, 55))) == [("f-dp", "rero-zcdp")]
    assert list_overlaps(text.format(labels.format(50, 66))) == []


def test_figures_have_the_axes_of_the_papers() -> None:
    """Panels, and what is against what, as the papers' captions and the authors' code have it."""
    fig3 = collect_panels(computed("kulynych-fig3"))
    assert [panel.title for panel in fig3] == [
        "baseline 0.01",
        "baseline 0.1",
        "worst-case baseline",
    ]
    assert {(panel.axes.x.name, panel.axes.x.log) for panel in fig3} == {("epsilon", False)}
    fig2 = collect_panels(computed("kulynych-fig2"))
    assert [panel.title for panel in fig2] == [
        f"{noise}, {n} records"
        for noise in ("gaussian", "laplace")
        for n in ("500", "1,000", "5,000")
    ]
    assert {panel.axes.x.name for panel in collect_panels(computed("kulynych-fig5"))} == {
        "baseline"
    }
    fig1 = collect_panels(computed("swanberg-fig1"))
    assert len(fig1) == 6 and {panel.axes.diagonal for panel in fig1} == {"no release"}
    assert {panel.first.mechanism for panel in fig1} == {"pure", "approx"}
    by_budget, by_prior = collect_panels(computed("swanberg-fig2"))
    assert (by_budget.axes.x.name, by_budget.axes.y.title) == ("epsilon", "generalised advantage")
    assert by_budget.axes.level == 0.05 and len(by_budget.curves) == 9
    assert (by_prior.axes.x.name, by_prior.axes.x.log) == ("prior", True)
    *local, error = collect_panels(computed("rad-bounds"))
    assert [panel.title for panel in local] == ["grr", "oue", "ss", "laplace", "gaussian"]
    assert (error.axes.x.name, error.axes.y.log) == ("risk", True)
    assert [p.axes.x.name for p in collect_panels(computed("riess-fig1"))] == ["error"]
    surface, corridor = collect_panels(computed("riess-fig3"))
    assert surface.axes.x.name == corridor.axes.x.name == "sigma" and surface.axes.x.log
    # The chance of identification does not depend on the error: one line, not six.
    assert [surface.label(c) for c in surface.curves if c.value == "identification"] == [
        "identification"
    ]


def test_bars_stand_at_levels(made_up: None) -> None:
    panels = collect_panels(summaries("kulynych-fig9"))
    assert [panel.title for panel in panels] == [
        "baseline 0.01",
        "baseline 0.1",
        "worst-case baseline",
    ]
    for panel in panels:
        assert panel.axes.drawing is Drawing.BARS
        levels = [x for x, _ in panel.curves[0].points]
        assert len(levels) == 8 and levels[0] == "1 US" and levels[-1] == "8 block"
    (levels_only,) = collect_panels(summaries("kulynych-fig4"))
    assert levels_only.axes.drawing is Drawing.BARS


def test_the_papers_panels_come_first(made_up: None) -> None:
    panels = collect_panels(summaries("kulynych-fig1"))
    assert [panel.axes.x.name for panel in panels[:3]] == ["noise", "accuracy", "baseline"]
    assert [panel.axes.beyond for panel in panels] == [False] * 3 + [True] * 2


def test_the_longest_line_through_a_row_is_drawn() -> None:
    """Figure 2 of Yildirim 2025: left by strength, right by challenges, from one set of rows."""
    rows = [
        made(x, strength=s, challenges=n)
        for x, (s, n) in enumerate(
            [
                *((s / 10, 500) for s in range(10)),
                *((s, n) for s in (0.5, 0.9) for n in (100, 1000)),
            ]
        )
    ]
    found = [(panel.axes.x.name, panel.title) for panel in collect_panels(rows)]
    assert found == [
        ("strength", "500 challenges"),
        ("challenges", "strength 0.5"),
        ("challenges", "strength 0.9"),
    ]


def made(number: float, kind: str = "mcmc-strength", **options: Any) -> Summary:
    """A computed row of a kind, with every value a number."""
    row = computed("kulynych-fig3")[0]
    names = ("epsilon-low", "epsilon-median", "epsilon-high")
    values = {name: {"mean": number + i} for i, name in enumerate(names)}
    if kind != "mcmc-strength":
        values = {"f-dp": {"mean": number}}
    return replace(row, attack_options={"compute": kind, **options}, metric="m", ceilings=values)


def draw(*rows: Summary) -> list[ET.Element]:
    """The shapes of the marks in the only figure of these rows; none if there is none."""
    return [
        each
        for text in draw_suites(rows).values()
        for each in ET.fromstring(text).iter()
        if each.get("class") == "mark" or each.tag == f"{SVG}polyline"
    ]


@pytest.mark.parametrize("kind", ["singling-out", "rad", "rad-error", "gradient-corridor"])
@pytest.mark.parametrize(
    "values",
    [
        [0.5],
        [0.0],
        [0.5, 0.5, 0.5],
        [0.0, 0.0],
        [-1.0, 2.0],
        [1e-300, 1e-12],
        [1e90, 1e-90],
        [5e-324, 1.0],
    ],
    ids=str,
)
def test_odd_values_are_drawn(kind: str, values: list[float]) -> None:
    rows = [
        replace(made(value, kind, records=5, sigma=1.0 + i, risk=0.1 * i), epsilon=1.0 + i)
        for i, value in enumerate(values)
    ]
    shapes = draw(*rows)
    assert shapes and all("nan" not in each.get("points", "") for each in shapes)


@pytest.mark.parametrize("odd", [math.nan, math.inf, -math.inf, 1e300])
def test_what_is_no_number_is_left_out(odd: float) -> None:
    assert draw(made(odd, "rad")) == []
    rows = [replace(made(value, "rad"), epsilon=1.0 + i) for i, value in enumerate([0.1, odd, 0.3])]
    line = next(each for each in draw(*rows) if each.tag == f"{SVG}polyline")
    assert len(line.attrib["points"].split()) == 2
    lost = replace(made(0.1, "rad"), epsilon=math.inf)
    assert draw(lost) == []


def test_all_at_one_place_and_other_kinds_break_nothing() -> None:
    same = [replace(made(0.2, "rad"), epsilon=1.0) for _ in range(3)]
    assert draw(*same)
    assert draw(made(0.2, "no-such-kind")) == [] and draw_suites([]) == {}
    assert draw(replace(made(0.2, "rad"), ceilings={})) == []


def test_lines_of_what_was_asked_for_differently_are_not_joined() -> None:
    """Two thresholds that no axis declares: panels of their own, named by what differs."""
    rows = [
        replace(made(0.1 * i, "rad", values=m), epsilon=float(i)) for m in (5, 9) for i in (1, 2)
    ]
    panels = collect_panels(rows)
    assert [panel.title for panel in panels] == ["m, values 5", "m, values 9"]
    assert all(len(curve.points) == 2 for panel in panels for curve in panel.curves)


def test_an_interval_without_an_upper_end_goes_to_the_edge() -> None:
    """An audit that nothing bounds from above, between two that something does."""
    ends = ("audit-exact-low", "audit-exact", "audit-exact-high")
    rows = []
    for i, values in enumerate(([1.0, 1.1, 1.2], [2.0], [3.0, 3.1, 3.2])):
        found = {name: {"mean": value} for name, value in zip(ends, values, strict=False)}
        row = made(0.0, "audit-ldp")
        rows.append(replace(row, epsilon=1.0 + i, ceilings=found, mechanism="grr"))
    (panel,) = collect_panels(rows)
    assert [len(curve.points) for curve in panel.curves] == [3, 2, 2]
    (text,) = draw_suites(rows).values()
    groups = ET.fromstring(text).iter(f"{SVG}g")
    whiskers = next(each for each in groups if each.get("stroke-width") == "2.4")
    tops = [float(line.attrib["y2"]) for line in whiskers.iter(f"{SVG}line")]
    # The middle one is the highest: pixels count downwards.
    assert tops[1] < tops[2] < tops[0]


def test_many_names_and_hostile_ones_are_drawn() -> None:
    name = "</text><script>alert(1)</script>\x00"
    rows = [
        replace(made(1.0 + i, "mcmc-train"), targets=(f"{name} {i}",), dataset=name)
        for i in range(60)
    ]
    values = {"strength-median": {"mean": 0.5}}
    (text,) = draw_suites([replace(row, ceilings=values) for row in rows]).values()
    assert "<script" not in text
    shown = [each.text for each in ET.fromstring(text).iter(f"{SVG}text")]
    assert 3 < sum("script" in (each or "") for each in shown) < 60
    assert list_overlaps(text) == []


def test_an_interval_without_an_end_is_left_out() -> None:
    rows = [made(1.0 + i, strength=0.1 * i, challenges=5) for i in range(3)]
    rows[1] = replace(rows[1], ceilings={**rows[1].ceilings, "epsilon-high": {"mean": math.inf}})
    (text,) = draw_suites(rows).values()
    whiskers = [
        each
        for group in ET.fromstring(text).iter(f"{SVG}g")
        if group.findtext(f"{SVG}title") == "epsilon-median, interval"
        for each in group.findall(f"{SVG}line")
    ]
    assert len(whiskers) == 2


def test_suites_of_many_panels_say_how_many_are_drawn() -> None:
    rows = [replace(made(0.5, "rad", values=i), epsilon=1.0) for i in range(MOST_PANELS + 4)]
    (text,) = draw_suites(rows).values()
    assert f"the first {MOST_PANELS} of {MOST_PANELS + 4}" in text
    drawing = draw_single_panels(rows, rows[0].dataset)
    assert len(drawing.panels) == MOST_PANELS and drawing.count.startswith("40 panels, the first")


@pytest.mark.parametrize("odd", [[1, 2], {"a": None}, None, True, math.inf, -math.inf, "x" * 500])
def test_rows_of_others_may_ask_for_anything(odd: Any) -> None:
    rows = [made(0.5, "singling-out", records=odd, sigma=odd, other=odd) for _ in range(2)]
    assert draw(*rows, made(0.5, "singling-out", records=3))
    assert draw(made(0.5, odd)) == []
    assert draw(replace(made(0.5, "gradient-corridor", sigma=odd))) is not None
