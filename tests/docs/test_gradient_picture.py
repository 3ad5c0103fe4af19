"""The picture of docs/gradients.md: a drawn scene and its reconstructions, and as committed."""

from __future__ import annotations

import zlib
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from generate import gradient_picture
from generate.gradient_picture import CLIP, GAP, HEIGHT, NORM, ROWS, SHADES, WIDTH, draw_scene
from reconbench.benchmarks.suites.suite import find_suite
from reconbench.bounds.gradients import rows_needed


def decode(png: bytes) -> npt.NDArray[np.int64]:
    """Of a file as the script writes it: one block of pixels without filters."""
    at = png.index(b"IDAT")
    size = int.from_bytes(png[at - 4 : at], "big")
    lines = np.frombuffer(zlib.decompress(png[at + 4 : at + 4 + size]), np.uint8)
    lines = lines.reshape(HEIGHT, -1)
    assert not lines[:, 0].any()
    return lines[:, 1:].reshape(HEIGHT, -1, 3).astype(np.int64)


def test_the_committed_picture_is_what_the_script_draws(tmp_path: Path) -> None:
    """Up to one shade where a number is rounded either way."""
    again = tmp_path / "again.png"
    gradient_picture.main(["--out", str(again)])
    drawn, committed = (decode(path.read_bytes()) for path in (again, gradient_picture.PICTURE))
    assert committed.shape == (HEIGHT, 4 * WIDTH + 3 * GAP, 3)
    apart = np.abs(drawn - committed)
    assert apart.max() <= np.ceil(255 / (SHADES - 1)) and (apart > 0).mean() < 1e-3
    starts = range(0, committed.shape[1], WIDTH + GAP)
    original, one, few, many = (committed[:, start : start + WIDTH] for start in starts)
    errors = [np.square(panel - original).mean() for panel in (one, few, many)]
    assert errors[0] > 1.5 * errors[1] > 10 * errors[2]


def test_the_scene_is_a_record_of_the_suite() -> None:
    scene = draw_scene()
    assert scene.min() >= 0 and scene.max() <= 1 + 1e-3
    assert np.linalg.norm(scene) == pytest.approx(NORM)
    for point in find_suite("riess-fig2").points():
        assert (point.asked["dimension"], point.asked["norm"]) == (scene.size, NORM)
        assert (point.asked["clip"], point.promise.asked["sigma"]) == (CLIP, gradient_picture.SIGMA)
    # As few rows as the theorem prints, and more than are needed.
    assert ROWS[1] == CLIP / NORM and ROWS[2] > rows_needed(NORM, CLIP)
