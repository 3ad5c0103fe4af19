"""An entry: an attack's source, the rows it got on a suite, and who stands behind it.

An entry is one JSON file that travels between people, so nothing in it is trusted. ``read_entry``
checks sizes, hashes, every field and every row. It runs nothing: the source is only ever played in
a player process, see ``verify``.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import Field, ValidationError

from reconbench.benchmarks.game.attack_spec import AttackSpec
from reconbench.benchmarks.game.result import Result, ResultError, Status
from reconbench.benchmarks.store.provenance import shipped_name
from reconbench.benchmarks.submissions.documents import (
    DocumentError,
    Part,
    check_format,
    describe_first,
    hash_json,
    read_json,
)
from reconbench.datasets.atomic_files import write_json_atomic

FORMAT = "reconbench-entry/1"
KIND = "an entry of `reconbench submit`"
MOST_SOURCE = 1 << 20
MOST_ROWS = 100_000

Hash = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
ShortText = Annotated[str, Field(max_length=300)]
Versions = Annotated[dict[ShortText, ShortText], Field(max_length=50)]


class EntryError(DocumentError):
    """An entry that cannot be read or played."""


class SubmittedAttack(Part):
    """An attack as source: the class in it, and the name that rows know it by."""

    name: Annotated[str, Field(min_length=1, max_length=200)]
    file: Annotated[str, Field(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}\.py$")]
    cls: Annotated[str, Field(alias="class", pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,99}$")]
    options: Annotated[dict[ShortText, str | int | float | bool | None], Field(max_length=50)]
    source: Annotated[str, Field(max_length=MOST_SOURCE)]
    sha256: Hash

    @classmethod
    def from_file(cls, path: Path, class_name: str, name: str, options: Mapping[str, Any]) -> Self:
        """Read the source of an attack."""
        try:
            content = path.read_bytes()
            source = content.decode()
        except OSError as error:
            raise EntryError(f"cannot read the attack {path}: {error.strerror}") from None
        except UnicodeDecodeError:
            raise EntryError(f"the attack {path} must be UTF-8 text") from None
        if len(content) > MOST_SOURCE:
            raise EntryError(
                f"the attack {path} has {len(content):,} bytes; an entry holds {MOST_SOURCE:,}"
            )
        try:
            return cls(
                name=name,
                file=path.name,
                cls=class_name,
                options=dict(options),
                source=source,
                sha256=hashlib.sha256(content).hexdigest(),
            )
        except ValidationError as error:
            raise EntryError(f"cannot submit {path}: {describe_first(error)}") from None

    def write(self, folder: Path) -> AttackSpec:
        """Write the source for its owner alone; the name of the file is ours, not the entry's."""
        path = folder / "attack.py"
        path.touch(mode=0o600)
        path.write_bytes(self.source.encode())
        return AttackSpec(f"{path}:{self.cls}", dict(self.options))


class SubmittedSuite(Part):
    """The suite that was played."""

    name: Annotated[str, Field(min_length=1, max_length=200)]
    seed: int
    repetitions: Annotated[int, Field(ge=1)] | None = None


class About(Part):
    """What the author says. ``claims_paper``: the rows are said to be the paper's own results."""

    description: Annotated[str, Field(max_length=2000)] = ""
    author: Annotated[str, Field(max_length=200)] = ""
    paper: Annotated[str, Field(max_length=500)] = ""
    claims_paper: bool = False


class Machine(Part):
    """Where it was played: the processor-specific code explains drift in the last digits."""

    kernels: Versions
    python: ShortText
    system: ShortText


class _Document(Part):
    format: Literal["reconbench-entry/1"]
    attack: SubmittedAttack
    suite: SubmittedSuite
    about: About
    versions: Versions
    machine: Machine
    rows: Annotated[list[dict[str, Any]], Field(min_length=1, max_length=MOST_ROWS)]
    sha256: Hash


@dataclass(frozen=True)
class Entry:
    """An attack with its public rows on a suite."""

    attack: SubmittedAttack
    suite: SubmittedSuite
    about: About
    versions: Mapping[str, str]
    machine: Machine
    rows: tuple[Result, ...]

    @property
    def sha256(self) -> str:
        """The hash of the whole content: what an entry is known by."""
        return hash_json(self._get_content())

    def to_json(self) -> dict[str, Any]:
        return {**self._get_content(), "sha256": self.sha256}

    def write(self, path: Path) -> None:
        write_json_atomic(path, self.to_json())

    def _get_content(self) -> dict[str, Any]:
        parts = {"attack": self.attack, "suite": self.suite, "about": self.about}
        return {
            "format": FORMAT,
            **{name: part.model_dump(mode="json", by_alias=True) for name, part in parts.items()},
            "versions": dict(self.versions),
            "machine": self.machine.model_dump(mode="json"),
            "rows": [row.to_json() for row in self.rows],
        }

    @classmethod
    def from_json(cls, raw: dict[str, Any]) -> Entry:
        """Check everything that can be checked without playing."""
        check_format(raw, FORMAT, KIND)
        try:
            document = _Document.model_validate(raw)
        except ValidationError as error:
            raise EntryError(describe_first(error)) from None
        attack = document.attack
        if hashlib.sha256(_encode(attack.source)).hexdigest() != attack.sha256:
            raise EntryError("attack.sha256 does not fit the source: the file was changed")
        if shipped_name(attack.name) is not None:
            raise EntryError(
                f"attack.name: {attack.name!r} is an attack of reconbench; choose another name"
            )
        content = {name: value for name, value in raw.items() if name != "sha256"}
        if hash_json(content) != document.sha256:
            raise EntryError("sha256 does not fit the content: the file was changed")
        rows = tuple(_read_row(row, index) for index, row in enumerate(document.rows))
        entry = cls(
            attack, document.suite, document.about, document.versions, document.machine, rows
        )
        for index, row in enumerate(rows):
            _check_row(entry, row, f"rows.{index}")
        return entry


def read_entry(path: Path) -> Entry:
    """Read an entry, or raise a `DocumentError` that names the file and what is wrong with it."""
    raw = read_json(path, KIND)
    try:
        return Entry.from_json(raw)
    except DocumentError as error:
        raise EntryError(f"{path}: {error}") from None


def _read_row(raw: dict[str, Any], index: int) -> Result:
    try:
        return Result.from_json(raw)
    except ResultError as error:
        raise EntryError(f"rows.{index}: {error}") from None


def _check_row(entry: Entry, row: Result, where: str) -> None:
    attack = entry.attack
    if row.attack != attack.name or dict(row.attack_options) != attack.options:
        raise EntryError(f"{where}: it is a row of another attack, {row.attack!r}"[:300])
    if row.status is Status.FAILED:
        raise EntryError(f"{where}: the attack failed: {row.error}"[:300])
    if row.seal:
        raise EntryError(f"{where}: it was played sealed; an entry has public rows")
    if dict(row.versions) != dict(entry.versions):
        raise EntryError(f"{where}.versions differ from the versions of the entry")


def _encode(source: str) -> bytes:
    try:
        return source.encode()
    except UnicodeEncodeError:
        raise EntryError("attack.source: it cannot be written as UTF-8") from None
