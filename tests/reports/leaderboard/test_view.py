"""What a reader of the leaderboard sees: the first picture, figures, paper, links, phones."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from reconbench.benchmarks.store.summary import Summary, summarise
from reconbench.benchmarks.suites.suite import find_suite
from reconbench.reports import Leaderboard, leaderboard_html

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page
    from tests.reports.conftest import Reader

FACTS = {"suite": "demo", "seed": "7", "versions": "reconbench 0"}
DESKTOP, NARROW = {"width": 1280, "height": 900}, {"width": 390, "height": 844}
Open = Callable[..., "Page"]


def test_the_picture_needs_no_script_and_no_scrolling(
    browser: Browser, rows: list[Summary], tmp_path: Path
) -> None:
    path = tmp_path / "page.html"
    path.write_text(leaderboard_html(rows, "Demo", FACTS), encoding="utf-8")
    context = browser.new_context(java_script_enabled=False, offline=True, viewport=DESKTOP)  # type: ignore[arg-type]
    page = context.new_page()
    page.goto(path.as_uri())
    for place in ("#overview", "#ranking", "#summary"):
        box = page.locator(place).bounding_box()
        assert box is not None and box["y"] + box["height"] <= DESKTOP["height"], place
    assert page.locator("#overview svg.gains").count() == 4
    key = page.inner_text("#overview .key")
    for role in ("guessing from the prior", "rap", "posterior", "best possible", "ceiling"):
        assert role in key
    context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_marks_of_the_picture_stand_out(opened: Open, rows: list[Summary], scheme: str) -> None:
    """A contrast of 3 against the card, as WCAG asks of graphics; the grey bar has a dark end."""
    page = opened(rows, DESKTOP, scheme)
    contrasts = page.evaluate(
        """() => {
          const light = (colour) => colour.match(/[\\d.]+/g).slice(0, 3).map((part) => part / 255)
            .map((part) => (part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4))
            .reduce((sum, part, index) => sum + part * [0.2126, 0.7152, 0.0722][index], 0);
          const card = light(getComputedStyle(document.querySelector("#overview")).backgroundColor);
          const marks = [".prior", ".best", ".most-end", ".attack.a0", ".attack.a1"];
          return marks.map((name) => {
            const { fill, stroke } = getComputedStyle(document.querySelector(`.gains ${name}`));
            const own = light(stroke === "none" ? fill : stroke);
            return (Math.max(own, card) + 0.05) / (Math.min(own, card) + 0.05);
          });
        }"""
    )
    assert min(contrasts) >= 3


def test_a_phone_shows_the_success_and_whole_figures(
    opened: Open, rows: list[Summary], reader: type[Reader]
) -> None:
    page = opened(rows, NARROW)
    reader.drawn(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= NARROW["width"]
    box = page.locator('#rows td[data-name="expected_success"]').first.bounding_box()
    assert box is not None and box["x"] + box["width"] <= NARROW["width"]
    assert page.locator("#rows tbody tr .narrow").first.inner_text() in ("acs", "fire")
    # plots of the picture stand below each other, each with its names
    tops = page.eval_on_selector_all(
        "#overview svg.gains", "all => all.map(x => x.getBoundingClientRect().top)"
    )
    assert tops == sorted(set(tops))
    assert page.locator("#overview svg.names:visible").count() == len(tops)
    for name in ("success", "epsilon", "heat"):
        wide = page.locator(f"#figure-{name} .plot svg").bounding_box()
        assert wide is not None and wide["width"] <= NARROW["width"], name


def test_figures_change_between_records_and_gains(
    opened: Open, rows: list[Summary], reader: type[Reader]
) -> None:
    page = opened(rows)
    reader.drawn(page)
    figure = page.locator("#figure-success")
    button = figure.locator("[data-measure]")
    assert button.get_attribute("aria-pressed") == "true"
    assert "records gained over the prior" in figure.inner_text()
    button.click()
    page.wait_for_function(
        "() => document.querySelector('#figure-success .plot svg')?.textContent"
        ".includes('records reconstructed')"
    )
    # the axis fits the data: nothing is near 0
    ticks = page.eval_on_selector_all(
        "#figure-success .role-axis-label text", "all => all.map(x => Number(x.textContent))"
    )
    assert min(tick for tick in ticks if not math.isnan(tick)) >= 20


def test_a_figure_shows_all_on_demand(opened: Open, bounded: Summary, reader: type[Reader]) -> None:
    page = opened(
        [
            replace(bounded, targets=(f"c{place:02}",), epsilon=epsilon)
            for place in range(12)
            for epsilon in (1.0, 2.0)
        ]
    )
    reader.drawn(page)
    figure = page.locator("#figure-epsilon")
    assert "The 8 with most to gain of 12 are drawn." in figure.inner_text()
    figure.locator("[data-all]").click()
    page.wait_for_selector('#figure-epsilon[data-drawn="24"]')
    assert figure.locator("[data-all]").inner_text() == "Show fewer"


def test_cells_of_the_heat_map_have_numbers(
    opened: Open, rows: list[Summary], reader: type[Reader]
) -> None:
    page = opened(rows)
    reader.drawn(page)
    texts = page.locator("#figure-heat .mark-text.role-mark text").all_text_contents()
    cells = [row for row in Leaderboard.from_summaries(rows).rows if row["expected_success"]]
    assert len(texts) == len(cells)
    assert all(math.isfinite(float(text.replace("−", "-"))) for text in texts)


def test_paper_has_every_figure_and_all_rows(
    opened: Open, bounded: Summary, tmp_path: Path
) -> None:
    """Printed at once, from the dark theme: 120 rows, and figures that no one scrolled to."""
    page = opened(
        [
            replace(bounded, targets=(f"c{place:02}",), epsilon=epsilon)
            for place in range(60)
            for epsilon in (1.0, 2.0)
        ],
        scheme="dark",
    )
    content = page.pdf(prefer_css_page_size=True)
    assert content.startswith(b"%PDF")
    assert page.locator("figure .plot svg").count() == page.locator("figure").count()
    page.emulate_media(media="print")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    scroll = "getComputedStyle(document.querySelector('#all .scroll'))"
    assert page.evaluate(f"[{scroll}.maxHeight, {scroll}.overflowY]") == ["none", "visible"]
    # buttons in a head would keep it from being repeated on every page
    assert page.locator("#rows th button:visible").count() == 0
    assert page.locator("#rows th .paper:visible").count() > 5
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert page.locator("#rows tbody tr").count() == 120
    page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    assert page.locator("#rows tbody tr").count() == 50


def test_the_address_keeps_what_is_shown(
    opened: Open, rows: list[Summary], reader: type[Reader]
) -> None:
    page = opened(rows)
    reader.choose(page, "dataset", "fire")
    reader.choose(page, "epsilon", "1", "∞")
    reader.choose(page, "attack", "rap")
    page.click('#rows th[data-name="targets"] button')
    page.click('#rows th[data-name="targets"] button')
    page.click("#theme")
    page.locator("#rows tbody tr a.open").nth(1).click()
    fragment = page.evaluate("location.hash")
    title = page.inner_text("#details-title")
    for part in ("dataset=fire", "epsilon=1", "epsilon=inf", "attack=rap", "sort=-targets"):
        assert part in fragment
    assert "theme=dark" in fragment and "row=" in fragment

    other = opened(rows, fragment=fragment)
    assert other.inner_text("#details-title") == title
    other.keyboard.press("Escape")
    assert "row=" not in other.evaluate("location.hash")
    assert reader.names(other) == ["B", "B", "A", "A"] and set(reader.column(other, "attack")) == {
        "rap"
    }
    assert other.get_attribute("html", "data-theme") == "dark"
    assert other.inner_text('details.filter[data-column="epsilon"] summary b') == "1, ∞"
    # a link to a section leaves the view as it is
    other.click('nav a[href="#ranking"]')
    other.wait_for_function("() => location.hash.startsWith('#ranking&')")
    assert reader.names(other) == ["B", "B", "A", "A"]
    other.evaluate("location.hash = 'dataset=acs'")
    other.wait_for_function("() => document.querySelector('#count').textContent.includes('of 13')")


def test_every_row_has_a_permalink(opened: Open, rows: list[Summary], reader: type[Reader]) -> None:
    page = opened(rows)
    links = page.eval_on_selector_all("#rows a.open", "all => all.map(x => x.getAttribute('href'))")
    assert len(set(links)) == len(rows)
    assert all(link.startswith("#row=") for link in links)
    # the same row has the same link on a page of other rows
    row = Leaderboard.from_summaries(rows).summaries[5]
    other = opened([row, replace(row, attack="another")], fragment=links[5])
    assert other.inner_text("#details-title").startswith(f"{row.attack} on {row.column}")
    assert other.locator("dialog a", has_text="Link to this row").get_attribute("href") == links[5]
    gone = opened(rows, fragment="#row=0000000000&sort=nothing&dataset=unknown&theme=<b>")
    assert gone.locator("dialog[open]").count() == 0
    assert "the linked row is not on this page" in gone.inner_text("#count")
    assert len(reader.column(gone, "attack")) == len(rows)


def test_a_share_of_no_gap_is_called_so(
    opened: Open, bounded: Summary, reader: type[Reader]
) -> None:
    closed = {"prior-exact": {"mean": bounded.baseline_expected}}
    page = opened([replace(bounded, ceilings=closed)])
    assert reader.column(page, "gap_closed") == ["no gap"]


# Texts of a figure that stand on one another, by a pixel or more each way.
OVERLAPS = """() => [...document.querySelectorAll("#computed svg")].flatMap((svg) => {
  const boxes = [...svg.querySelectorAll("text")]
    .map((text) => [text.textContent, text.getBoundingClientRect()]);
  return boxes.flatMap(([first, a], index) => boxes.slice(index + 1)
    .filter(([, b]) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1
      && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 1)
    .map(([second]) => [first, second]));
})"""


def test_a_suite_of_computed_bounds_starts_with_curves(opened: Open) -> None:
    points = [point.row() for point in find_suite("kulynych-fig2").points()]
    page = opened(summarise(points), NARROW)
    assert page.locator("#computed .curves svg").count() == 6
    assert page.evaluate(OVERLAPS) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= NARROW["width"]
    assert "No attack was played." in page.inner_text("#summary")
