"""Images and labels in IDX files, the format of MNIST (not shipped: bring your own copy).

An IDX file is two zero bytes, a type code, the number of axes, their sizes as big-endian 32-bit
numbers, and the values; here unsigned bytes, plain or gzipped.
"""

from __future__ import annotations

import gzip
from math import prod
from pathlib import Path

import numpy as np
import numpy.typing as npt

_UNSIGNED_BYTES = 0x08
_GZIP = b"\x1f\x8b"
MOST_VALUES = 1 << 30


class IdxError(ValueError):
    """A file that is not in IDX format, or not of the expected shape."""


def read_idx(path: Path, axes: int) -> npt.NDArray[np.uint8]:
    """The values of an IDX file of unsigned bytes with that many axes."""
    try:
        with path.open("rb") as stream:
            packed = stream.read(2) == _GZIP
        with gzip.open(path) if packed else path.open("rb") as stream:
            head = stream.read(4 + 4 * axes)
            if len(head) < 4 + 4 * axes or head[:2] != b"\0\0" or head[2] != _UNSIGNED_BYTES:
                raise IdxError(f"{path} is not an IDX file of unsigned bytes")
            if head[3] != axes:
                raise IdxError(f"{path} has {head[3]} axes, expected {axes}")
            shape = tuple(int(size) for size in np.frombuffer(head, ">u4", axes, 4))
            size = prod(shape)
            if not 0 < size <= MOST_VALUES:
                raise IdxError(
                    f"{path} says it holds {size:,} values; allowed: 1 to {MOST_VALUES:,}"
                )
            body = stream.read(size + 1)
    except (OSError, EOFError) as error:
        raise IdxError(f"cannot read {path}: {error}") from None
    if len(body) != size:
        raise IdxError(f"{path} is cut off or too long: its sizes {shape} do not fit its content")
    return np.frombuffer(body, np.uint8).reshape(shape)


def read_images(
    images: Path, labels: Path
) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.int64]]:
    """Images as rows of pixels from 0 to 1, and the label of each."""
    pixels = read_idx(images, 3)
    classes = read_idx(labels, 1)
    if len(pixels) != len(classes):
        raise IdxError(f"{images} has {len(pixels)} images, {labels} {len(classes)} labels")
    rows = pixels.reshape(len(pixels), -1).astype(np.float32)
    return rows / np.float32(255), classes.astype(np.int64)
