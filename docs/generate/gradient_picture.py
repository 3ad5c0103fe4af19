"""Draw docs/img/gradient-rows.png: a drawn scene, and what gradients of 1, 25 and 1,000 rows show.

    python docs/generate gradient_picture

After Riess 2026, figure 2, at its σ and C. The scene is made of formulas, so that no photograph is
shipped; it has the size of an aligned face of CelebA.
"""

from __future__ import annotations

import argparse
import struct
import zlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from reconbench.benchmarks.computations.gradient_rows import reconstruct
from reconbench.datasets.atomic_files import write_atomic
from reconbench.mechanisms.gradient_steps import GradientStep, OptimalNetwork

Floats = npt.NDArray[np.float64]
Pixels = npt.NDArray[np.uint8]

PICTURE = Path(__file__).resolve().parents[1] / "img" / "gradient-rows.png"
HEIGHT, WIDTH, GAP = 218, 178, 8
# As in the suite riess-fig2: ‖X‖ = 200, so that C/‖X‖ = 25 and its square 625.
SIGMA, CLIP, NORM = 5e-4, 5e3, 200.0
ROWS = (1, 25, 1000)
# Shades of a colour: fewer than 256 keep the file short.
SHADES = 64


def draw_scene() -> Floats:
    """A low sun between hills and its path on a lake, as (height, width, 3) colours from 0 to 1."""
    y, x = np.mgrid[0 : 1 : HEIGHT * 1j, 0 : 1 : WIDTH * 1j]

    def blend(onto: Floats, colour: Sequence[float], share: Floats) -> Floats:
        return np.asarray(onto + share[..., None] * (np.array(colour) - onto))

    def edge(distance: Floats, width: float = 0.006) -> Floats:
        return np.asarray(1 / (1 + np.exp(-np.clip(distance / width, -60, 60))))

    shore = 0.66
    depth = np.maximum(y - shore, 0)
    scene = blend(np.full((HEIGHT, WIDTH, 3), [0.3, 0.5, 0.9]), [1.0, 0.72, 0.45], y)
    away = np.hypot((x - 0.56) * WIDTH / HEIGHT, y - 0.42)
    scene = blend(scene, [1.0, 0.85, 0.5], 0.8 * np.exp(-((away / 0.16) ** 2)))
    scene = blend(scene, [1.0, 0.97, 0.8], edge(0.075 - away))
    far = 0.5 - 0.09 * np.sin(5 * x + 0.6) - 0.02 * np.sin(17 * x)
    near = 0.6 - 0.13 * np.cos(3.4 * x - 0.1) + 0.015 * np.sin(23 * x)
    scene = blend(scene, [0.45, 0.38, 0.55], edge(y - far))
    scene = blend(scene, [0.18, 0.36, 0.22], edge(y - near))
    scene = blend(scene, [0.3, 0.5, 0.72], edge(y - shore))
    path = np.exp(-(((x - 0.56) / (0.05 + 0.25 * depth)) ** 2)) * edge(y - shore)
    scene = blend(scene, [1.0, 0.88, 0.62], path * (0.6 + 0.3 * np.sin(160 * depth**0.6 + 9 * x)))
    return np.asarray(scene * (NORM / np.linalg.norm(scene)))


def draw_panels() -> Pixels:
    """The scene and its reconstructions side by side, with white gaps."""
    scene, rng = draw_scene(), np.random.default_rng(0)
    panels = [scene]
    for rows in ROWS:
        step = GradientStep(OptimalNetwork(rows), SIGMA, CLIP)
        panels.append(reconstruct(scene.ravel(), step, rng).reshape(scene.shape))
    gap = np.ones((HEIGHT, GAP, 3))
    parts = [part for panel in panels for part in (gap, panel)][1:]
    shades = np.rint(np.clip(np.concatenate(parts, axis=1), 0, 1) * (SHADES - 1))
    return np.asarray(np.rint(shades * (255 / (SHADES - 1))), dtype=np.uint8)


def encode_png(pixels: Pixels) -> bytes:
    """(height, width, 3) bytes of red, green and blue as a PNG file."""
    height, width, _ = pixels.shape

    def chunk(kind: bytes, body: bytes) -> bytes:
        check = zlib.crc32(kind + body)
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", check)

    # Eight bits per colour; every line begins with the kind of its filter, 0 for none.
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    lines = np.pad(pixels.reshape(height, -1), ((0, 0), (1, 0))).tobytes()
    body = chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(lines, 9)) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + body


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", type=Path, default=PICTURE, help="the picture, a PNG file")
    options = parser.parse_args(arguments)
    write_atomic(options.out, encode_png(draw_panels()))


if __name__ == "__main__":
    main()
