"""Standings, cells and links, worked out once for all pages of a site."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

from reconbench.benchmarks.game.result import Result
from reconbench.benchmarks.game.setting import Setting, describe_setting, dump_axes
from reconbench.benchmarks.store.summary import Summary, summarise
from reconbench.benchmarks.submissions.verdict import Verdict
from reconbench.reports.leaderboard.columns.dictionary import Value
from reconbench.reports.leaderboard.labels import label_attack
from reconbench.reports.leaderboard.ranking import RankedAttack
from reconbench.reports.leaderboard.table import Leaderboard
from reconbench.reports.website.code_versions import (
    Change,
    CodeVersion,
    sort_by_game,
    split_versions,
)
from reconbench.reports.website.content import (
    ResultFolder,
    SiteContent,
    StoredRow,
    identify_options,
    make_slug,
)

CellKey = tuple[Setting, str, str]


@dataclass(frozen=True)
class Cell:
    """One attack on one game: its summary, its leaderboard values and its stored rows."""

    suite: PreparedSuite
    summary: Summary
    values: dict[str, Value]
    rows: tuple[StoredRow, ...]

    @property
    def label(self) -> str:
        """The attack with its options, as the ranking calls it."""
        return label_attack(self.summary)

    @property
    def game(self) -> str:
        return describe_setting(self.summary)

    @property
    def path(self) -> str:
        summary = self.summary
        named = [dump_axes(summary), summary.attack, identify_options(summary.attack_options)]
        digest = hashlib.sha256(json.dumps(named, sort_keys=True).encode()).hexdigest()
        return f"numbers/{self.suite.folder.slug}/{digest[:20]}.html"


@dataclass(frozen=True)
class HistoryLine:
    """A code version with the change since the one before it."""

    version: CodeVersion
    change: Change | None

    @property
    def share(self) -> float | None:
        """The share of the gap closed, where the version has one standing only."""
        standings = self.version.standings
        return standings[0].share if len(standings) == 1 else None


@dataclass(frozen=True, eq=False)
class PreparedSuite:
    """A folder of results: the newest rows as a leaderboard, and the older ones as history."""

    folder: ResultFolder

    @property
    def path(self) -> str:
        return f"suites/{self.folder.slug}/index.html"

    @property
    def board_path(self) -> str:
        return f"suites/{self.folder.slug}/leaderboard.html"

    @cached_property
    def history(self) -> list[HistoryLine]:
        """Every version of every attack, the oldest of each first."""
        lines = []
        for versions in split_versions(self.folder.rows).values():
            before: CodeVersion | None = None
            for version in versions:
                change = None if before is None else version.compare(before)
                lines.append(HistoryLine(version, change))
                before = version
        return lines

    @cached_property
    def newest(self) -> tuple[StoredRow, ...]:
        versions = split_versions(self.folder.rows).values()
        return tuple(stored for group in versions for stored in group[-1].rows)

    @property
    def older(self) -> int:
        """Rows of older versions, which only the history shows."""
        return len(self.folder.rows) - len(self.newest)

    @cached_property
    def leaderboard(self) -> Leaderboard:
        summaries = summarise(sort_by_game(self.newest))
        return Leaderboard.from_summaries(summaries, self.folder.name)

    @property
    def standings(self) -> list[RankedAttack]:
        return self.leaderboard.ranking

    @cached_property
    def cells(self) -> list[Cell]:
        by_cell: dict[CellKey, list[StoredRow]] = {}
        for stored in self.newest:
            by_cell.setdefault(_get_key(stored.row), []).append(stored)
        board = self.leaderboard
        return [
            Cell(self, summary, values, tuple(sorted(by_cell[key], key=lambda s: s.row.rep)))
            for summary, values in zip(board.summaries, board.rows, strict=True)
            if (key := _get_key(summary)) in by_cell
        ]

    @cached_property
    def facts(self) -> dict[str, str]:
        """How the newest rows were made."""
        rows = [stored.row for stored in self.newest]
        played = [row for row in rows if row.adversary != "none"]
        described = f": {self.folder.description}" if self.folder.description else ""
        facts = {"suite": f"{self.folder.name}{described}", "rows": str(len(rows))}
        if played:
            facts["seeds"] = ", ".join(map(str, sorted({row.seed for row in played})))
            facts["repetitions"] = str(count_repetitions(played))
        versions = {json.dumps(dict(row.versions)): row.versions for row in rows}
        texts = [
            ", ".join(f"{name} {number}" for name, number in each.items())
            for each in versions.values()
        ]
        return {**facts, "versions": "; ".join(sorted(texts))}


@dataclass(frozen=True, eq=False)
class PreparedEntry:
    """A verified entry with its sealed standing."""

    verdict: Verdict

    @property
    def slug(self) -> str:
        return self.verdict.file_name.removesuffix(".json")

    @property
    def path(self) -> str:
        return f"entries/{self.slug}.html"

    @property
    def suite(self) -> str:
        return self.verdict.entry.suite.name

    @property
    def label(self) -> str:
        """The attack with its options, as the ranking calls it."""
        return self.verdict.entry.attack.name if self.standing is None else self.standing.attack

    @cached_property
    def sealed(self) -> Leaderboard:
        return Leaderboard.from_summaries(summarise(self.verdict.sealed_rows), "sealed")

    @cached_property
    def standing(self) -> RankedAttack | None:
        """The share of the gap that it closed on sealed games."""
        return self.sealed.ranking[0] if self.sealed.ranking else None


@dataclass(frozen=True, eq=False)
class PreparedSite:
    """All parts of a site, and which pages there are."""

    content: SiteContent

    @cached_property
    def suites(self) -> list[PreparedSuite]:
        return [PreparedSuite(folder) for folder in self.content.folders]

    @cached_property
    def entries(self) -> list[PreparedEntry]:
        """Sorted by suite and falling sealed share, whatever the order of the files."""

        def order(entry: PreparedEntry) -> tuple[str, float, str]:
            share = entry.standing.share if entry.standing is not None else None
            return entry.suite, -(share or 0.0), entry.slug

        return sorted(map(PreparedEntry, self.content.verdicts), key=order)

    @cached_property
    def attacks(self) -> dict[str, list[Cell]]:
        """The cells of every attack with its options, over all suites."""
        return _group_cells(self.suites, lambda cell: cell.label)

    @cached_property
    def datasets(self) -> dict[str, list[Cell]]:
        return _group_cells(self.suites, lambda cell: cell.summary.dataset)

    def entries_of(self, suite: str) -> list[PreparedEntry]:
        """The entries on a suite; with an empty name, those on suites that the site lacks."""
        if suite:
            return [entry for entry in self.entries if entry.suite == suite]
        shown = {prepared.folder.suite for prepared in self.suites}
        return [entry for entry in self.entries if entry.suite not in shown]


def find_attack_path(label: str) -> str:
    return f"attacks/{make_slug(label)}.html"


def find_dataset_path(name: str) -> str:
    return f"datasets/{make_slug(name)}.html"


def count_repetitions(rows: Sequence[Result]) -> int:
    """How many repetitions a run must ask for to play all of these."""
    return max((row.rep for row in rows), default=0) + 1


def _get_key(row: Summary | Result) -> CellKey:
    return row.setting, row.attack, identify_options(row.attack_options)


def _group_cells(
    suites: Sequence[PreparedSuite], name: Callable[[Cell], str]
) -> dict[str, list[Cell]]:
    groups: dict[str, list[Cell]] = {}
    for suite in suites:
        for cell in suite.cells:
            if not cell.summary.computed:
                groups.setdefault(name(cell), []).append(cell)
    return dict(sorted(groups.items()))
