"""Summaries for the tests of the reports."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from reconbench.benchmarks.store.summary import Summary

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

Visit = Callable[..., "Page"]
DESKTOP = {"width": 1280, "height": 900}
CHROMIUM_FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Headless Chromium; a CI without one fails, elsewhere its tests are left out."""
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    if path is None:
        reason = "no Chromium found: `apt-get install chromium`, or `make test` as root on Debian"
        if os.environ.get("CI", "").lower() == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=path, args=list(CHROMIUM_FLAGS))
        yield started
        started.close()


@pytest.fixture
def visit(browser: Browser) -> Iterator[Visit]:
    """Opens a file without a network; fails on any request, error or policy violation."""
    wrong: list[str] = []
    contexts = []

    def opened(path: Path, viewport: dict[str, int] = DESKTOP, scheme: str = "light") -> Page:
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
                if request.url == path.as_uri() or request.url.startswith(("data:", "blob:"))
                else wrong.append(request.url)
            ),
        )
        page.goto(path.as_uri())
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


@pytest.fixture
def summary() -> Summary:
    return Summary(
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
    return replace(
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
