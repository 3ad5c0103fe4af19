"""Export a store to a table, merge stores, compare and prune them."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from enum import StrEnum
from functools import cache
from importlib import import_module
from pathlib import Path
from statistics import fmean
from typing import Any

from reconbench.benchmarks.game.result import Result, Status
from reconbench.benchmarks.game.row_schema.agreement import Comparison, Drift
from reconbench.benchmarks.game.setting import AXES
from reconbench.benchmarks.store.provenance import NO_ATTACK
from reconbench.benchmarks.store.store import FILE_NAME, Entry, Freshness, Origin, Store, StoreError
from reconbench.bounds.ceilings.base import MEAN
from reconbench.datasets.atomic_files import write_atomic
from reconbench.missing_package import needed_by

# A spreadsheet runs a cell that starts with one of these.
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")
# Fields of a row that a table holds as JSON text, and the one that it spreads over columns.
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
    "claims",
    "rarity",
    "bounds",
    "kernels",
)
_SPREAD = "ceilings"


class TransferError(ValueError):
    """Stores that cannot be merged, or a table that cannot be written."""


def output_folder(path: Path) -> Path:
    """The output folder, given it or the store in it."""
    return path.parent if path.name == FILE_NAME else path


def read(folder: Path) -> list[Entry]:
    """Every row of a store, without changing it."""
    with Store.read_only(output_folder(folder)) as store:
        return store.entries()


def check_freshness(entries: Iterable[Entry]) -> list[Freshness]:
    """Of each row in turn."""
    known: Callable[[Origin], Freshness] = cache(lambda origin: origin.freshness)
    return [known(entry.key.origin) for entry in entries]


def drop_stale(entries: Sequence[Entry]) -> list[Entry]:
    """The rows that are current, or whose plugins are not installed here."""
    fresh = zip(entries, check_freshness(entries), strict=True)
    return [entry for entry, freshness in fresh if freshness is not Freshness.STALE]


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


def group_cells(entries: Sequence[Entry]) -> list[Cell]:
    """Rows by cell, in the order in which their first ones were stored."""
    groups: dict[tuple[object, ...], list[tuple[Result, Freshness]]] = {}
    for entry, freshness in zip(entries, check_freshness(entries), strict=True):
        groups.setdefault(entry.row.cell, []).append((entry.row, freshness))
    return [_build_cell(group) for group in groups.values()]


def _build_cell(group: Sequence[tuple[Result, Freshness]]) -> Cell:
    rows = [row for row, freshness in group if freshness is not Freshness.STALE]
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
        unknown=sum(freshness is Freshness.UNKNOWN for _, freshness in group),
        success=fmean(row.successes or 0 for row in scored) if scored else None,
        baseline=fmean(prior) if prior else None,
        seconds=fmean(row.seconds for row in done) if done else None,
        error=errors[0] if errors else None,
        values={bound: levels[MEAN] for row in computed for bound, levels in row.ceilings.items()},
    )


def export(entries: Sequence[Entry], path: Path) -> int:
    """Write rows as CSV or Parquet, by the file's name, all or none; return how many."""
    if not path.parent.is_dir():
        raise TransferError(f"cannot write {path}: no folder {path.parent}; create it first")
    columns = _columns(entries)
    try:
        if path.suffix.lower() == ".csv":
            write_atomic(path, _csv(columns))
        elif path.suffix.lower() == ".parquet":
            write_atomic(path, _parquet(path, columns))
        else:
            raise TransferError(f"cannot export to {path}: the name must end in .csv or .parquet")
    except OSError as error:
        raise TransferError(f"cannot write {path}: {error.strerror or error}") from None
    return len(entries)


def _columns(entries: Sequence[Entry]) -> dict[str, list[Any]]:
    """What a row is stored under, and its own columns."""
    columns: dict[str, list[Any]] = {"key": [entry.key.text for entry in entries]}
    columns["code"] = [entry.key.origin.code for entry in entries]
    columns["standing"] = [freshness.value for freshness in check_freshness(entries)]
    return columns | tabulate_rows([entry.row for entry in entries])


def tabulate_rows(rows: Sequence[Result]) -> dict[str, list[Any]]:
    """One column per field, and one per ceiling and confidence."""
    columns: dict[str, list[Any]] = {}
    for each in fields(Result):
        values = [getattr(row, each.name) for row in rows]
        if each.name == "status":
            columns[each.name] = [Status(value).value for value in values]
        elif each.name in _NESTED:
            columns[each.name] = [None if value is None else _json(value) for value in values]
        elif each.name != _SPREAD:
            columns[each.name] = values
    levels = {
        (bound, level): None
        for row in rows
        for bound, values in sorted(row.ceilings.items())
        for level in values
    }
    for bound, level in levels:
        columns[f"ceiling_{bound}_{level}"] = [
            _number(row.ceilings.get(bound, {}).get(level)) for row in rows
        ]
    return columns


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
        writer.writerow([_escape_formula(cell) for cell in line])
    return out.getvalue()


def _escape_formula(cell: object) -> object:
    if isinstance(cell, str) and cell.startswith(_FORMULA):
        return f"'{cell}"
    return repr(cell) if isinstance(cell, float) else cell


def _parquet(path: Path, columns: Mapping[str, Sequence[Any]]) -> bytes:
    with needed_by(f"{path}: Parquet", "pyarrow", extra="parquet", instead="export to .csv"):
        arrow, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
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
    out = io.BytesIO()
    parquet.write_table(table, out)
    return out.getvalue()


@dataclass(frozen=True)
class MergeCounts:
    """Rows that a merge added, failed ones that it replaced, and those that were there.

    ``drift`` is how far the latter are from those that were offered.
    """

    added: int
    replaced: int
    same: int
    drift: Drift = field(default_factory=Drift)

    def to_json(self) -> dict[str, Any]:
        counts = {"added": self.added, "replaced": self.replaced, "same": self.same}
        return {**counts, "drift": self.drift.to_json()}


def merge(into: Path, others: Sequence[Path]) -> MergeCounts:
    """Add the rows of other stores to one, all or none.

    Rows with the same key must agree, see ``Result.compare``; the first stays. A finished row
    replaces a failed one.
    """
    sources = [(folder, read(folder)) for folder in others]
    with Store(output_folder(into)) as store:
        before = {entry.key: entry.row for entry in store.entries()}
        rows = dict(before)
        new: dict[str, Entry] = {}
        same, drift = 0, Drift()
        for folder, entries in sources:
            for entry in entries:
                mine = rows.get(entry.key)
                if mine is None or _replaces(entry.row, mine):
                    rows[entry.key] = entry.row
                    new[entry.key.text] = entry
                    continue
                if Status.FAILED not in (mine.status, entry.row.status):
                    drift.add(_check_agreement(mine, entry, folder, into))
                same += 1
        if new or not store.path.exists():
            store.add(new.values())
        replaced = sum(entry.key in before for entry in new.values())
        return MergeCounts(len(new) - replaced, replaced, same, drift)


def _replaces(row: Result, mine: Result) -> bool:
    return mine.status is Status.FAILED and row.status is not Status.FAILED


def _check_agreement(mine: Result, entry: Entry, folder: Path, into: Path) -> Comparison:
    compared = mine.compare(entry.row)
    names = compared.different
    if names:
        values = f"{getattr(mine, names[0])!r} and {getattr(entry.row, names[0])!r}"[:200]
        raise TransferError(
            f"{folder} and {into} hold different results for the same row, nothing was merged: "
            f"{mine.describe()} (key {entry.key.text[:12]}) differs in {', '.join(names)} by more "
            f"than numerical drift: {values}; `reconbench results diff` lists all such rows, and "
            "`reconbench run SUITE --out FOLDER --force` on each machine shows which store that "
            "machine's own results contradict"
        )
    return compared


class DifferenceKind(StrEnum):
    """How two stores may differ in a row."""

    ONLY_FIRST = "only in the first"
    ONLY_SECOND = "only in the second"
    VALUES = "other values"
    CODE = "made by other code"


@dataclass(frozen=True)
class Difference:
    """A row in which two stores differ; ``fields`` are those that do, where both have it."""

    kind: DifferenceKind
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
    """The rows in which two stores differ by more than numerical drift."""
    return compare_stores(first, second)[0]


def compare_stores(first: Path, second: Path) -> tuple[list[Difference], Drift]:
    """The rows in which two stores differ, and how far the others drift.

    Rows of the same configuration made by different code are compared with each other.
    """
    drift = Drift()

    def compare(mine: Result, theirs: Result) -> dict[str, tuple[Any, Any]]:
        compared = mine.compare(theirs)
        drift.add(compared)
        a, b = mine.to_json(), theirs.to_json()
        return {name: (a[name], b[name]) for name in compared.different}

    left, right = read(first), read(second)
    mine = {each.key: each for each in left}
    theirs = {each.key: each for each in right}
    by_config = {each.key.config: each for each in right if each.key not in mine}
    differences, paired = [], set()
    for entry in left:
        other = theirs.get(entry.key)
        if other is not None:
            values = compare(entry.row, other.row)
            if values:
                differences.append(Difference(DifferenceKind.VALUES, entry.row.describe(), values))
            continue
        other = by_config.get(entry.key.config) if entry.key.config else None
        if other is None:
            differences.append(Difference(DifferenceKind.ONLY_FIRST, entry.row.describe(), {}))
        else:
            paired.add(other.key)
            values = compare(entry.row, other.row)
            differences.append(Difference(DifferenceKind.CODE, entry.row.describe(), values))
    for entry in right:
        if entry.key not in mine and entry.key not in paired:
            differences.append(Difference(DifferenceKind.ONLY_SECOND, entry.row.describe(), {}))
    return differences, drift


def find_prunable(entries: Sequence[Entry], *, stale: bool, failed: bool) -> list[Entry]:
    """The rows that were made by other code, those that failed, or both."""
    return [
        entry
        for entry, freshness in zip(entries, check_freshness(entries), strict=True)
        if (stale and freshness is Freshness.STALE)
        or (failed and entry.row.status is Status.FAILED)
    ]


def prune(folder: Path, entries: Sequence[Entry]) -> None:
    """Delete rows, all or none."""
    path = output_folder(folder) / FILE_NAME
    if not path.is_file():
        raise StoreError(f"no result store at {path}: name the output folder of `reconbench run`")
    with Store(path.parent) as store:
        store.delete(entry.key for entry in entries)
