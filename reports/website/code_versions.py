"""The rows of each code version of an attack, and how its standing changed from one to the next.

A store keeps the rows of other code versions. Versions of an attack on a mechanism are ordered by
the version of reconbench, and within one by when their first row was stored. Standings use the rows
of the newest version alone: results of two versions are never averaged.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean

from reconbench.benchmarks.game.result import Result
from reconbench.benchmarks.game.setting import Setting
from reconbench.benchmarks.store.summary import Summary, summarise
from reconbench.reports.leaderboard.ranking import RankedAttack
from reconbench.reports.leaderboard.table import Leaderboard
from reconbench.reports.statistics import find_student_half_width
from reconbench.reports.website.content import StoredRow, identify_options

Pair = tuple[str, str]


@dataclass(frozen=True)
class Change:
    """The mean change of the gain on shared rows, in % of n, with its 95 % interval."""

    mean: float
    low: float | None
    high: float | None
    rows: int


@dataclass(frozen=True)
class CodeVersion:
    """An attack on a mechanism as one version of the code played it."""

    attack: str
    mechanism: str
    code: str
    versions: Mapping[str, str]
    rows: tuple[StoredRow, ...]
    newest: bool

    @cached_property
    def summaries(self) -> list[Summary]:
        return summarise(sort_by_game(self.rows))

    @property
    def label(self) -> str:
        """The version of reconbench and the start of the code's hash."""
        number = self.versions.get("reconbench", "unknown version")
        return f"{number}, code {self.code[:8]}" if self.code else number

    @property
    def gain(self) -> float | None:
        """Records beyond the prior's guess, in % of n, mean over cells."""
        gains = [
            100 * fmean(row.gains.values()) / row.scored
            for row in self.summaries
            if row.gains and not row.computed
        ]
        return fmean(gains) if gains else None

    @cached_property
    def standings(self) -> list[RankedAttack]:
        """The share of the gap that it closed over its own cells."""
        return Leaderboard.from_summaries(self.summaries).ranking

    def compare(self, before: CodeVersion) -> Change | None:
        """The change since another version, on the games and repetitions that both played."""
        ours, theirs = self._get_gains(), before._get_gains()
        shared = [key for key in ours if key in theirs]
        if not shared:
            return None
        by_rep: dict[int, list[float]] = {}
        for key in shared:
            by_rep.setdefault(key[-1], []).append(ours[key] - theirs[key])
        means = [fmean(values) for values in by_rep.values()]
        mean = fmean(means)
        half = find_student_half_width(means)
        if half is None:
            return Change(mean, None, None, len(shared))
        return Change(mean, mean - half, mean + half, len(shared))

    def _get_gains(self) -> dict[tuple[Setting, str, int], float]:
        return {
            (row.setting, identify_options(row.attack_options), rep): 100 * gain / row.scored
            for row in self.summaries
            for rep, gain in row.gains.items()
        }


def sort_by_game(rows: Sequence[StoredRow]) -> list[Result]:
    """Rows in an order that does not depend on which finished first."""
    plain = [stored.row for stored in rows]
    return sorted(plain, key=lambda row: (row.dataset, row.targets, row.attack, row.rep))


def split_versions(rows: Sequence[StoredRow]) -> dict[Pair, list[CodeVersion]]:
    """The versions of every attack on every mechanism, oldest first."""
    groups: dict[Pair, dict[tuple[str, str], list[StoredRow]]] = {}
    for stored in rows:
        row = stored.row
        code = stored.code.partition(" ")[0]
        version = code, json.dumps(dict(row.versions), sort_keys=True)
        by_version = groups.setdefault((row.attack, row.mechanism), {})
        by_version.setdefault(version, []).append(stored)
    return {pair: _order(pair, by_version) for pair, by_version in sorted(groups.items())}


def _order(pair: Pair, by_version: Mapping[tuple[str, str], list[StoredRow]]) -> list[CodeVersion]:
    # Sorting is stable: versions of the same number stay in the order of the store.
    ordered = sorted(by_version.items(), key=lambda item: _parse(item[1][0].row.versions))
    return [
        CodeVersion(*pair, code, rows[0].row.versions, tuple(rows), index == len(ordered) - 1)
        for index, ((code, _), rows) in enumerate(ordered)
    ]


def _parse(versions: Mapping[str, str]) -> tuple[int, ...]:
    """The numbers of a version of reconbench, such as (0, 1, 0)."""
    return tuple(int(part[:9]) for part in re.findall(r"\d+", versions.get("reconbench", ""))[:4])
