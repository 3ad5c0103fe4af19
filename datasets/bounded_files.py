"""Read text files whole, but never more than a stated size, also when they are packed by gzip."""

from __future__ import annotations

import gzip
import zlib
from pathlib import Path

from reconbench.datasets.domain import DomainError

MAX_BYTES = 256 << 20
# What a packed file may hold: a small file can unpack to any size.
MAX_UNPACKED = 64 << 20

_GZIP = b"\x1f\x8b"
_CHUNK = 1 << 20


def read_text(path: Path, missing: str = "") -> str:
    """Read a UTF-8 file; one whose name ends in .gz is unpacked.

    Raises:
        DomainError: in one line that names the file; ``missing`` is added if there is none.
    """
    try:
        if path.stat().st_size > MAX_BYTES:
            raise DomainError(f"{path} is larger than {MAX_BYTES >> 20} MiB")
        packed = path.suffix == ".gz"
        content = _unpack(path) if packed else path.read_bytes()
        if content.startswith(_GZIP):
            advice = "unpack it once more" if packed else "let its name end in .gz"
            raise DomainError(f"{path} is packed by gzip; {advice}")
        return content.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    except FileNotFoundError:
        raise DomainError(f"no file {path}{missing}") from None
    except UnicodeDecodeError as error:
        raise DomainError(f"{path} is not text in UTF-8: {error.reason}") from None
    except (EOFError, zlib.error) as error:
        raise DomainError(f"cannot unpack {path}: {error}") from None
    except OSError as error:  # gzip's own error is one, too
        raise DomainError(f"cannot read {path}: {error.strerror or error}") from None


def _unpack(path: Path) -> bytes:
    """The content of a gzip file, read piece by piece so that a bomb is stopped in time."""
    content = bytearray()
    with gzip.open(path, "rb") as stream:
        while piece := stream.read(_CHUNK):
            content += piece
            if len(content) > MAX_UNPACKED:
                raise DomainError(f"{path} unpacks to more than {MAX_UNPACKED >> 20} MiB")
    return bytes(content)
