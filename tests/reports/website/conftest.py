"""Rows of a small store, and a reader of sites."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from reconbench.benchmarks.game.play import AttackSpec, Game, Round, play
from reconbench.benchmarks.game.result import Result
from reconbench.reports.website.content import ResultFolder, SiteContent, StoredRow
from reconbench.reports.website.folder import write_site
from reconbench.reports.website.pages import plan_pages

Write = Callable[..., Path]


@pytest.fixture(scope="session")
def rows() -> list[Result]:
    """Two attacks on one game, two repetitions."""
    rounds = [Round.draw(Game("acs", ("SEX",), 3.0, n=30, rep=rep)) for rep in range(2)]
    return [play(each, AttackSpec(name)) for each in rounds for name in ("prior", "averaging")]


@pytest.fixture(scope="session")
def folder(rows: list[Result]) -> ResultFolder:
    stored = [
        StoredRow(f"{index:064x}", "c0de" * 16, row, row.attack, row.mechanism)
        for index, row in enumerate(rows)
    ]
    return ResultFolder("small", tuple(stored), "small", "Two attacks on one column")


def rename(folder: ResultFolder, **changes: object) -> ResultFolder:
    """The folder with other values in every row."""
    rows = [replace(each, row=replace(each.row, **changes)) for each in folder.rows]  # type: ignore[arg-type]
    return replace(folder, rows=tuple(rows))


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def make(content: SiteContent, name: str = "site") -> Path:
        out = tmp_path / name
        write_site(out, ((page.path, page.make()) for page in plan_pages(content)))
        return out

    return make


class Tags(HTMLParser):
    """The tags, links and anchors of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.links: list[str] = []
        self.ids: set[str] = set()
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        for name, value in attrs:
            if name in ("href", "src"):
                self.links.append(value or "")
            if name == "id":
                self.ids.add(value or "")
            assert not name.startswith("on"), (tag, name)

    def handle_data(self, data: str) -> None:
        self.text += data


def read_pages(site: Path) -> dict[Path, Tags]:
    return {path: Tags(path.read_text(encoding="utf-8")) for path in sorted(site.rglob("*.html"))}


def check_links(site: Path) -> int:
    """Every link is relative and leads to a file of the site, and every anchor exists."""
    pages = read_pages(site)
    count = 0
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            assert not parts.scheme and not parts.netloc and not link.startswith("/"), link
            target = path if not parts.path else (path.parent / unquote(parts.path)).resolve()
            assert target.is_relative_to(site.resolve()) and target.is_file(), (path, link)
            if parts.fragment:
                assert parts.fragment in pages[target].ids, (path, link)
            count += 1
    return count
