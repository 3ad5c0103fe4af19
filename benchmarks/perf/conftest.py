"""Ratios measured side by side in one run, and a line for each at the end."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

Task = Callable[[], object]


@pytest.fixture
def fastest() -> Callable[..., list[float]]:
    """The smallest time of each task, the tasks taking turns so that a busy moment hits all."""
    return partial(_measure_in_turns, time.perf_counter)


@pytest.fixture
def least_cpu() -> Callable[..., list[float]]:
    """The same in CPU time: for tasks of one thread and very different lengths.

    On a busy machine a short task may run undisturbed where a long one cannot.
    """
    return partial(_measure_in_turns, time.process_time)


def _measure_in_turns(clock: Callable[[], float], repetitions: int, *tasks: Task) -> list[float]:
    best = [np.inf] * len(tasks)
    for _ in range(repetitions):
        for i, task in enumerate(tasks):
            start = clock()
            task()
            best[i] = min(best[i], clock() - start)
    return best


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    session = getattr(config, "_benchmarksession", None)
    for each in getattr(session, "benchmarks", []):
        for label, value in each.extra_info.items():
            terminalreporter.write_line(f"{each.name}: {label}: {value:.4g}")
