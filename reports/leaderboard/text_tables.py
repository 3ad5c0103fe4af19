"""A leaderboard's rows as tables of short texts, for terminals and notebooks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from reconbench.benchmarks.game.setting import find_varying_axes, format_axis
from reconbench.benchmarks.store.summary import Summary
from reconbench.benchmarks.store.tightest import TOP, tightest, tightest_mean

# The most lines of a table, and the most values of a computed point that a terminal has room for.
MOST_LINES = 60
MOST_VALUES = 5
MOST_SKIPS = 5


@dataclass(frozen=True)
class TextTable:
    """A table of texts; the CSV file has ``more`` lines and ``more_values`` per line."""

    title: str
    header: list[str]
    rows: list[list[str]]
    more: int = 0
    more_values: int = 0


def tabulate_suite(summaries: Sequence[Summary]) -> list[TextTable]:
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


def _cut_lines(title: str, header: list[str], rows: list[list[str]]) -> TextTable:
    return TextTable(title, header, rows[:MOST_LINES], max(0, len(rows) - MOST_LINES))


def _tabulate_games(summaries: Sequence[Summary]) -> TextTable:
    """Shares of records by game and attack, mean over games that differ only in their columns."""
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


def _tabulate_computed(summaries: Sequence[Summary]) -> list[TextTable]:
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
