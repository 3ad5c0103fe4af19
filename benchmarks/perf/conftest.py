"""Ratios measured side by side in one run, and a line for each at the end."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

Task = Callable[[], object]


@pytest.fixture
def fastest() -> Callable[..., list[float]]:
    """The smallest time of each task, the tasks taking turns so that a busy moment hits all."""

    def measure(repetitions: int, *tasks: Task) -> list[float]:
        best = [np.inf] * len(tasks)
        for _ in range(repetitions):
            for i, task in enumerate(tasks):
                start = time.perf_counter()
                task()
                best[i] = min(best[i], time.perf_counter() - start)
        return best

    return measure


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    session = getattr(config, "_benchmarksession", None)
    for each in getattr(session, "benchmarks", []):
        for label, value in each.extra_info.items():
            terminalreporter.write_line(f"{each.name}: {label}: {value:.4g}")
