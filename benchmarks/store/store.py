"""The result store: one SQLite file in the output folder, one row per attack, game and repetition.

Rows are written one by one as they are finished, so that a killed run loses at most the rows in
flight. They are found again by a key hashed from the configuration, the prior's content and the
code that made them. A finished row is never rewritten; a new attempt replaces a failed one.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import astuple, dataclass, field
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Any, Self

from reconbench.benchmarks import plugins
from reconbench.benchmarks.game.play import AttackSpec, Game
from reconbench.benchmarks.game.result import SCHEMA_VERSION, Result, ResultError, Status
from reconbench.benchmarks.game.setting import dump_axes
from reconbench.benchmarks.store.provenance import bounds_in_files, code_version, shipped_name
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
# Columns that schema 1 did not have.
_ADDED = ("config", "attack", "mechanism", "code", "status", "seal")
_CANNOT_OPEN = "cannot open a result store at {path}: {error}; {remedy}"
_PUT = """INSERT INTO results (key, config, attack, mechanism, code, status, seal, row)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (key) DO UPDATE SET status = excluded.status, seal = excluded.seal,
        row = excluded.row, attack = excluded.attack
    WHERE results.status = 'failed'"""


class StoreError(ValueError):
    """An output folder that does not hold a store of ours."""


class StoreWriteError(StoreError):
    """A store that could be opened but not written to: most likely, the disk is full."""

    exit_code = 3


class Freshness(StrEnum):
    """Whether a stored row was made by the code that is here now."""

    CURRENT = "current"
    STALE = "stale"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Origin:
    """Who made a row: the attack and the mechanism as specs, and the ``code_version`` of both."""

    attack: str = ""
    mechanism: str = ""
    code: str = ""

    @property
    def freshness(self) -> Freshness:
        """Unknown if a plugin is not on this machine."""
        if not self.code:
            return Freshness.STALE
        try:
            now = code_version(self.attack, self.mechanism, bounds_in_files(self.code))
        except plugins.PluginError:
            return Freshness.UNKNOWN
        return Freshness.CURRENT if now == self.code else Freshness.STALE


@dataclass(frozen=True)
class Key:
    """The hash that names a row, and what it was hashed from; only ``text`` is compared."""

    text: str
    config: str = field(default="", compare=False)
    origin: Origin = field(default=Origin(), compare=False)


@dataclass(frozen=True)
class RowHeader:
    """The status of a stored row and a hash of its content, without the content."""

    status: Status
    seal: str


@dataclass(frozen=True)
class Entry:
    """A stored row with its key."""

    key: Key
    row: Result


class Keys:
    """Hashes keys. It reads each prior and each plugin's code once: use it for one run only."""

    def __init__(self) -> None:
        self._prior = cache(lambda dataset: plugins.load_prior(dataset).sha256())
        self._origin = cache(_find_origin)
        self._mechanism = cache(_identify_mechanism)
        self._players: dict[tuple[str, str], str] = {}

    def of(self, game: Game, attack: AttackSpec, bounds: tuple[str, ...] = ()) -> Key:
        """From the game, the prior's content, the attack and its options, and all their code.

        ``bounds`` are those in files.
        """
        identity = identify_attack(attack)
        if identity not in self._players:
            self._players[identity] = _describe_attack(attack)
        axes = dump_axes(game) | {
            "dataset": plugins.shorten_spec(game.dataset),
            "data_hash": self._prior(game.dataset),
            "metric": plugins.identify_spec(game.metric),
            "mechanism": self._mechanism(game.mechanism),
            "rep": game.rep,
        }
        text = json.dumps([axes, SCHEMA_VERSION], sort_keys=True)
        config = hash_text(text + self._players[identity])
        origin = self._origin(attack.spec, game.mechanism, bounds)
        return Key(hash_text(f"{config} {origin.code.partition(' ')[0]}"), config, origin)


def row_key(game: Game, attack: AttackSpec, bounds: tuple[str, ...] = ()) -> Key:
    """The key of one row."""
    return Keys().of(game, attack, bounds)


def _find_origin(attack: str, mechanism: str, bounds: tuple[str, ...]) -> Origin:
    return Origin(attack, mechanism, code_version(attack, mechanism, bounds))


def _identify_mechanism(spec: str) -> str:
    """A mechanism by name; one in a file by its own name and the class's, wherever the file lies.

    The content of the file is part of the code that a key is hashed from.
    """
    if plugins.get_file(spec) is None:
        return spec
    return f"{plugins.load_mechanism(spec).name} {spec.rpartition(':')[2]}"


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
        self._trusted = True
        self._columns = ", ".join(_ADDED)
        with self._report_errors(_CANNOT_OPEN):
            if folder.exists() and not folder.is_dir():
                raise StoreError(
                    f"cannot open a result store at {self.path}: {folder} is not a folder; "
                    "choose another output folder"
                )
            exists = self.path.exists()
        if exists:
            self.create()

    @classmethod
    def read_only(cls, folder: Path) -> Self:
        """Open a store that must exist. It is not changed, not even to the present schema.

        It may come from elsewhere, so every row is validated whole.
        """
        store = cls.__new__(cls)
        store.path = folder / FILE_NAME
        store._trusted = False
        store._columns = ", ".join(_ADDED)
        with store._report_errors(_CANNOT_OPEN):
            exists = store.path.is_file()
        if not exists:
            raise StoreError(
                f"no result store at {store.path}: name the output folder of `reconbench run`"
            )
        with store._report_errors(_CANNOT_OPEN):
            uri = store.path.resolve().as_uri() + "?mode=ro"
            if not store.path.with_name(f"{FILE_NAME}-wal").exists():
                with suppress(OSError):
                    if not os.access(store.path.parent, os.W_OK):
                        uri += "&immutable=1"
            store._open = sqlite3.connect(uri, uri=True, isolation_level=None, timeout=PATIENCE)
            version, has_table = _read_schema(store._open)
            if not has_table or not 1 <= version <= SCHEMA_VERSION:
                raise store._other_schema(version)
            if version == 1:
                store._columns = ", ".join(["''"] * len(_ADDED))
        return store

    def create(self) -> None:
        """Make the store if there is none; raises if it cannot be written to."""
        if self._open is not None:
            return
        connection = None
        try:
            with self._report_errors(_CANNOT_OPEN):
                self.path.parent.mkdir(parents=True, exist_ok=True)
                connection = sqlite3.connect(self.path, isolation_level=None, timeout=PATIENCE)
                version, has_table = _read_schema(connection)
                if has_table and not 1 <= version <= SCHEMA_VERSION:
                    raise self._other_schema(version)
                _switch_to_wal(connection)
                connection.execute("PRAGMA synchronous=NORMAL")
                self._prepare(connection)
        except BaseException:
            if connection is not None:
                connection.close()
            raise
        self._open = connection

    def _prepare(self, connection: sqlite3.Connection) -> None:
        with _transaction(connection):
            version, has_table = _read_schema(connection)
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

    def _other_schema(self, version: int) -> StoreError:
        return StoreError(
            f"{self.path} has schema {version}, this version reads 1 to {SCHEMA_VERSION}; "
            "choose another output folder, or use the version of reconbench that made it"
        )

    @contextmanager
    def _report_errors(self, message: str, kind: type[StoreError] = StoreError) -> Iterator[None]:
        try:
            yield
        except (OSError, sqlite3.Error) as error:
            text = message.format(path=self.path, error=error, remedy=_find_remedy(error))
            raise kind(text) from None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._open is not None:
            with suppress(sqlite3.Error):
                self._open.close()
            self._open = None

    def put(self, key: Key | str, row: Result) -> None:
        """Add a row, or replace a failed one. A finished row is kept."""
        self.create()
        with self._writing() as connection:
            connection.execute(_PUT, _encode(key, row))

    def add(self, entries: Iterable[Entry]) -> None:
        """As ``put``, but all or none."""
        self.create()
        with self._writing() as connection, _transaction(connection):
            connection.executemany(_PUT, (_encode(entry.key, entry.row) for entry in entries))

    def delete(self, keys: Iterable[Key]) -> None:
        """All or none; the space goes back to the disk unless another process is reading."""
        names = [(key.text,) for key in keys]
        with self._writing() as connection:
            with _transaction(connection):
                connection.executemany("DELETE FROM results WHERE key = ?", names)
            with suppress(sqlite3.Error):
                connection.execute("VACUUM")

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        message = "cannot write to {path}: {error}; all rows stored before are kept: {remedy}"
        with self._report_errors(message, StoreWriteError):
            assert self._open is not None
            yield self._open

    def get(self, keys: Iterable[Key]) -> dict[Key, Result]:
        """The stored rows among these keys."""
        wanted = {key.text: key for key in keys}
        rows = self._select("SELECT key, seal, row FROM results")
        return {
            wanted[text]: self._read(text, seal, row) for text, seal, row in rows if text in wanted
        }

    def read_headers(self, keys: Iterable[Key]) -> dict[Key, RowHeader]:
        """The headers of the stored rows among these keys; their seals are checked."""
        wanted = {key.text: key for key in keys}
        rows = self._select("SELECT key, status, seal, CAST(row AS BLOB) FROM results")
        return {
            wanted[text]: self._read_header(text, status, seal, row)
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
            if Origin(attack, mechanism, code).freshness is Freshness.STALE
        )

    def _select(self, query: str) -> list[tuple[Any, ...]]:
        if self._open is None:
            return []
        with self._report_errors("{path} cannot be read: {error}; {remedy}"):
            return self._open.execute(query).fetchall()

    def _read_header(self, key: str, status: str, seal: str, content: Any) -> RowHeader:
        with self._reading(key):
            now = _seal(key, content)
            if seal and seal != now:
                raise ResultError("it was changed after it was written")
            return RowHeader(Status(status), now)

    def _read(self, key: str, seal: str, text: Any) -> Result:
        with self._reading(key):
            raw = json.loads(text)
            if seal and seal != _seal(key, text.encode()):
                raise ResultError("it was changed after it was written")
            # A seal shows damage, not who wrote a row: rows of other stores are validated.
            return (
                Result.from_trusted_json(raw) if seal and self._trusted else Result.from_json(raw)
            )

    @contextmanager
    def _reading(self, key: str) -> Iterator[None]:
        try:
            yield
        except (TypeError, KeyError, ValueError, AttributeError, RecursionError) as error:
            raise StoreError(
                f"{self.path} holds a row that cannot be read: {error}; restore the file from a "
                f"copy, or delete the row: DELETE FROM results WHERE key = '{key}'"
            ) from None


def _encode(key: Key | str, row: Result) -> tuple[str, ...]:
    key = Key(key) if isinstance(key, str) else key
    text = json.dumps(row.to_json(), ensure_ascii=False, allow_nan=False)
    seal = _seal(key.text, text.encode())
    return key.text, key.config, *astuple(key.origin), Status(row.status).value, seal, text


def _seal(key: str, content: bytes) -> str:
    return hashlib.sha256(key.encode() + content).hexdigest()[:16]


@contextmanager
def _transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """All or nothing."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        with suppress(sqlite3.Error):
            connection.execute("ROLLBACK")
        raise


def _read_schema(connection: sqlite3.Connection) -> tuple[int, bool]:
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


def _switch_to_wal(connection: sqlite3.Connection) -> None:
    """Waits for other processes that make the same store, since SQLite does not wait here."""
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL")
            return
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > deadline:
                raise
            time.sleep(0.05)


def _find_remedy(error: Exception) -> str:
    text = str(error)
    if any(word in text for word in ("malformed", "not a database", "decode")):
        return "the file is damaged: restore it from a copy, or move it away and run again"
    if "locked" in text:
        return "another process holds it: wait for that one to end"
    if "too long" in text:
        return "choose an output folder with a shorter name"
    if "full" in text or "I/O" in text:
        return "free some space and run the same command again"
    return "choose an output folder that you may write to"
