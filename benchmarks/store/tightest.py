"""Which of the ceilings on a row counts: the smallest that any attack is held to."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from reconbench.benchmarks.plugins.bounds import shipped_bounds
from reconbench.bounds.ceilings.base import MEAN, Declaration, Kind, Scope

TOP = "0.95"
# The published bound that every attack is held against.
PUBLISHED = "thm35"


@cache
def declared_bounds() -> dict[str, Declaration]:
    """What the bounds of this package declare, by name, in the order of their columns."""
    return {name: bound.declare() for name, bound in shipped_bounds().items()}


@cache
def bounds_for_any_attack(kind: Kind) -> tuple[str, ...]:
    """The bounds of this package that hold whatever the attack."""
    return tuple(
        name
        for name, declared in declared_bounds().items()
        if declared.kind is kind and declared.scope is Scope.ANY_ATTACK
    )


@cache
def proved_bounds() -> tuple[str, ...]:
    """Those on one run that are proved at every confidence."""
    names = bounds_for_any_attack(Kind.ONE_RUN)
    return tuple(name for name in names if declared_bounds()[name].proved)


def tightest(ceilings: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    """The smallest ceiling for any attack by confidence: proved ones where they are stored.

    Bounds of other packages are shown, but not relied on.
    """
    proved = [ceilings[name] for name in proved_bounds() if name in ceilings]
    every = bounds_for_any_attack(Kind.ONE_RUN)
    stored = proved or [ceilings[name] for name in every if name in ceilings]
    levels = dict.fromkeys(level for by in stored for level in by)
    return {level: min(by[level] for by in stored if level in by) for level in levels}


def tightest_mean(ceilings: Mapping[str, Mapping[str, float]]) -> float | None:
    """The smallest ceiling on the expected success, by the bounds of this package."""
    stored = [ceilings.get(name, {}) for name in bounds_for_any_attack(Kind.MEAN)]
    return min((by[MEAN] for by in stored if MEAN in by), default=None)
