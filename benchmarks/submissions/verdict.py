"""What a verification found, as one document: the entry, the sealed rows, and why.

Reports read these documents from a folder; each is checked like an entry.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError

from reconbench.benchmarks.game.result import Result, ResultError
from reconbench.benchmarks.submissions.cheat_test import CheatTest
from reconbench.benchmarks.submissions.documents import (
    DocumentError,
    Part,
    check_format,
    describe_first,
    hash_json,
    read_json,
)
from reconbench.benchmarks.submissions.entry import Entry, Hash, ShortText, Versions
from reconbench.benchmarks.submissions.entry import SubmittedAttack as SubmittedAttack
from reconbench.datasets.atomic_files import write_json_atomic

FORMAT = "reconbench-verdict/1"
KIND = "a verdict of `reconbench verify`"
# Sealed repetitions may be many times the public ones.
MOST_SEALED = 1_000_000


class Outcome(StrEnum):
    """What comes of an entry."""

    ACCEPTED = "accepted"
    DRIFTED = "drifted"
    REFUSED = "refused"

    @property
    def exit_code(self) -> int:
        return {Outcome.ACCEPTED: 0, Outcome.REFUSED: 1, Outcome.DRIFTED: 4}[self]


class RevealedSeal(Part):
    """The commitment to the secret seed, what it was a commitment to, and the suite played."""

    suite: ShortText
    commitment: Hash
    seed: int
    salt: ShortText


class Replayed(Part):
    """How many of the public rows were played again, and what came out otherwise.

    ``different`` has the fields of referee's numbers that differ by more than their tolerance in
    some row, and ``drift`` the largest relative difference of those that agree within it.
    """

    rows: Annotated[int, Field(ge=0)]
    of: Annotated[int, Field(ge=0)]
    different: list[ShortText]
    drift: dict[ShortText, float]


class _Test(Part):
    cells: int
    public_repetitions: int
    sealed_repetitions: int
    public_gain: float
    sealed_gain: float
    p: float
    level: float


class _Document(Part):
    format: Literal["reconbench-verdict/1"]
    outcome: Literal["accepted", "drifted", "refused"]
    reasons: list[Annotated[str, Field(max_length=1000)]]
    replayed: Replayed
    test: _Test | None
    seal: RevealedSeal | None
    versions: Versions
    entry: dict[str, Any]
    sealed_rows: Annotated[list[dict[str, Any]], Field(max_length=MOST_SEALED)]
    sha256: Hash


@dataclass(frozen=True)
class Verdict:
    """An entry with its outcome, and why; ``versions`` are of the machine that verified it."""

    outcome: Outcome
    reasons: tuple[str, ...]
    entry: Entry
    replayed: Replayed
    versions: Mapping[str, str]
    test: CheatTest | None = None
    seal: RevealedSeal | None = None
    sealed_rows: tuple[Result, ...] = field(default=(), repr=False)

    @property
    def file_name(self) -> str:
        """A safe name: what is left of the attack's name, and the hash of the entry."""
        plain = re.sub(r"[^a-z0-9]+", "-", self.entry.attack.name.lower()).strip("-")[:40]
        return f"{plain or 'attack'}-{self.entry.sha256[:12]}.json"

    def to_json(self, *, rows: bool = True) -> dict[str, Any]:
        """The document; without ``rows``, what a person or a program needs of it at first sight."""
        content: dict[str, Any] = {
            "format": FORMAT,
            "outcome": self.outcome.value,
            "reasons": list(self.reasons),
            "replayed": self.replayed.model_dump(mode="json"),
            "test": None if self.test is None else dict(vars(self.test)),
            "seal": None if self.seal is None else self.seal.model_dump(mode="json"),
            "versions": dict(self.versions),
        }
        if not rows:
            attack = self.entry.attack
            return {**content, "attack": attack.name, "entry_sha256": self.entry.sha256}
        content["entry"] = self.entry.to_json()
        content["sealed_rows"] = [row.to_json() for row in self.sealed_rows]
        return {**content, "sha256": hash_json(content)}

    def write(self, folder: Path) -> Path:
        """Store the verdict in a folder, which is made if it is missing."""
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise DocumentError(f"cannot make the folder {folder}: {error.strerror}") from None
        path = folder / self.file_name
        write_json_atomic(path, self.to_json())
        return path

    @classmethod
    def from_json(cls, raw: dict[str, Any]) -> Verdict:
        check_format(raw, FORMAT, KIND)
        try:
            document = _Document.model_validate(raw)
        except ValidationError as error:
            raise DocumentError(describe_first(error)) from None
        if hash_json({k: v for k, v in raw.items() if k != "sha256"}) != document.sha256:
            raise DocumentError("sha256 does not fit the content: the file was changed")
        try:
            rows = tuple(Result.from_json(row) for row in document.sealed_rows)
        except ResultError as error:
            raise DocumentError(f"sealed_rows: {error}") from None
        entry = Entry.from_json(document.entry)
        _check_sealed_rows(rows, entry, document.seal)
        return cls(
            outcome=Outcome(document.outcome),
            reasons=tuple(document.reasons),
            entry=entry,
            replayed=document.replayed,
            versions=document.versions,
            test=None if document.test is None else CheatTest(**document.test.model_dump()),
            seal=document.seal,
            sealed_rows=rows,
        )


def read_verdict(path: Path) -> Verdict:
    """Read a verdict, or raise a `DocumentError` that names the file and what is wrong with it."""
    raw = read_json(path, KIND)
    try:
        return Verdict.from_json(raw)
    except DocumentError as error:
        raise DocumentError(f"{path}: {error}") from None


def _check_sealed_rows(rows: tuple[Result, ...], entry: Entry, seal: RevealedSeal | None) -> None:
    if seal is not None:
        committed = hashlib.sha256(f"{seal.seed} {seal.salt}".encode()).hexdigest()
        if committed != seal.commitment:
            raise DocumentError("seal: the seed does not fit the commitment")
    for row in rows:
        if seal is None or (row.seal, row.seed) != (seal.commitment, seal.seed):
            raise DocumentError("sealed_rows: a row was not played under the seal")
        if row.attack != entry.attack.name:
            raise DocumentError("sealed_rows: a row is of another attack")
