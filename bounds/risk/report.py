"""All the bounds on one target that apply to a guarantee, side by side."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from reconbench.bounds import _validate
from reconbench.bounds.guarantees.guarantee import Guarantee, as_replace_one, stated_pair
from reconbench.bounds.guarantees.relation import why_not_replace_one
from reconbench.bounds.risk.one_target import (
    BinaryPriorBound,
    OneTargetBound,
    PriorExactBound,
    ProfileBound,
    ProfileRecursionBound,
    RiskBound,
    TotalVariationBound,
    UnifiedBound,
    advantage,
    generalised_advantage,
)
from reconbench.bounds.risk.renyi import FanoRenyi, ReRoPure, ReRoRenyi, ReRoZCDP
from reconbench.bounds.risk.singling_out import Narcissus, SinglingOut

# Hold for every prior with the given baseline and every success event.
ANY_EVENT: tuple[RiskBound, ...] = (
    UnifiedBound(),
    ProfileRecursionBound(),
    TotalVariationBound(),
    ReRoPure(),
    ReRoRenyi(),
    ReRoZCDP(),
    FanoRenyi(),
)
# Hold for every prior where a guess is right for one value, too.
EXACT_MATCH: tuple[RiskBound, ...] = (OneTargetBound(), ProfileBound(), PriorExactBound())
RISK_BOUNDS: tuple[RiskBound, ...] = (*ANY_EVENT, *EXACT_MATCH, BinaryPriorBound())

# Baselines of a curve.
BASELINE_GRID: tuple[float, ...] = tuple(i / 100 for i in range(101))


def risk_bounds(
    records: int | None = None, delta: float = 1e-5, prior: ArrayLike | None = None
) -> tuple[RiskBound, ...]:
    """The bounds to list for one target.

    Args:
        records: how many records the table has, for the bounds on the average table as well.
        delta: where `thm35` reads the (ε, δ) of a guarantee that is not stated as a pair.
        prior: the probability of each value of the secret: a smaller `prior-exact`, and `binary`
            for two values only.

    Returns:
        The bounds in the order of reports, those with the fewest assumptions first.
    """
    whole = None if prior is None else np.atleast_2d(np.asarray(prior, dtype=np.float64))
    tuned: dict[str, RiskBound] = {
        OneTargetBound.name: OneTargetBound(delta),
        PriorExactBound.name: PriorExactBound(whole),
    }
    several = whole is not None and whole.shape[1] != 2
    listed = [each for each in RISK_BOUNDS if not (several and each.name == BinaryPriorBound.name)]
    stated = tuple(tuned.get(bound.name, bound) for bound in listed)
    return stated if records is None else (*stated, SinglingOut(records), Narcissus(records))


def risk_report(
    baseline: float, guarantee: Guarantee, bounds: Sequence[RiskBound] = RISK_BOUNDS
) -> dict[str, Any]:
    """Success and advantage by every bound that applies at this baseline, ready for JSON.

    Args:
        baseline: the success of the best guess without the release.
        guarantee: of either neighbouring relation.
        bounds: those to list, by `risk_bounds`.

    Returns:
        `success` and `advantage` at the top are those of `bound`, the smallest that holds for every
        prior and exact match; `any_event` has those of the smallest that holds for every success
        event; `tv` bounds the advantage at any baseline. Bounds for replace-one neighbours take an
        add-or-remove-one guarantee through `as_replace_one`; each row has the guarantee it used,
        and `not_applicable` the reasons of the bounds that do not hold.
    """
    try:
        (base,) = np.atleast_1d(_validate.probabilities("baseline", baseline)).tolist()
    except ValueError as error:
        if np.size(baseline) == 1:
            raise
        raise ValueError(
            f"baseline must be one number, got {np.size(baseline)}: use compare_bounds for several"
        ) from error
    rows: dict[str, dict[str, Any]] = {}
    left_out: dict[str, str] = {}
    for bound in bounds:
        used, reason = _suit(bound, guarantee)
        value = math.nan if reason else bound.success([base], used).item()
        if math.isnan(value):
            left_out[bound.name] = reason or f"it does not cover a baseline of {base:g}"
            continue
        rows[bound.name] = {**_declare(bound, used), **_measures(value, base)}

    def best(of: Sequence[RiskBound]) -> dict[str, Any]:
        names = [bound.name for bound in of if bound.name in rows]
        # On a tie the first listed, which assumes less.
        name = min(names, key=lambda name: rows[name]["success"])
        return {"bound": name, **_measures(rows[name]["success"], base)}

    return {
        "guarantee": guarantee.describe(),
        "relation": guarantee.relation.value,
        "baseline": base,
        **best((*ANY_EVENT, *EXACT_MATCH)),
        "any_event": best(ANY_EVENT),
        "tv": guarantee.total_variation(),
        "bounds": rows,
        "not_applicable": left_out,
    }


def compare_bounds(
    baselines: ArrayLike, guarantee: Guarantee, bounds: Sequence[RiskBound] = RISK_BOUNDS
) -> dict[str, Any]:
    """Success by every bound that applies, over many baselines: a table or a figure, for JSON.

    Args:
        baselines: successes of the best guess without the release.
        guarantee: of either neighbouring relation, which is treated as in `risk_report`.
        bounds: those to list, by `risk_bounds`.

    Returns:
        `bounds` has one list of successes per bound, None where it does not cover a baseline.
    """
    base = _validate.probability_vector("baselines", np.atleast_1d(np.asarray(baselines)))
    rows: dict[str, dict[str, Any]] = {}
    left_out: dict[str, str] = {}
    for bound in bounds:
        used, reason = _suit(bound, guarantee)
        if reason:
            left_out[bound.name] = reason
            continue
        values = bound.success(base, used).tolist()
        rows[bound.name] = {
            **_declare(bound, used),
            "success": [None if math.isnan(value) else value for value in values],
        }
    return {
        "guarantee": guarantee.describe(),
        "relation": guarantee.relation.value,
        "baselines": base.tolist(),
        "bounds": rows,
        "not_applicable": left_out,
    }


def _suit(bound: RiskBound, guarantee: Guarantee) -> tuple[Guarantee, str | None]:
    """The guarantee in the relation that the bound needs, and why it does not apply if so."""
    if why_not_replace_one(guarantee) is None or bound.refuses(guarantee) is None:
        return guarantee, bound.refuses(guarantee)
    # A bound stated at one pair converts the pair, the others the whole curve.
    replaced: Guarantee = (
        stated_pair(guarantee, bound.delta)
        if isinstance(bound, OneTargetBound)
        else as_replace_one(guarantee)
    )
    return replaced, bound.refuses(replaced)


def _declare(bound: RiskBound, used: Guarantee) -> dict[str, str]:
    return {
        "reference": bound.reference,
        "assumptions": bound.assumptions,
        "guarantee": used.describe(),
        "relation": used.relation.value,
    }


def _measures(success: float, base: float) -> dict[str, float]:
    return {
        "success": success,
        "advantage": float(advantage(success, base)),
        "generalised_advantage": float(generalised_advantage(success, base)),
    }
