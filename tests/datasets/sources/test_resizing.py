"""Images in another size."""

from __future__ import annotations

import numpy as np
import pytest

from reconbench.datasets import DomainError
from reconbench.datasets.sources.resizing import resize_images


def test_means_of_blocks() -> None:
    images = np.random.default_rng(0).random((5, 28, 28))
    blocks = images.reshape(5, 2, 14, 2, 14).mean(axis=(2, 4)).reshape(5, 4)
    assert resize_images(images.reshape(5, -1), 4) == pytest.approx(blocks)
    assert resize_images(images.reshape(5, -1), 1)[:, 0] == pytest.approx(images.mean(axis=(1, 2)))


def test_the_same_size_larger_ones_and_colour() -> None:
    images = np.random.default_rng(1).random((3, 16))
    assert resize_images(images, 16) == pytest.approx(images)
    doubled = np.kron(images.reshape(3, 4, 4), np.ones((2, 2))).reshape(3, -1)
    assert resize_images(images, 64) == pytest.approx(doubled)
    assert resize_images(images, 192) == pytest.approx(np.tile(doubled, 3))
    # Sizes that do not divide each other: means stay, and so do constant images.
    odd = resize_images(images, 25)
    assert odd.mean(axis=1) == pytest.approx(images.mean(axis=1))
    assert resize_images(np.full((1, 9), 0.3), 3072) == pytest.approx(np.full((1, 3072), 0.3))


@pytest.mark.parametrize("dimension", [0, 2, 5, 3073, -4])
def test_dimensions_that_are_no_image(dimension: int) -> None:
    with pytest.raises(DomainError, match="dimension must be a square, or three times one"):
        resize_images(np.ones((2, 9)), dimension)


@pytest.mark.parametrize("shape", [(2, 8), (0, 9), (2, 3, 3)])
def test_other_images(shape: tuple[int, ...]) -> None:
    with pytest.raises(DomainError, match="rows of square images"):
        resize_images(np.ones(shape), 4)
