"""The ceilings of a result row: those of every registered bound that holds for it.

A bound on one run gives one value per confidence, a bound on the expected success one value under
``mean``. Bounds of other packages are checked: if one raises or returns something else, the row
names the error and the game goes on.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import isfinite
from numbers import Integral, Real
from typing import Any

import numpy as np

from reconbench.benchmarks.errors import describe_error
from reconbench.benchmarks.game.result import Result
from reconbench.benchmarks.plugins.bounds import BoundEntry, find_bounds, shipped_bounds
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


def compute_row_bounds(
    bounds: Iterable[BoundEntry],
    scope: Scope,
    setting: Setting,
    metric: NamedMetric,
    targets: Targets,
    guarantee: Guarantee,
) -> RowBounds:
    """Compute what all bounds of a scope say about these targets."""
    row = RowBounds()
    arguments = (setting, metric, targets, guarantee)
    for entry in bounds:
        if entry.bound is None:
            if scope is Scope.ANY_ATTACK:
                row.foreign[entry.name] = {"error": entry.error}
        elif entry.bound.scope is scope:
            apply = _apply_bound if entry.shipped else _apply_foreign_bound
            row |= apply(entry.bound, *arguments)
    return row


def _apply_foreign_bound(bound: type[Bound], *arguments: Any) -> RowBounds:
    """Apply a bound of another package: whatever it raises is an error on the row."""
    declared: dict[str, Any] = {}
    try:
        declared = bound.declare().to_json()
        ceilings = _apply_bound(bound, *arguments).ceilings
        checked = {name: check_ceilings(bound, levels) for name, levels in ceilings.items()}
        return RowBounds(checked, dict.fromkeys(checked, declared))
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        return RowBounds({}, {bound.name: declared | {"error": describe_error(error)}})


def _apply_bound(
    bound: type[Bound],
    setting: Setting,
    metric: NamedMetric,
    targets: Targets,
    guarantee: Guarantee,
) -> RowBounds:
    """The ceilings of a bound under its name; nothing where it does not hold."""
    if bound.holds_for(setting, metric) is not None:
        return RowBounds()
    try:
        return RowBounds({bound.name: dict(bound.ceilings(targets, guarantee))})
    except NotApplicable:
        return RowBounds()


def check_ceilings(bound: type[Bound], ceilings: Mapping[str, object]) -> dict[str, float]:
    """Check that the ceilings of a foreign bound are plain numbers. Raises ValueError if not."""
    levels = bound.declare().levels
    if set(ceilings) != set(levels):
        raise ValueError(f"ceilings must have the keys {', '.join(levels)}, got {list(ceilings)!r}")
    return {level: _read_number(level, ceilings[level]) for level in levels}


def _read_number(level: str, value: object) -> float:
    if isinstance(value, Real) and not isinstance(value, bool | np.bool_):
        if isinstance(value, Integral):
            return int(value)
        if isfinite(value):
            return float(value)
    raise ValueError(f"the ceiling at {level} must be a finite number, got {value!r}")


@dataclass(frozen=True)
class _Named:
    name: str


def drop_refuted_ceilings(rows: Sequence[Result]) -> list[Result]:
    """Drop the ceilings of this package's bounds that do not hold for their rows.

    Rows of earlier versions have one-run ceilings for the informed adversary.
    """
    bounds = shipped_bounds()
    refuted: dict[Setting, set[str]] = {}
    kept = []
    for row in rows:
        if row.setting not in refuted:
            metric = _Named(row.metric)
            refuted[row.setting] = {
                name for name, bound in bounds.items() if bound.holds_for(row, metric) is not None
            }
        names = refuted[row.setting]
        if not names.isdisjoint(row.ceilings):
            left = {name: row.ceilings[name] for name in row.ceilings if name not in names}
            row = replace(row, ceilings=left)
        kept.append(row)
    return kept


def add_repetition_ceilings(rows: Sequence[Result]) -> list[Result]:
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
        more = compute_row_bounds(
            bounds, Scope.REPETITIONS, first, _Named(first.metric), targets, budget
        )
        for index in indices:
            row = rows[index]
            bounded[index] = replace(
                row,
                ceilings={**row.ceilings, **more.ceilings},
                bounds={**row.bounds, **more.foreign},
            )
    return bounded
