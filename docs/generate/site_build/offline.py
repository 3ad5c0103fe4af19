"""Whether the built site works without a network: nothing that a page loads is on another host."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

# What a browser loads by itself. A link that a reader may follow is not among it.
LOADED = {
    "audio": ("src",),
    "embed": ("src",),
    "iframe": ("src", "srcdoc"),
    "image": ("href", "xlink:href"),
    "img": ("src", "srcset"),
    "input": ("src",),
    "object": ("data",),
    "script": ("src",),
    "source": ("src", "srcset"),
    "track": ("src",),
    "use": ("href", "xlink:href"),
    "video": ("src", "poster"),
}
LINKS = {"stylesheet", "icon", "preconnect", "preload", "modulepreload", "dns-prefetch", "manifest"}
ELSEWHERE = re.compile(r"(?:^|[\s,])(?:https?:)?//", re.IGNORECASE)
IN_STYLE = re.compile(r"(?:url\(|@import)\s*[\"']?\s*(?:https?:)?//[^)\"']*", re.IGNORECASE)


def find_remote_sources(site: Path) -> list[str]:
    """What pages and style sheets would load from another host, as ``file: source``."""
    remote = []
    for path in sorted(site.rglob("*")):
        if path.suffix in {".html", ".svg"}:
            sources = _find_in_page(path.read_text(encoding="utf-8"))
        elif path.suffix == ".css":
            sources = iter(IN_STYLE.findall(path.read_text(encoding="utf-8")))
        else:
            continue
        remote += [f"{path.relative_to(site)}: {source}" for source in sources]
    return remote


def _find_in_page(text: str) -> Iterator[str]:
    page = _Page()
    page.feed(text)
    yield from page.remote


class _Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.remote: list[str] = []
        self._in_style = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        names = LOADED.get(tag, ())
        if tag == "link" and LINKS & set(given.get("rel", "").lower().split()):
            names = ("href",)
        self.remote += [
            given[name] for name in names if name in given and ELSEWHERE.search(given[name])
        ]
        self.remote += IN_STYLE.findall(given.get("style", ""))
        self._in_style = tag == "style"

    def handle_data(self, data: str) -> None:
        if self._in_style:
            self.remote += IN_STYLE.findall(data)

    def handle_endtag(self, tag: str) -> None:
        self._in_style = False
