"""Files out of an archive that nobody has to trust: a .tgz, or the .deb of a Debian package.

Nothing is unpacked to disk and no link is followed. Files that are not wanted are skipped, and
sizes are limited before and after unpacking.
"""

from __future__ import annotations

import gzip
import io
import lzma
import tarfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import BinaryIO, cast

from reconbench.datasets.sources._download import SourceError

MAX_PACKED = 1 << 28
MAX_UNPACKED = 1 << 29
MAX_FILE = 1 << 26
MAX_MEMBERS = 10_000

GZIP = b"\x1f\x8b"
_XZ_MEMORY = 1 << 28
_DEB = b"!<arch>\n"
_DEB_HEADER = 60
# A tar header names its format here.
_TAR_MAGIC = slice(257, 262)


class ArchiveError(SourceError):
    """An archive that cannot be read, or should not be."""


def is_archive(path: Path) -> bool:
    """Whether a file is a .deb or a packed .tar, by its content."""
    with _reading(path):
        with path.open("rb") as stream:
            start = stream.read(len(_DEB))
        if start == _DEB:
            return True
        if not start.startswith(GZIP):
            return False
        with gzip.open(path) as unpacked:
            return unpacked.read(_TAR_MAGIC.stop)[_TAR_MAGIC] == b"ustar"


def read_file(path: Path) -> bytes:
    """The content of a single file, if it is no longer than one may be."""
    with _reading(path), path.open("rb") as stream:
        content = stream.read(MAX_FILE + 1)
    if len(content) > MAX_FILE:
        raise ArchiveError(f"{path} is larger than {MAX_FILE >> 20} MiB")
    return content


def read_members(path: Path, wanted: Callable[[str], bool]) -> dict[str, bytes]:
    """The content of the wanted files of an archive, by their names in it.

    Raises:
        ArchiveError: in one line that names the archive.
    """
    with _reading(path), _open_tar(path) as stream:
        bounded = cast("BinaryIO", _Bounded(stream, path))
        with tarfile.open(fileobj=bounded, mode="r|") as archive:
            return dict(_read_wanted(archive, wanted, path))


def unpack_gzip(content: bytes, name: str) -> bytes:
    """What a gzip file holds, if it is no more than one file may be; errors call it ``name``."""
    unpacker = zlib.decompressobj(wbits=31)
    try:
        unpacked = unpacker.decompress(content, MAX_FILE + 1)
    except zlib.error as error:
        raise ArchiveError(f"cannot unpack {name}: {error}") from None
    if len(unpacked) > MAX_FILE:
        raise ArchiveError(f"{name} unpacks to more than {MAX_FILE >> 20} MiB")
    if not unpacker.eof:
        raise ArchiveError(f"cannot unpack {name}: it is cut off")
    return unpacked


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    """Turn what goes wrong with a file into one line that names it."""
    try:
        yield
    except (tarfile.TarError, lzma.LZMAError, zlib.error, EOFError, gzip.BadGzipFile) as error:
        raise ArchiveError(f"cannot unpack {path}: {error}; fetch it again") from None
    except OSError as error:
        raise ArchiveError(f"cannot read {path}: {error.strerror or error}") from None


def _read_wanted(
    archive: tarfile.TarFile, wanted: Callable[[str], bool], path: Path
) -> Iterator[tuple[str, bytes]]:
    seen: set[str] = set()
    for number, member in enumerate(archive):
        if number >= MAX_MEMBERS:
            raise ArchiveError(f"{path} has more than {MAX_MEMBERS:,} members")
        name = PurePosixPath(member.name)
        if name.is_absolute() or ".." in name.parts:
            raise ArchiveError(
                f"{path} has a member outside itself, {member.name[:80]!r}: it is not used"
            )
        if not wanted(str(name)):
            continue
        if not member.isreg():
            raise ArchiveError(f"{path}: {str(name)!r} is no plain file")
        if member.size > MAX_FILE:
            raise ArchiveError(f"{path}: {str(name)!r} is larger than {MAX_FILE >> 20} MiB")
        if str(name) in seen:
            raise ArchiveError(f"{path} has {str(name)!r} more than once")
        seen.add(str(name))
        content = archive.extractfile(member)
        assert content is not None  # a plain file
        yield str(name), content.read()


def _open_tar(path: Path) -> BinaryIO:
    if path.stat().st_size > MAX_PACKED:
        raise ArchiveError(f"{path} is larger than {MAX_PACKED >> 20} MiB")
    with path.open("rb") as stream:
        if stream.read(len(_DEB)) == _DEB:
            return _open_data(stream, path)
    return cast("BinaryIO", gzip.open(path))


def _open_data(stream: BinaryIO, path: Path) -> BinaryIO:
    """The tar of a Debian package's files: the member data.tar.* of an ar archive.

    A member is a header of 60 bytes (name, times, owner, mode, and the size in decimals from byte
    48 on) and its content, filled up to an even length.
    """
    for _ in range(MAX_MEMBERS):
        header = stream.read(_DEB_HEADER)
        if (
            len(header) < _DEB_HEADER
            or header[58:] != b"`\n"
            or not header[48:58].strip().isdigit()
        ):
            break
        name = header[:16].decode("ascii", "replace").strip().removesuffix("/")
        size = int(header[48:58])
        if not name.startswith("data.tar"):
            stream.seek(size + size % 2, io.SEEK_CUR)
            continue
        if name == "data.tar.xz":
            return io.BytesIO(_unpack_xz(stream.read(size), path))
        if name == "data.tar.gz":
            return cast("BinaryIO", gzip.open(io.BytesIO(stream.read(size))))
        raise ArchiveError(
            f"cannot unpack {path}: its files are packed as {name}; unpack it with dpkg-deb -x and "
            "pass the files in it with --file"
        )
    raise ArchiveError(f"cannot unpack {path}: it is no Debian package, or cut off")


def _unpack_xz(content: bytes, path: Path) -> bytes:
    unpacker = lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_XZ_MEMORY)
    unpacked = unpacker.decompress(content, MAX_PACKED + 1)
    if len(unpacked) > MAX_PACKED:
        raise ArchiveError(f"{path} unpacks to more than {MAX_PACKED >> 20} MiB")
    if not unpacker.eof:
        raise EOFError("it is cut off")
    return unpacked


class _Bounded:
    """A stream that stops an archive which unpacks to too much."""

    def __init__(self, stream: BinaryIO, path: Path) -> None:
        self._stream, self._path, self._left = stream, path, MAX_UNPACKED

    def read(self, amount: int) -> bytes:
        content = self._stream.read(amount)
        self._left -= len(content)
        if self._left < 0:
            raise ArchiveError(f"{self._path} unpacks to more than {MAX_UNPACKED >> 20} MiB")
        return content
