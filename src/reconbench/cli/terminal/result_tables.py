"""What the terminal shows of games and suites: the tables of `game` and `run`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.text import Text

from reconbench.cli.terminal.tables import make_printable, print_table

# The most lines of the table that a run ends with, and the most values of a computed point that a
# terminal has room for.
MOST_LINES = 60
MOST_VALUES = 5
MOST_ALARMS = 10
MOST_SKIPS = 5

if TYPE_CHECKING:
    from reconbench.benchmarks.game.result import Result
    from reconbench.benchmarks.store.summary import Summary


def print_game(rows: Sequence[Result]) -> None:
    """Print one line per attack and repetition, then advantages and errors."""
    from reconbench.benchmarks.store.tightest import PUBLISHED, tightest, tightest_mean

    first = rows[0]
    scored = f", {first.scored} of them scored" if first.scored < first.n else ""
    print_table(
        f"{first.dataset}: {', '.join(first.targets)}; records of {first.n}{scored}; epsilon "
        f"{first.epsilon:g}, {first.guarantee}; metric {first.metric}",
        [
            "attack",
            "rep",
            "success",
            "expected",
            "prior",
            "expected prior",
            "best possible",
            "most on average",
            "ceiling 5/50/95 %",
            f"published ({PUBLISHED})",
        ],
        [
            [
                row.attack,
                row.rep,
                row.status if row.successes is None else row.successes,
                "" if row.expected_successes is None else f"{row.expected_successes:.1f}",
                row.baseline_successes,
                f"{row.baseline_expected:.1f}",
                "" if row.best_possible is None else f"{row.best_possible:.1f}",
                f"{tightest_mean(row.ceilings):.1f}" if row.ceilings else "",
                "/".join(f"{value:g}" for value in tightest(row.ceilings).values()),
                "/".join(f"{value:g}" for value in row.ceilings.get(PUBLISHED, {}).values()),
            ]
            for row in rows
        ],
    )
    _print_advantages(rows)
    _print_held_out(rows)
    errors = dict.fromkeys(f"{row.attack}: {row.error}" for row in rows if row.error)
    for text in [*errors, *_describe_bound_errors(rows)]:
        Console(stderr=True).print(Text(make_printable(text)))


def _print_advantages(rows: Sequence[Result]) -> None:
    measured = [row for row in rows if row.rad is not None]
    for attack in dict.fromkeys(row.attack for row in measured):
        own = [row for row in measured if row.attack == attack]
        mean = sum(row.rad or 0.0 for row in own) / len(own)
        ceiling = sum(row.rad_ceiling or 0.0 for row in own) / len(own)
        Console().print(
            Text(
                f"{attack}: advantage {mean:.3f} over the same attack on {own[0].advantage} "
                f"replaced records per table; at most {ceiling:.3f} ({own[0].rad_theorem})"
            ),
            soft_wrap=True,
        )


def _print_held_out(rows: Sequence[Result]) -> None:
    from reconbench.benchmarks.store.summary import summarise

    for summary in summarise(rows):
        if summary.held_out_success is None or summary.memorised is None:
            continue
        Console().print(
            Text(
                f"{summary.attack}: {summary.held_out_success:.3f} of {summary.held_out} records "
                f"outside each table guessed right; gains {summary.memorised:+.3f} more on records "
                "inside"
            ),
            soft_wrap=True,
        )


def _describe_bound_errors(rows: Sequence[Result]) -> list[str]:
    """Errors of bounds of other packages, one line per bound."""
    errors: dict[str, list[str]] = {}
    for row in rows:
        for name, declared in row.bounds.items():
            if "error" in declared:
                errors.setdefault(name, []).append(str(declared["error"]))
    return [
        f"bound {name} failed on {len(texts)} of {len(rows)} rows; the first: {texts[0]}"
        for name, texts in errors.items()
    ]


def print_alarms(alarms: Sequence[str]) -> None:
    """Print alarms in red, on standard error."""
    console = Console(stderr=True)
    for text in alarms[:MOST_ALARMS]:
        console.print(Text(f"alarm: {make_printable(text)}", style="bold red"), soft_wrap=True)
    if len(alarms) > MOST_ALARMS:
        more = f"{len(alarms) - MOST_ALARMS} more alarms in leaderboard.csv, column flags"
        console.print(Text(more, style="bold red"))


@dataclass(frozen=True)
class Shown:
    """What the terminal shows of a run: tables, alarms, the check of the expected scores, and why
    rows were skipped."""

    tables: list[ShownTable]
    alarms: list[str]
    self_check: str = ""
    skips: list[str] = field(default_factory=list)

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> Shown:
        """Read what ``dataclasses.asdict`` wrote."""
        tables = [ShownTable(**table) for table in raw["tables"]]
        return cls(tables, list(raw["alarms"]), raw["self_check"], list(raw["skips"]))

    def print(self) -> None:
        for table in self.tables:
            table.print()
        if self.self_check:
            Console(stderr=True).print(Text(self.self_check), soft_wrap=True)
        for text in self.skips:
            Console(stderr=True).print(Text(make_printable(text)), soft_wrap=True)
        print_alarms(self.alarms)


@dataclass(frozen=True)
class ShownTable:
    """A table for the terminal; the CSV file has ``more`` lines and ``more_values`` per line."""

    title: str
    header: list[str]
    rows: list[list[str]]
    more: int = 0
    more_values: int = 0

    def print(self) -> None:
        print_table(self.title, self.header, self.rows)
        if self.more:
            Console(stderr=True).print(Text(f"{self.more} more lines in leaderboard.csv"))
        if self.more_values:
            text = f"{self.more_values} more values per point in leaderboard.csv"
            Console(stderr=True).print(Text(text))


def tabulate_suite(summaries: Sequence[Summary]) -> list[ShownTable]:
    """A table of the games of a suite, and one per quantity that it computes."""
    played = [row for row in summaries if not row.computed]
    computed = [row for row in summaries if row.computed]
    return [*([_tabulate_games(played)] if played else []), *_tabulate_computed(computed)]


def describe_skips(summaries: Sequence[Summary]) -> list[str]:
    """Why attacks skipped games, one line per attack and reason; the first few."""
    counts: dict[tuple[str, str], int] = {}
    for row in summaries:
        if row.skipped and not row.failures:
            key = row.attack, str(row.error)
            counts[key] = counts.get(key, 0) + row.skipped
    lines = [
        f"{attack} skipped {count} rows: {reason}" for (attack, reason), count in counts.items()
    ]
    more = len(lines) - MOST_SKIPS
    return lines if more <= 0 else [*lines[:MOST_SKIPS], f"{more} more reasons in leaderboard.csv"]


def _cut_lines(title: str, header: list[str], rows: list[list[str]]) -> ShownTable:
    return ShownTable(title, header, rows[:MOST_LINES], max(0, len(rows) - MOST_LINES))


def _tabulate_games(summaries: Sequence[Summary]) -> ShownTable:
    """Shares of records by game and attack, mean over games that differ only in their columns."""
    from reconbench.benchmarks.game.setting import find_varying_axes, format_axis
    from reconbench.benchmarks.store.tightest import TOP, tightest, tightest_mean

    varying = find_varying_axes(summaries, "dataset", "epsilon")
    groups: dict[tuple[str, ...], list[Summary]] = {}
    for summary in summaries:
        line = (
            *(format_axis(summary, axis) for axis in varying),
            format_name(summary.attack, summary.attack_options),
        )
        groups.setdefault(line, []).append(summary)
    rows = []
    datasets = list(dict.fromkeys(summary.dataset for summary in summaries))
    for line, group in sorted(
        groups.items(), key=lambda item: (datasets.index(item[1][0].dataset), item[1][0].epsilon)
    ):
        done = [summary for summary in group if summary.success is not None]
        columns: dict[str, list[float | None]] = {
            "prior %": [game.baseline_expected for game in done],
            "attack %": [game.expected_success for game in done],
            "best possible %": [game.best_possible for game in done],
            "most on average %": [tightest_mean(game.ceilings) for game in done],
            "95 % ceiling %": [tightest(game.ceilings).get(TOP) for game in done],
        }
        if done:
            shares = [_format_share(values, done) for values in columns.values()]
        else:
            failed = any(summary.failures for summary in group)
            shares = ["failed" if failed else "skipped"] * len(columns)
        rows.append([*line, str(len(done)), *shares])
    header = [*(axis.title for axis in varying), "attack", "games", *columns]
    return _cut_lines("Records reconstructed in expectation, mean over games", header, rows)


def format_name(name: str, options: Mapping[str, object]) -> str:
    """An attack or a mechanism with its options."""
    return " ".join([name, *(f"{key}={value}" for key, value in options.items())])


def _tabulate_computed(summaries: Sequence[Summary]) -> list[ShownTable]:
    """One table per suite and quantity, with a line per point and a column per bound.

    Where points have many values, only the first few are shown.
    """
    groups: dict[tuple[str, str], list[Summary]] = {}
    for summary in summaries:
        groups.setdefault((summary.dataset, summary.metric), []).append(summary)
    tables = []
    for (dataset, metric), group in groups.items():
        every = list(dict.fromkeys(bound for point in group for bound in point.ceilings))
        wide = max(len(point.ceilings) for point in group) > MOST_VALUES
        bounds = every[:MOST_VALUES] if wide else every
        rows = [
            [
                point.column,
                *([] if wide else _format_point(point)),
                *(
                    f"{point.ceilings[bound]['mean']:.3g}" if bound in point.ceilings else ""
                    for bound in bounds
                ),
            ]
            for point in group
        ]
        header = ["point", *([] if wide else ["mechanism", "epsilon", "baseline"]), *bounds]
        title = f"{dataset}, computed for one target: {metric}"
        table = _cut_lines(title, header, rows)
        tables.append(replace(table, more_values=len(every) - len(bounds)))
    return tables


def _format_point(point: Summary) -> list[str]:
    return [point.mechanism, f"{point.epsilon:.3g}", f"{point.baseline_expected:.3g}"]


def _format_share(values: Sequence[float | None], games: Sequence[Summary]) -> str:
    """The mean share of records, in percent; empty if the value of some game is unknown."""
    shares = [
        value / game.scored for value, game in zip(values, games, strict=True) if value is not None
    ]
    return f"{100 * sum(shares) / len(games):.1f}" if len(shares) == len(games) else ""
