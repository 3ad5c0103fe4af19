"""What the conformance kits of all kinds share: checks, how they run, and a small prior."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from math import log, sqrt
from typing import TypeVar

import numpy as np

from reconbench.benchmarks.plugins.specs import describe_error
from reconbench.datasets import Attribute, BayNet, Domain

# A plugin that keeps its contract fails a statistical check with at most this probability.
FALSE_ALARM = 1e-6

Subject = TypeVar("Subject")
Outcome = tuple[bool | None, str]


@dataclass(frozen=True)
class Check:
    """One requirement: passed or not, and what was seen. ``None`` is for information only."""

    name: str
    passed: bool | None
    detail: str


def run_check(name: str, check: Callable[[Subject], Outcome], subject: Subject) -> Check:
    """A check under its name; one that raises has failed."""
    try:
        return Check(name, *check(subject))
    except Exception as error:  # a plugin is foreign code: whatever it raises is its fault
        return Check(name, False, describe_error(error))


def run_checks(checks: Mapping[str, Callable[[Subject], Outcome]], subject: Subject) -> list[Check]:
    return [run_check(name, check, subject) for name, check in checks.items()]


def allowed_deviation(variance: float, tests: int) -> float:
    """How far a sum of independent variables in [0, 1] may be from its mean, in one of many tests.

    Bernstein's inequality: P[|S − E S| ≥ t] ≤ 2 exp(−t²/(2(V + t/3))).
    """
    exponent = log(2 * tests / FALSE_ALARM)
    return exponent / 3 + sqrt((exponent / 3) ** 2 + 2 * variance * exponent)


@cache
def small_prior() -> BayNet:
    """Four columns that depend on each other, of few joint values; size and marked are ordinal."""
    rng = np.random.default_rng(5)
    domain = Domain(
        (
            Attribute("shape", ("round", "square", "long")),
            Attribute("size", ("0", "1", "2", "3"), ordinal=True),
            Attribute("colour", ("red", "blue")),
            Attribute("marked", ("no", "yes"), ordinal=True),
        )
    )
    cpts = (
        rng.dirichlet(np.ones(3)),
        rng.dirichlet(np.ones(4), size=3),
        rng.dirichlet(np.ones(2), size=(3, 4)),
        rng.dirichlet(np.ones(2), size=4),
    )
    return BayNet(domain, ((), (0,), (0, 1), (1,)), cpts, domain.names)
