"""What the terminal shows of games and suites: the tables of `game` and `run`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from reconbench.cli.terminal.tables import make_printable, print_table

MOST_ALARMS = 10
MOST_SKIPS = 5

if TYPE_CHECKING:
    from reconbench.benchmarks.game.result import Result
    from reconbench.front.games.suite_reports import Shown


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


def print_suite(shown: Shown) -> None:
    """Print what a run ends with: tables, the check of the expected scores, and alarms."""
    for table in shown.tables:
        print_table(table.title, table.header, table.rows)
        if table.more:
            Console(stderr=True).print(Text(f"{table.more} more lines in leaderboard.csv"))
        if table.more_values:
            text = f"{table.more_values} more values per point in leaderboard.csv"
            Console(stderr=True).print(Text(text))
    if shown.self_check:
        Console(stderr=True).print(Text(shown.self_check), soft_wrap=True)
    for text in shown.skips:
        Console(stderr=True).print(Text(make_printable(text)), soft_wrap=True)
    print_alarms(shown.alarms)
