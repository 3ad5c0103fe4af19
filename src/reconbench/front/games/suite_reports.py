"""The reports of a run, written again only when something they are made from has changed.

A small file beside them records what they were made from, a hash of each, and what the terminal
showed. If a report is missing or altered, or rows or code changed, all are written again.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from reconbench.benchmarks.game.result import Result
    from reconbench.benchmarks.store.store import Key, RowHeader
    from reconbench.reports.leaderboard.table import Leaderboard
    from reconbench.reports.leaderboard.text_tables import TextTable

CSV = "leaderboard.csv"
HTML = "leaderboard.html"
DICTIONARY = "leaderboard-columns.csv"
PARQUET = "leaderboard.parquet"
RECORD = ".leaderboard.json"


@dataclass(frozen=True)
class Shown:
    """What a terminal shows of a run: tables, alarms, the check of the expected scores, and why
    rows were skipped."""

    tables: list[TextTable]
    alarms: list[str]
    self_check: str = ""
    skips: list[str] = field(default_factory=list)

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> Shown:
        """Read what ``dataclasses.asdict`` wrote."""
        from reconbench.reports.leaderboard.text_tables import TextTable

        tables = [TextTable(**table) for table in raw["tables"]]
        return cls(tables, list(raw["alarms"]), raw["self_check"], list(raw["skips"]))


@dataclass(frozen=True)
class Reports:
    """The leaderboard of a suite in its folder, as CSV and as a page.

    ``stale`` rows of the store were made by another code version and are left out.
    """

    folder: Path
    suite: str
    facts: Mapping[str, str]
    stale: int = 0

    @property
    def csv(self) -> Path:
        return self.folder / CSV

    @property
    def html(self) -> Path:
        return self.folder / HTML

    def refresh(
        self, keys: Sequence[Key], stored: Mapping[Key, RowHeader], rows: Callable[[], list[Result]]
    ) -> Shown:
        """Bring the reports up to date with the stored rows; return what the terminal shows.

        ``rows`` reads the rows, which takes a while, and is called only if that is needed.
        """
        source = self._source((key.text, stored[key].seal) for key in keys)
        return self._recorded(source) or self._write(source, rows())

    def _source(self, rows: Iterable[tuple[str, str]]) -> str:
        from reconbench.benchmarks.store.provenance import report_version

        made_from = [report_version(), self.suite, dict(self.facts), self.stale, list(rows)]
        return _sha256(json.dumps(made_from).encode())

    def _recorded(self, source: str) -> Shown | None:
        """What was shown, if the reports are unaltered and were made from the same source."""
        try:
            record = json.loads((self.folder / RECORD).read_bytes())
            seal = record.pop("seal")
            now = {name: _sha256((self.folder / name).read_bytes()) for name in record["files"]}
            if (seal, record["source"], record["files"]) != (_seal(record), source, now):
                return None
            return Shown.from_json(record["shown"])
        except (OSError, ValueError, TypeError, KeyError, AttributeError):
            return None

    def _write(self, source: str, rows: Sequence[Result]) -> Shown:
        from reconbench.benchmarks.store.store import StoreWriteError
        from reconbench.benchmarks.store.summary import summarise
        from reconbench.datasets.atomic_files import write_atomic
        from reconbench.reports.leaderboard.checks.alarms import list_alarms
        from reconbench.reports.leaderboard.page import render_page
        from reconbench.reports.leaderboard.table import Leaderboard
        from reconbench.reports.leaderboard.text_tables import describe_skips, tabulate_suite

        summaries = summarise(rows)
        leaderboard = Leaderboard.from_summaries(summaries, self.suite)
        check = leaderboard.self_check
        shown = Shown(
            tabulate_suite(summaries),
            list_alarms(summaries),
            check.describe() if check else "",
            describe_skips(summaries),
        )
        html = render_page(leaderboard, f"reconbench: {self.suite}", self.facts, self.stale)
        contents = {
            CSV: leaderboard.to_csv().encode(),
            DICTIONARY: leaderboard.describe_columns().encode(),
            HTML: html.encode(),
            **_format_parquet(leaderboard),
        }
        hashes = {name: _sha256(content) for name, content in contents.items()}
        record: dict[str, Any] = {"source": source, "files": hashes}
        record["shown"] = asdict(shown)
        contents[RECORD] = json.dumps({**record, "seal": _seal(record)}).encode()
        try:
            for name, content in contents.items():
                write_atomic(self.folder / name, content)
        except OSError as error:
            raise StoreWriteError(
                f"cannot write the leaderboard to {self.folder}: {error.strerror}; all rows are "
                "stored, so free some space and run the same command again"
            ) from None
        return shown


def _format_parquet(leaderboard: Leaderboard) -> dict[str, bytes]:
    """The leaderboard as Parquet, where the extra `parquet` is installed."""
    from reconbench.reports.leaderboard.files import format_parquet

    return {PARQUET: format_parquet(leaderboard)} if find_spec("pyarrow") else {}


def _seal(record: Mapping[str, Any]) -> str:
    return _sha256(json.dumps(record, sort_keys=True).encode())


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
