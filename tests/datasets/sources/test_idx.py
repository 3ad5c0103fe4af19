"""IDX files, well formed and not."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from reconbench.datasets.sources.idx import IdxError, read_idx, read_images


def idx(values: np.ndarray) -> bytes:
    head = bytes([0, 0, 8, values.ndim]) + np.array(values.shape, ">u4").tobytes()
    return head + values.astype(np.uint8).tobytes()


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_images_and_labels(tmp_path: Path, pack: Callable[[bytes], bytes]) -> None:
    rng = np.random.default_rng(0)
    pixels, labels = rng.integers(0, 256, (5, 3, 2)), rng.integers(0, 10, 5)
    (tmp_path / "images").write_bytes(pack(idx(pixels)))
    (tmp_path / "labels").write_bytes(pack(idx(labels)))
    found, classes = read_images(tmp_path / "images", tmp_path / "labels")
    assert np.allclose(found * 255, pixels.reshape(5, 6)) and found.max() <= 1
    assert classes.tolist() == labels.tolist()
    (tmp_path / "labels").write_bytes(pack(idx(labels[:4])))
    with pytest.raises(IdxError, match=r"has 5 images, .* 4 labels"):
        read_images(tmp_path / "images", tmp_path / "labels")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "not an IDX file"),
        (b"PNG and so on, for a while", "not an IDX file"),
        (idx(np.zeros((2, 2))), "has 2 axes, expected 1"),
        (idx(np.zeros(4))[:-1], "cut off or too long"),
        (idx(np.zeros(4)) + b"x", "cut off or too long"),
        (bytes([0, 0, 8, 1, 255, 255, 255, 255]), "says it holds 4,294,967,295 values"),
        (gzip.compress(idx(np.zeros(400)), mtime=0)[:20], "cannot read"),
    ],
    ids=["empty", "other", "axes", "short", "long", "huge", "broken"],
)
def test_other_files_are_refused(tmp_path: Path, content: bytes, said: str) -> None:
    (tmp_path / "file").write_bytes(content)
    with pytest.raises(IdxError, match=said):
        read_idx(tmp_path / "file", 1)
    with pytest.raises(IdxError, match="cannot read"):
        read_idx(tmp_path / "none", 1)
