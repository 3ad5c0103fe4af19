"""The site needs no other host: what is refused, and search in a page opened from disk."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from generate.site_build.offline import find_remote_sources

if TYPE_CHECKING:
    from playwright.sync_api import Browser

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.html", '<script src="https://unpkg.com/iframe-worker/shim"></script>'),
        ("a.html", '<link rel="stylesheet" href="//fonts.example/css">'),
        ("a.html", '<link rel="preconnect" href="https://fonts.example" crossorigin>'),
        ("a.html", '<img srcset="a.png 1x, https://example.org/b.png 2x">'),
        ("a.html", '<p style="background: url(https://example.org/a.png)">'),
        ("a.html", "<style>@font-face { src: url('//example.org/f.woff2') }</style>"),
        ("a.svg", '<svg><image href="https://example.org/a.png"/></svg>'),
        ("a.css", '@import "https://example.org/a.css";'),
        ("a.css", "body { src: url( https://example.org/a.woff ) }"),
    ],
)
def test_what_another_host_would_serve_is_found(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    (found,) = find_remote_sources(tmp_path)
    assert found.startswith(f"{name}: ")


def test_links_to_follow_and_own_files_are_allowed(tmp_path: Path) -> None:
    text = (
        '<a href="https://example.org">x</a> <img src="a.png"> <script src="a//b.js"></script>'
        '<svg xmlns="http://www.w3.org/2000/svg"><use href="#a"/></svg>'
        '<link rel="next" href="b.html">'
    )
    (tmp_path / "a.html").write_text(text, encoding="utf-8")
    (tmp_path / "a.css").write_text("a { background: url(data:image/png;base64,AA//) }")
    assert find_remote_sources(tmp_path) == []


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two pages with the settings of the site, but not its pages."""
    folder = tmp_path_factory.mktemp("site")
    shutil.copytree(ROOT / "docs" / "assets", folder / "docs" / "assets")
    wide = "| " + " | ".join(f"column{i}" for i in range(30)) + " |"
    rule = "|" + "---|" * 30
    (folder / "docs" / "index.md").write_text(f"# Home\n\n{wide}\n{rule}\n{wide}\n")
    (folder / "docs" / "ceilings.md").write_text("# Ceilings\n\nNo attack exceeds a ceiling.\n")
    (folder / "mkdocs.yml").write_text(
        f"INHERIT: {ROOT / 'mkdocs.yml'}\ndocs_dir: docs\nsite_dir: out\nhooks: []\nwatch: []\n"
        "nav: [index.md, ceilings.md]\nplugins: [search, offline]\n"
    )
    command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return folder / "out"


def test_the_theme_loads_nothing(site: Path) -> None:
    assert find_remote_sources(site) == []


def test_search_works_from_disk(site: Path, browser: Browser) -> None:
    requests: list[str] = []
    page = browser.new_page(viewport={"width": 1280, "height": 900}, offline=True)
    page.on("request", lambda request: requests.append(request.url))
    page.goto((site / "index.html").as_uri())
    page.get_by_role("textbox", name="Search").press_sequentially("exceeds")
    page.locator(".md-search-result").get_by_text("No attack").wait_for()
    assert [url for url in requests if not url.startswith(("file:", "data:", "about:"))] == []
    page.close()


def test_wide_tables_scroll_in_a_box_of_their_own(site: Path, browser: Browser) -> None:
    page = browser.new_page(viewport={"width": 390, "height": 844}, offline=True)
    page.goto((site / "index.html").as_uri())
    box = page.locator(".md-typeset__scrollwrap")
    assert box.evaluate("box => box.scrollWidth > box.clientWidth")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.close()
