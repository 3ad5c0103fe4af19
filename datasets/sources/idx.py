"""Images and labels in IDX files, the format of MNIST (see ``packages``, or bring your own).

An IDX file is two zero bytes, a type code, the number of axes, their sizes as big-endian 32-bit
numbers, and the values; here unsigned bytes, plain or gzipped.
"""

from __future__ import annotations

import gzip
import io
from math import prod
from pathlib import Path
from typing import Protocol

import numpy as np
import numpy.typing as npt

_UNSIGNED_BYTES = 0x08
_GZIP = b"\x1f\x8b"
MOST_VALUES = 1 << 30


class IdxError(ValueError):
    """A file that is not in IDX format, or not of the expected shape."""


class _Readable(Protocol):
    def read(self, amount: int, /) -> bytes: ...


def read_idx(path: Path, axes: int) -> npt.NDArray[np.uint8]:
    """The values of an IDX file of unsigned bytes with that many axes."""
    try:
        with path.open("rb") as stream:
            packed = stream.read(2) == _GZIP
        with gzip.open(path) if packed else path.open("rb") as stream:
            return _read_values(stream, axes, str(path))
    except (OSError, EOFError) as error:
        raise IdxError(f"cannot read {path}: {error}") from None


def parse_idx(content: bytes, axes: int, name: str) -> npt.NDArray[np.uint8]:
    """The values in the content of an IDX file; errors call it ``name``."""
    return _read_values(io.BytesIO(content), axes, name)


def _read_values(stream: _Readable, axes: int, name: str) -> npt.NDArray[np.uint8]:
    head = stream.read(4 + 4 * axes)
    if len(head) < 4 + 4 * axes or head[:2] != b"\0\0" or head[2] != _UNSIGNED_BYTES:
        raise IdxError(f"{name} is not an IDX file of unsigned bytes")
    if head[3] != axes:
        raise IdxError(f"{name} has {head[3]} axes, expected {axes}")
    shape = tuple(int(size) for size in np.frombuffer(head, ">u4", axes, 4))
    size = prod(shape)
    if not 0 < size <= MOST_VALUES:
        raise IdxError(f"{name} says it holds {size:,} values; allowed: 1 to {MOST_VALUES:,}")
    body = stream.read(size + 1)
    if len(body) != size:
        raise IdxError(f"{name} is cut off or too long: its sizes {shape} do not fit its content")
    return np.frombuffer(body, np.uint8).reshape(shape)


def read_images(
    images: Path, labels: Path
) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.int64]]:
    """Images as rows of pixels from 0 to 1, and the label of each."""
    return pair_images(read_idx(images, 3), read_idx(labels, 1), str(images), str(labels))


def pair_images(
    pixels: npt.NDArray[np.uint8], classes: npt.NDArray[np.uint8], images: str, labels: str
) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.int64]]:
    """Images as rows of pixels from 0 to 1, and the label of each; errors use the names."""
    if len(pixels) != len(classes):
        raise IdxError(f"{images} has {len(pixels)} images, {labels} {len(classes)} labels")
    rows = pixels.reshape(len(pixels), -1).astype(np.float32)
    return rows / np.float32(255), classes.astype(np.int64)
