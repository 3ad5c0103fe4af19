"""Stores beside each other: export to a table, merge, compare and prune."""

from __future__ import annotations

import csv
import io
import json
import os
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, fields
from enum import StrEnum
from functools import cache
from importlib import import_module
from pathlib import Path
from statistics import fmean
from typing import Any

from reconbench.benchmarks.game.result import Result, Status
from reconbench.benchmarks.game.setting import AXES
from reconbench.benchmarks.store.provenance import NO_ATTACK
from reconbench.benchmarks.store.store import FILE_NAME, Entry, Origin, Standing, Store, StoreError
from reconbench.bounds.ceilings.base import MEAN
from reconbench.datasets.atomic_files import write_atomic

# A spreadsheet runs a cell that starts with one of these.
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")
# What a table shows of a row as JSON text, and what it spreads over columns of its own.
_NESTED = (
    "targets",
    "known",
    "attack_options",
    "versions",
    "run_tail",
    "info",
    "mechanism_options",
    "facts",
    "calibration",
    "bounds",
)
_SPREAD = "ceilings"


class TransferError(ValueError):
    """Stores that cannot be merged, or a table that cannot be written."""


def folder_of(path: Path) -> Path:
    """An output folder, also when its store is named."""
    return path.parent if path.name == FILE_NAME else path


def read(folder: Path) -> list[Entry]:
    """Every row of a store, which is only read."""
    with Store.reading(folder_of(folder)) as store:
        return store.entries()


def standings(entries: Iterable[Entry]) -> list[Standing]:
    """Of each row in turn."""
    known: Callable[[Origin], Standing] = cache(lambda origin: origin.standing)
    return [known(each.key.origin) for each in entries]


@dataclass(frozen=True)
class Cell:
    """The stored repetitions of one attack on one game; numbers are of finished current rows.

    A computation has no success, but a baseline and ``values`` by bound.
    """

    row: Result
    ok: int
    failed: int
    skipped: int
    stale: int
    unknown: int
    success: float | None
    baseline: float | None
    seconds: float | None
    error: str | None
    values: Mapping[str, float] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        row = self.row.to_json()
        counts = {each.name: getattr(self, each.name) for each in fields(self)[1:]}
        return {**{name: row[name] for name in (*AXES, "attack", "attack_options")}, **counts}


def cells(entries: Sequence[Entry]) -> list[Cell]:
    """Rows by cell, in the order in which their first ones were stored."""
    groups: dict[tuple[object, ...], list[tuple[Result, Standing]]] = {}
    for entry, standing in zip(entries, standings(entries), strict=True):
        groups.setdefault(entry.row.cell, []).append((entry.row, standing))
    return [_cell(group) for group in groups.values()]


def _cell(group: Sequence[tuple[Result, Standing]]) -> Cell:
    rows = [row for row, standing in group if standing is not Standing.STALE]
    done = [row for row in rows if row.status is Status.OK]
    scored = [row for row in done if row.successes is not None]
    computed = [row for row in done if row.attack == NO_ATTACK]
    prior = [float(row.baseline_successes) for row in scored] or [
        row.baseline_expected for row in computed
    ]
    errors = [row.error for row in rows if row.status is Status.FAILED]
    return Cell(
        row=group[0][0],
        ok=len(done),
        failed=len(errors),
        skipped=sum(row.status is Status.SKIPPED for row in rows),
        stale=len(group) - len(rows),
        unknown=sum(standing is Standing.UNKNOWN for _, standing in group),
        success=fmean(row.successes or 0 for row in scored) if scored else None,
        baseline=fmean(prior) if prior else None,
        seconds=fmean(row.seconds for row in done) if done else None,
        error=errors[0] if errors else None,
        values={bound: levels[MEAN] for row in computed for bound, levels in row.ceilings.items()},
    )


def export(entries: Sequence[Entry], path: Path) -> int:
    """Write rows as CSV or Parquet, by the file's name, whole or not at all; how many."""
    if not path.parent.is_dir():
        raise TransferError(f"cannot write {path}: no folder {path.parent}; make it first")
    columns = _columns(entries)
    try:
        if path.suffix.lower() == ".csv":
            write_atomic(path, _csv(columns))
        elif path.suffix.lower() == ".parquet":
            _write_parquet(path, columns)
        else:
            raise TransferError(f"cannot export to {path}: the name must end in .csv or .parquet")
    except OSError as error:
        raise TransferError(f"cannot write {path}: {error.strerror or error}") from None
    return len(entries)


def _columns(entries: Sequence[Entry]) -> dict[str, list[Any]]:
    """Row by row the same columns: a field each, and one for each ceiling and confidence."""
    found: dict[str, list[Any]] = {"key": [each.key.text for each in entries]}
    found["code"] = [each.key.origin.code for each in entries]
    found["standing"] = [each.value for each in standings(entries)]
    for each in fields(Result):
        values = [getattr(entry.row, each.name) for entry in entries]
        if each.name == "status":
            found[each.name] = [Status(value).value for value in values]
        elif each.name in _NESTED:
            found[each.name] = [None if value is None else _json(value) for value in values]
        elif each.name != _SPREAD:
            found[each.name] = values
    levels = {
        (bound, level): None
        for entry in entries
        for bound, values in sorted(entry.row.ceilings.items())
        for level in values
    }
    for bound, level in levels:
        found[f"ceiling_{bound}_{level}"] = [
            _number(entry.row.ceilings.get(bound, {}).get(level)) for entry in entries
        ]
    return found


def _json(value: object) -> str:
    plain = dict(value) if isinstance(value, Mapping) else value
    return json.dumps(plain, ensure_ascii=False, sort_keys=isinstance(value, Mapping))


def _number(value: float | None) -> float | None:
    return None if value is None else float(value)


def _csv(columns: Mapping[str, Sequence[Any]]) -> str:
    out = io.StringIO(newline="")
    writer = csv.writer(out)
    writer.writerow(columns)
    for line in zip(*columns.values(), strict=True):
        writer.writerow([_harmless(cell) for cell in line])
    return out.getvalue()


def _harmless(cell: object) -> object:
    if isinstance(cell, str) and cell.startswith(_FORMULA):
        return f"'{cell}"
    return repr(cell) if isinstance(cell, float) else cell


def _write_parquet(path: Path, columns: Mapping[str, Sequence[Any]]) -> None:
    try:
        arrow, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
    except ImportError:
        raise TransferError(
            f"cannot write {path}: Parquet needs pyarrow: pip install 'reconbench[parquet]', or "
            "export to .csv"
        ) from None
    kinds = {"int": arrow.int64(), "float": arrow.float64(), "bool": arrow.bool_()}
    kind_of = {each.name: str(each.type).partition(" ")[0] for each in fields(Result)}
    table = arrow.table(
        {
            name: arrow.array(
                values,
                type=arrow.float64()
                if name.startswith("ceiling_")
                else kinds.get(kind_of.get(name, ""), arrow.string()),
            )
            for name, values in columns.items()
        }
    )
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    os.close(handle)
    try:
        parquet.write_table(table, temporary)
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise


@dataclass(frozen=True)
class Merged:
    """What came of a merge: rows added, failed ones replaced, and those that were there."""

    added: int
    replaced: int
    same: int


def merge(into: Path, others: Sequence[Path]) -> Merged:
    """Add the rows of other stores to one, all or none.

    Rows with one key must be equal but for timings. A finished row beats a failed one.
    """
    sources = [(folder, read(folder)) for folder in others]
    with ExitStack() as stack:
        store = stack.enter_context(Store(folder_of(into)))
        had = {each.key: each.row for each in store.entries()}
        found = dict(had)
        new: dict[str, Entry] = {}
        same = 0
        for folder, entries in sources:
            for entry in entries:
                mine = found.get(entry.key)
                if mine is None or _outdoes(entry.row, mine):
                    found[entry.key] = entry.row
                    new[entry.key.text] = entry
                    continue
                if Status.FAILED not in (mine.status, entry.row.status):
                    _must_agree(mine, entry, folder, into)
                same += 1
        if new or not store.path.exists():
            store.add(new.values())
        replaced = sum(entry.key in had for entry in new.values())
        return Merged(len(new) - replaced, replaced, same)


def _outdoes(row: Result, mine: Result) -> bool:
    return mine.status is Status.FAILED and row.status is not Status.FAILED


def _must_agree(mine: Result, entry: Entry, folder: Path, into: Path) -> None:
    names = mine.differences(entry.row)
    if names:
        values = f"{getattr(mine, names[0])!r} and {getattr(entry.row, names[0])!r}"[:200]
        raise TransferError(
            f"{folder} and {into} hold one row with two results, nothing was merged: "
            f"{mine.describe()} (key {entry.key.text[:12]}) differs in {', '.join(names)}: "
            f"{values}; "
            "play it again with --force on both machines to see which is right"
        )


class Kind(StrEnum):
    """How two stores may differ in a row."""

    ONLY_FIRST = "only in the first"
    ONLY_SECOND = "only in the second"
    VALUES = "other values"
    CODE = "made by other code"


@dataclass(frozen=True)
class Difference:
    """A row in which two stores differ; ``fields`` are those that do, where both have it."""

    kind: Kind
    row: str
    fields: Mapping[str, tuple[Any, Any]]

    def to_json(self) -> dict[str, Any]:
        values = {name: list(pair) for name, pair in self.fields.items()}
        return {"kind": self.kind.value, "row": self.row, "fields": values}

    def describe(self) -> str:
        text = f"{self.kind.value}: {self.row}"
        values = [f"{name} {a!r} and {b!r}"[:120] for name, (a, b) in self.fields.items()]
        return f"{text}: {'; '.join(values)}" if values else text


def diff(first: Path, second: Path) -> list[Difference]:
    """Rows that two stores do not have in common, but for timings and memory.

    Rows of one configuration made by different code are held against each other.
    """
    left, right = read(first), read(second)
    mine = {each.key: each for each in left}
    theirs = {each.key: each for each in right}
    by_config = {each.key.config: each for each in right if each.key not in mine}
    found, paired = [], set()
    for entry in left:
        other = theirs.get(entry.key)
        if other is not None:
            values = _values(entry.row, other.row)
            if values:
                found.append(Difference(Kind.VALUES, entry.row.describe(), values))
            continue
        other = by_config.get(entry.key.config) if entry.key.config else None
        if other is None:
            found.append(Difference(Kind.ONLY_FIRST, entry.row.describe(), {}))
        else:
            paired.add(other.key)
            values = _values(entry.row, other.row)
            found.append(Difference(Kind.CODE, entry.row.describe(), values))
    for entry in right:
        if entry.key not in mine and entry.key not in paired:
            found.append(Difference(Kind.ONLY_SECOND, entry.row.describe(), {}))
    return found


def _values(mine: Result, theirs: Result) -> dict[str, tuple[Any, Any]]:
    a, b = mine.to_json(), theirs.to_json()
    return {name: (a[name], b[name]) for name in mine.differences(theirs)}


def prunable(entries: Sequence[Entry], *, stale: bool, failed: bool) -> list[Entry]:
    """The rows that were made by other code, those that failed, or both."""
    return [
        entry
        for entry, standing in zip(entries, standings(entries), strict=True)
        if (stale and standing is Standing.STALE) or (failed and entry.row.status is Status.FAILED)
    ]


def prune(folder: Path, doomed: Sequence[Entry]) -> None:
    """Delete rows, all or none."""
    where = folder_of(folder)
    if not (where / FILE_NAME).is_file():
        raise StoreError(f"no result store at {where / FILE_NAME}")
    with Store(where) as store:
        store.delete(each.key for each in doomed)
