"""What the terminal shows: tables and progress."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

from rich import box
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Table
from rich.text import Text

# A long run that is not watched on a terminal says something at least this often, in seconds.
SILENCE = 30.0
# The most lines of the table that a run ends with, the width of a table that nobody looks at on a
# terminal, and the most values of a computed point that a terminal has room for.
MOST_LINES = 60
UNBOUNDED = 1_000
MOST_VALUES = 5

if TYPE_CHECKING:
    from reconbench.benchmarks.game.result import Result
    from reconbench.benchmarks.store.summary import Summary


def plain(text: object) -> str:
    """For a terminal: characters that would steer it are shown as �."""
    unknown = "\N{REPLACEMENT CHARACTER}"
    return "".join(each if each.isprintable() else unknown for each in str(text))


def pairs(found: Mapping[str, str]) -> None:
    """Names and what they are."""
    grid = Table.grid(padding=(0, 2))
    for name, text in found.items():
        grid.add_row(Text(name, style="bold"), Text(text))
    Console().print(grid)


def table(title: str, header: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Cells as text: nothing in them is read as markup, or by the terminal.

    In a file or a pipe a table is as wide as it needs to be, unless COLUMNS says otherwise.
    """
    narrow = sys.stdout.isatty() or "COLUMNS" in os.environ
    console = Console(width=None if narrow else UNBOUNDED)
    shown = Table(
        title=Text(plain(title)), title_justify="left", box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0)
    )
    texts = [[plain(cell) for cell in row] for row in rows]
    columns = [[name, *(row[i] for row in texts)] for i, name in enumerate(header)]
    widths = _widths(columns, console.width - 2 * len(columns) - 1)
    for position, name in enumerate(header):
        side: Literal["left", "right"] = "left" if position == 0 else "right"
        shown.add_column(
            Text(name), justify=side, overflow="fold", width=widths[position] if widths else None
        )
    for row in texts:
        shown.add_row(*map(Text, row))
    console.print(shown)


def _widths(columns: Sequence[Sequence[str]], room: int) -> list[int]:
    """Widths at which columns wrap between words; none where they need not wrap, or cannot."""
    wanted = [max(map(len, (*texts, "-"))) for texts in columns]
    widths = [
        max(len(word) for text in (*texts, "-") for word in text.split()) for texts in columns
    ]
    spare = room - sum(widths)
    if sum(wanted) <= room or spare < 0:
        return []
    for position in sorted(range(len(columns)), key=lambda each: wanted[each] - widths[each]):
        more = min(spare, wanted[position] - widths[position])
        widths[position] += more
        spare -= more
    return widths


def game(rows: Sequence[Result]) -> None:
    from reconbench.benchmarks.store.summary import PUBLISHED, tightest, tightest_mean

    first = rows[0]
    table(
        f"{first.dataset}: {', '.join(first.targets)}; records of {first.n}; epsilon "
        f"{first.epsilon:g}, {first.guarantee}; metric {first.metric}",
        [
            "attack",
            "rep",
            "success",
            "prior",
            "expected prior",
            "most on average",
            "ceiling 5/50/95 %",
            f"published ({PUBLISHED})",
        ],
        [
            [
                row.attack,
                row.rep,
                row.status if row.successes is None else row.successes,
                row.baseline_successes,
                f"{row.baseline_expected:.1f}",
                f"{tightest_mean(row.ceilings):.1f}" if row.ceilings else "",
                "/".join(f"{value:g}" for value in tightest(row.ceilings).values()),
                "/".join(f"{value:g}" for value in row.ceilings.get(PUBLISHED, {}).values()),
            ]
            for row in rows
        ],
    )
    measured = [row for row in rows if row.rad is not None]
    for attack in dict.fromkeys(row.attack for row in measured):
        mine = [row for row in measured if row.attack == attack]
        mean = sum(row.rad or 0.0 for row in mine) / len(mine)
        ceiling = sum(row.rad_ceiling or 0.0 for row in mine) / len(mine)
        Console().print(
            Text(
                f"{attack}: advantage {mean:.3f} over the same attack on {first.advantage} "
                f"replaced records a table; at most {ceiling:.3f} ({mine[0].rad_theorem})"
            ),
            soft_wrap=True,
        )
    for row in rows:
        if row.error:
            Console(stderr=True).print(Text(plain(f"{row.attack}: {row.error}")))
    for text in bound_errors(rows):
        Console(stderr=True).print(Text(plain(text)))


def bound_errors(rows: Sequence[Result]) -> list[str]:
    """What went wrong with bounds of other packages, one line per bound."""
    errors: dict[str, list[str]] = {}
    for row in rows:
        for name, declared in row.bounds.items():
            if "error" in declared:
                errors.setdefault(name, []).append(str(declared["error"]))
    return [
        f"bound {name} failed on {len(found)} of {len(rows)} rows; the first: {found[0]}"
        for name, found in errors.items()
    ]


@dataclass(frozen=True)
class Lines:
    """A table for the terminal, and how many more lines, and values a line, the CSV file has."""

    title: str
    header: list[str]
    rows: list[list[str]]
    more: int = 0
    more_values: int = 0

    @classmethod
    def of(cls, title: str, header: list[str], rows: list[list[str]]) -> Lines:
        return cls(title, header, rows[:MOST_LINES], max(0, len(rows) - MOST_LINES))

    def show(self) -> None:
        table(self.title, self.header, self.rows)
        if self.more:
            Console(stderr=True).print(Text(f"{self.more} more lines in leaderboard.csv"))
        if self.more_values:
            told = f"{self.more_values} more values of every point in leaderboard.csv"
            Console(stderr=True).print(Text(told))


def suite(summaries: Sequence[Summary]) -> list[Lines]:
    """What was played, and what was computed."""
    played = [each for each in summaries if not each.computed]
    computed = [each for each in summaries if each.computed]
    return [*([_played(played)] if played else []), *_computed(computed)]


def _played(summaries: Sequence[Summary]) -> Lines:
    """Shares of records by game and attack, mean over games that differ in which columns alone."""
    from reconbench.benchmarks.game.setting import find_varying_axes, format_axis
    from reconbench.benchmarks.store.summary import TOP, tightest, tightest_mean

    varying = find_varying_axes(summaries, "dataset", "epsilon")
    groups: dict[tuple[str, ...], list[Summary]] = {}
    for each in summaries:
        line = (
            *(format_axis(each, axis) for axis in varying),
            named(each.attack, each.attack_options),
        )
        groups.setdefault(line, []).append(each)
    rows = []
    datasets = list(dict.fromkeys(each.dataset for each in summaries))
    for place, group in sorted(
        groups.items(), key=lambda each: (datasets.index(each[1][0].dataset), each[1][0].epsilon)
    ):
        done = [each for each in group if each.success is not None]
        columns: tuple[list[float | None], ...] = (
            [each.baseline for each in done],
            [each.success or 0.0 for each in done],
            [each.best_possible for each in done],
            [tightest_mean(each.ceilings) for each in done],
            [tightest(each.ceilings).get(TOP) for each in done],
        )
        shares = [_share(values, done) for values in columns]
        rows.append([*place, str(len(done)), *shares])
    header = [
        *(axis.title for axis in varying),
        "attack",
        "games",
        "prior %",
        "attack %",
        "best possible %",
    ]
    header += ["most on average %", "95 % ceiling %"]
    return Lines.of("Records reconstructed, mean over games", header, rows)


def named(name: str, options: Mapping[str, object]) -> str:
    """An attack or a mechanism with its options."""
    return " ".join([name, *(f"{key}={value}" for key, value in options.items())])


def _computed(summaries: Sequence[Summary]) -> list[Lines]:
    """A table a suite and quantity: a line a point, a column a bound, or the first of many."""
    groups: dict[tuple[str, str], list[Summary]] = {}
    for each in summaries:
        groups.setdefault((each.dataset, each.metric), []).append(each)
    found = []
    for (dataset, metric), group in groups.items():
        every = list(dict.fromkeys(bound for each in group for bound in each.ceilings))
        wide = max(len(each.ceilings) for each in group) > MOST_VALUES
        bounds = every[:MOST_VALUES] if wide else every
        rows = [
            [
                each.column,
                *([] if wide else _setting(each)),
                *(f"{each.ceilings[b]['mean']:.3g}" if b in each.ceilings else "" for b in bounds),
            ]
            for each in group
        ]
        header = ["point", *([] if wide else ["mechanism", "epsilon", "baseline"]), *bounds]
        title = f"{dataset}, computed for one target: {metric}"
        lines = Lines.of(title, header, rows)
        found.append(replace(lines, more_values=len(every) - len(bounds)))
    return found


def _setting(summary: Summary) -> list[str]:
    return [
        summary.mechanism,
        f"{summary.epsilon:.3g}",
        f"{summary.baseline_expected:.3g}",
    ]


def _share(values: Sequence[float | None], games: Sequence[Summary]) -> str:
    """The mean share of records, in percent; none where the value of a game is unknown."""
    if not games:
        return "failed"
    shares = [
        value / each.n for value, each in zip(values, games, strict=True) if value is not None
    ]
    return f"{100 * sum(shares) / len(games):.1f}" if len(shares) == len(games) else ""


@dataclass
class Sweep:
    """How far a run is; rows that were there at its start do not count for the rate."""

    name: str
    total: int
    done: int = 0
    failed: int = 0
    began: float = field(default_factory=time.monotonic)
    _first: int = field(init=False)

    def __post_init__(self) -> None:
        self._first = self.done

    @property
    def rate(self) -> float:
        """Rows a second."""
        return (self.done - self._first) / max(time.monotonic() - self.began, 1e-9)

    def describe(self) -> str:
        left = (self.total - self.done) / self.rate if self.rate else None
        words = [f"{self.done} of {self.total}", f"{self.rate:.3g}/s"]
        words += [f"{_duration(left)} left"] if left is not None else []
        words += [f"{self.failed} failed"] if self.failed else []
        return f"{self.name}: {', '.join(words)}"


Advance = Callable[..., None]


@contextmanager
def progress(name: str, total: int, *, quiet: bool, done: int = 0) -> Iterator[Advance]:
    """A bar on a terminal, lines elsewhere, on standard error; ``done`` is what was there before.

    What it yields is called for every row that is finished, with ``failed=True`` if it did.
    """
    sweep = Sweep(name, total, done)
    if quiet:
        yield lambda failed=False: None
    elif sys.stderr.isatty():
        with _bar(sweep) as advance:
            yield advance
    else:
        with _log_lines(sweep) as advance:
            yield advance


@contextmanager
def _bar(sweep: Sweep) -> Iterator[Advance]:
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
        TextColumn("{task.fields[failed]}"),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(sweep.name, total=sweep.total, completed=sweep.done, rate="", failed="")

        def advance(failed: bool = False) -> None:
            sweep.done += 1
            sweep.failed += failed
            shown = f"{sweep.failed} failed" if sweep.failed else ""
            bar.update(task, completed=sweep.done, rate=f"{sweep.rate:.3g}/s", failed=shown)

        yield advance


def downloaded() -> Callable[[int, int | None], None]:
    """A line on standard error for every 50 MB of a download, and for its end."""
    state = {"shown": 0}

    def advance(done: int, total: int | None) -> None:
        if done - state["shown"] >= 50e6 or done == total:
            state["shown"] = done
            of = f" of {total / 1e6:.0f}" if total else ""
            sys.stderr.write(f"downloaded {done / 1e6:.0f}{of} MB\n")

    return advance


@contextmanager
def _log_lines(sweep: Sweep) -> Iterator[Advance]:
    """A line every tenth of the way, and whenever there was none for half a minute."""
    tenths = Tenths(sweep.total, sweep.done)
    over, lock = threading.Event(), threading.Lock()
    spoke = [time.monotonic()]

    def say() -> None:
        spoke[0] = time.monotonic()
        sys.stderr.write(f"{sweep.describe()}\n")
        sys.stderr.flush()

    def advance(failed: bool = False) -> None:
        with lock:
            sweep.done += 1
            sweep.failed += failed
            if tenths.passed(sweep.done) and sweep.total > 1:
                say()

    def remind() -> None:
        while not over.wait(max(0.0, spoke[0] + SILENCE - time.monotonic())):
            with lock:
                if time.monotonic() >= spoke[0] + SILENCE:
                    say()

    reminder = threading.Thread(target=remind, daemon=True)
    reminder.start()
    try:
        yield advance
    finally:
        over.set()
        reminder.join()


class Tenths:
    """Whether a count went past another tenth of its total."""

    def __init__(self, total: int, done: int) -> None:
        self._total = total
        self._last = 10 * done // total if total else 0

    def passed(self, done: int) -> bool:
        now = 10 * done // self._total
        new, self._last = now > self._last, max(now, self._last)
        return new


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
