"""The downloader: checked, bounded, https only, one clear line when it cannot."""

import hashlib
import io
import socket
import urllib.request
from email.message import Message
from http.client import HTTPMessage
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError

import pytest

from reconbench.datasets.sources import _download
from reconbench.datasets.sources._download import Opener, SourceError, default_cache, fetch

URL = "https://example.org/file.csv"


class Answer(io.BytesIO):
    def __init__(self, body: bytes, length: str | None = None) -> None:
        super().__init__(body)
        self.headers = Message()
        if length is not None:
            self.headers["Content-Length"] = length


class Server:
    """An opener that counts its calls and answers one thing."""

    def __init__(self, body: bytes = b"hello", length: str | None = None) -> None:
        self.body, self.length, self.calls = body, length, 0

    def __call__(self, url: str, timeout: float) -> Answer:
        self.calls += 1
        return Answer(self.body, self.length)


def failing(error: Exception) -> Opener:
    def opener(url: str, timeout: float) -> Answer:
        raise error

    return opener


def get(tmp_path: Path, opener: Opener, max_bytes: int = 100, **options: Any) -> Path:
    return fetch(URL, "file.csv", cache_dir=tmp_path, opener=opener, max_bytes=max_bytes, **options)


def test_second_use_comes_from_the_cache(tmp_path: Path) -> None:
    server = Server()
    first, second = get(tmp_path, server), get(tmp_path, server)
    assert first == second and first.read_bytes() == b"hello"
    assert server.calls == 1
    recorded = (tmp_path / "file.csv.sha256").read_text().strip()
    assert recorded == hashlib.sha256(b"hello").hexdigest()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["file.csv", "file.csv.sha256"]


def test_changed_cache_file_is_refused(tmp_path: Path) -> None:
    path = get(tmp_path, Server())
    path.write_bytes(b"hellO")
    with pytest.raises(SourceError, match=r"has changed since it was downloaded.*delete the file"):
        get(tmp_path, Server())


def test_cache_file_without_checksum_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file.csv").write_bytes(b"planted")
    with pytest.raises(SourceError, match="no checksum beside it; delete it"):
        get(tmp_path, Server())


def test_expected_checksum(tmp_path: Path) -> None:
    good = hashlib.sha256(b"hello").hexdigest()
    with pytest.raises(SourceError, match="the source has changed"):
        get(tmp_path, Server(b"other"), sha256=good)
    assert list(tmp_path.iterdir()) == []
    assert get(tmp_path, Server(), sha256=good).read_bytes() == b"hello"
    assert get(tmp_path, failing(OSError()), sha256=good).exists()


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (URLError(socket.gaierror(-2, "Name or service not known")), "Name or service not known"),
        (URLError("no route"), "no route"),
        (HTTPError(URL, 404, "Not Found", Message(), None), "the server answers 404 Not Found"),
        (TimeoutError(), "the connection timed out"),
        (URLError(TimeoutError()), "the connection timed out"),
        (ConnectionResetError(104, "Connection reset by peer"), "Connection reset by peer"),
    ],
)
def test_offline_is_one_clear_line(tmp_path: Path, error: Exception, reason: str) -> None:
    with pytest.raises(SourceError) as caught:
        get(tmp_path, failing(error))
    told = f"cannot download {URL}: {reason}; if you have the file, pass it with --file"
    assert str(caught.value) == told
    assert list(tmp_path.iterdir()) == []


def test_size_limit(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="larger than the limit of 100 bytes"):
        get(tmp_path, Server(b"x" * 101))
    with pytest.raises(SourceError, match="larger than the limit"):
        get(tmp_path, Server(b"x", length="101"))
    assert list(tmp_path.iterdir()) == []


def test_truncated_download_is_not_kept(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="ended after 5 of 6 bytes"):
        get(tmp_path, Server(length="6"))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("url", ["http://example.org/a", "file:///etc/passwd", "ftp://x/y", "a"])
def test_https_only(tmp_path: Path, url: str) -> None:
    with pytest.raises(SourceError, match="only https"):
        fetch(url, "a", max_bytes=1, cache_dir=tmp_path, opener=Server())


def test_redirect_away_from_https_is_refused() -> None:
    handler = _download._HttpsOnly()
    request = urllib.request.Request(URL)
    arguments = (request, io.BytesIO(), 302, "Found", HTTPMessage())
    with pytest.raises(URLError, match="not https"):
        handler.redirect_request(*arguments, "http://example.org/x")
    kept = handler.redirect_request(*arguments, "https://example.org/x")
    assert kept is not None


def test_progress_is_told(tmp_path: Path) -> None:
    seen: list[tuple[int, int | None]] = []
    get(tmp_path, Server(length="5"), progress=lambda done, total: seen.append((done, total)))
    assert seen == [(5, 5)]


def test_unusable_cache(tmp_path: Path) -> None:
    (tmp_path / "plain").write_text("a file, not a folder")
    with pytest.raises(SourceError, match="cannot use the cache"):
        fetch(URL, "f", max_bytes=9, cache_dir=tmp_path / "plain" / "x", opener=Server())


def test_cache_folder_from_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RECONBENCH_CACHE", str(tmp_path / "mine"))
    assert default_cache() == tmp_path / "mine"
    assert fetch(URL, "f", max_bytes=9, opener=Server()).parent == tmp_path / "mine"
    monkeypatch.delenv("RECONBENCH_CACHE")
    assert default_cache().name == "reconbench"
