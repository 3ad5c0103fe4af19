"""Pages of verified entries: sealed results, the revealed seed, and a stranger's text as text."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path

import pytest

from reconbench.benchmarks.game.result import Result
from reconbench.benchmarks.submissions.cheat_test import compare_gains
from reconbench.benchmarks.submissions.entry import (
    About,
    Entry,
    Machine,
    SubmittedAttack,
    SubmittedSuite,
)
from reconbench.benchmarks.submissions.verdict import Outcome, Replayed, RevealedSeal, Verdict
from reconbench.reports.website.content import ResultFolder, SiteContent

from .conftest import Write, check_links, read_pages
from .test_pages import HOSTILE

SEAL = RevealedSeal(
    suite="small", commitment=hashlib.sha256(b"11 salt").hexdigest(), seed=11, salt="salt"
)


def make_verdict(rows: list[Result], name: str, text: str, suite: str = "small") -> Verdict:
    own = [replace(row, attack=name) for row in rows if row.attack == "averaging"]
    sealed = tuple(replace(row, seed=11, seal=SEAL.commitment) for row in own)
    attack = SubmittedAttack(
        name=name,
        file="mine.py",
        cls="Mine",
        options={},
        source=text,
        sha256=hashlib.sha256(text.encode()).hexdigest(),
    )
    entry = Entry(
        attack,
        SubmittedSuite(name=suite, seed=0),
        About(description=text, author=text, paper=text, claims_paper=True),
        {text: text},
        Machine(kernels={text: text}, python=text, system=text),
        tuple(own),
    )
    replayed = Replayed(rows=2, of=2, different=[], drift={})
    test = compare_gains(own, sealed)
    return Verdict(Outcome.ACCEPTED, (text,), entry, replayed, {"numpy": text}, test, SEAL, sealed)


@pytest.fixture
def site(folder: ResultFolder, rows: list[Result], write: Write) -> Path:
    verdicts = (
        make_verdict(rows, "mine", "plain & simple"),
        make_verdict(rows, HOSTILE, HOSTILE, suite=HOSTILE[:40]),
    )
    return write(SiteContent("Results", (folder,), verdicts))


def test_an_entry_is_shown_by_its_sealed_rows(site: Path) -> None:
    assert check_links(site) > 50
    (path,) = (site / "entries").glob("mine-*.html")
    text = read_pages(site)[path].text
    assert "Verdict: accepted" in text and "plain & simple" in text
    assert SEAL.commitment in text and "the author says so" in text
    sealed = "reconbench submit mine.py:Mine --suite path/to/suite.toml --seed 11 --reps 2 --out"
    assert sealed in text and "--seed 0 --reps 2 --out entry.json" in text
    index = read_pages(site)[site / "index.html"].text
    assert "Verified entries, by the share of the gap" in index
    assert "Verified entries on other suites" in index


def test_entries_of_strangers_stay_text(site: Path) -> None:
    pages = read_pages(site)
    hostile = [path for path in (site / "entries").iterdir() if not path.name.startswith("mine-")]
    assert len(hostile) == 1 and hostile[0].name.isascii() and len(hostile[0].name) < 80
    page = pages[hostile[0]]
    assert "script" not in page.tags and "img" not in page.tags
    assert page.text.count("<script>alert(1)</script>") >= 8
    for path in (*hostile, site / "index.html"):
        assert "\u202e" not in path.read_text(encoding="utf-8")


def test_entry_pages_are_accessible(site: Path, browser: object) -> None:
    from axe_playwright_python.sync_playwright import Axe
    from playwright.sync_api import Browser

    assert isinstance(browser, Browser)
    context = browser.new_context(bypass_csp=True)
    for path in (*(site / "entries").iterdir(), *(site / "attacks").iterdir()):
        page = context.new_page()
        page.goto(path.as_uri())
        result = Axe().run(page)
        assert result.violations_count == 0, (path, result.generate_report())
        page.close()
    context.close()
