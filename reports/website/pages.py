"""The pages of a site, from templates in which every value stays text."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from math import isfinite
from pathlib import Path

from reconbench.reports.figures.chart_specs import ASSETS
from reconbench.reports.leaderboard.columns.dictionary import Column
from reconbench.reports.leaderboard.page import render_page
from reconbench.reports.text.number_format import budget, number, signed
from reconbench.reports.text.templates import template
from reconbench.reports.website.commands import (
    write_assess_command,
    write_game_command,
    write_run_command,
    write_submit_command,
)
from reconbench.reports.website.content import Assessment, SiteContent
from reconbench.reports.website.prepared import (
    Cell,
    PreparedEntry,
    PreparedSite,
    PreparedSuite,
    count_repetitions,
    find_attack_path,
    find_dataset_path,
)

STYLE = "site.css"
# Attacks in the standings of the first page; the page of a suite has all.
SHOWN_STANDINGS = 10
# The numbers that a line of a table shows, with their titles.
SHOWN_NUMBERS: Mapping[str, str] = {
    "expected_success": "expected successes",
    "success": "successes as drawn",
    "baseline_expected": "prior's guess",
    "best_possible": "best possible",
    "tightest_mean": "ceiling on the mean",
    "tightest_0.95": "95 % ceiling",
}


@dataclass(frozen=True)
class PlannedPage:
    """A file of the site, made when its turn comes."""

    path: str
    make: Callable[[], bytes]


def plan_pages(content: SiteContent) -> list[PlannedPage]:
    """Every file of a site, in the order in which they are made."""
    return list(_Planner(PreparedSite(content)).plan())


@dataclass(frozen=True)
class _Planner:
    site: PreparedSite

    def plan(self) -> Iterator[PlannedPage]:
        yield PlannedPage(STYLE, lambda: (Path(str(ASSETS)) / STYLE).read_bytes())
        yield self._page("index.html", "site_index.html")
        yield self._page("history.html", "site_history.html")
        for suite in self.site.suites:
            yield from self._plan_suite(suite)
        for label, cells in self.site.attacks.items():
            yield self._page(
                find_attack_path(label),
                "site_attack.html",
                label=label,
                cells=cells,
                standings=self._find_standings(label),
                history=self._find_history(cells),
                entries=[entry for entry in self.site.entries if entry.label == label],
            )
        for name, cells in self.site.datasets.items():
            yield self._page(
                find_dataset_path(name), "site_dataset.html", dataset=name, cells=cells
            )
        for entry in self.site.entries:
            yield self._plan_entry(entry)
        for assessment in self.site.content.assessments:
            yield self._plan_assessment(assessment)

    def _plan_suite(self, suite: PreparedSuite) -> Iterator[PlannedPage]:
        folder = suite.path.rpartition("/")[0]
        entries = self.site.entries_of(suite.folder.suite)
        yield self._page(suite.path, "site_suite.html", suite=suite, entries=entries)
        yield PlannedPage(
            suite.board_path,
            lambda: render_page(
                suite.leaderboard, f"reconbench: {suite.folder.name}", suite.facts, suite.older
            ).encode(),
        )
        yield PlannedPage(f"{folder}/leaderboard.csv", lambda: suite.leaderboard.to_csv().encode())
        yield PlannedPage(
            f"{folder}/leaderboard-columns.csv",
            lambda: suite.leaderboard.describe_columns().encode(),
        )
        for cell in suite.cells:
            yield self._plan_number(cell)

    def _plan_number(self, cell: Cell) -> PlannedPage:
        reps = count_repetitions([stored.row for stored in cell.rows])
        first = cell.rows[0]
        suite = self.site.content.find_spec(cell.suite.folder.suite)
        columns: Mapping[str, Column] = cell.suite.leaderboard.columns
        specs = (first.attack, first.mechanism, first.row.dataset)
        return self._page(
            cell.path,
            "site_number.html",
            cell=cell,
            run=write_run_command(suite, first, reps),
            game=write_game_command(first, reps, self.site.content.columns),
            own_files=[spec.partition(".py:")[0] + ".py" for spec in specs if ".py:" in spec],
            numbers=[
                (name, column.meaning, cell.values[name])
                for name, column in columns.items()
                if cell.values.get(name) not in (None, "")
            ],
        )

    def _plan_entry(self, entry: PreparedEntry) -> PlannedPage:
        submitted, seal = entry.verdict.entry, entry.verdict.seal
        find_spec = self.site.content.find_spec
        public_run = write_submit_command(
            submitted.attack,
            find_spec(submitted.suite.name),
            submitted.suite.seed,
            count_repetitions(submitted.rows),
        )
        sealed_run = seal and write_submit_command(
            submitted.attack,
            find_spec(seal.suite),
            seal.seed,
            count_repetitions(entry.verdict.sealed_rows),
        )
        return self._page(
            entry.path,
            "site_entry.html",
            entry=entry,
            verdict=entry.verdict,
            submitted=submitted,
            public_run=public_run,
            sealed_run=sealed_run,
            rows=list(zip(entry.sealed.summaries, entry.sealed.rows, strict=True)),
        )

    def _plan_assessment(self, assessment: Assessment) -> PlannedPage:
        return self._page(
            f"assessments/{assessment.slug}.html",
            "site_assessment.html",
            assessment=assessment,
            document=assessment.document,
            command=write_assess_command(assessment.document),
        )

    def _find_standings(self, label: str) -> list[tuple[PreparedSuite, object]]:
        return [
            (suite, attack)
            for suite in self.site.suites
            for attack in suite.standings
            if attack.attack == label
        ]

    def _find_history(self, cells: list[Cell]) -> list[tuple[PreparedSuite, object]]:
        names = {cell.summary.attack for cell in cells}
        return [
            (suite, line)
            for suite in self.site.suites
            for line in suite.history
            if line.version.attack in names
        ]

    def _page(self, path: str, name: str, **values: object) -> PlannedPage:
        def make() -> bytes:
            text = template(name).render(
                root="../" * path.count("/"),
                title=self.site.content.title,
                site=self.site,
                style=STYLE,
                attack_path=find_attack_path,
                dataset_path=find_dataset_path,
                show=show,
                percent=percent,
                signed=signed,
                budget=budget,
                shown_numbers=SHOWN_NUMBERS,
                shown_standings=SHOWN_STANDINGS,
                **values,
            )
            return text.encode()

        return PlannedPage(path, make)


def show(value: object) -> str:
    """A value of a table as a person reads it: five digits of a number, a dash for none."""
    if value is None or value == "":
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        if not isfinite(value):
            return "∞" if value > 0 else "–"
        return f"{value:.5g}".replace("-", "−")
    return str(value)


def percent(share: float | None, digits: int = 1) -> str:
    """A share in percent; a dash for none."""
    return "–" if share is None else f"{number(100 * share, digits)} %"
