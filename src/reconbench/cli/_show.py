"""What the terminal shows: tables and progress."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

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

Ceilings = Mapping[str, Mapping[str, float]]

if TYPE_CHECKING:
    from reconbench.benchmarks.results import Result
    from reconbench.benchmarks.summary import Summary


def pairs(found: Mapping[str, str]) -> None:
    """Names and what they are."""
    grid = Table.grid(padding=(0, 2))
    for name, text in found.items():
        grid.add_row(Text(name, style="bold"), Text(text))
    Console().print(grid)


def table(title: str, header: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Cells as text: nothing in them is read as markup."""
    shown = Table(title=Text(title), title_justify="left")
    for position, name in enumerate(header):
        shown.add_column(Text(name), justify="left" if position == 0 else "right")
    for row in rows:
        shown.add_row(*(Text(str(cell)) for cell in row))
    Console().print(shown)


def game(rows: Sequence[Result]) -> None:
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
            "published (thm35)",
        ],
        [
            [
                row.attack,
                row.rep,
                row.status if row.successes is None else row.successes,
                row.baseline_successes,
                f"{row.baseline_expected:.1f}",
                f"{most_on_average(row.ceilings):.1f}" if row.ceilings else "",
                "/".join(f"{value:g}" for value in tightest(row.ceilings)),
                "/".join(f"{value:g}" for value in row.ceilings.get("thm35", {}).values()),
            ]
            for row in rows
        ],
    )
    for row in rows:
        if row.error:
            Console(stderr=True).print(Text(f"{row.attack}: {row.error}"))


def most_on_average(ceilings: Ceilings) -> float:
    """The smallest ceiling on the expected success."""
    return min(each["mean"] for each in ceilings.values() if "mean" in each)


def tightest(ceilings: Ceilings) -> list[float]:
    """The smallest proved ceiling of a single run, at each confidence in turn."""
    from reconbench.benchmarks.results import PROVED_CEILINGS

    proved = [each for name, each in ceilings.items() if name in PROVED_CEILINGS]
    return [min(each[level] for each in proved) for level in (proved[0] if proved else ())]


def suite(summaries: Sequence[Summary]) -> None:
    """Shares of records, mean over a data set's games, attack by attack."""
    groups: dict[tuple[str, float, str], list[Summary]] = {}
    for each in summaries:
        groups.setdefault((each.dataset, each.epsilon, each.attack), []).append(each)
    rows = []
    for (dataset, epsilon, attack), group in groups.items():
        done = [each for each in group if each.success is not None]
        columns = (
            [each.baseline for each in done],
            [each.success or 0.0 for each in done],
            [most_on_average(each.ceilings) for each in done],
            [tightest(each.ceilings)[-1] for each in done],
        )
        shares = [
            f"{100 * sum(v / each.n for v, each in zip(values, done, strict=True)) / len(done):.1f}"
            if done
            else "failed"
            for values in columns
        ]
        rows.append([dataset, f"{epsilon:g}", attack, len(done), *shares])
    header = ["data set", "epsilon", "attack", "games", "prior %", "attack %"]
    header += ["most on average %", "95 % ceiling %"]
    table("Records reconstructed, mean over games", header, rows)


@contextmanager
def progress(name: str, total: int, *, quiet: bool) -> Iterator[Callable[..., None]]:
    """A bar on a terminal, a line every tenth of the way elsewhere, on standard error.

    What it yields is called with how many are done, or without to count one more.
    """
    if quiet:
        yield lambda done=None: None
        return
    if not sys.stderr.isatty():
        yield _log_lines(name, total)
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(name, total=total)

        def advance(done: int | None = None) -> None:
            if done is None:
                bar.advance(task)
            else:
                bar.update(task, completed=done)

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


def _log_lines(name: str, total: int) -> Callable[..., None]:
    state = {"done": 0, "tenth": 0}

    def advance(done: int | None = None) -> None:
        state["done"] = state["done"] + 1 if done is None else done
        tenth = 10 * state["done"] // total
        if tenth > state["tenth"] and total > 1:
            state["tenth"] = tenth
            sys.stderr.write(f"{name}: {state['done']} of {total}\n")

    return advance
