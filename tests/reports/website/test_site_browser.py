"""The site in a browser, from disk: style, dark mode, small screens, accessibility."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from reconbench.reports.website.content import Assessment, ResultFolder, SiteContent

from .conftest import Write
from .test_pages import ASSESSMENT, HOSTILE

if TYPE_CHECKING:
    from playwright.sync_api import Browser

PHONE = {"width": 390, "height": 844}


@pytest.fixture
def site(folder: ResultFolder, write: Write) -> Path:
    assessment = Assessment.from_json(HOSTILE, ASSESSMENT)
    return write(SiteContent("Results", (folder,), assessments=(assessment,)))


def test_pages_open_from_disk_on_a_phone_in_the_dark(browser: Browser, site: Path) -> None:
    wrong: list[str] = []
    context = browser.new_context(
        viewport=PHONE,  # type: ignore[arg-type]
        offline=True,
        java_script_enabled=True,
        color_scheme="dark",
    )
    pages = [path for path in sorted(site.rglob("*.html")) if path.name != "leaderboard.html"]
    for path in pages:
        page = context.new_page()
        page.on("console", lambda message: wrong.append(message.text))
        page.on("dialog", lambda dialog: wrong.append(dialog.message))
        page.on("requestfailed", lambda request: wrong.append(request.url))
        page.on(
            "request",
            lambda request: (
                None if request.url.startswith(site.as_uri()) else wrong.append(request.url)
            ),
        )
        page.goto(path.as_uri())
        dark = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert dark == "rgb(17, 20, 24)", path
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"], path
        page.close()
    context.close()
    assert wrong == [] and len(pages) > 6


def test_links_lead_from_the_index_to_a_number_and_back(browser: Browser, site: Path) -> None:
    page = browser.new_page(offline=True)
    page.goto((site / "index.html").as_uri())
    page.click("section a:has-text('small')")
    assert page.inner_text("h1") == "Suite small"
    page.click("#games ~ div a[href*='numbers']")
    assert "How to reproduce it" in page.inner_text("main")
    page.click("nav a >> nth=0")
    assert page.url == (site / "index.html").as_uri()
    page.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pages_are_accessible(browser: Browser, site: Path, scheme: str) -> None:
    from axe_playwright_python.sync_playwright import Axe

    context = browser.new_context(bypass_csp=True, color_scheme=scheme)  # type: ignore[arg-type]
    for pattern in ("index.html", "history.html", "suites/*/index.html", "numbers/*/*.html"):
        page = context.new_page()
        page.goto(sorted(site.glob(pattern))[0].as_uri())
        result = Axe().run(page)
        assert result.violations_count == 0, (pattern, result.generate_report())
        page.close()
    context.close()
