"""The leaderboard in a real browser, offline: it works, fetches nothing, and runs no name."""

from __future__ import annotations

import csv
import io
import json
import math
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING

import numpy as np
import pytest
from typer.testing import CliRunner

from reconbench.benchmarks.assess.assess import assess
from reconbench.benchmarks.assess.question import Question
from reconbench.benchmarks.assess.report import AssessmentReport, TableSource
from reconbench.benchmarks.game.options import Options
from reconbench.benchmarks.game.play import AttackSpec, Game, Round, play
from reconbench.benchmarks.game.result import Status
from reconbench.benchmarks.store.summary import Summary
from reconbench.cli import app
from reconbench.datasets import Attribute, BayNet, Domain, Table, save_prior
from reconbench.reports import Leaderboard, leaderboard_html
from reconbench.reports.assess.report import assess_html
from reconbench.reports.compare.compare import compare
from reconbench.reports.compare.report import compare_html

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page
    from tests.reports.conftest import Reader

FACTS = {"suite": "demo", "seed": "7", "versions": "reconbench 0"}
DESKTOP, PHONE = {"width": 1280, "height": 900}, {"width": 375, "height": 740}
NARROW = {"width": 390, "height": 844}
HOSTILE = (
    "<script>window.hit=1</script>",
    "\"><img src=x onerror='window.hit=1'>",
    "</script><svg onload=window.hit=1>",
    "');window.hit=1;('",
    "${window.hit=1}",
    "\u202ereversed\u2066\u200f",
    "x" * 10_000,
    "=HYPERLINK(1)",
)
Open = Callable[..., "Page"]
Scored = Callable[[Summary], Summary]
Visit = Callable[..., "Page"]
Serious = Callable[["Page"], list[str]]


def saved(page: Page, selector: str) -> bytes:
    with page.expect_download() as download:
        page.click(selector)
    return download.value.path().read_bytes()


def read(content: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(content.decode(), newline="")))


def test_every_figure_is_drawn_under_the_strict_policy(
    opened: Open, rows: list[Summary], reader: type[Reader]
) -> None:
    page = opened(rows)
    assert reader.drawn(page) == [
        "success",
        "epsilon",
        "heat",
        "split",
        "time",
        "bounds",
        "calibration",
    ]


def test_rows_sort_both_ways_with_empty_ones_last(
    opened: Open, rows: list[Summary], reader: type[Reader]
) -> None:
    page = opened(rows)
    assert len(reader.column(page, "attack")) == len(rows)
    head = page.locator('#rows th[data-name="gap_closed"] button')
    for direction, sign in (("ascending", 1), ("descending", -1)):
        head.focus()
        page.keyboard.press("Enter")
        found = reader.column(page, "gap_closed")
        numbers = [float(text.replace("−", "-").removesuffix(" %")) for text in found if text]
        assert numbers == sorted(numbers, key=lambda value: sign * value)
        assert found[-1] == ""
        assert page.get_attribute('#rows th[data-name="gap_closed"]', "aria-sort") == direction
    page.click('#rows th[data-name="epsilon"] button')
    assert reader.column(page, "epsilon")[-1] == "∞"


def test_shares_of_no_gap_to_speak_of_are_small_print(
    opened: Open, bounded: Summary, reader: type[Reader]
) -> None:
    narrow = {"mean": {"mean": bounded.baseline_expected + 0.1}}
    page = opened([replace(bounded, ceilings=narrow | {"prior-exact": narrow["mean"]}), bounded])
    place = page.eval_on_selector('#rows th[data-name="gap_closed"]', "each => each.cellIndex")
    cells = page.locator(f"#rows tbody tr td:nth-child({place + 1})")
    flagged = ["no-gap" in text for text in reader.column(page, "flags")]
    assert sorted(flagged) == [False, True]
    assert [cells.nth(i).locator("small").count() == 1 for i in range(2)] == flagged


def test_filters_hold_for_rows_figures_and_files(
    opened: Open, rows: list[Summary], reader: type[Reader]
) -> None:
    from playwright.sync_api import expect

    page = opened(rows)
    reader.choose(page, "dataset", "fire")
    reader.choose(page, "epsilon", "∞")
    reader.choose(page, "attack", "rap", "posterior")
    assert reader.column(page, "attack") == ["posterior", "rap"] * 2
    reader.choose(page, "attack", "posterior", wanted=False)
    assert reader.names(page) == ["A", "B"]
    reader.choose(page, "targets", "B")
    assert reader.column(page, "dataset") == ["fire"]
    assert "rows 1 to 1 of 1 (25 in total)" in page.inner_text("#count")
    page.wait_for_selector('#figure-success[data-drawn="1"] svg', state="attached")
    (row,) = read(saved(page, '#figure-success [data-save="csv"]'))
    assert (row["dataset"], row["epsilon"], row["attack"]) == ("fire", "inf", "rap")
    page.click("#reset")
    page.fill("#search", "memory broken")
    expect(page.locator("#rows tbody tr")).to_have_count(1)
    assert reader.column(page, "attack") == ["broken"]
    page.fill("#search", "SEX")  # known everywhere, a target nowhere
    expect(page.locator("#rows tbody tr")).to_have_count(0)
    page.fill("#search", "nowhere to be found")
    expect(page.locator("#rows tbody tr")).to_have_count(0)
    assert "none of 25 rows" in page.inner_text("#count")


def test_a_data_set_of_the_ranking_shows_its_rows(opened: Open, rows: list[Summary]) -> None:
    page = opened(rows)
    page.click("#datasets a:has-text('fire')")
    page.locator("#count", has_text="of 12").wait_for()
    shown = page.locator("#rows tbody tr [data-name='dataset']").all_text_contents()
    assert set(shown) == {"fire"}


def test_a_row_opens_with_its_repetitions_and_facts(opened: Open, rows: list[Summary]) -> None:
    page = opened(rows)
    page.locator("#rows tbody tr a.open").first.focus()
    page.keyboard.press("Enter")
    text = page.inner_text("dialog[open]")
    first = Leaderboard.from_summaries(rows).summaries[0]
    for rep, (got, prior) in first.outcomes.items():
        assert f"{rep}\t{got}\t{prior}\t{got - prior}" in text
    for fact in (first.guarantee, "reconbench 0", "seed", "ceiling_thm35_0.95"):
        assert fact in text
    page.keyboard.press("Escape")
    assert page.locator("dialog[open]").count() == 0
    page.locator("#rows tbody tr td").nth(4).click()
    assert page.locator("dialog[open]").count() == 1
    page.click("dialog .close")


def test_a_row_says_how_often_it_exceeded_its_ceiling(opened: Open, bounded: Summary) -> None:
    outcomes = {rep: (50 + rep, 48) for rep in range(4)}
    page = opened([replace(bounded, outcomes=outcomes, repetitions=4, above_proved=0.25)])
    page.click("#rows tbody tr a.open")
    text = page.inner_text("dialog[open]")
    assert "passed-ceiling-allowed" in text and "Here: 1 of 4 repetitions" in text


def test_an_open_row_lists_the_facts_of_its_mechanism(opened: Open, bounded: Summary) -> None:
    facts = {"mechanism.sigma": 38.2, "mechanism.k": 3.0, "mechanism.mu": -1 / 3, "<b>": math.inf}
    page = opened([replace(bounded, facts=facts)])
    page.click("#rows tbody tr a.open")
    heading = page.locator("dialog h3", has_text="Facts about the mechanism")
    lines = heading.locator("xpath=following-sibling::dl[1]/div")
    assert [line.split() for line in lines.all_inner_texts()] == [
        ["<b>", "∞"],
        ["mechanism.k", "3"],
        ["mechanism.mu", "−0.333333"],
        ["mechanism.sigma", "38.2"],
    ]


def test_a_mechanism_without_facts_has_no_list_of_them(opened: Open, bounded: Summary) -> None:
    page = opened([replace(bounded, facts={})])
    page.click("#rows tbody tr a.open")
    assert page.locator("dialog h3", has_text="Facts about the mechanism").count() == 0


def test_the_saved_rows_are_those_of_the_board(opened: Open, rows: list[Summary]) -> None:
    page = opened(rows)
    found = read(saved(page, "#save"))
    board = Leaderboard.from_summaries(rows)
    assert len(found) == len(board.rows)
    for seen, row in zip(found, board.rows, strict=True):
        for name, value in row.items():
            if name not in seen:
                continue
            if isinstance(value, float):
                assert float(seen[name]) == pytest.approx(value, rel=1e-6), name
            else:
                assert seen[name] == ("" if value is None else str(value)), name


SUITE = """
name = "tiny"
description = "one column at two budgets"
repetitions = 3
attacks = ["prior"]

[[games]]
dataset = "acs"
targets = ["SEX"]
n = 20
epsilon = [1, 2]
"""


def test_the_saved_rows_of_a_run_are_those_of_its_store(visit: Visit, tmp_path: Path) -> None:
    suite, out = tmp_path / "tiny.toml", tmp_path / "out"
    suite.write_text(SUITE, encoding="utf-8")
    command = ["run", str(suite), "--out", str(out), "--jobs", "1", "--quiet"]
    assert CliRunner().invoke(app, command).exit_code == 0
    page = visit(out / "leaderboard.html")
    page.wait_for_selector("html[data-ready]")
    found = {row["epsilon"]: row for row in read(saved(page, "#save"))}
    with closing(sqlite3.connect(out / "results.sqlite")) as store:
        stored = [json.loads(text) for (text,) in store.execute("SELECT row FROM results")]
    assert len(stored) == 3 * len(found) == 6
    for epsilon, row in found.items():
        mine = [each for each in stored if each["epsilon"] == float(epsilon)]
        assert float(row["success"]) == pytest.approx(fmean(x["successes"] for x in mine), rel=1e-6)
        expected = fmean(x["baseline_expected"] for x in mine)
        assert float(row["baseline_expected"]) == pytest.approx(expected, rel=1e-6)
        assert row["repetitions"] == "3" and row["targets"] == "SEX"


def test_figures_are_saved_as_svg_and_png(
    opened: Open, rows: list[Summary], reader: type[Reader]
) -> None:
    page = opened(rows)
    # Chromium lets a page save ten files in a row
    found = {name: saved(page, f'#figure-{name} [data-save="svg"]') for name in reader.drawn(page)}
    assert all(svg.startswith(b"<svg") for svg in found.values())
    assert read(saved(page, '#figure-calibration [data-save="csv"]'))[0]["calibration"]
    svg = found["epsilon"]
    assert b"privacy budget" in svg
    # a figure that stands alone says what it shows
    assert b"Success against the budget" in svg and b"Higher is more leaked" in svg
    assert saved(page, '#figure-epsilon [data-save="png"]').startswith(b"\x89PNG")


def test_terms_explain_themselves_on_focus_and_on_hover(opened: Open, rows: list[Summary]) -> None:
    page = opened(rows)
    page.focus('button.term[data-term="prior"]')
    assert "before the release" in page.inner_text("#tip")
    page.keyboard.press("Escape")
    assert page.locator("#tip").is_hidden()
    page.hover('#rows th[data-name="expected_success"] button')
    assert "Higher: more was reconstructed" in page.inner_text("#tip")


def test_the_theme_switches_and_follows_the_system(opened: Open, rows: list[Summary]) -> None:
    page = opened(rows, scheme="dark")
    background = "getComputedStyle(document.body).backgroundColor"
    dark = page.evaluate(background)
    page.click("#theme")
    light = page.evaluate(background)
    assert dark != light
    page.click("#theme")
    assert page.evaluate(background) == dark


@pytest.mark.parametrize("viewport", [DESKTOP, PHONE], ids=["desktop", "phone"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_serious_fault(
    opened: Open,
    rows: list[Summary],
    viewport: dict[str, int],
    scheme: str,
    tmp_path: Path,
    serious: Serious,
    reader: type[Reader],
) -> None:
    page = opened(rows, viewport, scheme)
    reader.drawn(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= viewport["width"]
    page.screenshot(path=tmp_path / "page.png", full_page=True)
    assert (tmp_path / "page.png").stat().st_size > 10_000
    page.evaluate("scrollTo(0, 0)")

    assert serious(page) == []
    page.locator("#rows tbody tr a.open").first.click()
    assert serious(page) == []


def test_hostile_names_do_not_run(
    opened: Open, bounded: Summary, failed: Summary, reader: type[Reader]
) -> None:
    outcomes = {rep: (50 + rep, 48) for rep in range(3)}
    summaries = [
        replace(
            row,
            dataset=name,
            targets=(name,),
            mechanism=name,
            guarantee=name,
            metric=name,
            attack=name,
            attack_options={name: name},
            error=name,
            epsilon=epsilon,
            best_possible=55.0,
        )
        for name in HOSTILE
        for epsilon in (1.0, 2.0)
        for row in (replace(bounded, outcomes=outcomes), failed)
    ]
    page = opened(summaries)
    reader.drawn(page)
    assert len(reader.column(page, "attack")) == len(summaries)
    for place in range(0, len(summaries), 8):
        page.locator("#rows tbody tr a.open").nth(place).click()
        page.click("dialog .close")
    page.locator("#figure-time svg .mark-symbol path").last.hover(force=True)
    page.locator('details.filter[data-column="attack"] summary').click()
    page.locator('details.filter[data-column="attack"] input').first.check()
    assert page.evaluate("window.hit") is None
    assert page.evaluate("document.querySelectorAll('main img, main iframe').length") == 0
    assert page.evaluate("document.documentElement.scrollWidth") <= DESKTOP["width"]


@pytest.mark.parametrize("case", ["empty", "failures", "single", "equal"])
def test_poor_results_make_a_page_that_says_so(
    opened: Open, bounded: Summary, failed: Summary, case: str, reader: type[Reader]
) -> None:
    single = replace(
        bounded, repetitions=1, success_low=None, success_high=None, outcomes={0: (50, 48)}
    )
    equal = replace(
        bounded,
        outcomes=dict.fromkeys(range(3), (48, 48)),
        scores=dict.fromkeys(range(3), (48.25, 48.25)),
        expected_success=48.25,
        success=48.0,
        baseline=48.0,
    )
    summaries, said = {
        "empty": ([], "No results yet"),
        "failures": ([failed], "No attack finished a repetition"),
        "single": ([single], "one-repetition"),
        "equal": ([equal, replace(equal, attack="twin")], "0.0 % to 0.0 %"),
    }[case]
    page = opened(summaries)
    assert said in page.inner_text("body")
    reader.drawn(page)


def test_without_script_the_ranking_is_there(
    browser: Browser, rows: list[Summary], tmp_path: Path
) -> None:
    path = tmp_path / "page.html"
    path.write_text(leaderboard_html(rows, "Demo", FACTS), encoding="utf-8")
    context = browser.new_context(java_script_enabled=False, offline=True)
    page = context.new_page()
    page.goto(path.as_uri())
    text = page.inner_text("body")
    context.close()
    assert "need JavaScript" in text
    assert "posterior" in text and "gap closed" in text
    assert "What the release gives away" in text


@pytest.fixture(scope="module")
def documents(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The report of an assessment and a comparison, of a table whose every name is hostile."""
    folder = tmp_path_factory.mktemp("documents")
    columns = [Attribute(f"{name}{place}", HOSTILE) for place, name in enumerate(HOSTILE[:3])]
    domain, size = Domain(tuple(columns)), len(HOSTILE)
    uniform = np.full(size, 1 / size)
    save_prior(BayNet(domain, ((), (), ()), (uniform,) * 3, domain.names), folder / "p.bif")
    table = Table(domain, np.random.default_rng(0).integers(0, size, (120, 3)))
    question = Question(
        str(folder / "p.bif"),
        domain.names[:1],
        epsilon=1.0,
        epsilons=(1.0, 9.0),
        mechanism_options=Options({"k": 2}),
        reps=2,
        max_risk=0.1,
    )
    source = TableSource(HOSTILE[0], len(table), HOSTILE[1], False, (HOSTILE[2],))
    found = AssessmentReport(question, assess(question, table), source)
    (folder / "report.html").write_text(assess_html(found), encoding="utf-8")
    rows = [
        play(Round.draw(Game("acs", ("SEX",), 1.0, n=20, rep=rep)), AttackSpec("prior"))
        for rep in range(2)
    ]
    before = [
        replace(row, dataset=name, targets=(name,), attack=name, attack_options={name: name})
        for row in rows
        for name in HOSTILE
    ]
    after = [
        replace(row, error=row.attack, status=Status.FAILED, successes=None)
        if row.rep
        else replace(row, error=row.attack)
        for row in before
    ]
    page = compare_html(compare(before, after), HOSTILE[0], HOSTILE[1])
    (folder / "compare.html").write_text(page, encoding="utf-8")
    return [folder / "report.html", folder / "compare.html"]


@pytest.mark.parametrize("place", [0, 1], ids=["assess", "compare"])
def test_reports_of_hostile_names_are_inert_and_accessible(
    visit: Visit, serious: Serious, documents: list[Path], place: int
) -> None:
    for viewport, scheme in ((DESKTOP, "light"), (PHONE, "dark")):
        page = visit(documents[place], viewport, scheme)
        page.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true })")
        assert page.evaluate("window.hit") is None
        assert page.evaluate("document.querySelectorAll('script, img, iframe').length") == 0
        assert "<script>window.hit=1</script>" in page.inner_text("body")
        assert page.evaluate("document.documentElement.scrollWidth") <= viewport["width"]
        assert serious(page) == []
