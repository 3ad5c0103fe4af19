"""Ceilings on targets without a game: from their priors and a guarantee alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from reconbench.benchmarks.plugins.bounds import find_bounds, load_bound
from reconbench.bounds import (
    CONFIDENCES,
    Bound,
    Guarantee,
    NotApplicable,
    Scope,
    Targets,
    WholePriors,
    as_replace_one,
)
from reconbench.bounds.guarantees.guarantee import stated_pair

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class _Setting:
    """The axes of the game that is assumed: exact match, an attacker with the true prior."""

    n: int
    epsilon: float
    delta: float
    adversary: str = "realistic"
    attacker_prior: str = "same"
    name: str = "exact"


def report_ceilings(
    best: Floats,
    whole: Floats | None,
    stated: Guarantee,
    *,
    delta: float = 1e-5,
    bounds: Sequence[str] = (),
    confidences: Sequence[float] = (),
) -> dict[str, Any]:
    """The ceilings of the named bounds, or of all that hold for these targets, ready for JSON.

    Args:
        best: the success of the best guess from the prior, one per target.
        whole: whole priors, one row per target, where they are known.
        stated: the guarantee; one for add-or-remove-one neighbours is converted.
        delta: where a guarantee that is no pair is read as one.
        bounds: names or `file.py:Class`; an error if one does not hold here.
        confidences: by default `CONFIDENCES`.
    """
    tight = as_replace_one(stated)
    # Only the best guess of a prior is known: the other values are no likelier than it.
    priors = WholePriors(best[:, None], 1 - best) if whole is None else WholePriors(whole)
    budget = stated_pair(stated, delta)
    targets = Targets(best, budget, guess_success=best, read_whole_priors=lambda: priors)
    levels = list(confidences) or list(CONFIDENCES)
    return {
        "n": len(best),
        "guarantee": stated.describe(),
        "relation": stated.relation.value,
        "replace_one": tight.describe(),
        "prior_mean": float(best.mean()),
        "bounds": _compute_ceilings(bounds, targets, tight, levels),
    }


def _compute_ceilings(
    specs: Sequence[str], targets: Targets, guarantee: Guarantee, levels: Sequence[float]
) -> dict[str, Any]:
    budget = targets.budget
    setting = _Setting(targets.n, budget.epsilon, getattr(budget, "delta", 0.0))
    chosen: dict[str, type[Bound]] = {bound.name: bound for bound in map(load_bound, specs)}
    if not specs:
        chosen = {entry.name: entry.bound for entry in find_bounds() if entry.bound is not None}
    by_bound: dict[str, Any] = {}
    for name, bound in chosen.items():
        reason = bound.holds_for(setting, setting)
        if bound.scope is Scope.REPETITIONS:
            reason = "it is computed from the repetitions of an attack"
        try:
            if reason is None:
                ceilings = dict(bound.ceilings(targets, guarantee, levels))
                by_bound[name] = {"reference": bound.reference, "ceilings": ceilings}
        except NotApplicable as error:
            reason = str(error)
        if reason is not None and specs:
            raise ValueError(f"bound {name!r} does not hold here: {reason}")
    return by_bound
