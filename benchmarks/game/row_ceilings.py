"""The ceilings of a result row: those of every registered bound that holds for it.

A bound on one run gives one value per confidence, a bound on the expected success one value under
``mean``. What a bound of another package says is checked; if it raises or answers nonsense, the row
says so and the game goes on.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import isfinite
from numbers import Integral, Real
from typing import Any

import numpy as np

from reconbench.benchmarks.game.result import Result
from reconbench.benchmarks.plugins.bounds import BoundEntry, find_bounds
from reconbench.bounds import (
    ApproxDP,
    Bound,
    CompactTail,
    Guarantee,
    NamedMetric,
    NotApplicable,
    Scope,
    Setting,
    Targets,
)

Ceilings = dict[str, dict[str, float]]


@dataclass(frozen=True)
class RowBounds:
    """Ceilings by bound, and of bounds of other packages what they declare or why they failed."""

    ceilings: Ceilings = field(default_factory=dict)
    foreign: dict[str, dict[str, Any]] = field(default_factory=dict)

    def __or__(self, other: RowBounds) -> RowBounds:
        return RowBounds(self.ceilings | other.ceilings, self.foreign | other.foreign)


def compute(
    bounds: Iterable[BoundEntry],
    scope: Scope,
    setting: Setting,
    metric: NamedMetric,
    targets: Targets,
    guarantee: Guarantee,
) -> RowBounds:
    """What all bounds of a scope say about these targets."""
    row = RowBounds()
    for entry in bounds:
        if entry.bound is None:
            if scope is Scope.ANY_ATTACK:
                row.foreign[entry.name] = {"error": entry.error}
        elif entry.bound.scope is scope and entry.shipped:
            row.ceilings.update(_apply(entry.bound, setting, metric, targets, guarantee))
        elif entry.bound.scope is scope:
            declared = entry.bound.declare().to_json()
            try:
                named = _apply(entry.bound, setting, metric, targets, guarantee)
                row.ceilings.update(
                    {name: check_ceilings(entry.bound, of) for name, of in named.items()}
                )
                row.foreign.update(dict.fromkeys(named, declared))
            except (Exception, SystemExit) as error:  # foreign code: whatever it raises
                text = f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"
                row.foreign[entry.name] = declared | {"error": text}
    return row


def _apply(
    bound: type[Bound],
    setting: Setting,
    metric: NamedMetric,
    targets: Targets,
    guarantee: Guarantee,
) -> dict[str, dict[str, float]]:
    """The ceilings of a bound under its name; nothing where it does not hold."""
    if bound.holds_for(setting, metric) is not None:
        return {}
    try:
        return {bound.name: dict(bound.ceilings(targets, guarantee))}
    except NotApplicable:
        return {}


def check_ceilings(bound: type[Bound], ceilings: Mapping[str, object]) -> dict[str, float]:
    """The ceilings of a foreign bound as plain numbers. Raises ValueError if they are not."""
    levels = bound.declare().levels
    if set(ceilings) != set(levels):
        raise ValueError(f"ceilings must have the keys {', '.join(levels)}, got {list(ceilings)!r}")
    return {level: _number(level, ceilings[level]) for level in levels}


def _number(level: str, value: object) -> float:
    if isinstance(value, Real) and not isinstance(value, bool | np.bool_):
        if isinstance(value, Integral):
            return int(value)
        if isfinite(value):
            return float(value)
    raise ValueError(f"the ceiling at {level} must be a finite number, got {value!r}")


@dataclass(frozen=True)
class _Named:
    name: str


def with_repetition_ceilings(rows: Sequence[Result]) -> list[Result]:
    """Add the ceilings that need all repetitions of a cell to each of its finished rows."""
    cells: dict[tuple[object, ...], list[int]] = {}
    for index, row in enumerate(rows):
        if row.run_tail is not None:
            cells.setdefault(row.cell, []).append(index)
    bounds = find_bounds()
    bounded = list(rows)
    for indices in cells.values():
        first = rows[indices[0]]
        budget = ApproxDP(first.epsilon, first.delta)
        runs = tuple(CompactTail.from_json(rows[index].run_tail or {}) for index in indices)
        targets = Targets(np.zeros(0), budget, runs=runs)
        more = compute(bounds, Scope.REPETITIONS, first, _Named(first.metric), targets, budget)
        for index in indices:
            row = rows[index].with_ceilings(more.ceilings)
            bounded[index] = replace(row, bounds={**row.bounds, **more.foreign})
    return bounded
