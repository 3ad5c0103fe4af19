"""The ceilings of a result row, by the name of the bound.

A high-probability bound gives one value a confidence, a bound on the expected success one value
under ``mean``.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from reconbench.attacks import PriorBounds
from reconbench.benchmarks.game.result import Result
from reconbench.bounds import (
    CONFIDENCES,
    ApproxDP,
    CompactTail,
    Corollary34,
    HighProbabilityBound,
    MeanBound,
    MeanFromGuess,
    Profile,
    ProfileRecursion,
    PureDP,
    Theorem32,
    Theorem35,
)
from reconbench.mechanisms import Mechanism

Floats = npt.NDArray[np.float64]
Ceilings = dict[str, dict[str, float]]

MEAN = "mean"


def for_every_attack(
    best_prior_success: Floats, mechanism: Mechanism, whole: PriorBounds
) -> Ceilings:
    """What holds whatever the attack: from the best prior guesses, and from whole priors."""
    tails: list[HighProbabilityBound] = [
        Theorem35(best_prior_success, mechanism.budget),
        Profile(best_prior_success, mechanism.guarantee),
        ProfileRecursion(best_prior_success, mechanism.guarantee),
    ]
    means: list[MeanBound] = [MeanFromGuess(best_prior_success, mechanism.guarantee)]
    tails += [whole.tail] if whole.tail else []
    means += [whole.mean] if whole.mean else []
    return {bound.name: _levels(bound) for bound in tails} | {
        bound.name: {MEAN: bound.mean} for bound in means
    }


def for_guesses(prior_success: Floats, mechanism: Mechanism) -> Ceilings:
    """What holds for the guesses that an attack made."""
    if isinstance(mechanism.guarantee, PureDP):
        return {Theorem32.name: _levels(Theorem32(prior_success, mechanism.guarantee))}
    return {}


def with_corollary(rows: Sequence[Result]) -> list[Result]:
    """Add Corollary 3.4, which needs all repetitions of a cell, to each of its finished rows."""
    cells: dict[tuple[object, ...], list[int]] = {}
    for place, row in enumerate(rows):
        if row.run_tail is not None:
            cells.setdefault(row.cell, []).append(place)
    found = list(rows)
    for places in cells.values():
        budget = ApproxDP(rows[places[0]].epsilon, rows[places[0]].delta)
        tails = [CompactTail.from_json(rows[place].run_tail or {}) for place in places]
        more = {Corollary34.name: _levels(Corollary34(tails, budget))}
        for place in places:
            found[place] = rows[place].with_ceilings(more)
    return found


def _levels(bound: HighProbabilityBound) -> dict[str, float]:
    return {f"{confidence:g}": bound.ceiling(confidence) for confidence in CONFIDENCES}
