"""The result store: one SQLite file in the output folder, one row an attack, game and repetition.

Rows are written one by one as they are finished, so that a killed run loses at most the rows in
flight. They are found again by a key hashed from the configuration, the prior's content and the
code that made them. A finished row is never rewritten; a failed one gives way to a new attempt.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, fields
from enum import StrEnum
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from reconbench.benchmarks import plugins
from reconbench.benchmarks.game.play import AttackSpec, Game
from reconbench.benchmarks.game.result import SCHEMA_VERSION, Result, ResultError, Status
from reconbench.benchmarks.plugins import options
from reconbench.benchmarks.store.provenance import code_version, shipped_name
from reconbench.benchmarks.store.source_code import hash_text

FILE_NAME = "results.sqlite"
# Seconds to wait for another process that writes.
PATIENCE = 30.0

_TABLE = """CREATE TABLE results (
    key TEXT PRIMARY KEY,
    config TEXT NOT NULL DEFAULT '',
    attack TEXT NOT NULL DEFAULT '',
    mechanism TEXT NOT NULL DEFAULT '',
    code TEXT NOT NULL DEFAULT '',
    status TEXT NOT NULL DEFAULT '',
    seal TEXT NOT NULL DEFAULT '',
    row TEXT NOT NULL)"""
_ADDED = ("config", "attack", "mechanism", "code", "status", "seal")
_PUT = """INSERT INTO results (key, config, attack, mechanism, code, status, seal, row)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (key) DO UPDATE SET status = excluded.status, seal = excluded.seal,
        row = excluded.row, attack = excluded.attack
    WHERE results.status = 'failed'"""


class StoreError(ValueError):
    """An output folder that does not hold a store of ours."""


class StoreWriteError(StoreError):
    """A store that could be opened but takes no more rows: a full disk, most likely."""

    exit_code = 3


class Standing(StrEnum):
    """How a stored row stands to the code that is here now."""

    CURRENT = "current"
    STALE = "stale"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Origin:
    """Who made a row: the attack and the mechanism as specs, and a hash of their code."""

    attack: str = ""
    mechanism: str = ""
    code: str = ""

    @property
    def standing(self) -> Standing:
        """Unknown if a plugin is not on this machine."""
        if not self.code:
            return Standing.STALE
        try:
            now = code_version(self.attack, self.mechanism)
        except plugins.PluginError:
            return Standing.UNKNOWN
        return Standing.CURRENT if now == self.code else Standing.STALE


@dataclass(frozen=True)
class Key:
    """The name of a row, and what it was hashed from; the name alone tells keys apart."""

    text: str
    config: str = field(default="", compare=False)
    origin: Origin = field(default=Origin(), compare=False)


@dataclass(frozen=True)
class Held:
    """What a store tells of a row without reading it: how it ended, and a hash of its content."""

    status: Status
    seal: str


@dataclass(frozen=True)
class Entry:
    """A row with its key, as they are in a store."""

    key: Key
    row: Result


class Keys:
    """Hashes keys, each prior and each plugin's code once; so use it for one run only."""

    def __init__(self) -> None:
        self._prior = cache(lambda dataset: plugins.prior(dataset).sha256())
        self._origin = cache(lambda attack, mechanism: _origin(attack, mechanism))
        self._mechanism = cache(_mechanism)
        self._players: dict[tuple[str, str], str] = {}

    def of(self, game: Game, attack: AttackSpec) -> Key:
        """From the game, the prior's content, the attack and its options, and all their code."""
        identity = identify_attack(attack)
        if identity not in self._players:
            self._players[identity] = _describe_attack(attack)
        axes = {name: getattr(game, name) for name in _AXES}
        # Without options keys are those of before there were any.
        if game.mechanism_options == options.NONE:
            del axes["mechanism_options"]
        # Nor with the advantage left out.
        if not game.advantage:
            del axes["advantage"]
        axes["epsilon"] = repr(float(game.epsilon))
        axes["delta"] = repr(float(game.delta))
        axes["dataset"] = plugins.short(game.dataset)
        axes["mechanism"] = self._mechanism(game.mechanism)
        text = json.dumps([axes, self._prior(game.dataset), SCHEMA_VERSION], sort_keys=True)
        config = hash_text(text + self._players[identity])
        origin = self._origin(attack.spec, game.mechanism)
        return Key(hash_text(f"{config} {origin.code}"), config, origin)


def row_key(game: Game, attack: AttackSpec) -> Key:
    """The key of one row."""
    return Keys().of(game, attack)


_AXES = tuple(each.name for each in fields(Game))


def _origin(attack: str, mechanism: str) -> Origin:
    return Origin(attack, mechanism, code_version(attack, mechanism))


def _mechanism(spec: str) -> str:
    """A mechanism by name; one in a file by its own name and the class's, wherever the file lies.

    The content of the file is part of the code that a key is hashed from.
    """
    if plugins.own_file(spec) is None:
        return spec
    return f"{plugins.mechanism(spec).name} {spec.rpartition(':')[2]}"


def identify_attack(attack: AttackSpec) -> tuple[str, str]:
    """What tells attacks with options apart."""
    return attack.spec, repr(sorted(attack.options.items()))


def _describe_attack(attack: AttackSpec) -> str:
    in_file = attack.spec.rpartition(":")[2] if ".py:" in attack.spec else ""
    name = shipped_name(attack.spec) or attack.build().name
    named = [name, in_file, dict(attack.options)]
    return json.dumps(named, sort_keys=True, default=str)


class Store:
    """Open with ``with Store(folder) as store``; rows are kept in the order they were added.

    Nothing is made before ``create`` or the first row. Several processes may use one store.
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / FILE_NAME
        self._open: sqlite3.Connection | None = None
        self._own = True
        self._columns = "config, attack, mechanism, code, status, seal"
        if folder.exists() and not folder.is_dir():
            raise StoreError(
                f"cannot open a result store at {self.path}: {folder} is not a folder; "
                "choose another output folder"
            )
        if self.path.exists():
            self.create()

    @classmethod
    def reading(cls, folder: Path) -> Self:
        """A store that must be there and is not changed, not even to the present schema.

        It may come from elsewhere, so every row is validated whole.
        """
        found = cls.__new__(cls)
        found.path = folder / FILE_NAME
        found._own = False
        found._columns = "config, attack, mechanism, code, status, seal"
        if not found.path.is_file():
            raise StoreError(
                f"no result store at {found.path}: name the output folder of `reconbench run`"
            )
        with found._complaining("cannot open a result store at {path}: {error}; {remedy}"):
            uri = found.path.resolve().as_uri() + "?mode=ro"
            if not found.path.with_name(f"{FILE_NAME}-wal").exists():
                with suppress(OSError):
                    if not os.access(found.path.parent, os.W_OK):
                        uri += "&immutable=1"
            found._open = sqlite3.connect(uri, uri=True, isolation_level=None, timeout=PATIENCE)
            version, has_table = found._found(found._open)
            if not has_table or version not in (1, SCHEMA_VERSION):
                raise found._other_schema(version)
            if version == 1:
                found._columns = "'', '', '', '', '', ''"
        return found

    def create(self) -> None:
        """Make the store if there is none, and find out whether it can be written to."""
        if self._open is not None:
            return
        connection = None
        try:
            with self._complaining("cannot open a result store at {path}: {error}; {remedy}"):
                self.path.parent.mkdir(parents=True, exist_ok=True)
                connection = sqlite3.connect(self.path, isolation_level=None, timeout=PATIENCE)
                version, has_table = self._found(connection)
                if has_table and version not in (1, SCHEMA_VERSION):
                    raise self._other_schema(version)
                _switch_to_wal(connection)
                connection.execute("PRAGMA synchronous=NORMAL")
                self._prepare(connection)
        except BaseException:
            if connection is not None:
                connection.close()
            raise
        self._open = connection

    def _found(self, connection: sqlite3.Connection) -> tuple[int, bool]:
        """The schema and whether there is a table, both of one moment."""
        inside = connection.in_transaction
        if not inside:
            connection.execute("BEGIN")
        try:
            (version,) = connection.execute("PRAGMA user_version").fetchone()
            (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        finally:
            if not inside:
                connection.execute("ROLLBACK")
        return int(version), tables > 0

    def _prepare(self, connection: sqlite3.Connection) -> None:
        connection.execute("BEGIN IMMEDIATE")
        try:
            version, has_table = self._found(connection)
            if not has_table:
                connection.execute(_TABLE)
            elif version == 1:
                for name in _ADDED:
                    connection.execute(
                        f"ALTER TABLE results ADD COLUMN {name} TEXT NOT NULL DEFAULT ''"
                    )
                connection.execute("UPDATE results SET status = json_extract(row, '$.status')")
            if version != SCHEMA_VERSION:
                connection.execute(f"PRAGMA user_version={SCHEMA_VERSION}")
            connection.execute("COMMIT")
        except BaseException:
            with suppress(sqlite3.Error):
                connection.execute("ROLLBACK")
            raise

    def _other_schema(self, version: int) -> StoreError:
        return StoreError(
            f"{self.path} has schema {version}, this version reads 1 to {SCHEMA_VERSION}; "
            "choose another output folder, or use the version of reconbench that made it"
        )

    @contextmanager
    def _complaining(self, message: str, kind: type[StoreError] = StoreError) -> Iterator[None]:
        try:
            yield
        except (OSError, sqlite3.Error) as error:
            shown = message.format(path=self.path, error=error, remedy=_remedy(error))
            raise kind(shown) from None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._open is not None:
            with suppress(sqlite3.Error):
                self._open.close()
            self._open = None

    def put(self, key: Key | str, row: Result) -> None:
        """Add a row, or replace a failed one. A finished one stays: the first wins."""
        self.create()
        with self._writing() as connection:
            connection.execute(_PUT, _line(key, row))

    def add(self, entries: Iterable[Entry]) -> None:
        """As ``put``, but all or none."""
        self.create()
        with self._writing() as connection:
            connection.execute("BEGIN IMMEDIATE")
            try:
                connection.executemany(_PUT, (_line(each.key, each.row) for each in entries))
                connection.execute("COMMIT")
            except BaseException:
                with suppress(sqlite3.Error):
                    connection.execute("ROLLBACK")
                raise

    def delete(self, keys: Iterable[Key]) -> None:
        """All or none; the space goes back to the disk unless another process is reading."""
        with self._writing() as connection:
            connection.execute("BEGIN IMMEDIATE")
            doomed = [(key.text,) for key in keys]
            connection.executemany("DELETE FROM results WHERE key = ?", doomed)
            connection.execute("COMMIT")
            with suppress(sqlite3.Error):
                connection.execute("VACUUM")

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        message = "cannot write to {path}: {error}; all rows stored before are kept: {remedy}"
        with self._complaining(message, StoreWriteError):
            assert self._open is not None
            yield self._open

    def get(self, keys: Iterable[Key]) -> dict[Key, Result]:
        """The rows that are there, of those asked for."""
        wanted = {key.text: key for key in keys}
        rows = self._select("SELECT key, seal, row FROM results")
        return {
            wanted[text]: self._read(text, seal, row) for text, seal, row in rows if text in wanted
        }

    def held(self, keys: Iterable[Key]) -> dict[Key, Held]:
        """Which rows are there, of those asked for: whole, as their seals say, but not read."""
        wanted = {key.text: key for key in keys}
        rows = self._select("SELECT key, status, seal, CAST(row AS BLOB) FROM results")
        return {
            wanted[text]: self._looked_at(text, status, seal, row)
            for text, status, seal, row in rows
            if text in wanted
        }

    def entries(self) -> list[Entry]:
        """Every row, stale ones too."""
        return [
            Entry(Key(text, config, Origin(attack, mechanism, code)), self._read(text, seal, row))
            for text, config, attack, mechanism, code, _, seal, row in self._select(
                f"SELECT key, {self._columns}, row FROM results ORDER BY rowid"
            )
        ]

    def stale(self) -> int:
        """How many rows were made by other code."""
        counts = self._select(
            "SELECT attack, mechanism, code, count(*) FROM results GROUP BY 1, 2, 3"
        )
        return sum(
            count
            for attack, mechanism, code, count in counts
            if Origin(attack, mechanism, code).standing is Standing.STALE
        )

    def _select(self, query: str) -> list[tuple[Any, ...]]:
        if self._open is None:
            return []
        with self._complaining("{path} cannot be read: {error}; {remedy}"):
            return self._open.execute(query).fetchall()

    def _looked_at(self, key: str, status: str, seal: str, content: Any) -> Held:
        with self._reading(key):
            now = _seal(key, content)
            if seal and seal != now:
                raise ResultError("it was changed after it was written")
            return Held(Status(status), now)

    def _read(self, key: str, seal: str, text: Any) -> Result:
        with self._reading(key):
            raw = json.loads(text)
            if seal and seal != _seal(key, text.encode()):
                raise ResultError("it was changed after it was written")
            # A seal tells of damage, not of who wrote it: a store of others is read with care.
            return Result.rebuilt(raw) if seal and self._own else Result.from_json(raw)

    @contextmanager
    def _reading(self, key: str) -> Iterator[None]:
        try:
            yield
        except (TypeError, KeyError, ValueError, AttributeError) as error:
            raise StoreError(
                f"{self.path} holds a row that cannot be read: {error}; restore the file from a "
                f"copy, or delete the row: DELETE FROM results WHERE key = '{key}'"
            ) from None


def _line(key: Key | str, row: Result) -> tuple[str, ...]:
    key = Key(key) if isinstance(key, str) else key
    text = json.dumps(row.to_json(), ensure_ascii=False, allow_nan=False)
    origin = key.origin
    seal = _seal(key.text, text.encode())
    return (
        key.text,
        key.config,
        origin.attack,
        origin.mechanism,
        origin.code,
        Status(row.status).value,
        seal,
        text,
    )


def _seal(key: str, content: bytes) -> str:
    return hashlib.sha256(key.encode() + content).hexdigest()[:16]


def _switch_to_wal(connection: sqlite3.Connection) -> None:
    """Two processes that make one store at once meet here, where SQLite does not wait."""
    until = time.monotonic() + PATIENCE
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL")
            return
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > until:
                raise
            time.sleep(0.05)


def _remedy(error: Exception) -> str:
    text = str(error)
    if any(word in text for word in ("malformed", "not a database", "decode")):
        return "the file is damaged: restore it from a copy, or move it away and run again"
    if "locked" in text:
        return "another process holds it: wait for that one to end"
    if "full" in text or "I/O" in text:
        return "free some space and run the same command again"
    return "choose an output folder that you may write to"
