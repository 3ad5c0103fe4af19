"""Files of known content in the cache: what does not have the known checksum is not used."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from reconbench.datasets.atomic_files import write_atomic
from reconbench.datasets.sources._download import SourceError, default_cache


@dataclass(frozen=True)
class Payload:
    """A file by its name in the cache, what it holds, and the SHA-256 of its content."""

    name: str
    holds: str
    sha256: str

    def is_content(self, content: bytes) -> bool:
        return hashlib.sha256(content).hexdigest() == self.sha256

    def mismatch(self, content: bytes, origin: str) -> SourceError:
        """The error for other content; ``origin`` is where it came from."""
        digest = hashlib.sha256(content).hexdigest()
        return SourceError(
            f"{origin} is not {self.holds}: its SHA-256 is {digest[:12]}..., expected "
            f"{self.sha256[:12]}...; it is not used"
        )


def payload_path(source: str, payload: Payload, cache_dir: str | Path | None) -> Path:
    return Path(cache_dir or default_cache()) / source / payload.name


def read_payload(source: str, payload: Payload, cache_dir: str | Path | None) -> bytes | None:
    """The content of a cached file, verified; None if it is not in the cache."""
    path = payload_path(source, payload, cache_dir)
    try:
        content = path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise SourceError(f"cannot read {path}: {error.strerror}") from None
    if not payload.is_content(content):
        raise SourceError(
            f"{path} is damaged: it is not {payload.holds}; delete it, then run: "
            f"reconbench data fetch {source}"
        )
    return content


def write_payload(
    source: str, payload: Payload, content: bytes, cache_dir: str | Path | None
) -> Path:
    """Keep a file whose content was checked."""
    path = payload_path(source, payload, cache_dir)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SourceError(f"cannot use the cache {path.parent}: {error.strerror}") from None
    write_atomic(path, content)
    return path


def not_fetched(source: str) -> SourceError:
    return SourceError(
        f"{source} is not on this machine; fetch it with: reconbench data fetch {source}"
    )
