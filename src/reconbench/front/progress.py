"""Progress on standard error: a bar on a terminal or in a notebook, lines elsewhere."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.util import find_spec

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

# A long run that is not watched on a terminal prints a line at least this often, in seconds.
SILENCE = 30.0


@dataclass
class RunState:
    """How far a run is; rows that were stored before it do not count for the rate."""

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
        """Rows per second."""
        return (self.done - self._first) / max(time.monotonic() - self.began, 1e-9)

    def describe(self) -> str:
        left = (self.total - self.done) / self.rate if self.rate else None
        parts = [f"{self.done} of {self.total}", f"{self.rate:.3g}/s"]
        parts += [f"{_format_duration(left)} left"] if left is not None else []
        parts += [f"{self.failed} failed"] if self.failed else []
        return f"{self.name}: {', '.join(parts)}"


Advance = Callable[..., None]


@contextmanager
def show_progress(name: str, total: int, *, quiet: bool, done: int = 0) -> Iterator[Advance]:
    """Show a bar on a terminal or in a notebook, and lines elsewhere; ``done`` were stored before.

    Yields a function to call for every finished row, with ``failed=True`` if the row failed.
    """
    state = RunState(name, total, done)
    if quiet:
        yield lambda failed=False: None
    elif sys.stderr.isatty() or _draws_in_notebook():
        with _show_bar(state) as advance:
            yield advance
    else:
        with _print_lines(state) as advance:
            yield advance


def is_watched() -> bool:
    """Whether somebody looks on: at a terminal, or in a notebook."""
    return sys.stderr.isatty() or _in_notebook()


def _in_notebook() -> bool:
    """Whether this process serves a notebook, whose shell is that of an IPython kernel."""
    shell = sys.modules.get("IPython")
    running = None if shell is None else shell.get_ipython()
    return type(running).__name__ == "ZMQInteractiveShell"


def _draws_in_notebook() -> bool:
    """Whether a bar can be drawn there: without ipywidgets, rich prints line after line."""
    return _in_notebook() and find_spec("ipywidgets") is not None


def _open_console() -> Console:
    # In a notebook, rich draws on the page, and not on standard error.
    return Console() if _draws_in_notebook() else Console(stderr=True)


@contextmanager
def _show_bar(state: RunState) -> Iterator[Advance]:
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
    with Progress(*columns, console=_open_console(), transient=True) as bar:
        task = bar.add_task(state.name, total=state.total, completed=state.done, rate="", failed="")

        def advance(failed: bool = False) -> None:
            state.done += 1
            state.failed += failed
            shown = f"{state.failed} failed" if state.failed else ""
            bar.update(task, completed=state.done, rate=f"{state.rate:.3g}/s", failed=shown)

        yield advance


@contextmanager
def _print_lines(state: RunState) -> Iterator[Advance]:
    """Print a line at every tenth of the way, and after half a minute without one."""
    tenths = Tenths(state.total, state.done)
    over, lock = threading.Event(), threading.Lock()
    printed = time.monotonic()

    def print_line() -> None:
        nonlocal printed
        printed = time.monotonic()
        sys.stderr.write(f"{state.describe()}\n")
        sys.stderr.flush()

    def advance(failed: bool = False) -> None:
        with lock:
            state.done += 1
            state.failed += failed
            if tenths.reach(state.done) and state.total > 1:
                print_line()

    def remind() -> None:
        while not over.wait(max(0.0, printed + SILENCE - time.monotonic())):
            with lock:
                if time.monotonic() >= printed + SILENCE:
                    print_line()

    reminder = threading.Thread(target=remind, daemon=True)
    reminder.start()
    try:
        yield advance
    finally:
        over.set()
        reminder.join()


class Tenths:
    """Says when a count has reached another tenth of its total."""

    def __init__(self, total: int, done: int) -> None:
        self._total = total
        self._last = 10 * done // total if total else 0

    def reach(self, done: int) -> bool:
        now = 10 * done // self._total
        new, self._last = now > self._last, max(now, self._last)
        return new


def _format_duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def report_download() -> Callable[[int, int | None], None]:
    """Print a line for every 50 MB of a download, and at its end."""
    printed = 0

    def advance(done: int, total: int | None) -> None:
        nonlocal printed
        if done - printed >= 50e6 or done == total:
            printed = done
            of = f" of {total / 1e6:.0f}" if total else ""
            sys.stderr.write(f"downloaded {done / 1e6:.0f}{of} MB\n")

    return advance
