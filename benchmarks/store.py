"""The result store: one SQLite file in the output folder, one row an attack, game and repetition.

Rows are written one by one as they are finished, so that a killed run loses at most the row in
flight, and are found again by a key hashed from everything that defines them.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from reconbench.benchmarks import plugins
from reconbench.benchmarks.game import AttackSpec, Game, versions
from reconbench.benchmarks.results import SCHEMA_VERSION, Result, ResultError

FILE_NAME = "results.sqlite"


class StoreError(ValueError):
    """An output folder that does not hold a store of ours."""


class Store:
    """Open with ``with Store(folder) as store``; rows are kept in the order they were added."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / FILE_NAME
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._connection = sqlite3.connect(self.path, isolation_level=None, timeout=30)
            self._connection.execute("PRAGMA journal_mode=WAL")
            self._prepare()
        except (OSError, sqlite3.Error) as error:
            raise StoreError(f"cannot open a result store at {self.path}: {error}") from None

    def _prepare(self) -> None:
        (found,) = self._connection.execute("PRAGMA user_version").fetchone()
        tables = self._connection.execute("SELECT name FROM sqlite_master").fetchall()
        if not tables:
            self._connection.execute(
                "CREATE TABLE IF NOT EXISTS results (key TEXT PRIMARY KEY, row TEXT NOT NULL)"
            )
            self._connection.execute(f"PRAGMA user_version={SCHEMA_VERSION}")
        elif found != SCHEMA_VERSION:
            raise StoreError(
                f"{self.path} has schema {found}, this version reads {SCHEMA_VERSION}; "
                "choose another output folder"
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._connection.close()

    def put(self, key: str, row: Result) -> None:
        text = json.dumps(row.to_json(), ensure_ascii=False, allow_nan=False)
        self._connection.execute("INSERT OR REPLACE INTO results VALUES (?, ?)", (key, text))

    def get(self, keys: Iterable[str]) -> dict[str, Result]:
        """The rows that are there, of those asked for."""
        wanted = set(keys)
        rows = self._connection.execute("SELECT key, row FROM results").fetchall()
        return {key: self._read(text) for key, text in rows if key in wanted}

    def _read(self, text: Any) -> Result:
        try:
            return Result.from_json(json.loads(text))
        except (TypeError, json.JSONDecodeError, ResultError) as error:
            raise StoreError(f"{self.path} holds a row that cannot be read: {error}") from None


def row_key(game: Game, attack: AttackSpec) -> str:
    """A hash of the game, the prior's content, the attack and its options, and all their code."""
    identity = {
        "schema": SCHEMA_VERSION,
        "game": {**asdict(game), "epsilon": repr(float(game.epsilon))},
        "prior": plugins.prior(game.dataset).sha256(),
        "attack": attack.build().name,
        "options": dict(attack.options),
        "code": plugins.fingerprint("attacks", attack.spec),
        "mechanism code": plugins.fingerprint("mechanisms", game.mechanism),
        "versions": versions(),
    }
    text = json.dumps(identity, sort_keys=True, ensure_ascii=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()
