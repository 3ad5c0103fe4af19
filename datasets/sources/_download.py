"""Downloads of public files into a checked cache."""

from __future__ import annotations

import hashlib
import http.client
import os
import sys
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from email.message import Message
from pathlib import Path
from typing import IO, Protocol
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit

from reconbench.datasets.atomic_files import write_atomic

CHUNK = 1 << 20
TIMEOUT = 60.0  # seconds without a byte

Progress = Callable[[int, int | None], None]
"""Called with the bytes so far and the bytes in all, where the server says how many."""


class SourceError(ValueError):
    """A public source that cannot be had or read."""


class Response(Protocol):
    @property
    def headers(self) -> Message: ...
    def read(self, amount: int, /) -> bytes: ...
    def close(self) -> None: ...


Opener = Callable[[str, float], Response]


class _HttpsOnly(urllib.request.HTTPRedirectHandler):
    def redirect_request(
        self,
        req: urllib.request.Request,
        fp: IO[bytes],
        code: int,
        msg: str,
        headers: http.client.HTTPMessage,
        newurl: str,
    ) -> urllib.request.Request | None:
        if urlsplit(newurl).scheme != "https":
            raise URLError("the server redirects to an address that is not https")
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def open_https(url: str, timeout: float) -> Response:
    request = urllib.request.Request(url, headers={"User-Agent": "reconbench"})
    response: Response = urllib.request.build_opener(_HttpsOnly).open(request, timeout=timeout)
    return response


@contextmanager
def _replacing(path: Path) -> Iterator[Path]:
    """A temporary path beside ``path`` that takes its place if the block ends well."""
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        yield part
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)


def default_cache() -> Path:
    """``$RECONBENCH_CACHE``, or the platform's cache folder."""
    chosen = os.environ.get("RECONBENCH_CACHE")
    if chosen:
        return Path(chosen)
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "reconbench"
    variable = "LOCALAPPDATA" if sys.platform == "win32" else "XDG_CACHE_HOME"
    return Path(os.environ.get(variable) or Path.home() / ".cache") / "reconbench"


def fetch(
    url: str,
    name: str,
    *,
    max_bytes: int,
    file: str | Path | None = None,
    cache_dir: str | Path | None = None,
    sha256: str | None = None,
    progress: Progress | None = None,
    opener: Opener = open_https,
) -> Path:
    """Get the file behind ``url``, from the cache if it is there, kept as ``name``.

    ``file`` is a copy that the user has: nothing is then downloaded or checked. A checksum is
    recorded beside the file when it is first downloaded and verified whenever it is used again.
    ``sha256`` is what the file must have, where that is known.
    """
    if file is not None:
        return Path(file)
    if urlsplit(url).scheme != "https":
        raise SourceError(f"cannot download {url}: only https addresses are allowed")
    path = Path(cache_dir or default_cache()) / name
    sidecar = path.with_name(f"{name}.sha256")
    try:
        if path.exists():
            _verify(path, sidecar, sha256)
            return path
        path.parent.mkdir(parents=True, exist_ok=True)
        with _replacing(path) as part:
            digest = _download(url, part, max_bytes, progress, opener)
            if sha256 is not None and digest != sha256:
                raise SourceError(
                    f"cannot use {url}: its SHA-256 is {digest}, expected {sha256}; "
                    "the source has changed"
                )
            # The checksum first: a crash in between leaves no file without one.
            write_atomic(sidecar, f"{digest}\n")
    except OSError as error:
        raise SourceError(f"cannot use the cache {path.parent}: {_reason(error)}") from None
    return path


def _download(
    url: str, part: Path, max_bytes: int, progress: Progress | None, opener: Opener
) -> str:
    digest, size = hashlib.sha256(), 0
    with part.open("wb") as out:
        for block, total in _blocks(url, opener):
            size += len(block)
            if max(size, total or 0) > max_bytes:
                raise SourceError(
                    f"cannot download {url}: it is larger than the limit of {max_bytes} bytes"
                )
            digest.update(block)
            out.write(block)
            if progress is not None:
                progress(size, total)
    return digest.hexdigest()


def _blocks(url: str, opener: Opener) -> Iterator[tuple[bytes, int | None]]:
    """The body in blocks, each with the size in all if known; network errors in one line."""
    size = 0
    try:
        with closing(opener(url, TIMEOUT)) as response:
            declared = response.headers.get("Content-Length", "")
            total = int(declared) if declared.isdecimal() else None
            while block := response.read(CHUNK):
                size += len(block)
                yield block, total
        if total is not None and size != total:
            raise URLError(f"the connection ended after {size} of {total} bytes")
    except (OSError, http.client.HTTPException) as error:
        raise SourceError(
            f"cannot download {url}: {_reason(error)}; if you have the file, pass it with --file"
        ) from None


def _verify(path: Path, sidecar: Path, expected: str | None) -> None:
    if expected is None:
        if not sidecar.exists():
            raise SourceError(
                f"{path} has no checksum beside it; delete it to download it again, "
                "or pass it with --file"
            )
        expected = sidecar.read_text(encoding="ascii", errors="replace").strip()
    with path.open("rb") as handle:
        digest = hashlib.file_digest(handle, "sha256").hexdigest()
    if digest != expected:
        raise SourceError(
            f"{path} has changed since it was downloaded (SHA-256 {digest[:12]}..., expected "
            f"{expected[:12]}...); delete the file to download it again"
        )


def _reason(error: Exception) -> str:
    if isinstance(error, HTTPError):
        return f"the server answers {error.code} {error.reason}"
    if isinstance(error, URLError):
        error = error.reason if isinstance(error.reason, Exception) else Exception(error.reason)
    if isinstance(error, TimeoutError):
        return "the connection timed out"
    text = (isinstance(error, OSError) and error.strerror) or str(error) or type(error).__name__
    return " ".join(text.split())
