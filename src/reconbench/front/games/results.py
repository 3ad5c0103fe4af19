"""What `play` and `run` return: rows, a table, sentences and figures of the games played."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from reconbench.benchmarks.game.attack_spec import AttackSpec
from reconbench.benchmarks.game.play import Game
from reconbench.benchmarks.game.result import Result, Status
from reconbench.benchmarks.game.row_ceilings import add_repetition_ceilings
from reconbench.benchmarks.plugins.in_memory import Held, holding
from reconbench.benchmarks.store.export_import import tabulate_rows
from reconbench.benchmarks.store.provenance import NO_ATTACK
from reconbench.benchmarks.store.store import Key, Keys, Store
from reconbench.benchmarks.store.summary import Summary, summarise
from reconbench.front.arguments import checked, read_choice, read_path
from reconbench.front.figure import Figure
from reconbench.front.frames import make_frame
from reconbench.front.games.suite_reports import Reports
from reconbench.front.notebook import render_html
from reconbench.reports.figures.computed import draw_suites
from reconbench.reports.figures.export import draw_leaderboard_figure, list_figures
from reconbench.reports.figures.static_overview import TITLE, draw_static_overview
from reconbench.reports.leaderboard.checks.alarms import list_alarms
from reconbench.reports.leaderboard.summary_text import write_plain
from reconbench.reports.leaderboard.table import Leaderboard
from reconbench.reports.leaderboard.text_tables import describe_skips, tabulate_suite

if TYPE_CHECKING:
    import pandas as pd

OVERVIEW = "overview"


def count_things(count: int, noun: str) -> str:
    """A number with its noun."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


@dataclass(frozen=True)
class Played:
    """A row, and what it is stored under: a key, or what one is hashed from."""

    row: Result
    source: Key | tuple[Game, AttackSpec, tuple[str, ...]]

    def find_key(self, keys: Keys) -> Key:
        return self.source if isinstance(self.source, Key) else keys.of(*self.source)


@dataclass(frozen=True, repr=False)
class PlayResult:
    """The games that were played, with a row per attack and repetition.

    Args:
        name: What was played: the name of a suite, or of the call.
        played: The rows, with what they are stored under.
        facts: How the results were made, by name.
        missing: Rows that were not played, because the call was interrupted.
        folder: The folder that holds the rows and the leaderboard, if they were stored.
        held: The attacks and mechanisms that were handed over as objects.

    Example:
        >>> import reconbench as rb
        >>> result = rb.play("acs", targets="SEX", epsilon=1, attack="prior", reps=2)
        >>> result
        PlayResult(1 game, prior, 2 rows)
        >>> len(result.frame), len(result.rows)
        (1, 2)
        >>> print(result.summary().splitlines()[-1])
        No row raised an alarm.
    """

    name: str
    played: tuple[Played, ...]
    facts: Mapping[str, str] = field(default_factory=dict)
    missing: int = 0
    folder: Path | None = None
    held: Mapping[str, Held] = field(default_factory=dict)

    def __repr__(self) -> str:
        results = self.results
        played = [row for row in results if row.attack != NO_ATTACK]
        games = count_things(len({row.setting for row in played}), "game")
        attacks = ", ".join(dict.fromkeys(row.attack for row in played))
        parts = [games, attacks] if played else []
        parts += ["computations"] * (len(played) < len(results))
        parts.append(count_things(len(results), "row"))
        failed = sum(row.status is Status.FAILED for row in results)
        parts += [f"{failed} failed"] * bool(failed)
        parts += [f"{self.missing} not played"] * bool(self.missing)
        return f"PlayResult({', '.join(parts)})"

    @cached_property
    def results(self) -> tuple[Result, ...]:
        """The rows as they are stored."""
        return tuple(each.row for each in self.played)

    @cached_property
    def summaries(self) -> list[Summary]:
        """The repetitions of every attack on every game, summarised."""
        return summarise(self.results)

    @cached_property
    def leaderboard(self) -> Leaderboard:
        """The leaderboard, with its ranking and comparisons."""
        return Leaderboard.from_summaries(self.summaries, self.name)

    @cached_property
    def frame(self) -> pd.DataFrame:
        """One row per game and attack: the columns of leaderboard.csv that hold anything.

        `docs/leaderboard.md` says what each column means.
        """
        columns = list(self.leaderboard.columns)
        frame = make_frame(self.leaderboard.rows, columns=columns)
        return frame[[name for name in columns if frame[name].notna().any()]]

    @cached_property
    def rows(self) -> pd.DataFrame:
        """One row per game, attack and repetition; each ceiling has a column of its own."""
        rows = add_repetition_ceilings(self.results)
        columns = {"targets": [", ".join(row.targets) for row in rows]}
        columns["known"] = [", ".join(row.known) for row in rows]
        return make_frame(tabulate_rows(rows) | columns)

    @cached_property
    def alarms(self) -> list[str]:
        """What cannot be if attack, mechanism, prior and bounds are what they claim to be."""
        return list_alarms(self.summaries)

    def summary(self) -> str:
        """What was played, what was reconstructed, and whether to trust it, in sentences."""
        sentences = list(write_plain(self.leaderboard)) if self.played else ["Nothing was played."]
        sentences += describe_skips(self.summaries)
        failed = [row for row in self.results if row.status is Status.FAILED]
        if failed:
            rows = count_things(len(failed), "row")
            sentences.append(f"{rows} failed; the first: {failed[0].error}")
        if self.missing:
            rows = count_things(self.missing, "row")
            sentences.append(f"{rows} not played: the call was interrupted.")
        return "\n".join([*sentences, *(f"Alarm: {text}" for text in self.alarms)])

    @checked
    def plot(self, figure: str = OVERVIEW) -> Figure:
        """A figure of the page: by default the first one, which needs no extra.

        The others have the names that ``list_figures()`` lists, and need the extra ``figures``.
        """
        names = {OVERVIEW: TITLE, **self.list_figures()}
        chosen = read_choice("figure", figure, names)
        if chosen != OVERVIEW:
            return Figure(names[chosen], draw_leaderboard_figure(self.leaderboard, chosen))
        attacks = [attack.attack for attack in self.leaderboard.ranking]
        drawn = draw_static_overview(self.leaderboard.rows, attacks)
        if drawn is not None:
            return Figure(TITLE, drawn)
        computed = draw_suites(self.leaderboard.summaries)
        if not computed:
            raise ValueError("there is nothing to plot: no row is finished")
        suite, figure = next(iter(computed.items()))
        return Figure(f"{suite}: computed values", figure)

    def list_figures(self) -> dict[str, str]:
        """The further figures that ``plot`` draws from these rows: their titles by name."""
        return list_figures(self.leaderboard)

    @checked
    def save(self, folder: str | os.PathLike[str]) -> Path:
        """Write the rows and the leaderboard into a folder, as `reconbench run` does.

        Returns the path of the page. Rows that the folder holds already are kept.
        """
        to = read_path("folder", folder)
        keys = Keys()
        with holding(self.held), Store(to) as store:
            keyed = {each.find_key(keys): each.row for each in self.played}
            for key, row in keyed.items():
                store.put(key, row)
            headers = store.read_headers(list(keyed))
            reports = Reports(to, self.name, self.facts, store.stale())
            reports.refresh(list(keyed), headers, lambda: list(store.get(list(keyed)).values()))
        return reports.html

    def _repr_html_(self) -> str:
        finished = any(row.status is Status.OK for row in self.results)
        tables = tabulate_suite(self.summaries)
        return render_html(
            self.summary().splitlines(),
            self.plot().svg if finished else "",
            [make_frame(table.rows, columns=table.header) for table in tables],
        )
