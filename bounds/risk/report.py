"""All the bounds on one target that apply to a guarantee, side by side."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from reconbench.bounds import _validate
from reconbench.bounds.guarantees.guarantee import Guarantee
from reconbench.bounds.risk.one_target import (
    BinaryPriorBound,
    OneTargetBound,
    RiskBound,
    TotalVariationBound,
    UnifiedBound,
    advantage,
    generalised_advantage,
)
from reconbench.bounds.risk.renyi import FanoRenyi, ReRoPure, ReRoRenyi, ReRoZCDP
from reconbench.bounds.risk.singling_out import Narcissus, SinglingOut

# Hold for every prior with the given baseline.
ANY_PRIOR: tuple[RiskBound, ...] = (
    UnifiedBound(),
    OneTargetBound(),
    TotalVariationBound(),
    ReRoPure(),
    ReRoRenyi(),
    ReRoZCDP(),
    FanoRenyi(),
)
RISK_BOUNDS: tuple[RiskBound, ...] = (*ANY_PRIOR, BinaryPriorBound())


def risk_bounds(records: int | None = None) -> tuple[RiskBound, ...]:
    """The bounds to list; with the number of records, those on the average table as well."""
    if records is None:
        return RISK_BOUNDS
    return (*RISK_BOUNDS, SinglingOut(records), Narcissus(records))


def risk_report(
    baseline: float, guarantee: Guarantee, bounds: Sequence[RiskBound] = RISK_BOUNDS
) -> dict[str, Any]:
    """Success and advantage by every bound that applies at this baseline, ready for JSON.

    `success` and `advantage` at the top are those of the best bound that holds for every prior;
    `tv` bounds the advantage at any baseline.
    """
    base = float(_validate.probabilities("baseline", baseline))
    rows: dict[str, dict[str, Any]] = {}
    left_out: dict[str, str] = {}
    for bound in bounds:
        reason = bound.refuses(guarantee)
        value = math.nan if reason else float(bound.success(base, guarantee))
        if math.isnan(value):
            left_out[bound.name] = reason or f"it does not cover a baseline of {base:g}"
            continue
        rows[bound.name] = {
            "reference": bound.reference,
            "assumptions": bound.assumptions,
            **_measures(value, base),
        }
    general = {bound.name for bound in ANY_PRIOR}
    best = min((n for n in rows if n in general), key=lambda n: rows[n]["success"])
    return {
        "guarantee": guarantee.describe(),
        "relation": guarantee.relation.value,
        "baseline": base,
        "best": best,
        **_measures(rows[best]["success"], base),
        "tv": guarantee.total_variation(),
        "bounds": rows,
        "not_applicable": left_out,
    }


def compare_bounds(
    baselines: ArrayLike, guarantee: Guarantee, bounds: Sequence[RiskBound] = RISK_BOUNDS
) -> dict[str, Any]:
    """Success by every bound that applies, over many baselines: a table or a figure, for JSON.

    A baseline that a bound does not cover is None.
    """
    base = _validate.probability_vector("baselines", np.atleast_1d(np.asarray(baselines)))
    rows: dict[str, dict[str, Any]] = {}
    left_out: dict[str, str] = {}
    for bound in bounds:
        reason = bound.refuses(guarantee)
        if reason:
            left_out[bound.name] = reason
            continue
        values = bound.success(base, guarantee).tolist()
        rows[bound.name] = {
            "reference": bound.reference,
            "assumptions": bound.assumptions,
            "success": [None if math.isnan(value) else value for value in values],
        }
    return {
        "guarantee": guarantee.describe(),
        "relation": guarantee.relation.value,
        "baselines": base.tolist(),
        "bounds": rows,
        "not_applicable": left_out,
    }


def _measures(success: float, base: float) -> dict[str, float]:
    return {
        "success": success,
        "advantage": float(advantage(success, base)),
        "generalised_advantage": float(generalised_advantage(success, base)),
    }
