"""Repetitions of a cell drawn together: what a leaderboard shows in one line."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.stats import t as student

from reconbench.benchmarks.bounding import with_corollary
from reconbench.benchmarks.results import Result, Status

TOP = "0.95"


@dataclass(frozen=True)
class Summary:
    """One attack on one game, over its repetitions; successes are counts of n records.

    ``ceilings`` are means over repetitions, by bound and confidence. ``above_ceiling`` is the
    share of repetitions in which the attack passed its own 95 % ceiling of Theorem 3.5: at most
    5 % in the long run, whatever the attack.
    """

    dataset: str
    data_hash: str
    targets: tuple[str, ...]
    known: tuple[str, ...]
    n: int
    k: int
    epsilon: float
    delta: float
    mechanism: str
    guarantee: str
    metric: str
    adversary: str
    attack: str
    attack_options: Mapping[str, Any]
    seed: int
    repetitions: int
    failures: int
    skipped: int
    error: str | None
    success: float | None
    success_low: float | None
    success_high: float | None
    baseline: float
    baseline_expected: float
    ceilings: Mapping[str, Mapping[str, float]]
    above_ceiling: float | None
    seconds: float | None

    @property
    def column(self) -> str:
        return ", ".join(self.targets)


def summarise(rows: Sequence[Result]) -> list[Summary]:
    """One summary a cell, in the order in which cells first appear."""
    cells: dict[tuple[object, ...], list[Result]] = {}
    for row in with_corollary(rows):
        cells.setdefault(row.cell, []).append(row)
    return [_summary(group) for group in cells.values()]


def _summary(rows: list[Result]) -> Summary:
    first = rows[0]
    done = [row for row in rows if row.status is Status.OK and row.successes is not None]
    counts = np.array([row.successes for row in done], dtype=np.float64)
    low, high = _interval(counts, first.n)
    errors = [row.error for row in rows if row.error]
    return Summary(
        dataset=first.dataset,
        data_hash=first.data_hash,
        targets=first.targets,
        known=first.known,
        n=first.n,
        k=first.k,
        epsilon=first.epsilon,
        delta=first.delta,
        mechanism=first.mechanism,
        guarantee=first.guarantee,
        metric=first.metric,
        adversary=first.adversary,
        attack=first.attack,
        attack_options=first.attack_options,
        seed=first.seed,
        repetitions=len(done),
        failures=sum(row.status is Status.FAILED for row in rows),
        skipped=sum(row.status is Status.SKIPPED for row in rows),
        error=errors[0] if errors else None,
        success=float(counts.mean()) if done else None,
        success_low=low,
        success_high=high,
        baseline=_mean(row.baseline_successes for row in rows),
        baseline_expected=_mean(row.baseline_expected for row in rows),
        ceilings=_mean_ceilings(done),
        above_ceiling=_share_above(done),
        seconds=_mean(row.seconds for row in done) if done else None,
    )


def _interval(counts: npt.NDArray[np.float64], n: int) -> tuple[float | None, float | None]:
    """95 % Student interval of the mean, kept within 0 to n; none from a single repetition."""
    if len(counts) < 2:
        return None, None
    half = float(student.ppf(0.975, len(counts) - 1) * counts.std(ddof=1) / np.sqrt(len(counts)))
    mean = float(counts.mean())
    return max(0.0, mean - half), min(float(n), mean + half)


def _mean_ceilings(rows: Sequence[Result]) -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, list[float]]] = {}
    for row in rows:
        for name, by_confidence in row.ceilings.items():
            for confidence, value in by_confidence.items():
                found.setdefault(name, {}).setdefault(confidence, []).append(value)
    return {
        name: {confidence: _mean(values) for confidence, values in by_confidence.items()}
        for name, by_confidence in found.items()
    }


def _share_above(rows: Sequence[Result]) -> float | None:
    bounded = [row for row in rows if "thm35" in row.ceilings and row.successes is not None]
    if not bounded:
        return None
    return _mean(float((row.successes or 0) > row.ceilings["thm35"][TOP]) for row in bounded)


def _mean(values: Iterable[float]) -> float:
    return float(np.mean(list(values)))
