"""Sealed runs: tables and noise from a secret seed, committed to before anybody plays.

``seal.json`` in the output folder holds the commitment, a hash of the seed and a salt, from before
the first game. Seed and salt are kept beside it in a file that only its owner may read, so that a
run that was stopped can go on, and are revealed in ``seal.json`` when the run is complete. Anyone
can then check the commitment, and play the same games again with ``--seed``. Until then players see
an empty folder in place of the output folder, where the system can hide one.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import sys
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from reconbench.benchmarks import plugins
from reconbench.datasets.atomic_files import write_json_atomic

FILE_NAME = "seal.json"
SECRET_NAME = ".seal-secret.json"
# Of secret seeds: nobody finds one by trying in the time that a run takes.
SEED_BITS = 62


class SealError(ValueError):
    """A sealed run that cannot go on."""


@dataclass(frozen=True)
class Seal:
    """A secret seed, the salt of its commitment, and whether both have been revealed."""

    seed: int
    salt: str
    revealed: bool = False

    @classmethod
    def draw(cls) -> Seal:
        return cls(secrets.randbits(SEED_BITS), secrets.token_hex(16))

    @property
    def commitment(self) -> str:
        return hashlib.sha256(f"{self.seed} {self.salt}".encode()).hexdigest()

    def keep(self, folder: Path) -> None:
        """Write the commitment, and the secret for its owner alone; nothing if they are there."""
        if (folder / FILE_NAME).exists():
            return
        folder.mkdir(parents=True, exist_ok=True)
        secret = json.dumps({"seed": self.seed, "salt": self.salt})
        try:
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
            with os.fdopen(os.open(folder / SECRET_NAME, flags, 0o600), "w") as stream:
                stream.write(secret)
        except OSError as error:
            raise SealError(
                f"cannot write {folder / SECRET_NAME}: {error.strerror}; choose another --out"
            ) from None
        write_json_atomic(folder / FILE_NAME, {"commitment": self.commitment})

    def reveal(self, folder: Path) -> Seal:
        """Publish seed and salt."""
        content = {"commitment": self.commitment, "seed": self.seed, "salt": self.salt}
        write_json_atomic(folder / FILE_NAME, content)
        (folder / SECRET_NAME).unlink(missing_ok=True)
        return replace(self, revealed=True)


def find_seal(folder: Path) -> Seal:
    """The seal of an output folder, or a new one if it has none; nothing is written."""
    public = _read(folder / FILE_NAME)
    if public is None:
        if (folder / SECRET_NAME).exists():
            raise SealError(
                f"{folder} has a secret seed without {FILE_NAME}, so nobody was committed to it; "
                f"delete {folder / SECRET_NAME}, or choose another --out"
            )
        return Seal.draw()
    revealed = "seed" in public
    source = public if revealed else _read(folder / SECRET_NAME)
    if source is None:
        raise SealError(
            f"{folder / SECRET_NAME} is missing, so this sealed run cannot go on; choose another "
            "--out"
        )
    match source:
        case {"seed": int() as seed, "salt": str() as salt}:
            seal = Seal(seed, salt, revealed)
            if seal.commitment == public.get("commitment"):
                return seal
    raise SealError(f"the seed in {folder} does not fit the commitment in {folder / FILE_NAME}")


def check_can_hide(folder: Path, attacks: Iterable[str]) -> None:
    """Refuse an output folder that holds what players need: they see nothing of it."""
    files = [Path(parts.path) for parts in map(plugins.split_file, attacks) if parts is not None]
    for needed in (*files, Path(sys.prefix), Path(__file__), Path(tempfile.gettempdir())):
        if needed.resolve().is_relative_to(folder.resolve()):
            raise SealError(
                f"the output folder {folder} contains {needed}, which attacks need, and attacks "
                "must not see the output folder of a sealed run; choose another --out"
            )


def _read(path: Path) -> dict[str, Any] | None:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise SealError(f"cannot read {path}: {error}") from None
    if not isinstance(content, dict):
        raise SealError(f"{path} is not a seal")
    return content
