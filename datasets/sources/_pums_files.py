"""The person files in what the Census Bureau serves: one CSV, or a zip with one or several of them.

A state's zip holds one CSV and a readme; the national one holds the states in parts. Nothing of an
archive is written to disk, and no more is unpacked than its table of contents declares.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO

from reconbench.datasets.sources._download import SourceError

MAX_CSV_BYTES = 1 << 32
MAX_MEMBERS = 1000
_ENCRYPTED = 1  # a flag of zip members


@dataclass(frozen=True)
class PersonFiles:
    """The person files of one download: a state's own, or the parts of the national one."""

    path: Path
    members: tuple[zipfile.ZipInfo, ...] = ()
    national: bool = False

    @contextmanager
    def open_all(self) -> Iterator[Iterator[IO[str]]]:
        """Open the files one after the other, each as text."""
        if not self.members:
            with self.path.open(encoding="utf-8-sig", newline="") as handle:
                yield iter([handle])
            return
        with zipfile.ZipFile(self.path) as archive:
            yield self._open_members(archive)

    def _open_members(self, archive: zipfile.ZipFile) -> Iterator[IO[str]]:
        for member in self.members:
            with archive.open(member) as packed:  # reads no further than the declared size
                yield io.TextIOWrapper(packed, encoding="utf-8-sig", newline="")


def find_person_files(path: Path, state: str, fips: str, year: int) -> PersonFiles:
    """The files of a state and year in a .csv, or in a zip as it was downloaded."""
    if path.suffix.lower() != ".zip" and not zipfile.is_zipfile(path):
        return PersonFiles(path)
    with zipfile.ZipFile(path) as archive:
        listed = archive.infolist()
    if len(listed) > MAX_MEMBERS:
        raise SourceError(
            f"cannot read {path}: it has {len(listed):,} members, more than {MAX_MEMBERS:,}: not a "
            "file of the Census Bureau"
        )
    if year >= 2017:
        own, parts = f"psam_p{fips}.csv", r"psam_pus[a-z]?\.csv"
    else:
        own, parts = f"ss{year % 100}p{state.lower()}.csv", rf"ss{year % 100}pus[a-z]?\.csv"
    named = {
        info.filename: (PurePosixPath(info.filename).name.lower(), info)
        for info in listed
        if not info.is_dir() and ".." not in PurePosixPath(info.filename).parts
    }
    national = not any(name == own for name, _ in named.values())
    pattern = parts if national else re.escape(own)
    chosen = sorted(
        ((name, info) for name, info in named.values() if re.fullmatch(pattern, name)),
        key=lambda pair: pair[0],
    )
    if not chosen:
        held = [info.filename for info in listed if info.filename.lower().endswith(".csv")]
        raise SourceError(
            f"cannot read {path}: it has no {own!r} (it has "
            f"{', '.join(map(repr, held[:3])) or 'no CSV'}); give the state and year of the file, "
            "and the person file, not the one of housing units"
        )
    _check_members(path, [name for name, _ in chosen], [info for _, info in chosen], listed)
    return PersonFiles(path, tuple(info for _, info in chosen), national)


def _check_members(
    path: Path, names: list[str], members: list[zipfile.ZipInfo], listed: list[zipfile.ZipInfo]
) -> None:
    every = [PurePosixPath(info.filename).name.lower() for info in listed if not info.is_dir()]
    twice = [name for name in names if every.count(name) > 1]
    if twice:
        raise SourceError(f"cannot read {path}: it has {twice[0]!r} more than once; keep one")
    locked = [info.filename for info in members if info.flag_bits & _ENCRYPTED]
    if locked:
        raise SourceError(
            f"cannot read {path}: {locked[0]!r} is encrypted; unpack it and give the .csv file"
        )
    size = sum(info.file_size for info in members)
    if size > MAX_CSV_BYTES:
        what = repr(members[0].filename)
        what += f" and {len(members) - 1} more unpack" if len(members) > 1 else " unpacks"
        raise SourceError(f"cannot read {path}: {what} to {size} bytes, more than {MAX_CSV_BYTES}")
