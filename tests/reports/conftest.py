"""Summaries for the tests of the reports."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from reconbench.benchmarks.store.summary import Summary
from reconbench.reports import leaderboard_html

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

Open = Callable[..., "Page"]
Visit = Callable[..., "Page"]
Scored = Callable[[Summary], Summary]
FACTS = {"suite": "demo", "seed": "7", "versions": "reconbench 0"}
DESKTOP = {"width": 1280, "height": 900}


@pytest.fixture
def visit(browser: Browser) -> Iterator[Visit]:
    """Opens a file without a network; fails on any request, error or policy violation."""
    wrong: list[str] = []
    contexts = []

    def opened(
        path: Path,
        viewport: dict[str, int] = DESKTOP,
        scheme: str = "light",
        fragment: str = "",
    ) -> Page:
        context = browser.new_context(
            viewport=viewport,  # type: ignore[arg-type]
            offline=True,
            color_scheme=scheme,  # type: ignore[arg-type]
            accept_downloads=True,
        )
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda m: wrong.append(m.text) if m.type == "error" else None)
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("dialog", lambda dialog: wrong.append(f"dialog {dialog.message}"))
        page.on(
            "request",
            lambda request: (
                None
                if request.url.partition("#")[0] == path.as_uri()
                or request.url.startswith(("data:", "blob:"))
                else wrong.append(request.url)
            ),
        )
        page.goto(f"{path.as_uri()}{fragment}")
        return page

    yield opened
    for context in contexts:
        context.close()
    assert wrong == []


@pytest.fixture
def serious() -> Callable[[Page], list[str]]:
    """The serious accessibility faults that axe-core finds in a page."""
    Axe = import_module("axe_playwright_python.sync_playwright").Axe

    def found(page: Page) -> list[str]:
        return [
            f"{each['id']}: {each['nodes'][0]['html'][:200]}"
            for each in Axe().run(page).response["violations"]
            if each["impact"] in ("serious", "critical")
        ]

    return found


def score(row: Summary) -> Summary:
    """With the expected success that its outcomes have as control variates."""
    if row.success is None:
        return replace(
            row,
            expected_success=None,
            expected_success_low=None,
            expected_success_high=None,
            scored_by="",
            scores={},
        )
    expects = row.baseline_expected
    half = 0.0 if row.success_high is None else row.success_high - row.success
    gain = row.success - row.baseline
    return replace(
        row,
        expected_success=expects + gain,
        expected_success_low=None if row.success_low is None else expects + gain - half,
        expected_success_high=None if row.success_high is None else expects + gain + half,
        scored_by="control variate",
        scores={
            rep: (expects + got - prior, expects) for rep, (got, prior) in row.outcomes.items()
        },
    )


class Reader:
    """Reads a leaderboard in the browser."""

    @staticmethod
    def drawn(page: Page) -> list[str]:
        """Waits, without scrolling, until every figure has been drawn; their names."""
        if page.locator("figure").count():
            page.wait_for_selector("html[data-figures]", state="attached")
        names = page.eval_on_selector_all(
            "figure[data-drawn]:has(svg)", "all => all.map(x => x.id)"
        )
        return [str(name).removeprefix("figure-") for name in names]

    @staticmethod
    def choose(page: Page, column: str, *labels: str, wanted: bool = True) -> None:
        """Ticks values of a filter."""
        box = page.locator(f'details.filter[data-column="{column}"]')
        box.locator("summary").click()
        for label in labels:
            box.get_by_label(label, exact=True).set_checked(wanted)
        page.keyboard.press("Escape")
        assert box.get_attribute("open") is None

    @staticmethod
    def column(page: Page, name: str) -> list[str]:
        index = page.eval_on_selector(f'#rows th[data-name="{name}"]', "each => each.cellIndex")
        texts: list[str] = page.eval_on_selector_all(
            f"#rows tbody tr td:nth-child({index + 1})", "all => all.map(each => each.textContent)"
        )
        return texts

    @staticmethod
    def names(page: Page) -> list[str]:
        """The hidden columns of the rows on screen, without what only a phone shows."""
        index = page.eval_on_selector('#rows th[data-name="targets"]', "each => each.cellIndex")
        return page.locator(f"#rows tbody tr td:nth-child({index + 1})").all_inner_texts()


@pytest.fixture
def reader() -> type[Reader]:
    return Reader


@pytest.fixture
def scored() -> Scored:
    """Scores a row whose outcomes were made up."""
    return score


@pytest.fixture
def summary() -> Summary:
    return score(
        Summary(
            dataset="acs",
            data_hash="0" * 64,
            targets=("AGEP",),
            known=("SEX", "MAR"),
            n=100,
            facts={"mechanism.k": 3.0},
            epsilon=1.0,
            delta=1e-5,
            mechanism="gaussian-marginals",
            guarantee="0.268-GDP, replace-one",
            metric="exact",
            adversary="realistic",
            attacker_prior="same",
            attack="rap",
            attack_options={},
            seed=0,
            repetitions=3,
            failures=0,
            skipped=0,
            error=None,
            success=50 + 1 / 3,
            success_low=40.1,
            success_high=60.2,
            baseline=47.0,
            baseline_expected=48.25,
            ceilings={"thm35": {"0.05": 60.0, "0.5": 67.0 + 1 / 3, "0.95": 74.0}},
            above_ceiling=0.0,
            seconds=0.1 + 0.2,
        )
    )


@pytest.fixture
def bounded(summary: Summary) -> Summary:
    """With every ceiling for any attack."""
    return replace(
        summary,
        ceilings={
            "thm35": {"0.05": 74.0, "0.5": 81.0, "0.95": 87.0},
            "profile": {"0.05": 62.0, "0.5": 70.0, "0.95": 81.0},
            "profile-recursion": {"0.05": 64.0, "0.5": 69.0, "0.95": 80.0},
            "fdp-recursion": {"0.05": 65.0, "0.5": 67.0, "0.95": 77.0},
            "mean": {"mean": 70.95},
            "prior-exact": {"mean": 63.15},
        },
    )


@pytest.fixture
def failed(summary: Summary) -> Summary:
    return score(
        replace(
            summary,
            attack="broken",
            repetitions=0,
            failures=3,
            error="attack 'broken' failed: no memory",
            success=None,
            success_low=None,
            success_high=None,
            ceilings={},
            above_ceiling=None,
            seconds=None,
        )
    )


@pytest.fixture
def rows(bounded: Summary, failed: Summary) -> list[Summary]:
    """Two data sets, columns, budgets and three attacks, one of which failed once."""
    found = []
    for place, dataset in enumerate(("acs", "fire")):
        for column in ("A", "B"):
            for epsilon in (1.0, math.inf):
                for gain, attack in enumerate(("prior", "rap", "posterior")):
                    outcomes = {rep: (48 + place + 3 * gain + rep, 48 + rep) for rep in range(4)}
                    found.append(
                        replace(
                            bounded,
                            dataset=dataset,
                            targets=(column,),
                            epsilon=epsilon,
                            attack=attack,
                            outcomes=outcomes,
                            repetitions=4,
                            success=49.5 + place + 3 * gain,
                            best_possible=57.0,
                            best_possible_converged=True,
                            reliability={"5": [300.0, 165.0, 170.0], "9": [100.0, 96.0, 90.0]},
                        )
                    )
    return [*map(score, found), replace(failed, targets=("A",))]


@pytest.fixture
def opened(visit: Visit, tmp_path: Path) -> Open:
    """Opens a leaderboard of some rows, once it is ready."""

    def open_(
        summaries: list[Summary],
        viewport: dict[str, int] = DESKTOP,
        scheme: str = "light",
        fragment: str = "",
    ) -> Page:
        path = tmp_path / "leaderboard.html"
        path.write_text(leaderboard_html(summaries, "Demo", FACTS), encoding="utf-8", newline="")
        page = visit(path, viewport, scheme, fragment)
        page.wait_for_selector("html[data-ready]")
        return page

    return open_
